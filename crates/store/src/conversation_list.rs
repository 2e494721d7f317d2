//! The list of conversations, page by page: filtered and ordered by the database.

use crate::{
    conversation_rows::{ConversationRow, pattern, read_row, select_conversations},
    error::StoreError,
    facets::Conversations,
    search_terms::SearchWords,
    statement::{int, params},
};
use everloop_types::{ConversationId, UtcMs};

/// Which conversations are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConversationFilter {
    /// Only those of this channel.
    pub channel: Option<String>,
    /// Only those of this thread; with a channel and no thread, only those without one.
    pub thread: Option<String>,
    /// Only those of this folder.
    pub workspace: Option<String>,
    /// Archived ones too.
    pub archived: bool,
    /// Only archived ones.
    pub only_archived: bool,
    /// None of this channel.
    pub but_channel: Option<String>,
    /// Only those with something unread.
    pub unread: bool,
    /// Leaves out one-off questions of scripts whose runs have ended.
    pub chats_only: bool,
    /// Only those in whose shown title this occurs, whatever its case, and those of which a message
    /// has all the terms of it: [`Conversations::newest_hit`] says whether it has the words.
    pub words: Option<String>,
    /// Only those that come after this one.
    pub after: Option<ConversationListPlace>,
    /// Most of them.
    pub most: usize,
}

/// The place of a conversation in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationListPlace {
    /// When something was said in it last.
    pub updated_at: UtcMs,
    /// Its id.
    pub id: ConversationId,
}

impl ConversationListPlace {
    /// The place of a row.
    #[must_use]
    pub fn of(row: &ConversationRow) -> Self {
        Self { updated_at: row.updated_at, id: row.id.clone() }
    }
}

/// The keys of the page come first, so that everything else is counted for one page only. `$8` and
/// `$9` are the range of the rarest of the terms, `$10` the others. A conversation without a
/// message is listed if it was given a title.
const LIST: &str = select_conversations!(
    "
     WHERE conversation_id IN (
       SELECT k.conversation_id FROM (
         SELECT c.conversation_id,
                COALESCE((SELECT m.created_at FROM messages m
                           WHERE m.conversation_id = c.conversation_id ORDER BY m.pos DESC LIMIT 1),
                         c.updated_at) AS active_at
           FROM conversations c
          WHERE (c.title IS NOT NULL OR EXISTS (
                   SELECT 1 FROM messages m WHERE m.conversation_id = c.conversation_id))
            AND (CAST($1 AS TEXT) IS NULL OR (c.channel_type = CAST($1 AS TEXT)
                 AND COALESCE(c.channel_thread_id, '') = COALESCE(CAST($2 AS TEXT), '')))
            AND (CAST($3 AS TEXT) IS NULL OR c.workspace = CAST($3 AS TEXT))
            AND (c.archived_at IS NULL OR CAST($4 AS BIGINT) >= 1)
            AND (c.archived_at IS NOT NULL OR CAST($4 AS BIGINT) <= 1)
            AND (CAST($14 AS TEXT) IS NULL OR c.channel_type <> CAST($14 AS TEXT))
            AND (CAST($5 AS BIGINT) = 0 OR EXISTS (
                   SELECT 1 FROM messages m
                    WHERE m.conversation_id = c.conversation_id AND m.pos > c.read_pos))
            AND (CAST($6 AS BIGINT) = 0 OR c.channel_type NOT IN ('print', 'run') OR EXISTS (
                   SELECT 1 FROM runs r WHERE r.conversation_id = c.conversation_id
                      AND r.status IN ('queued', 'running', 'waiting')))
            AND (CAST($7 AS TEXT) IS NULL
                 OR LOWER(COALESCE(c.title, (
                      SELECT m.body FROM messages m
                       WHERE m.conversation_id = c.conversation_id AND m.slot = 'goal'
                       ORDER BY m.pos LIMIT 1), '')) LIKE CAST($7 AS TEXT) ESCAPE '!'
                 OR c.conversation_id IN (
                      SELECT m.conversation_id FROM message_terms t CROSS JOIN messages m
                       WHERE t.term >= CAST($8 AS TEXT) AND t.term <= CAST($9 AS TEXT)
                         AND m.search_no = t.search_no
                         AND NOT EXISTS (SELECT 1 FROM {each $10} WHERE NOT EXISTS (
                               SELECT 1 FROM message_terms o
                                WHERE o.term = item.value AND o.search_no = t.search_no))))) AS k
        WHERE CAST($11 AS BIGINT) IS NULL OR k.active_at < CAST($11 AS BIGINT)
           OR (k.active_at = CAST($11 AS BIGINT) AND k.conversation_id < CAST($12 AS TEXT))
        ORDER BY k.active_at DESC, k.conversation_id DESC LIMIT $13)
     ORDER BY active_at DESC, conversation_id DESC
"
);

/// The terms of messages that a search may find: a range for the one that leads, and the others.
struct TermRange {
    first: Option<String>,
    last: Option<String>,
    others: Vec<String>,
}

impl Conversations<'_> {
    /// Conversations, the one in which something was said last first.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn list(
        self,
        filter: &ConversationFilter,
    ) -> Result<Vec<ConversationRow>, StoreError> {
        let range = self.term_range(filter.words.as_deref()).await?;
        let values = params![
            filter.channel.as_deref(),
            filter.thread.as_deref(),
            filter.workspace.as_deref(),
            if filter.only_archived { 2 } else { i64::from(filter.archived) },
            i64::from(filter.unread),
            i64::from(filter.chats_only),
            filter.words.as_deref().map(pattern),
            range.first,
            range.last,
            serde_json::to_string(&range.others).expect("texts always have a JSON form"),
            filter.after.as_ref().map(|after| after.updated_at),
            filter.after.as_ref().map(|after| after.id.as_str()),
            int(filter.most),
            filter.but_channel.as_deref(),
        ];
        self.store.rows(LIST, values).await?.into_iter().map(read_row).collect()
    }

    async fn term_range(self, words: Option<&str>) -> Result<TermRange, StoreError> {
        let words = SearchWords::of(words.unwrap_or_default());
        if let Some(rarest) = self.rarest_term(&words).await? {
            let others = words.terms.iter().filter(|term| **term != rarest).cloned().collect();
            return Ok(TermRange { first: Some(rarest.clone()), last: Some(rarest), others });
        }
        let first = words.beginnings.first().cloned();
        let last = first.as_ref().map(|first| format!("{first}{}", char::MAX));
        Ok(TermRange { first, last, others: Vec::new() })
    }
}
