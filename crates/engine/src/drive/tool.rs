//! Tool calls: the intent before the call, the outcome after it, a stop within the grace period.

use super::ask::QuestionAsker;
use super::delegate::Delegator;
use super::judge::denied;
use super::log;
use super::permit::PermissionGate;
use super::recover::EffectRecovery;
use super::timer::Sleeper;
use super::{DriveError, Driver, LoopFlow};
use crate::clock::measured;
use crate::ids::idem_key;
use crate::inbox_signal::RunInterrupts;
use crate::permission::Sandboxing;
use crate::{CallStream, Engine, Fragment};
use everloop_loops::OpenToolCall;
use everloop_ports::{
    AccessRules, BoxFuture, CallContext, Outgoing, Registry, ToolReturn, TransientToolError,
};
use everloop_store::{NewFact, NewOutbox, NextStatus};
use everloop_types::journal::{EffectAttemptFailed, EffectStarted, EntryKind, PlannedToolCall};
use everloop_types::planted::{self, Bug};
use everloop_types::{
    EffectClass, Ending, FactProposal, Frame, Handling, Labels, Observation, ToolCall, UtcMs,
};
use futures_util::future::join_all;
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

/// The limit of a call that waits for a person: about a year.
const NO_LIMIT_MS: u64 = 1 << 35;

/// Extra time in which a tool can report its own time-out.
const GRACE_MARGIN_MS: u64 = 500;

/// How long a tool may take to record the state before its call.
const BEFORE_MS_MAX: u64 = 60_000;

/// The longest wait that a service may ask for. A longer one is reported to the model as an error
/// at once.
const RETRY_AFTER_MS_MAX: u64 = 30_000;

/// How a call came back.
enum CallResult {
    /// The tool returned.
    Done(ToolReturn),
    /// It was asked to stop and did not return within its grace period.
    Silent(Ending),
}

/// Makes the tool calls of a run.
pub(super) struct ToolCaller<'d, 'e> {
    pub(super) driver: &'d mut Driver<'e>,
}

impl ToolCaller<'_, '_> {
    /// Runs pure calls at once. Repeating them after a crash is harmless.
    pub(super) async fn run_together(
        &mut self,
        open: Vec<OpenToolCall>,
    ) -> Result<LoopFlow, DriveError> {
        self.driver.commit(NextStatus::GoOn).await?;
        if self.wait_for_retry(&open).await? == BackoffEnd::Interrupted {
            return Ok(LoopFlow::GoOn);
        }
        let frame = self.driver.run.frame().clone();
        let setup = self.call_setup(&frame, Sandboxing::Sandboxed);
        let runs = open.iter().map(|open| setup.call(open));
        for (open, (came_back, took_ms)) in open.iter().zip(join_all(runs).await) {
            let seen = match came_back {
                CallResult::Done(
                    ToolReturn::Seen(seen)
                    | ToolReturn::Queued(seen, _)
                    | ToolReturn::Proposed(seen, _)
                    | ToolReturn::Changed(seen, _),
                ) => seen,
                CallResult::Done(ToolReturn::Passing(failed))
                    if self.may_retry_after(open, &failed) =>
                {
                    self.note_transient(open, failed, &frame);
                    continue;
                }
                CallResult::Done(ToolReturn::Passing(failed)) => failed.seen,
                CallResult::Done(ToolReturn::Lost(error)) => Observation::error(error),
                CallResult::Done(ToolReturn::Ask(question)) => Observation::error(question),
                CallResult::Done(ToolReturn::Delegate(_)) => {
                    Observation::error("a call that changes nothing cannot delegate")
                }
                CallResult::Done(ToolReturn::Sleep(_)) => {
                    Observation::error("a call that changes nothing cannot sleep")
                }
                CallResult::Done(ToolReturn::Start(_)) => {
                    Observation::error("a call that changes nothing cannot start a run")
                }
                CallResult::Silent(ending) => stopped(ending),
            };
            self.driver.note_seen(open, bounded(seen, &frame), took_ms);
        }
        Ok(LoopFlow::GoOn)
    }

