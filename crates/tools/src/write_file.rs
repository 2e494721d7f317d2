//! `write_file`: a whole file of the workspace, written at once or not at all; see `replace`.

use crate::checkpoint::{ChangeIntent, ChangeKeeper, file_change};
use crate::clip::counted;
use crate::place::{here, only_here};
use crate::preview::shown_change;
use crate::replace::{CurrentFile, Replacement, expected, replace_file, short_hash, temporary};
use crate::{Checkpoints, Workspace, clip};
use everloop_ports::{CallContext, CallPolicy, Intent, Probe, Tool, ToolReturn};
use everloop_types::{
    Approval, CallPreview, DataFlow, EffectClass, FileChange, Handling, Observation, OnUnknown,
    RunId, SendTarget, digest_bytes,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// The arguments of `write_file`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteFileArgs {
    /// The file.
    pub path: PathBuf,
    /// Its whole content.
    pub content: String,
    /// As it was read.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    pub expect_hash: Option<String>,
}

/// Writes a file.
#[derive(Debug)]
pub struct WriteFile {
    /// Where it may write.
    pub workspace: Arc<Workspace>,
    /// The private folder that names the place where it runs; see `Shell::records`.
    pub records: Option<PathBuf>,
    /// Where files are kept as they were.
    pub checkpoints: Option<Checkpoints>,
}

impl WriteFile {
    async fn intent(&self, args: &WriteFileArgs, run: Option<&RunId>) -> Value {
        let (workspace, path) = (Arc::clone(&self.workspace), args.path.clone());
        let kept = self.checkpoints.clone().zip(run.cloned());
        let look = move || {
            let present = CurrentFile::at(&workspace, &path);
            let kept = kept.as_ref().map(|(checkpoints, run)| (checkpoints, run));
            ChangeIntent::of(&workspace, &path, &present, kept)
        };
        let Ok(intent) = tokio::task::spawn_blocking(look).await else { return Value::Null };
        let will = Some(digest_bytes(args.content.as_bytes()));
        json!(ChangeIntent { will, place: here(self.records.clone()).await, ..intent })
    }
}

impl Tool for WriteFile {
    const NAME: &'static str = "write_file";
    type Args = WriteFileArgs;

    fn description(&self) -> &'static str {
        "Create a file, or replace its whole content. Makes missing folders."
    }

    fn handling(&self) -> Handling {
        changing()
    }

    fn leads_to(&self, args: &WriteFileArgs) -> Option<String> {
        self.workspace.leads_to(&args.path)
    }

    async fn call(&self, args: WriteFileArgs, context: &CallContext) -> ToolReturn {
        let (workspace, chars) = (Arc::clone(&self.workspace), context.observation_chars);
        let temporary = temporary(context);
        let keeper = ChangeKeeper::new(self.checkpoints.as_ref(), context);
        blocking_change(chars, move || {
            let change = write(&workspace, &args, &temporary, &keeper)?;
            Ok((written(&args), change))
        })
        .await
    }

    fn is_delicate(&self, args: &WriteFileArgs) -> bool {
        self.workspace.instructs(&args.path)
    }

    async fn judge(&self, args: &WriteFileArgs) -> CallPolicy {
        judged(self.is_delicate(args))
    }

    async fn preview(&self, args: &WriteFileArgs) -> CallPreview {
        let present = present(&self.workspace, args.path.clone()).await;
        shown_change(&args.path, &present, args.content.as_bytes())
    }

    async fn before(&self, args: &WriteFileArgs, run: Option<&RunId>) -> Value {
        self.intent(args, run).await
    }

    async fn probe(&self, args: WriteFileArgs, intent: &Intent) -> Probe {
        let wanted = digest_bytes(args.content.as_bytes());
        let now = was(&present(&self.workspace, args.path.clone()).await);
        let found = found(&now, &intent.before["was"], &Value::String(wanted), || written(&args));
        only_here(found, intent, self.records.clone()).await
    }
}

/// Replaces the file, after what is there now was kept. What was kept is what is replaced: a
/// content that came in between is not overwritten.
fn write(
    workspace: &Workspace,
    args: &WriteFileArgs,
    temporary: &str,
    keeper: &ChangeKeeper,
) -> Result<Box<FileChange>, String> {
    let (path, content) = (args.path.as_path(), args.content.as_bytes());
    let old = CurrentFile::at(workspace, path);
    let kept = keeper.keep(&old)?;
    let seen = match &old {
        CurrentFile::Content(old) => Some(short_hash(old)),
        CurrentFile::Nothing | CurrentFile::Unreadable => None,
    };
    let expect = expected(args.expect_hash.as_deref())?.or(seen.as_deref());
    let new = Replacement { path, content, temporary, expect };
    replace_file(workspace, &new).map_err(|error| error.text())?;
    Ok(file_change(workspace, path, &old, content, kept))
}

/// Work that changes a file, on a thread of its own.
pub(crate) async fn blocking_change(
    chars_max: usize,
    work: impl FnOnce() -> Result<(Observation, Box<FileChange>), String> + Send + 'static,
) -> ToolReturn {
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok((seen, change))) => ToolReturn::Changed(seen, change),
        Ok(Err(why)) => ToolReturn::Seen(Observation::error(clip::head(&why, chars_max))),
        Err(error) => ToolReturn::Seen(Observation::error(format!("the tool broke off: {error}"))),
    }
}

/// A person is asked about files that later runs or other programs take instructions from.
pub(crate) fn judged(is_delicate: bool) -> CallPolicy {
    match is_delicate {
        true => CallPolicy::Sensitive,
        false => CallPolicy::Default,
    }
}

/// How the runtime treats a tool that changes a file; [`judged`] says of which a person is asked.
pub(crate) fn changing() -> Handling {
    Handling {
        class: EffectClass::Probeable,
        approval: Approval::Allow,
        on_unknown: OnUnknown::TellModel,
        timeout_ms: 30_000,
        grace_ms: 1_000,
        resource_arg: Some("path".to_owned()),
        flow: Some(DataFlow::NOTHING.sends(SendTarget::Later("path".to_owned()))),
        ..Handling::default()
    }
}

/// What is at a path now.
pub(crate) async fn present(workspace: &Arc<Workspace>, path: PathBuf) -> CurrentFile {
    let workspace = Arc::clone(workspace);
    let look = move || CurrentFile::at(&workspace, &path);
    tokio::task::spawn_blocking(look).await.unwrap_or(CurrentFile::Unreadable)
}

/// What an intent records of it: the digest, null for nothing, false for what cannot be read.
pub(crate) fn was(present: &CurrentFile) -> Value {
    match present {
        CurrentFile::Nothing => Value::Null,
        CurrentFile::Content(bytes) => Value::String(digest_bytes(bytes)),
        CurrentFile::Unreadable => Value::Bool(false),
    }
}

/// What the content tells, of these three: as it is now, as it was, as it was to be.
pub(crate) fn found(
    now: &Value,
    was: &Value,
    wanted: &Value,
    done: impl FnOnce() -> Observation,
) -> Probe {
    match now {
        Value::String(_) if now == wanted => Probe::Happened(done()),
        Value::String(_) | Value::Null if now == was => Probe::DidNot,
        _ => Probe::unknown("the file is neither as it was nor as it was to be"),
    }
}

/// The same words whether the call or the probe found out.
fn written(args: &WriteFileArgs) -> Observation {
    let size = counted(args.content.len() as u64, "byte");
    Observation::ok(format!("wrote {size} to {}", args.path.display()))
}
