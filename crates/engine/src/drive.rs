//! Driving one run: from its claim to its end, its next question, or the loss of its lease.
//!
//! ```text
//!   read inbox ──► decide ──► commit ──► perform ──► note the outcome ──► read inbox …
//! ```
//!
//! Entries are folded when they are noted, and committed before anything outside may use them. One
//! commit carries an outcome, the decision that it led to and the intents that follow, so one
//! exchange with the model or a tool costs two commits.

mod append;
mod ask;
mod cancel;
mod commit;
mod delegate;
mod inbox;
mod judge;
pub(crate) mod log;
mod model;
mod others;
mod permit;
mod planted;
mod probe;
mod recover;
mod request;
mod review;
mod side_records;
mod start;
mod switch;
mod tagged;
mod timer;
mod tool;

pub(crate) use model::offered;
pub(crate) use recover::fold_from_start;

use crate::Engine;
use crate::ending_title::ending_title;
use crate::inbox_signal::{InboxCursor, RunInterrupts};
use crate::quarantine::Quarantine;
use ask::QuestionAsker;
use delegate::Delegator;
use everloop_loops::{AnyRun, CallStage, Decision, OpenModelCall, OpenToolCall};
use everloop_ports::{Registry, WirePrompt};
use everloop_store::{Claim, Commit, NewMessage, NextStatus, StoreError};
use everloop_types::journal::{
    EffectFinished, Entry, EntryDraft, EntryKind, EpochStarted, MessageEmitted, Outcome,
    RunFinished, WaitingOn,
};
use everloop_types::{
    EffectClass, EffectId, Ending, FileChange, Labels, Observation, Reason, RunId, Status,
    ToolCall, UtcMs, Words,
};
use inbox::{InboxNews, InboxReader};
use model::ModelCaller;
use permit::{PermissionGate, with_edit};
use recover::EffectRecovery;
use review::CallReview;
use side_records::SideRecords;
use std::collections::BTreeSet;
use std::sync::Arc;
use timer::Sleeper;
use tool::ToolCaller;
use tracing::{Instrument, Span};

/// How often a call that starts a run is made again because another run was faster.
const START_TRIES_MAX: u32 = 3;

/// How a drive ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DriveEnd {
    /// The run is over.
    Finished(Status),
    /// The run waits and holds no worker.
    Parked(WaitingOn),
    /// This process is to stop; the run went back to the queue.
    Released,
}

/// Why a drive could not go on. The run itself is never lost.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// Another worker has the run.
    #[error("lost the lease on {0}: another worker drives it now")]
    LeaseLost(RunId),
    /// The run cannot be read and was quarantined.
    #[error("{run} cannot be driven and was quarantined: {note}")]
    Quarantined {
        /// The run.
        run: RunId,
        /// Why.
        note: String,
    },
    /// The journal was written by another program, mostly a newer one; nothing was changed.
    #[error("{run} needs another everloop and is left as it is: {what}")]
    Newer {
        /// The run.
        run: RunId,
        /// What is too new.
        what: String,
    },
    /// The store failed; the run goes on once it works again.
    #[error("the store failed while {run} was driven")]
    Store {
        /// The run.
        run: RunId,
        /// The error of the store.
        #[source]
        source: StoreError,
    },
}

/// Whether the main loop goes on.
enum LoopFlow {
    GoOn,
    Over(DriveEnd),
}

/// What to do about the outstanding effects now.
enum DriveWork {
    /// Ask the model.
    Ask(OpenModelCall),
    /// Run these together: they change nothing.
    Together(Vec<OpenToolCall>),
    /// Run this one, alone.
    Alone(OpenToolCall),
    /// Get permission first.
    Permit(OpenToolCall),
    /// A process that is gone had begun it.
    Recover(OpenToolCall),
    /// A person still has to answer.
    AwaitAnswer(everloop_types::Question),
    /// A child run works on it.
    AwaitChild(OpenToolCall, RunId),
    /// It is over at this moment.
    Sleep(OpenToolCall, UtcMs),
}

pub(crate) struct Driver<'e> {
    engine: &'e Engine,
    claim: Claim,
    run: AnyRun,
    tools: Arc<Registry>,
    /// The transcript as the provider reads it: rendered once, appended to.
    wire: WirePrompt,
    /// Noted and folded, not yet durable.
    pending: Commit,
    /// Effects that this driver began. Any other effect that has begun belongs to an earlier
    /// process.
    begun_here: BTreeSet<EffectId>,
    /// Milliseconds this drive has waited for a model.
    waited_ms: u64,
    /// The model call that has to be over in time, and since when it is made here.
    asking: Option<(EffectId, u64)>,
    /// What people had read of the model call that was interrupted last.
    read: Option<(EffectId, String)>,
    kept: SideRecords<'e>,
    inbox: InboxCursor,
}

