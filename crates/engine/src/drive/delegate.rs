//! Children: a call that another run answers.
//!
//! ```text
//!   delegate ─► one commit: Delegated, Waiting, the child ─► parked, without a worker
//!   child ends ─► one commit: its ending, a message to the parent ─► the parent's outcome
//!   parent ends ─► one commit: its ending, a cancel for its child
//! ```
//!
//! The id of a child derives from its effect. Repeating the call after a crash creates the same
//! child, so there is never a second one.

use super::{DriveEnd, DriveError, Driver, LoopFlow};
use crate::ids::derived_id;
use crate::submit::policy_hash;
use everloop_loops::{LOOPS, LoopSpec, OpenToolCall};
use everloop_ports::DelegateArgs;
use everloop_store::{ChildReport, NewChild, NewRun, NextStatus, RunLink};
use everloop_types::journal::{
    BudgetUse, ChildEnded, Delegated, EntryKind, RunCreated, Waiting, WaitingOn,
};
use everloop_types::{
    ApprovalMode, Budget, ConversationId, Ending, Frame, Goal, Labels, Limits, Observation, Policy,
    RunId, RunProfile, Status, TODO_WRITE, Taint, ToolSpec, UtcMs, Words, digest_json,
};

/// The tool whose calls are answered by child runs.
const DELEGATE: &str = "delegate";

/// What a child gets beside its goal.
const CHILD: &str = include_str!("child.md");

/// Hands tool calls to child runs.
pub(super) struct Delegator<'d, 'e> {
    pub(super) driver: &'d mut Driver<'e>,
}

impl Delegator<'_, '_> {
    /// Creates the child and parks, in one transaction, or notes why it cannot.
    pub(super) async fn delegate(
        &mut self,
        open: &OpenToolCall,
        wanted: &DelegateArgs,
    ) -> Result<LoopFlow, DriveError> {
        // The first line has time and place; the rest is the conversation, which is not passed on.
        let context = self.driver.created().await?.goal.context;
        let context = context.lines().next().unwrap_or_default().to_owned();
        let child = match self.child(open, wanted, context) {
            Ok(child) => child,
            Err(refused) => {
                self.driver.note_seen(open, refused, 0);
                return Ok(LoopFlow::GoOn);
            }
        };
        let to = child.new.run.clone();
        self.driver.pending.relations.child = Some(Box::new(child));
        let delegated = EntryKind::Delegated(Delegated { to: to.clone() });
        self.driver.note(Some(open.effect.clone()), delegated);
        self.await_child(open, to).await
    }

    /// Parks until the child's message comes. A child whose time is over is canceled, and its
    /// message is still awaited: only it says what the child used.
    pub(super) async fn await_child(
        &mut self,
        open: &OpenToolCall,
        child: RunId,
    ) -> Result<LoopFlow, DriveError> {
        let deadline = open.planned.deadline;
        let late = deadline.is_some_and(|at| at <= self.driver.engine.clock.now());
        self.driver.pending.relations.stops_children |= late;
        let until = deadline.filter(|_| !late);
        let on = WaitingOn::Child { run: child };
        self.driver.note(None, EntryKind::Waiting(Waiting { on: on.clone(), until }));
        self.driver.commit(NextStatus::Park { wake_at: until, note: "child".to_owned() }).await?;
        Ok(LoopFlow::Over(DriveEnd::Parked(on)))
    }

    /// A child has ended: its last message is the call's outcome.
    pub(super) fn take_child(&mut self, ended: &ChildEnded) {
        let waits = |open: &&OpenToolCall| open.waits_for(&ended.child);
        let Some(open) = self.driver.run.open_tool_calls().iter().find(waits).cloned() else {
            return;
        };
        self.driver.note_labeled(&open, child_outcome(ended), 0, ended.labels);
    }

    fn child(
        &self,
        open: &OpenToolCall,
        wanted: &DelegateArgs,
        context: String,
    ) -> Result<NewChild, Observation> {
        let loop_name = wanted.loop_name.clone().unwrap_or(self.driver.claim.loop_name.clone());
        let Some(child_loop) = LoopSpec::offered(&loop_name) else {
            let known = LOOPS.join(", ");
            let name: String = loop_name.chars().take(64).collect();
            return Err(refused(&format!("there is no loop {name:?}; the loops are: {known}")));
        };
        let frame = self.driver.run.frame();
        let mut tools = tools(frame, wanted.tools.as_deref())?;
        // A loop that keeps a plan of its own has no list; another one may count on it.
        if loop_name != self.driver.claim.loop_name && frame.tool(TODO_WRITE).is_none() {
            tools.extend(self.driver.tools.get(TODO_WRITE).map(|tool| tool.spec().clone()));
        }
        let mut frame =
            child_frame(frame, tools, self.driver.run.allowance()?, self.driver.run.holding());
        let steps = &mut frame.limits.steps.max_steps;
        *steps = max_steps(*steps, self.driver.run.spec(), child_loop);
        let by = open.effect.clone();
        let run = RunId::new(derived_id("run_", &by));
        let created = RunCreated {
            goal: Goal { text: wanted.task.trim().to_owned(), context, images: Vec::new() },
            loop_name,
            loop_ver: child_loop.version,
            frame: digest_json(&frame),
            build: self.driver.engine.identity.build.clone(),
            policy_hash: policy_hash(&frame),
            turn: Some(self.driver.claim.turn.clone()),
        };
        let new = NewRun {
            run,
            conversation: ConversationId::new(derived_id("conv_", &by)),
            created,
            frame,
            idem_key: None,
            profile: RunProfile::default(),
            opens: None,
            now: self.now(),
            link: RunLink::default(),
        };
        Ok(NewChild { new, by })
    }

