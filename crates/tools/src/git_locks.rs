//! Lock files that a killed git left, and which of them belong to the call.
//!
//! ```text
//!   there before the call ─────────────────────────────► not ours: stays
//!   made since, and a git works here or holds it open ──► in use: nothing can be said yet
//!   made since, and no process ─────────────────────────► the dead call's own: removed
//! ```
//!
//! Deliberately absent: locks of programs that write a repository without git, hold nothing open
//! and wait. None is known that does so for longer than a moment.

use crate::process_table::named;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How far the times of files may lie behind the clock.
const SLACK: Duration = Duration::from_millis(100);

/// What the intent keeps: the locks that were there, and when.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LockSnapshot {
    locks: Vec<PathBuf>,
    at_ms: u64,
}

impl LockSnapshot {
    /// These locks, now.
    pub(crate) fn now(locks: Vec<PathBuf>) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { locks, at_ms: u64::try_from(now.as_millis()).unwrap_or(0) }
    }

    /// Removes those that only the call can have left that began after this look.
    ///
    /// # Errors
    /// The lock that a process may still hold.
    pub(crate) fn clear(&self, locks: &[PathBuf], workspace: &Path) -> Result<(), PathBuf> {
        let began = UNIX_EPOCH + Duration::from_millis(self.at_ms).saturating_sub(SLACK);
        let is_newer = |lock: &Path| {
            let made = fs::symlink_metadata(lock).and_then(|found| found.modified());
            made.is_ok_and(|made| made >= began)
        };
        let ours = locks.iter().filter(|lock| !self.locks.contains(lock) && is_newer(lock));
        for lock in ours {
            if is_held(lock, workspace) || fs::remove_file(lock).is_err() {
                return Err(lock.clone());
            }
        }
        Ok(())
    }
}

/// Whether a git works in the workspace, or a process has the lock open.
fn is_held(lock: &Path, workspace: &Path) -> bool {
    let works_here = |process: &Path| match fs::read_link(process.join("cwd")) {
        Ok(folder) => folder.starts_with(workspace),
        // It belongs to another account, or has just ended; the next check will show.
        Err(_) => process.exists(),
    };
    let has_open = |process: &Path| {
        let files = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        files.filter_map(|file| fs::read_link(file.path()).ok()).any(|file| file == lock)
    };
    let processes = named();
    // Where there is no table of processes nothing can be ruled out.
    processes.is_empty()
        || processes.iter().any(|(name, process)| {
            has_open(process) || name.starts_with("git") && works_here(process)
        })
}

/// What is to be done about a lock that cannot be removed from here.
pub(crate) fn advice(lock: &Path) -> String {
    let lock = lock.display();
    format!(
        "{lock} is there: a git works in this repository, or one that was killed left it; if none \
         works, the user removes that file"
    )
}
