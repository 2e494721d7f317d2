//! Entries that start runs: which are due, what becomes of each firing, what follows from its end.
//!
//! ```text
//!   due? ──► firings (started, late, missed, skipped, queued, failed; next) ──► one transaction
//!   ended? ──► failures counted, the queued firing started, or a pause ──► one transaction
//! ```
//!
//! A step is computed from rows and the current time, so every process can make it, and the first
//! commit counts. Deliberately absent: what a run is made of ([`StartRuns`] has that).

use super::reminders::{self, coming_reminder};
use super::{AgendaConfig, CatchUp};
use everloop_engine::Clock;
use everloop_ports::BoxFuture;
use everloop_store::{
    DueReminder, Firing, FiringKind, FiringOutcome, OverlapPolicy, SchedulePause, ScheduleRow,
    ScheduleStep, ScheduledFiring, ScheduledRun, ScheduledStart, ScheduledState, Store, StoreError,
};
use everloop_text as text;
use everloop_types::journal::InboxMessage;
use everloop_types::{ConversationId, Lang, UtcMs};
use std::fmt;
use std::future::ready;
use std::sync::Arc;

/// Entries and ends that are processed at once.
const AT_ONCE_MAX: usize = 100;

/// How often a change of an entry is retried after concurrent ones.
const TRIES_MAX: usize = 16;

/// The interval for looking.
const LOOK_MS: u64 = 1_000;

/// Who cancels a run for the next one of its schedule.
const BY_SCHEDULE: &str = "schedule";

/// Makes the runs of entries. Implemented by the application, which has the settings.
pub trait StartRuns: Send + Sync + fmt::Debug {
    /// The person's language.
    fn lang(&self) -> Lang;

    /// Checks what an entry is to start, and fills in what was left out: the folder.
    ///
    /// # Errors
    /// In the person's language, why it cannot be used.
    fn complete(&self, plan: &mut ScheduledRun) -> Result<(), String>;

    /// What a run that nobody watches would have to ask for, or lacks; in the person's language.
    fn preflight(&self, plan: &ScheduledRun) -> Vec<String>;

    /// The conversation that a part of an id means.
    ///
    /// # Errors
    /// In the person's language, why there is none.
    fn conversation<'a>(
        &'a self,
        id: &'a ConversationId,
    ) -> BoxFuture<'a, Result<ConversationId, String>> {
        Box::pin(ready(Ok(id.clone())))
    }

    /// The run of one firing. The same firing has the same key, whoever makes it and when.
    ///
    /// # Errors
    /// In the person's language, why there can be none now.
    fn prepare<'a>(
        &'a self,
        entry: &'a ScheduleRow,
        plan: &'a ScheduledRun,
        due_at: UtcMs,
        now: UtcMs,
    ) -> BoxFuture<'a, Result<ScheduledStart, String>>;
}

/// The key of the run of one firing: it is made once.
#[must_use]
pub fn firing_key(entry: &ScheduleRow, due_at: UtcMs) -> String {
    format!("schedule:{}:{due_at}", entry.uid)
}

/// What makes a step.
#[derive(Clone, Copy)]
struct Stepper<'a> {
    store: &'a Store,
    config: &'a AgendaConfig,
    starter: &'a dyn StartRuns,
    now: UtcMs,
}

/// Settles what has ended and fires everything that is due. A firing of another process is not
/// repeated.
///
/// # Errors
/// If the store fails; earlier firings stay, and the rest is still due.
pub async fn fire_runs(
    store: &Store,
    config: &AgendaConfig,
    starter: &dyn StartRuns,
    now: UtcMs,
) -> Result<Vec<ScheduledFiring>, StoreError> {
    let stepper = Stepper { store, config, starter, now };
    stepper.settle_ended().await?;
    let (mut fired, mut failed) = (Vec::new(), None);
    loop {
        let mut moved = false;
        for (id, due_at) in store.run_schedules().due_runs(now, AT_ONCE_MAX).await? {
            // One entry that cannot be written does not hold up the others.
            match stepper.fire_one(id, due_at).await {
                Ok(Some(firings)) => {
                    fired.extend(firings);
                    moved = true;
                }
                Ok(None) => {}
                Err(error) => failed = Some(error),
            }
        }
        match failed {
            _ if moved => {}
            Some(error) => return Err(error),
            None => return Ok(fired),
        }
    }
}

