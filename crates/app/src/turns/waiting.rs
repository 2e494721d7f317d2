//! Messages that wait for the end of a run: written down, shown, changed, and sent in their order,
//! whether a page is open or not.
//!
//! ```text
//!   a message must wait ──► a file of the conversation ──nothing works──► a turn
//!                                                  └──began nothing──► held, with the reason
//! ```
//!
//! The files are those of lines that are typed ahead in a terminal, so no crash loses one. A line
//! is sent with its own id: if the process dies between sending and noting that, it stays one turn.
//! A line that begins nothing stays first, with the reason, until a person edits, sends or removes
//! it.

use super::busy::{SendError, Sending};
use super::{SeenQuestions, TurnMessage, TurnMode, TurnReceipt, steer};
use crate::app::App;
use crate::conversation::{LineChoice, Queue, QueuedLine};
use crate::conversations::ConversationChannel;
use crate::error::{AppError, chain};
use everloop_engine::{Engine, Update, Watch};
use everloop_store::Store;
use everloop_types::{ConversationId, digest_bytes};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Messages of a conversation that may wait.
const WAITING_MAX: usize = 20;

/// How often the ends of runs that other processes drive are looked for.
const LOOK: Duration = Duration::from_millis(500);

/// The longest wait between two tries after failures that pass.
const RETRY_MAX: Duration = Duration::from_secs(60);

/// Why the first message of a queue is not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueueHold {
    /// There is no model, and no rule understands it.
    NoModel,
    /// There is no model. By the rules it means this command.
    Suggested(String),
    /// It was refused, in these words.
    Refused(String),
}

/// A message that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingMessage {
    /// Its words and what works on it.
    pub line: QueuedLine,
    /// Why it was not sent when its turn came.
    pub hold: Option<QueueHold>,
}

/// Where files are kept that were uploaded for a message.
#[must_use]
pub fn uploads_folder(app: &App) -> PathBuf {
    app.home.data().join("uploads")
}

/// The messages that wait, by conversation.
#[derive(Debug, Default)]
pub struct MessageQueues(Mutex<BTreeMap<ConversationId, WaitingQueue>>);

/// The messages of one conversation.
#[derive(Debug)]
struct WaitingQueue {
    queue: Queue,
    hold: Option<QueueHold>,
    failures: u32,
    /// Not before this moment, after a failure that passes.
    next_try: Option<Instant>,
}

impl WaitingQueue {
    fn open(app: &App, conversation: &ConversationId) -> Self {
        let queue = Queue::open(app, conversation);
        Self { queue, hold: None, failures: 0, next_try: None }
    }

    /// The first message, or a changed one, is tried anew.
    fn release(&mut self) {
        (self.hold, self.failures, self.next_try) = (None, 0, None);
    }

    fn first(&self) -> Option<&QueuedLine> {
        self.queue.waiting().next()
    }

    fn is_ready(&self, now: Instant) -> bool {
        self.hold.is_none() && self.next_try.is_none_or(|at| at <= now)
    }
}

impl MessageQueues {
    fn all(&self) -> MutexGuard<'_, BTreeMap<ConversationId, WaitingQueue>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What waits in a conversation, the first message first.
    pub fn of(&self, conversation: &ConversationId) -> Vec<WaitingMessage> {
        let all = self.all();
        let Some(waiting) = all.get(conversation) else { return Vec::new() };
        let holds = std::iter::once(waiting.hold.clone()).chain(std::iter::repeat(None));
        let lines = waiting.queue.waiting().cloned().zip(holds);
        lines.map(|(line, hold)| WaitingMessage { line, hold }).collect()
    }

    /// Whether a file goes with a message that waits.
    pub fn has_file(&self, conversation: &ConversationId, file: &Path) -> bool {
        let waiting = self.of(conversation);
        let mut files = waiting.iter().flat_map(|one| &one.line.choice.attachments);
        files.any(|known| known == file)
    }

