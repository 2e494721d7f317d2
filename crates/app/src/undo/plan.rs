//! What an undo would do to each file. Changes nothing.

use super::{FileStep, RunChanges};
use crate::app::App;
use crate::error::AppError;
use everloop_store::Store;
use everloop_text::{self as text, Text};
use everloop_tools::{Checkpoints, FileNow, Workspace, WorkspaceError, file_now, recorded_runs};
use everloop_types::{RunId, one_line};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Runs among which the one that changed a file since is looked for.
const LATER_RUNS_MAX: usize = 50;

/// What an undo would do.
#[derive(Debug, Clone)]
pub struct UndoPlan {
    /// What the run did.
    pub changes: RunChanges,
    /// Each file, by its path.
    pub files: Vec<FilePlan>,
}

/// One file of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePlan {
    /// The workspace.
    pub root: PathBuf,
    /// Relative to it.
    pub path: String,
    /// What has to be there now.
    pub from: FileNow,
    /// What was there before.
    pub to: FileNow,
    /// The run that kept what was there.
    pub kept_by: RunId,
    /// The mode that it has now, or is to have where it is made again.
    pub mode: Option<u32>,
    /// The outermost folder that was made for it.
    pub made: Option<String>,
    /// Whether it can be restored.
    pub verdict: FileVerdict,
}

/// Whether a file can be restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileVerdict {
    /// It can.
    Ready,
    /// It is as it was.
    Unchanged,
    /// It cannot, and why.
    Refused(UndoRefusal),
}

/// Why a file is left as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum UndoRefusal {
    /// Somebody else, or a command, changed it.
    Changed {
        /// A later run, if it was one.
        by: Option<RunId>,
    },
    /// A link is in its place.
    Link,
    /// What was there before is not kept: it was too large, or is too old.
    NotKept,
    /// The change was made on another machine, or with another home.
    Elsewhere,
    /// No tool may change it, or the system refuses.
    Denied {
        /// Why.
        detail: String,
    },
}

impl UndoRefusal {
    /// Why the file is left as it is, for people.
    #[must_use]
    pub fn text(&self, path: &str) -> Text {
        match self {
            Self::Changed { by: Some(run) } => text::undo::changed_by(&path, run),
            Self::Changed { by: None } => text::undo::changed(&path),
            Self::Link => text::undo::link(&path),
            Self::NotKept => text::undo::not_kept(&path),
            Self::Elsewhere => text::undo::elsewhere(&path),
            Self::Denied { detail } => text::undo::denied(&path, &one_line(detail)),
        }
    }
}

/// What the plans of files need.
pub(super) struct PlanContext<'a> {
    pub(super) app: &'a App,
    pub(super) workspaces: BTreeMap<PathBuf, Workspace>,
    pub(super) checkpoints: Checkpoints,
    here: Option<String>,
}

impl<'a> PlanContext<'a> {
    pub(super) async fn new(app: &'a App) -> Self {
        let here = everloop_tools::here(Some(app.home.data().join("effects"))).await;
        Self { app, workspaces: BTreeMap::new(), checkpoints: app.checkpoints(), here }
    }

    pub(super) fn workspace(&mut self, root: &Path) -> Result<&Workspace, WorkspaceError> {
        if !self.workspaces.contains_key(root) {
            let environment = self.app.environment(&self.app.settings);
            let opened = environment.guarded_workspace(root)?;
            self.workspaces.insert(root.to_owned(), opened);
        }
        Ok(&self.workspaces[root])
    }

