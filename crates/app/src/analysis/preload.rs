//! Tables that are loaded before their run exists, in a folder that a second start finds again.

use super::{DataFolder, folder};
use crate::app::App;
use everloop_analysis::name_of_files;
use std::fs::File;
use std::path::PathBuf;

/// A folder for the tables of some files, which no other process uses meanwhile.
#[derive(Debug)]
pub struct Preload {
    folder: PathBuf,
    lock_file: PathBuf,
    _lock: File,
}

/// The folder of these files; none if another process is loading them, or it cannot be made.
///
/// What was loaded there before a kill is still there, so it is not loaded again.
#[must_use]
pub fn preload(app: &App, files: &[PathBuf]) -> Option<Preload> {
    let name = name_of_files(files);
    let folder = folder(app);
    std::fs::create_dir_all(&folder).ok()?;
    let lock_file = folder.join(format!("{name}.lock"));
    let lock = File::create(&lock_file).ok()?;
    lock.try_lock().ok()?;
    Some(Preload { folder: folder.join(name), lock_file, _lock: lock })
}

impl Preload {
    /// The tables.
    #[must_use]
    pub fn data(&self) -> DataFolder {
        DataFolder::new(&self.folder)
    }

    /// Removes it: nothing of it is needed any more.
    pub fn forget(self) {
        // What cannot be removed is cleared away with old data.
        let _ = std::fs::remove_dir_all(&self.folder);
        let _ = std::fs::remove_file(&self.lock_file);
    }

    /// Makes it the folder of an analysis.
    ///
    /// # Errors
    /// If it cannot be renamed.
    pub fn give_to(self, session: &DataFolder) -> std::io::Result<()> {
        let moved = std::fs::rename(&self.folder, session.path());
        // A lock that stays behind is in nobody's way.
        let _ = std::fs::remove_file(&self.lock_file);
        moved
    }
}
