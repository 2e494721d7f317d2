//! Any loop by its name, so that the engine can drive a run without knowing which loop decides it.

use crate::fingerprint::fingerprint;
use crate::spec::{LoopAudience, LoopSpec};
use crate::{
    AgentLoop, Autonomous, Decision, DecisionLoop, Hybrid, OpenModelCall, OpenToolCall,
    PlanExecuteThink, PlanReplan, React, Run, Staged, Task, TaskDriven, ToolDriven, UnknownEffect,
};
use everloop_types::journal::{Entry, RunCreated, Switch, WaitingOn};
use everloop_types::{
    Budget, Counts, EffectId, Frame, Message, Observation, Progress, RunId, Status, Taint,
    ToolCall, UtcMs,
};
use std::any::Any;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Every loop: those for people with the default first, then those of the program itself. A new
/// loop is one line more.
static REGISTRY: [RegisteredLoop; 10] = [
    RegisteredLoop::of::<PlanReplan>(),
    RegisteredLoop::of::<React>(),
    RegisteredLoop::of::<PlanExecuteThink>(),
    RegisteredLoop::of::<ToolDriven>(),
    RegisteredLoop::of::<TaskDriven>(),
    RegisteredLoop::of::<Staged>(),
    RegisteredLoop::of::<Hybrid>(),
    RegisteredLoop::of::<Autonomous>(),
    RegisteredLoop::of::<Task>(),
    RegisteredLoop::of::<DecisionLoop>(),
];

/// A loop, and how its runs are made.
struct RegisteredLoop {
    spec: LoopSpec,
    new: fn(Arc<Frame>) -> AnyRun,
    restore: fn(&str, Arc<Frame>) -> Result<AnyRun, String>,
    fingerprint: fn() -> Option<String>,
}

impl RegisteredLoop {
    const fn of<L: AgentLoop>() -> Self {
        Self {
            spec: L::SPEC,
            new: |frame| AnyRun(Box::new(Run::<L>::new(frame))),
            restore: |state, frame| Ok(AnyRun(Box::new(Run::<L>::restore(state, frame)?))),
            fingerprint: fingerprint::<L>,
        }
    }

    fn named(name: &str) -> Option<&'static Self> {
        REGISTRY.iter().find(|known| known.spec.name == name)
    }
}

/// How many loops people choose from.
const FOR_PEOPLE: usize = {
    let mut count = 0;
    let mut place = 0;
    while place < REGISTRY.len() {
        if matches!(REGISTRY[place].spec.audience, LoopAudience::People) {
            count += 1;
        }
        place += 1;
    }
    count
};

/// The names of the loops that people choose from, the default first.
pub const LOOPS: [&str; FOR_PEOPLE] = {
    let mut names = [""; FOR_PEOPLE];
    let (mut place, mut count) = (0, 0);
    while place < REGISTRY.len() {
        if matches!(REGISTRY[place].spec.audience, LoopAudience::People) {
            names[count] = REGISTRY[place].spec.name;
            count += 1;
        }
        place += 1;
    }
    names
};

impl LoopSpec {
    /// The loop of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        RegisteredLoop::named(name).map(|known| &known.spec)
    }

    /// The loop of that name, if people may choose it.
    #[must_use]
    pub fn offered(name: &str) -> Option<&'static Self> {
        Self::named(name).filter(|spec| spec.audience == LoopAudience::People)
    }

    /// Every loop that people choose from, the default first.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        Self::registered().filter(|spec| spec.audience == LoopAudience::People)
    }

    /// Every loop, also those of the program itself.
    pub fn registered() -> impl Iterator<Item = &'static Self> {
        REGISTRY.iter().map(|known| &known.spec)
    }
}

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

/// A run under any of the loops.
#[derive(Debug)]
pub struct AnyRun(Box<dyn ErasedRun>);

impl AnyRun {
    /// A run before its first entry, under the version of the loop that the entry names.
    ///
    /// # Errors
    /// [`UnknownLoop`] if there is no such loop, or not in that version.
    pub fn new(created: &RunCreated, frame: Arc<Frame>) -> Result<Self, UnknownLoop> {
        let (name, version) = (created.loop_name.as_str(), created.loop_ver);
        match RegisteredLoop::named(name).filter(|known| known.spec.version == version) {
            Some(known) => Ok((known.new)(frame)),
            None => Err(UnknownLoop { name: name.to_owned(), version }),
        }
    }

    /// A run as a snapshot of this version of its loop had it.
    ///
    /// # Errors
    /// The reader's words if the snapshot has another form, or the loop is not here.
    pub fn restore(
        name: &str,
        version: u32,
        state: &str,
        frame: Arc<Frame>,
    ) -> Result<Self, String> {
        match RegisteredLoop::named(name).filter(|known| known.spec.version == version) {
            Some(known) => (known.restore)(state, frame),
            None => Err(format!("there is no {name} of version {version}")),
        }
    }

    /// The newest version of a loop, which governs how the journals of new runs are folded.
    #[must_use]
    pub fn version(loop_name: &str) -> Option<u32> {
        LoopSpec::named(loop_name).map(|spec| spec.version)
    }

