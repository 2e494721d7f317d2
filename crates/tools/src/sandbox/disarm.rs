//! Makes something that a command left harmless: renames it, or else removes its `HEAD`.
//!
//! Everything happens in a folder that was opened below the workspace ([`super::folders`]): a link
//! itself is renamed or removed, and its target is never touched.

use super::folders::{WorkspaceRoot, inner, kind, open_up, stat_in};
use rustix::fs::{AtFlags, FileType, RenameFlags, renameat, renameat_with, unlinkat};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Added to the name of what is renamed.
const DISARMED_SUFFIX: &str = "set-aside";

/// Numbered names that are tried before a unique one.
const NAMES_MAX: u32 = 9;

/// Bytes of a name.
const NAME_BYTES_MAX: usize = 255;

/// How something was disarmed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Disposal {
    /// It has this name now.
    Renamed(PathBuf),
    /// It had to be removed, or what makes a repository of it.
    Removed,
}

/// Workspaces in which something could not be made harmless, and what.
static BLOCKED: Mutex<BTreeMap<PathBuf, PathBuf>> = Mutex::new(BTreeMap::new());

/// Makes commands in the workspace need approval until the path is gone.
pub(crate) fn block_workspace(workspace: &Path, path: &Path) {
    let mut held = BLOCKED.lock().unwrap_or_else(PoisonError::into_inner);
    held.insert(workspace.to_owned(), path.to_owned());
}

/// The path because of which commands in a workspace need approval.
pub(crate) fn blocking_path(workspace: &Path) -> Option<PathBuf> {
    let mut held = BLOCKED.lock().unwrap_or_else(PoisonError::into_inner);
    let path = held.get(workspace)?.clone();
    let gone = WorkspaceRoot::open(workspace).and_then(|root| root.stat(&path));
    if matches!(gone, Ok(None)) {
        held.remove(workspace);
        return None;
    }
    Some(path)
}

/// Whether it is a link that was renamed, which no program uses by that name.
pub(crate) fn is_disarmed_link(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.is_symlink() && name.contains(DISARMED_SUFFIX)
}

/// Makes a path of the workspace harmless.
pub(crate) fn disarm_path(root: &WorkspaceRoot, path: &Path) -> io::Result<Disposal> {
    let (folder, name) = root.place(path)?;
    match rename_in(&folder, &name) {
        Ok(new) => {
            // Git takes such a folder for a repository whatever its name.
            let new = path.with_file_name(new);
            if let Ok(inner) = root.folder_opened(&new) {
                disable_head(&inner)?;
            }
            Ok(Disposal::Renamed(new))
        }
        // Removing needs neither disk space nor a free name.
        Err(_) => remove_in(&folder, &name).map(|()| Disposal::Removed),
    }
}

/// Gives a name in a folder another one; a folder that was closed to prevent that is opened.
fn rename_in(folder: &OwnedFd, name: &OsStr) -> io::Result<OsString> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let numbers = (2..=NAMES_MAX).map(|number| format!("-{DISARMED_SUFFIX}-{number}"));
    let made_up = (0..NAMES_MAX).map(|more| {
        format!("-{DISARMED_SUFFIX}-{:x}-{more}", since.as_nanos() ^ u128::from(std::process::id()))
    });
    let endings = std::iter::once(format!("-{DISARMED_SUFFIX}")).chain(numbers).chain(made_up);
    for ending in endings {
        let mut new = match name.len() + ending.len() > NAME_BYTES_MAX {
            true => OsString::from("name"),
            false => name.to_owned(),
        };
        new.push(ending);
        let moved = match rename_to_free_name(folder, name, &new) {
            Err(Errno::ACCESS | Errno::PERM) => {
                open_up(folder)?;
                rename_to_free_name(folder, name, &new)
            }
            moved => moved,
        };
        match moved {
            Ok(()) => return Ok(new),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Renames, if nothing has the new name.
fn rename_to_free_name(folder: &OwnedFd, name: &OsStr, new: &OsStr) -> rustix::io::Result<()> {
    match renameat_with(folder, name, folder, new, RenameFlags::NOREPLACE) {
        // Not every file system can.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => match stat_in(folder, new) {
            Ok(None) => renameat(folder, name, folder, new),
            _ => Err(Errno::EXIST),
        },
        done => done,
    }
}

/// Renames or removes `HEAD`: without it git does not take the folder for a repository.
fn disable_head(folder: &OwnedFd) -> io::Result<()> {
    let head = OsStr::new("HEAD");
    if stat_in(folder, head)?.is_none() {
        return Ok(());
    }
    match rename_in(folder, head) {
        Ok(_) => Ok(()),
        Err(_) => remove_in(folder, head),
    }
}

/// Removes it, or of a folder the files that make it a repository.
fn remove_in(folder: &OwnedFd, name: &OsStr) -> io::Result<()> {
    let Some(found) = stat_in(folder, name)? else { return Ok(()) };
    if kind(&found) != FileType::Directory {
        return Ok(unlinkat(folder, name, AtFlags::empty())?);
    }
    let inner = inner(folder, name)?;
    let mut done = Err(io::ErrorKind::NotFound.into());
    for part in ["HEAD", "config"] {
        match stat_in(&inner, part)?.map(|found| kind(&found)) {
            None => {}
            Some(FileType::Directory) => return Err(io::ErrorKind::IsADirectory.into()),
            Some(_) => done = unlinkat(&inner, part, AtFlags::empty()).map_err(io::Error::from),
        }
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_link_is_renamed_itself_and_its_target_is_left_alone() {
        let outer = tempfile::tempdir().unwrap();
        let path = outer.path().canonicalize().unwrap();
        fs::create_dir_all(path.join("out/repo")).unwrap();
        fs::write(path.join("out/repo/HEAD"), "x").unwrap();
        fs::create_dir(path.join("in")).unwrap();
        symlink(path.join("out/repo"), path.join("in/.git")).unwrap();
        let root = WorkspaceRoot::open(&path.join("in")).unwrap();
        let fate = disarm_path(&root, &path.join("in/.git")).unwrap();
        assert_eq!(fate, Disposal::Renamed(path.join("in/.git-set-aside")));
        assert!(path.join("out/repo/HEAD").exists() && path.join("in/.git-set-aside").is_symlink());
        let (folder, _) = root.place(&path.join("in/x")).unwrap();
        remove_in(&folder, OsStr::new(".git-set-aside")).unwrap();
        assert!(path.join("out/repo/HEAD").exists());
        // A name that has no room for an ending.
        let long = "n".repeat(255);
        fs::write(path.join("in").join(&long), "").unwrap();
        let fate = disarm_path(&root, &path.join("in").join(long)).unwrap();
        assert_eq!(fate, Disposal::Renamed(path.join("in/name-set-aside")));
        assert!(disarm_path(&root, &path.join("out/repo")).is_err());
        // Without a way out it loses its head.
        fs::create_dir(path.join("in/.git")).unwrap();
        fs::write(path.join("in/.git/HEAD"), "").unwrap();
        remove_in(&folder, OsStr::new(".git")).unwrap();
        assert!(!path.join("in/.git/HEAD").exists());
    }
}
