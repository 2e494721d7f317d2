//! A run as a watcher sees it: the one reducer of events.

use crate::events::{EventKind, RunEnding, RunEvent, TokenCounts, ToolOutcome, WaitingFor};
use everloop_types::{
    CallId, Counts, Ending, FileChange, Progress, Purpose, QuestionKind, RunId, Status, UtcMs,
};
use std::collections::VecDeque;

/// Calls that are kept after they have ended.
const ENDED_CALLS_MAX: usize = 200;

/// Bytes that are kept of what a call under way prints.
const OUTPUT_BYTES_MAX: usize = 8_000;

/// Notes that are kept.
const NOTES_MAX: usize = 50;

/// What is known of a run from its events.
///
/// Deltas fill only [`reply`](Self::reply) and the [`output`](CallView::output) of calls, which are
/// gone when the reply or the call is complete: a view is the same in the end, whichever of them
/// were lost.
#[derive(Debug, Clone, PartialEq)]
pub struct RunView {
    /// The run. Events of other runs are ignored.
    pub run: RunId,
    /// The place of the last durable event.
    pub seq: i64,
    /// When that was.
    pub at: UtcMs,
    /// Whether it works, waits or is over.
    pub status: Status,
    /// What the user wants.
    pub goal: String,
    /// The loop that decides.
    pub loop_name: String,
    /// The plan with its version, the current item, the round and the steps used.
    pub plan: Progress,
    /// The reply on its way.
    pub reply: Option<ReplyView>,
    /// The last complete reply.
    pub message: MessageView,
    /// Tool calls under way, and the last ones that ended, in the order of their plans.
    pub calls: VecDeque<CallView>,
    /// Notes of the loop for watchers, in the run's language.
    pub notes: VecDeque<String>,
    /// The open question.
    pub question: Option<QuestionView>,
    /// What the run waits for.
    pub waiting: Option<WaitingFor>,
    /// What it has used so far.
    pub counts: Counts,
    /// The runs that it has begun.
    pub children: Vec<ChildView>,
    /// How it ended.
    pub ending: Option<RunEnding>,
}

/// A reply on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyView {
    /// The place of the planned call; deltas of other calls are ignored.
    pub seq: i64,
    /// What the model was asked for.
    pub purpose: Purpose,
    /// The text so far.
    pub text: String,
    /// The reasoning so far.
    pub reasoning: String,
    /// Characters so far, those of tool calls included.
    pub chars: usize,
    /// The attempt that failed before this one, if one did.
    pub retry: Option<RetryView>,
    /// When this attempt began.
    pub began_at: UtcMs,
    /// The model that answers in place of the run's own, if one does.
    pub fallback: Option<String>,
}

/// A call of the model that is made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryView {
    /// Attempts that failed.
    pub failed_attempts: u32,
    /// When the next one begins.
    pub at: UtcMs,
}

/// A complete reply.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessageView {
    /// Its place.
    pub seq: i64,
    /// What it says to people.
    pub text: String,
    /// Its reasoning.
    pub reasoning: String,
    /// How many tools it asks for.
    pub tool_calls: usize,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallView {
    /// The call.
    pub id: CallId,
    /// The tool.
    pub tool: String,
    /// The arguments as the model wrote them.
    pub arguments: String,
    /// Attempts that failed.
    pub failed_attempts: u32,
    /// The end of what it has printed so far.
    pub output: String,
    /// How it ended and what came back, once it has.
    pub outcome: Option<(Ending, String)>,
    /// What it changed in a file.
    pub change: Option<Box<FileChange>>,
    /// When it could begin at the earliest: when it was planned, allowed, or taken up again.
    pub began_at: UtcMs,
    /// When it ended; the beginning of time before that.
    pub ended_at: UtcMs,
}

/// A question that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionView {
    /// The question.
    pub id: String,
    /// What is asked for.
    pub kind: QuestionKind,
    /// The words.
    pub text: String,
}

/// A child run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChildView {
    /// The child.
    pub run: RunId,
    /// How it ended, once it has.
    pub status: Option<Status>,
}

impl RunView {
    /// A run of which nothing is known yet.
    #[must_use]
    pub fn new(run: RunId) -> Self {
        Self {
            run,
            seq: 0,
            at: 0,
            status: Status::Queued,
            goal: String::new(),
            loop_name: String::new(),
            plan: Progress::default(),
            reply: None,
            message: MessageView::default(),
            calls: VecDeque::new(),
            notes: VecDeque::new(),
            question: None,
            waiting: None,
            counts: Counts::default(),
            children: Vec::new(),
            ending: None,
        }
    }

