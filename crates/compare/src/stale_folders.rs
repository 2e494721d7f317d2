//! Folders of stages whose process was killed: the next comparison removes them.
//!
//! ```text
//!   stage ──► everloop-compare-x/held, locked while it lives     killed ──► the lock is free
//!   next comparison ──lock taken?──► leave it │ remove the folder
//! ```
//!
//! A folder without the file is left alone: another process may be creating it.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// How the names of our folders begin.
pub(crate) const PREFIX: &str = "everloop-compare-";
const HELD: &str = "held";

/// Marks a folder as in use, for as long as the file is open.
pub(crate) fn mark_in_use(folder: &Path) -> io::Result<File> {
    let new = folder.join("new");
    let file = File::create(&new)?;
    file.lock()?;
    // Locked before it has its final name, so that no process finds it unlocked.
    fs::rename(new, folder.join(HELD))?;
    Ok(file)
}

/// Removes the folders of killed comparisons. Errors are ignored.
pub(crate) fn clear() {
    clear_in(&std::env::temp_dir());
}

fn clear_in(outer: &Path) {
    let Ok(entries) = fs::read_dir(outer) else { return };
    for entry in entries.flatten() {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let is_named = entry.file_name().to_string_lossy().starts_with(PREFIX);
        if is_folder && is_named && is_stale(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether a folder is ours and no longer in use. Files of other programs are not opened.
fn is_stale(folder: &Path) -> bool {
    let me = rustix::process::getuid().as_raw();
    folder.symlink_metadata().is_ok_and(|it| it.uid() == me)
        && File::open(folder.join(HELD)).is_ok_and(|file| file.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::{PREFIX, clear_in, mark_in_use};
    use std::fs;

    #[test]
    fn only_what_nobody_holds_is_taken_away() {
        let outer = tempfile::tempdir().unwrap();
        let folder = |name: &str| {
            let folder = outer.path().join(name);
            fs::create_dir_all(folder.join("workspace")).unwrap();
            folder
        };
        let (left, live) = (folder(&format!("{PREFIX}left")), folder(&format!("{PREFIX}live")));
        let (new, other) = (folder(&format!("{PREFIX}new")), folder("something-else"));
        // Unlocked, not only closed: a child process that another test starts has the file open,
        // too.
        mark_in_use(&left).unwrap().unlock().unwrap();
        mark_in_use(&other).unwrap().unlock().unwrap();
        let held = mark_in_use(&live).unwrap();
        clear_in(outer.path());
        assert_eq!([&left, &live, &new, &other].map(|it| it.exists()), [false, true, true, true]);
        held.unlock().unwrap();
        clear_in(outer.path());
        assert!(!live.exists());
    }
}
