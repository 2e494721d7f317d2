//! The folder that file tools are confined to.
//!
//! Every path is opened below a handle of that folder, component by component where the kernel
//! cannot do it at once, so that neither `..` nor a symbolic link leaves it, not even one that
//! appears between a check and its use.

use crate::home::AccountHome;
use crate::links;
use crate::protected::{ProtectedFiles, START_UP, VERSION_CONTROL};
use crate::sandbox::repositories::is_layout;
use crate::sandbox::trusted_files::is_trusted_target;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions, OpenOptionsExt};
use everloop_types::{instructs, path_within};
use rustix::fs::OFlags;
use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::fd::IntoRawFd;
use std::path::{Component, Path, PathBuf};

/// The folder that file tools are confined to.
#[derive(Debug)]
pub struct Workspace {
    dir: Dir,
    /// The root as it was given, and without symbolic links: both are accepted in paths.
    roots: [PathBuf; 2],
    pub(crate) protected: ProtectedFiles,
    /// Whether files outside can be read.
    pub(crate) reads_outside: bool,
}

/// Why a path of the workspace cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The workspace itself is missing or closed to us.
    #[error("cannot open the workspace {}", root.display())]
    Root {
        /// The folder.
        root: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The path leaves the workspace.
    #[error("{} leads outside the workspace; use a path relative to it", path.display())]
    Outside {
        /// As it was given.
        path: PathBuf,
    },
    /// There is nothing at the path.
    #[error("{} does not exist", path.display())]
    Missing {
        /// As it was given.
        path: PathBuf,
    },
    /// It is a folder where a file is wanted.
    #[error("{} is a folder, not a file; use list_dir", path.display())]
    Folder {
        /// As it was given.
        path: PathBuf,
    },
    /// It is a device, a pipe or a socket.
    #[error("{} is neither a file nor a folder", path.display())]
    Special {
        /// As it was given.
        path: PathBuf,
    },
    /// It is a file of the program itself.
    #[error("{} belongs to everloop itself; nothing was done", path.display())]
    Protected {
        /// As it was given.
        path: PathBuf,
    },
    /// It is a file by which git could be made to run programs.
    #[error("{} tells git which programs to run; ask for shell", path.display())]
    Git {
        /// As it was given.
        path: PathBuf,
    },
    /// It decides what other programs or people later run or trust in the folder.
    #[error("{} is protected in a workspace; nothing was done", path.display())]
    Shut {
        /// As it was given.
        path: PathBuf,
    },
    /// It is not what it was expected to be.
    #[error("{} {}; read it again, nothing was done", path.display(), changed(now.as_ref()))]
    Changed {
        /// As it was given.
        path: PathBuf,
        /// The hash of what is there now, if anything is.
        now: Option<String>,
    },
    /// The system refused.
    #[error("cannot use {}", path.display())]
    Io {
        /// As it was given.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

fn changed(now: Option<&String>) -> String {
    match now {
        Some(hash) => format!("has changed: its hash is now {hash}"),
        None => "does not exist any more".to_owned(),
    }
}

impl WorkspaceError {
    /// The error and its cause, for the model.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Root { source, .. } | Self::Io { source, .. } => format!("{self}: {source}"),
            _ => self.to_string(),
        }
    }

    fn io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match (source.kind(), source.raw_os_error()) {
            (io::ErrorKind::NotFound, _) => Self::Missing { path },
            // The refusal of `cap-std` comes from no system call.
            (io::ErrorKind::PermissionDenied, None) => Self::Outside { path },
            _ => Self::Io { path, source },
        }
    }
}

impl Workspace {
    /// Opens the folder; it must exist.
    ///
    /// # Errors
    /// [`WorkspaceError::Root`] if it cannot be opened.
    pub fn open(root: &Path) -> Result<Self, WorkspaceError> {
        let failed = |source| WorkspaceError::Root { root: root.to_owned(), source };
        let real = root.canonicalize().map_err(failed)?;
        let dir = Dir::open_ambient_dir(&real, ambient_authority()).map_err(failed)?;
        let (roots, protected) = ([root.to_owned(), real], ProtectedFiles::default());
        Ok(Self { dir, roots, protected, reads_outside: false })
    }

