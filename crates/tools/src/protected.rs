//! Files that belong to the program itself, which no tool may open.
//!
//! A lock on a file belongs to the whole process: closing any descriptor of a file drops
//! the locks that the process holds on it. A tool that merely reads our database would so make
//! another process believe that it is alone. Everything here looks at names and inodes only.

use cap_std::fs::{Dir, MetadataExt as _};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

/// Files and folders that programs read on their own when the folder is opened, or is a home.
pub(crate) const START_UP: [&str; 6] =
    [".bashrc", ".bash_profile", ".profile", ".zshrc", ".zprofile", ".ssh"];

/// Where version control keeps its own files: a folder, or a file that refers to one.
pub(crate) const VERSION_CONTROL: [&str; 11] = [
    ".git",
    ".hg",
    ".svn",
    ".jj",
    ".sl",
    ".bzr",
    ".pijul",
    "_darcs",
    ".repo",
    ".fslckout",
    "_FOSSIL_",
];

/// Identifies a file by device and inode.
type InodeId = (u64, u64);

/// The files and folders that no tool may touch, whether they exist or not.
#[derive(Debug, Default)]
pub(crate) struct ProtectedFiles {
    paths: Vec<PathBuf>,
}

impl ProtectedFiles {
    /// All of them but what the workspace lies in: it would be shut as a whole.
    pub(crate) fn new(paths: &[PathBuf], workspace: &Path) -> Self {
        let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let apart = |path: &PathBuf| !workspace.starts_with(real(path));
        Self { paths: paths.iter().map(absolute).filter(apart).collect() }
    }

    /// Whether it is one of them by another name. They come and go, so each is looked up anew.
    pub(crate) fn is_file(&self, metadata: &cap_std::fs::Metadata) -> bool {
        let id = (metadata.dev(), metadata.ino());
        self.paths.iter().any(|path| id_of(path) == Some(id))
    }

    /// Whether the path is one of them, or lies below one as if that were a folder.
    pub(crate) fn is_place(&self, path: &Path) -> bool {
        let place = real(path);
        self.paths.iter().any(|path| place.starts_with(real(path)))
    }

    /// Whether this name in this folder is one of them, or the folder is, by whatever path.
    pub(crate) fn is_entry(&self, folder: &Dir, name: &OsStr) -> bool {
        let Ok(folder) = folder.dir_metadata() else { return true };
        let id = (folder.dev(), folder.ino());
        self.paths.iter().any(|path| {
            let same_name = path.file_name().is_some_and(|own| own.eq_ignore_ascii_case(name));
            id_of(path) == Some(id) || same_name && path.parent().and_then(id_of) == Some(id)
        })
    }
}

fn id_of(path: &Path) -> Option<InodeId> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

/// The path without symbolic links and `..`, as far as it exists; the rest by its look.
pub(crate) fn real(path: &Path) -> PathBuf {
    let existing = path.ancestors().find_map(|start| Some((start, start.canonicalize().ok()?)));
    let Some((start, mut real)) = existing else { return path.to_owned() };
    for component in path.strip_prefix(start).unwrap_or(Path::new("")).components() {
        match component {
            Component::ParentDir => drop(real.pop()),
            Component::Normal(name) => real.push(name),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    real
}
