//! `write_file`: a whole file of the workspace, written at once or not at all.
//!
//! ```text
//!   temporary file in the same folder ──fsync──► rename over the path ──► fsync of the folder
//! ```
//!
//! A crash leaves the old content or the new one, so a probe can tell by the content's digest
//! whether the write happened, in the place where it was to happen. A crash may leave the temporary
//! file behind; the next attempt of the same effect uses the same name and clears it away.
//!
//! Deliberately absent: files by which git could be made to run programs. `shell` writes them, and
//! asks.

use crate::place::{here, only_here};
use crate::read_file::blocking;
use crate::workspace::check_regular;
use crate::{CallContext, Done, Intent, Probe, Tool, Workspace, WorkspaceError, clip};
use cap_std::fs::{Dir, OpenOptions};
use everloop_types::{
    Approval, EffectClass, Flow, Handling, Observation, OnUnknown, Sends, digest_bytes,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files larger than this are not compared, so their probe says "unknown".
const COMPARE_BYTES_MAX: u64 = 64_000_000;

/// Symbolic links that are followed to the file that they name.
const LINKS_MAX: usize = 20;

/// The arguments of `write_file`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteFileArgs {
    /// Path of the file, relative to the workspace. Missing folders are created.
    pub path: PathBuf,
    /// The whole new content of the file.
    pub content: String,
}

/// Writes a file.
#[derive(Debug)]
pub struct WriteFile {
    /// Where it may write.
    pub workspace: Arc<Workspace>,
    /// The private folder that names the place where it runs; see `Shell::records`.
    pub records: Option<PathBuf>,
}

impl Tool for WriteFile {
    const NAME: &'static str = "write_file";
    type Args = WriteFileArgs;

    fn description(&self) -> &'static str {
        "Write a file of the workspace. Creates it, or replaces its whole content."
    }

    fn handling(&self) -> Handling {
        Handling {
            class: EffectClass::Probeable,
            approval: Approval::Allow,
            on_unknown: OnUnknown::TellModel,
            timeout_ms: 30_000,
            grace_ms: 1_000,
            resource_arg: Some("path".to_owned()),
            flow: Some(Flow::NOTHING.sends(Sends::Later("path".to_owned()))),
            ..Handling::default()
        }
    }

    async fn call(&self, args: WriteFileArgs, context: &CallContext) -> Done {
        let (workspace, chars) = (Arc::clone(&self.workspace), context.observation_chars);
        let temporary = format!(".everloop-{}.tmp", digest_bytes(context.idem_key.as_bytes()));
        blocking(move || match write(&workspace, &args, &temporary) {
            Ok(()) => written(&args),
            Err(error) => Observation::error(clip::head(&error.text(), chars)),
        })
        .await
    }

    async fn before(&self, args: &WriteFileArgs) -> Value {
        let was = match self.present(args.path.clone()).await {
            Present::Nothing => Value::Null,
            Present::Content(digest) => Value::String(digest),
            Present::Unreadable => Value::Bool(false),
        };
        json!({ "was": was, "place": here(self.records.clone()).await })
    }

    async fn probe(&self, args: WriteFileArgs, intent: &Intent) -> Probe {
        let wanted = digest_bytes(args.content.as_bytes());
        let found = match (self.present(args.path.clone()).await, &intent.before["was"]) {
            (Present::Content(digest), _) if digest == wanted => Probe::Happened(written(&args)),
            (Present::Content(digest), Value::String(old)) if digest == *old => Probe::DidNot,
            (Present::Nothing, Value::Null) => Probe::DidNot,
            _ => Probe::unknown("the file is neither as it was nor as it was to be"),
        };
        only_here(found, intent, self.records.clone()).await
    }
}

/// What is at a path now.
enum Present {
    Nothing,
    Content(String),
    Unreadable,
}

impl WriteFile {
    async fn present(&self, path: PathBuf) -> Present {
        let workspace = Arc::clone(&self.workspace);
        let look = move || match workspace.read(&path, COMPARE_BYTES_MAX) {
            Ok((bytes, size)) if size == bytes.len() as u64 => {
                Present::Content(digest_bytes(&bytes))
            }
            Err(WorkspaceError::Missing { .. }) => Present::Nothing,
            Ok(_) | Err(_) => Present::Unreadable,
        };
        tokio::task::spawn_blocking(look).await.unwrap_or(Present::Unreadable)
    }
}

/// The same words whether the call or the probe found out.
fn written(args: &WriteFileArgs) -> Observation {
    Observation::ok(format!("wrote {} bytes to {}", args.content.len(), args.path.display()))
}

fn write(
    workspace: &Workspace,
    args: &WriteFileArgs,
    temporary: &str,
) -> Result<(), WorkspaceError> {
    let failed = |error| Workspace::failed(&args.path, error);
    let (dir, relative) = workspace.entry(&args.path)?;
    let target = follow_links(dir, relative).map_err(failed)?;
    workspace.check_place(&args.path, &target)?;
    workspace.check_change(&args.path, &target)?;
    let Some(name) = target.file_name() else {
        return Err(WorkspaceError::Folder { path: args.path.clone() });
    };
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = make_folder(dir, folder.unwrap_or(Path::new("."))).map_err(failed)?;
    workspace.check_entry(&args.path, &folder, name)?;
    let mode = match folder.symlink_metadata(name) {
        // A link that came up meanwhile is replaced by the rename, never followed.
        Ok(metadata) if metadata.is_symlink() => None,
        Ok(metadata) => {
            workspace.check_file(&args.path, &metadata)?;
            check_regular(&args.path, &metadata)?;
            Some(metadata.permissions())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed(error)),
    };
    let replaced = replace(&folder, name.as_ref(), &args.content, temporary, mode);
    if replaced.is_err() {
        let _ = folder.remove_file(temporary);
    }
    replaced.map_err(failed)
}

/// The path of the file that is to be replaced: writing to a link means the file that it names.
fn follow_links(dir: &Dir, path: PathBuf) -> io::Result<PathBuf> {
    let mut path = path;
    for _ in 0..LINKS_MAX {
        match dir.symlink_metadata(&path) {
            Ok(metadata) if metadata.is_symlink() => {}
            Ok(_) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(path),
            Err(error) => return Err(error),
        }
        // Refuses what leads outside; opening it below refuses the same again.
        let target = dir.read_link(&path)?;
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    Err(io::Error::other("too many symbolic links"))
}

/// Creates missing folders, and makes those durable that were created.
fn make_folder(dir: &Dir, path: &Path) -> io::Result<Dir> {
    if dir.try_exists(path)? {
        return dir.open_dir(path);
    }
    dir.create_dir_all(path)?;
    for parent in path.ancestors().skip(1) {
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        sync_folder(&dir.open_dir(parent)?)?;
    }
    dir.open_dir(path)
}

fn replace(
    folder: &Dir,
    name: &Path,
    content: &str,
    temporary: &str,
    mode: Option<cap_std::fs::Permissions>,
) -> io::Result<()> {
    match folder.remove_file(temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = folder.open_with(temporary, OpenOptions::new().write(true).create_new(true))?;
    file.write_all(content.as_bytes())?;
    if let Some(mode) = mode {
        file.set_permissions(mode)?;
    }
    file.sync_all()?;
    folder.rename(temporary, folder, name)?;
    sync_folder(folder)
}

fn sync_folder(folder: &Dir) -> io::Result<()> {
    folder.open(".")?.sync_all()
}