/// Starts a run of an entry now, whatever its times are. `None` if there is no such entry.
///
/// # Errors
/// If the store fails. The inner error says why there can be no run.
pub async fn run_now(
    store: &Store,
    starter: &dyn StartRuns,
    id: i64,
    now: UtcMs,
) -> Result<Option<Result<ScheduledFiring, String>>, StoreError> {
    for _ in 0..TRIES_MAX {
        let Some(entry) = store.agenda().schedule(id).await? else { return Ok(None) };
        let Some(plan) = entry.said.run.clone() else { return Ok(None) };
        let start = match starter.prepare(&entry, &plan, now, now).await {
            Ok(start) => start,
            Err(words) => return Ok(Some(Err(words))),
        };
        let mut firing = firing(&entry, now, now, ScheduledState::Started);
        firing.run = Some(start.run.run.clone());
        let failures = store.run_schedules().run_failures(id).await?;
        let mut step = step(&entry, entry.remind_next, failures);
        step.firings.push(firing.clone());
        step.starts.push(start);
        if store.run_schedules().step_schedule(&step).await? {
            return Ok(Some(Ok(firing)));
        }
    }
    Ok(None)
}

fn firing(
    entry: &ScheduleRow,
    due_at: UtcMs,
    fired_at: UtcMs,
    state: ScheduledState,
) -> ScheduledFiring {
    ScheduledFiring {
        schedule: entry.id,
        due_at,
        fired_at,
        state,
        reason: None,
        run: None,
        ended: None,
    }
}

fn step(entry: &ScheduleRow, next: Option<UtcMs>, failures: i64) -> ScheduleStep {
    ScheduleStep {
        schedule: entry.id,
        version: entry.version,
        next,
        failures,
        plan: None,
        firings: Vec::new(),
        starts: Vec::new(),
        notes: Vec::new(),
    }
}

/// Closes a firing without a run.
fn close(firing: &mut ScheduledFiring, state: ScheduledState, reason: Option<String>) {
    firing.state = state;
    firing.reason = reason;
    firing.ended = Some(state.as_str().to_owned());
}

