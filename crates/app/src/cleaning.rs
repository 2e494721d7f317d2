//! Less data, by a person's own wish.

use crate::app::App;
use crate::error::{AppError, chain};
use crate::upkeep;
use everloop_engine::{Clock, Engine, SystemClock};
use everloop_store::{Deleter, Removal, Store, copies};
use everloop_tools::forget_records;
use everloop_types::RunId;
use serde::Serialize;
use std::sync::Arc;

/// A cleaning that was thought through and not done yet.
pub struct Cleaning {
    /// The runs that are old enough to go.
    pub old: Vec<RunId>,
    store: Store,
    engine: Arc<Engine>,
    bytes: u64,
}

/// What a cleaning did, or would do.
#[derive(Debug, Clone, Default, Serialize)]
pub struct CleaningReport {
    /// Whether nothing was done yet.
    pub dry_run: bool,
    /// Runs whose journal was shortened.
    pub trimmed: u64,
    /// Runs that are gone.
    pub deleted: Vec<RunId>,
    /// The size of the database before.
    pub bytes_before: u64,
    /// The size of the database after.
    pub bytes_after: u64,
    /// Why the file could not be made smaller.
    #[serde(skip)]
    pub busy: Option<String>,
}

impl Cleaning {
    /// Looks for runs that ended so long ago.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn plan(app: &App, older_than_ms: Option<u64>) -> Result<Self, AppError> {
        let store = app.open_store().await?;
        let engine = app.engine(store.clone()).await?;
        let old = match older_than_ms {
            Some(ms) => {
                let before = engine.clock().now().saturating_sub_unsigned(ms);
                store.maintenance().ended_before(before).await?
            }
            None => Vec::new(),
        };
        let bytes = store.maintenance().bytes_on_disk().await?;
        Ok(Self { old, store, engine, bytes })
    }

    /// What it would do.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn foresee(self, app: &App) -> Result<CleaningReport, AppError> {
        let now = self.engine.clock().now();
        let trimmed = self.store.maintenance().count_to_trim(now, upkeep::keep_ms(app)).await?;
        let (deleted, bytes) = (self.old, self.bytes);
        let sizes =
            CleaningReport { bytes_before: bytes, bytes_after: bytes, ..Default::default() };
        Ok(CleaningReport { dry_run: true, trimmed, deleted, ..sizes })
    }

    /// Does it.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn clean(self, app: &App) -> Result<CleaningReport, AppError> {
        let Self { old, store, engine, bytes } = self;
        let mut report = CleaningReport { bytes_before: bytes, ..CleaningReport::default() };
        for run in &old {
            // One that cannot go stays, and so do its children.
            if let Removal::Gone(gone) = delete_run(app, &store, run, "user").await? {
                report.deleted.extend(gone);
            }
        }
        report.trimmed = upkeep::tidy(app, &engine).await?.runs;
        report.bytes_after = store.maintenance().bytes_on_disk().await?;
        drop((engine, store));
        if let Some(file) = app.database.file() {
            match copies::compact(file) {
                Ok(()) => {
                    report.bytes_after = std::fs::metadata(file).map_or(0, |file| file.len());
                }
                Err(error) => report.busy = Some(chain(&error)),
            }
        }
        Ok(report)
    }
}

/// Deletes a run with those below it, and the records of their commands. The audit says who did.
///
/// # Errors
/// If the store fails.
pub async fn delete_run(
    app: &App,
    store: &Store,
    run: &RunId,
    by: &str,
) -> Result<Removal, AppError> {
    let deleter = Deleter { by, now: SystemClock.now() };
    let removal = store.maintenance().delete_run(run, deleter).await?;
    if let Removal::Gone(gone) = &removal {
        forget_records_of(app, gone);
    }
    Ok(removal)
}

/// Deletes what is kept beside the database of runs that are gone.
pub(crate) fn forget_records_of(app: &App, gone: &[RunId]) {
    let folder = app.home.data().join("effects");
    for run in gone {
        // What is left is a folder that no run refers to.
        let _ = forget_records(&folder, run);
        let _ = forget_records(app.checkpoints().folder(), run);
    }
}

/// What became of a run that was to be deleted, for programs.
#[derive(Debug, Clone, Serialize)]
pub struct RunDeletion {
    /// The run.
    pub run_id: RunId,
    /// `deleted`, `not_over`, `unsent` or `not_found`.
    pub result: &'static str,
    /// Whether nothing was done yet.
    pub dry_run: bool,
}

impl RunDeletion {
    /// What became of a run.
    #[must_use]
    pub fn of(run: &RunId, removal: &Removal, dry_run: bool) -> Self {
        let result = match removal {
            Removal::Gone(_) => "deleted",
            Removal::NotOver(_) => "not_over",
            Removal::Unsent(_) => "unsent",
            Removal::NoSuchRun => "not_found",
        };
        Self { run_id: run.clone(), result, dry_run }
    }
}

/// Gives back the space of runs that were deleted.
///
/// # Errors
/// If the store fails.
pub async fn give_space_back(store: &Store) -> Result<(), AppError> {
    store.maintenance().sweep_blobs().await?;
    store.maintenance().give_space_back().await?;
    Ok(())
}
