//! Gives a file of the workspace back the content that it had, by the rules of the file tools.
//!
//! ```text
//!   folder by folder, no link followed ──► what is there now is as expected ──► replace or remove
//! ```
//!
//! The path was recorded without links. A link at any part of it was put there since, so it is
//! refused and never followed.
//!
//! Deliberately absent: which content a file had (the journal's and `checkpoint`'s).

use crate::replace::{COMPARE_BYTES_MAX, Replacement, fill, swap, sync_folder};
use crate::{Workspace, WorkspaceError};
use cap_std::fs::{Dir, Permissions, PermissionsExt};
use everloop_types::digest_bytes;
use rustix::fs::{Mode, OFlags, mkdirat, openat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path};

/// What is at a path now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileNow {
    /// Nothing.
    Missing,
    /// A file with a content of this digest.
    Content(String),
    /// A link, or a folder that became one.
    Link,
    /// Something that is not a file, or one that is too large to compare.
    Other,
}

/// Why a file was not restored.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// What is there is not what was expected.
    #[error("{path} was changed since")]
    Changed {
        /// The file.
        path: String,
        /// What is there.
        now: FileNow,
    },
    /// No tool may change it.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
}

/// A file that is to be as it was.
#[derive(Debug, Clone, Copy)]
pub struct FileRestore<'r> {
    /// Relative to the workspace, without links.
    pub path: &'r Path,
    /// What has to be there now.
    pub expect: &'r FileNow,
    /// The content that it is to have; none to remove it.
    pub content: Option<&'r [u8]>,
    /// The mode of a file that is made again.
    pub mode: Option<u32>,
    /// The outermost folder that was made for the file: it and those below go with the file if
    /// they are empty.
    pub made: Option<&'r Path>,
    /// A name that no other process uses.
    pub temporary: &'r str,
}

/// What is at a path now, and its mode. No link is followed.
///
/// # Errors
/// If no tool may look at it, or the system refuses.
pub fn file_now(
    workspace: &Workspace,
    path: &Path,
) -> Result<(FileNow, Option<u32>), WorkspaceError> {
    let (dir, names) = checked(workspace, path)?;
    let failed = |error: io::Error| Workspace::failed(path, error);
    let Some((name, folders)) = names.split_last() else { return Ok((FileNow::Other, None)) };
    match open_folder(dir, folders, MissingFolder::Refuse) {
        Ok(folder) => {
            workspace.check_entry(path, &folder, name)?;
            look(workspace, path, &folder, name)
        }
        Err(error) if is_link(&error) => Ok((FileNow::Link, None)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok((FileNow::Missing, None)),
        Err(error) => Err(failed(error)),
    }
}

/// Restores a file, at once or not at all.
///
/// # Errors
/// [`RestoreError::Changed`] if it is not as expected; nothing was done then.
pub fn restore_file(workspace: &Workspace, restore: &FileRestore<'_>) -> Result<(), RestoreError> {
    let path = restore.path;
    let (dir, names) = checked(workspace, path)?;
    let failed = |error: io::Error| RestoreError::from(Workspace::failed(path, error));
    let changed = |now| RestoreError::Changed { path: path.display().to_string(), now };
    // Before a folder is made.
    let (now, mode) = file_now(workspace, path)?;
    if now != *restore.expect {
        return Err(changed(now));
    }
    let Some((name, folders)) = names.split_last() else { return Err(changed(now)) };
    let missing = match restore.content {
        Some(_) => MissingFolder::Make,
        None => MissingFolder::Refuse,
    };
    let folder = match (open_folder(dir, folders, missing), restore.content) {
        (Ok(folder), _) => folder,
        (Err(error), None) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        (Err(error), _) if is_link(&error) => return Err(changed(FileNow::Link)),
        (Err(error), _) => return Err(failed(error)),
    };
    workspace.check_entry(path, &folder, name)?;
    let check = || match look(workspace, path, &folder, name)? {
        (now, _) if now == *restore.expect => Ok(()),
        (now, _) => Err(changed(now)),
    };
    let Some(content) = restore.content else {
        check()?;
        match folder.remove_file(name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => sync_folder(&folder).map_err(failed)?,
        }
        remove_folders(dir, folders, restore.made);
        return Ok(());
    };
    let mode = mode.or(restore.mode).map(Permissions::from_mode);
    let new = Replacement { path, content, temporary: restore.temporary, expect: None };
    let replaced = fill(&folder, &new, mode)
        .map_err(failed)
        .and_then(|()| check())
        .and_then(|()| swap(&folder, restore.temporary, name.as_ref()).map_err(failed));
    if replaced.is_err() {
        let _ = folder.remove_file(restore.temporary);
    }
    replaced
}

/// The folder of the workspace, and the parts of the path below it.
fn checked<'w>(
    workspace: &'w Workspace,
    path: &Path,
) -> Result<(&'w Dir, Vec<OsString>), WorkspaceError> {
    let (dir, relative) = workspace.entry(path)?;
    workspace.check_place(path, &relative)?;
    workspace.check_change(path, &relative)?;
    let outside = || WorkspaceError::Outside { path: path.to_owned() };
    let plain = |part: Component<'_>| match part {
        Component::Normal(name) => Some(name.to_owned()),
        _ => None,
    };
    let names: Option<Vec<OsString>> = relative.components().map(plain).collect();
    Ok((dir, names.ok_or_else(outside)?))
}

