//! Finished reports of analyses: which there are, and one as pages show it.
//!
//! ```text
//!   an analysis ends ──► report folder, and a record in the folder of the data:
//!                        where it is, its title, the digest of each of its files
//!   list ──► records        read ──► record + folder ──► ReportModel        artifacts ──► files
//! ```
//!
//! The folder lies where people and tools write, so a file counts as the run's only while it has
//! the digest that the run wrote.

use crate::analysis;
use crate::app::App;
use crate::artifacts::{Artifact, ArtifactError, ArtifactState};
pub use everloop_analysis::status_words;
use everloop_analysis::{AnalysisError, CheckReport, ReadLimits, ReportModel, WrittenReport};
use everloop_types::{RunId, UtcMs, digest_bytes};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// Records that are looked at.
const RECORDS_MAX: usize = 2_000;

/// A file of a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportFile {
    /// Its name in the folder, such as `charts/chart1.svg`.
    pub name: String,
    /// The digest of what the run wrote.
    pub digest: String,
    /// Its size.
    pub bytes: u64,
}

/// A report that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportEntry {
    /// The run.
    pub run: RunId,
    /// The title of the report.
    pub title: String,
    /// What was asked.
    pub question: String,
    /// The folder of the report.
    pub folder: PathBuf,
    /// The workspace of the run.
    pub workspace: PathBuf,
    /// When it was written.
    pub made_at: UtcMs,
    /// How many numbers it has.
    pub numbers: usize,
    /// How many of them have a source.
    pub proven: usize,
    /// Its files.
    pub files: Vec<ReportFile>,
}

impl ReportEntry {
    /// What became of a file.
    fn state(&self, file: &ReportFile) -> ArtifactState {
        match fs::read(self.folder.join(&file.name)) {
            Ok(bytes) if digest_bytes(&bytes) == file.digest => ArtifactState::AsWritten,
            Ok(_) => ArtifactState::Changed,
            Err(_) => ArtifactState::Missing,
        }
    }

    /// The name of a file among the files that the run wrote.
    fn artifact_name(&self, file: &ReportFile) -> String {
        let inside = self.folder.strip_prefix(&self.workspace);
        let folder = inside.map(Path::to_owned).unwrap_or_else(|_| {
            self.folder.file_name().map(PathBuf::from).unwrap_or_else(|| "report".into())
        });
        folder.join(&file.name).display().to_string()
    }
}

/// A report as it is now.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedReport {
    /// What was written.
    pub entry: ReportEntry,
    /// What pages show.
    pub model: ReportModel,
    /// Whether words and manifest are those that the run wrote.
    pub state: ArtifactState,
}

/// Why a report cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The run wrote none, or somebody cleared it away.
    #[error("the run wrote no report")]
    NotFound,
    /// Its folder is gone, or cannot be understood.
    #[error(transparent)]
    Unreadable(#[from] AnalysisError),
}

/// The folder of the records, beside that of the tables of analyses.
fn records(analyses: &Path) -> PathBuf {
    analyses.with_file_name("reports")
}

fn record_of(analyses: &Path, run: &RunId) -> PathBuf {
    let name: String =
        run.to_string().chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    records(analyses).join(format!("{name}.json"))
}

/// Notes that a report was written. Noting it again replaces the note.
pub(crate) fn note(analyses: &Path, made: &ReportEntry) -> Result<(), AnalysisError> {
    let path = record_of(analyses, &made.run);
    let folder = records(analyses);
    let failed = |source| AnalysisError::Write { path: path.clone(), source };
    fs::create_dir_all(&folder).map_err(failed)?;
    let beside = path.with_extension("part");
    let told = serde_json::to_vec(made).unwrap_or_default();
    fs::write(&beside, told).map_err(failed)?;
    fs::rename(&beside, &path).map_err(failed)
}

/// The record of a report that was just written.
pub(crate) fn entry(
    written: &WrittenReport,
    run: &RunId,
    question: &str,
    workspace: &str,
    made_at: UtcMs,
) -> ReportEntry {
    let file = |name: &String| {
        let bytes = fs::read(written.folder.join(name)).ok()?;
        let (digest, bytes) = (digest_bytes(&bytes), bytes.len() as u64);
        Some(ReportFile { name: name.clone(), digest, bytes })
    };
    ReportEntry {
        run: run.clone(),
        title: written.title.clone(),
        question: question.to_owned(),
        folder: written.folder.clone(),
        workspace: PathBuf::from(workspace),
        made_at,
        numbers: written.counts.numbers,
        proven: written.counts.proven,
        files: written.files.iter().filter_map(file).collect(),
    }
}

