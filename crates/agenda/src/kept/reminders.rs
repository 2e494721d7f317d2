//! Reminders: which are due, how each fires, when the next is due.
//!
//! ```text
//!   due? ──► batch (fired, late, missed; next) ──► one transaction ──► a user interface shows it
//! ```
//!
//! A batch is computed from rows and the current time, so every process can make it, and the first
//! commit fires. Deliberately absent: how the user is notified.

use super::{AgendaConfig, CatchUp, moment, series};
use everloop_engine::Clock;
use everloop_store::{
    DueReminder, Firing, FiringBatch, FiringKind, FiringOutcome, ScheduleRow, Store, StoreError,
};
use everloop_types::UtcMs;
use std::collections::VecDeque;
use std::sync::Arc;

/// A reminder that is delayed by more than this is late.
pub const IN_TIME_MS: i64 = 60_000;

/// Whether a reminder for `due` is late at `now`.
#[must_use]
pub fn is_late(due: UtcMs, now: UtcMs) -> bool {
    now.saturating_sub(due) > IN_TIME_MS
}

/// The firing as shown for the first time at `now`: one that fired in time and was not shown yet
/// may be late by then.
#[must_use]
pub fn announced(mut firing: Firing, now: UtcMs) -> Firing {
    if firing.state == FiringOutcome::Fired && is_late(firing.due.due_at, now) {
        firing.state = FiringOutcome::Late;
    }
    firing
}

/// Moments of one batch that are stored as rows; older ones are dropped.
pub const BATCH_MAX: usize = 1_000;

/// Reminders that are processed at once.
const DUE_MAX: usize = 100;

/// The interval for checking due reminders: other processes may have added some, and the clock may
/// have been set.
const LOOK_MS: u64 = 1_000;

/// When a new entry reminds first. One that does not repeat reminds even if the moment
/// has passed; of a repetition only future moments count.
#[must_use]
pub fn first_reminder(entry: &ScheduleRow, now: UtcMs) -> Option<UtcMs> {
    let repeats = entry.said.repeat.as_ref().is_some_and(|rule| rule.on != 0);
    next_reminder(entry, if repeats { now } else { UtcMs::MIN / 2 }).map(|(due, _)| due)
}

/// The first reminder after `now`. Earlier ones have fired or were never set.
#[must_use]
pub fn coming_reminder(entry: &ScheduleRow, now: UtcMs) -> Option<UtcMs> {
    next_reminder(entry, now.saturating_add(1)).map(|(due, _)| due)
}

/// The next reminder of a changed entry: a future one, or at once if the change moved it into the
/// past while the event is still in the future.
#[must_use]
pub fn changed_reminder(before: &ScheduleRow, entry: &ScheduleRow, now: UtcMs) -> Option<UtcMs> {
    let repeats = entry.said.repeat.as_ref().is_some_and(|rule| rule.on != 0);
    let overdue = || {
        let (due, at) = next_reminder(entry, UtcMs::MIN / 2)?;
        let was = next_reminder(before, UtcMs::MIN / 2).map(|(due, _)| due);
        (!repeats && at > now && was != Some(due)).then_some(due)
    };
    coming_reminder(entry, now).or_else(overdue)
}

/// The first reminder at or after `from`, and its event.
fn next_reminder(entry: &ScheduleRow, from: UtcMs) -> Option<(UtcMs, UtcMs)> {
    let remind = entry.said.remind.as_ref()?;
    let from = from.max(remind.from.unwrap_or(UtcMs::MIN / 2));
    let earliest = moment_or_first(from.saturating_add(remind.lead_ms));
    let found = series(entry).from(earliest).next()?;
    let at = found.at.as_millisecond();
    Some((at.saturating_sub(remind.lead_ms), at))
}

fn moment_or_first(at: UtcMs) -> jiff::Timestamp {
    if at < 0 { jiff::Timestamp::UNIX_EPOCH } else { moment(at) }
}

/// Fires everything that is due now. A reminder that another process fires is not fired again.
///
/// # Errors
/// If the store fails; earlier firings stay, and the rest is still due.
pub async fn fire_due(
    store: &Store,
    config: &AgendaConfig,
    now: UtcMs,
) -> Result<Vec<Firing>, StoreError> {
    let mut fired = Vec::new();
    loop {
        let due = store.agenda().due_reminders(now, DUE_MAX).await?;
        if due.is_empty() {
            return Ok(fired);
        }
        for due in due {
            let Some(batch) = batch(store, config, due, now).await? else { continue };
            if store.agenda().fire(&batch).await? {
                fired.extend(batch.firings);
            }
        }
    }
}