    /// The same folder, but for these files: no tool opens, replaces or makes them.
    #[must_use]
    pub fn protecting(self, files: &[PathBuf]) -> Self {
        let protected = ProtectedFiles::new(files, self.root());
        Self { protected, ..self }
    }

    /// The folder, without symbolic links.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.roots[1]
    }

    /// The path relative to the workspace. Refuses a path whose text leaves it; one that
    /// leaves it through a symbolic link is refused when it is opened.
    ///
    /// # Errors
    /// [`WorkspaceError::Outside`].
    pub fn resolve(&self, path: &Path) -> Result<PathBuf, WorkspaceError> {
        let outside = || WorkspaceError::Outside { path: path.to_owned() };
        let relative = if path.is_absolute() {
            let inside = self.roots.iter().find_map(|root| path.strip_prefix(root).ok());
            inside.ok_or_else(outside)?
        } else {
            path
        };
        let mut depth = 0_usize;
        for component in relative.components() {
            match component {
                Component::Normal(_) => depth += 1,
                Component::ParentDir => depth = depth.checked_sub(1).ok_or_else(outside)?,
                Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
            }
        }
        if relative.as_os_str().is_empty() {
            return Ok(PathBuf::from("."));
        }
        Ok(relative.to_owned())
    }

    /// Reads a file's first bytes, and tells its whole size.
    ///
    /// # Errors
    /// If there is no regular file at the path.
    pub fn read(&self, path: &Path, bytes_max: u64) -> Result<(Vec<u8>, u64), WorkspaceError> {
        let (file, metadata) = match self.outside(path) {
            Some(place) => self.open_outside(path, &place)?,
            None => self.open_file(path)?,
        };
        let mut bytes = Vec::new();
        let read = file.take(bytes_max).read_to_end(&mut bytes);
        read.map_err(|error| WorkspaceError::io(path, error))?;
        Ok((bytes, metadata.len()))
    }

    /// Looks before it opens, since opening a device may act, and again afterwards, since the
    /// path may have changed in between; a pipe without a writer must not block.
    fn open_file(&self, path: &Path) -> Result<(File, Metadata), WorkspaceError> {
        let relative = self.resolve(path)?;
        self.check_place(path, &relative)?;
        self.open_below(&self.dir, path, &relative)
    }

    /// The same for a path below any folder, by a name that was checked.
    pub(crate) fn open_below(
        &self,
        dir: &Dir,
        path: &Path,
        relative: &Path,
    ) -> Result<(File, Metadata), WorkspaceError> {
        let failed = |error| WorkspaceError::io(path, error);
        let metadata = dir.metadata(relative).map_err(failed)?;
        self.check_file(path, &metadata)?;
        check_regular(path, &metadata)?;
        let mut options = OpenOptions::new();
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        options.read(true).custom_flags(flags.bits().cast_signed());
        let file = dir.open_with(relative, &options).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if let Err(refused) = self.check_file(path, &metadata) {
            // Closing it would drop the locks of this process: leak the descriptor instead.
            let _ = file.into_raw_fd();
            return Err(refused);
        }
        check_regular(path, &metadata)?;
        Ok((file, metadata))
    }

    /// Refuses a path, relative to the workspace, that is a file of the program itself.
    pub(crate) fn check_place(&self, path: &Path, relative: &Path) -> Result<(), WorkspaceError> {
        refuse(path, self.protected.is_place(&self.root().join(relative)))
    }

    /// Refuses a path, relative to the workspace, that no tool may change: git could be made to run
    /// programs by it, or people and programs would trust it later.
    pub(crate) fn check_change(&self, path: &Path, relative: &Path) -> Result<(), WorkspaceError> {
        let place = links::goal(&self.root().join(relative));
        let inside = place.strip_prefix(self.root()).unwrap_or(&place);
        let is = |name: &OsStr, own: &str| name.eq_ignore_ascii_case(own);
        let last = inside.file_name().unwrap_or_default();
        if is(last, ".gitattributes") || is(last, ".gitmodules") {
            return Err(WorkspaceError::Git { path: path.to_owned() });
        }
        let first = inside.iter().next().unwrap_or_default();
        let is_shut =
            |name: &OsStr| is(name, ".agents") || VERSION_CONTROL.iter().any(|own| is(name, own));
        if inside.iter().any(is_shut) || START_UP.iter().any(|own| is(first, own)) {
            return Err(WorkspaceError::Shut { path: path.to_owned() });
        }
        Ok(())
    }

    /// Whether other programs take instructions from a file, by its name or that of its target.
    pub(crate) fn instructs(&self, path: &Path) -> bool {
        // A path outside is refused when it is opened.
        let Ok(relative) = self.resolve(path) else { return false };
        let goal = links::goal(&self.root().join(&relative));
        let names = [goal.strip_prefix(self.root()).unwrap_or(&goal), &relative];
        let by_name = names.iter().any(|path| {
            let name = path_within(&path.to_string_lossy(), "");
            name.is_none_or(|name| instructs(&name))
        });
        let is_obeyed = by_name
            || makes_repository(self.root(), &goal)
            || is_trusted_target(self.root(), &goal);
        is_obeyed
            || AccountHome::of_account().is_some_and(|home| home.is_trusted(self.root(), &goal))
    }

    /// Refuses a file of the program itself under any other name.
    pub(crate) fn check_file(&self, path: &Path, found: &Metadata) -> Result<(), WorkspaceError> {
        refuse(path, self.protected.is_file(found))
    }

    /// Refuses the name of a file of the program itself, in its folder.
    pub(crate) fn check_entry(
        &self,
        path: &Path,
        folder: &Dir,
        name: &OsStr,
    ) -> Result<(), WorkspaceError> {
        refuse(path, self.protected.is_entry(folder, name))
    }

    /// The handle that other tools of this crate work below, and the path under it.
    pub(crate) fn entry(&self, path: &Path) -> Result<(&Dir, PathBuf), WorkspaceError> {
        Ok((&self.dir, self.resolve(path)?))
    }

    /// The path of a file or folder that exists, relative to the workspace and without links.
    pub(crate) fn folder_or_file(&self, path: &Path) -> Result<PathBuf, WorkspaceError> {
        let relative = self.resolve(path)?;
        self.check_place(path, &relative)?;
        let real = self.dir.canonicalize(&relative);
        let real = real.map_err(|error| WorkspaceError::io(path, error))?;
        match real.iter().any(|name| name.eq_ignore_ascii_case(".git")) {
            true => Err(WorkspaceError::Shut { path: path.to_owned() }),
            false => Ok(real),
        }
    }

    /// The path with links resolved, if it differs.
    pub(crate) fn leads_to(&self, path: &Path) -> Option<String> {
        if let Some(place) = self.outside(path) {
            return (place != path).then(|| place.to_string_lossy().into_owned());
        }
        links::leads_to(self.root(), &self.resolve(path).ok()?)
    }

    /// Gives an error of a system call the path that the model knows.
    pub(crate) fn failed(path: &Path, error: io::Error) -> WorkspaceError {
        WorkspaceError::io(path, error)
    }
}

pub(crate) fn refuse(path: &Path, protected: bool) -> Result<(), WorkspaceError> {
    if protected { Err(WorkspaceError::Protected { path: path.to_owned() }) } else { Ok(()) }
}

/// Whether git takes a folder around the place for a repository, once something is there.
fn makes_repository(root: &Path, place: &Path) -> bool {
    let folders = place.ancestors().skip(1).take_while(|folder| folder.starts_with(root));
    folders.into_iter().any(|folder| {
        let new = place.strip_prefix(folder).ok().and_then(|inner| inner.iter().next());
        is_layout(|name| {
            new.is_some_and(|new| new.eq_ignore_ascii_case(name)) || folder.join(name).exists()
        })
    })
}

/// Refuses all but regular files.
pub(crate) fn check_regular(path: &Path, metadata: &Metadata) -> Result<(), WorkspaceError> {
    let path = path.to_owned();
    match metadata.file_type() {
        kind if kind.is_file() => Ok(()),
        kind if kind.is_dir() => Err(WorkspaceError::Folder { path }),
        _ => Err(WorkspaceError::Special { path }),
    }
}
