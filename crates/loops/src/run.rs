//! `Run`: what every loop needs and none should write, around the loop and as pure as the loop.
//!
//! ```text
//!   apply(entry) ──► ledger (what is outstanding), guards, transcript slots ──► loop
//!   decide()     ──► closing? budget? repetition? compaction? ──► else ask the loop
//! ```
//!
//! The engine talks only to `Run`; it is what is folded, snapshotted, hashed and verified.

mod account;
mod call_planner;
mod decide;
mod evidence;
mod family;
mod fold;
mod fork;
mod guards;
mod last_words;
mod ledger;
mod prompt_room;
mod switch;

pub use decide::{Decision, PlannedEffect};
pub(crate) use last_words::why;
pub use ledger::{CallStage, OpenModelCall, OpenToolCall, UnknownEffect};

use crate::AgentLoop;
use account::WorkAccount;
use everloop_types::journal::{Waiting, WaitingOn};
use everloop_types::{Counts, Frame, Message, Notice, Progress, Reason, Status, Taint, UtcMs};
use evidence::Evidence;
use guards::Guards;
use ledger::Ledger;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One run: a loop and all that is done once for every loop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "L: AgentLoop")]
pub struct Run<L: AgentLoop> {
    inner: L,
    #[serde(skip)]
    frame: Arc<Frame>,
    ledger: Ledger,
    guards: Guards,
    account: WorkAccount,
    #[serde(default, skip_serializing_if = "Evidence::is_empty")]
    evidence: Evidence,
    closing: FinalAnswerStage,
    /// Notices that came while something was outstanding: they would change a prompt that is out.
    held: Vec<Notice>,
    parked: RunPause,
    place: JournalPlace,
}

/// The place in the journal up to which the state was folded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct JournalPlace {
    seq: i64,
    at: UtcMs,
}

/// Whether the run waits or has ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RunPause {
    #[default]
    No,
    Waiting(Waiting),
    Ended(Status),
}

/// The answer guarantee: how far the search for last words is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FinalAnswerStage {
    /// The run goes on.
    #[default]
    NotYet,
    /// The user wants the answer now; the next decision asks for it.
    Wanted,
    /// The model was asked for last words.
    Asked(Option<Reason>),
    /// The model gave them, or failed to.
    Answered(Option<Reason>, String),
}

impl<L: AgentLoop> Run<L> {
    /// A run before its first entry.
    #[must_use]
    pub fn new(frame: Arc<Frame>) -> Self {
        Self {
            inner: L::default(),
            frame,
            ledger: Ledger::default(),
            guards: Guards::default(),
            account: WorkAccount::default(),
            evidence: Evidence::default(),
            closing: FinalAnswerStage::default(),
            held: Vec::new(),
            parked: RunPause::default(),
            place: JournalPlace::default(),
        }
    }

    /// A run as a snapshot had it. The frame is not part of snapshots.
    ///
    /// # Errors
    /// The reader's words if the snapshot has another form.
    pub fn restore(state: &str, frame: Arc<Frame>) -> Result<Self, String> {
        let mut run: Self = serde_json::from_str(state).map_err(|error| error.to_string())?;
        run.attach(frame);
        Ok(run)
    }

    /// Gives the state its frame, with the limits of a fork if it is one.
    fn attach(&mut self, frame: Arc<Frame>) {
        self.frame = self.guards.bounding(frame);
        self.inner.attach(self.frame.clone());
    }

    /// The loop.
    #[must_use]
    pub fn inner(&self) -> &L {
        &self.inner
    }

    /// What the model is shown, if it is called now.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        self.inner.transcript().messages()
    }

    /// Digest of what the model is shown, if it is called now.
    #[must_use]
    pub fn prompt_digest(&self) -> String {
        self.inner.transcript().digest()
    }

    /// The whole state as text, for snapshots.
    ///
    /// # Panics
    /// Never: the state consists of types that have a JSON form.
    #[must_use]
    pub fn state(&self) -> String {
        serde_json::to_string(self).expect("our own types always have a JSON form")
    }

    /// The frame.
    #[must_use]
    pub fn frame(&self) -> &Arc<Frame> {
        &self.frame
    }

    /// The model call that has no outcome yet.
    #[must_use]
    pub fn open_model_call(&self) -> Option<&OpenModelCall> {
        self.ledger.model_call()
    }

    /// The tool calls that have no outcome yet, in order. There are none beside a model call.
    #[must_use]
    pub fn open_tool_calls(&self) -> &[OpenToolCall] {
        self.ledger.tool_calls()
    }

    /// How many effects have no outcome yet.
    #[must_use]
    pub fn open_count(&self) -> usize {
        usize::from(self.open_model_call().is_some()) + self.open_tool_calls().len()
    }

    /// Whether every effect that was planned has its outcome.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.ledger.is_idle()
    }

    /// Effects with an unknown outcome that were not settled.
    #[must_use]
    pub fn unknowns(&self) -> &[UnknownEffect] {
        &self.ledger.unknowns
    }

    /// Effects of which nobody can say at this place whether they happened: those whose outcome is
    /// unknown, and those that were begun and have no outcome yet. In plan order.
    ///
    /// A fork or a retry that starts from here must settle them first.
    #[must_use]
    pub fn unaccounted(&self) -> Vec<UnknownEffect> {
        let begun = self.ledger.tool_calls().iter().filter(|open| open.may_have_acted);
        let begun = begun.map(|open| open.as_unknown(&self.frame));
        let mut all: Vec<UnknownEffect> =
            self.ledger.unknowns.iter().cloned().chain(begun).collect();
        all.sort_by(|a, b| a.effect.cmp(&b.effect));
        all
    }

    /// The plan and the place in it, with what is behind its closed items and without the mark that
    /// ends an answer.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let mut progress = self.inner.progress();
        progress.note = progress.note.map(|note| note.untagged().without(self.frame.mark()));
        progress.failed = progress.failed.max(self.guards.counts.tool_failures);
        self.evidence.mark(&mut progress.items);
        progress
    }

    /// The newest summary that took the place of earlier messages, and which one it is, from 1.
    /// Runs whose limits are of an earlier form have none, and neither has a fork before its own.
    #[must_use]
    pub fn summary(&self) -> Option<(u32, String)> {
        let number = Some(self.guards.context.summaries()).filter(|number| *number > 0)?;
        Some((number, self.inner.transcript().summary()?))
    }

    /// What was used so far, steps by the loop's own count.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts { steps: self.inner.progress().steps, ..self.guards.counts }
    }

    /// What the run has read, and where it may send that.
    #[must_use]
    pub fn holding(&self) -> &Taint {
        &self.ledger.holding
    }

    /// What the run waits for.
    #[must_use]
    pub fn waiting_on(&self) -> Option<&WaitingOn> {
        match &self.parked {
            RunPause::Waiting(waiting) => Some(&waiting.on),
            RunPause::No | RunPause::Ended(_) => None,
        }
    }

    /// How the run ended, once it has.
    #[must_use]
    pub fn ended(&self) -> Option<Status> {
        match self.parked {
            RunPause::Ended(status) => Some(status),
            RunPause::No | RunPause::Waiting(_) => None,
        }
    }

    /// When the last entry that was folded was written.
    #[must_use]
    pub fn last_at(&self) -> UtcMs {
        self.place.at
    }

    /// The number of the last entry that was folded.
    #[must_use]
    pub fn last_seq(&self) -> i64 {
        self.place.seq
    }
}