    /// Runs one call that may change something: its intent is durable before the call is made (W1).
    pub(super) async fn run_alone(&mut self, open: OpenToolCall) -> Result<LoopFlow, DriveError> {
        let call = &open.planned.call;
        let class = open.planned.class;
        if self.wait_for_retry(std::slice::from_ref(&open)).await? == BackoffEnd::Interrupted {
            return Ok(LoopFlow::GoOn);
        }
        let gate = PermissionGate { driver: self.driver };
        let sandboxing = match gate.sandboxing(&open, call).await? {
            Sandboxing::Refused(why) => {
                self.driver.note_seen(&open, denied(&why), 0);
                return Ok(LoopFlow::GoOn);
            }
            sandboxing => sandboxing,
        };
        if class.needs_intent() {
            // An earlier call of the same batch may have ended unknown since this one was planned.
            if let Some(held_back) = self.driver.run.held_back(call) {
                self.driver.note_seen(&open, held_back, 0);
                return Ok(LoopFlow::GoOn);
            }
            if self.begin(&open, call).await? != StartResult::InTime {
                return Ok(LoopFlow::GoOn);
            }
        } else {
            self.driver.commit(NextStatus::GoOn).await?;
        }
        let frame = self.driver.run.frame().clone();
        let (came_back, took_ms) = self.call_setup(&frame, sandboxing).call(&open).await;
        let done = match came_back {
            CallResult::Done(done) => done,
            CallResult::Silent(_) if class.needs_intent() => {
                return EffectRecovery { driver: self.driver }.without_outcome(open).await;
            }
            CallResult::Silent(ending) => ToolReturn::Seen(stopped(ending)),
        };
        self.take_return(&open, done, &frame, took_ms).await
    }

    /// Notes what a tool returned, or does what it asks for.
    async fn take_return(
        &mut self,
        open: &OpenToolCall,
        done: ToolReturn,
        frame: &Frame,
        took_ms: u64,
    ) -> Result<LoopFlow, DriveError> {
        let PlannedToolCall { call, class, .. } = &open.planned;
        match done {
            ToolReturn::Ask(question) => {
                let mut asker = QuestionAsker { driver: self.driver };
                return asker.ask_person(open, call, question).await;
            }
            ToolReturn::Delegate(wanted) => {
                return Delegator { driver: self.driver }.delegate(open, &wanted).await;
            }
            ToolReturn::Sleep(wait_ms) => {
                return Sleeper { driver: self.driver }.begin(open, wait_ms).await;
            }
            ToolReturn::Start(start) => self.driver.start_run(open, *start, took_ms),
            ToolReturn::Lost(why) if class.needs_intent() => {
                return self.lost(open, call, why).await;
            }
            ToolReturn::Seen(seen) => self.driver.note_seen(open, bounded(seen, frame), took_ms),
            ToolReturn::Changed(seen, change) => {
                self.driver.note_change(open, bounded(seen, frame), took_ms, Some(change));
            }
            ToolReturn::Queued(seen, Outgoing { channel, text }) => {
                let outbox_id = idem_key(&open.effect);
                self.driver.pending.outbox.push(NewOutbox { outbox_id, channel, body: text });
                self.driver.note_seen(open, bounded(seen, frame), took_ms);
            }
            ToolReturn::Proposed(seen, fact) => {
                self.propose(open, *fact);
                self.driver.note_seen(open, bounded(seen, frame), took_ms);
            }
            ToolReturn::Passing(failed) if self.may_retry_after(open, &failed) => {
                self.note_transient(open, failed, frame);
            }
            ToolReturn::Passing(failed) => {
                self.driver.note_seen(open, bounded(failed.seen, frame), took_ms)
            }
            ToolReturn::Lost(error) => {
                self.driver.note_seen(open, bounded(Observation::error(error), frame), took_ms);
            }
        }
        Ok(LoopFlow::GoOn)
    }

    /// Writes a fact with the outcome of its call. Whatever the tool says, a run that holds what
    /// others wrote proposes something untrusted, which only a person can accept.
    fn propose(&mut self, open: &OpenToolCall, mut fact: FactProposal) {
        fact.untrusted |= self.holds().untrusted;
        fact.source.run = Some(open.effect.run.clone());
        let new = NewFact::proposed(fact, "model", self.driver.engine.clock.now());
        self.driver.pending.writes.extend(new.writes());
    }

