//! Requests that come again: what each did is found by its key, and nothing is done twice.
//!
//! ```text
//!   began a turn ──► the key of its run      canceled, told a run ──► a record of the request
//!   answered ──► the name of who answered
//! ```

use super::{TurnMessage, TurnReceipt};
use crate::error::{AppError, ConversationError};
use everloop_engine::{Clock, Engine, SystemClock, fresh_id};
use everloop_store::{InboxSendResult, Store, TurnRecord};
use everloop_types::journal::InboxMessage;
use everloop_types::{ConversationId, RunId};

/// Characters of the longest id of a request.
pub const REQUEST_ID_CHARS_MAX: usize = 200;

/// Answers of a conversation that are looked at for a repeated request.
const ANSWERS_LOOKED_AT: usize = 500;

/// What a request did that told a run something.
const STEER: &str = "steer";

/// What an earlier request with this id did in a conversation. A question that is open by now is
/// not its own.
///
/// # Errors
/// If the store fails.
pub async fn done_before(
    store: &Store,
    conversation: &ConversationId,
    id: &str,
) -> Result<Option<TurnReceipt>, AppError> {
    known(store, conversation, &key_of(conversation, id)).await
}

/// Tells a run that works what a message says. Nothing if the run has ended meanwhile.
///
/// # Errors
/// If the store fails.
pub async fn steer(
    engine: &Engine,
    conversation: &ConversationId,
    run: &RunId,
    message: &TurnMessage,
) -> Result<Option<TurnReceipt>, AppError> {
    let now = SystemClock.now();
    let record = request_key(conversation, message)?.map(|key| {
        let (did, run) = (STEER.to_owned(), Some(run.clone()));
        TurnRecord { key, did, run, at: now }
    });
    let dedupe = match &record {
        Some(record) => format!("steer_{}", record.key),
        None => fresh_id("steer_", now),
    };
    let words = InboxMessage::Steer { text: message.content.clone() };
    Ok(match engine.send_once(run, &dedupe, &words, record.as_ref()).await? {
        InboxSendResult::Finished(_) | InboxSendResult::NoSuchRun => None,
        InboxSendResult::Accepted => {
            Some(TurnReceipt::Steered { run_id: run.clone(), repeated: false })
        }
        InboxSendResult::AlreadySent => match &record {
            Some(record) => known(engine.store(), conversation, &record.key).await?,
            None => None,
        },
    })
}

/// What the request with this key did.
pub(super) async fn known(
    store: &Store,
    conversation: &ConversationId,
    key: &str,
) -> Result<Option<TurnReceipt>, AppError> {
    if let Some(run) = store.runs().by_idem_key(key).await? {
        let turn_id = turn_of(store, &run).await?;
        return Ok(Some(TurnReceipt::Turn { turn_id, run_id: run, repeated: true }));
    }
    if let Some(TurnRecord { did, run, .. }) = store.conversations().turn_record(key).await? {
        return Ok(Some(match run {
            Some(run_id) if did == STEER => TurnReceipt::Steered { run_id, repeated: true },
            Some(run_id) => TurnReceipt::Canceled { run_id, repeated: true },
            None => TurnReceipt::NothingToCancel,
        }));
    }
    let answered = store.inbox().answered_by(conversation, key, ANSWERS_LOOKED_AT).await?;
    let Some(run) = answered else { return Ok(None) };
    let turn_id = turn_of(store, &run).await?;
    Ok(Some(TurnReceipt::Answered { turn_id, run_id: run, repeated: true }))
}

pub(super) async fn turn_of(store: &Store, run: &RunId) -> Result<RunId, AppError> {
    let row = store.runs().get(run).await?;
    Ok(row.map_or_else(|| run.clone(), |row| row.origin.turn))
}

fn key_of(conversation: &ConversationId, id: &str) -> String {
    format!("turn:{conversation}:{id}")
}

/// The key of a request: an id counts within its conversation.
pub(super) fn request_key(
    conversation: &ConversationId,
    message: &TurnMessage,
) -> Result<Option<String>, AppError> {
    let Some(id) = &message.client_request_id else { return Ok(None) };
    if id.is_empty() || id.chars().count() > REQUEST_ID_CHARS_MAX {
        return Err(ConversationError::RequestId(REQUEST_ID_CHARS_MAX).into());
    }
    Ok(Some(key_of(conversation, id)))
}
