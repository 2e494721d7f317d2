//! Artifacts: the files that a run and those below it wrote, as it left them, its report among
//! them.
//!
//! A name is looked up in the run's journal and never used as a path of its own. A content is given
//! out only if it is the one that the run wrote: what somebody else put in its place is not the
//! run's, and may be nobody's business.

use crate::app::App;
use crate::copies::aside;
use crate::environment::LocalEnvironment;
use crate::error::{AppError, RunError, UndoError};
use crate::reports;
use crate::undo::{FileStep, RunChanges};
use everloop_store::Store;
use everloop_tools::{FileNow, Workspace, file_now};
use everloop_types::{RunId, UtcMs, digest_bytes};
use std::collections::BTreeMap;
use std::path::Path;

/// A file that a run wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// Its path, relative to the workspace.
    pub name: String,
    /// The digest of what the run wrote.
    pub digest: String,
    /// What is there now.
    pub state: ArtifactState,
    /// The run that wrote it last: the run itself, or one below it.
    pub run: RunId,
    /// When.
    pub written_at: UtcMs,
}

/// What became of a file that a run wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArtifactState {
    /// It is as the run wrote it.
    AsWritten,
    /// Something else is in its place.
    Changed,
    /// It is gone.
    Missing,
    /// It was written on another machine, or with another home.
    Elsewhere,
}

impl ArtifactState {
    /// The name that programs read.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AsWritten => "as_written",
            Self::Changed => "changed",
            Self::Missing => "missing",
            Self::Elsewhere => "elsewhere",
        }
    }
}

/// Why the content of an artifact cannot be given out.
#[derive(Debug, thiserror::Error)]
pub enum ArtifactError {
    /// The run wrote no such file.
    #[error("the run wrote no file of this name")]
    NotFound,
    /// The file is not what the run wrote.
    #[error("the file is not as the run wrote it: {}", .0.as_str())]
    NotThere(ArtifactState),
    /// The file is larger than `server.artifact_max`.
    #[error("the file has {bytes} bytes, more than server.artifact_max ({most})")]
    TooLarge {
        /// Its size.
        bytes: u64,
        /// The limit.
        most: u64,
    },
    /// The run, the store or the file system.
    #[error(transparent)]
    App(#[from] AppError),
}

/// The last change of each file that a run left behind.
async fn last_steps(store: &Store, run: &RunId) -> Result<BTreeMap<String, FileStep>, AppError> {
    let changes = match RunChanges::read(store, run).await {
        // What a foreign run wrote is on another machine.
        Err(AppError::Run(RunError::Undo(UndoError::Imported(_)))) => return Ok(BTreeMap::new()),
        changes => changes?,
    };
    let steps = changes.steps.into_iter().filter(|step| matches!(step.now, FileNow::Content(_)));
    Ok(steps.map(|step| (step.path.clone(), step)).collect())
}

/// Looks at the files of a run. Blocking: files are read whole.
struct ArtifactReader {
    app: App,
    environment: LocalEnvironment,
    /// This machine and data folder.
    here: Option<String>,
}

impl ArtifactReader {
    async fn new(app: &App) -> Self {
        let here = everloop_tools::here(Some(app.home.data().join("effects"))).await;
        Self { app: app.clone(), environment: app.environment(&app.settings), here }
    }

    fn workspace(&self, step: &FileStep) -> Option<Workspace> {
        self.environment.guarded_workspace(&step.root).ok()
    }

    fn state(&self, step: &FileStep) -> ArtifactState {
        if step.place.is_some() && step.place != self.here {
            return ArtifactState::Elsewhere;
        }
        let Some(workspace) = self.workspace(step) else { return ArtifactState::Missing };
        match file_now(&workspace, Path::new(&step.path)) {
            Ok((now, _)) if now == step.now => ArtifactState::AsWritten,
            Ok((FileNow::Missing, _)) => ArtifactState::Missing,
            _ => ArtifactState::Changed,
        }
    }

    fn list(&self, steps: BTreeMap<String, FileStep>, run: &RunId) -> Vec<Artifact> {
        let artifact = |(name, step): (String, FileStep)| Artifact {
            name,
            state: self.state(&step),
            digest: digest(&step).to_owned(),
            run: step.run,
            written_at: step.at,
        };
        let mut artifacts: Vec<Artifact> = steps.into_iter().map(artifact).collect();
        artifacts.extend(reports::artifacts(&self.app, run));
        artifacts
    }

    fn content(&self, step: &FileStep) -> Result<Vec<u8>, ArtifactError> {
        let state = self.state(step);
        if state != ArtifactState::AsWritten {
            return Err(ArtifactError::NotThere(state));
        }
        let most = self.app.settings.server.artifact_max.bytes();
        let gone = || ArtifactError::NotThere(ArtifactState::Changed);
        let workspace = self.workspace(step).ok_or_else(gone)?;
        let read = workspace.read(Path::new(&step.path), most);
        let (bytes, size) = read.map_err(|_| gone())?;
        if size > most {
            return Err(ArtifactError::TooLarge { bytes: size, most });
        }
        // The very bytes that go out are compared: the file may change at any moment.
        if digest_bytes(&bytes) != digest(step) {
            return Err(gone());
        }
        Ok(bytes)
    }
}

/// The files that a run wrote, by name.
///
/// # Errors
/// If there is no such run, or the store fails.
pub async fn list(app: &App, store: &Store, run: &RunId) -> Result<Vec<Artifact>, AppError> {
    let reader = ArtifactReader::new(app).await;
    let steps = last_steps(store, run).await?;
    let run = run.clone();
    aside(move || reader.list(steps, &run)).await
}

fn digest(step: &FileStep) -> &str {
    match &step.now {
        FileNow::Content(digest) => digest,
        _ => "",
    }
}

/// The content of a file that a run wrote.
///
/// # Errors
/// [`ArtifactError`].
pub async fn content(
    app: &App,
    store: &Store,
    run: &RunId,
    name: &str,
) -> Result<Vec<u8>, ArtifactError> {
    let mut steps = last_steps(store, run).await?;
    let reader = ArtifactReader::new(app).await;
    let (run, name) = (run.clone(), name.to_owned());
    aside(move || match steps.remove(&name) {
        Some(step) => reader.content(&step),
        None => {
            let of_report = reports::artifact(&reader.app, &run, &name);
            of_report.unwrap_or(Err(ArtifactError::NotFound))
        }
    })
    .await?
}