    /// The labels of all that the run has read; runs from before labels have no record of it.
    fn holds(&self) -> Labels {
        match self.driver.run.frame().policy.label_guard {
            None => Labels::ALL,
            Some(_) => self.driver.run.holding().labels(),
        }
    }

    /// Handles a call that returned without an outcome and may have acted. A probe that finds
    /// nothing would prove nothing: the other side may still be working on it.
    async fn lost(
        &mut self,
        open: &OpenToolCall,
        call: &ToolCall,
        why: String,
    ) -> Result<LoopFlow, DriveError> {
        let PlannedToolCall { class, key_until, on_unknown, .. } = open.planned;
        let now = self.driver.engine.clock.now();
        let honoured = class == EffectClass::Keyed && key_until.is_some_and(|until| now < until);
        if !honoured || !self.may_retry(open) {
            let mut recovery = EffectRecovery { driver: self.driver };
            return recovery.unknown(open, call, on_unknown, &why).await;
        }
        self.note_failed(open, why, AttemptImpact::Maybe, self.driver.engine.rules.tool_retry_ms);
        Ok(LoopFlow::GoOn)
    }

    /// Writes the intent, then makes sure that not too much time has passed: a worker that was
    /// paused in between must not act, because another one may have taken over.
    async fn begin(
        &mut self,
        open: &OpenToolCall,
        call: &ToolCall,
    ) -> Result<StartResult, DriveError> {
        let Some(before) = self.before(call).await else { return Ok(StartResult::Interrupted) };
        let attempt = open.failed_attempts + 1;
        let within = self.driver.engine.rules.start_within_ms;
        let start_by = self.driver.engine.clock.now().saturating_add_unsigned(within);
        let asleep_since = self.driver.engine.clock.since_boot_ms();
        let over_by = over_by(start_by, &handling(self.driver.run.frame(), open), open);
        let started = EffectStarted { attempt, start_by, over_by, before };
        let late = self.plant_late_intent().await?;
        self.driver.note(Some(open.effect.clone()), EntryKind::EffectStarted(started));
        self.commit_unless(late).await?;
        self.driver.begun_here.insert(open.effect.clone());
        let in_time = self.driver.engine.clock.since_boot_ms() - asleep_since <= within;
        if in_time || planted::is_on(Bug::StartWindowUnchecked) {
            return Ok(StartResult::InTime);
        }
        let error = "not made: too much time passed after its intent was written".to_owned();
        self.note_retry(open, error);
        Ok(StartResult::TooLate)
    }

    /// The record for the intent, or nothing if the run is canceled or released meanwhile. A tool
    /// that takes too long gets no record, so its probe cannot tell.
    async fn before(&self, call: &ToolCall) -> Option<Value> {
        let Some(tool) = self.driver.tools.get(&call.tool) else { return Some(Value::Null) };
        tokio::select! {
            biased;
            before = tool.before_call(&call.args, &self.driver.claim.run) => Some(before),
            () = self.driver.interrupts().during_call() => None,
            () = self.driver.engine.clock.pause(BEFORE_MS_MAX) => Some(Value::Null),
        }
    }

    fn call_setup<'s>(&'s self, frame: &'s Frame, sandboxing: Sandboxing) -> CallSetup<'s> {
        let inbox_seen = self.driver.inbox.seen;
        CallSetup {
            engine: self.driver.engine,
            tools: &self.driver.tools,
            frame,
            epoch: self.driver.claim.epoch,
            inbox_seen,
            sandboxing,
            holds: self.holds(),
        }
    }

    fn may_retry(&self, open: &OpenToolCall) -> bool {
        open.failed_attempts < handling(self.driver.run.frame(), open).retries
    }

    fn may_retry_after(&self, open: &OpenToolCall, failed: &TransientToolError) -> bool {
        self.may_retry(open) && failed.retry_after_ms.unwrap_or(0) <= RETRY_AFTER_MS_MAX
    }