fn parse(path: &Path) -> Option<ReportEntry> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// The report of a run, if it wrote one on this machine.
#[must_use]
pub fn of_run(app: &App, run: &RunId) -> Option<ReportEntry> {
    parse(&record_of(&analysis::folder(app), run)).filter(|entry| entry.run == *run)
}

/// The reports of this machine, newest first.
#[must_use]
pub fn list(app: &App) -> Vec<ReportEntry> {
    let folder = records(&analysis::folder(app));
    let found = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let found = found.filter(|path| path.extension().is_some_and(|ending| ending == "json"));
    let mut entries: Vec<ReportEntry> =
        found.take(RECORDS_MAX).filter_map(|path| parse(&path)).collect();
    entries.sort_by(|a, b| b.made_at.cmp(&a.made_at).then_with(|| b.run.cmp(&a.run)));
    entries
}

/// A report as it is in its folder now. Blocking.
///
/// # Errors
/// If there is none, or its folder cannot be read.
pub fn read(app: &App, run: &RunId) -> Result<FinishedReport, ReportError> {
    let entry = of_run(app, run).ok_or(ReportError::NotFound)?;
    let model = ReportModel::read(&entry.folder)?;
    let said = entry
        .files
        .iter()
        .filter(|file| ["report.md", "data_manifest.json"].contains(&file.name.as_str()));
    let changed = said.map(|file| entry.state(file)).find(|s| *s != ArtifactState::AsWritten);
    Ok(FinishedReport { model, state: changed.unwrap_or(ArtifactState::AsWritten), entry })
}

/// Computes the numbers of a report again, from the data, without a model. Blocking.
///
/// # Errors
/// If there is no report, or its folder or data cannot be read.
pub fn check(app: &App, run: &RunId, limits: &ReadLimits) -> Result<CheckReport, ReportError> {
    let entry = of_run(app, run).ok_or(ReportError::NotFound)?;
    let request = analysis::CheckRequest {
        report: entry.folder.clone(),
        ..analysis::CheckRequest::default()
    };
    Ok(analysis::check(app, &request, limits, &|_| {})?)
}

/// A file of a report, as the run wrote it. Blocking.
///
/// # Errors
/// If the run wrote no such file, or it is not as the run wrote it.
pub fn file(app: &App, run: &RunId, name: &str) -> Result<Vec<u8>, ArtifactError> {
    let entry = of_run(app, run).ok_or(ArtifactError::NotFound)?;
    let file = entry.files.iter().find(|file| file.name == name);
    content(app, &entry, file.ok_or(ArtifactError::NotFound)?)
}

fn content(app: &App, entry: &ReportEntry, file: &ReportFile) -> Result<Vec<u8>, ArtifactError> {
    let most = app.settings.server.artifact_max.bytes();
    if file.bytes > most {
        return Err(ArtifactError::TooLarge { bytes: file.bytes, most });
    }
    // No other file than one of this very size is read into memory.
    let path = entry.folder.join(&file.name);
    let size = path.metadata().map_err(|_| ArtifactError::NotThere(ArtifactState::Missing))?.len();
    let bytes = if size == file.bytes { fs::read(&path).ok() } else { None };
    // The very bytes that go out are compared: the file may change at any moment.
    bytes
        .filter(|bytes| digest_bytes(bytes) == file.digest)
        .ok_or(ArtifactError::NotThere(ArtifactState::Changed))
}

/// The files of the report of a run, among the files that it wrote.
pub(crate) fn artifacts(app: &App, run: &RunId) -> Vec<Artifact> {
    let Some(entry) = of_run(app, run) else { return Vec::new() };
    let artifact = |file: &ReportFile| Artifact {
        name: entry.artifact_name(file),
        digest: file.digest.clone(),
        state: entry.state(file),
        run: run.clone(),
        written_at: entry.made_at,
    };
    entry.files.iter().map(artifact).collect()
}

/// The content of an artifact that is a file of the report of a run, if it is one.
pub(crate) fn artifact(
    app: &App,
    run: &RunId,
    name: &str,
) -> Option<Result<Vec<u8>, ArtifactError>> {
    let entry = of_run(app, run)?;
    let file = entry.files.iter().find(|file| entry.artifact_name(file) == name)?;
    Some(content(app, &entry, file))
}
