//! Keeping the data small while others work: old journals are shortened, records of commands that
//! are not needed any more are removed, free space goes back to the disk, and messages of earlier
//! programs get into the index.

use crate::app::App;
use everloop_agenda::tools::forget_old_keys;
use everloop_engine::{Clock, Engine};
use everloop_store::{RunRow, StoreError, TrimCounts};
use everloop_tools::{forget_records, recorded_runs};
use everloop_types::{RunId, Status, UtcMs};
use std::sync::Arc;
use std::time::Duration;

/// How often it is looked, at most and at least.
const EVERY_MS: (u64, u64) = (10_000, 3_600_000);

/// Messages that are added to the index in one commit: other writes wait only briefly.
const INDEX_BATCH: usize = 100;

/// A wall clock that went ahead of the machine's own time by this much was set: what seems old may
/// not be.
const AHEAD_MS_MAX: u64 = 3_600_000;

/// How long whole journals are kept.
pub(crate) fn keep_ms(app: &App) -> i64 {
    i64::try_from(app.settings.store.keep.ms()).unwrap_or(i64::MAX)
}

/// Looks after the data for as long as the process lives. What fails is tried again the next time.
pub(crate) async fn keep_tidy(app: App, engine: Arc<Engine>) {
    let clock = engine.shared_clock();
    let every_ms = (keep_ms(&app).unsigned_abs() / 2).clamp(EVERY_MS.0, EVERY_MS.1);
    let begun = (clock.now(), clock.since_boot_ms());
    loop {
        if !was_set_ahead(begun, clock.as_ref()) {
            let _ = tidy(&app, &engine).await;
        }
        clock.pause(every_ms).await;
    }
}

fn was_set_ahead(begun: (UtcMs, u64), clock: &dyn Clock) -> bool {
    let shown = u64::try_from(clock.now().saturating_sub(begun.0)).unwrap_or(0);
    let passed = clock.since_boot_ms().saturating_sub(begun.1);
    shown > passed.saturating_add(AHEAD_MS_MAX)
}

/// Once: shortens what is old, and removes what nobody needs.
pub(crate) async fn tidy(app: &App, engine: &Engine) -> Result<TrimCounts, StoreError> {
    let (store, now) = (engine.store(), engine.clock().now());
    let trimmed = store.maintenance().trim(now, keep_ms(app)).await?;
    forget_old_keys(store, now, keep_ms(app)).await?;
    // Messages of earlier programs. Each commit is done for good, so a stop loses nothing.
    while store.maintenance().index_messages(INDEX_BATCH).await? > 0 {}
    store.run_schedules().forget_scheduled(now.saturating_sub(keep_ms(app))).await?;
    let folder = app.home.data().join("effects");
    for run in recorded_runs(&folder).unwrap_or_default() {
        if needs_no_records(engine, &run).await? {
            // A folder that cannot be removed is found again the next time.
            let _ = forget_records(&folder, &run);
        }
    }
    let kept = Duration::from_millis(u64::try_from(keep_ms(app)).unwrap_or(u64::MAX));
    crate::analysis::sweep(&crate::analysis::folder(app), kept);
    let checkpoints = app.checkpoints();
    for run in recorded_runs(checkpoints.folder()).unwrap_or_default() {
        // Without the journal that says what they are, copies of files help nobody.
        let row = store.runs().get(&run).await?;
        if row.is_some_and(|row| row.times.trimmed_at.is_some()) {
            let _ = forget_records(checkpoints.folder(), &run);
        }
    }
    Ok(trimmed)
}

/// Whether a run is over and every outcome is known. Of a run that is not in this database nothing
/// is known: it may be in another one that shares the folder.
async fn needs_no_records(engine: &Engine, run: &RunId) -> Result<bool, StoreError> {
    let over = |row: &RunRow| row.status.is_final() && row.status != Status::Quarantined;
    match engine.store().runs().get(run).await?.filter(over) {
        None => Ok(false),
        Some(row) if row.times.trimmed_at.is_some() => Ok(true),
        Some(_) => Ok(engine.open_unknowns(run).await?.iter().all(|open| open.settled.is_some())),
    }
}