    /// Applies an event.
    pub fn apply(&mut self, event: &RunEvent) {
        if event.run_id != self.run {
            return;
        }
        let Some(at) = event.ts else {
            return self.apply_delta(event);
        };
        self.seq = event.seq;
        self.at = at;
        self.apply_status(&event.kind);
        match &event.kind {
            EventKind::RunStarted { goal, loop_name } => {
                self.goal.clone_from(goal);
                self.loop_name.clone_from(loop_name);
            }
            EventKind::RunForked { .. } => self.counts = Counts::default(),
            EventKind::PlanCreated { plan } | EventKind::PlanUpdated { plan } => {
                self.plan = plan.clone();
                self.counts.steps = plan.steps;
            }
            EventKind::StepNoted(said) | EventKind::StepSalvaged { said, .. } => {
                self.add_note(&said.text);
            }
            EventKind::RoundSummarized { text, .. } => self.add_note(text),
            EventKind::QuestionOpened { interrupt_id, kind, message, .. } => {
                let (id, text) = (interrupt_id.clone(), message.clone());
                self.question = Some(QuestionView { id, kind: *kind, text });
            }
            EventKind::QuestionAnswered { .. } => self.question = None,
            EventKind::ToolApproved { call_id: Some(id), .. } => {
                let call = self.calls.iter_mut().find(|call| call.id == *id);
                call.into_iter().for_each(|call| call.began_at = at);
            }
            EventKind::ChildStarted { child } => {
                self.children.push(ChildView { run: child.clone(), status: None });
            }
            EventKind::ChildEnded { child, status, usage, model_calls, tool_calls, .. } => {
                self.charge(*usage, *model_calls, *tool_calls);
                let known = self.children.iter_mut().find(|known| known.run == *child);
                known.into_iter().for_each(|known| known.status = Some(*status));
            }
            kind => self.apply_call(event.seq, kind),
        }
    }

    /// The calls that have no outcome yet.
    pub fn open_calls(&self) -> impl Iterator<Item = &CallView> {
        self.calls.iter().filter(|call| call.outcome.is_none())
    }

    fn apply_status(&mut self, kind: &EventKind) {
        match kind {
            EventKind::RunWaiting(on) => {
                self.status = Status::Waiting;
                self.waiting = Some(on.clone());
                self.restart_reply();
            }
            EventKind::RunResumed {} => {
                self.status = Status::Running;
                self.waiting = None;
                self.restart_reply();
                let at = self.at;
                let open = self.calls.iter_mut().filter(|call| call.outcome.is_none());
                open.for_each(|call| call.began_at = at);
            }
            EventKind::StepStarted { .. }
            | EventKind::QuestionAnswered { .. }
            | EventKind::ChildEnded { .. } => {
                self.status = Status::Running;
                self.waiting = None;
            }
            kind => {
                if let Some(ending) = kind.ending() {
                    self.status = ending.status;
                    self.ending = Some(ending.clone());
                    self.waiting = None;
                    self.question = None;
                    self.reply = None;
                }
            }
        }
    }

    /// Calls of the model and of tools.
    fn apply_call(&mut self, seq: i64, kind: &EventKind) {
        match kind {
            EventKind::StepStarted { purpose, step, steps_max } => {
                self.counts.steps = *step;
                self.counts.model_calls += 1;
                self.plan.steps = *step;
                self.plan.steps_max = *steps_max;
                self.reply = Some(ReplyView::new(seq, *purpose, self.at));
            }
            EventKind::StepRetrying { wait_ms, attempt, .. } => {
                self.counts.wasted_attempts += 1;
                self.restart_reply();
                let at = self.at.saturating_add(i64::try_from(*wait_ms).unwrap_or(i64::MAX));
                let retry = RetryView { failed_attempts: *attempt, at };
                self.reply.iter_mut().for_each(|reply| reply.retry = Some(retry));
            }
            EventKind::StepFellBack { model, .. } => {
                self.counts.wasted_attempts += 1;
                self.restart_reply();
                self.reply.iter_mut().for_each(|reply| reply.fallback = Some(model.clone()));
            }
            EventKind::StepFailed { .. } | EventKind::StepSkipped { .. } => self.reply = None,
            EventKind::ReasoningCompleted { text } => {
                let reasoning = text.clone();
                self.message = MessageView { seq, reasoning, ..MessageView::default() };
            }
            EventKind::MessageCompleted { text, usage, tool_calls, .. } => {
                self.reply = None;
                if self.message.seq != seq {
                    self.message = MessageView { seq, ..MessageView::default() };
                }
                self.message.text.clone_from(text);
                self.message.tool_calls = *tool_calls;
                self.counts.usage.add((*usage).into());
            }
            EventKind::ToolStarted { call_id, tool, arguments } => {
                self.counts.tool_calls += 1;
                self.drop_old_calls();
                self.calls.push_back(CallView::new(call_id, tool, arguments, self.at));
            }
            EventKind::ToolRetrying { call_id, attempt, .. } => {
                self.counts.wasted_attempts += 1;
                let call = self.calls.iter_mut().find(|call| call.id == *call_id);
                call.into_iter().for_each(|call| call.failed_attempts = *attempt);
            }
            EventKind::ToolCompleted(outcome) => self.end_call(outcome),
            EventKind::ToolFailed(outcome) => {
                self.counts.tool_failures += 1;
                self.end_call(outcome);
            }
            _ => {}
        }
    }

