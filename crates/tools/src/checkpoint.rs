//! Copies of files as they were before a run changed them, so that the change can be undone.
//!
//! ```text
//!   copy, durable ──► intent in the journal, durable ──► the file is replaced
//! ```
//!
//! A crash between two of them leaves a file that is unchanged, or a change that can be undone. The
//! copies of a run lie in a folder of its own, named by their content, and go with the run.
//!
//! Deliberately absent: what was changed and in which order (the journal's), and undoing
//! (`restore`, and the application).

use crate::record::{RecordFolder, write_first};
use crate::replace::CurrentFile;
use crate::{Workspace, diff, links};
use everloop_ports::CallContext;
use everloop_types::{FileChange, RunId, digest_bytes};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// Equal lines that a diff shows around each change.
const CONTEXT_LINES: usize = 3;

/// The folder of all copies, and what bounds it. Clones share what they counted.
#[derive(Debug, Clone)]
pub struct Checkpoints {
    records: RecordFolder,
    folder: PathBuf,
    file_bytes_max: u64,
    total_bytes_max: u64,
    /// What all copies take, once it was counted.
    used: Arc<Mutex<Option<u64>>>,
}

impl Checkpoints {
    /// The copies in a folder; a larger file is not kept, and the oldest runs lose theirs where all
    /// together take more.
    #[must_use]
    pub fn new(folder: PathBuf, file_bytes_max: u64, total_bytes_max: u64) -> Self {
        let records = RecordFolder::new(folder.clone());
        Self { records, folder, file_bytes_max, total_bytes_max, used: Arc::default() }
    }

    /// Where they are.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Keeps a content for a run; durable when this returns. Whether it is kept: one for which the
    /// bounds leave no room is not.
    ///
    /// # Errors
    /// If the copy cannot be written.
    pub fn keep(&self, run: &RunId, content: &[u8]) -> io::Result<bool> {
        let size = content.len() as u64;
        if size > self.file_bytes_max || size > self.total_bytes_max {
            return Ok(false);
        }
        let folder = self.records.of(run).ok_or(ErrorKind::InvalidFilename)?;
        let file = folder.join(digest_bytes(content));
        if file.exists() {
            return Ok(true);
        }
        if !self.make_room(size, &folder)? {
            return Ok(false);
        }
        self.begin(run)?;
        match write_first(&file, content) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        *used = used.map(|used| used + size);
        Ok(true)
    }

    /// Makes the folder of a run, which says that the run changes files.
    fn begin(&self, run: &RunId) -> io::Result<()> {
        let folder = self.records.of(run).ok_or(ErrorKind::InvalidFilename)?;
        if !folder.exists() {
            DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
            for made in [&folder, &self.folder] {
                File::open(made.parent().unwrap_or(Path::new(".")))?.sync_all()?;
            }
        }
        Ok(())
    }

    /// Whether a run may have changed files.
    #[must_use]
    pub fn has_run(&self, run: &RunId) -> bool {
        self.records.of(run).is_some_and(|folder| folder.exists())
    }

    /// A content that a run kept; none if it is gone or damaged.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(&self, run: &RunId, hash: &str) -> io::Result<Option<Vec<u8>>> {
        let is_hash = !hash.is_empty() && hash.bytes().all(|digit| digit.is_ascii_hexdigit());
        let Some(folder) = self.records.of(run).filter(|_| is_hash) else { return Ok(None) };
        match fs::read(folder.join(hash)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            read => Ok(Some(read?).filter(|content| digest_bytes(content) == hash)),
        }
    }

    /// Removes the copies of the oldest runs until there is room, but none of `own`. Whether there
    /// is.
    fn make_room(&self, size: u64, own: &Path) -> io::Result<bool> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if used.is_some_and(|used| used + size <= self.total_bytes_max) {
            return Ok(true);
        }
        // Other processes add and remove copies too.
        let mut folders = sizes(&self.folder)?;
        folders.sort();
        let mut total: u64 = folders.iter().map(|(_, _, bytes)| bytes).sum();
        for (_, folder, bytes) in folders {
            if total + size <= self.total_bytes_max {
                break;
            }
            if folder != own && fs::remove_dir_all(&folder).is_ok() {
                total -= bytes;
            }
        }
        *used = Some(total);
        Ok(total + size <= self.total_bytes_max)
    }
}

/// The folders of runs with when each was last added to, and what it takes.
fn sizes(folder: &Path) -> io::Result<Vec<(SystemTime, PathBuf, u64)>> {
    let runs = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        runs => runs?,
    };
    let mut found = Vec::new();
    for run in runs.flatten().filter(|run| run.file_type().is_ok_and(|kind| kind.is_dir())) {
        let files = fs::read_dir(run.path()).into_iter().flatten().flatten();
        let bytes = files.filter_map(|file| Some(file.metadata().ok()?.len())).sum();
        let changed = run.metadata().and_then(|run| run.modified());
        found.push((changed.unwrap_or(SystemTime::UNIX_EPOCH), run.path(), bytes));
    }
    Ok(found)
}

/// What the intent of a call records about the file that it is to change.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChangeIntent {
    /// The digest of the content; null for no file, false for one that cannot be read.
    pub was: Value,
    /// The digest of the content that it is to have.
    pub will: Option<String>,
    /// The file, relative to the workspace and without links.
    pub target: Option<String>,
    /// Whether the content is kept, or there was none.
    pub kept: bool,
    /// The outermost folder that has to be made for it.
    pub made: Option<String>,
    /// Where the call is made; see `place`.
    pub place: Option<String>,
}

