//! Reading outside the workspace, where the settings allow it (`tools.restrict_to_workspace`).
//!
//! A person is asked about each path (`CallPolicy::Sensitive`), what is read counts as private and
//! as written by others, and files of the program itself stay shut. Nothing is ever written
//! outside.

use crate::links;
use crate::workspace::{Workspace, WorkspaceError, refuse};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

impl Workspace {
    /// The same folder, and tools that read can also read outside of it.
    #[must_use]
    pub fn reading_outside(mut self) -> Self {
        self.reads_outside = true;
        self
    }

    /// The place outside, without links, that a path names; none if it may not be read, or if the
    /// path is one of the workspace. A link in the workspace cannot be used for that.
    pub(crate) fn outside(&self, path: &Path) -> Option<PathBuf> {
        let leaves = matches!(self.resolve(path), Err(WorkspaceError::Outside { .. }));
        (self.reads_outside && leaves).then(|| links::goal(&self.root().join(path)))
    }

    /// Opens a file outside, relative to its folder, so that a link made meanwhile is not followed.
    pub(crate) fn open_outside(
        &self,
        path: &Path,
        place: &Path,
    ) -> Result<(File, Metadata), WorkspaceError> {
        let (Some(folder), Some(name)) = (place.parent(), place.file_name()) else {
            return Err(WorkspaceError::Folder { path: path.to_owned() });
        };
        let folder = self.folder_outside(path, folder)?;
        refuse(path, self.protected.is_place(place))?;
        self.open_below(&folder, path, Path::new(name))
    }

    /// Opens a folder outside. File systems of the kernel, such as `/proc`, are refused.
    pub(crate) fn folder_outside(&self, path: &Path, place: &Path) -> Result<Dir, WorkspaceError> {
        refuse(path, self.protected.is_place(place))?;
        let opened = Dir::open_ambient_dir(place, ambient_authority());
        let folder = opened.map_err(|error| Workspace::failed(path, error))?;
        match is_of_kernel(&folder) {
            true => Err(WorkspaceError::Special { path: path.to_owned() }),
            false => Ok(folder),
        }
    }
}

/// By the numbers of the file systems of processes and devices.
#[cfg(target_os = "linux")]
fn is_of_kernel(folder: impl AsFd) -> bool {
    let system = rustix::fs::fstatfs(folder).map(|disk| (disk.f_type as u64) & 0xFFFF_FFFF);
    !system.is_ok_and(|system| !matches!(system, 0x9FA0 | 0x6265_6572))
}

#[cfg(not(target_os = "linux"))]
fn is_of_kernel(_folder: impl AsFd) -> bool {
    false
}
