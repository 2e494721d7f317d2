//! Journal entries: the truth about a run. Everything else is derived from them.
//!
//! Each kind wraps a struct of its own, so that a stored body names its fields and can be read
//! alone.
//! `docs/ARCHITECTURE.md` describes what each kind promises, and when it is written.

mod family;
mod permission;
mod stored;

pub use family::{BudgetUse, ChildEnded, Delegated, Spawned};
pub use permission::{ApprovalAsked, ApprovalGiven};
pub use stored::{EntryBodyError, FORMATS};

use crate::{
    CallId, EffectClass, EffectId, FileChange, Goal, Handling, Labels, Limits, ModelCall,
    ModelError, Observation, OnUnknown, Question, Reason, Reply, RunId, Status, ToolCall, UtcMs,
    WorkerId,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One entry of a run's journal.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Place in the journal, from 1, without gaps.
    pub seq: i64,
    /// The epoch of the worker that wrote it.
    pub epoch: i64,
    /// When it was written.
    pub at: UtcMs,
    /// The effect it is about.
    pub effect: Option<EffectId>,
    /// What happened.
    pub kind: EntryKind,
}

/// An entry before the store has given it a place.
#[derive(Debug, Clone, PartialEq)]
pub struct EntryDraft {
    /// When it happened.
    pub at: UtcMs,
    /// The effect it is about.
    pub effect: Option<EffectId>,
    /// What happened.
    pub kind: EntryKind,
}

/// What an entry says.
#[derive(Debug, Clone, PartialEq)]
pub enum EntryKind {
    /// The run exists.
    RunCreated(RunCreated),
    /// A worker has claimed it. The barrier that proves the fence.
    EpochStarted(EpochStarted),
    /// Something arrived through the inbox.
    Input(Input),
    /// A decision asked for an effect.
    EffectPlanned(EffectPlanned),
    /// A person is asked for permission.
    ApprovalAsked(ApprovalAsked),
    /// Permission was given, for exactly these arguments.
    ApprovalGiven(ApprovalGiven),
    /// The effect is about to be performed.
    EffectStarted(EffectStarted),
    /// An attempt failed that is known not to have acted; another follows.
    EffectAttemptFailed(EffectAttemptFailed),
    /// A probe looked whether a call that was cut short had happened.
    EffectProbed(EffectProbed),
    /// The effect's one outcome.
    EffectFinished(EffectFinished),
    /// The run parks and releases its worker.
    Waiting(Waiting),
    /// A message for the user was written in the same transaction.
    MessageEmitted(MessageEmitted),
    /// A snapshot of the state was written in the same transaction.
    SnapshotTaken(SnapshotTaken),
    /// The entries above were copied from another run; from here on the entries are its own.
    Forked(Forked),
    /// The run is a child of another one.
    Spawned(Spawned),
    /// The effect was handed to a child, which was created in the same transaction.
    Delegated(Delegated),
    /// The run is over. Nothing follows.
    RunFinished(RunFinished),
}

/// See [`EntryKind::RunCreated`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunCreated {
    /// What the user wants.
    pub goal: Goal,
    /// The loop that decides.
    #[serde(rename = "loop")]
    pub loop_name: String,
    /// The loop's version; it governs how the journal is folded.
    pub loop_ver: u32,
    /// Digest of the frame, which is stored as a blob.
    pub frame: String,
    /// The build that created the run.
    pub build: String,
    /// Digest of the policy in the frame, where it says more than `--yes`: a program that would
    /// not keep it must not drive the run.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub policy_hash: String,
    /// The run that began the turn, where another one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<RunId>,
}

/// See [`EntryKind::EpochStarted`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EpochStarted {
    /// Who drives the run now.
    pub worker: WorkerId,
    /// Which build.
    pub build: String,
}

/// See [`EntryKind::Input`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// Identifies the message, so that sending it twice delivers it once.
    pub dedupe: String,
    /// The message itself.
    #[serde(rename = "letter")]
    pub message: InboxMessage,
}

/// What can be sent to a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "letter", rename_all = "snake_case")]
pub enum InboxMessage {
    /// The answer to an open question.
    Answer {
        /// The question.
        question: String,
        /// The answer.
        text: String,
        /// Who answered: `user`, `--yes`, a surface.
        by: String,
    },
    /// End the run.
    Cancel {
        /// Who wants it.
        by: String,
    },
    /// A word to the model while it works.
    Steer {
        /// The word.
        text: String,
    },
    /// Finish with what there is.
    AnswerNow,
    /// Go on under another loop, as another run.
    Switch(Box<Switch>),
    /// A child has ended. Written by the child, in the transaction of its end.
    Child(Box<ChildEnded>),
}

/// The run that takes over at the next step border. Chosen by the sender, so that every attempt
/// to carry it out makes the same run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Switch {
    /// The run that takes over.
    pub to: RunId,
    /// The loop that decides there.
    #[serde(rename = "loop")]
    pub loop_name: String,
    /// The new run's frame without what is carried over, as a frame is stored: its form is no
    /// matter of the journal's.
    pub frame: Value,
    /// What the new run gets beside the goal.
    pub context: String,
}

impl InboxMessage {
    /// The inbox table's `kind` column.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Answer { .. } => "answer",
            Self::Cancel { .. } => "cancel",
            Self::Steer { .. } => "steer",
            Self::AnswerNow => "answer_now",
            Self::Switch(_) => "switch",
            Self::Child(_) => "child",
        }
    }
}

