//! Lines that were typed ahead, kept in a file until they are sent: no death loses one.
//!
//! Each chat has a file of its own and its lock. A file whose lock is free was left by a process
//! that is gone; the next chat takes its lines over. The file only grows, until nothing waits.

use crate::app::App;
use crate::secrets;
use everloop_engine::{Clock, SystemClock, fresh_id};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A line that waits for its turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueuedLine {
    /// Makes it one run, however often it is sent.
    pub id: String,
    /// What was typed.
    pub line: String,
}

/// What is to be done with the first line of a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueueTurn {
    /// It is sent now.
    Send(QueuedLine),
    /// It is offered to the person, who may change it.
    Offer(QueuedLine),
    /// Nothing.
    Wait,
}

/// The lines of one chat.
#[derive(Debug)]
pub struct Queue {
    folder: PathBuf,
    kept: Option<QueueFile>,
    lines: VecDeque<QueuedLine>,
    /// The person has canceled: nothing is sent without their Enter.
    pub held: bool,
}

#[derive(Debug)]
struct QueueFile {
    path: PathBuf,
    file: File,
}

/// One line of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum QueueNote {
    Last(QueuedLine),
    First(QueuedLine),
    Gone(String),
}

impl Queue {
    /// A queue with what chats that are gone had not sent.
    pub fn open(app: &App) -> Self {
        Self::in_folder(app.home.data().join("queued"))
    }

    fn in_folder(folder: PathBuf) -> Self {
        let mut queue = Self { folder, kept: None, lines: VecDeque::new(), held: false };
        // What cannot be read now is there for the next chat.
        let _ = queue.take_over();
        queue
    }

    fn take_over(&mut self) -> io::Result<()> {
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(&self.folder)?.filter_map(|it| Some(it.ok()?.path())).collect();
        files.sort();
        for path in files {
            let Ok(file) = File::open(&path) else { continue };
            if file.try_lock().is_err() {
                continue;
            }
            for waiting in noted(&std::fs::read_to_string(&path)?) {
                if !self.lines.iter().any(|known| known.id == waiting.id) {
                    self.note(&QueueNote::Last(waiting))?;
                }
            }
            std::fs::remove_file(&path)?;
        }
        Ok(())
    }

    /// The lines that wait, the first one first.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().map(|waiting| waiting.line.as_str())
    }

    /// What is to be done with the first line. It must not answer a question that nobody had seen,
    /// so it waits while one is open.
    pub fn turn(&mut self, is_free: bool) -> QueueTurn {
        self.held &= !self.lines.is_empty();
        match self.lines.front().filter(|_| is_free) {
            None => QueueTurn::Wait,
            Some(line) if self.held => QueueTurn::Offer(line.clone()),
            Some(line) => QueueTurn::Send(line.clone()),
        }
    }

    #[cfg(test)]
    fn first(&self) -> Option<&QueuedLine> {
        self.lines.front()
    }

    /// When this returns, the line will be sent, whatever happens.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn push(&mut self, line: &str) -> io::Result<()> {
        self.note(&QueueNote::Last(waiting(line)))
    }

    /// The same, before all others.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn push_first(&mut self, line: &str) -> io::Result<()> {
        self.note(&QueueNote::First(waiting(line)))
    }

    /// A line was sent, or is not wanted any more.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn gone(&mut self, id: &str) -> io::Result<()> {
        self.note(&QueueNote::Gone(id.to_owned()))?;
        if let (true, Some(kept)) = (self.lines.is_empty(), &self.kept) {
            self.held = false;
            kept.file.set_len(0)?;
        }
        Ok(())
    }

    /// A line that the disk does not take waits all the same, for as long as the chat lives.
    fn note(&mut self, note: &QueueNote) -> io::Result<()> {
        let written = self.write(note);
        apply(&mut self.lines, note);
        written
    }

    fn write(&mut self, note: &QueueNote) -> io::Result<()> {
        let kept = match &mut self.kept {
            Some(kept) => kept,
            none => none.insert(QueueFile::begin(&self.folder)?),
        };
        let line = serde_json::to_string(note)? + "\n";
        kept.file.write_all(line.as_bytes())?;
        kept.file.sync_data()
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        if let (true, Some(kept)) = (self.lines.is_empty(), &self.kept) {
            let _ = std::fs::remove_file(&kept.path);
        }
    }
}

impl QueueFile {
    fn begin(folder: &Path) -> io::Result<Self> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let path = folder.join(fresh_id("chat_", SystemClock.now()) + ".jsonl");
        let mut options = OpenOptions::new();
        let file = options.append(true).create_new(true).mode(0o600).open(&path)?;
        file.lock()?;
        File::open(folder)?.sync_all()?;
        Ok(Self { path, file })
    }
}

fn waiting(line: &str) -> QueuedLine {
    let line = secrets::redactor().text(line).into_owned();
    QueuedLine { id: fresh_id("queued_", SystemClock.now()), line }
}

fn apply(lines: &mut VecDeque<QueuedLine>, note: &QueueNote) {
    match note {
        QueueNote::Last(waiting) => lines.push_back(waiting.clone()),
        QueueNote::First(waiting) => lines.push_front(waiting.clone()),
        QueueNote::Gone(id) => lines.retain(|waiting| waiting.id != *id),
    }
}

/// What a file says. A last line that was cut short had not been acknowledged.
fn noted(text: &str) -> VecDeque<QueuedLine> {
    let mut lines = VecDeque::new();
    for note in text.lines().filter_map(|line| serde_json::from_str(line).ok()) {
        apply(&mut lines, &note);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(queue: &Queue) -> Vec<&str> {
        queue.lines().collect()
    }

    #[test]
    fn what_a_dead_chat_had_not_sent_is_taken_over_once_and_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("queued");
        let mut first = Queue::in_folder(path.clone());
        first.push("b").unwrap();
        first.push("c").unwrap();
        first.push_first("a").unwrap();
        let sent = first.first().unwrap().id.clone();
        first.gone(&sent).unwrap();
        assert_eq!(texts(&Queue::in_folder(path.clone())), [""; 0], "it is alive");
        drop(first);
        let second = Queue::in_folder(path.clone());
        assert_eq!(texts(&second), ["b", "c"]);
        assert_eq!(texts(&Queue::in_folder(path.clone())), [""; 0], "taken over once");
        drop(second);
        assert_eq!(texts(&Queue::in_folder(path)), ["b", "c"]);
    }

    #[test]
    fn a_line_that_was_cut_short_is_no_line_and_an_empty_queue_leaves_no_file() {
        assert_eq!(noted("{\"last\":{\"id\":\"1\",\"line\":\"a\"}}\n{\"last\":{\"id").len(), 1);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("queued");
        let mut queue = Queue::in_folder(path.clone());
        queue.push("a").unwrap();
        let id = queue.first().unwrap().id.clone();
        queue.gone(&id).unwrap();
        drop(queue);
        assert_eq!(std::fs::read_dir(path).unwrap().count(), 0);
    }
}