/// Everything that this step of a reminder does; `None` if it no longer exists.
async fn batch(
    store: &Store,
    config: &AgendaConfig,
    due: DueReminder,
    now: UtcMs,
) -> Result<Option<FiringBatch>, StoreError> {
    Ok(match due.kind {
        FiringKind::Todo => store.agenda().todo(due.subject).await?.map(|todo| {
            let occurs_at = todo.said.due_at.unwrap_or(due.due_at);
            let moments = VecDeque::from([(due.due_at, occurs_at)]);
            let firings = fire(due, moments, config.catch_up, config, now, &todo.said.text);
            FiringBatch { due, firings, next: None }
        }),
        FiringKind::Schedule => store.agenda().schedule(due.subject).await?.map(|entry| {
            let named = entry.said.catch_up.as_deref().and_then(CatchUp::parse);
            let rule = named.unwrap_or(config.catch_up);
            let (mut due_moments, next) = moments(&entry, due.due_at, now);
            // A reminder that was put off comes at a moment of its own.
            let is_planned = moments(&entry, due.due_at, due.due_at).0.front().copied();
            if is_planned.is_none_or(|(first, _)| first != due.due_at) {
                due_moments.push_front((due.due_at, due.due_at));
            }
            let firings = fire(due, due_moments, rule, config, now, &entry.said.title);
            FiringBatch { due, firings, next }
        }),
    })
}

pub(super) type Moments = VecDeque<(UtcMs, UtcMs)>;

/// The moments from `from` to `now`, the last ones of them, and the first one after.
pub(super) fn moments(entry: &ScheduleRow, from: UtcMs, now: UtcMs) -> (Moments, Option<UtcMs>) {
    let mut moments = VecDeque::new();
    let Some(remind) = entry.said.remind.as_ref() else { return (moments, None) };
    let earliest = moment_or_first(from.saturating_add(remind.lead_ms));
    for found in series(entry).from(earliest) {
        let at = found.at.as_millisecond();
        let due = at.saturating_sub(remind.lead_ms);
        if due > now {
            return (moments, Some(due));
        }
        moments.push_back((due, at));
        if moments.len() > BATCH_MAX {
            moments.pop_front();
        }
    }
    (moments, None)
}

pub(super) fn fire(
    due: DueReminder,
    moments: Moments,
    rule: CatchUp,
    config: &AgendaConfig,
    now: UtcMs,
    title: &str,
) -> Vec<Firing> {
    let count = moments.len();
    let fire = |(at, (due_at, occurs_at)): (usize, (UtcMs, UtcMs))| {
        let from_end = count - at;
        let in_time = !is_late(due_at, now);
        let state = match rule {
            CatchUp::Skip | CatchUp::Once if in_time && from_end == 1 => FiringOutcome::Fired,
            CatchUp::All if in_time => FiringOutcome::Fired,
            CatchUp::Once if from_end == 1 => FiringOutcome::Late,
            CatchUp::All if from_end <= config.catch_up_max => FiringOutcome::Late,
            CatchUp::Once | CatchUp::Skip | CatchUp::All => FiringOutcome::Missed,
        };
        let due = DueReminder { due_at, ..due };
        Firing { due, occurs_at, fired_at: now, state, title: title.to_owned() }
    };
    moments.into_iter().enumerate().map(fire).collect()
}

/// Resets repeating entries that a wrong clock advanced too far. Firings that were shown are not
/// shown again; those that were only recorded as missed fire at their time.
///
/// # Errors
/// If the store fails; it can be retried.
pub async fn reset_advanced(store: &Store, now: UtcMs) -> Result<(), StoreError> {
    for id in store.agenda().fired_ahead(now.saturating_add(IN_TIME_MS)).await? {
        let Some(entry) = store.agenda().schedule(id).await? else { continue };
        if entry.said.run.is_some() {
            continue;
        }
        let done = store.agenda().done_ahead(id, now).await?;
        let mut next = coming_reminder(&entry, now);
        while let Some(due) = next.filter(|due| done.contains(due)) {
            next = coming_reminder(&entry, due);
        }
        if let (Some(due_at), Some(earlier)) = (entry.remind_next, next)
            && earlier < due_at
        {
            let due = DueReminder { kind: FiringKind::Schedule, subject: id, due_at };
            store.agenda().fire(&FiringBatch { due, firings: Vec::new(), next }).await?;
        }
    }
    Ok(())
}

/// Fires due reminders for as long as the process lives.
pub async fn keep_reminding(store: Store, config: AgendaConfig, clock: Arc<dyn Clock>) {
    let mut last = UtcMs::MAX;
    loop {
        let now = clock.now();
        // The failed store is tried again in a second; due reminders are not lost.
        let went_back = now < last.saturating_sub(IN_TIME_MS);
        let in_order = !went_back || reset_advanced(&store, now).await.is_ok();
        let _ = fire_due(&store, &config, now).await;
        if in_order {
            last = now;
        }
        clock.pause(LOOK_MS).await;
    }
}
