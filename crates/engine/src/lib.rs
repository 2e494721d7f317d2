//! The engine drives runs: it journals an effect, performs it, journals the outcome, and only then
//! shows the outcome to the loop.
//!
//! ```text
//!   claim ──► load and fold ──► decide ──► commit {outcome, decision, intents} ──► perform ──┐
//!                  ▲                                                                        │
//!                  └───────────────────────────── outcome ◄─────────────────────────────────┘
//! ```
//!
//! Deliberately absent: what a loop decides (`loops`), texts for people (`text`), SQL (`store`).

mod audit;
mod clock;
mod diff;
mod drive;
mod ending_title;
mod events;
mod follow;
mod fork;
mod grace;
mod ids;
mod inbox_signal;
mod lease;
mod membership;
mod open_streams;
mod outbox;
mod permission;
mod piece;
mod portable;
mod presence;
mod project;
mod quarantine;
mod rebuilt;
mod replay;
mod rules;
mod settle;
mod signal;
pub mod story;
mod stream_redactor;
mod submit;
mod view;
mod watch;
mod worker;

pub use audit::{AuditCall, Auditor};
pub use clock::{SharedClock, SystemClock};
pub use diff::{
    DiffPosition, DifferenceKind, Divergence, SideBySideRow, first_divergence, side_by_side,
    tools_after,
};
pub use drive::{DriveEnd, DriveError};
pub use events::{EventKind, EventNote, RunEnding, RunEvent, TokenCounts, ToolOutcome, WaitingFor};
pub use everloop_types::{CallStream, Fragment, StreamPiece};
pub use follow::{Follower, Scope};
pub use fork::{Fork, ForkError, ForkResult};
pub use ids::{fresh_id, keyed_id};
pub use lease::LeaseTimes;
pub use membership::{Membership, MembershipPolicy};
pub use portable::{
    ExportError, ExportedRun, ImportError, export_footer, export_header, export_lines,
    quarantine_unfinished, read_export,
};
pub use project::Projector;
pub use rebuilt::RebuiltCall;
pub use replay::{History, ReplayVerdict};
pub use rules::EngineRules;
pub use settle::{OpenUnknown, SettleResult};
pub use signal::Signal;
pub use submit::{QuestionAnswer, submitted_run};
pub use view::{CallView, ChildView, MessageView, QuestionView, ReplyView, RetryView, RunView};
pub use watch::{Update, Watch};
pub use worker::{Worker, WorkerReport};

use everloop_ports::{BoxFuture, Model, Registry};
pub use everloop_ports::{Clock, Pause, RunStart, Submission};
use everloop_store::{RunRow, Store};
use everloop_types::{
    ConversationId, Frame, ModelChoice, ModelError, RunId, Status, Taint, UtcMs, WorkerId,
};
use grace::GraceSkips;
use inbox_signal::InboxSignals;
use lease::LeaseState;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use watch::Watchers;

/// Finds the model and the tools that a run's frame names.
pub trait Environment: Send + Sync {
    /// The model that answers, and its name without the provider.
    ///
    /// # Errors
    /// Why this process cannot ask it; the run keeps waiting for one that can.
    fn model(&self, choice: &ModelChoice) -> Result<(Arc<dyn Model>, String), ModelError>;

    /// The tools, confined to the run's workspace.
    fn tools(&self, frame: &Frame) -> Arc<Registry>;

    /// Saves a summary of earlier work for later runs. The journal already has it. This is called
    /// again after a crash; the same run and number mean the same summary.
    fn remember(&self, _frame: &Frame, _summary: &Summary<'_>) {}

    /// A run has ended and every outcome is in the journal: the records that tools kept for their
    /// probes are not needed any more.
    fn forget(&self, _run: &RunId) {}

    /// The decision that follows the end of a run that a decision started, if one is to follow. It
    /// begins in the commit of that end.
    fn follow_up<'a>(&'a self, _ended: EndedTask<'a>) -> BoxFuture<'a, Option<Submission>> {
        Box::pin(async { None })
    }

    /// The last words of a run as people read them, if they are others than the loop's: an analysis
    /// has its numbers checked and its report written. Called again after a crash, before the
    /// ending is durable.
    fn last_words<'a>(
        &'a self,
        _run: &'a RunId,
        _frame: &'a Frame,
        _status: Status,
        _words: &'a str,
    ) -> BoxFuture<'a, Option<String>> {
        Box::pin(async { None })
    }

    /// The log that gets each tool call as soon as its outcome is durable, if there is one.
    fn audit_log(&self) -> Option<&dyn AuditLog> {
        None
    }
}