    /// The same call is made again: the partial reply is dropped.
    fn restart_reply(&mut self) {
        if let Some(reply) = &mut self.reply {
            let fallback = reply.fallback.take();
            *reply = ReplyView { fallback, ..ReplyView::new(reply.seq, reply.purpose, self.at) };
        }
    }

    fn end_call(&mut self, outcome: &ToolOutcome) {
        let mut open = self.calls.iter_mut().filter(|call| call.outcome.is_none());
        if let Some(call) = open.find(|call| call.id == outcome.call_id) {
            call.output = String::new();
            call.ended_at = self.at;
            call.outcome = Some((outcome.ending, outcome.result.clone()));
            call.change.clone_from(&outcome.change);
        }
    }

    fn drop_old_calls(&mut self) {
        while self.calls.len() >= ENDED_CALLS_MAX {
            let ended = self.calls.iter().position(|call| call.outcome.is_some());
            let Some(place) = ended else { return };
            self.calls.remove(place);
        }
    }

    fn add_note(&mut self, text: &str) {
        if self.notes.len() == NOTES_MAX {
            self.notes.pop_front();
        }
        self.notes.push_back(text.to_owned());
    }

    fn charge(&mut self, usage: TokenCounts, model_calls: u32, tool_calls: u32) {
        self.counts.usage.add(usage.into());
        self.counts.model_calls += model_calls;
        self.counts.tool_calls += tool_calls;
    }

    fn apply_delta(&mut self, event: &RunEvent) {
        if let EventKind::ToolProgress { text: Some(text), call_id: Some(id), .. } = &event.kind {
            let call = self.calls.iter_mut().find(|call| call.id == *id && call.outcome.is_none());
            return call.into_iter().for_each(|call| call.add_output(text));
        }
        let Some(reply) = self.reply.as_mut().filter(|reply| reply.seq == event.seq) else {
            return;
        };
        let piece = match &event.kind {
            EventKind::MessageDelta { text } => {
                reply.text.push_str(text);
                Some(text)
            }
            EventKind::ReasoningDelta { text } => {
                reply.reasoning.push_str(text);
                Some(text)
            }
            EventKind::ToolProgress { tool, text, .. } => tool.as_ref().or(text.as_ref()),
            _ => None,
        };
        reply.chars += piece.map_or(0, |piece| piece.chars().count());
    }
}

impl ReplyView {
    fn new(seq: i64, purpose: Purpose, began_at: UtcMs) -> Self {
        let (text, reasoning) = (String::new(), String::new());
        Self { seq, purpose, text, reasoning, chars: 0, retry: None, began_at, fallback: None }
    }
}

impl CallView {
    fn new(id: &CallId, tool: &str, arguments: &str, began_at: UtcMs) -> Self {
        Self {
            id: id.clone(),
            tool: tool.to_owned(),
            arguments: arguments.to_owned(),
            failed_attempts: 0,
            output: String::new(),
            outcome: None,
            change: None,
            began_at,
            ended_at: 0,
        }
    }

    fn add_output(&mut self, text: &str) {
        self.output.push_str(text);
        if self.output.len() > OUTPUT_BYTES_MAX {
            let from = self.output.len() - OUTPUT_BYTES_MAX / 2;
            let from = self.output.ceil_char_boundary(from);
            self.output.drain(..from);
        }
    }
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;