    fn note_transient(&mut self, open: &OpenToolCall, failed: TransientToolError, frame: &Frame) {
        let wait_ms =
            self.driver.engine.rules.tool_retry_ms.max(failed.retry_after_ms.unwrap_or(0));
        self.note_failed(open, bounded(failed.seen, frame).text, AttemptImpact::No, wait_ms);
    }

    fn note_retry(&mut self, open: &OpenToolCall, error: String) {
        self.note_failed(open, error, AttemptImpact::No, self.driver.engine.rules.tool_retry_ms);
    }

    fn note_failed(
        &mut self,
        open: &OpenToolCall,
        error: String,
        acted: AttemptImpact,
        wait_ms: u64,
    ) {
        let retry_at = self.driver.engine.clock.now().saturating_add_unsigned(wait_ms);
        let attempt = open.failed_attempts + 1;
        let may_have_acted = acted == AttemptImpact::Maybe;
        let failed = EffectAttemptFailed { attempt, error, retry_at, may_have_acted };
        self.driver.note(Some(open.effect.clone()), EntryKind::EffectAttemptFailed(failed));
    }

    /// Waits no longer than the rules allow, whatever the clock does, and stops on a cancel.
    async fn wait_for_retry(&mut self, open: &[OpenToolCall]) -> Result<BackoffEnd, DriveError> {
        let now = self.driver.engine.clock.now();
        let retry_at = open.iter().filter_map(|open| open.retry_at).max();
        let left_ms = retry_at.map_or(0, |at| u64::try_from(at.saturating_sub(now)).unwrap_or(0));
        let wait_ms = left_ms.min(self.driver.engine.rules.tool_retry_ms.max(RETRY_AFTER_MS_MAX));
        if wait_ms == 0 {
            return Ok(BackoffEnd::Enough);
        }
        self.driver.commit(NextStatus::GoOn).await?;
        Ok(tokio::select! {
            biased;
            () = self.driver.engine.clock.pause(wait_ms) => BackoffEnd::Enough,
            () = self.driver.interrupts().during_call() => {
                BackoffEnd::Interrupted
            }
        })
    }
}

/// Whether a failed attempt changed something.
#[derive(PartialEq, Eq)]
enum AttemptImpact {
    No,
    Maybe,
}

/// How a wait before the next attempt ended.
#[derive(PartialEq, Eq)]
enum BackoffEnd {
    Enough,
    /// The run is canceled, or this process is to stop: the main loop finds out which.
    Interrupted,
}

#[derive(PartialEq, Eq)]
enum StartResult {
    InTime,
    TooLate,
    Interrupted,
}

/// What a call is made with. Several calls may share one.
struct CallSetup<'d> {
    engine: &'d Engine,
    tools: &'d Registry,
    frame: &'d Frame,
    epoch: i64,
    inbox_seen: u64,
    sandboxing: Sandboxing,
    holds: Labels,
}