impl Engine {
    /// Drives a claimed run until it ends or waits.
    ///
    /// # Errors
    /// See [`DriveError`]; the run can be claimed again after any of them but a quarantine.
    pub async fn drive(&self, claim: Claim) -> Result<DriveEnd, DriveError> {
        let span = log::run_span(&claim, &self.identity.worker);
        let began_at = self.clock.since_boot_ms();
        let driven = self.drive_unless_fenced(claim).instrument(span.clone()).await;
        let ms = self.clock.since_boot_ms().saturating_sub(began_at);
        span.in_scope(|| log::log_end(&driven, ms));
        driven
    }

    async fn drive_unless_fenced(&self, claim: Claim) -> Result<DriveEnd, DriveError> {
        let run = claim.run.clone();
        let _driving = self.watchers.driving(&run);
        let fences = self.lease.fences();
        // A fence drops the driver at once, with every call that it makes.
        let driven = tokio::select! {
            biased;
            () = self.lease.fenced_after(fences) => Err(DriveError::LeaseLost(run.clone())),
            driven = self.drive_again(claim) => driven,
        };
        self.inbox_signals.forget(&run);
        self.grace_skips.forget(&run);
        driven
    }

    /// After a refused commit the state is discarded and folded again from the journal.
    async fn drive_again(&self, claim: Claim) -> Result<DriveEnd, DriveError> {
        let mut driver = Driver::load(self, claim).await?;
        let mut starts = 0;
        loop {
            match driver.run_turns().await {
                Err(DriveError::Store { source: StoreError::OverLimit { .. }, .. }) => {
                    return Driver::load(self, driver.claim).await?.end_full().await;
                }
                // Another run began the same task in the meantime. The call is made again and
                // finds it.
                Err(DriveError::Store { source: StoreError::TaskRunning { .. }, .. })
                    if starts < START_TRIES_MAX =>
                {
                    starts += 1;
                    driver = Driver::load(self, driver.claim).await?;
                }
                driven => return driven,
            }
        }
    }
}

impl<'e> Driver<'e> {
    /// Claim, then read: never act on what was read before the claim.
    async fn load(engine: &'e Engine, claim: Claim) -> Result<Self, DriveError> {
        let folded = engine.fold(&claim.run).await;
        let folded = match folded {
            Ok(folded) => folded,
            Err(source) => {
                return Err(Quarantine { engine }.handle_unreadable(&claim, source).await);
            }
        };
        let tools = engine.environment.tools(folded.run.frame());
        let mut driver = Self {
            engine,
            tools,
            run: folded.run,
            wire: WirePrompt::default(),
            pending: Commit::new(Vec::new(), engine.clock.now()),
            begun_here: BTreeSet::new(),
            waited_ms: 0,
            asking: None,
            read: None,
            kept: SideRecords::new(engine, folded.snapshot_seq),
            inbox: engine.inbox_signals.open_cursor(&claim.run),
            claim,
        };
        Span::current().record("loop", driver.run.spec().name);
        let opened = driver.kept.open_audit(&driver.claim.run).await;
        opened.map_err(|source| driver.failed(source))?;
        // An earlier driver may have died after the commit and before it saved the summary.
        driver.kept.remember(&driver.claim.run, &driver.run).await;
        let (worker, build) = (engine.identity.worker.clone(), engine.identity.build.clone());
        driver.note(None, EntryKind::EpochStarted(EpochStarted { worker, build }));
        Ok(driver)
    }

    async fn run_turns(&mut self) -> Result<DriveEnd, DriveError> {
        let mut number = 0;
        loop {
            number += 1;
            let span = log::turn_span(number, self.run.last_seq());
            if let LoopFlow::Over(driven) = self.turn().instrument(span).await? {
                return Ok(driven);
            }
        }
    }

