//! Search over all messages.

use super::listed::{ListedConversation, clip, on_one_line};
use super::messages::MessageRecord;
use crate::error::AppError;
use everloop_store::{MessageHit, MessageQuery, Store};
use everloop_types::ConversationId;
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Messages of earlier programs that are added to the index in one commit.
const INDEX_BATCH: usize = 200;

/// How long a search adds messages of earlier programs before it looks.
pub(super) const INDEX_TIME: Duration = Duration::from_secs(5);

/// Hits of one page.
pub const HITS_MAX: usize = 200;

/// Characters before the words in an excerpt, and of the whole excerpt.
const EXCERPT_BEFORE: usize = 24;
const EXCERPT_CHARS: usize = 80;

/// A message that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FoundMessage {
    /// The message.
    #[serde(flatten)]
    pub message: MessageRecord,
    /// The title of its conversation.
    pub title: String,
    /// The words with what stands around them.
    pub excerpt: String,
}

/// Messages that were found, the newest first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FoundMessages {
    /// The messages.
    pub data: Vec<FoundMessage>,
    /// Leads to the next page; none if there is no more.
    pub next: Option<i64>,
    /// Messages of earlier programs that are not in the index yet.
    pub unindexed: u64,
}

/// Messages in which all words occur, the newest first.
///
/// # Errors
/// If the store fails.
pub async fn search(store: &Store, query: MessageQuery) -> Result<FoundMessages, AppError> {
    let unindexed = add_earlier(store, INDEX_TIME).await?;
    let query = MessageQuery { most: query.most.clamp(1, HITS_MAX), ..query };
    let found = store.conversations().search(&query).await?;
    let mut titles: BTreeMap<ConversationId, String> = BTreeMap::new();
    let mut data = Vec::new();
    for hit in found.hits {
        let id = &hit.message.conversation;
        if !titles.contains_key(id) {
            let row = store.conversations().get(id).await?;
            let title = row.map(|row| ListedConversation::new(row).title()).unwrap_or_default();
            titles.insert(id.clone(), title);
        }
        let title = titles.get(id).cloned().unwrap_or_default();
        let excerpt = excerpt_of(&hit.message.body, hit.at);
        data.push(FoundMessage { message: MessageRecord::from(&hit.message), title, excerpt });
    }
    Ok(FoundMessages { data, next: found.next, unindexed })
}

/// The newest message of a conversation with these words, as an excerpt.
pub(super) async fn excerpt(
    store: &Store,
    id: &ConversationId,
    words: &str,
) -> Result<Option<String>, AppError> {
    let hit = store.conversations().newest_hit(id, words).await?;
    Ok(hit.map(|MessageHit { message, at }| excerpt_of(&message.body, at)))
}

/// Adds messages of earlier programs to the index for some time, and tells how many are left. On a
/// disk that is read-only they stay out.
///
/// # Errors
/// If the store fails.
pub async fn add_earlier(store: &Store, time: Duration) -> Result<u64, AppError> {
    let begun = Instant::now();
    loop {
        match store.maintenance().index_messages(INDEX_BATCH).await {
            Ok(0) => return Ok(0),
            Ok(_) if begun.elapsed() < time => {}
            Ok(_) => return Ok(store.maintenance().count_unindexed().await?),
            Err(error) if error.is_read_only() => {
                return Ok(store.maintenance().count_unindexed().await?);
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// The words with what stands around them; `at` is the byte at which they begin.
fn excerpt_of(text: &str, at: usize) -> String {
    let (before, from) = text.split_at_checked(at).unwrap_or(("", text));
    let lead: Vec<char> = on_one_line(before).chars().collect();
    let skipped = lead.len().saturating_sub(EXCERPT_BEFORE);
    let lead: String = lead.iter().skip(skipped).collect();
    // A space that stood before the words is kept by those who wrote with spaces.
    let space = if before.ends_with(char::is_whitespace) && !lead.is_empty() { " " } else { "" };
    let cut = clip(&format!("{lead}{space}{from}"), EXCERPT_CHARS);
    if skipped > 0 { format!("…{cut}") } else { cut }
}

#[cfg(test)]
mod tests {
    use super::excerpt_of;

    #[test]
    fn an_excerpt_shows_the_words_also_far_into_a_chinese_text() {
        let text = format!("{}登录页面坏了", "很长的开头".repeat(20));
        let excerpt = excerpt_of(&text, text.find("登录").unwrap());
        assert!(excerpt.starts_with('…') && excerpt.contains("登录页面"), "{excerpt}");
        assert_eq!(excerpt_of("Mend the\nfence", 9), "Mend the fence");
        assert_eq!(excerpt_of("修登录", 3), "修登录");
        assert_eq!(excerpt_of("修登录", 4), "修登录", "a place within a character is none");
    }
}
