//! A rehearsal of reminders: the real code on a copy in memory, with time that jumps and a process
//! that crashes.
//!
//! The expected result is computed from the calendar alone, independently of that code.

use super::run_firing::{self, StartRuns, firing_key};
use super::{AgendaConfig, reminders, series};
use everloop_ports::BoxFuture;
use everloop_store::{
    Db, DbError, DbFuture, DueReminder, Firing, FiringKind, FiringOutcome, MemoryDb,
    NewConversation, NewRun, OverlapPolicy, RunFilter, ScheduleGuard, ScheduleRow, ScheduledRun,
    ScheduledStart, ScheduledState, SqlRow, Store, StoreError, TodoRow, Urgency, WriteKey,
    WriteResult,
};
use everloop_types::journal::RunCreated;
use everloop_types::{
    ConversationId, Frame, Goal, Lang, Rows, RunId, SqlValue, Statement, UtcMs, Write,
    digest_bytes, digest_json,
};
use std::collections::{BTreeMap, BTreeSet};
use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The parameters of a rehearsal.
#[derive(Debug, Clone)]
pub struct Rehearsal {
    /// Its first moment.
    pub from: UtcMs,
    /// Its end.
    pub to: UtcMs,
    /// Where the process crashes.
    pub crashes: Crashes,
    /// Times without a running process, from and to.
    pub down: Vec<(UtcMs, UtcMs)>,
    /// The maximum number of steps.
    pub steps_max: u64,
}

/// Where the process crashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Crashes {
    /// Nowhere.
    None,
    /// At these firings, counted from 1: once before it is written and once after.
    At(Vec<u64>),
    /// At every firing.
    Everywhere,
}

/// The result of a rehearsal.
#[derive(Debug, Clone, Default)]
pub struct RehearsalResult {
    /// Every firing, in order.
    pub firings: Vec<Firing>,
    /// How often the process crashed.
    pub crashes: u64,
    /// Moments of the calendar without a firing.
    pub lost: Vec<DueReminder>,
    /// Firings that are not in the calendar, or that came twice.
    pub wrong: Vec<DueReminder>,
    /// What the processes reported as fired, unless they crashed before.
    pub told: Vec<DueReminder>,
    /// Moments of a downtime that are older than what a batch keeps.
    pub left_out: usize,
    /// Where it was stopped: there were too many steps, or somebody stopped it.
    pub cut_at: Option<UtcMs>,
    /// Runs that no firing names.
    pub runs_without_firing: usize,
}

impl RehearsalResult {
    /// Whether each moment fired or was missed exactly once.
    #[must_use]
    pub fn is_right(&self) -> bool {
        self.lost.is_empty() && self.wrong.is_empty() && self.runs_without_firing == 0
    }
}

/// The default maximum number of steps.
pub const STEPS_MAX: u64 = 100_000;

/// Plays the reminders of a period.
///
/// # Errors
/// If the copy in memory fails in another way than by a planned crash.
pub async fn rehearse(
    entries: &[ScheduleRow],
    todos: &[TodoRow],
    config: &AgendaConfig,
    rehearsal: &Rehearsal,
) -> Result<RehearsalResult, StoreError> {
    rehearse_until(entries, todos, config, rehearsal, &AtomicBool::new(false)).await
}

/// The same, until somebody sets `stopped`. It never waits for anything, so it is nothing for a
/// thread that has other things to do.
///
/// # Errors
/// As [`rehearse`].
pub async fn rehearse_until(
    entries: &[ScheduleRow],
    todos: &[TodoRow],
    config: &AgendaConfig,
    rehearsal: &Rehearsal,
    stopped: &AtomicBool,
) -> Result<RehearsalResult, StoreError> {
    let db = Arc::new(CrashingDb { db: MemoryDb::new(), fuse: AtomicU64::new(0) });
    let store = Store::with_db(db.clone());
    copy(&store, entries, todos, rehearsal.from).await?;
    let mut rehearsed = RehearsalResult::default();
    let mut step = 0;
    while let Some(due) = next_due(&store).await? {
        let now = rehearsal.awake_at(due.max(rehearsal.from));
        if now >= rehearsal.to {
            break;
        }
        if step == rehearsal.steps_max || stopped.load(Ordering::Relaxed) {
            rehearsed.cut_at = Some(now);
            break;
        }
        step += 1;
        for death in [CommitCrash::Before, CommitCrash::After] {
            if rehearsal.crashes.is_at(step) {
                db.fuse.store(death as u64, Ordering::Relaxed);
                // The process crashes and loses its state, and another one starts.
                match fire_all(&store, config, now).await {
                    Ok(fired) => rehearsed.told.extend(fired),
                    Err(_) => rehearsed.crashes += 1,
                }
            }
        }
        db.fuse.store(0, Ordering::Relaxed);
        rehearsed.told.extend(fire_all(&store, config, now).await?);
        store.db().commit(vec![close_all()], Urgency::Critical).await.map_err(StoreError::from)?;
    }
    rehearsed.firings = store.agenda().unread_firings(usize::MAX).await?;
    rehearsed.take_runs(&store, entries).await?;
    rehearsed.rename(entries, todos);
    rehearsed.judge(entries, todos, rehearsal);
    Ok(rehearsed)
}

