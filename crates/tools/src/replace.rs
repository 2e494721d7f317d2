//! Replaces a whole file of the workspace, at once or not at all.
//!
//! ```text
//!   temporary file in the same folder ──fsync──► rename over the path ──► fsync of the folder
//! ```
//!
//! A crash leaves the old content or the new one, so a probe can tell by the content's digest
//! whether it happened. A crash may leave the temporary file behind; the next attempt of the same
//! effect uses the same name and clears it away.
//!
//! Deliberately absent: files by which git could be made to run programs. `shell` writes them, and
//! asks. Also absent: a lock against other writers. A change between the last check and the
//! rename is overwritten; the last check comes after the slow part.

use crate::workspace::check_regular;
use crate::{Workspace, WorkspaceError};
use cap_std::fs::{Dir, OpenOptions};
use everloop_ports::CallContext;
use everloop_types::digest_bytes;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Files larger than this are not compared, so what became of them is unknown.
pub(crate) const COMPARE_BYTES_MAX: u64 = 64_000_000;

/// Symbolic links that are followed to the file that they name.
const LINKS_MAX: usize = 20;

/// Digits of the hash that a model is shown and gives back.
const HASH_DIGITS: usize = 12;

/// The hash of a content, as a model is shown it.
pub(crate) fn short_hash(content: &[u8]) -> String {
    let mut hash = digest_bytes(content);
    hash.truncate(HASH_DIGITS);
    hash
}

/// The hash that a model expects, if it gave one. Models that fill in every argument write an empty
/// one, or make one up; the error says so instead of reporting a changed file.
pub(crate) fn expected(hash: Option<&str>) -> Result<Option<&str>, String> {
    let Some(hash) = hash.map(str::trim).filter(|hash| !hash.is_empty()) else { return Ok(None) };
    if hash.len() == HASH_DIGITS && hash.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Ok(Some(hash));
    }
    Err("expect_hash: is not a hash that a tool has shown; leave it out to write whatever is \
         there; nothing was done"
        .to_owned())
}

/// A file that is to have a new content.
pub(crate) struct Replacement<'r> {
    pub(crate) path: &'r Path,
    pub(crate) content: &'r [u8],
    /// The name of the temporary file.
    pub(crate) temporary: &'r str,
    /// The hash of what must still be there; anything may be without it.
    pub(crate) expect: Option<&'r str>,
}

/// The same name for every attempt at an effect, and for no other effect.
pub(crate) fn temporary(context: &CallContext) -> String {
    format!(".everloop-{}.tmp", digest_bytes(context.idem_key.as_bytes()))
}

/// What is at a path now.
pub(crate) enum CurrentFile {
    Nothing,
    Content(Vec<u8>),
    Unreadable,
}

impl CurrentFile {
    /// Looks at a file of the workspace.
    pub(crate) fn at(workspace: &Workspace, path: &Path) -> Self {
        match workspace.read(path, COMPARE_BYTES_MAX) {
            Ok((bytes, size)) if size == bytes.len() as u64 => Self::Content(bytes),
            Err(WorkspaceError::Missing { .. }) => Self::Nothing,
            Ok(_) | Err(_) => Self::Unreadable,
        }
    }
}

/// Gives the file its new content, and keeps its mode.
pub(crate) fn replace_file(
    workspace: &Workspace,
    new: &Replacement<'_>,
) -> Result<(), WorkspaceError> {
    let failed = |error| Workspace::failed(new.path, error);
    let (dir, relative) = workspace.entry(new.path)?;
    let target = follow_links(dir, relative).map_err(failed)?;
    workspace.check_place(new.path, &target)?;
    workspace.check_change(new.path, &target)?;
    let Some(name) = target.file_name() else {
        return Err(WorkspaceError::Folder { path: new.path.to_owned() });
    };
    // Before a folder is made for a file that was to be there.
    check_content(workspace, new.path, new.expect)?;
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = make_folder(dir, folder.unwrap_or(Path::new("."))).map_err(failed)?;
    workspace.check_entry(new.path, &folder, name)?;
    let mode = match folder.symlink_metadata(name) {
        // A link that came up meanwhile is replaced by the rename, never followed.
        Ok(metadata) if metadata.is_symlink() => None,
        Ok(metadata) => {
            workspace.check_file(new.path, &metadata)?;
            check_regular(new.path, &metadata)?;
            Some(metadata.permissions())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed(error)),
    };
    let replaced = fill(&folder, new, mode)
        .map_err(failed)
        .and_then(|()| check_content(workspace, new.path, new.expect))
        .and_then(|()| swap(&folder, new.temporary, name.as_ref()).map_err(failed));
    if replaced.is_err() {
        let _ = folder.remove_file(new.temporary);
    }
    replaced
}

/// Refuses if a file is not what it is expected to be.
fn check_content(
    workspace: &Workspace,
    path: &Path,
    expect: Option<&str>,
) -> Result<(), WorkspaceError> {
    let Some(hash) = expect else { return Ok(()) };
    let changed = |now| WorkspaceError::Changed { path: path.to_owned(), now };
    let now = match workspace.read(path, COMPARE_BYTES_MAX) {
        Ok((bytes, size)) if size == bytes.len() as u64 => short_hash(&bytes),
        Ok(_) => return Err(Workspace::failed(path, io::Error::other("too large to compare"))),
        Err(WorkspaceError::Missing { .. }) => return Err(changed(None)),
        Err(error) => return Err(error),
    };
    if now.eq_ignore_ascii_case(hash.trim()) { Ok(()) } else { Err(changed(Some(now))) }
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
        // Refuses paths to the outside; opening the file refuses them again.
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

/// Writes the new content beside the old one, durably: the slow part.
pub(crate) fn fill(
    folder: &Dir,
    new: &Replacement<'_>,
    mode: Option<cap_std::fs::Permissions>,
) -> io::Result<()> {
    match folder.remove_file(new.temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    let mut file = folder.open_with(new.temporary, options.write(true).create_new(true))?;
    file.write_all(new.content)?;
    if let Some(mode) = mode {
        file.set_permissions(mode)?;
    }
    file.sync_all()
}

pub(crate) fn swap(folder: &Dir, temporary: &str, name: &Path) -> io::Result<()> {
    folder.rename(temporary, folder, name)?;
    sync_folder(folder)
}

pub(crate) fn sync_folder(folder: &Dir) -> io::Result<()> {
    folder.open(".")?.sync_all()
}
