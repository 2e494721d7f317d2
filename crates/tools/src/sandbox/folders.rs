//! Files of a workspace by descriptors: no link is followed, and no path is too long.
//!
//! A command can leave anything in the workspace, including links to paths outside. So code that
//! runs after a command opens each folder relative to the one above it and follows no link.

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, RawMode, Stat, fchmod, fstat, open, openat, readlinkat,
    statat,
};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Bytes of a path that the system takes at once.
const STEP_BYTES: usize = 4_000;

/// Bytes of a path that is still read; git supports only much shorter ones.
const PATH_BYTES_MAX: usize = 16_384;

/// How a folder is opened.
const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The folder that all others are opened below.
#[derive(Debug)]
pub(crate) struct WorkspaceRoot {
    path: PathBuf,
    folder: OwnedFd,
}

/// A name in a folder.
#[derive(Debug)]
pub(crate) struct FolderEntry {
    pub(crate) name: OsString,
    pub(crate) kind: FileType,
}

impl WorkspaceRoot {
    /// Opens a folder whose path is the person's, and has no links.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let folder = open(path, FOLDER, Mode::empty())?;
        Ok(Self { path: path.to_owned(), folder })
    }

    /// The same after a command, which may have closed it.
    pub(crate) fn reopen(path: &Path) -> io::Result<Self> {
        Self::open(path).or_else(|_| {
            open_up_at(rustix::fs::CWD, path.as_os_str())?;
            Self::open(path)
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A folder in it, by its whole path.
    pub(crate) fn folder(&self, path: &Path) -> io::Result<OwnedFd> {
        let inner = path.strip_prefix(&self.path).map_err(|_| io::ErrorKind::InvalidInput)?;
        if inner.as_os_str().len() > PATH_BYTES_MAX {
            return Err(Errno::NAMETOOLONG.into());
        }
        let mut folder = self.folder.try_clone()?;
        for step in steps(inner) {
            folder = below(&folder, &step)?;
        }
        Ok(folder)
    }

    /// The same; folders that a command closed to keep us out are opened, if they are our own.
    pub(crate) fn folder_opened(&self, path: &Path) -> io::Result<OwnedFd> {
        let refused = match self.folder(path) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => error,
            found => return found,
        };
        let parts: Vec<&OsStr> = path.strip_prefix(&self.path).unwrap_or(path).iter().collect();
        let mut folder = self.folder.try_clone()?;
        // What is not ours stays as it is.
        let _ = open_up(&folder);
        for part in parts {
            folder = match openat(&folder, part, FOLDER, Mode::empty()) {
                Ok(inner) => inner,
                Err(_) => {
                    open_up_at(&folder, part)?;
                    openat(&folder, part, FOLDER, Mode::empty())?
                }
            };
            let _ = open_up(&folder);
        }
        self.folder(path).map_err(|_| refused)
    }

    /// The folder that a path lies in, and its name there.
    pub(crate) fn place(&self, path: &Path) -> io::Result<(OwnedFd, OsString)> {
        let (Some(outer), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        Ok((self.folder_opened(outer)?, name.to_owned()))
    }

    /// What is at a path, links as themselves.
    pub(crate) fn stat(&self, path: &Path) -> io::Result<Option<Stat>> {
        match self.place(path) {
            Ok((folder, name)) => stat_in(&folder, &name),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// What has a name in a folder, if anything has.
pub(crate) fn stat_in(folder: impl AsFd, name: impl AsRef<OsStr>) -> io::Result<Option<Stat>> {
    match statat(folder, name.as_ref(), AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => Ok(Some(found)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

pub(crate) fn kind(found: &Stat) -> FileType {
    FileType::from_raw_mode(found.st_mode)
}

/// Whether it is a regular file of this account without further hard links.
pub(crate) fn is_own_file(found: &Stat) -> bool {
    let is_ours = found.st_uid == rustix::process::geteuid().as_raw();
    kind(found) == FileType::RegularFile && found.st_nlink == 1 && is_ours
}

/// A stamp that changes when a file is written.
pub(crate) fn stamp(found: &Stat) -> String {
    let (modified, changed) = (found.st_mtime_nsec, found.st_ctime_nsec);
    let when = format!("{}.{modified} {}.{changed}", found.st_mtime, found.st_ctime);
    format!("{}:{} {} {when}", found.st_dev, found.st_ino, found.st_size)
}

/// The folder of a name in another.
pub(crate) fn inner(folder: impl AsFd, name: impl AsRef<OsStr>) -> io::Result<OwnedFd> {
    Ok(openat(folder, name.as_ref(), FOLDER, Mode::empty())?)
}

/// The target of a link, as written.
pub(crate) fn link_in(folder: impl AsFd, name: impl AsRef<OsStr>) -> Option<PathBuf> {
    let goal = readlinkat(folder, name.as_ref(), Vec::new()).ok()?;
    Some(OsString::from_vec(goal.into_bytes()).into())
}

/// All of a regular file, unless it is longer than that.
pub(crate) fn read_in(
    folder: impl AsFd,
    name: impl AsRef<OsStr>,
    bytes_max: u64,
) -> io::Result<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = openat(folder, name.as_ref(), flags | OFlags::CLOEXEC, Mode::empty())?;
    if kind(&fstat(&file)?) != FileType::RegularFile {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut bytes = Vec::new();
    File::from(file).take(bytes_max + 1).read_to_end(&mut bytes)?;
    match u64::try_from(bytes.len()).is_ok_and(|length| length <= bytes_max) {
        true => Ok(bytes),
        false => Err(io::ErrorKind::FileTooLarge.into()),
    }
}

/// The names in a folder, as they are read.
pub(crate) struct FolderEntries {
    names: Dir,
    folder: OwnedFd,
}

pub(crate) fn entries(folder: &OwnedFd) -> io::Result<FolderEntries> {
    Ok(FolderEntries { names: Dir::read_from(folder)?, folder: folder.try_clone()? })
}

impl Iterator for FolderEntries {
    type Item = io::Result<FolderEntry>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let entry = match self.names.next()? {
                Ok(entry) => entry,
                Err(error) => return Some(Err(error.into())),
            };
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            let kind = match entry.file_type() {
                // Some file systems do not report the type.
                FileType::Unknown => match stat_in(&self.folder, name) {
                    Ok(Some(found)) => kind(&found),
                    Ok(None) => continue,
                    Err(error) => return Some(Err(error)),
                },
                known => known,
            };
            return Some(Ok(FolderEntry { name: name.to_owned(), kind }));
        }
    }
}

/// Restores the access of the account to a folder of its own.
pub(crate) fn open_up(folder: &OwnedFd) -> io::Result<()> {
    let mode = fstat(folder)?.st_mode;
    match wider(mode) {
        Some(mode) => Ok(fchmod(folder, mode)?),
        None => Ok(()),
    }
}

fn wider(mode: RawMode) -> Option<Mode> {
    (mode & 0o700 != 0o700).then(|| Mode::from_raw_mode(mode & 0o7777 | 0o700))
}

/// The same for one that cannot be opened yet. The target of a link is never touched.
#[cfg(target_os = "linux")]
fn open_up_at(folder: impl AsFd, name: &OsStr) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let closed = openat(folder, name, flags, Mode::empty())?;
    // `fchmod` needs an open file, but this path cannot refer to another one.
    match wider(fstat(&closed)?.st_mode) {
        Some(mode) => Ok(rustix::fs::chmod(format!("/proc/self/fd/{}", closed.as_raw_fd()), mode)?),
        None => Ok(()),
    }
}

#[cfg(not(target_os = "linux"))]
fn open_up_at(_folder: impl AsFd, _name: &OsStr) -> io::Result<()> {
    Err(io::ErrorKind::PermissionDenied.into())
}

/// A path in pieces that the system takes.
fn steps(path: &Path) -> Vec<PathBuf> {
    let mut steps: Vec<PathBuf> = Vec::new();
    for part in path.iter() {
        match steps.last_mut() {
            Some(step) if step.as_os_str().len() + part.len() < STEP_BYTES => step.push(part),
            _ => steps.push(part.into()),
        }
    }
    steps
}

/// A folder below another, with no link on the way.
#[cfg(target_os = "linux")]
fn below(folder: &OwnedFd, path: &Path) -> io::Result<OwnedFd> {
    use rustix::fs::{ResolveFlags, openat2};
    let way = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS | ResolveFlags::BENEATH;
    match openat2(folder, path, FOLDER, Mode::empty(), way) {
        Ok(inner) => Ok(inner),
        // Older systems do not know the call, and some containers refuse it.
        Err(Errno::NOSYS | Errno::PERM | Errno::INVAL) => part_by_part(folder, path),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn below(folder: &OwnedFd, path: &Path) -> io::Result<OwnedFd> {
    part_by_part(folder, path)
}

fn part_by_part(folder: &OwnedFd, path: &Path) -> io::Result<OwnedFd> {
    let mut folder = folder.try_clone()?;
    for part in path.iter() {
        folder = inner(&folder, part)?;
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn no_link_is_followed_and_no_path_is_too_long() {
        let outer = tempfile::tempdir().unwrap();
        let path = outer.path().canonicalize().unwrap();
        fs::create_dir_all(path.join("a/b")).unwrap();
        symlink("a", path.join("link")).unwrap();
        let root = WorkspaceRoot::open(&path).unwrap();
        assert!(root.folder(&path.join("a/b")).is_ok());
        for part_by_part in [
            below(&root.folder, Path::new("link/b")),
            part_by_part(&root.folder, Path::new("link/b")),
        ] {
            assert!(part_by_part.is_err());
        }
        assert!(root.folder(&path.join("link")).is_err());
        assert!(root.folder(path.parent().unwrap()).is_err());
        // Deeper than a path can say at once.
        let (name, mut deep, mut folder) =
            ("d".repeat(250), path.clone(), root.folder(&path).unwrap());
        for _ in 0..40 {
            rustix::fs::mkdirat(&folder, &name, Mode::RWXU).unwrap();
            folder = inner(&folder, &name).unwrap();
            deep.push(&name);
        }
        assert!(deep.as_os_str().len() > 8_192 && fs::read_dir(&deep).is_err());
        assert!(root.folder(&deep).is_ok());
        assert_eq!(root.stat(&deep.join("nothing")).unwrap().map(|found| kind(&found)), None);
    }

    #[test]
    fn only_folders_of_our_own_are_opened_up() {
        let outer = tempfile::tempdir().unwrap();
        let path = outer.path().canonicalize().unwrap();
        fs::create_dir_all(path.join("in/closed/deep")).unwrap();
        fs::create_dir(path.join("out")).unwrap();
        symlink("../out", path.join("in/link")).unwrap();
        let closed = fs::Permissions::from_mode(0o000);
        fs::set_permissions(path.join("in/closed"), closed.clone()).unwrap();
        fs::set_permissions(path.join("out"), closed).unwrap();
        let root = WorkspaceRoot::open(&path.join("in")).unwrap();
        assert!(root.folder_opened(&path.join("in/closed/deep")).is_ok());
        assert!(root.folder_opened(&path.join("in/link")).is_err());
        assert!(open_up_at(&root.folder, OsStr::new("link")).is_err());
        let mode = fs::symlink_metadata(path.join("out")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o000);
        fs::set_permissions(path.join("out"), fs::Permissions::from_mode(0o700)).unwrap();
    }
}