/// Nothing drives the runs of a rehearsal. If they stayed open, each step would look through all
/// that came before it.
fn close_all() -> Write {
    let statement = Statement::screened(
        "UPDATE schedule_runs SET ended = 'succeeded' WHERE ended IS NULL AND run_id IS NOT NULL",
    );
    Write { statement, params: Vec::new(), expect: Rows::Any }
}

/// When the next reminder or run is due.
async fn next_due(store: &Store) -> Result<Option<UtcMs>, StoreError> {
    let reminder = store.agenda().next_reminder().await?;
    let run = store.run_schedules().next_scheduled_run().await?;
    Ok(reminder.into_iter().chain(run).min())
}

/// Fires reminders and runs, as every process does.
async fn fire_all(
    store: &Store,
    config: &AgendaConfig,
    now: UtcMs,
) -> Result<Vec<DueReminder>, StoreError> {
    let reminders = reminders::fire_due(store, config, now).await?;
    let runs = run_firing::fire_runs(store, config, &RehearsedRuns, now).await?;
    let due = runs.iter().map(|firing| DueReminder {
        kind: FiringKind::Schedule,
        subject: firing.schedule,
        due_at: firing.due_at,
    });
    Ok(reminders.iter().map(|firing| firing.due).chain(due).collect())
}

/// Makes runs that nobody drives.
#[derive(Debug)]
struct RehearsedRuns;

impl StartRuns for RehearsedRuns {
    fn lang(&self) -> Lang {
        Lang::En
    }

    fn complete(&self, _: &mut ScheduledRun) -> Result<(), String> {
        Ok(())
    }

    fn preflight(&self, _: &ScheduledRun) -> Vec<String> {
        Vec::new()
    }

    fn prepare<'a>(
        &'a self,
        entry: &'a ScheduleRow,
        plan: &'a ScheduledRun,
        due_at: UtcMs,
        now: UtcMs,
    ) -> BoxFuture<'a, Result<ScheduledStart, String>> {
        Box::pin(ready(self.made(entry, plan, due_at, now)))
    }
}

impl RehearsedRuns {
    fn made(
        &self,
        entry: &ScheduleRow,
        plan: &ScheduledRun,
        due_at: UtcMs,
        now: UtcMs,
    ) -> Result<ScheduledStart, String> {
        let key = firing_key(entry, due_at);
        let name = digest_bytes(key.as_bytes());
        let frame = Frame::default();
        let id = ConversationId::new(format!("conv_{name}"));
        let created = RunCreated {
            goal: Goal { text: plan.goal.clone(), ..Goal::default() },
            loop_name: String::new(),
            loop_ver: 0,
            frame: digest_json(&frame),
            build: String::new(),
            policy_hash: String::new(),
            turn: None,
        };
        let run = NewRun {
            run: RunId::new(format!("run_{name}")),
            conversation: id.clone(),
            created,
            frame,
            idem_key: Some(key),
            profile: everloop_types::RunProfile::default(),
            opens: None,
            link: Default::default(),
            now,
        };
        let (channel, thread) = ("schedule".to_owned(), Some(entry.id.to_string()));
        let conversation = NewConversation { id, channel, thread, workspace: None, now };
        Ok(ScheduledStart { run, conversation })
    }
}

impl Rehearsal {
    /// The first moment from `at` on with a running process.
    fn awake_at(&self, at: UtcMs) -> UtcMs {
        let mut at = at;
        for &(from, to) in &self.down {
            if (from..to).contains(&at) {
                at = to;
            }
        }
        at
    }
}