    /// One decision and the work that it leads to.
    async fn turn(&mut self) -> Result<LoopFlow, DriveError> {
        let news = InboxReader { driver: self }.read_if_signaled().await?;
        if news == InboxNews::Cancel {
            return self.end_canceled().await.map(LoopFlow::Over);
        }
        if self.engine.stopping.is_cancelled() {
            self.commit(NextStatus::Release).await?;
            return Ok(LoopFlow::Over(DriveEnd::Released));
        }
        if let Some(switch) = self.run.switches_here().cloned() {
            return self.hand_over(switch).await.map(LoopFlow::Over);
        }
        while self.run.is_idle() {
            match self.run.decide() {
                Decision::Do(effects) => self.plan(effects),
                Decision::Finish { status, reason, words } => {
                    return self.finish(status, reason, &words).await.map(LoopFlow::Over);
                }
            }
        }
        match self.next_work() {
            DriveWork::Ask(open) => ModelCaller { driver: self }.call(open).await,
            DriveWork::Together(open) => ToolCaller { driver: self }.run_together(open).await,
            DriveWork::Alone(open) => ToolCaller { driver: self }.run_alone(open).await,
            DriveWork::Permit(open) => PermissionGate { driver: self }.permit(open).await,
            DriveWork::Recover(open) => EffectRecovery { driver: self }.recover(open).await,
            DriveWork::AwaitAnswer(question) => {
                QuestionAsker { driver: self }.await_answer(question).await
            }
            DriveWork::AwaitChild(open, child) => {
                Delegator { driver: self }.await_child(&open, child).await
            }
            DriveWork::Sleep(open, until) => Sleeper { driver: self }.go_on(&open, until).await,
        }
    }

    /// Pure calls first and together; everything else one by one, in order.
    fn next_work(&self) -> DriveWork {
        if let Some(open) = self.run.open_model_call() {
            return DriveWork::Ask(open.clone());
        }
        let open_calls = self.run.open_tool_calls();
        let together: Vec<OpenToolCall> = open_calls
            .iter()
            .filter(|open| self.is_harmless(open) && open.stage == CallStage::Planned)
            .cloned()
            .collect();
        if !together.is_empty() {
            return DriveWork::Together(together);
        }
        let first = &open_calls[0];
        let begun_here = self.begun_here.contains(&first.effect);
        match &first.stage {
            CallStage::Asked(question) => DriveWork::AwaitAnswer(question.clone()),
            CallStage::Delegated(child) => DriveWork::AwaitChild(first.clone(), child.clone()),
            CallStage::Sleeping(until) => DriveWork::Sleep(first.clone(), *until),
            CallStage::Started(_) if !begun_here => DriveWork::Recover(first.clone()),
            CallStage::Planned if !self.review().is_free(first) => DriveWork::Permit(first.clone()),
            CallStage::Approved if self.review().has_lapsed(first) => {
                DriveWork::Permit(first.clone())
            }
            _ => DriveWork::Alone(first.clone()),
        }
    }

    fn is_harmless(&self, open: &OpenToolCall) -> bool {
        open.planned.class == EffectClass::Pure && self.review().is_free(open)
    }

