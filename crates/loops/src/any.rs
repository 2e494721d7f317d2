//! Any loop by its name, so that the engine can drive a run without knowing which loop decides it.

use crate::{
    AgentLoop, Autonomous, Decision, Hybrid, Outstanding, PlanExecuteThink, PlanReplan, React, Run,
    Staged, TaskDriven, ToolDriven, Unknown, fingerprint,
};
use everloop_types::journal::{Entry, RunCreated, Switch, WaitingOn};
use everloop_types::{
    Budget, Counts, EffectId, Frame, Message, Observation, Progress, RunId, Status, Taint,
    ToolCall, UtcMs,
};
use std::fmt;
use std::sync::Arc;

/// The names of all loops, the default first.
pub const LOOPS: [&str; 8] = [
    PlanReplan::NAME,
    React::NAME,
    PlanExecuteThink::NAME,
    ToolDriven::NAME,
    TaskDriven::NAME,
    Staged::NAME,
    Hybrid::NAME,
    Autonomous::NAME,
];

/// A loop, or a version of it, that this program does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownLoop {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: u32,
}

impl fmt::Display for UnknownLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "loop {} of version {}", self.name, self.version)
    }
}

/// The step limit that a loop has where nobody sets one.
#[must_use]
pub fn own_max_steps(loop_name: &str) -> u32 {
    match loop_name {
        PlanReplan::NAME | PlanExecuteThink::NAME => 20,
        React::NAME | Autonomous::NAME => 25,
        // The list is kept by calls of its own.
        _ => 50,
    }
}

/// Every loop, and what is the same for each.
macro_rules! loops {
    ($($kind:ident),+ $(,)?) => {
        /// A run under any of the loops.
        #[derive(Debug, Clone, PartialEq)]
        pub enum AnyRun {
            $(
                #[doc = concat!("Under `", stringify!($kind), "`.")]
                $kind(Box<Run<$kind>>),
            )+
        }

        impl AnyRun {
            /// A run before its first entry, under the version of the loop that the entry names. An
            /// older version that is still here is an arm of its own.
            ///
            /// # Errors
            /// [`UnknownLoop`] if there is no such loop, or not in that version.
            pub fn new(created: &RunCreated, frame: Arc<Frame>) -> Result<Self, UnknownLoop> {
                match (created.loop_name.as_str(), created.loop_ver) {
                    $(($kind::NAME, $kind::VERSION) => Ok(Self::$kind(Box::new(Run::new(frame)))),)+
                    (name, version) => Err(UnknownLoop { name: name.to_owned(), version }),
                }
            }

            /// A run as a snapshot of this version of its loop had it.
            ///
            /// # Errors
            /// The reader's words if the snapshot has another form, or the loop is not here.
            pub fn restore(
                loop_name: &str,
                loop_ver: u32,
                state: &str,
                frame: Arc<Frame>,
            ) -> Result<Self, String> {
                match (loop_name, loop_ver) {
                    $(($kind::NAME, $kind::VERSION) => {
                        Ok(Self::$kind(Box::new(Run::restore(state, frame)?)))
                    })+
                    (name, version) => Err(format!("there is no {name} of version {version}")),
                }
            }

            /// The newest version of a loop, which governs how the journals of new runs are folded.
            #[must_use]
            pub fn version(loop_name: &str) -> Option<u32> {
                match loop_name {
                    $($kind::NAME => Some($kind::VERSION),)+
                    _ => None,
                }
            }

            /// What the newest version of a loop makes of its golden journals, as a digest.
            #[must_use]
            pub fn fingerprint(loop_name: &str) -> Option<String> {
                match loop_name {
                    $($kind::NAME => fingerprint::<$kind>(),)+
                    _ => None,
                }
            }
        }
    };
}

loops!(PlanReplan, React, PlanExecuteThink, ToolDriven, TaskDriven, Staged, Hybrid, Autonomous,);

macro_rules! each {
    ($any:expr, $run:ident => $what:expr) => {
        match $any {
            AnyRun::PlanReplan($run) => $what,
            AnyRun::React($run) => $what,
            AnyRun::PlanExecuteThink($run) => $what,
            AnyRun::ToolDriven($run) => $what,
            AnyRun::TaskDriven($run) => $what,
            AnyRun::Staged($run) => $what,
            AnyRun::Hybrid($run) => $what,
            AnyRun::Autonomous($run) => $what,
        }
    };
}

