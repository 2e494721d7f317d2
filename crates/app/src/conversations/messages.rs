//! Messages as programs read them: one, in pages, and what is unread of them.

use crate::error::{AppError, ConversationError};
use everloop_engine::{Clock, SystemClock};
use everloop_store::{ConversationMessage, MessageRange, SourceRef, Store};
use everloop_types::{ConversationId, RunId, UtcMs};
use serde::Serialize;
use serde_json::{Value, json};

/// Messages of one page.
pub const PAGE_MAX: usize = 500;

/// A message for programs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MessageRecord {
    /// Its id.
    pub id: String,
    /// The conversation.
    pub conversation_id: ConversationId,
    /// Who wrote it: `user`, `assistant`.
    pub role: String,
    /// The text.
    pub content: String,
    /// Its parts; one text part if nothing else was stored.
    pub parts: Value,
    /// What it stands for, if it is the ending of a run.
    pub source_ref: Option<SourceRef>,
    /// The run that it belongs to.
    pub run_id: Option<RunId>,
    /// The turn that it belongs to: one message of the user and all that follows from it.
    pub turn_id: Option<RunId>,
    /// Which of the run's messages it is: `goal`, `final`, `stopped` (a reply that a cancel cut
    /// off), `ask:…`, `answer:…`; empty for none.
    pub slot: String,
    /// When.
    pub created_at: UtcMs,
    /// Its position in the conversation, which never changes: the cursor of pages.
    pub position: i64,
}

impl From<&ConversationMessage> for MessageRecord {
    fn from(said: &ConversationMessage) -> Self {
        let stored = said.parts.as_deref().and_then(|parts| serde_json::from_str(parts).ok());
        let parts = stored.unwrap_or_else(|| json!([{"type": "text", "text": said.body}]));
        Self {
            id: said.id.clone(),
            conversation_id: said.conversation.clone(),
            role: said.role.clone(),
            content: said.body.clone(),
            parts,
            source_ref: said.source_ref(),
            run_id: said.run.clone(),
            turn_id: said.turn.clone(),
            slot: said.slot.clone(),
            created_at: said.created_at,
            position: said.pos,
        }
    }
}

/// A page of a conversation, the oldest message first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MessageRecords {
    /// The messages.
    pub data: Vec<MessageRecord>,
    /// Whether there are more in the direction that was asked for.
    pub has_more: bool,
    /// For the page before this one: `before` this position.
    pub before: Option<i64>,
    /// For the page after this one: `after` this position.
    pub after: Option<i64>,
}

/// What nobody has read, over all conversations that are not archived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct UnreadCount {
    /// Conversations with something unread.
    pub conversations: i64,
    /// Messages that are unread.
    pub messages: i64,
}

/// A page of a conversation: the newest messages, those before a position, or those after one.
///
/// # Errors
/// If the store fails.
pub async fn messages_page(
    store: &Store,
    id: &ConversationId,
    range: MessageRange,
) -> Result<MessageRecords, AppError> {
    let range = MessageRange { most: range.most.clamp(1, PAGE_MAX), ..range };
    let page = store.conversations().messages_page(id, range).await?;
    let place = |said: &ConversationMessage| said.pos;
    Ok(MessageRecords {
        data: page.messages.iter().map(MessageRecord::from).collect(),
        has_more: page.has_more,
        before: page.messages.first().map(place),
        after: page.messages.last().map(place),
    })
}

/// One message.
///
/// # Errors
/// [`ConversationError::NoMessage`], or if the store fails.
pub async fn message(store: &Store, id: &str) -> Result<MessageRecord, AppError> {
    let found = store.conversations().message(id).await?;
    let found = found.ok_or_else(|| ConversationError::NoMessage(id.to_owned()))?;
    Ok(MessageRecord::from(&found))
}

/// Every message of a conversation, the oldest first, without marks of earlier programs.
///
/// # Errors
/// If the store fails.
pub async fn all_messages(
    store: &Store,
    id: &ConversationId,
) -> Result<Vec<ConversationMessage>, AppError> {
    let mut all: Vec<ConversationMessage> = Vec::new();
    loop {
        let after = Some(all.last().map_or(0, |said| said.pos));
        let range = MessageRange { before: None, after, most: PAGE_MAX };
        let page = store.conversations().messages_page(id, range).await?;
        all.extend(page.messages);
        if !page.has_more {
            return Ok(all);
        }
    }
}

/// Notes that a person has read a conversation: all of it, or up to a message of it. What was read
/// stays read.
///
/// # Errors
/// [`ConversationError`] if there is no such conversation or message, or if the store fails.
pub async fn mark_read(
    store: &Store,
    id: &ConversationId,
    upto: Option<&str>,
) -> Result<(), AppError> {
    let pos = match upto {
        None => None,
        Some(message) => {
            let found = store.conversations().message(message).await?;
            let found = found.filter(|found| found.conversation == *id);
            let found = found.ok_or_else(|| ConversationError::NoMessage(message.to_owned()))?;
            Some(found.pos)
        }
    };
    match store.conversations().mark_read(id, pos, SystemClock.now()).await? {
        true => Ok(()),
        false => Err(ConversationError::NotFound(id.to_string()).into()),
    }
}

/// How much is unread in all conversations.
///
/// # Errors
/// If the store fails.
pub async fn count_unread(store: &Store) -> Result<UnreadCount, AppError> {
    let totals = store.conversations().unread_totals(None).await?;
    Ok(UnreadCount { conversations: totals.conversations, messages: totals.messages })
}