    /// What becomes of one file whose changes these are, the oldest first.
    fn plan(&mut self, steps: &[&FileStep]) -> Option<FilePlan> {
        let newest = steps.last()?;
        let looked = self
            .workspace(&newest.root)
            .and_then(|workspace| file_now(workspace, Path::new(&newest.path)));
        let (now, mode, denied) = match looked {
            Ok((now, mode)) => (now, mode, None),
            Err(error) => (FileNow::Other, None, Some(error.text())),
        };
        let made = made_changes(steps, &now);
        let (first, last) = (made.first()?, made.last()?);
        let is_whole = made.windows(2).all(|pair| pair[0].now == pair[1].was);
        let is_here = made.iter().all(|step| step.place.is_none() || step.place == self.here);
        let refused = |why| FileVerdict::Refused(why);
        let verdict = match (denied, &now) {
            (Some(detail), _) => refused(UndoRefusal::Denied { detail }),
            _ if !is_here => refused(UndoRefusal::Elsewhere),
            (None, now) if *now == first.was => FileVerdict::Unchanged,
            (None, FileNow::Link) => refused(UndoRefusal::Link),
            (None, now) if *now != last.now || !is_whole => {
                refused(UndoRefusal::Changed { by: None })
            }
            (None, _) if !self.has_copy(first) => refused(UndoRefusal::NotKept),
            (None, _) => FileVerdict::Ready,
        };
        // What is there matters to who looks for the run that changed it.
        let from = if verdict == FileVerdict::Ready { last.now.clone() } else { now };
        Some(FilePlan {
            root: first.root.clone(),
            path: first.path.clone(),
            from,
            to: first.was.clone(),
            kept_by: first.run.clone(),
            mode,
            made: made.iter().find_map(|step| step.made.clone()),
            verdict,
        })
    }

    fn has_copy(&self, step: &FileStep) -> bool {
        match &step.was {
            FileNow::Content(hash) => {
                self.checkpoints.read(&step.run, hash).is_ok_and(|copy| copy.is_some())
            }
            _ => true,
        }
    }

    /// The later run that left a file as it is now.
    async fn changed_by(
        &self,
        store: &Store,
        changes: &RunChanges,
        file: &FilePlan,
    ) -> Result<Option<RunId>, AppError> {
        let own = |run: &RunId| changes.steps.iter().any(|step| step.run == *run);
        let mut later = recorded_runs(self.checkpoints.folder()).unwrap_or_default();
        later.retain(|run| *run > changes.row.run && !own(run));
        later.sort();
        for run in later.into_iter().rev().take(LATER_RUNS_MAX) {
            let Ok(other) = RunChanges::read(store, &run).await else { continue };
            let is_it = |step: &FileStep| {
                step.root == file.root && step.path == file.path && step.now == file.from
            };
            if other.steps.iter().any(is_it) {
                return Ok(Some(run));
            }
        }
        Ok(None)
    }
}

/// The changes that were made: of those without an outcome, what came after them tells.
fn made_changes<'s>(steps: &[&'s FileStep], now: &FileNow) -> Vec<&'s FileStep> {
    let mut made: Vec<&FileStep> = Vec::new();
    for step in steps.iter().rev() {
        let after = made.last().map_or(now, |next| &next.was);
        if step.is_sure || step.now == *after {
            made.push(step);
        }
    }
    made.reverse();
    made
}

impl UndoPlan {
    /// Plans to undo the changes of a run from one of them on.
    pub(super) async fn new(
        context: &mut PlanContext<'_>,
        store: &Store,
        changes: RunChanges,
        to: Option<usize>,
    ) -> Result<Self, AppError> {
        let mut by_file: BTreeMap<(&Path, &str), Vec<&FileStep>> = BTreeMap::new();
        for step in changes.steps.iter().filter(|step| step.step >= to.unwrap_or(1)) {
            by_file.entry((step.root.as_path(), step.path.as_str())).or_default().push(step);
        }
        let mut files: Vec<FilePlan> =
            by_file.values().filter_map(|steps| context.plan(steps)).collect();
        for file in &mut files {
            if let FileVerdict::Refused(UndoRefusal::Changed { .. }) = file.verdict {
                let by = context.changed_by(store, &changes, file).await?;
                file.verdict = FileVerdict::Refused(UndoRefusal::Changed { by });
            }
        }
        Ok(Self { changes, files })
    }

    /// What an undo of a whole run would do. Changes nothing.
    ///
    /// # Errors
    /// As [`RunChanges::read`].
    pub async fn look(app: &App, store: &Store, run: &RunId) -> Result<Self, AppError> {
        let changes = RunChanges::read(store, run).await?;
        let mut context = PlanContext::new(app).await;
        Self::new(&mut context, store, changes, None).await
    }
}
