//! What can be done with a run from outside of its conversation: pages, the API and the command
//! line call the same functions.
//!
//! Deliberately absent: doing a run again (`retrying`), and its deletion (`cleaning`).

use crate::app::App;
use crate::error::{AppError, RunError};
use crate::forks::{self, ForkOptions};
use crate::settling::{self, SettleReport, SettleWord};
use everloop_engine::{Clock, Engine, SystemClock, fresh_id};
use everloop_store::InboxSendResult;
use everloop_types::RunId;
use everloop_types::journal::InboxMessage;
use std::sync::Arc;

/// Cancels a run; when this returns the cancel is durable.
///
/// # Errors
/// If there is no such run, it has ended, or the store fails.
pub async fn cancel(engine: &Engine, run: &RunId, by: &str) -> Result<(), AppError> {
    deliver(engine, run, "cancel", InboxMessage::Cancel { by: by.to_owned() }).await
}

/// Says something to the model of a run that works. The same `key` twice says it once.
///
/// # Errors
/// As [`cancel`].
pub async fn steer(
    engine: &Engine,
    run: &RunId,
    text: &str,
    key: Option<&str>,
) -> Result<(), AppError> {
    let words = InboxMessage::Steer { text: text.to_owned() };
    deliver(engine, run, &delivery_id("steer_", key), words).await
}

/// Asks a run for an answer with what there is. The same `key` twice asks once.
///
/// # Errors
/// As [`cancel`].
pub async fn answer_now(engine: &Engine, run: &RunId, key: Option<&str>) -> Result<(), AppError> {
    deliver(engine, run, &delivery_id("answer_now_", key), InboxMessage::AnswerNow).await
}

/// Makes a new run from an event of one.
///
/// # Errors
/// If there is no such run, an option cannot be used, or the store fails.
pub async fn fork(
    app: &App,
    engine: &Engine,
    run: &RunId,
    options: &ForkOptions,
) -> Result<RunId, AppError> {
    let (_, fork) = forks::prepare_fork(app, engine.store(), run, options).await?;
    let made = engine.fork(fork).await;
    let made = made.map_err(|source| RunError::Fork { parent: run.clone(), source })?;
    Ok(made.run)
}

/// Says what happened to a call whose outcome is unknown: the one that is named, or the only one.
///
/// # Errors
/// If there is no such call, somebody has said otherwise before, or the store fails.
pub async fn settle(
    engine: &Arc<Engine>,
    run: &RunId,
    call: Option<&str>,
    word: SettleWord,
) -> Result<SettleReport, AppError> {
    let unknowns = engine.open_unknowns(run).await?;
    let open = settling::choose_call(run, &unknowns, call).map_err(RunError::from)?;
    settling::settle(engine, open, word).await
}

/// The name of a message to a run: the same key names the same message.
fn delivery_id(prefix: &str, key: Option<&str>) -> String {
    match key {
        Some(key) => format!("{prefix}{key}"),
        None => fresh_id(prefix, SystemClock.now()),
    }
}

async fn deliver(
    engine: &Engine,
    run: &RunId,
    id: &str,
    message: InboxMessage,
) -> Result<(), AppError> {
    match engine.send(run, id, &message).await? {
        InboxSendResult::Finished(status) => {
            Err(RunError::Finished { run: run.clone(), status }.into())
        }
        InboxSendResult::NoSuchRun => Err(RunError::NotFound(run.to_string()).into()),
        InboxSendResult::Accepted | InboxSendResult::AlreadySent => Ok(()),
    }
}
