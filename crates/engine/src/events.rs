//! What happens to a run, in the form that programs and renderers read: stable names and fields.
//!
//! Journal kinds may change with the program; these names do not. [`Projector`](crate::Projector)
//! makes events of journal entries, [`Follower`](crate::Follower) delivers them, and
//! [`RunView`](crate::RunView) folds them. `docs/events.md` describes each one.

mod waiting;

pub use waiting::WaitingFor;

use everloop_types::journal::{Outcome, ProbeFinding};
use everloop_types::{
    ApprovalRequest, Args, CallId, Ending, FileChange, ModelErrorKind, Progress, Purpose,
    QuestionKind, Reason, RunId, Status, TextKey, Usage, UtcMs,
};
use serde::{Deserialize, Serialize};

/// One event of a run.
///
/// A durable event has the place and the time of its journal entry. A delta has no time; its `seq`
/// is the place of the planned call that it belongs to, so that a reader can join or drop it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunEvent {
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
    /// The run.
    pub run_id: RunId,
    /// The place in the journal.
    pub seq: i64,
    /// When the entry was written; absent in a delta.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ts: Option<UtcMs>,
}

impl RunEvent {
    /// Whether this is a piece of a call under way, which is never journaled.
    #[must_use]
    pub fn is_delta(&self) -> bool {
        self.ts.is_none()
    }

    /// Whether no event of the run follows.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        self.kind.ending().is_some()
    }

    /// Whether the run has stopped with this event, finally or until a person acts.
    #[must_use]
    pub fn is_stop(&self) -> bool {
        self.is_terminal() || matches!(self.kind, EventKind::RunWaiting(_))
    }

    /// The line that `stream-json` and `runs events` print.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("events have string keys only")
    }
}

