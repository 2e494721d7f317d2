//! How something that a command made is made harmless: by another name, or else without its head.
//!
//! Everything is done in a folder that was opened below the workspace ([`super::folders`]): a link
//! is renamed or removed itself, and what it leads to is never touched.

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

/// What a renamed thing is called.
const ASIDE: &str = "set-aside";

/// Names with a number that are tried for it, before one is made up that nobody can have taken.
const NAMES_MAX: u32 = 9;

/// Bytes of a name.
const NAME_BYTES_MAX: usize = 255;

/// What became of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Disposal {
    /// It has this name now.
    Renamed(PathBuf),
    /// It had to be removed, or what makes a repository of it.
    Removed,
}

/// Workspaces in which something could not be made harmless, and what.
static HELD: Mutex<BTreeMap<PathBuf, PathBuf>> = Mutex::new(BTreeMap::new());

/// Commands in the workspace are asked about until it is gone.
pub(crate) fn hold(workspace: &Path, path: &Path) {
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    held.insert(workspace.to_owned(), path.to_owned());
}

/// What is still in the way of commands in a workspace.
pub(crate) fn held(workspace: &Path) -> Option<PathBuf> {
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    let path = held.get(workspace)?.clone();
    let gone = WorkspaceRoot::open(workspace).and_then(|root| root.stat(&path));
    if matches!(gone, Ok(None)) {
        held.remove(workspace);
        return None;
    }
    Some(path)
}

/// Whether it is a link that was put aside: nobody obeys it by that name.
pub(crate) fn is_aside(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.is_symlink() && name.contains(ASIDE)
}

/// Makes a path of the workspace harmless.
pub(crate) fn set_aside(root: &WorkspaceRoot, path: &Path) -> io::Result<Disposal> {
    let (folder, name) = root.place(path)?;
    match renamed(&folder, &name) {
        Ok(new) => {
            // Git takes the folder for a repository under any name, if one comes to it.
            let new = path.with_file_name(new);
            if let Ok(inner) = root.folder_opened(&new) {
                behead(&inner)?;
            }
            Ok(Disposal::Renamed(new))
        }
        // Nothing that needs room on the disk, or a free name.
        Err(_) => removed(&folder, &name).map(|()| Disposal::Removed),
    }
}

/// Gives a name in a folder another one; a folder that was closed to prevent that is opened.
fn renamed(folder: &OwnedFd, name: &OsStr) -> io::Result<OsString> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let numbers = (2..=NAMES_MAX).map(|number| format!("-{ASIDE}-{number}"));
    let made_up = (0..NAMES_MAX).map(|more| {
        format!("-{ASIDE}-{:x}-{more}", since.as_nanos() ^ u128::from(std::process::id()))
    });
    let endings = std::iter::once(format!("-{ASIDE}")).chain(numbers).chain(made_up);
    for ending in endings {
        let mut new = match name.len() + ending.len() > NAME_BYTES_MAX {
            true => OsString::from("name"),
            false => name.to_owned(),
        };
        new.push(ending);
        let moved = match to_free(folder, name, &new) {
            Err(Errno::ACCESS | Errno::PERM) => {
                open_up(folder)?;
                to_free(folder, name, &new)
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
fn to_free(folder: &OwnedFd, name: &OsStr, new: &OsStr) -> rustix::io::Result<()> {
    match renameat_with(folder, name, folder, new, RenameFlags::NOREPLACE) {
        // Not every file system can.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => match stat_in(folder, new) {
            Ok(None) => renameat(folder, name, folder, new),
            _ => Err(Errno::EXIST),
        },
        done => done,
    }
}

/// A folder without a head is no repository.
fn behead(folder: &OwnedFd) -> io::Result<()> {
    let head = OsStr::new("HEAD");
    if stat_in(folder, head)?.is_none() {
        return Ok(());
    }
    match renamed(folder, head) {
        Ok(_) => Ok(()),
        Err(_) => removed(folder, head),
    }
}

/// Makes it useless where it stands.
fn removed(folder: &OwnedFd, name: &OsStr) -> io::Result<()> {
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
    fn a_link_is_put_aside_itself_and_its_goal_is_left_alone() {
        let outer = tempfile::tempdir().unwrap();
        let path = outer.path().canonicalize().unwrap();
        fs::create_dir_all(path.join("out/repo")).unwrap();
        fs::write(path.join("out/repo/HEAD"), "x").unwrap();
        fs::create_dir(path.join("in")).unwrap();
        symlink(path.join("out/repo"), path.join("in/.git")).unwrap();
        let root = WorkspaceRoot::open(&path.join("in")).unwrap();
        let fate = set_aside(&root, &path.join("in/.git")).unwrap();
        assert_eq!(fate, Disposal::Renamed(path.join("in/.git-set-aside")));
        assert!(path.join("out/repo/HEAD").exists() && path.join("in/.git-set-aside").is_symlink());
        let (folder, _) = root.place(&path.join("in/x")).unwrap();
        removed(&folder, OsStr::new(".git-set-aside")).unwrap();
        assert!(path.join("out/repo/HEAD").exists());
        // A name that has no room for an ending.
        let long = "n".repeat(255);
        fs::write(path.join("in").join(&long), "").unwrap();
        let fate = set_aside(&root, &path.join("in").join(long)).unwrap();
        assert_eq!(fate, Disposal::Renamed(path.join("in/name-set-aside")));
        assert!(set_aside(&root, &path.join("out/repo")).is_err());
        // Without a way out it loses its head.
        fs::create_dir(path.join("in/.git")).unwrap();
        fs::write(path.join("in/.git/HEAD"), "").unwrap();
        removed(&folder, OsStr::new(".git")).unwrap();
        assert!(!path.join("in/.git/HEAD").exists());
    }
}