impl Stepper<'_> {
    /// Deals with the moments of one entry up to now. `None` if another process was faster.
    async fn fire_one(
        self,
        id: i64,
        due_at: UtcMs,
    ) -> Result<Option<Vec<ScheduledFiring>>, StoreError> {
        let Some(entry) = self.store.agenda().schedule(id).await? else { return Ok(None) };
        let Some(plan) = entry.said.run.clone() else { return Ok(None) };
        if entry.remind_next != Some(due_at) {
            return Ok(None);
        }
        let named = entry.said.catch_up.as_deref().and_then(CatchUp::parse);
        let rule = named.unwrap_or(self.config.catch_up);
        let (moments, next) = reminders::moments(&entry, due_at, self.now);
        let due = DueReminder { kind: FiringKind::Schedule, subject: id, due_at };
        let firings = reminders::fire(due, moments, rule, self.config, self.now, &entry.said.title);
        let failures = self.store.run_schedules().run_failures(id).await?;
        let mut step = step(&entry, next, failures);
        let mut open = self.store.run_schedules().open_firings(id).await?;
        let last = firings.iter().rposition(|firing| firing.state != FiringOutcome::Missed);
        for (at, fired) in firings.into_iter().enumerate() {
            if self.is_made(id, fired.due.due_at).await? {
                continue;
            }
            let is_newest = last == Some(at);
            self.deal_with(&entry, &plan, &fired, is_newest, &mut open, &mut step).await?;
        }
        self.pause_if_failing(&entry, &plan, &mut step, &mut open);
        let made = self.store.run_schedules().step_schedule(&step).await?;
        Ok(made.then_some(step.firings))
    }

    /// Whether this moment was dealt with, by a clock that was ahead.
    async fn is_made(self, id: i64, due_at: UtcMs) -> Result<bool, StoreError> {
        let earlier = self.store.run_schedules().scheduled_firing(id, due_at).await?;
        Ok(earlier.is_some_and(|earlier| earlier.state != ScheduledState::Missed))
    }

    /// Decides what becomes of one moment.
    async fn deal_with(
        self,
        entry: &ScheduleRow,
        plan: &ScheduledRun,
        fired: &Firing,
        is_newest: bool,
        open: &mut Vec<ScheduledFiring>,
        step: &mut ScheduleStep,
    ) -> Result<(), StoreError> {
        let due_at = fired.due.due_at;
        let state = match fired.state {
            FiringOutcome::Fired => ScheduledState::Started,
            FiringOutcome::Late => ScheduledState::Late,
            FiringOutcome::Missed => ScheduledState::Missed,
        };
        let mut firing = firing(entry, due_at, self.now, state);
        let earlier = open.iter().rev().find_map(|open| open.run.as_ref()).map(ToString::to_string);
        match (state, plan.overlap) {
            (ScheduledState::Missed, _) => close(&mut firing, state, None),
            (_, OverlapPolicy::Skip) if !open.is_empty() => {
                close(&mut firing, ScheduledState::Skipped, earlier);
            }
            (_, OverlapPolicy::CancelPrevious) if !is_newest => {
                close(&mut firing, ScheduledState::Skipped, earlier);
            }
            (_, OverlapPolicy::QueueOne) if !open.is_empty() => {
                let is_waiting = |open: &ScheduledFiring| open.state == ScheduledState::Queued;
                match open.iter().any(is_waiting) {
                    true => close(&mut firing, ScheduledState::Skipped, earlier),
                    false => firing.state = ScheduledState::Queued,
                }
            }
            (_, OverlapPolicy::CancelPrevious) => {
                self.cancel(open, step).await?;
                self.start(entry, plan, &mut firing, step).await;
            }
            _ => self.start(entry, plan, &mut firing, step).await,
        }
        if firing.ended.is_none() {
            open.push(firing.clone());
        }
        step.firings.push(firing);
        Ok(())
    }

    /// Cancels what has not ended. A crash before the commit leaves it canceled and the moment due.
    async fn cancel(
        self,
        open: &mut Vec<ScheduledFiring>,
        step: &mut ScheduleStep,
    ) -> Result<(), StoreError> {
        for mut firing in open.drain(..) {
            if let Some(run) = &firing.run {
                let cancel = InboxMessage::Cancel { by: BY_SCHEDULE.to_owned() };
                self.store.inbox().send(run, "cancel", &cancel, self.now).await?;
            } else {
                close(&mut firing, ScheduledState::Skipped, None);
                step.firings.push(firing);
            }
        }
        Ok(())
    }

    /// Adds the run of a firing to the step, or the reason why there is none.
    async fn start(
        self,
        entry: &ScheduleRow,
        plan: &ScheduledRun,
        firing: &mut ScheduledFiring,
        step: &mut ScheduleStep,
    ) {
        match self.starter.prepare(entry, plan, firing.due_at, self.now).await {
            Ok(start) => {
                firing.run = Some(start.run.run.clone());
                step.starts.push(start);
            }
            Err(words) => {
                close(firing, ScheduledState::Failed, Some(words));
                step.failures += 1;
            }
        }
    }

    /// Pauses an entry that has failed too often, with a note in the inbox.
    fn pause_if_failing(
        self,
        entry: &ScheduleRow,
        plan: &ScheduledRun,
        step: &mut ScheduleStep,
        open: &mut [ScheduledFiring],
    ) {
        let limit = i64::from(plan.pause_after.unwrap_or(self.config.pause_after));
        if limit == 0 || step.failures < limit || plan.paused.is_some() {
            return;
        }
        let error = step.firings.iter().rev().find_map(|firing| firing.reason.clone());
        let pause = SchedulePause { at: self.now, failures: step.failures, error };
        step.plan = Some(ScheduledRun { paused: Some(pause), ..plan.clone() });
        step.next = None;
        for firing in open.iter_mut().filter(|firing| firing.state == ScheduledState::Queued) {
            close(firing, ScheduledState::Skipped, None);
            step.firings.retain(|other| other.due_at != firing.due_at);
            step.firings.push(firing.clone());
        }
        let words = text::scheduled::PausedNote {
            title: &entry.said.title,
            failures: &step.failures,
            id: &entry.id,
        };
        let title = words.text().in_lang(self.starter.lang());
        let due = DueReminder { kind: FiringKind::Schedule, subject: entry.id, due_at: self.now };
        let (occurs_at, fired_at, state) = (self.now, self.now, FiringOutcome::Fired);
        step.notes.push(Firing { due, occurs_at, fired_at, state, title });
    }

    /// Counts how runs ended, and starts what waited for that.
    async fn settle_ended(self) -> Result<(), StoreError> {
        for ended in self.store.run_schedules().ended_firings(AT_ONCE_MAX).await? {
            let entry = self.store.agenda().schedule(ended.schedule).await?;
            let plan = entry.as_ref().and_then(|entry| entry.said.run.clone());
            match entry.zip(plan) {
                Some((entry, plan)) => self.settle_one(&entry, &plan, ended).await?,
                None => self.store.run_schedules().close_firing(&ended).await?,
            }
        }
        Ok(())
    }

    /// A change at the same time leaves it to the next look.
    async fn settle_one(
        self,
        entry: &ScheduleRow,
        plan: &ScheduledRun,
        ended: ScheduledFiring,
    ) -> Result<(), StoreError> {
        let failures = self.store.run_schedules().run_failures(entry.id).await?;
        let failures = match ended.ended.as_deref() {
            Some("failed" | "quarantined") => failures + 1,
            Some("succeeded" | "unsettled") => 0,
            _ => failures,
        };
        let mut step = step(entry, entry.remind_next, failures);
        let mut open = self.store.run_schedules().open_firings(entry.id).await?;
        open.retain(|firing| firing.due_at != ended.due_at);
        step.firings.push(ended);
        self.pause_if_failing(entry, plan, &mut step, &mut open);
        let runs = open.iter().any(|firing| firing.run.is_some());
        let waiting = open.iter().find(|firing| firing.state == ScheduledState::Queued);
        if let Some(waiting) = waiting.filter(|_| !runs && step.plan.is_none()) {
            let mut firing = waiting.clone();
            firing.fired_at = self.now;
            firing.state = ScheduledState::Late;
            self.start(entry, plan, &mut firing, &mut step).await;
            step.firings.push(firing);
        }
        self.store.run_schedules().step_schedule(&step).await?;
        Ok(())
    }

    /// Takes entries back that a wrong clock advanced too far. What was started stays started.
    async fn reset_advanced(self) -> Result<(), StoreError> {
        for entry in self.store.agenda().schedules().await? {
            let Some(planned) = entry.remind_next.filter(|_| entry.said.run.is_some()) else {
                continue;
            };
            let mut next = coming_reminder(&entry, self.now);
            while let Some(due) = next.filter(|due| *due < planned) {
                if !self.is_made(entry.id, due).await? {
                    break;
                }
                next = coming_reminder(&entry, due);
            }
            if next.is_some_and(|next| next < planned) {
                let failures = self.store.run_schedules().run_failures(entry.id).await?;
                self.store.run_schedules().step_schedule(&step(&entry, next, failures)).await?;
            }
        }
        Ok(())
    }
}

/// Starts due runs for as long as the process lives.
pub async fn keep_starting(
    store: Store,
    config: AgendaConfig,
    starter: Arc<dyn StartRuns>,
    clock: Arc<dyn Clock>,
) {
    let mut last = UtcMs::MAX;
    loop {
        let now = clock.now();
        let went_back = now < last.saturating_sub(reminders::IN_TIME_MS);
        let stepper = Stepper { store: &store, config: &config, starter: starter.as_ref(), now };
        // The failed store is tried again in a second; due runs are not lost.
        let in_order = !went_back || stepper.reset_advanced().await.is_ok();
        let _ = fire_runs(&store, &config, starter.as_ref(), now).await;
        if in_order {
            last = now;
        }
        clock.pause(LOOK_MS).await;
    }
}