/// What an event says. The name in the attribute is the `type` field, and stays as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum EventKind {
    /// The run exists.
    #[serde(rename = "run.started")]
    RunStarted {
        /// What the user wants.
        goal: String,
        /// The loop that decides.
        #[serde(rename = "loop")]
        loop_name: String,
    },
    /// The run continues after its driver died or released it.
    #[serde(rename = "run.recovered")]
    RunRecovered {
        /// Calls under way that have no recorded outcome.
        interrupted: usize,
    },
    /// A worker has claimed the run again.
    #[serde(rename = "run.resumed")]
    RunResumed {},
    /// The entries before this one come from another run.
    #[serde(rename = "run.forked")]
    RunForked {
        /// The other run.
        from: RunId,
        /// Its last entry that counts here.
        at: i64,
    },
    /// The run is a child of another one.
    #[serde(rename = "run.spawned")]
    RunSpawned {
        /// The parent.
        parent: RunId,
    },
    /// The user wants the run to go on under another loop.
    #[serde(rename = "run.switching")]
    RunSwitching {
        /// The other loop.
        #[serde(rename = "loop")]
        loop_name: String,
        /// The run that takes over.
        to: RunId,
    },
    /// The user said something to the model.
    #[serde(rename = "run.steered")]
    RunSteered {
        /// The words.
        text: String,
    },
    /// The user wants an answer with what there is.
    #[serde(rename = "run.answer_requested")]
    RunAnswerRequested {},
    /// The run is to be canceled.
    #[serde(rename = "run.cancel_requested")]
    RunCancelRequested {
        /// Who.
        by: String,
    },
    /// The run waits and holds no worker.
    #[serde(rename = "run.waiting")]
    RunWaiting(WaitingFor),
    /// The run reached its goal.
    #[serde(rename = "run.succeeded")]
    RunSucceeded(RunEnding),
    /// The run ended, and the outcome of a call is unknown.
    #[serde(rename = "run.unsettled")]
    RunUnsettled(RunEnding),
    /// The run ended without reaching its goal.
    #[serde(rename = "run.failed")]
    RunFailed(RunEnding),
    /// The run was canceled.
    #[serde(rename = "run.canceled")]
    RunCanceled(RunEnding),
    /// The run cannot be driven. This is not in the journal: `seq` is that of the last entry.
    #[serde(rename = "run.quarantined")]
    RunQuarantined(RunEnding),
    /// The plan was closed with the run.
    #[serde(rename = "agent_completed")]
    PlanClosed {
        /// Items done.
        completed: usize,
        /// Items that failed.
        failed: usize,
        /// Items left out.
        cancelled: usize,
        /// Items still open.
        open: usize,
    },
    /// A question waits for a person.
    #[serde(rename = "interrupt.opened")]
    QuestionOpened {
        /// The question.
        interrupt_id: String,
        /// What is asked for.
        kind: QuestionKind,
        /// The model's words, or the arguments that are to be approved.
        message: String,
        /// What is to be approved, as data.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request: Option<Box<ApprovalRequest>>,
    },
    /// A question was answered.
    #[serde(rename = "interrupt.answered")]
    QuestionAnswered {
        /// The question.
        interrupt_id: String,
        /// The answer.
        text: String,
        /// Who answered.
        by: String,
    },
    /// The model is asked.
    #[serde(rename = "step.started")]
    StepStarted {
        /// What for.
        purpose: Purpose,
        /// Steps used so far.
        step: u32,
        /// Steps allowed.
        steps_max: u32,
    },
    /// An attempt at the model failed; another one follows.
    #[serde(rename = "step.retrying")]
    StepRetrying {
        /// What went wrong.
        error: String,
        /// How long until the next attempt.
        wait_ms: u64,
        /// Which attempt failed, from 1.
        attempt: u32,
    },
    /// The model refused or could not be reached; the second one is asked.
    #[serde(rename = "step.fell_back")]
    StepFellBack {
        /// What went wrong with the first one.
        error: String,
        /// The second one, as `provider/model`.
        model: String,
    },
    /// The model brought no reply.
    #[serde(rename = "step.failed")]
    StepFailed {
        /// The provider's or the network's own words.
        error: String,
        /// What kind of failure.
        kind: ModelErrorKind,
    },
    /// A call ended without a result.
    #[serde(rename = "step.skipped")]
    StepSkipped {
        /// How it ended.
        outcome: Outcome,
    },
    /// A note of the loop for watchers, such as that it tries again.
    #[serde(rename = "step.noted")]
    StepNoted(EventNote),
    /// A reply that broke its contract was used anyway.
    #[serde(rename = "step.salvaged")]
    StepSalvaged {
        /// How it was read.
        how: String,
        /// The words.
        #[serde(flatten)]
        said: EventNote,
    },
    /// What a round came to, in words for the user.
    #[serde(rename = "round.summarized")]
    RoundSummarized {
        /// Which round, from 1.
        round: u32,
        /// Rounds allowed.
        rounds: u32,
        /// The summary.
        text: String,
    },
    /// There is a plan now.
    #[serde(rename = "plan.created")]
    PlanCreated {
        /// The plan, and the place in it.
        plan: Progress,
    },
    /// The plan, or the place in it, is another one.
    #[serde(rename = "plan.updated")]
    PlanUpdated {
        /// The plan, and the place in it.
        plan: Progress,
    },
    /// A piece of a reply's text.
    #[serde(rename = "message.delta")]
    MessageDelta {
        /// The piece.
        text: String,
    },
    /// A piece of a reply's reasoning.
    #[serde(rename = "reasoning.delta")]
    ReasoningDelta {
        /// The piece.
        text: String,
    },
    /// A reply's whole reasoning.
    #[serde(rename = "reasoning.completed")]
    ReasoningCompleted {
        /// The reasoning.
        text: String,
    },
    /// A whole reply; with tool calls, the words that came with them.
    #[serde(rename = "message.completed")]
    MessageCompleted {
        /// What it says to people.
        text: String,
        /// What it cost.
        usage: TokenCounts,
        /// How many tools it asks for.
        tool_calls: usize,
        /// How long it took.
        duration_ms: u64,
    },
    /// A tool call is planned.
    #[serde(rename = "tool.started")]
    ToolStarted {
        /// The call.
        call_id: CallId,
        /// The tool.
        tool: String,
        /// The arguments as the model wrote them.
        arguments: String,
    },
    /// A piece of a tool call on its way: its name, its arguments, or what the tool prints.
    #[serde(rename = "tool.progress")]
    ToolProgress {
        /// The tool, where the model begins a call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool: Option<String>,
        /// A piece of the arguments, or of what a running tool prints.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// The call that runs, where a tool prints.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call_id: Option<CallId>,
    },
    /// A tool call was allowed.
    #[serde(rename = "tool.approved")]
    ToolApproved {
        /// The call.
        call_id: Option<CallId>,
        /// The tool.
        tool: Option<String>,
        /// Who allowed it.
        by: String,
        /// The place to which the run may send from now on.
        releases: Option<String>,
        /// The arguments that the person wants in place of the model's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edited_args: Option<String>,
    },
    /// An attempt at a tool call failed; another one follows.
    #[serde(rename = "tool.retrying")]
    ToolRetrying {
        /// The call.
        call_id: CallId,
        /// The tool.
        tool: String,
        /// Which attempt failed, from 1.
        attempt: u32,
        /// What went wrong.
        error: String,
        /// How long until the next attempt.
        wait_ms: u64,
    },
    /// A probe checked whether an interrupted call had happened.
    #[serde(rename = "tool.probed")]
    ToolProbed {
        /// The call.
        call_id: Option<CallId>,
        /// The tool.
        tool: Option<String>,
        /// What was found.
        found: ProbeFinding,
        /// What the probe saw.
        detail: String,
    },
    /// A tool did what was asked.
    #[serde(rename = "tool.completed")]
    ToolCompleted(ToolOutcome),
    /// A tool did not do what was asked.
    #[serde(rename = "tool.failed")]
    ToolFailed(ToolOutcome),
    /// A call was handed to a child run.
    #[serde(rename = "child.started")]
    ChildStarted {
        /// The child.
        child: RunId,
    },
    /// A child run has ended.
    #[serde(rename = "child.ended")]
    ChildEnded {
        /// The child.
        child: RunId,
        /// How it ended.
        status: Status,
        /// Its last words.
        text: String,
        /// What it used, which is charged to this run.
        usage: TokenCounts,
        /// Model calls that it planned.
        model_calls: u32,
        /// Tool calls that it planned.
        tool_calls: u32,
    },
}