impl Crashes {
    fn is_at(&self, firing: u64) -> bool {
        match self {
            Self::None => false,
            Self::At(firings) => firings.contains(&firing),
            Self::Everywhere => true,
        }
    }
}

/// The rows, with reminders as if they had just been set.
async fn copy(
    store: &Store,
    entries: &[ScheduleRow],
    todos: &[TodoRow],
    from: UtcMs,
) -> Result<(), StoreError> {
    let write = WriteKey { key: None, now: from };
    for entry in entries {
        let remind_next = reminders::first_reminder(entry, from).filter(|due| *due >= from);
        let mut entry = ScheduleRow { remind_next, ..entry.clone() };
        if let Some(plan) = &mut entry.said.run {
            entry.remind_next = remind_next.filter(|_| plan.paused.is_none());
            // Nothing drives the runs of a rehearsal, so none ends before the next.
            plan.overlap = OverlapPolicy::Allow;
        }
        store.agenda().add_schedule(&entry, ScheduleGuard::None, write).await?;
    }
    for todo in todos {
        let remind_next = todo.said.remind_at.filter(|due| todo.done_at.is_none() && *due >= from);
        store.agenda().add_todo(&TodoRow { remind_next, ..todo.clone() }, write).await?;
    }
    Ok(())
}

impl RehearsalResult {
    /// Adds the firings of entries that start runs. Each that started something must have exactly
    /// one run, and there must be no other.
    async fn take_runs(
        &mut self,
        store: &Store,
        entries: &[ScheduleRow],
    ) -> Result<(), StoreError> {
        let filter = RunFilter { statuses: Vec::new(), before: None, most: usize::MAX };
        let runs = store.runs().list(&filter).await?;
        let mut runs: BTreeSet<RunId> = runs.into_iter().map(|row| row.run).collect();
        for (id, entry) in (1..).zip(entries).filter(|(_, entry)| entry.said.run.is_some()) {
            for fired in store.run_schedules().scheduled_firings(id, usize::MAX).await? {
                let (kind, due_at) = (FiringKind::Schedule, fired.due_at);
                let due = DueReminder { kind, subject: id, due_at };
                let state = match fired.state {
                    ScheduledState::Started => FiringOutcome::Fired,
                    ScheduledState::Late => FiringOutcome::Late,
                    _ => FiringOutcome::Missed,
                };
                let has_run = fired.run.as_ref().is_some_and(|run| runs.remove(run));
                if has_run != (state != FiringOutcome::Missed) {
                    self.wrong.push(DueReminder { subject: entry.id, ..due });
                }
                let title = entry.said.title.clone();
                let (occurs_at, fired_at) = (due_at, fired.fired_at);
                self.firings.push(Firing { due, occurs_at, fired_at, state, title });
            }
        }
        self.firings.sort_by_key(|firing| (firing.due.due_at, firing.due.kind, firing.due.subject));
        self.runs_without_firing = runs.len();
        Ok(())
    }

    /// Replaces the ids of the copy by the original ones.
    fn rename(&mut self, entries: &[ScheduleRow], todos: &[TodoRow]) {
        let firings = self.firings.iter_mut().map(|firing| &mut firing.due);
        for due in firings.chain(&mut self.told) {
            let place = usize::try_from(due.subject - 1).unwrap_or(usize::MAX);
            let real = match due.kind {
                FiringKind::Schedule => entries.get(place).map(|entry| entry.id),
                FiringKind::Todo => todos.get(place).map(|todo| todo.id),
            };
            due.subject = real.unwrap_or(due.subject);
        }
    }

    /// Compares the firings with the calendar.
    pub fn judge(&mut self, entries: &[ScheduleRow], todos: &[TodoRow], rehearsal: &Rehearsal) {
        let mut seen: BTreeMap<FiringId, u32> = BTreeMap::new();
        let mut told = BTreeSet::new();
        for firing in &self.firings {
            *seen.entry(key(firing.due)).or_default() += 1;
        }
        let twice = self.told.iter().filter(|due| !told.insert(key(**due)));
        self.wrong.extend(twice.copied());
        let to = self.cut_at.unwrap_or(rehearsal.to);
        let expected = expected(entries, todos, rehearsal).into_iter();
        let expected = expected.filter(|due| rehearsal.awake_at(due.due_at) < to).collect();
        for due in self.without_the_oldest(expected, rehearsal) {
            match seen.remove(&key(due)) {
                Some(1) => {}
                Some(_) => self.wrong.push(due),
                None => self.lost.push(due),
            }
        }
        let rest =
            seen.into_keys().map(|(kind, subject, due_at)| DueReminder { kind, subject, due_at });
        self.wrong.extend(rest);
        let present = |firing: &&Firing| rehearsal.awake_at(firing.due.due_at) == firing.due.due_at;
        let in_time = self.firings.iter().filter(present);
        let late = in_time.filter(|firing| firing.state != FiringOutcome::Fired).map(|f| f.due);
        self.wrong.extend(late);
    }

