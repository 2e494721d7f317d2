//! Messages that come while a run of their conversation works: each waits, steers the run,
//! interrupts it, is refused, or begins a turn beside it. Pages and the API send by
//! [`MessageQueues::send`].
//!
//! ```text
//!   message ──► came before? ──► steers the run? ──► must wait? ──yes──► the queue (waiting.rs)
//!                                                        └──no──► a turn, an answer or a command
//! ```

use super::waiting::{MessageQueues, uploads_folder};
use super::{TurnMessage, TurnMode, TurnReceipt, done_before, is_stop, steer};
use crate::app::App;
use crate::conversation::{LineChoice, QueuedLine};
use crate::error::AppError;
use crate::slash;
use everloop_engine::{Clock, Engine, SystemClock, fresh_id};
use everloop_store::Store;
use everloop_types::{ConversationId, RunId, Status, digest_bytes};
use schemars::JsonSchema;
use serde::Deserialize;
use std::io;
use std::sync::Arc;

/// What happens to a message while a run of its conversation works.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BusyPolicy {
    /// It begins a turn of its own at once.
    #[default]
    Start,
    /// It waits until nothing works, and begins a turn then.
    Queue,
    /// The run that works is told.
    Steer,
    /// It is refused with 409.
    Reject,
    /// The runs that work are canceled, and it begins a turn.
    Interrupt,
}

/// Why a message was not taken.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// This run works, and the message must not wait.
    #[error("{0} works")]
    Busy(RunId),
    /// So many messages wait already.
    #[error("{0} messages wait already")]
    Full(usize),
    /// Pictures that are not uploads may have changed when the message is sent.
    #[error("pictures cannot wait")]
    Pictures,
    /// The message could not be written to the disk, so it does not wait.
    #[error("the message cannot be kept")]
    Disk(#[from] io::Error),
    /// As every message.
    #[error(transparent)]
    App(#[from] AppError),
}

impl MessageQueues {
    /// Takes a message into a conversation, or lets it wait. When this returns, what it did is
    /// durable. The same `client_request_id` again is the same message.
    ///
    /// # Errors
    /// [`SendError`]. Nothing was begun then, and nothing waits.
    pub async fn send(
        &self,
        app: &App,
        engine: &Arc<Engine>,
        conversation: &ConversationId,
        message: TurnMessage,
        on_busy: BusyPolicy,
    ) -> Result<TurnReceipt, SendError> {
        let line_id = line_id(&message);
        let earlier = self.earlier(engine.store(), conversation, &message, &line_id);
        if let Some(receipt) = earlier.await? {
            return Ok(receipt);
        }
        if on_busy == BusyPolicy::Start {
            return Ok(super::send(app, engine, conversation, message).await?);
        }
        let sending = Sending { app, engine, conversation };
        let working = sending.working().await?;
        let receipt = match on_busy {
            BusyPolicy::Start => None,
            BusyPolicy::Queue => self.steer_or_wait(&sending, &message, line_id, &working).await?,
            BusyPolicy::Reject => match working.first() {
                Some(newest) => return Err(SendError::Busy(newest.clone())),
                None => None,
            },
            BusyPolicy::Interrupt => {
                for run in &working {
                    engine.cancel(run, "api").await.map_err(AppError::from)?;
                }
                None
            }
            // If it has ended meanwhile, the message begins a turn.
            BusyPolicy::Steer => match working.first() {
                Some(newest) => steer(engine, conversation, newest, &message).await?,
                None => None,
            },
        };
        match receipt {
            Some(receipt) => Ok(receipt),
            None => Ok(super::send(app, engine, conversation, message).await?),
        }
    }

    /// What an earlier request with the same id did: it waits, or was carried out.
    async fn earlier(
        &self,
        store: &Store,
        conversation: &ConversationId,
        message: &TurnMessage,
        line_id: &str,
    ) -> Result<Option<TurnReceipt>, AppError> {
        let Some(id) = &message.client_request_id else { return Ok(None) };
        if self.of(conversation).iter().any(|one| one.line.id == line_id) {
            return Ok(Some(TurnReceipt::Queued { queued_id: line_id.to_owned() }));
        }
        match done_before(store, conversation, line_id).await? {
            None => done_before(store, conversation, id).await,
            done => Ok(done),
        }
    }

    /// Steers the run that works if the message says so, or puts the message behind what works and
    /// what waits; nothing if it need not wait.
    async fn steer_or_wait(
        &self,
        sending: &Sending<'_>,
        message: &TurnMessage,
        line_id: String,
        working: &[RunId],
    ) -> Result<Option<TurnReceipt>, SendError> {
        if let (Some(run), Some(words)) = (working.first(), steering_words(message)) {
            let message = TurnMessage { content: words.to_owned(), ..message.clone() };
            let steered = steer(sending.engine, sending.conversation, run, &message).await?;
            if steered.is_some() {
                return Ok(steered);
            }
        }
        let waits = !working.is_empty() || !self.of(sending.conversation).is_empty();
        if !sending.must_wait(message, waits).await? {
            return Ok(None);
        }
        let folder = uploads_folder(sending.app);
        if message.attachments.iter().any(|file| !file.starts_with(&folder)) {
            return Err(SendError::Pictures);
        }
        let loop_name = match &message.mode {
            TurnMode::Loop(name) => name.clone(),
            TurnMode::Decide => None,
        };
        let (model, attachments) = (message.model.clone(), message.attachments.clone());
        let choice = LineChoice { loop_name, model, attachments };
        let line = QueuedLine { id: line_id.clone(), line: message.content.clone(), choice };
        self.push(sending.app, sending.conversation, line)?;
        Ok(Some(TurnReceipt::Queued { queued_id: line_id }))
    }
}

/// A message on its way into a conversation.
pub(super) struct Sending<'a> {
    pub(super) app: &'a App,
    pub(super) engine: &'a Arc<Engine>,
    pub(super) conversation: &'a ConversationId,
}

impl Sending<'_> {
    /// The runs that work, the newest first. A run that waits for an answer does not work.
    pub(super) async fn working(&self) -> Result<Vec<RunId>, AppError> {
        let open = self.engine.store().conversations().open_runs_of(self.conversation).await?;
        let works =
            |(_, status): &(RunId, Status)| matches!(status, Status::Queued | Status::Running);
        Ok(open.into_iter().filter(works).map(|(run, _)| run).collect())
    }

    /// Commands and what stops a run never wait, nor does an answer to a question that the sender
    /// saw. Anything else waits for what works, what waits, and questions that the sender did not
    /// see.
    async fn must_wait(&self, message: &TurnMessage, waits: bool) -> Result<bool, AppError> {
        if slash::is_command(&message.content) || is_stop(self.app, message.content.trim()) {
            return Ok(false);
        }
        let open = super::open_questions(self.engine.store(), self.conversation).await?;
        let answers = open.iter().any(|question| message.answers.allow(question));
        Ok(!answers && (waits || !open.is_empty()))
    }
}

/// The id of a message that waits, and of its turn: made of the request's, if that has one.
fn line_id(message: &TurnMessage) -> String {
    match &message.client_request_id {
        Some(id) => format!("queued_{}", &digest_bytes(id.as_bytes())[..26]),
        None => fresh_id("queued_", SystemClock.now()),
    }
}

/// The words for the run that works: what follows an exclamation mark.
fn steering_words(message: &TurnMessage) -> Option<&str> {
    let words = message.content.trim_start().strip_prefix(['!', '！'])?.trim();
    (!words.is_empty() && message.attachments.is_empty()).then_some(words)
}