impl EventKind {
    /// How the run ended, if it did.
    #[must_use]
    pub fn ending(&self) -> Option<&RunEnding> {
        match self {
            Self::RunSucceeded(ending)
            | Self::RunUnsettled(ending)
            | Self::RunFailed(ending)
            | Self::RunCanceled(ending)
            | Self::RunQuarantined(ending) => Some(ending),
            _ => None,
        }
    }

    /// The plan, if this event is about it.
    #[must_use]
    pub fn plan(&self) -> Option<&Progress> {
        match self {
            Self::PlanCreated { plan } | Self::PlanUpdated { plan } => Some(plan),
            _ => None,
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEnding {
    /// The status that it has from now on.
    pub status: Status,
    /// Why, where it did not end well.
    pub reason: Option<Reason>,
    /// Why it was quarantined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl From<RunEnding> for EventKind {
    fn from(ending: RunEnding) -> Self {
        match ending.status {
            Status::Succeeded => Self::RunSucceeded(ending),
            Status::Unsettled => Self::RunUnsettled(ending),
            Status::Canceled => Self::RunCanceled(ending),
            Status::Quarantined => Self::RunQuarantined(ending),
            Status::Failed | Status::Queued | Status::Running | Status::Waiting => {
                Self::RunFailed(ending)
            }
        }
    }
}

/// A note of a loop for watchers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventNote {
    /// The name of the text, unless the words are the model's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<TextKey>,
    /// The values of its placeholders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Args>,
    /// The words in the run's language.
    pub text: String,
}

/// What came back from a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolOutcome {
    /// The call.
    pub call_id: CallId,
    /// The tool.
    pub tool: String,
    /// How it ended.
    pub ending: Ending,
    /// What the model reads of it.
    pub result: String,
    /// How long the last attempt took.
    pub duration_ms: u64,
    /// Privacy and trust of what it brought into the run, where it brought anything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// What it changed in a file, with a diff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Box<FileChange>>,
}

/// Tokens, by the names that events use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenCounts {
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Of the tokens read, those that came from the provider's cache.
    pub cached_tokens: u64,
}

impl From<Usage> for TokenCounts {
    fn from(usage: Usage) -> Self {
        let Usage { input_tokens, output_tokens, cached_tokens } = usage;
        Self { input_tokens, output_tokens, cached_tokens }
    }
}

impl From<TokenCounts> for Usage {
    fn from(counts: TokenCounts) -> Self {
        let TokenCounts { input_tokens, output_tokens, cached_tokens } = counts;
        Self { input_tokens, output_tokens, cached_tokens }
    }
}

#[cfg(test)]
#[path = "events_tests.rs"]
mod tests;
