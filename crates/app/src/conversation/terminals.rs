//! Which terminal a run or a conversation belongs to: the chat that began it, or took it up.
//!
//! Each chat notes its conversation and its runs in a file of its own, whose lock it holds as long
//! as it lives. Thus every other chat can tell a conversation that is open from one that is free,
//! and a question that somebody else has before them from one that nobody has any more. A line
//! answers only a question of this terminal's own.

use crate::app::App;
use everloop_engine::{Clock, SystemClock, fresh_id};
use everloop_types::{ConversationId, RunId};
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;

/// What the line of a conversation begins with.
const CONVERSATION_MARK: char = '@';

/// The runs of this terminal, and where the others note theirs.
#[derive(Debug)]
pub(crate) struct Terminals {
    folder: PathBuf,
    file: Option<(PathBuf, File)>,
    own: BTreeSet<RunId>,
    /// Runs whose end the person was told of.
    told: BTreeSet<RunId>,
    /// Runs of others in this conversation of which it was said that they work.
    watched: BTreeSet<RunId>,
    /// Questions of others that were announced here.
    announced: BTreeSet<(RunId, String)>,
}

/// What the other terminals of this home have.
#[derive(Debug, Default)]
pub(crate) struct OtherTerminals {
    pub(crate) runs: BTreeSet<RunId>,
    pub(crate) conversations: BTreeSet<ConversationId>,
}

impl Terminals {
    pub(crate) fn open(app: &App) -> Self {
        Self::in_folder(app.home.data().join("terminals"))
    }

    fn in_folder(folder: PathBuf) -> Self {
        Self {
            folder,
            file: None,
            own: BTreeSet::new(),
            told: BTreeSet::new(),
            watched: BTreeSet::new(),
            announced: BTreeSet::new(),
        }
    }

    /// This terminal has the conversation from now on, and no run yet.
    pub(super) fn enter(&mut self, conversation: &ConversationId) {
        self.leave();
        self.own.clear();
        self.told.clear();
        self.watched.clear();
        // A terminal whose note cannot be written works; others may open its conversation too.
        let _ = self.note(&format!("{CONVERSATION_MARK}{conversation}"));
    }

    /// A lock that ends with its value. Without it two terminals may choose one conversation.
    pub(super) fn take_turn(&self) -> Option<File> {
        self.make_folder().ok()?;
        let folder = File::open(&self.folder).ok()?;
        folder.lock().ok()?;
        Some(folder)
    }

    fn make_folder(&self) -> io::Result<()> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)
    }

    fn leave(&mut self) {
        if let Some((path, _)) = self.file.take() {
            let _ = std::fs::remove_file(path);
        }
    }

    /// Whether it is said for the first time that a run of another terminal works.
    pub(super) fn watches(&mut self, run: &RunId) -> bool {
        self.watched.insert(run.clone())
    }

    /// The runs of others that were said to work.
    pub(super) fn watched(&self) -> Vec<RunId> {
        self.watched.iter().cloned().collect()
    }

    /// The run is looked after here from now on.
    pub(super) fn take(&mut self, run: &RunId) {
        self.watched.remove(run);
        if self.own.insert(run.clone()) {
            // A terminal whose note cannot be written works; others may take its questions up.
            let _ = self.note(run.as_str());
        }
    }

    /// The person has been told of its end.
    pub(super) fn forget(&mut self, run: &RunId) {
        self.own.remove(run);
        self.watched.remove(run);
        self.told.insert(run.clone());
    }

    pub(super) fn is_told(&self, run: &RunId) -> bool {
        self.told.contains(run)
    }

    /// The runs that are looked after here.
    pub(super) fn own(&self) -> Vec<RunId> {
        self.own.iter().cloned().collect()
    }

    pub(super) fn has(&self, run: &RunId) -> bool {
        self.own.contains(run)
    }

    /// Whether a question is announced for the first time.
    pub(super) fn announces(&mut self, run: &RunId, question: &str) -> bool {
        self.announced.insert((run.clone(), question.to_owned()))
    }

    /// What other terminals that are open now have. Files of those that are gone are removed.
    pub(crate) fn of_others(&self) -> OtherTerminals {
        let mut others = OtherTerminals::default();
        let Ok(files) = std::fs::read_dir(&self.folder) else { return others };
        for path in files.filter_map(|it| Some(it.ok()?.path())) {
            if self.file.as_ref().is_some_and(|(own, _)| *own == path) {
                continue;
            }
            let Ok(file) = File::open(&path) else { continue };
            match file.try_lock() {
                Ok(()) => drop(std::fs::remove_file(&path)),
                Err(_) => {
                    let noted = std::fs::read_to_string(&path).unwrap_or_default();
                    noted.lines().for_each(|line| others.add(line));
                }
            }
        }
        others
    }

    fn note(&mut self, line: &str) -> io::Result<()> {
        if self.file.is_none() {
            self.make_folder()?;
            let path = self.folder.join(fresh_id("terminal_", SystemClock.now()));
            let mut options = OpenOptions::new();
            let file = options.create_new(true).append(true).mode(0o600).open(&path)?;
            file.lock()?;
            self.file = Some((path, file));
        }
        let Some((_, file)) = &mut self.file else { return Ok(()) };
        file.write_all(format!("{line}\n").as_bytes())
    }
}

impl OtherTerminals {
    fn add(&mut self, line: &str) {
        match line.strip_prefix(CONVERSATION_MARK) {
            Some(conversation) => {
                self.conversations.insert(ConversationId::new(conversation));
            }
            None => {
                self.runs.insert(RunId::new(line));
            }
        }
    }
}

impl Drop for Terminals {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::Terminals;
    use everloop_types::{ConversationId, RunId};

    #[test]
    fn a_run_belongs_to_its_terminal_until_that_is_gone() {
        let folder = tempfile::TempDir::new().unwrap();
        let open = || Terminals::in_folder(folder.path().join("terminals"));
        let run = RunId::new("run_1");
        let (mut one, other) = (open(), open());
        one.take(&run);
        assert!(one.has(&run) && one.of_others().runs.is_empty());
        assert!(!other.has(&run) && other.of_others().runs.contains(&run));
        drop(one);
        assert!(other.of_others().runs.is_empty());
    }

    #[test]
    fn a_conversation_is_in_use_until_its_terminal_enters_another_or_is_gone() {
        let folder = tempfile::TempDir::new().unwrap();
        let open = || Terminals::in_folder(folder.path().join("terminals"));
        let [a, b] = ["conv_a", "conv_b"].map(ConversationId::new);
        let (mut one, other) = (open(), open());
        one.enter(&a);
        one.take(&RunId::new("run_1"));
        assert!(other.of_others().conversations.contains(&a));
        one.enter(&b);
        let seen = other.of_others();
        assert!(!seen.conversations.contains(&a) && seen.conversations.contains(&b));
        assert!(seen.runs.is_empty(), "the run stays with the conversation that was left");
        drop(one);
        assert!(other.of_others().conversations.is_empty());
    }
}
