//! Agent loops: each a small pure state machine, and the one `Run` around them.
//!
//! ```text
//!   journal entry ──► Run::apply ──► event ──► AgentLoop::evolve
//!   Run::decide  ◄── AgentLoop::decide          (asked only when nothing is outstanding)
//! ```
//!
//! Deliberately absent: clocks, files, sockets, chance, token streams. Time, ids and seeds arrive
//! in entries.

mod acting;
mod any;
mod autonomous;
mod broken;
mod carry;
mod contract;
mod decision;
mod fingerprint;
mod hybrid;
mod plan_execute_think;
mod plan_replan;
mod react;
pub mod replies;
mod run;
mod schemas;
mod spec;
mod staged;
mod stages;
mod task;
mod task_driven;
mod tool_dialogue;
mod tool_driven;
mod toolbox;
mod transcript;
mod truncation;

pub use any::{AnyRun, ErasedRun, LOOPS, UnknownLoop};
pub use autonomous::{Autonomous, spoken};
pub use carry::carried;
pub use decision::{
    DECISION_LOOP, DECISION_SCHEMA, DecisionKind, DecisionLoop, DecisionReply, RunProposal,
    read_decision,
};
pub use fingerprint::{fingerprint, golden_entry};
pub use hybrid::Hybrid;
pub use plan_execute_think::PlanExecuteThink;
pub use plan_replan::PlanReplan;
pub use react::React;
pub use run::{
    CallStage, Decision, OpenModelCall, OpenToolCall, PlannedEffect, Run, UnknownEffect,
};
pub use schemas::output_schema;
pub use spec::{GoldenRun, LoopAudience, LoopSpec, LoopTexts, ReplyForm, StepUnit};
pub use staged::Staged;
pub use task::Task;
pub use task_driven::TaskDriven;
pub use tool_driven::ToolDriven;
pub use toolbox::own_tools;
pub use transcript::{Transcript, Voice};

use everloop_types::{Event, Frame, Next, Progress, TodoList};
use serde::{Serialize, de::DeserializeOwned};
use std::fmt::Debug;
use std::sync::Arc;

/// A loop decides; it does nothing else.
///
/// Loops hold no text for users, no retries, no budgets, no approvals: those are done once, around
/// them.
pub trait AgentLoop:
    Clone + Debug + Default + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// What the loop says about itself.
    const SPEC: LoopSpec;

    /// Takes in one event.
    fn evolve(&mut self, event: &Event);
    /// Says what comes next. Asked only when nothing is outstanding.
    fn decide(&self) -> Next;
    /// What the model has been shown.
    fn transcript(&self) -> &Transcript;
    /// For `Run`, which reserves and fills the slots of tool calls, and compacts.
    fn transcript_mut(&mut self) -> &mut Transcript;
    /// The list that the model keeps, as the calls of `todo_write` have left it.
    fn list(&self) -> &TodoList;
    /// The plan and the place in it, for people.
    fn progress(&self) -> Progress;
    /// Gives the frame back to a state that was read from a snapshot, which does not repeat it.
    fn attach(&mut self, frame: Arc<Frame>);
}
