//! The files of a database: who may read them, and where they may be stored.

use super::open::OpenError;
use crate::db::DbError;
use rustix::{
    fs::Access,
    io::Errno,
    process::{Resource, getrlimit},
};
use std::{
    collections::BTreeSet,
    fs::{self, DirBuilder, File, Metadata, OpenOptions},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

/// The databases that this process has open, by device and inode.
static OPEN: Mutex<BTreeSet<FileId>> = Mutex::new(BTreeSet::new());

type FileId = (u64, u64);

/// A file that lacks less than this to its limit has reached it: one write may be so long.
const LENGTH_LEFT: u64 = 1 << 20;

/// The only right of this process to open a database, as long as it lives.
///
/// The locks of SQLite belong to the whole process, and closing any descriptor of the file drops
/// them all. So this code never opens a file that a store has open.
#[derive(Debug)]
pub(super) struct SoleOpener {
    id: FileId,
}

impl Drop for SoleOpener {
    fn drop(&mut self) {
        OPEN.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

/// Which files a database was opened as. Its name may come to mean another file, or none: then what
/// is written goes where nobody finds it.
#[derive(Debug)]
pub(super) struct FileIdentity {
    files: Vec<(PathBuf, FileId)>,
    /// How the file must lie there, if it is read without a lock.
    still: Option<FileStamp>,
}

/// Length and time of a file that nobody writes to.
type FileStamp = (u64, i64, i64);

impl FileIdentity {
    /// Of a database that is open: the file itself, its log, and the log's index.
    pub(super) fn of(path: &Path) -> Self {
        let names = ["", "-wal", "-shm"].map(|ending| {
            let mut name = path.as_os_str().to_owned();
            name.push(ending);
            PathBuf::from(name)
        });
        let known = |name: PathBuf| id(&name).map(|id| (name, id));
        Self { files: names.into_iter().filter_map(known).collect(), still: None }
    }

    /// Of a database that is only read. With `still`, without any lock: then nobody may have
    /// written to it since.
    pub(super) fn of_read(path: &Path, still: bool) -> Self {
        let files = id(path).map(|id| (path.to_owned(), id)).into_iter().collect();
        Self { files, still: stamp(path).filter(|_| still) }
    }

    /// Looks whether the names still mean the files. Opens none of them.
    pub(super) fn check(&self) -> Result<(), DbError> {
        if let (Some(was), Some((name, _))) = (self.still, self.files.first())
            && (stamp(name) != Some(was) || super::look::has_log(name))
        {
            let words = format!("{} was changed while it was read; try again", name.display());
            return Err(DbError::Other { source: std::sync::Arc::new(io::Error::other(words)) });
        }
        match self.files.iter().find(|(name, was)| id(name) != Some(*was)) {
            None => Ok(()),
            Some((name, _)) => {
                let words = format!(
                    "{} was removed or replaced while it was open; stop every everloop, then put \
                     the file back or restore a backup",
                    name.display()
                );
                Err(DbError::Other { source: std::sync::Arc::new(io::Error::other(words)) })
            }
        }
    }
}

fn stamp(path: &Path) -> Option<FileStamp> {
    let file = fs::metadata(path).ok()?;
    Some((file.len(), file.mtime(), file.mtime_nsec()))
}

fn id(path: &Path) -> Option<FileId> {
    fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

/// Makes the folder (0700) and the file (0600) where they are missing. Opens no file that exists.
///
/// SQLite gives its log the rights of the database, so this one place covers all three files.
pub(super) fn prepare(path: &Path) -> Result<SoleOpener, OpenError> {
    let folder = folder_of(path);
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&folder)
        .map_err(|source| refused(&folder, source))?;
    refuse_network(&folder)?;
    // Held to the end: between making the file and closing it, no store may open it.
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let failed = |source| refused(path, source);
    let metadata = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => make(path),
        found => found,
    };
    let metadata = metadata.map_err(failed)?;
    if !metadata.is_file() {
        return Err(failed(io::Error::other("it is no regular file")));
    }
    let rights = Access::READ_OK | Access::WRITE_OK;
    rustix::fs::access(path, rights).map_err(|error| failed(error.into()))?;
    register(path, &metadata, &mut open)
}

/// The same right for a file that is only read, and must be there.
pub(super) fn hold(path: &Path) -> Result<SoleOpener, OpenError> {
    regular(path)?;
    let metadata = fs::metadata(path).map_err(|source| refused(path, source))?;
    register(path, &metadata, &mut OPEN.lock().unwrap_or_else(PoisonError::into_inner))
}

fn register(
    path: &Path,
    file: &Metadata,
    open: &mut BTreeSet<FileId>,
) -> Result<SoleOpener, OpenError> {
    let id = (file.dev(), file.ino());
    if !open.insert(id) {
        return Err(OpenError::AlreadyOpen { path: path.to_owned() });
    }
    Ok(SoleOpener { id })
}

/// What is said if this process may open no more files: a database that cannot be opened then is
/// neither damaged nor read-only.
pub(super) fn no_more_files() -> Option<io::Error> {
    // SQLite may just have given back the last that it had.
    let open = [(); 3].map(|()| File::open("/dev/null"));
    let refused = open.into_iter().find_map(Result::err)?;
    let errno = Errno::from_io_error(&refused);
    let words = "this process may open no more files; close some, or raise the limit (ulimit -n)";
    matches!(errno, Some(Errno::MFILE | Errno::NFILE)).then(|| io::Error::other(words))
}

/// What is said about a write that failed, if the database or its log is about as long as files may
/// become here.
pub(super) fn length_limit(file: &Path) -> Option<io::Error> {
    let most = getrlimit(Resource::Fsize).current?;
    let length = |name: &Path| fs::metadata(name).map_or(0, |file| file.len());
    let longest = length(file).max(length(&super::look::beside(file, "-wal")));
    if longest.saturating_add(LENGTH_LEFT) < most {
        return None;
    }
    let words = format!(
        "no file may grow beyond {most} bytes here; raise the limit (ulimit -f), nothing is lost"
    );
    Some(io::Error::other(words))
}

/// Whether the file and its folder, where the log lies, may be written.
pub(super) fn is_writable(path: &Path) -> bool {
    let may = |path: &Path| rustix::fs::access(path, Access::WRITE_OK).is_ok();
    may(path) && may(&folder_of(path))
}

/// Checks that a file is there and is one.
pub(super) fn regular(path: &Path) -> Result<(), OpenError> {
    let failed = |source| refused(path, source);
    match fs::metadata(path).map_err(failed)?.is_file() {
        true => Ok(()),
        false => Err(failed(io::Error::other("it is no regular file"))),
    }
}

/// Makes a file that is missing, or takes the one of a process that was faster.
fn make(path: &Path) -> io::Result<Metadata> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600).open(path)?.metadata()
}