/// See [`EntryKind::EffectPlanned`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum EffectPlanned {
    /// A model call.
    CallModel(PlannedModelCall),
    /// A tool call.
    CallTool(PlannedToolCall),
}

/// A planned model call. Its prompt is only named by digest, the fold rebuilds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedModelCall {
    /// Purpose, tools, choice.
    pub call: ModelCall,
    /// Messages in the prompt.
    pub messages: usize,
    /// Digest of the prompt.
    pub prompt: String,
}

/// A planned tool call, with all that recovery needs: recovery follows this record, not today's
/// catalog.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedToolCall {
    /// The call.
    pub call: ToolCall,
    /// What a crash means for it.
    pub class: EffectClass,
    /// What an unknown outcome means.
    pub on_unknown: OnUnknown,
    /// Until when the idempotency key of a keyed effect is honoured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_until: Option<UtcMs>,
    /// When it is stopped and observed as timed out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<UtcMs>,
}

impl PlannedToolCall {
    /// A call as it is planned under a tool's present handling.
    #[must_use]
    pub fn new(call: ToolCall, handling: &Handling, at: UtcMs, deadline: Option<UtcMs>) -> Self {
        let key_until = handling.key_lifetime_ms.map(|ms| at.saturating_add_unsigned(ms));
        let (class, on_unknown) = (handling.class, handling.on_unknown);
        Self { call, class, on_unknown, key_until, deadline }
    }
}

/// See [`EntryKind::EffectStarted`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EffectStarted {
    /// From 1.
    pub attempt: u32,
    /// The call is not made after this moment.
    pub start_by: UtcMs,
    /// By then a call that began in time has come back or was stopped, grace included. `None`
    /// if the call has no limit, or it was not recorded.
    #[serde(default)]
    pub over_by: Option<UtcMs>,
    /// What the tool saw before it acted, for its probe.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub before: Value,
}

/// See [`EntryKind::EffectAttemptFailed`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectAttemptFailed {
    /// From 1.
    pub attempt: u32,
    /// What went wrong.
    pub error: String,
    /// When the next attempt may begin.
    pub retry_at: UtcMs,
    /// Whether it may have acted after all: only a keyed effect is tried again then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_have_acted: bool,
}

/// See [`EntryKind::EffectProbed`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectProbed {
    /// The attempt that was cut short, from 1.
    pub attempt: u32,
    /// What the probe found.
    pub found: ProbeFinding,
    /// What it saw, in its own words; bounded.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// What a probe found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeFinding {
    /// The call was done.
    Happened,
    /// Nothing was done.
    DidNot,
    /// Neither can be said. Also what an unknown finding is read as.
    #[serde(other)]
    Unknown,
}

/// See [`EntryKind::EffectFinished`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectFinished {
    /// What came back.
    pub outcome: Outcome,
    /// How long the last attempt took.
    #[serde(default)]
    pub took_ms: u64,
    /// What it brought into the run.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
    /// What it changed in a file. People read it; no prompt has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Box<FileChange>>,
}

impl EffectFinished {
    /// An outcome that brought nothing into the run that it did not hold.
    #[must_use]
    pub fn unlabeled(outcome: Outcome, took_ms: u64) -> Self {
        Self { outcome, took_ms, labels: Labels::default(), change: None }
    }
}

/// What came back from an effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A model replied.
    Replied(Reply),
    /// A model failed permanently.
    ModelFailed(ModelError),
    /// A tool came back, one way or another.
    Observed(Observation),
    /// A model call that this program would render differently; another one takes its place.
    Superseded,
    /// A model call that was stopped because the run was canceled.
    Canceled,
}

/// See [`EntryKind::Waiting`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// What for.
    pub on: WaitingOn,
    /// When the run wakes by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<UtcMs>,
}

/// What a run waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "for", rename_all = "snake_case")]
pub enum WaitingOn {
    /// A person's answer.
    Person {
        /// The open question.
        question: Question,
    },
    /// The model's endpoint; the next attempt is due at `until`.
    Model {
        /// What went wrong last.
        error: ModelError,
    },
    /// The end of a child.
    Child {
        /// The child.
        run: RunId,
    },
    /// A moment: the call is over at `until`.
    Timer {
        /// The call that waits.
        call: CallId,
    },
}

/// See [`EntryKind::MessageEmitted`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageEmitted {
    /// `final`, or `ask:` and the question's id.
    pub slot: String,
}

/// See [`EntryKind::SnapshotTaken`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotTaken {
    /// Digest of the state before this entry.
    pub state_hash: String,
}

/// See [`EntryKind::Forked`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Forked {
    /// The run that it was forked from.
    pub from: RunId,
    /// The last entry of that run that counts here.
    pub at_seq: i64,
    /// The limits from here on; the entries above were limited by the frame.
    pub limits: Limits,
    /// Effects above whose unknown outcome is known by now, by their places.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settled: Vec<String>,
    /// What the user adds, and what has changed since.
    #[serde(default, skip_serializing_if = "Goal::is_empty")]
    pub word: Goal,
}

/// See [`EntryKind::RunFinished`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFinished {
    /// One of the final states.
    pub status: Status,
    /// Why, where it did not end well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}