impl AnyRun {
    /// Folds one entry.
    pub fn apply(&mut self, entry: &Entry) {
        each!(self, run => run.apply(entry));
    }

    /// What comes next. Asked only when nothing is outstanding.
    #[must_use]
    pub fn decide(&self) -> Decision {
        each!(self, run => run.decide())
    }

    /// Effects that were planned and have no outcome yet, in order.
    #[must_use]
    pub fn outstanding(&self) -> &[Outstanding] {
        each!(self, run => run.outstanding())
    }

    /// What the model is shown, if it is called now.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        each!(self, run => run.inner().transcript().messages())
    }

    /// Digest of what the model is shown, if it is called now.
    #[must_use]
    pub fn prompt_digest(&self) -> String {
        each!(self, run => run.inner().transcript().digest())
    }

    /// The plan and the place in it.
    #[must_use]
    pub fn progress(&self) -> Progress {
        each!(self, run => run.progress())
    }

    /// What was used so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        each!(self, run => run.counts())
    }

    /// Effects whose outcome is unknown.
    #[must_use]
    pub fn unknowns(&self) -> &[Unknown] {
        each!(self, run => run.unknowns())
    }

    /// Effects of which nobody can say at this place whether they happened, begun ones included.
    #[must_use]
    pub fn unaccounted(&self) -> Vec<Unknown> {
        each!(self, run => run.unaccounted())
    }

    /// What the run has read, and where it may send that.
    #[must_use]
    pub fn holding(&self) -> &Taint {
        each!(self, run => run.holding())
    }

    /// What the run waits for.
    #[must_use]
    pub fn waiting_on(&self) -> Option<&WaitingOn> {
        each!(self, run => run.waiting_on())
    }

    /// How the run ended, once it has.
    #[must_use]
    pub fn ended(&self) -> Option<Status> {
        each!(self, run => run.ended())
    }

    /// The words of an ending that the user asked for.
    #[must_use]
    pub fn canceled(&self) -> Decision {
        each!(self, run => run.canceled())
    }

    /// The switch to another loop that is wanted and can be made here.
    #[must_use]
    pub fn switches_here(&self) -> Option<&Switch> {
        each!(self, run => run.switches_here())
    }

    /// The run that goes on in place of this one, once this one has ended for it.
    #[must_use]
    pub fn successor(&self) -> Option<&RunId> {
        each!(self, run => run.successor()).filter(|_| self.ended() == Some(Status::Canceled))
    }

    /// The parent's effect that this run is for, if it is a child.
    #[must_use]
    pub fn parent(&self) -> Option<&EffectId> {
        each!(self, run => run.parent())
    }

    /// The child that this run waits for.
    #[must_use]
    pub fn living_child(&self) -> Option<&RunId> {
        each!(self, run => run.living_child())
    }

    /// What a child may use that begins now.
    ///
    /// # Errors
    /// Why there can be no child, for the model.
    pub fn allowance(&self) -> Result<Budget, Observation> {
        each!(self, run => run.allowance())
    }

    /// The words of an ending that the journal's size forces.
    #[must_use]
    pub fn journal_full(&self) -> Decision {
        each!(self, run => run.journal_full())
    }

    /// The frame.
    #[must_use]
    pub fn frame(&self) -> &Arc<Frame> {
        each!(self, run => run.frame())
    }

    /// Why a call must wait: an earlier effect on the same resource has an unknown outcome.
    #[must_use]
    pub fn held_back(&self, call: &ToolCall) -> Option<Observation> {
        each!(self, run => run.held_back(call))
    }

    /// The newest summary that took the place of earlier messages, and which one it is.
    #[must_use]
    pub fn summary(&self) -> Option<(u32, String)> {
        each!(self, run => run.summary())
    }

    /// When the last entry that was folded was written.
    #[must_use]
    pub fn last_at(&self) -> UtcMs {
        each!(self, run => run.last_at())
    }

    /// Place of the last entry that was folded.
    #[must_use]
    pub fn last_seq(&self) -> i64 {
        each!(self, run => run.last_seq())
    }

    /// The whole state as text, for snapshots.
    #[must_use]
    pub fn state(&self) -> String {
        each!(self, run => serde_json::to_string(run.as_ref()))
            .expect("our own types always have a JSON form")
    }
}