    /// Differs whenever something of them changed.
    pub fn stamp(&self) -> String {
        let mut seen = String::new();
        for (conversation, waiting) in self.all().iter() {
            for line in waiting.queue.waiting() {
                let _ = write!(seen, "{conversation} {} {} ", line.id, line.line);
            }
            let _ = write!(seen, "{:?} ", waiting.hold);
        }
        digest_bytes(seen.as_bytes())[..16].to_owned()
    }

    /// Writes a message down that waits. If the disk does not take it, it does not wait.
    pub(super) fn push(
        &self,
        app: &App,
        conversation: &ConversationId,
        line: QueuedLine,
    ) -> Result<(), SendError> {
        let mut all = self.all();
        let waiting = all
            .entry(conversation.clone())
            .or_insert_with(|| WaitingQueue::open(app, conversation));
        if waiting.queue.waiting().count() >= WAITING_MAX {
            return Err(SendError::Full(WAITING_MAX));
        }
        let pushed = waiting.queue.push_as(&line.id, &line.line, line.choice);
        if waiting.first().is_none() {
            all.remove(conversation);
        }
        Ok(pushed?)
    }

    /// Other words for a message that waits. Whatever held it is forgotten.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn change(
        &self,
        conversation: &ConversationId,
        id: &str,
        text: &str,
    ) -> Result<(), io::Error> {
        let mut all = self.all();
        let Some(waiting) = all.get_mut(conversation) else { return Ok(()) };
        let is_first = waiting.first().is_some_and(|line| line.id == id);
        waiting.queue.change(id, text)?;
        if is_first {
            waiting.release();
        }
        Ok(())
    }

    /// Takes a message off. Its pictures go with it.
    pub fn remove(&self, app: &App, conversation: &ConversationId, id: &str) {
        let mut all = self.all();
        let Some(waiting) = all.get_mut(conversation) else { return };
        if waiting.first().is_some_and(|line| line.id == id) {
            waiting.release();
        }
        let line = waiting.queue.waiting().find(|line| line.id == id).cloned();
        if let Err(error) = waiting.queue.gone(id) {
            tracing::warn!(%error, "a message that was sent is still on the disk's list");
        }
        if waiting.first().is_none() {
            all.remove(conversation);
        }
        let folder = uploads_folder(app);
        let files = line.into_iter().flat_map(|line| line.choice.attachments);
        for file in files.filter(|file| file.starts_with(&folder)) {
            let _ = std::fs::remove_file(file);
        }
    }

    /// Sends a message that waits at once: it steers the run that works, or begins a turn.
    ///
    /// # Errors
    /// If it cannot be sent. It waits on then.
    pub async fn send_now(
        &self,
        app: &App,
        engine: &Arc<Engine>,
        conversation: &ConversationId,
        id: &str,
    ) -> Result<(), AppError> {
        let waiting = self.of(conversation).into_iter().find(|one| one.line.id == id);
        // It was sent meanwhile.
        let Some(WaitingMessage { line, .. }) = waiting else { return Ok(()) };
        let sending = Sending { app, engine, conversation };
        let working = sending.working().await?;
        if let Some(run) = working.first().filter(|_| line.choice.attachments.is_empty())
            && steer(engine, conversation, run, &message_of(&line)).await?.is_some()
        {
            self.remove(app, conversation, id);
            return Ok(());
        }
        let receipt = super::send(app, engine, conversation, message_of(&line)).await?;
        self.settle(app, conversation, &line, hold_of(receipt));
        Ok(())
    }

    /// Takes over what an earlier process left, and sends what waits, until it is dropped. `app`
    /// gives the settings in force.
    pub async fn keep_sending(&self, engine: &Arc<Engine>, app: impl Fn() -> Arc<App>) {
        self.take_over(&app(), engine.store()).await;
        let mut watch = engine.watch();
        loop {
            self.send_firsts(&app(), engine).await;
            tokio::select! {
                () = changed(&mut watch) => {}
                () = tokio::time::sleep(LOOK) => {}
            }
        }
    }

    async fn take_over(&self, app: &App, store: &Store) {
        for conversation in Queue::conversations(app) {
            let row = store.conversations().get(&conversation).await;
            // Lines of a terminal wait for the next chat there.
            let is_ours = |channel: &str| channel == ConversationChannel::Api.name();
            if !row.is_ok_and(|row| row.is_some_and(|row| is_ours(&row.channel))) {
                continue;
            }
            let mut all = self.all();
            if let Entry::Vacant(place) = all.entry(conversation) {
                let waiting = WaitingQueue::open(app, place.key());
                if waiting.first().is_some() {
                    place.insert(waiting);
                }
            }
        }
    }

    /// Sends the first message of each conversation in which nothing is open.
    pub async fn send_firsts(&self, app: &App, engine: &Arc<Engine>) {
        let now = Instant::now();
        let ready = |(id, waiting): (&ConversationId, &WaitingQueue)| {
            let line = waiting.first().filter(|_| waiting.is_ready(now));
            line.map(|line| (id.clone(), line.clone()))
        };
        let firsts: Vec<_> = self.all().iter().filter_map(ready).collect();
        for (conversation, line) in firsts {
            let open = engine.store().conversations().open_runs_of(&conversation).await;
            if !open.is_ok_and(|open| open.is_empty()) {
                continue;
            }
            match super::send(app, engine, &conversation, message_of(&line)).await {
                Ok(receipt) => self.settle(app, &conversation, &line, hold_of(receipt)),
                Err(error) if error.is_transient() => self.try_later(&conversation),
                Err(error) => {
                    let why = chain(&error);
                    tracing::warn!(%conversation, error = %why, "a queued message was not sent");
                    self.settle(app, &conversation, &line, Some(QueueHold::Refused(why)));
                }
            }
        }
    }

    /// A message was sent, or is held for this reason unless it was changed meanwhile.
    fn settle(
        &self,
        app: &App,
        conversation: &ConversationId,
        line: &QueuedLine,
        hold: Option<QueueHold>,
    ) {
        let Some(hold) = hold else { return self.remove(app, conversation, &line.id) };
        let mut all = self.all();
        let Some(waiting) = all.get_mut(conversation) else { return };
        if waiting.first() == Some(line) {
            waiting.hold = Some(hold);
        }
    }

    fn try_later(&self, conversation: &ConversationId) {
        if let Some(waiting) = self.all().get_mut(conversation) {
            let wait = LOOK.saturating_mul(1 << waiting.failures.min(10)).min(RETRY_MAX);
            waiting.failures += 1;
            waiting.next_try = Some(Instant::now() + wait);
        }
    }
}

