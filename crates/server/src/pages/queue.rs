//! Messages that wait for the end of a run: written down, shown, changed, and sent in their order,
//! whether a page is open or not.
//!
//! ```text
//!   send while a run works ──► a file of the conversation ──run has ended──► a turn
//! ```
//!
//! The files are those of lines that are typed ahead in a terminal, so no death loses one. A line
//! is sent with its own id: if the process dies between sending and noting that, it stays one turn.

use super::forms::FormFields;
use super::frame::missing;
use super::respond::see_other;
use super::uploads;
use crate::json::{Body, PathOf};
use crate::problem::{Problem, ProblemCode};
use crate::routes::conversations::find;
use crate::routes::run_actions::{self, SteerRequest};
use crate::state::ServerState;
use axum::extract::State;
use axum::response::Response;
use everloop_app::App;
use everloop_app::conversation::{LineChoice, Queue, QueuedLine};
use everloop_app::conversations::ConversationChannel;
use everloop_app::interrupts;
use everloop_app::turns::{self, TurnMessage, TurnMode};
use everloop_types::{ConversationId, Status, digest_bytes};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often ends of runs that other processes drive are looked for.
const LOOK: Duration = Duration::from_millis(500);

/// Messages of a conversation that may wait.
const WAITING_MAX: usize = 20;

/// Runs of a conversation that are looked at.
const RUNS_MAX: usize = 200;

/// What waits, by conversation.
#[derive(Default)]
pub(crate) struct MessageQueues(Mutex<BTreeMap<ConversationId, Queue>>);

impl MessageQueues {
    fn all(&self) -> MutexGuard<'_, BTreeMap<ConversationId, Queue>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What waits in a conversation, the first message first.
    pub(crate) fn of(&self, conversation: &ConversationId) -> Vec<QueuedLine> {
        let all = self.all();
        all.get(conversation).map(|queue| queue.waiting().cloned().collect()).unwrap_or_default()
    }

    /// Differs whenever something of them changed.
    pub(crate) fn stamp(&self) -> String {
        let mut seen = String::new();
        for (conversation, queue) in self.all().iter() {
            for line in queue.waiting() {
                let _ = write!(seen, "{conversation} {} {} ", line.id, line.line);
            }
        }
        digest_bytes(seen.as_bytes())[..16].to_owned()
    }

    /// Writes a message down that waits. One that waits under the same id already is the same.
    ///
    /// # Errors
    /// If too many wait, or the disk does not take it.
    pub(crate) fn push(
        &self,
        app: &App,
        conversation: &ConversationId,
        line: QueuedLine,
    ) -> Result<(), Problem> {
        let mut all = self.all();
        let waits = |queue: &Queue| queue.waiting().any(|known| known.id == line.id);
        if all.get(conversation).is_some_and(waits) {
            return Ok(());
        }
        let room = room_in(&mut all, app, conversation)?;
        room.push_as(&line.id, &line.line, line.choice).map_err(unwritten)
    }

    fn change(&self, conversation: &ConversationId, id: &str, text: &str) -> Result<(), Problem> {
        let mut all = self.all();
        let Some(queue) = all.get_mut(conversation) else { return Ok(()) };
        queue.change(id, text).map_err(unwritten)?;
        Ok(())
    }

    /// Takes a message off. Its pictures go with it.
    fn remove(&self, conversation: &ConversationId, id: &str) {
        let mut all = self.all();
        let Some(queue) = all.get_mut(conversation) else { return };
        let pictures: Vec<_> = queue
            .waiting()
            .filter(|line| line.id == id)
            .flat_map(|line| line.choice.attachments.clone())
            .collect();
        if let Err(error) = queue.gone(id) {
            tracing::warn!(%error, "a message that was sent is still on the disk's list");
        }
        uploads::delete(&pictures);
        if queue.waiting().next().is_none() {
            all.remove(conversation);
        }
    }

    fn firsts(&self) -> Vec<(ConversationId, QueuedLine)> {
        let all = self.all();
        let first = |(id, queue): (&ConversationId, &Queue)| {
            queue.waiting().next().filter(|_| !queue.held).map(|line| (id.clone(), line.clone()))
        };
        all.iter().filter_map(first).collect()
    }

    fn hold(&self, conversation: &ConversationId) {
        if let Some(queue) = self.all().get_mut(conversation) {
            queue.held = true;
        }
    }

    fn take_over(&self, app: &App, conversation: ConversationId) {
        let queue = Queue::open(app, &conversation);
        if queue.waiting().next().is_some() {
            self.all().insert(conversation, queue);
        }
    }
}

/// The queue of a conversation, if one more message may wait in it.
fn room_in<'a>(
    all: &'a mut BTreeMap<ConversationId, Queue>,
    app: &App,
    conversation: &ConversationId,
) -> Result<&'a mut Queue, Problem> {
    let queue = all.entry(conversation.clone()).or_insert_with(|| Queue::open(app, conversation));
    match queue.waiting().count() >= WAITING_MAX {
        true => Err(Problem::of_field("text", format!("{WAITING_MAX} messages wait already"))),
        false => Ok(queue),
    }
}

