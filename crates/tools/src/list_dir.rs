//! `list_dir`: what is in a folder of the workspace.

use crate::clip::counted;
use crate::near_names::describe_error;
use crate::read_file::{blocking, reading};
use crate::write_file::judged;
use crate::{Workspace, WorkspaceError, clip};
use cap_std::fs::DirEntry;
use everloop_ports::{CallContext, CallPolicy, Tool, ToolReturn};
use everloop_types::{DataFlow, Handling, Observation};
use schemars::JsonSchema;
use serde::Deserialize;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Entries that are looked at; a folder may hold millions.
const ENTRIES_MAX: usize = 10_000;

/// The arguments of `list_dir`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListDirArgs {
    /// "." lists the workspace.
    pub path: PathBuf,
}

/// Lists a folder.
#[derive(Debug)]
pub struct ListDir {
    /// Where it may look.
    pub workspace: Arc<Workspace>,
}

impl Tool for ListDir {
    const NAME: &'static str = "list_dir";
    type Args = ListDirArgs;

    fn description(&self) -> &'static str {
        "List a folder, with sizes."
    }

    fn handling(&self) -> Handling {
        Handling { flow: Some(DataFlow::below()), ..reading() }
    }

    fn text_arg() -> Option<&'static str> {
        Some("path")
    }

    fn leads_to(&self, args: &ListDirArgs) -> Option<String> {
        self.workspace.leads_to(&args.path)
    }

    fn is_delicate(&self, args: &ListDirArgs) -> bool {
        self.workspace.outside(&args.path).is_some()
    }

    async fn judge(&self, args: &ListDirArgs) -> CallPolicy {
        judged(self.is_delicate(args))
    }

    async fn call(&self, args: ListDirArgs, context: &CallContext) -> ToolReturn {
        let (workspace, chars) = (Arc::clone(&self.workspace), context.observation_chars);
        blocking(move || match list(&workspace, &args.path) {
            Ok(text) => Observation::ok(clip::head(&text, chars)),
            Err(error) => {
                Observation::error(clip::head(&describe_error(&workspace, &error), chars))
            }
        })
        .await
    }
}

fn list(workspace: &Workspace, path: &Path) -> Result<String, WorkspaceError> {
    let failed = |error| Workspace::failed(path, error);
    let mut entries = match workspace.outside(path) {
        Some(place) => workspace.folder_outside(path, &place)?.entries(),
        None => {
            let (dir, relative) = workspace.entry(path)?;
            dir.read_dir(&relative)
        }
    }
    .map_err(failed)?;
    let mut rows = Vec::new();
    for entry in entries.by_ref().take(ENTRIES_MAX) {
        rows.push(row(&entry.map_err(failed)?).map_err(failed)?);
    }
    rows.sort();
    if entries.next().is_some() {
        rows.push(format!("[more than {ENTRIES_MAX} entries; only some are listed]"));
    }
    if rows.is_empty() { Ok("the folder is empty".to_owned()) } else { Ok(rows.join("\n")) }
}

fn row(entry: &DirEntry) -> io::Result<String> {
    let name = entry.file_name();
    // A name may hold newlines and escapes; a row must stay a row.
    let name: String = name.to_string_lossy().chars().flat_map(visible).collect();
    Ok(match entry.file_type()? {
        kind if kind.is_dir() => format!("{name}/"),
        kind if kind.is_symlink() => format!("{name} (symbolic link)"),
        kind if kind.is_file() => match entry.metadata() {
            Ok(metadata) => format!("{name} ({})", counted(metadata.len(), "byte")),
            Err(_) => format!("{name} (vanished)"),
        },
        _ => format!("{name} (special file)"),
    })
}

fn visible(c: char) -> impl Iterator<Item = char> {
    let escaped = c.is_control().then(|| c.escape_default());
    let plain = (!c.is_control()).then_some(c);
    escaped.into_iter().flatten().chain(plain)
}