/// What becomes of a folder that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MissingFolder {
    Make,
    Refuse,
}

fn open_folder(dir: &Dir, names: &[OsString], missing: MissingFolder) -> io::Result<Dir> {
    let mut folder = dir.try_clone()?;
    for name in names {
        if missing == MissingFolder::Make {
            match mkdirat(&folder, name.as_os_str(), Mode::from_raw_mode(0o777)) {
                Ok(()) => sync_folder(&folder)?,
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = openat(&folder, name.as_os_str(), flags, Mode::empty())?;
        folder = Dir::from_std_file(File::from(opened));
    }
    Ok(folder)
}

/// Whether the system refused because it would have had to follow a link, or because what was a
/// folder is none now.
fn is_link(error: &io::Error) -> bool {
    [Errno::LOOP, Errno::NOTDIR]
        .iter()
        .any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

fn look(
    workspace: &Workspace,
    path: &Path,
    folder: &Dir,
    name: &OsStr,
) -> Result<(FileNow, Option<u32>), WorkspaceError> {
    let failed = |error: io::Error| Workspace::failed(path, error);
    let found = match folder.symlink_metadata(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok((FileNow::Missing, None));
        }
        found => found.map_err(failed)?,
    };
    if found.is_symlink() {
        return Ok((FileNow::Link, None));
    }
    workspace.check_file(path, &found)?;
    if !found.is_file() || found.len() > COMPARE_BYTES_MAX {
        return Ok((FileNow::Other, None));
    }
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = match openat(folder, name, flags, Mode::empty()) {
        Err(Errno::LOOP) => return Ok((FileNow::Link, None)),
        Err(Errno::NOENT) => return Ok((FileNow::Missing, None)),
        opened => File::from(opened.map_err(|error| failed(error.into()))?),
    };
    if !opened.metadata().map_err(failed)?.is_file() {
        return Ok((FileNow::Other, None));
    }
    let mut content = Vec::new();
    opened.take(COMPARE_BYTES_MAX).read_to_end(&mut content).map_err(failed)?;
    let mode = found.permissions().mode() & 0o7777;
    Ok((FileNow::Content(digest_bytes(&content)), Some(mode)))
}

/// Removes the folders that were made for a file, from the innermost on, while they are empty. One
/// that cannot be removed stays.
fn remove_folders(dir: &Dir, folders: &[OsString], made: Option<&Path>) {
    let Some(made) = made else { return };
    let outermost = made.iter().count().max(1);
    for depth in (outermost..=folders.len()).rev() {
        let Some((name, above)) = folders[..depth].split_last() else { return };
        let Ok(parent) = open_folder(dir, above, MissingFolder::Refuse) else { return };
        if parent.remove_dir(name).is_err() || sync_folder(&parent).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn workspace() -> (tempfile::TempDir, Workspace) {
        let folder = tempfile::TempDir::new().unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        (folder, workspace)
    }

    fn restore<'r>(
        path: &'r str,
        expect: &'r FileNow,
        content: Option<&'r [u8]>,
    ) -> FileRestore<'r> {
        let path = Path::new(path);
        FileRestore { path, expect, content, mode: None, made: None, temporary: ".everloop-1.tmp" }
    }

    fn content(text: &str) -> FileNow {
        FileNow::Content(digest_bytes(text.as_bytes()))
    }

    #[test]
    fn a_file_gets_its_content_back_and_keeps_its_mode() {
        let (folder, workspace) = workspace();
        let file = folder.path().join("tool.sh");
        fs::write(&file, "new").unwrap();
        fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o750)).unwrap();
        restore_file(&workspace, &restore("tool.sh", &content("new"), Some(b"\0old"))).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"\0old");
        let (_, mode) = file_now(&workspace, Path::new("tool.sh")).unwrap();
        assert_eq!(mode, Some(0o750));
    }

    #[test]
    fn a_file_that_was_changed_is_left_alone() {
        let (folder, workspace) = workspace();
        fs::write(folder.path().join("a"), "by hand").unwrap();
        for new in [None, Some(&b"old"[..])] {
            let refused = restore_file(&workspace, &restore("a", &content("new"), new));
            let Err(RestoreError::Changed { now, .. }) = refused else { panic!("{refused:?}") };
            assert_eq!(now, content("by hand"));
        }
        assert_eq!(fs::read_to_string(folder.path().join("a")).unwrap(), "by hand");
        let gone = restore_file(&workspace, &restore("b", &content("new"), Some(b"old")));
        assert!(matches!(gone, Err(RestoreError::Changed { now: FileNow::Missing, .. })));
    }

    #[test]
    fn a_new_file_goes_with_the_folders_that_were_made_for_it_unless_they_are_used() {
        let (folder, workspace) = workspace();
        fs::create_dir_all(folder.path().join("kept/made/deep")).unwrap();
        for file in ["kept/made/deep/a", "kept/made/b"] {
            fs::write(folder.path().join(file), "new").unwrap();
        }
        let now = content("new");
        let made = Some(Path::new("kept/made"));
        let first = FileRestore { made, ..restore("kept/made/deep/a", &now, None) };
        restore_file(&workspace, &first).unwrap();
        assert!(!folder.path().join("kept/made/deep").exists());
        assert!(folder.path().join("kept/made/b").exists());
        restore_file(&workspace, &FileRestore { made, ..restore("kept/made/b", &now, None) })
            .unwrap();
        assert!(!folder.path().join("kept/made").exists());
        assert!(folder.path().join("kept").exists());
        let again = restore("kept/made/b", &FileNow::Missing, Some(b"new"));
        restore_file(&workspace, &again).unwrap();
        assert_eq!(fs::read(folder.path().join("kept/made/b")).unwrap(), b"new");
    }

    #[test]
    fn a_link_that_was_put_there_is_never_followed() {
        let (folder, workspace) = workspace();
        let outside = tempfile::TempDir::new().unwrap();
        fs::write(outside.path().join("a"), "new").unwrap();
        fs::create_dir(folder.path().join("inside")).unwrap();
        fs::write(folder.path().join("inside/a"), "new").unwrap();
        symlink(outside.path().join("a"), folder.path().join("file")).unwrap();
        symlink(outside.path(), folder.path().join("folder")).unwrap();
        symlink("inside", folder.path().join("near")).unwrap();
        for path in ["file", "folder/a", "near/a"] {
            for new in [None, Some(&b"old"[..])] {
                let refused = restore_file(&workspace, &restore(path, &content("new"), new));
                let link =
                    matches!(&refused, Err(RestoreError::Changed { now: FileNow::Link, .. }));
                assert!(link, "{path}: {refused:?}");
            }
        }
        assert_eq!(fs::read(outside.path().join("a")).unwrap(), b"new");
        assert_eq!(fs::read(folder.path().join("inside/a")).unwrap(), b"new");
        for path in ["../a", "/etc/passwd", ".git/config"] {
            assert!(file_now(&workspace, Path::new(path)).is_err(), "{path}");
        }
    }
}