    fn now(&self) -> UtcMs {
        self.driver.engine.clock.now().max(self.driver.run.last_at())
    }
}

impl Driver<'_> {
    /// Adds the message to the parent that this run has ended.
    pub(super) fn tell_parent(&mut self, status: Status, words: &Words) {
        let Some(by) = self.run.parent() else { return };
        let frame = self.run.frame();
        let text = everloop_text::render(words, frame.language);
        let text = super::tool::bounded(Observation::ok(text), frame).text;
        let used = BudgetUse::from(self.run.counts());
        let labels = match frame.policy.label_guard {
            Some(_) => self.run.holding().labels(),
            None => Labels::default(),
        };
        let ended = ChildEnded { child: self.claim.run.clone(), status, text, used, labels };
        self.pending.relations.report = Some(Box::new(ChildReport { to: by.run.clone(), ended }));
    }
}

/// The parent's tools in its order, or those of them that were named.
fn tools(frame: &Frame, named: Option<&[String]>) -> Result<Vec<ToolSpec>, Observation> {
    let has = |name: &String| frame.tool(name).is_some();
    if let Some(missing) = named.unwrap_or_default().iter().find(|name| !has(name)) {
        let known: Vec<&str> = frame.tools.iter().map(|tool| tool.name.as_str()).collect();
        let name: String = missing.chars().take(64).collect();
        let why = format!("this run has no tool {name:?}; its tools are: {}", known.join(", "));
        return Err(refused(&why));
    }
    let deepest = frame.limits.delegate.below().max_depth == 0;
    let wanted = |tool: &&ToolSpec| {
        named.is_none_or(|named| named.contains(&tool.name)) && !(deepest && tool.name == DELEGATE)
    };
    Ok(frame.tools.iter().filter(wanted).cloned().collect())
}

/// The parent's frame without its standing permissions and its earlier messages. The task may
/// contain what the parent has read. What people allowed the parent does not extend to the child.
fn child_frame(parent: &Frame, tools: Vec<ToolSpec>, budget: Budget, held: &Taint) -> Frame {
    let mut inherited = Taint::default();
    inherited.join(held);
    let delegate = parent.limits.delegate.below();
    let mode = match parent.policy.mode {
        ApprovalMode::All => ApprovalMode::Ask,
        mode => mode,
    };
    let system = match parent.system.contains(CHILD) {
        true => parent.system.clone(),
        false => format!("{}\n{CHILD}", parent.system),
    };
    Frame {
        system,
        tools,
        limits: Limits { budget, delegate, ..parent.limits },
        policy: Policy { approve_all: false, mode, inherited, ..parent.policy.clone() },
        carried: Vec::new(),
        task: None,
        // What follows is decided once, at the end of the run that was started.
        follow_up: None,
        // A helper writes no report.
        analysis: None,
        caller: None,
        ..parent.clone()
    }
}

/// A limit that was set holds for the child as well; else its own loop's limit does (RA-16).
fn max_steps(parents: u32, parent: &LoopSpec, child: &LoopSpec) -> u32 {
    if parents == parent.max_steps { child.max_steps } else { parents }
}

/// The observation of a child's end.
fn child_outcome(ended: &ChildEnded) -> Observation {
    let ChildEnded { child, text, .. } = ended;
    let (ending, how) = match ended.status {
        Status::Succeeded => return Observation::ok(text),
        Status::Canceled => (Ending::Canceled, "was canceled before it was done"),
        Status::Unsettled => {
            (Ending::Unknown, "ended, but whether one of its effects happened is unknown")
        }
        Status::Quarantined => {
            (Ending::Unknown, "was put aside half-way; what it had begun may have happened")
        }
        _ => (Ending::Error, "did not reach its goal"),
    };
    Observation { ending, text: format!("the child run {child} {how}. Its last words:\n{text}") }
}

fn refused(why: &str) -> Observation {
    Observation::error(format!("{why}; nothing was started"))
}
