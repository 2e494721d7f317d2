//! Carries an undo out, and records it.
//!
//! ```text
//!   keep what is there now ──► record who, when, which files ──► restore file after file
//! ```
//!
//! A crash leaves some files restored and some not; the same undo again restores the rest, because
//! each file is compared with what the journal says.

use super::plan::PlanContext;
use super::{FilePlan, FileVerdict, RunChanges, UndoPlan, UndoRefusal, UndoRequest};
use crate::app::App;
use crate::error::AppError;
use everloop_engine::{Clock, SystemClock, fresh_id};
use everloop_store::{RunRow, Store, UndoRow};
use everloop_text::{self as text, Text};
use everloop_tools::{FileNow, FileRestore, RestoreError, file_now, restore_file};
use everloop_types::{ConversationId, RunId, one_line};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Whether changes were undone, or made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UndoKind {
    /// Files are as they were before the run.
    Undo,
    /// Files are as the run left them.
    Redo,
}

/// What an undo did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UndoReport {
    /// The run.
    pub run_id: RunId,
    /// Undone or made again.
    pub kind: UndoKind,
    /// The record of it, if anything was restored.
    pub undo_id: Option<String>,
    /// Each file.
    pub files: Vec<FileResult>,
    /// Commands of the run, which may have changed other files.
    pub commands: usize,
}

/// What became of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileResult {
    /// Relative to the workspace.
    pub path: String,
    /// What became of it.
    pub result: FileOutcome,
    /// Why it was refused.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<UndoRefusal>,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileOutcome {
    /// It has its earlier content.
    Restored,
    /// It did not exist before, and is gone.
    Removed,
    /// It was gone, and is there again.
    Recreated,
    /// It was as wanted.
    Unchanged,
    /// It was left as it is.
    Refused,
}

/// A file as the record of an undo has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoneFile {
    /// The workspace.
    pub root: PathBuf,
    /// Relative to it.
    pub path: String,
    /// The digest of what was replaced; none if nothing was there.
    pub from: Option<String>,
    /// The digest of what is there since; none if the file was removed.
    pub to: Option<String>,
    /// The mode of what was replaced.
    #[serde(default)]
    pub mode: Option<u32>,
    /// The outermost folder that was made for it.
    #[serde(default)]
    pub made: Option<String>,
}

impl FileResult {
    /// What became of the file, for people.
    #[must_use]
    pub fn text(&self) -> Text {
        let path = &one_line(&self.path);
        match (self.result, &self.refusal) {
            (FileOutcome::Restored, _) => text::undo::restored(path),
            (FileOutcome::Removed, _) => text::undo::removed(path),
            (FileOutcome::Recreated, _) => text::undo::recreated(path),
            (FileOutcome::Unchanged, _) => text::undo::unchanged(path),
            (FileOutcome::Refused, Some(why)) => why.text(path),
            (FileOutcome::Refused, None) => text::undo::changed(path),
        }
    }
}

impl UndoReport {
    /// Whether a file was left as it is that was to be restored.
    #[must_use]
    pub fn has_refusal(&self) -> bool {
        self.files.iter().any(|file| file.result == FileOutcome::Refused)
    }
}

/// Undoes changes of a run that has ended.
///
/// # Errors
/// [`crate::error::UndoError::StillWorking`], or if the run cannot be read or the undo not be
/// recorded. Nothing was restored then. A file that cannot be restored is part of the report.
pub async fn undo(app: &App, store: &Store, request: &UndoRequest) -> Result<UndoReport, AppError> {
    let changes = RunChanges::of_ended(store, &request.run).await?;
    let mut context = PlanContext::new(app).await;
    let UndoPlan { changes, files } =
        UndoPlan::new(&mut context, store, changes, request.to).await?;
    let RunRow { run, conversation, .. } = changes.row;
    let record = UndoRecord { run, conversation, by: request.by.clone(), redoes: None };
    let mut report = record.carry_out(context, store, &changes.workspace, files).await?;
    report.commands = changes.commands;
    Ok(report)
}

/// Takes an undo back: files are as the run left them again.
///
/// # Errors
/// As [`undo`].
pub async fn redo(
    app: &App,
    store: &Store,
    undone: &UndoRow,
    by: &str,
) -> Result<UndoReport, AppError> {
    let mut context = PlanContext::new(app).await;
    let files: Vec<UndoneFile> = serde_json::from_str(&undone.files).unwrap_or_default();
    let plans = files.into_iter().map(|file| taken_back(&mut context, undone, file)).collect();
    let record = UndoRecord {
        run: undone.run.clone(),
        conversation: undone.conversation.clone(),
        by: by.to_owned(),
        redoes: Some(undone.id.clone()),
    };
    record.carry_out(context, store, Path::new(&undone.workspace), plans).await
}

/// The plan of a file that an undo restored.
fn taken_back(context: &mut PlanContext<'_>, undone: &UndoRow, file: UndoneFile) -> FilePlan {
    let content = |hash: Option<String>| hash.map_or(FileNow::Missing, FileNow::Content);
    let (from, to) = (content(file.to), content(file.from));
    let looked = context
        .workspace(&file.root)
        .and_then(|workspace| file_now(workspace, Path::new(&file.path)));
    let is_kept = match &to {
        FileNow::Content(hash) => {
            context.checkpoints.read(&undone.run, hash).is_ok_and(|copy| copy.is_some())
        }
        _ => true,
    };
    let verdict = match looked {
        Err(error) => FileVerdict::Refused(UndoRefusal::Denied { detail: error.text() }),
        Ok((now, _)) if now == to => FileVerdict::Unchanged,
        Ok((FileNow::Link, _)) => FileVerdict::Refused(UndoRefusal::Link),
        Ok((now, _)) if now != from => FileVerdict::Refused(UndoRefusal::Changed { by: None }),
        Ok(_) if !is_kept => FileVerdict::Refused(UndoRefusal::NotKept),
        Ok(_) => FileVerdict::Ready,
    };
    let (root, path, mode, made) = (file.root, file.path, file.mode, file.made);
    FilePlan { root, path, from, to, kept_by: undone.run.clone(), mode, made, verdict }
}