/// A new file (0600) that must not have existed.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Makes a rename in the folder of `path` survive a power cut.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    fs::File::open(folder_of(path))?.sync_all()
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

fn refused(path: &Path, source: io::Error) -> OpenError {
    if let Some(words) = no_more_files() {
        return DbError::Other { source: std::sync::Arc::new(words) }.into();
    }
    match source.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            DbError::ReadOnly { file: path.into() }.into()
        }
        _ => OpenError::Folder { path: path.to_owned(), source },
    }
}

/// The log needs memory that all processes share, which exists on one host only.
#[cfg(target_os = "linux")]
fn refuse_network(folder: &Path) -> Result<(), OpenError> {
    let stat = rustix::fs::statfs(folder).map_err(|error| refused(folder, error.into()))?;
    // The type of the field differs between platforms; the magic numbers fit 32 bits everywhere.
    match network_name((stat.f_type as u64) & 0xFFFF_FFFF) {
        Some(system) => Err(OpenError::NotLocal { path: folder.to_owned(), system }),
        None => Ok(()),
    }
}

/// Elsewhere the kinds of file system have no numbers that we know.
#[cfg(not(target_os = "linux"))]
fn refuse_network(_folder: &Path) -> Result<(), OpenError> {
    Ok(())
}

/// The name of a network file system, by its magic number.
fn network_name(magic: u64) -> Option<&'static str> {
    Some(match magic {
        0x6969 => "NFS",
        0x517B | 0xFE53_4D42 | 0xFF53_4D42 => "SMB",
        0x0102_1997 => "9P",
        0x00C3_6400 => "Ceph",
        0x5346_414F => "AFS",
        0x7375_7245 => "Coda",
        0x0BD0_0BD0 => "Lustre",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_file_systems_are_known_by_number() {
        assert_eq!(network_name(0x6969), Some("NFS"));
        assert_eq!(network_name(0xFE53_4D42), Some("SMB"));
        assert_eq!(network_name(0xEF53), None, "ext4 is local");
    }
}
