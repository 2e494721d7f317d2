//! Which terminal a run belongs to: the chat that began it, or took it up.
//!
//! Each chat notes its runs in a file of its own, whose lock it holds as long as it lives. Thus
//! every other chat can tell a question that somebody else has before them from one that nobody
//! has any more. A line answers only a question of this terminal's own.

use crate::app::App;
use everloop_engine::{Clock, SystemClock, fresh_id};
use everloop_types::RunId;
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;

/// The runs of this terminal, and where the others note theirs.
#[derive(Debug)]
pub(super) struct Terminals {
    folder: PathBuf,
    file: Option<(PathBuf, File)>,
    own: BTreeSet<RunId>,
    /// Runs whose end the person was told of.
    told: BTreeSet<RunId>,
    /// Questions of others that were announced here.
    announced: BTreeSet<(RunId, String)>,
}

impl Terminals {
    pub(super) fn open(app: &App) -> Self {
        Self::in_folder(app.home.data().join("terminals"))
    }

    fn in_folder(folder: PathBuf) -> Self {
        let (own, told, announced) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        Self { folder, file: None, own, told, announced }
    }

    /// The run is looked after here from now on.
    pub(super) fn take(&mut self, run: &RunId) {
        if self.own.insert(run.clone()) {
            // A terminal whose note cannot be written works; others may take its questions up.
            let _ = self.note(run);
        }
    }

    /// The person has been told of its end.
    pub(super) fn forget(&mut self, run: &RunId) {
        self.own.remove(run);
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

    /// The runs of other terminals that are open now. Files of those that are gone are removed.
    pub(super) fn of_others(&self) -> BTreeSet<RunId> {
        let mut runs = BTreeSet::new();
        let Ok(files) = std::fs::read_dir(&self.folder) else { return runs };
        for path in files.filter_map(|it| Some(it.ok()?.path())) {
            if self.file.as_ref().is_some_and(|(own, _)| *own == path) {
                continue;
            }
            let Ok(file) = File::open(&path) else { continue };
            match file.try_lock() {
                Ok(()) => drop(std::fs::remove_file(&path)),
                Err(_) => {
                    let noted = std::fs::read_to_string(&path).unwrap_or_default();
                    runs.extend(noted.lines().map(RunId::new));
                }
            }
        }
        runs
    }

    fn note(&mut self, run: &RunId) -> io::Result<()> {
        if self.file.is_none() {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
            let path = self.folder.join(fresh_id("terminal_", SystemClock.now()));
            let mut options = OpenOptions::new();
            let file = options.create_new(true).append(true).mode(0o600).open(&path)?;
            file.lock()?;
            self.file = Some((path, file));
        }
        let Some((_, file)) = &mut self.file else { return Ok(()) };
        file.write_all(format!("{run}\n").as_bytes())
    }
}

impl Drop for Terminals {
    fn drop(&mut self) {
        if let Some((path, _)) = &self.file {
            let _ = std::fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Terminals;
    use everloop_types::RunId;

    #[test]
    fn a_run_belongs_to_its_terminal_until_that_is_gone() {
        let folder = tempfile::TempDir::new().unwrap();
        let open = || Terminals::in_folder(folder.path().join("terminals"));
        let run = RunId::new("run_1");
        let (mut one, other) = (open(), open());
        one.take(&run);
        assert!(one.has(&run) && one.of_others().is_empty());
        assert!(!other.has(&run) && other.of_others().contains(&run));
        drop(one);
        assert!(other.of_others().is_empty());
    }
}