/// Whose undo it is.
struct UndoRecord {
    run: RunId,
    conversation: ConversationId,
    by: String,
    redoes: Option<String>,
}

impl UndoRecord {
    async fn carry_out(
        self,
        context: PlanContext<'_>,
        store: &Store,
        workspace: &Path,
        plans: Vec<FilePlan>,
    ) -> Result<UndoReport, AppError> {
        let at = SystemClock.now();
        let ready = |plan: &&FilePlan| plan.verdict == FileVerdict::Ready;
        let undone: Vec<UndoneFile> = plans.iter().filter(ready).map(UndoneFile::of).collect();
        let kind = if self.redoes.is_some() { UndoKind::Redo } else { UndoKind::Undo };
        let mut row = UndoRow {
            id: fresh_id("undo_", at),
            conversation: self.conversation,
            run: self.run.clone(),
            at,
            by: self.by,
            redoes: self.redoes,
            workspace: workspace.to_string_lossy().into_owned(),
            files: as_json(&undone),
        };
        for plan in plans.iter().filter(ready) {
            keep_replaced(&context, &self.run, plan);
        }
        if !undone.is_empty() {
            store.undos().record(&row).await?;
        }
        let temporary = format!(".everloop-{}.tmp", row.id);
        let files: Vec<FileResult> =
            plans.iter().map(|plan| restored(&context, plan, &temporary)).collect();
        let is_done = |file: &&UndoneFile| {
            let same = |result: &&FileResult| result.path == file.path;
            files.iter().find(same).is_some_and(|found| found.result != FileOutcome::Refused)
        };
        let done: Vec<UndoneFile> = undone.iter().filter(is_done).cloned().collect();
        if done.len() < undone.len() {
            row.files = as_json(&done);
            store.undos().record(&row).await?;
        }
        let undo_id = (!done.is_empty()).then_some(row.id);
        Ok(UndoReport { run_id: self.run, kind, undo_id, files, commands: 0 })
    }
}

fn as_json(files: &[UndoneFile]) -> String {
    serde_json::to_string(files).expect("our own types always have a JSON form")
}

impl UndoneFile {
    fn of(plan: &FilePlan) -> Self {
        let hash = |now: &FileNow| match now {
            FileNow::Content(hash) => Some(hash.clone()),
            _ => None,
        };
        Self {
            root: plan.root.clone(),
            path: plan.path.clone(),
            from: hash(&plan.from),
            to: hash(&plan.to),
            mode: plan.mode,
            made: plan.made.clone(),
        }
    }
}

/// Keeps what an undo replaces. Where that fails only the way back is lost.
fn keep_replaced(context: &PlanContext<'_>, run: &RunId, plan: &FilePlan) {
    let (FileNow::Content(hash), Some(workspace)) =
        (&plan.from, context.workspaces.get(&plan.root))
    else {
        return;
    };
    let read = workspace.read(Path::new(&plan.path), u64::MAX);
    if let Ok((content, _)) = read
        && everloop_types::digest_bytes(&content) == *hash
    {
        let _ = context.checkpoints.keep(run, &content);
    }
}

fn restored(context: &PlanContext<'_>, plan: &FilePlan, temporary: &str) -> FileResult {
    let result = |result, refusal| FileResult { path: plan.path.clone(), result, refusal };
    let refused = |why| result(FileOutcome::Refused, Some(why));
    match &plan.verdict {
        FileVerdict::Unchanged => return result(FileOutcome::Unchanged, None),
        FileVerdict::Refused(why) => return refused(why.clone()),
        FileVerdict::Ready => {}
    }
    let content = match &plan.to {
        FileNow::Content(hash) => match context.checkpoints.read(&plan.kept_by, hash) {
            Ok(Some(content)) => Some(content),
            Ok(None) | Err(_) => return refused(UndoRefusal::NotKept),
        },
        _ => None,
    };
    let Some(workspace) = context.workspaces.get(&plan.root) else {
        return refused(UndoRefusal::Elsewhere);
    };
    let restore = FileRestore {
        path: Path::new(&plan.path),
        expect: &plan.from,
        content: content.as_deref(),
        mode: plan.mode,
        made: plan.made.as_deref().map(Path::new),
        temporary,
    };
    match restore_file(workspace, &restore) {
        Ok(()) => result(plan.outcome(), None),
        Err(RestoreError::Changed { now: FileNow::Link, .. }) => refused(UndoRefusal::Link),
        Err(RestoreError::Changed { .. }) => refused(UndoRefusal::Changed { by: None }),
        Err(RestoreError::Workspace(error)) => {
            refused(UndoRefusal::Denied { detail: error.text() })
        }
    }
}

impl FilePlan {
    /// What becomes of a file that can be restored.
    #[must_use]
    pub fn outcome(&self) -> FileOutcome {
        match (&self.from, &self.to) {
            (_, FileNow::Missing) => FileOutcome::Removed,
            (FileNow::Missing, _) => FileOutcome::Recreated,
            _ => FileOutcome::Restored,
        }
    }
}