fn unwritten(error: std::io::Error) -> Problem {
    ProblemCode::Internal.because(error.to_string())
}

/// A message for the run that works: it begins with an exclamation mark.
pub(super) fn steering(text: &str) -> Option<&str> {
    let said = text.trim_start().strip_prefix(['!', '！'])?.trim();
    (!said.is_empty()).then_some(said)
}

/// Whether a message waits for the end of what the conversation works on: something works or waits,
/// nobody asks, and it is no command.
pub(crate) async fn must_wait(
    state: &ServerState,
    conversation: &ConversationId,
    text: &str,
) -> Result<bool, Problem> {
    let rows = state.store().runs().of_conversation(conversation, RUNS_MAX).await?;
    let works = rows.iter().any(|row| matches!(row.status, Status::Running | Status::Queued));
    if !works && state.behind.queues.of(conversation).is_empty() {
        return Ok(false);
    }
    let asks = interrupts::open(state.store()).await?;
    let is_asked = asks.iter().any(|ask| ask.conversation == *conversation);
    let is_order = text.trim_start().starts_with('/') || turns::is_stop(&state.app, text.trim());
    Ok(!is_asked && !is_order)
}

/// Sends what waits, for as long as the server lives. What an earlier process left comes first.
pub(crate) async fn keep_sending(state: ServerState) {
    for conversation in Queue::conversations(&state.app) {
        let row = state.store().conversations().get(&conversation).await;
        // Lines of a terminal wait for the next chat there.
        let is_ours = |channel: &str| channel == ConversationChannel::Api.name();
        if row.is_ok_and(|row| row.is_some_and(|row| is_ours(&row.channel))) {
            state.behind.queues.take_over(&state.app, conversation);
        }
    }
    let mut watch = state.engine().watch();
    loop {
        // A clone has the settings of now.
        let now = state.clone();
        for (conversation, line) in now.behind.queues.firsts() {
            send_first(&now, &conversation, line).await;
        }
        tokio::select! {
            biased;
            () = state.stopping.cancelled() => return,
            () = super::live::changed(&mut watch) => {}
            () = tokio::time::sleep(LOOK) => {}
        }
    }
}

async fn send_first(state: &ServerState, conversation: &ConversationId, line: QueuedLine) {
    let rows = state.store().runs().of_conversation(conversation, RUNS_MAX).await;
    // It must not answer a question that nobody had seen.
    if !rows.is_ok_and(|rows| rows.iter().all(|row| row.status.is_final())) {
        return;
    }
    match send(state, conversation, &line).await {
        Ok(()) => state.behind.queues.remove(conversation, &line.id),
        Err(problem) => {
            tracing::warn!(%conversation, problem = ?problem.code, "a queued message was not sent");
            state.behind.queues.hold(conversation);
        }
    }
}

async fn send(
    state: &ServerState,
    conversation: &ConversationId,
    line: &QueuedLine,
) -> Result<(), Problem> {
    let LineChoice { loop_name, model, attachments } = line.choice.clone();
    let message = TurnMessage {
        content: line.line.clone(),
        client_request_id: Some(line.id.clone()),
        attachments,
        mode: loop_name.map_or(TurnMode::Decide, |name| TurnMode::Loop(Some(name))),
        model,
        ..TurnMessage::default()
    };
    turns::send(&state.app, state.engine(), conversation, message).await?;
    Ok(())
}

pub(crate) async fn perform(
    State(state): State<ServerState>,
    PathOf((id, line, verb)): PathOf<(String, String, String)>,
    fields: FormFields,
) -> Result<Response, Problem> {
    let conversation = find(&state, &id).await?.row.id;
    let known = state.behind.queues.of(&conversation).into_iter().find(|known| known.id == line);
    // It was sent meanwhile: the page shows it.
    let Some(known) = known else { return Ok(see_other(fields.back())) };
    match verb.as_str() {
        "remove" => state.behind.queues.remove(&conversation, &line),
        "edit" if fields.get("text").trim().is_empty() => {
            state.behind.queues.remove(&conversation, &line);
        }
        "edit" => state.behind.queues.change(&conversation, &line, fields.get("text"))?,
        "now" => {
            now(&state, &conversation, &known).await?;
            state.behind.queues.remove(&conversation, &line);
        }
        _ => return Err(missing()),
    }
    Ok(see_other(fields.back()))
}

/// Tells the run that works, or begins a turn if none does.
async fn now(
    state: &ServerState,
    conversation: &ConversationId,
    line: &QueuedLine,
) -> Result<(), Problem> {
    let rows = state.store().runs().of_conversation(conversation, RUNS_MAX).await?;
    let works = rows.iter().find(|row| matches!(row.status, Status::Running | Status::Queued));
    match works.filter(|_| line.choice.attachments.is_empty()) {
        Some(row) => {
            let steer = SteerRequest { text: line.line.clone() };
            let run = PathOf(row.run.to_string());
            drop(run_actions::steer_run(State(state.clone()), run, None, Body(steer)).await?);
            Ok(())
        }
        None => send(state, conversation, line).await,
    }
}