    /// What ends a wait of this run.
    fn interrupts(&self) -> RunInterrupts<'_> {
        RunInterrupts { engine: self.engine, run: &self.claim.run, seen: self.inbox.seen }
    }

    /// Notes a decision. Calls that cannot be performed get their outcome at once.
    fn plan(&mut self, effects: Vec<everloop_loops::PlannedEffect>) {
        let cause = self.run.last_seq();
        let mut refused = Vec::new();
        for (index, effect) in effects.into_iter().enumerate() {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            let id = EffectId { run: self.claim.run.clone(), cause, index };
            self.note(Some(id.clone()), EntryKind::EffectPlanned(effect.planned));
            refused.extend(effect.refused.map(|seen| (id, seen)));
        }
        for (id, seen) in refused {
            self.note_outcome(id, Outcome::Observed(seen), 0);
        }
    }

    /// Reviews calls of this run.
    fn review(&self) -> CallReview<'_> {
        CallReview { run: &self.run, tools: &self.tools }
    }

    /// Folds an entry and keeps it for the next commit. Secrets are taken out before either, so
    /// that what is folded is what is written.
    fn note(&mut self, effect: Option<EffectId>, kind: EntryKind) {
        let kind = self.engine.store.redactor().kind(kind);
        let at = self.engine.clock.now().max(self.run.last_at());
        let entry = Entry {
            seq: self.claim.next_seq + self.pending.drafts.len() as i64,
            epoch: self.claim.epoch,
            at,
            effect,
            kind,
        };
        self.run.apply(&entry);
        self.pending.drafts.push(EntryDraft { at, effect: entry.effect, kind: entry.kind });
    }

    fn note_outcome(&mut self, effect: EffectId, outcome: Outcome, took_ms: u64) {
        let finished = EffectFinished::unlabeled(outcome, took_ms);
        self.note(Some(effect), EntryKind::EffectFinished(finished));
    }

    /// Notes the result of a tool, with its labels. A refusal has none.
    fn note_seen(&mut self, open: &OpenToolCall, seen: Observation, took_ms: u64) {
        self.note_change(open, seen, took_ms, None);
    }

    /// The same, with what the call changed in a file.
    fn note_change(
        &mut self,
        open: &OpenToolCall,
        seen: Observation,
        took_ms: u64,
        change: Option<Box<FileChange>>,
    ) {
        let call = &open.planned.call;
        let labels = if self.brought_nothing(call, &seen) {
            Labels::default()
        } else {
            let real = self.review().with_resolved_path(call);
            let brings = |call: &ToolCall| self.run.frame().brings(call, &seen.text);
            real.map_or_else(|| brings(call), |real| brings(call) | brings(&real))
        };
        let seen = if labels.untrusted { self.marked(open, seen) } else { seen };
        let seen = if open.is_edited { with_edit(open, seen) } else { seen };
        let outcome = Outcome::Observed(seen);
        let finished = EffectFinished { outcome, took_ms, labels, change };
        self.note(Some(open.effect.clone()), EntryKind::EffectFinished(finished));
    }

    /// A refusal brings no data into the run, nor does the failure of a tool that only reads files:
    /// the text is then the tool's own.
    fn brought_nothing(&self, call: &ToolCall, seen: &Observation) -> bool {
        let reads_files = || {
            let handling = self.run.frame().tool(&call.tool).map(|tool| &tool.handling);
            handling.is_some_and(|handling| {
                handling.class == EffectClass::Pure
                    && handling.flow.as_ref().is_some_and(|flow| flow.workspace)
            })
        };
        match seen.ending {
            Ending::Denied => true,
            Ending::Error => reads_files(),
            _ => false,
        }
    }

    fn note_labeled(
        &mut self,
        open: &OpenToolCall,
        seen: Observation,
        took_ms: u64,
        labels: Labels,
    ) {
        let seen = if open.is_edited { with_edit(open, seen) } else { seen };
        let outcome = Outcome::Observed(seen);
        let finished = EffectFinished { labels, ..EffectFinished::unlabeled(outcome, took_ms) };
        self.note(Some(open.effect.clone()), EntryKind::EffectFinished(finished));
    }

    /// Writes the ending, its reason and its message in one transaction.
    async fn finish(
        &mut self,
        status: Status,
        reason: Option<Reason>,
        words: &Words,
    ) -> Result<DriveEnd, DriveError> {
        let written = self.last_words(status, words).await;
        let words = written.as_ref().unwrap_or(words);
        self.follow_up(status, words).await;
        self.log_decision(status, reason.as_ref());
        self.emit("final".to_owned(), words);
        self.note(None, EntryKind::RunFinished(RunFinished { status, reason }));
        self.tell_parent(status, words);
        self.entitle(status);
        self.commit(NextStatus::Finish(status)).await?;
        Ok(DriveEnd::Finished(status))
    }

    /// The words of a report, whose numbers are those of the results.
    async fn last_words(&self, status: Status, words: &Words) -> Option<Words> {
        let frame = self.run.frame();
        frame.analysis.as_ref()?;
        let text = everloop_text::render(words, frame.language);
        let environment = &self.engine.environment;
        let written = environment.last_words(&self.claim.run, frame, status, &text).await?;
        Some(Words::Said(written))
    }

    /// A run that belongs to no conversation tells of its end in one of its own. A child tells its
    /// parent instead, and a run that another one continues has not come to its end.
    fn entitle(&mut self, status: Status) {
        if self.run.parent().is_none() && self.pending.successor.is_none() {
            let title = ending_title(status, &self.claim.title, self.run.frame().language);
            self.pending.title = Some(title);
        }
    }

    /// A message for the user, written with the entries that cause it.
    fn emit(&mut self, slot: String, words: &Words) {
        let body = everloop_text::render(words, self.run.frame().language);
        let message_id = format!("msg_{}_{slot}", self.claim.run);
        self.note(None, EntryKind::MessageEmitted(MessageEmitted { slot: slot.clone() }));
        let role = "assistant".to_owned();
        self.pending.messages.push(NewMessage { slot, role, body, message_id });
    }
}
