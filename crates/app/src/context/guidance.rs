//! `AGENTS.md` of a workspace: how the user wants work done there.

use everloop_tools::{Workspace, WorkspaceError, clean};
use std::path::Path;

/// The file. Only the one at the root is read: a file deeper down is for whoever works there, and
/// can be read like any other.
pub(crate) const AGENTS_FILE: &str = "AGENTS.md";

/// Bytes that are read of it.
pub(crate) const AGENTS_BYTES_MAX: u64 = 32 * 1_024;

/// The guidance of a workspace, as far as it fits; `None` if there is no such file.
///
/// # Errors
/// If there is one that cannot be used, such as a link that leads out of the workspace.
pub(crate) fn read(workspace: &Path) -> Result<Option<String>, WorkspaceError> {
    let folder = Workspace::open(workspace)?;
    let (bytes, size) = match folder.read(Path::new(AGENTS_FILE), AGENTS_BYTES_MAX) {
        Err(WorkspaceError::Missing { .. }) => return Ok(None),
        found => found?,
    };
    let text = clean(&bytes);
    let text = text.trim();
    Ok(match (text.is_empty(), size > bytes.len() as u64) {
        (true, _) => None,
        (false, false) => Some(text.to_owned()),
        (false, true) => {
            Some(format!("{text}\n[only the first {} of {size} bytes are shown]", bytes.len()))
        }
    })
}
