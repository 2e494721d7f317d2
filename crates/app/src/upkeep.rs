//! Keeping the data small while others work: old journals are shortened, records of commands and
//! pictures that are not needed any more are removed, free space goes back to the disk, and
//! messages of earlier programs get into the index.

use crate::app::App;
use everloop_agenda::tools::forget_old_keys;
use everloop_engine::{Clock, Engine};
use everloop_store::{RunRow, StoreError, TrimCounts};
use everloop_tools::{forget_records, recorded_runs};
use everloop_types::{RunId, Status, UtcMs};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// How often it is looked, at most and at least.
const EVERY_MS: (u64, u64) = (10_000, 3_600_000);

/// Messages that are added to the index in one commit: other writes wait only briefly.
const INDEX_BATCH: usize = 100;

/// How old a picture is before it is removed. A form takes much less to be sent.
const UPLOAD_AGE_MIN: Duration = Duration::from_hours(24);

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
    store.conversations().forget_turns(now.saturating_sub(keep_ms(app))).await?;
    sweep_uploads(app.home.data(), SystemTime::now());
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

/// Removes pictures that came with a message of a page which was never sent: the process died, or
/// the message was lost. The goal of a run holds its pictures itself.
fn sweep_uploads(data: &Path, now: SystemTime) {
    let old = |path: &Path| {
        let written = std::fs::metadata(path).and_then(|facts| facts.modified());
        written.is_ok_and(|at| now.duration_since(at).is_ok_and(|age| age > UPLOAD_AGE_MIN))
    };
    let old: Vec<PathBuf> = files_in(&data.join("uploads")).filter(|path| old(path)).collect();
    if old.is_empty() {
        return;
    }
    // A message that waits in a file goes with its pictures, however old they are.
    let waiting = files_in(&data.join("queued")).map(std::fs::read_to_string);
    let Ok(waiting) = waiting.collect::<Result<Vec<String>, _>>() else { return };
    for path in old {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let is_named = |name: &String| waiting.iter().any(|lines| lines.contains(name.as_str()));
        if !name.as_ref().is_some_and(is_named) {
            // A picture that cannot be removed is found again the next time.
            let _ = std::fs::remove_file(path);
        }
    }
}

fn files_in(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_that_nobody_sent_are_removed_and_those_of_messages_that_wait_stay() {
        let data = tempfile::tempdir().unwrap();
        for folder in ["uploads", "queued"] {
            std::fs::create_dir(data.path().join(folder)).unwrap();
        }
        let uploads = data.path().join("uploads");
        for name in ["upload_left.png", "upload_waits.png"] {
            std::fs::write(uploads.join(name), "png").unwrap();
        }
        let line =
            "{\"last\":{\"id\":\"1\",\"line\":\"x\",\"attachments\":[\"/d/upload_waits.png\"]}}\n";
        std::fs::write(data.path().join("queued/chat_1.conv_a.jsonl"), line).unwrap();
        let left = || files_in(&uploads).count();
        sweep_uploads(data.path(), SystemTime::now());
        assert_eq!(left(), 2, "they are new");
        sweep_uploads(data.path(), SystemTime::now() + 2 * UPLOAD_AGE_MIN);
        assert_eq!(left(), 1);
        assert!(uploads.join("upload_waits.png").exists());
    }
}
