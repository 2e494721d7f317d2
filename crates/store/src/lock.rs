//! The right to claim runs on this machine: one process per database file.

use everloop_types::WorkerId;
use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{Read, Seek, SeekFrom, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use crate::{OpenError, StoreError};

/// The lock is held until this value is dropped. It proves that every earlier owner of a run is
/// dead.
#[derive(Debug)]
pub struct ClaimLock {
    // Closing the file gives the lock back, even when the process is killed.
    _file: File,
}

/// The process that holds the lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Its process id; 0 if it has not written it yet.
    pub pid: u32,
    /// Its worker id; empty if it has not written it yet.
    pub worker: WorkerId,
}

/// Why a process may not claim runs.
#[derive(Debug, thiserror::Error)]
pub enum ClaimLockError {
    /// Another process has the right.
    #[error("process {} drives the runs of this database", .0.pid)]
    Held(Holder),
    /// The lock file cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ClaimLock {
    /// The process that wrote the lock file last, if it is still alive. Does not touch the lock.
    #[must_use]
    pub fn signed_by(lock: &Path) -> Option<Holder> {
        let mut file = File::open(lock).ok()?;
        let holder = holder(&mut file).ok()?;
        Path::new("/proc").join(holder.pid.to_string()).exists().then_some(holder)
    }

    /// Takes a lock by its file.
    ///
    /// # Errors
    /// [`ClaimLockError::Held`] names the process that has the lock; the other one says that the
    /// lock file cannot be created.
    pub fn acquire(lock: &Path, worker: &WorkerId) -> Result<Self, ClaimLockError> {
        let failed = |source| {
            let unusable = OpenError::Folder { path: lock.to_owned(), source };
            ClaimLockError::Store(StoreError::from(unusable))
        };
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(lock)
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {
                sign(&mut file, worker).map_err(failed)?;
                Ok(Self { _file: file })
            }
            Err(TryLockError::WouldBlock) => {
                Err(ClaimLockError::Held(holder(&mut file).map_err(failed)?))
            }
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }
}

fn sign(file: &mut File, worker: &WorkerId) -> std::io::Result<()> {
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    writeln!(file, "{} {worker}", std::process::id())
}

fn holder(file: &mut File) -> std::io::Result<Holder> {
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    let (pid, worker) = text.trim_end().split_once(' ').unwrap_or_default();
    Ok(Holder { pid: pid.parse().unwrap_or(0), worker: WorkerId::new(worker) })
}