impl CallSetup<'_> {
    /// Makes one call and stops it at its deadline, or when the run is canceled.
    async fn call(&self, open: &OpenToolCall) -> (CallResult, u64) {
        let clock = self.engine.clock();
        let left = |at: UtcMs| u64::try_from(at.saturating_sub(clock.now())).unwrap_or(0);
        match open.planned.deadline.map(left) {
            Some(0) => (CallResult::Done(ToolReturn::Seen(too_late())), 0),
            left_ms => {
                let call = &open.planned.call;
                let span = log::tool_span(&open.effect, &call.tool, open.failed_attempts + 1);
                measured(clock, self.make(open, call, left_ms)).instrument(span).await
            }
        }
    }

    /// Shows watchers what the tool prints.
    fn output_of(&self, open: &OpenToolCall) -> Arc<dyn Fn(&str) + Send + Sync> {
        let (watchers, effect) = (self.engine.watchers.clone(), open.effect.clone());
        let stream = CallStream { effect, epoch: self.epoch, attempt: open.failed_attempts };
        Arc::new(move |text| watchers.send_piece(&stream, Fragment::Output(text.to_owned())))
    }

    async fn make(&self, open: &OpenToolCall, call: &ToolCall, left_ms: Option<u64>) -> CallResult {
        let Some(tool) = self.tools.get(&call.tool) else {
            let gone = format!("the tool {} is not available here; nothing was done", call.tool);
            return CallResult::Done(ToolReturn::Seen(Observation::error(gone)));
        };
        let handling = handling(self.frame, open);
        let limits = [Some(handling.timeout_ms), left_ms].into_iter().flatten();
        let timeout_ms = limits.filter(|ms| *ms > 0).min().unwrap_or(NO_LIMIT_MS);
        let context = CallContext {
            cancel: CancellationToken::new(),
            deadline: Instant::now().checked_add(Duration::from_millis(timeout_ms)),
            observation_chars: self.frame.limits.context.observation_chars,
            idem_key: idem_key(&open.effect),
            effect: Some(open.effect.clone()),
            attempt: open.failed_attempts + 1,
            on_output: Some(self.output_of(open)),
            may_run_bare: matches!(self.sandboxing, Sandboxing::ApprovedUnsandboxed),
            bars: AccessRules::new(&self.frame.policy, &call.tool, &self.frame.workspace),
            holds: self.holds,
        };
        // A fence drops the driver in the middle of a call. What the call does on other threads
        // has to stop then, too.
        let on_drop = context.cancel.clone().drop_guard();
        let came_back =
            self.until_over(open, tool.call(&call.args, &context), &context, timeout_ms).await;
        on_drop.disarm();
        came_back
    }

    /// Waits for a call, and asks it to stop when it has to.
    async fn until_over(
        &self,
        open: &OpenToolCall,
        mut calling: BoxFuture<'_, ToolReturn>,
        context: &CallContext,
        timeout_ms: u64,
    ) -> CallResult {
        let (engine, run) = (self.engine, &open.effect.run);
        let handling = handling(self.frame, open);
        let interrupts = RunInterrupts { engine, run, seen: self.inbox_seen };
        let ending = tokio::select! {
            biased;
            done = &mut calling => return CallResult::Done(done),
            () = interrupts.during_call() => Ending::Canceled,
            // A tool with its own time limit gets a moment to report it.
            () = engine.clock.pause(timeout_ms.saturating_add(GRACE_MARGIN_MS)) => Ending::TimedOut,
        };
        context.cancel.cancel();
        let grace_ms = handling.grace_ms.saturating_add(GRACE_MARGIN_MS);
        let skipped = engine.grace_skips.of(run);
        tokio::select! {
            biased;
            done = &mut calling => match done {
                // The next driver, or the end of the run, decides what that means.
                ToolReturn::Lost(_) if ending == Ending::Canceled => CallResult::Silent(ending),
                done => CallResult::Done(done),
            },
            () = engine.clock.pause(grace_ms) => CallResult::Silent(ending),
            () = skipped.cancelled() => CallResult::Silent(ending),
        }
    }
}

fn handling(frame: &Frame, open: &OpenToolCall) -> Handling {
    let tool = frame.tool(&open.planned.call.tool);
    tool.map(|tool| tool.handling.clone()).unwrap_or_default()
}

/// The latest time at which a call that begins in time has returned or was stopped.
fn over_by(start_by: UtcMs, handling: &Handling, open: &OpenToolCall) -> Option<UtcMs> {
    let deadline = open.planned.deadline;
    let own =
        (handling.timeout_ms > 0).then(|| start_by.saturating_add_unsigned(handling.timeout_ms));
    let over = [own, deadline.map(|at| at.max(start_by))].into_iter().flatten().min()?;
    Some(over.saturating_add_unsigned(handling.grace_ms.saturating_add(2 * GRACE_MARGIN_MS)))
}

fn too_late() -> Observation {
    let text = "not performed: its deadline had passed".to_owned();
    Observation { ending: Ending::TimedOut, text }
}

fn stopped(ending: Ending) -> Observation {
    Observation { ending, text: "stopped before it came back".to_owned() }
}

/// The last limit on size; tools shorten their own output with more care.
pub(super) fn bounded(mut seen: Observation, frame: &Frame) -> Observation {
    let most = frame.limits.context.observation_chars;
    if let Some((end, _)) = seen.text.char_indices().nth(most) {
        seen.text.truncate(end);
        seen.text.push('…');
    }
    seen
}
