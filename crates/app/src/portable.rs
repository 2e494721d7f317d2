//! Whole runs from one data folder to another, in a file.

use crate::app::App;
use crate::error::AppError;
use crate::secrets;
use everloop_engine::{
    Clock, ExportError, ExportedRun, ImportError, SystemClock, export_footer, export_header,
    export_lines, read_export,
};
use everloop_store::portable::RunImport;
use everloop_store::{RunFilter, Store, StoreError};
use everloop_types::{RunId, Status};
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Why runs were not exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportProblem {
    /// A run cannot be exported.
    #[error(transparent)]
    Run(#[from] ExportError),
    /// The journal of this run holds a secret.
    #[error("{0} holds a secret")]
    HoldsSecret(RunId),
    /// The export could not be written.
    #[error(transparent)]
    NotWritten(io::Error),
}

/// Why the runs of a file were not imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportProblem {
    /// The file holds a secret.
    #[error("it holds a secret")]
    HoldsSecret,
    /// The file is not a whole export of this release.
    #[error(transparent)]
    Unreadable(#[from] ImportError),
}

/// Where an export goes.
pub trait ExportOutput {
    /// Writes one line.
    ///
    /// # Errors
    /// If it cannot be written.
    fn line(&mut self, line: &str) -> io::Result<()>;

    /// Makes sure that all of it is written.
    ///
    /// # Errors
    /// If it is not.
    fn close(&mut self) -> io::Result<()>;
}

/// A new file that only its owner can read.
pub struct ExportFile(BufWriter<File>);

impl ExportFile {
    /// A file that is there is never written over.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        Ok(Self(BufWriter::new(file)))
    }
}

impl ExportOutput for ExportFile {
    fn line(&mut self, line: &str) -> io::Result<()> {
        writeln!(self.0, "{line}")
    }

    fn close(&mut self) -> io::Result<()> {
        self.0.flush().and_then(|()| self.0.get_ref().sync_all())
    }
}

/// Is told of a run that is damaged and left out of an export.
pub type OnDamagedRun<'a> = &'a dyn Fn(&RunId, &StoreError);

/// Writes runs one after the other, so that only one at a time is held in memory. Tells how many
/// were written. With `on_damaged`, a run that is damaged keeps none of the others back.
///
/// # Errors
/// [`ExportProblem`].
pub async fn export(
    store: &Store,
    runs: &[RunId],
    build: &str,
    out: &mut dyn ExportOutput,
    on_damaged: Option<OnDamagedRun<'_>>,
) -> Result<usize, ExportProblem> {
    let mut begun = Some(export_header(build, SystemClock.now()));
    let mut written = 0;
    for run in runs {
        let lines = match (export_lines(store, run).await, on_damaged) {
            (Err(ExportError::Store(error @ StoreError::Damaged { .. })), Some(tell)) => {
                tell(run, &error);
                continue;
            }
            (lines, _) => lines?,
        };
        written += 1;
        if lines.iter().any(|line| secrets::redactor().finds(line)) {
            return Err(ExportProblem::HoldsSecret(run.clone()));
        }
        for line in begun.take().into_iter().chain(lines) {
            out.line(&line).map_err(ExportProblem::NotWritten)?;
        }
    }
    for line in begun.into_iter().chain([export_footer(written)]) {
        out.line(&line).map_err(ExportProblem::NotWritten)?;
    }
    out.close().map_err(ExportProblem::NotWritten)?;
    Ok(written)
}

/// The runs that these ids, or the ends of them, mean; each once.
///
/// # Errors
/// If one of them is unknown.
pub async fn find_runs(app: &App, store: &Store, ids: &[String]) -> Result<Vec<RunId>, AppError> {
    let mut runs = Vec::new();
    for id in ids {
        let run = app.find_run(store, id).await?;
        if !runs.contains(&run) {
            runs.push(run);
        }
    }
    Ok(runs)
}

/// Every run from the oldest on, and apart from them those that are under way.
///
/// # Errors
/// If the store fails.
pub async fn all_runs(store: &Store) -> Result<(Vec<RunId>, Vec<RunId>), AppError> {
    let filter = RunFilter { statuses: Vec::new(), before: None, most: usize::MAX };
    let all = store.runs().list(&filter).await?.into_iter().rev();
    let (running, resting): (Vec<_>, Vec<_>) = all.partition(|row| row.status == Status::Running);
    let ids = |rows: Vec<everloop_store::RunRow>| rows.into_iter().map(|row| row.run).collect();
    Ok((ids(resting), ids(running)))
}

/// What became of a run of an export, for programs.
#[derive(Debug, Clone, Serialize)]
pub struct RunImportReport {
    /// The run.
    pub run_id: RunId,
    /// What became of it.
    pub result: RunImportResult,
}

/// What became of a run of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunImportResult {
    /// It is here now, and was over.
    Imported,
    /// Its history is here now; it is not driven here.
    History,
    /// It was here before, the same.
    AlreadyThere,
    /// Another run of the same id is here.
    Refused,
}

/// Takes one run of an export in.
///
/// # Errors
/// If the store fails.
pub async fn import(store: &Store, parcel: &ExportedRun) -> Result<RunImportReport, AppError> {
    let result = match parcel.import(store, SystemClock.now()).await? {
        RunImport::New if parcel.is_over() => RunImportResult::Imported,
        RunImport::New => RunImportResult::History,
        RunImport::AlreadyThere => RunImportResult::AlreadyThere,
        RunImport::Differs => RunImportResult::Refused,
    };
    Ok(RunImportReport { run_id: parcel.run.clone(), result })
}

/// The runs of an export.
///
/// # Errors
/// [`ImportProblem`].
pub fn read_parcels(bytes: Vec<u8>) -> Result<Vec<ExportedRun>, ImportProblem> {
    let text = String::from_utf8(bytes).map_err(|error| {
        let whole = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        ImportError::Damaged(whole.iter().filter(|byte| **byte == b'\n').count() + 1)
    })?;
    // Its rows are checked byte by byte, so it is taken in as it is or not at all.
    if secrets::redactor().finds(&text) {
        return Err(ImportProblem::HoldsSecret);
    }
    Ok(read_export(&text)?)
}
