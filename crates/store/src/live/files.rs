//! One machine: a file for each run that is under way, beside the database.
//!
//! The files are not synced and never read back as truth. A thread writes them, so that a driver
//! never waits for a disk while words come: only the file of a run that is over is removed by the
//! driver itself. The thread wakes at most every [`SEND_EVERY`].

use super::tail::FileListener;
use super::{LiveBatch, LiveChannel, LiveListener, OpenPieces, SEND_EVERY};
use everloop_types::{LiveMessage, RunId};
use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Bytes of one file. What goes beyond is not shown before it is whole.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// A file with more than this is begun anew with the next call.
const FILE_BYTES_KEPT: u64 = 256 << 10;

/// The files of the runs that this process drives.
#[derive(Debug)]
pub(crate) struct LiveFiles {
    shared: Arc<LiveFolder>,
}

#[derive(Debug)]
struct LiveFolder {
    folder: PathBuf,
    /// Held for moments only, and never while a disk works.
    waiting: Mutex<WaitingWords>,
    /// Held by the thread while it writes. If both are needed, this one is locked first.
    open: Mutex<OpenFiles>,
    woken: Condvar,
}

#[derive(Debug, Default)]
struct WaitingWords {
    batch: LiveBatch,
    has_writer: bool,
    is_closed: bool,
}

#[derive(Debug, Default)]
struct OpenFiles(BTreeMap<RunId, LiveFile>);

#[derive(Debug)]
struct LiveFile {
    /// None once it could not be written.
    file: Option<File>,
    bytes: u64,
    /// The call of the last piece.
    call: String,
}

impl LiveFiles {
    /// Beside this database file.
    pub(crate) fn beside(database: &Path) -> Self {
        let folder = database.parent().unwrap_or_else(|| Path::new("")).join("live");
        let (waiting, open) = (Mutex::default(), Mutex::default());
        let woken = Condvar::new();
        Self { shared: Arc::new(LiveFolder { folder, waiting, open, woken }) }
    }
}

impl LiveChannel for LiveFiles {
    fn send(&self, message: LiveMessage) {
        if let LiveMessage::Left { run } = &message {
            // At once: the process may end with the run.
            self.shared.leave(run);
            return;
        }
        let mut waiting = lock(&self.shared.waiting);
        let was_empty = waiting.batch.is_empty();
        waiting.batch.add(message);
        if !waiting.has_writer {
            waiting.has_writer = self.shared.clone().start_writer();
        } else if was_empty {
            self.shared.woken.notify_one();
        }
    }

    /// The beginning is in the file.
    fn attach(&self, _open: OpenPieces) {}

    fn listen(&self) -> Box<dyn LiveListener> {
        Box::new(FileListener::new(self.shared.folder.clone()))
    }

    fn clear(&self) {
        let open = lock(&self.shared.open);
        let Ok(files) = fs::read_dir(&self.shared.folder) else { return };
        let ours: Vec<PathBuf> =
            open.0.keys().map(|run| path_of(&self.shared.folder, run)).collect();
        for file in files.flatten().map(|file| file.path()) {
            if !ours.contains(&file) {
                let _ = fs::remove_file(file);
            }
        }
    }
}

impl Drop for LiveFiles {
    fn drop(&mut self) {
        lock(&self.shared.waiting).is_closed = true;
        self.shared.woken.notify_all();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl LiveFolder {
    /// Removes the file of a run. What waits is dropped first: nothing is written after this.
    fn leave(&self, run: &RunId) {
        lock(&self.waiting).batch.drop_run(run);
        if lock(&self.open).0.remove(run).is_some() {
            let _ = fs::remove_file(path_of(&self.folder, run));
        }
    }

    /// Whether there is a thread that writes.
    fn start_writer(self: Arc<Self>) -> bool {
        let writer = std::thread::Builder::new().name("live-words".to_owned());
        writer.spawn(move || self.write_all()).is_ok()
    }

    fn write_all(&self) {
        while self.wait_for_words() {
            let mut open = lock(&self.open);
            // Taken under both locks: a run that ends now has its words dropped or written first.
            let batch = lock(&self.waiting).batch.take();
            for message in batch {
                if let Err(error) = open.write(&self.folder, &message) {
                    tracing::debug!(%error, "live words could not be written");
                }
            }
            drop(open);
            std::thread::sleep(SEND_EVERY);
        }
    }

    /// Returns once something waits, or `false` once no more will come.
    fn wait_for_words(&self) -> bool {
        let mut waiting = lock(&self.waiting);
        while waiting.batch.is_empty() && !waiting.is_closed {
            waiting = self.woken.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        !waiting.is_closed
    }
}

impl OpenFiles {
    fn write(&mut self, folder: &Path, message: &LiveMessage) -> io::Result<()> {
        let run = message.run();
        let LiveMessage::Piece(piece) = message else {
            // Who follows a run without a file looks at its rows anyway.
            return match self.0.get_mut(run) {
                Some(open) => open.write(message),
                None => Ok(()),
            };
        };
        let call = piece.stream.effect.place();
        let is_full = |open: &LiveFile| open.bytes > FILE_BYTES_KEPT && open.call != call;
        if self.0.get(run).is_none_or(is_full) {
            // It stays without a file if there can be none.
            let none = LiveFile { file: None, bytes: 0, call: call.clone() };
            let open = self.0.entry(run.clone()).insert_entry(none).into_mut();
            open.file = Some(create(folder, run)?);
        }
        let Some(open) = self.0.get_mut(run) else { return Ok(()) };
        open.call = call;
        open.write(message)
    }
}

impl LiveFile {
    /// Appends a line. A file that could not be written is not written again: half a line would
    /// spoil the next one.
    fn write(&mut self, message: &LiveMessage) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let mut line = message.to_line();
        line.push('\n');
        if self.bytes + line.len() as u64 > FILE_BYTES_MAX {
            return Ok(());
        }
        let written = file.write_all(line.as_bytes());
        self.bytes += line.len() as u64;
        if written.is_err() {
            self.file = None;
        }
        written
    }
}

/// A new file in place of one that was left: a reader sees that it is another one.
fn create(folder: &Path, run: &RunId) -> io::Result<File> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let path = path_of(folder, run);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    OpenOptions::new().append(true).create_new(true).mode(0o600).open(path)
}

/// The file of a run. An id is never a path.
pub(super) fn path_of(folder: &Path, run: &RunId) -> PathBuf {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let name: String =
        run.as_str().chars().map(|c| if is_plain(c) { c } else { '-' }).take(120).collect();
    folder.join(format!("{name}.jsonl"))
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
