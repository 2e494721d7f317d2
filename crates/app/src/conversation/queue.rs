//! Lines that were typed ahead, kept in a file until they are sent: no death loses one.
//!
//! Each chat has a file of its own and its lock, and the name of the file ends with the
//! conversation. A file whose lock is free was left by a process that is gone; the next chat of
//! that conversation takes its lines over. The file only grows, until nothing waits.

use super::EARLIER_CONVERSATION;
use crate::app::App;
use crate::secrets;
use everloop_engine::{Clock, SystemClock, fresh_id};
use everloop_types::ConversationId;
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
    /// What is to work on it; the defaults if nothing was chosen.
    #[serde(default, flatten)]
    pub choice: LineChoice,
}

/// What a person chose for a line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineChoice {
    /// The loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loop_name: Option<String>,
    /// The model, as in `provider/model`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Image files that go with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<PathBuf>,
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
    conversation: ConversationId,
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
    Changed(QueuedLine),
    Gone(String),
}

impl Queue {
    /// A queue with what chats of the conversation that are gone had not sent.
    pub fn open(app: &App, conversation: &ConversationId) -> Self {
        Self::in_folder(app.home.data().join("queued"), conversation)
    }

    fn in_folder(folder: PathBuf, conversation: &ConversationId) -> Self {
        let conversation = conversation.clone();
        let lines = VecDeque::new();
        let mut queue = Self { folder, conversation, kept: None, lines, held: false };
        // What cannot be read now is there for the next chat.
        let _ = queue.take_over();
        queue
    }

    /// The person went on with another conversation: lines that wait go along, and what chats of
    /// that conversation had not sent comes first.
    pub fn move_to(&mut self, conversation: &ConversationId) {
        if self.conversation == *conversation {
            return;
        }
        let mut moved = Self::in_folder(self.folder.clone(), conversation);
        moved.held = self.held;
        for waiting in std::mem::take(&mut self.lines) {
            // A line that the disk does not take waits all the same.
            let _ = moved.note(&QueueNote::Last(waiting));
        }
        // What is replaced has no lines any more, so its file goes with it.
        *self = moved;
    }

    fn take_over(&mut self) -> io::Result<()> {
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(&self.folder)?.filter_map(|it| Some(it.ok()?.path())).collect();
        files.sort();
        let is_ours = |path: &PathBuf| conversation_of(path) == Some(self.conversation.as_str());
        files.retain(is_ours);
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

    /// What chats of a conversation that are gone had not sent. It stays where it is.
    pub(super) fn left_of(app: &App, conversation: &ConversationId) -> Vec<String> {
        let Ok(files) = std::fs::read_dir(app.home.data().join("queued")) else {
            return Vec::new();
        };
        let files = files.filter_map(|it| Some(it.ok()?.path()));
        let files = files.filter(|path| conversation_of(path) == Some(conversation.as_str()));
        let is_free = |path: &PathBuf| File::open(path).is_ok_and(|file| file.try_lock().is_ok());
        let texts = files.filter(is_free).filter_map(|path| std::fs::read_to_string(path).ok());
        texts.flat_map(|text| noted(&text)).map(|waiting| waiting.line).collect()
    }

    /// The conversations whose lines wait in a file, sent by nobody or by another process.
    pub fn conversations(app: &App) -> Vec<ConversationId> {
        let Ok(files) = std::fs::read_dir(app.home.data().join("queued")) else {
            return Vec::new();
        };
        let files = files.filter_map(|it| Some(it.ok()?.path()));
        let mut all: Vec<ConversationId> =
            files.filter_map(|path| conversation_of(&path).map(ConversationId::new)).collect();
        all.sort();
        all.dedup();
        all
    }

    /// Deletes the lines of a conversation that is gone.
    pub(crate) fn forget(app: &App, conversation: &ConversationId) {
        Self::forget_in(&app.home.data().join("queued"), conversation);
    }

    fn forget_in(folder: &Path, conversation: &ConversationId) {
        let Ok(files) = std::fs::read_dir(folder) else { return };
        let files = files.filter_map(|it| Some(it.ok()?.path()));
        for path in files.filter(|path| conversation_of(path) == Some(conversation.as_str())) {
            let _ = std::fs::remove_file(path);
        }
    }

    /// Everything that waits, the first one first.
    pub fn waiting(&self) -> impl Iterator<Item = &QueuedLine> {
        self.lines.iter()
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

    /// The same with what is to work on it, under an id of the sender: a line of that id that waits
    /// already stays as it is. A line that cannot be written does not wait: its sender is told, and
    /// sends it again.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn push_as(&mut self, id: &str, line: &str, choice: LineChoice) -> io::Result<()> {
        if self.lines.iter().any(|known| known.id == id) {
            return Ok(());
        }
        let id = id.to_owned();
        let note = QueueNote::Last(QueuedLine { id, choice, ..waiting(line) });
        self.write(&note)?;
        apply(&mut self.lines, &note);
        Ok(())
    }

    /// Other words for a line that waits; its place stays. `false` if it waits no more.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn change(&mut self, id: &str, line: &str) -> io::Result<bool> {
        let Some(known) = self.lines.iter().find(|known| known.id == id) else { return Ok(false) };
        let (id, choice) = (known.id.clone(), known.choice.clone());
        self.note(&QueueNote::Changed(QueuedLine { id, choice, ..waiting(line) }))?;
        Ok(true)
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
            none => none.insert(QueueFile::begin(&self.folder, &self.conversation)?),
        };
        let line = serde_json::to_string(note)? + "\n";
        let end = kept.file.metadata()?.len();
        let written = kept.file.write_all(line.as_bytes()).and_then(|()| kept.file.sync_data());
        // Half a line would spoil the next one, and a whole one be sent although it was refused.
        if written.is_err() {
            let _ = kept.file.set_len(end);
        }
        written
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
    fn begin(folder: &Path, conversation: &ConversationId) -> io::Result<Self> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let chat = fresh_id("chat_", SystemClock.now());
        let path = folder.join(format!("{chat}.{conversation}.jsonl"));
        let mut options = OpenOptions::new();
        let file = options.append(true).create_new(true).mode(0o600).open(&path)?;
        file.lock()?;
        File::open(folder)?.sync_all()?;
        Ok(Self { path, file })
    }
}