    /// What the newest version of a loop makes of its golden journals, as a digest.
    #[must_use]
    pub fn fingerprint(loop_name: &str) -> Option<String> {
        RegisteredLoop::named(loop_name).and_then(|known| (known.fingerprint)())
    }
}

impl Clone for AnyRun {
    fn clone(&self) -> Self {
        Self(self.0.boxed())
    }
}

impl PartialEq for AnyRun {
    fn eq(&self, other: &Self) -> bool {
        self.0.is_same(other.0.as_any())
    }
}

impl Deref for AnyRun {
    type Target = dyn ErasedRun;

    fn deref(&self) -> &Self::Target {
        self.0.as_ref()
    }
}

impl DerefMut for AnyRun {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.0.as_mut()
    }
}

/// What a run can do whatever its loop: each method is that of [`Run`].
macro_rules! erased_run {
    ($($(#[$doc:meta])* fn $name:ident(&self $(, $arg:ident: $kind:ty)?) -> $gives:ty;)+) => {
        /// A run whose loop is not part of its type.
        pub trait ErasedRun: fmt::Debug + Send + Sync {
            /// Folds one entry.
            fn apply(&mut self, entry: &Entry);
            /// A copy.
            fn boxed(&self) -> Box<dyn ErasedRun>;
            /// Whether the other one is a run of the same loop in the same state.
            fn is_same(&self, other: &dyn Any) -> bool;
            /// For comparisons.
            fn as_any(&self) -> &dyn Any;
            /// What its loop says about itself.
            fn spec(&self) -> &'static LoopSpec;
            $(
                $(#[$doc])*
                fn $name(&self $(, $arg: $kind)?) -> $gives;
            )+
        }

        impl<L: AgentLoop> ErasedRun for Run<L> {
            fn apply(&mut self, entry: &Entry) {
                Run::apply(self, entry);
            }
            fn boxed(&self) -> Box<dyn ErasedRun> {
                Box::new(self.clone())
            }
            fn is_same(&self, other: &dyn Any) -> bool {
                other.downcast_ref::<Self>().is_some_and(|other| other == self)
            }
            fn as_any(&self) -> &dyn Any {
                self
            }
            fn spec(&self) -> &'static LoopSpec {
                const { &L::SPEC }
            }
            $(
                fn $name(&self $(, $arg: $kind)?) -> $gives {
                    Run::$name(self $(, $arg)?)
                }
            )+
        }
    };
}

erased_run! {
    /// What comes next. Asked only when nothing is outstanding.
    fn decide(&self) -> Decision;
    /// The model call that has no outcome yet.
    fn open_model_call(&self) -> Option<&OpenModelCall>;
    /// The tool calls that have no outcome yet, in order. There are none beside a model call.
    fn open_tool_calls(&self) -> &[OpenToolCall];
    /// How many effects have no outcome yet.
    fn open_count(&self) -> usize;
    /// Whether every effect that was planned has its outcome.
    fn is_idle(&self) -> bool;
    /// What the model is shown, if it is called now.
    fn messages(&self) -> &[Message];
    /// Digest of what the model is shown, if it is called now.
    fn prompt_digest(&self) -> String;
    /// The plan and the place in it.
    fn progress(&self) -> Progress;
    /// What was used so far.
    fn counts(&self) -> Counts;
    /// Effects whose outcome is unknown.
    fn unknowns(&self) -> &[UnknownEffect];
    /// Effects that may have happened at this point, including those that have begun.
    fn unaccounted(&self) -> Vec<UnknownEffect>;
    /// What the run has read, and where it may send that.
    fn holding(&self) -> &Taint;
    /// What the run waits for.
    fn waiting_on(&self) -> Option<&WaitingOn>;
    /// How the run ended, once it has.
    fn ended(&self) -> Option<Status>;
    /// The words of an ending that the user asked for.
    fn canceled(&self) -> Decision;
    /// The switch to another loop that is wanted and can be made here.
    fn switches_here(&self) -> Option<&Switch>;
    /// The run that goes on in place of this one, once this one has ended for it.
    fn successor(&self) -> Option<&RunId>;
    /// The parent's effect that this run is for, if it is a child.
    fn parent(&self) -> Option<&EffectId>;
    /// The child that this run waits for.
    fn living_child(&self) -> Option<&RunId>;
    /// What a child may use that begins now, or why there can be no child, for the model.
    fn allowance(&self) -> Result<Budget, Observation>;
    /// The words of an ending that the journal's size forces.
    fn journal_full(&self) -> Decision;
    /// The frame.
    fn frame(&self) -> &Arc<Frame>;
    /// Why a call must wait: an earlier effect on the same resource has an unknown outcome.
    fn held_back(&self, call: &ToolCall) -> Option<Observation>;
    /// The newest summary that took the place of earlier messages, and which one it is.
    fn summary(&self) -> Option<(u32, String)>;
    /// When the last entry that was folded was written.
    fn last_at(&self) -> UtcMs;
    /// Place of the last entry that was folded.
    fn last_seq(&self) -> i64;
    /// The whole state as text, for snapshots.
    fn state(&self) -> String;
}