/// A line as a message. Nobody saw a question when it was written.
fn message_of(line: &QueuedLine) -> TurnMessage {
    let LineChoice { loop_name, model, attachments } = line.choice.clone();
    TurnMessage {
        content: line.line.clone(),
        client_request_id: Some(line.id.clone()),
        attachments,
        mode: loop_name.map_or(TurnMode::Decide, |name| TurnMode::Loop(Some(name))),
        model,
        answers: SeenQuestions::Only(Vec::new()),
        ..TurnMessage::default()
    }
}

/// Why a message that was sent waits on: it began nothing.
fn hold_of(receipt: TurnReceipt) -> Option<QueueHold> {
    match receipt {
        TurnReceipt::NoModel => Some(QueueHold::NoModel),
        TurnReceipt::Suggested { command } => Some(QueueHold::Suggested(command)),
        TurnReceipt::NotAnswered { question, .. } => Some(QueueHold::Refused(question)),
        TurnReceipt::Turn { .. }
        | TurnReceipt::Answered { .. }
        | TurnReceipt::Steered { .. }
        | TurnReceipt::Canceled { .. }
        | TurnReceipt::NothingToCancel
        | TurnReceipt::Command { .. }
        | TurnReceipt::Queued { .. }
        | TurnReceipt::Empty => None,
    }
}

/// Until an entry is durable or a run changes hands; pieces of replies do not count.
async fn changed(watch: &mut Watch) {
    loop {
        match watch.recv().await {
            Some(update) if matches!(*update, Update::Delta(..)) => {}
            Some(_) => return,
            None => std::future::pending().await,
        }
    }
}