impl ChangeIntent {
    /// Looks at a file, and keeps its content for a run.
    pub(crate) fn of(
        workspace: &Workspace,
        path: &Path,
        present: &CurrentFile,
        kept: Option<(&Checkpoints, &RunId)>,
    ) -> Self {
        let target = target(workspace, path);
        let made = target.as_deref().and_then(|target| missing_folder(workspace, target));
        let is_kept = match (present, kept) {
            (CurrentFile::Nothing, Some((checkpoints, run))) => checkpoints.begin(run).is_ok(),
            (CurrentFile::Content(content), Some((checkpoints, run))) => {
                checkpoints.keep(run, content).unwrap_or(false)
            }
            _ => false,
        };
        Self {
            was: crate::write_file::was(present),
            will: None,
            target: target.and_then(|target| target.to_str().map(str::to_owned)),
            kept: is_kept,
            made: made.and_then(|made| made.to_str().map(str::to_owned)),
            place: None,
        }
    }
}

/// The path relative to the workspace and without links; none if it leads outside.
fn target(workspace: &Workspace, path: &Path) -> Option<PathBuf> {
    let relative = workspace.resolve(path).ok()?;
    let goal = links::goal(&workspace.root().join(relative));
    goal.strip_prefix(workspace.root()).ok().map(Path::to_owned)
}

fn missing_folder(workspace: &Workspace, target: &Path) -> Option<PathBuf> {
    let folders = target.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    let is_missing = |folder: &&Path| !workspace.root().join(folder).exists();
    folders.take_while(is_missing).last().map(Path::to_owned)
}

/// Keeps what a call is about to replace. The intent has kept it before; it may have changed since.
pub(crate) struct ChangeKeeper {
    checkpoints: Option<Checkpoints>,
    run: Option<RunId>,
}

impl ChangeKeeper {
    pub(crate) fn new(checkpoints: Option<&Checkpoints>, context: &CallContext) -> Self {
        let run = context.effect.as_ref().map(|effect| effect.run.clone());
        Self { checkpoints: checkpoints.cloned(), run }
    }

    /// Whether the content can be restored later.
    ///
    /// # Errors
    /// Why it cannot be kept, for the model: nothing may be changed then.
    pub(crate) fn keep(&self, present: &CurrentFile) -> Result<bool, String> {
        let (Some(checkpoints), Some(run)) = (&self.checkpoints, &self.run) else {
            return Ok(false);
        };
        match present {
            CurrentFile::Nothing => Ok(true),
            CurrentFile::Unreadable => Ok(false),
            CurrentFile::Content(content) => checkpoints.keep(run, content).map_err(|error| {
                format!(
                    "cannot keep a copy of the file to undo the change: {error}; \
                         nothing was done"
                )
            }),
        }
    }
}

/// The change of a file, for people.
pub(crate) fn file_change(
    workspace: &Workspace,
    path: &Path,
    old: &CurrentFile,
    new: &[u8],
    kept: bool,
) -> Box<FileChange> {
    let target = target(workspace, path).unwrap_or_else(|| path.to_owned());
    let (was, old): (_, &[u8]) = match old {
        CurrentFile::Content(old) => (Some(digest_bytes(old)), old),
        CurrentFile::Nothing | CurrentFile::Unreadable => (None, &[]),
    };
    let diff = diff::unified(old, new, CONTEXT_LINES);
    Box::new(FileChange {
        path: target.to_string_lossy().into_owned(),
        was,
        now: digest_bytes(new),
        added: diff.added,
        removed: diff.removed,
        diff: diff.lines,
        more: diff.more,
        kept,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn run(name: &str) -> RunId {
        RunId::new(name)
    }

    #[test]
    fn a_copy_is_private_named_by_its_content_and_read_back() {
        let folder = tempfile::TempDir::new().unwrap();
        let copies = Checkpoints::new(folder.path().join("checkpoints"), 100, 1_000);
        assert!(copies.keep(&run("run_1"), b"old").unwrap());
        assert!(copies.keep(&run("run_1"), b"old").unwrap());
        let hash = digest_bytes(b"old");
        let file = folder.path().join("checkpoints/run_1").join(&hash);
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(copies.read(&run("run_1"), &hash).unwrap().unwrap(), b"old");
        assert_eq!(copies.read(&run("run_2"), &hash).unwrap(), None);
        assert_eq!(copies.read(&run("run_1"), "../../secret").unwrap(), None);
        fs::write(&file, "tampered").unwrap();
        assert_eq!(copies.read(&run("run_1"), &hash).unwrap(), None);
    }

    #[test]
    fn a_large_file_is_not_kept_and_the_oldest_run_makes_room() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("checkpoints");
        let copies = Checkpoints::new(path.clone(), 60, 100);
        assert!(!copies.keep(&run("run_1"), &[b'x'; 61]).unwrap());
        assert!(copies.keep(&run("run_1"), &[b'a'; 50]).unwrap());
        File::open(path.join("run_1")).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert!(copies.keep(&run("run_2"), &[b'b'; 50]).unwrap());
        assert!(copies.keep(&run("run_3"), &[b'c'; 10]).unwrap());
        assert!(!path.join("run_1").exists());
        assert!(path.join("run_2").exists());
        assert!(!copies.keep(&run("run_2"), &[b'd'; 60]).unwrap());
        assert!(copies.keep(&run("../run"), b"x").is_err());
    }
}