/// The conversation that a file belongs to. Earlier programs had one, and did not name it.
fn conversation_of(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
    Some(name.split_once('.').map_or(EARLIER_CONVERSATION, |(_, conversation)| conversation))
}

fn waiting(line: &str) -> QueuedLine {
    let line = secrets::redactor().text(line).into_owned();
    let id = fresh_id("queued_", SystemClock.now());
    QueuedLine { id, line, choice: LineChoice::default() }
}

fn apply(lines: &mut VecDeque<QueuedLine>, note: &QueueNote) {
    match note {
        QueueNote::Last(waiting) => lines.push_back(waiting.clone()),
        QueueNote::First(waiting) => lines.push_front(waiting.clone()),
        QueueNote::Changed(waiting) => {
            let known = lines.iter_mut().find(|known| known.id == waiting.id);
            known.into_iter().for_each(|known| *known = waiting.clone());
        }
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

    fn queue(folder: &Path, conversation: &str) -> Queue {
        Queue::in_folder(folder.to_owned(), &ConversationId::new(conversation))
    }

    fn texts(queue: &Queue) -> Vec<&str> {
        queue.lines().collect()
    }

    #[test]
    fn what_a_dead_chat_had_not_sent_is_taken_over_once_and_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("queued");
        let mut first = queue(&path, "conv_a");
        first.push("b").unwrap();
        first.push("c").unwrap();
        first.push_first("a").unwrap();
        let sent = first.first().unwrap().id.clone();
        first.gone(&sent).unwrap();
        assert_eq!(texts(&queue(&path, "conv_a")), [""; 0], "it is alive");
        drop(first);
        let second = queue(&path, "conv_a");
        assert_eq!(texts(&second), ["b", "c"]);
        assert_eq!(texts(&queue(&path, "conv_a")), [""; 0], "taken over once");
        drop(second);
        assert_eq!(texts(&queue(&path, "conv_a")), ["b", "c"]);
    }

    #[test]
    fn a_line_that_was_changed_keeps_its_place_and_what_was_chosen_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("queued");
        let mut first = queue(&path, "conv_a");
        let choice = LineChoice { model: Some("local/small".to_owned()), ..LineChoice::default() };
        first.push_as("a1", "a", choice.clone()).unwrap();
        first.push_as("a1", "sent again", LineChoice::default()).unwrap();
        first.push("b").unwrap();
        let id = first.first().unwrap().id.clone();
        assert!(first.change(&id, "changed").unwrap());
        assert!(!first.change("queued_none", "x").unwrap());
        drop(first);
        let second = queue(&path, "conv_a");
        assert_eq!(texts(&second), ["changed", "b"]);
        assert_eq!(second.first().unwrap().choice, choice);
    }

    #[test]
    fn a_line_that_was_cut_short_is_no_line_and_an_empty_queue_leaves_no_file() {
        assert_eq!(noted("{\"last\":{\"id\":\"1\",\"line\":\"a\"}}\n{\"last\":{\"id").len(), 1);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("queued");
        let mut one = queue(&path, "conv_a");
        one.push("a").unwrap();
        let id = one.first().unwrap().id.clone();
        one.gone(&id).unwrap();
        drop(one);
        assert_eq!(std::fs::read_dir(path).unwrap().count(), 0);
    }

    #[test]
    fn the_lines_of_a_conversation_that_is_gone_are_deleted_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("queued");
        for conversation in ["conv_a", "conv_b"] {
            queue(&path, conversation).push("words").unwrap();
        }
        Queue::forget_in(&path, &ConversationId::new("conv_a"));
        assert_eq!(texts(&queue(&path, "conv_a")), [""; 0]);
        assert_eq!(texts(&queue(&path, "conv_b")), ["words"]);
    }

    #[test]
    fn a_line_waits_for_its_own_conversation_and_goes_along_with_the_person() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("queued");
        let mut first = queue(&path, "conv_a");
        first.push("for a").unwrap();
        drop(first);
        let mut second = queue(&path, "conv_b");
        assert_eq!(texts(&second), [""; 0], "it is of another conversation");
        second.push("next").unwrap();
        second.move_to(&ConversationId::new("conv_a"));
        assert_eq!(texts(&second), ["for a", "next"]);
        drop(second);
        assert_eq!(texts(&queue(&path, "conv_b")), [""; 0]);
        assert_eq!(texts(&queue(&path, "conv_a")), ["for a", "next"]);
        std::fs::write(path.join("chat_1.jsonl"), "{\"last\":{\"id\":\"1\",\"line\":\"old\"}}\n")
            .unwrap();
        assert_eq!(texts(&queue(&path, "conv_b")), [""; 0]);
        assert_eq!(texts(&queue(&path, EARLIER_CONVERSATION)), ["old"]);
    }
}
