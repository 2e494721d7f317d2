//! `edit_file`: one exact passage of a file replaced by another; see `replace` for how.
//!
//! ```text
//!   read ──► the passage occurs once ──► replace it, keep all other bytes ──► replace the file
//!              └─ never, or more than once: an error with lines, so that the model can correct it
//! ```
//!
//! The intent records the digests before and after, so a probe tells by the content what happened.

mod passage;

use crate::checkpoint::{ChangeIntent, ChangeKeeper, file_change};
use crate::near_names::describe_error;
use crate::place::{here, only_here};
use crate::preview::shown_change;
use crate::replace::{
    COMPARE_BYTES_MAX, CurrentFile, Replacement, expected, replace_file, short_hash, temporary,
};
use crate::write_file::{blocking_change, changing, found, judged, present, was};
use crate::{Checkpoints, Workspace, WorkspaceError};
use everloop_ports::{CallContext, CallPolicy, Intent, Probe, Tool, ToolReturn};
use everloop_types::{
    CallPreview, DataFlow, FileChange, Handling, Observation, RunId, SendTarget, digest_bytes,
};
use passage::{EditedText, PassageChange, replaced};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// The arguments of `edit_file`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditFileArgs {
    /// The file.
    pub path: PathBuf,
    /// The exact passage; must be unique unless all is true.
    pub old: String,
    /// What replaces it.
    pub new: String,
    /// Each passage.
    #[serde(default)]
    pub all: bool,
    /// As it was read.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    pub expect_hash: Option<String>,
}

/// Edits a file.
#[derive(Debug)]
pub struct EditFile {
    /// Where it may write.
    pub workspace: Arc<Workspace>,
    /// The private folder that names the place where it runs; see `Shell::records`.
    pub records: Option<PathBuf>,
    /// Where files are kept as they were.
    pub checkpoints: Option<Checkpoints>,
}

impl EditFile {
    async fn intent(&self, args: &EditFileArgs, run: Option<&RunId>) -> Value {
        let (workspace, path) = (Arc::clone(&self.workspace), args.path.clone());
        let kept = self.checkpoints.clone().zip(run.cloned());
        let look = move || {
            let present = CurrentFile::at(&workspace, &path);
            let kept = kept.as_ref().map(|(checkpoints, run)| (checkpoints, run));
            let intent = ChangeIntent::of(&workspace, &path, &present, kept);
            (intent, present)
        };
        let Ok((intent, present)) = tokio::task::spawn_blocking(look).await else {
            return Value::Null;
        };
        let edit = match &present {
            CurrentFile::Content(content) => replaced(content, change(args)).ok(),
            CurrentFile::Nothing | CurrentFile::Unreadable => None,
        };
        let will = edit.as_ref().map(|edit| digest_bytes(&edit.content));
        let place = here(self.records.clone()).await;
        let mut before = json!(ChangeIntent { will, place, ..intent });
        before["line"] = json!(edit.as_ref().map(|edit| edit.line));
        before["count"] = json!(edit.as_ref().map(|edit| edit.count));
        before
    }
}

impl Tool for EditFile {
    const NAME: &'static str = "edit_file";
    type Args = EditFileArgs;

    fn description(&self) -> &'static str {
        "Replace a passage of a file. Whitespace counts."
    }

    /// Where a passage is not found, lines of the file are shown.
    fn handling(&self) -> Handling {
        let flow = DataFlow::workspace().sends(SendTarget::Later("path".to_owned()));
        Handling { flow: Some(flow), ..changing() }
    }

    fn leads_to(&self, args: &EditFileArgs) -> Option<String> {
        self.workspace.leads_to(&args.path)
    }

    async fn call(&self, args: EditFileArgs, context: &CallContext) -> ToolReturn {
        let (workspace, chars) = (Arc::clone(&self.workspace), context.observation_chars);
        let temporary = temporary(context);
        let keeper = ChangeKeeper::new(self.checkpoints.as_ref(), context);
        blocking_change(chars, move || {
            let (edit, change) = edit(&workspace, &args, &temporary, &keeper)?;
            Ok((done(&args, edit.line, edit.count, &edit.content), change))
        })
        .await
    }

    fn is_delicate(&self, args: &EditFileArgs) -> bool {
        self.workspace.instructs(&args.path)
    }

    async fn judge(&self, args: &EditFileArgs) -> CallPolicy {
        judged(self.is_delicate(args))
    }

    async fn preview(&self, args: &EditFileArgs) -> CallPreview {
        let present = present(&self.workspace, args.path.clone()).await;
        let CurrentFile::Content(content) = &present else { return CallPreview::Call };
        match replaced(content, change(args)) {
            Ok(edit) => shown_change(&args.path, &present, &edit.content),
            Err(_) => CallPreview::Call,
        }
    }

    async fn before(&self, args: &EditFileArgs, run: Option<&RunId>) -> Value {
        self.intent(args, run).await
    }

    async fn probe(&self, args: EditFileArgs, intent: &Intent) -> Probe {
        let present = present(&self.workspace, args.path.clone()).await;
        let number =
            |name: &str| intent.before[name].as_u64().and_then(|n| usize::try_from(n).ok());
        let (line, count) = (number("line").unwrap_or(1), number("count").unwrap_or(1));
        let content =
            if let CurrentFile::Content(content) = &present { content.as_slice() } else { &[] };
        let seen = || done(&args, line, count, content);
        let found = found(&was(&present), &intent.before["was"], &intent.before["will"], seen);
        only_here(found, intent, self.records.clone()).await
    }
}

/// The same words whether the call or the probe found out.
fn done(args: &EditFileArgs, line: usize, count: usize, content: &[u8]) -> Observation {
    let (path, hash) = (args.path.display(), short_hash(content));
    let place = match count {
        1 => format!("at line {line}"),
        _ => format!("at {count} places, the first at line {line}"),
    };
    Observation::ok(format!("edited {path} {place}; its hash is now {hash}"))
}

fn change(args: &EditFileArgs) -> PassageChange<'_> {
    PassageChange { old: &args.old, new: &args.new, all: args.all }
}

fn edit(
    workspace: &Workspace,
    args: &EditFileArgs,
    temporary: &str,
    keeper: &ChangeKeeper,
) -> Result<(EditedText, Box<FileChange>), String> {
    let path = args.path.display();
    let describe = |error: WorkspaceError| describe_error(workspace, &error);
    let (content, size) = workspace.read(&args.path, COMPARE_BYTES_MAX).map_err(describe)?;
    if size > content.len() as u64 {
        return Err(format!("{path} has {size} bytes, which is too many to edit"));
    }
    let now = short_hash(&content);
    if let Some(hash) = expected(args.expect_hash.as_deref())?
        && !now.eq_ignore_ascii_case(hash)
    {
        return Err(describe(WorkspaceError::Changed { path: args.path.clone(), now: Some(now) }));
    }
    let edit = replaced(&content, change(args)).map_err(|why| format!("{path}: {why}"))?;
    let (path, new) = (args.path.as_path(), edit.content.as_slice());
    let old = CurrentFile::Content(content);
    let kept = keeper.keep(&old)?;
    let replacement = Replacement { path, content: new, temporary, expect: Some(&now) };
    replace_file(workspace, &replacement).map_err(describe)?;
    let change = file_change(workspace, path, &old, new, kept);
    Ok((edit, change))
}