    /// Only a limited number of the moments of one downtime and subject is kept.
    fn without_the_oldest(
        &mut self,
        expected: Vec<DueReminder>,
        rehearsal: &Rehearsal,
    ) -> Vec<DueReminder> {
        let mut batches: BTreeMap<FiringId, Vec<DueReminder>> = BTreeMap::new();
        for due in expected {
            let dealt_with = DueReminder { due_at: rehearsal.awake_at(due.due_at), ..due };
            batches.entry(key(dealt_with)).or_default().push(due);
        }
        let mut kept = Vec::new();
        for mut batch in batches.into_values() {
            batch.sort_by_key(|due| due.due_at);
            let oldest = batch.len().saturating_sub(reminders::BATCH_MAX);
            self.left_out += oldest;
            kept.extend(batch.drain(oldest..));
        }
        kept
    }
}

type FiringId = (FiringKind, i64, UtcMs);

fn key(due: DueReminder) -> FiringId {
    (due.kind, due.subject, due.due_at)
}

/// Every moment that the calendar has.
fn expected(entries: &[ScheduleRow], todos: &[TodoRow], rehearsal: &Rehearsal) -> Vec<DueReminder> {
    let within = |due: &DueReminder| (rehearsal.from..rehearsal.to).contains(&due.due_at);
    let is_paused =
        |entry: &&ScheduleRow| entry.said.run.as_ref().is_some_and(|plan| plan.paused.is_some());
    let schedule = entries.iter().filter(|entry| !is_paused(entry)).flat_map(|entry| {
        let (remind, subject) = (entry.said.remind.clone(), entry.id);
        let all = series(entry).from(jiff::Timestamp::UNIX_EPOCH);
        let (to, lead) = (rehearsal.to, remind.as_ref().map_or(0, |remind| remind.lead_ms));
        let moments = all.map(move |found| found.at.as_millisecond() - lead);
        let from = remind.as_ref().and_then(|remind| remind.from).unwrap_or(UtcMs::MIN);
        let wanted = moments.take_while(move |due| *due < to).filter(move |due| *due >= from);
        let wanted = wanted.filter(move |_| remind.is_some());
        wanted.map(move |due_at| DueReminder { kind: FiringKind::Schedule, subject, due_at })
    });
    let todos = todos.iter().filter(|todo| todo.done_at.is_none());
    let todos = todos.filter_map(|todo| {
        let due_at = todo.said.remind_at?;
        Some(DueReminder { kind: FiringKind::Todo, subject: todo.id, due_at })
    });
    schedule.chain(todos).filter(within).collect()
}

/// How the process crashes at its next commit.
#[derive(Clone, Copy)]
enum CommitCrash {
    Before = 1,
    After = 2,
}

/// A database whose process crashes before or after a commit.
struct CrashingDb {
    db: MemoryDb,
    fuse: AtomicU64,
}

impl Db for CrashingDb {
    fn commit(&self, writes: Vec<Write>, urgency: Urgency) -> DbFuture<'_, Vec<WriteResult>> {
        Box::pin(async move {
            let death = || Arc::new(std::io::Error::from(std::io::ErrorKind::Interrupted));
            let fuse = self.fuse.swap(0, Ordering::Relaxed);
            if fuse == CommitCrash::Before as u64 {
                return Err(DbError::Unreachable { source: death() });
            }
            let done = self.db.commit(writes, urgency).await?;
            if fuse == CommitCrash::After as u64 {
                return Err(DbError::CommitUnknown { source: death() });
            }
            Ok(done)
        })
    }

    fn query(&self, sql: &'static str, params: Vec<SqlValue>) -> DbFuture<'_, Vec<SqlRow>> {
        self.db.query(sql, params)
    }
}