/// A run that a decision started and that is about to end.
#[derive(Debug, Clone, Copy)]
pub struct EndedTask<'a> {
    /// The run.
    pub run: &'a RunId,
    /// Its conversation.
    pub conversation: &'a ConversationId,
    /// Its turn.
    pub turn: &'a RunId,
    /// Its frame, which has the terms of the follow-up.
    pub frame: &'a Frame,
    /// How it ends.
    pub status: Status,
    /// Its last words.
    pub text: &'a str,
    /// What it has read.
    pub held: &'a Taint,
}

/// Receives every attempt at a tool call.
pub trait AuditLog: Send + Sync {
    /// One attempt, in the form that [`AuditCall::json`] gives it.
    fn write(&self, call: &AuditCall, row: &RunRow);
}

/// A summary that replaced earlier messages of a run.
#[derive(Debug, Clone, Copy)]
pub struct Summary<'a> {
    /// The run.
    pub run: &'a RunId,
    /// Which one of the run, from 1.
    pub number: u32,
    /// The model's words.
    pub text: &'a str,
    /// When it was made, or somewhat later.
    pub at: UtcMs,
    /// Whether the run had read what others wrote.
    pub untrusted: bool,
}

/// Identifies the process that drives: a name that is new at every start, and the build.
#[derive(Debug, Clone)]
pub struct WorkerIdentity {
    /// Never reused.
    pub worker: WorkerId,
    /// For the journal.
    pub build: String,
}

/// Drives runs. Shared by all drivers of a process.
pub struct Engine {
    pub(crate) store: Store,
    pub(crate) environment: Arc<dyn Environment>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) identity: WorkerIdentity,
    pub(crate) rules: EngineRules,
    pub(crate) watchers: Watchers,
    pub(crate) inbox_signals: InboxSignals,
    pub(crate) stopping: CancellationToken,
    pub(crate) lease: LeaseState,
    pub(crate) grace_skips: GraceSkips,
}

impl Engine {
    /// An engine over a store.
    pub fn new(
        store: Store,
        environment: Arc<dyn Environment>,
        clock: Arc<dyn Clock>,
        identity: WorkerIdentity,
        rules: EngineRules,
    ) -> Arc<Self> {
        Arc::new(Self {
            watchers: Watchers::of_store(&store),
            store,
            environment,
            clock,
            identity,
            rules,
            inbox_signals: InboxSignals::default(),
            stopping: CancellationToken::new(),
            lease: LeaseState::default(),
            grace_skips: GraceSkips::default(),
        })
    }

    /// Asks every driver to stop: calls under way are canceled and their outcomes written, then the
    /// runs go back to the queue, without an unknown outcome.
    pub fn stop(&self) {
        self.stopping.cancel();
    }

    /// The store, for readers.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The identity of this process.
    #[must_use]
    pub fn identity(&self) -> &WorkerIdentity {
        &self.identity
    }

    /// The engine's clock.
    #[must_use]
    pub fn clock(&self) -> &dyn Clock {
        self.clock.as_ref()
    }

    /// The engine's clock, for tasks that outlive a borrow.
    #[must_use]
    pub fn shared_clock(&self) -> Arc<dyn Clock> {
        self.clock.clone()
    }

    /// Everything that happens from now on, as it happens.
    #[must_use]
    pub fn watch(&self) -> Watch {
        self.watchers.subscribe()
    }
}
