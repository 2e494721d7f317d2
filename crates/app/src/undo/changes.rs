//! What a run changed, from its journal.

use crate::environment;
use crate::error::{AppError, RunError, UndoError};
use crate::runs::{history, is_over, tree};
use everloop_engine::History;
use everloop_store::{RunRow, Store};
use everloop_tools::{ChangeIntent, FileNow};
use everloop_types::journal::{
    EffectFinished, EffectPlanned, EffectStarted, Entry, EntryKind, Outcome,
};
use everloop_types::{EffectId, Ending, FileChange, RunId, Status, UtcMs};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// One change of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStep {
    /// Its number among the changes of the run, from 1.
    pub step: usize,
    /// The run that made it: the run itself, or one below it.
    pub run: RunId,
    /// When.
    pub at: UtcMs,
    /// The tool.
    pub tool: String,
    /// The workspace.
    pub root: PathBuf,
    /// The file, relative to the workspace.
    pub path: String,
    /// What was there before.
    pub was: FileNow,
    /// What was there afterwards.
    pub now: FileNow,
    /// Lines that were added.
    pub added: usize,
    /// Lines that were removed.
    pub removed: usize,
    /// The outermost folder that was made for it.
    pub made: Option<String>,
    /// The machine and data folder where it was made.
    pub place: Option<String>,
    /// Whether it is on record that it was made; else only the file can tell.
    pub is_sure: bool,
}

/// What a run and those below it changed.
#[derive(Debug, Clone)]
pub struct RunChanges {
    /// The run.
    pub row: RunRow,
    /// Its workspace.
    pub workspace: PathBuf,
    /// Its changes of files, the oldest first.
    pub steps: Vec<FileStep>,
    /// The commands that it ran, which may have changed other files.
    pub commands: usize,
}

impl RunChanges {
    /// Reads the changes of a run.
    ///
    /// # Errors
    /// [`RunError::NotFound`], [`UndoError::Imported`] for a run that came in a file and says
    /// nothing about this machine, or if the store fails.
    pub async fn read(store: &Store, run: &RunId) -> Result<Self, AppError> {
        let rows = tree(store, run).await?;
        let top = rows.first().map(|(_, row)| row.clone());
        let row = top.ok_or_else(|| RunError::NotFound(run.to_string()))?;
        let mut all = Self { row, workspace: PathBuf::new(), steps: Vec::new(), commands: 0 };
        for (depth, row) in &rows {
            if row.origin.imported || store.runs().is_foreign(&row.run).await? {
                return Err(RunError::from(UndoError::Imported(row.run.clone())).into());
            }
            let history = history(store, &row.run).await?;
            if *depth == 0 {
                all.workspace = PathBuf::from(&history.frame().workspace);
            }
            let mut reader = JournalReader::new(&history);
            history.entries.iter().for_each(|entry| reader.take(entry));
            all.commands += reader.commands.len();
            all.steps.extend(reader.steps.into_values());
        }
        all.steps.sort_by_key(|step| step.at);
        all.steps.iter_mut().zip(1..).for_each(|(step, number)| step.step = number);
        Ok(all)
    }

    /// The same for a run that is to be undone: it must have ended.
    ///
    /// # Errors
    /// [`UndoError::StillWorking`], or as [`RunChanges::read`].
    pub async fn of_ended(store: &Store, run: &RunId) -> Result<Self, AppError> {
        let changes = Self::read(store, run).await?;
        if !is_over(store, run).await? && changes.row.status != Status::Quarantined {
            return Err(RunError::from(UndoError::StillWorking(run.clone())).into());
        }
        Ok(changes)
    }

    /// The files, each once.
    #[must_use]
    pub fn files(&self) -> BTreeSet<&str> {
        self.steps.iter().map(|step| step.path.as_str()).collect()
    }
}

struct JournalReader<'h> {
    history: &'h History,
    /// The last entry that was copied from another run, which made those calls itself.
    copied: i64,
    tools: BTreeMap<EffectId, String>,
    /// By the place of the intent.
    steps: BTreeMap<i64, FileStep>,
    open: BTreeMap<EffectId, i64>,
    commands: BTreeSet<EffectId>,
}

impl<'h> JournalReader<'h> {
    fn new(history: &'h History) -> Self {
        let forked = |entry: &&Entry| matches!(entry.kind, EntryKind::Forked(_));
        let copied = history.entries.iter().rfind(forked).map_or(0, |entry| entry.seq);
        let (tools, steps, open) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { history, copied, tools, steps, open, commands: BTreeSet::new() }
    }

    fn take(&mut self, entry: &Entry) {
        let Some(effect) = &entry.effect else { return };
        match &entry.kind {
            EntryKind::EffectPlanned(EffectPlanned::CallTool(planned)) => {
                self.tools.insert(effect.clone(), planned.call.tool.clone());
            }
            EntryKind::EffectStarted(started) if entry.seq > self.copied => {
                self.begin(entry, effect, started);
            }
            EntryKind::EffectFinished(finished) if entry.seq > self.copied => {
                self.finish(entry, effect, finished);
            }
            _ => {}
        }
    }

    fn begin(&mut self, entry: &Entry, effect: &EffectId, started: &EffectStarted) {
        let Some(tool) = self.tools.get(effect) else { return };
        if tool == "shell" {
            self.commands.insert(effect.clone());
        }
        if !environment::edits_files(tool) {
            return;
        }
        let intent = serde_json::from_value::<ChangeIntent>(started.before.clone());
        let Ok(ChangeIntent { was, will: Some(will), target: Some(path), made, place, .. }) =
            intent
        else {
            return;
        };
        let was = match was {
            Value::Null => FileNow::Missing,
            Value::String(hash) => FileNow::Content(hash),
            _ => return,
        };
        let step = FileStep {
            path,
            was,
            now: FileNow::Content(will),
            made,
            place,
            ..self.step(entry, tool.clone())
        };
        self.steps.insert(entry.seq, step);
        self.open.insert(effect.clone(), entry.seq);
    }

    fn finish(&mut self, entry: &Entry, effect: &EffectId, finished: &EffectFinished) {
        let Outcome::Observed(seen) = &finished.outcome else { return };
        let Some(tool) = self.tools.get(effect) else { return };
        let begun = self.open.remove(effect);
        match (seen.ending, &finished.change, begun) {
            (Ending::Error | Ending::Denied, _, Some(seq)) => drop(self.steps.remove(&seq)),
            (Ending::Ok, change, begun) => {
                let blank = self.step(entry, tool.clone());
                // A journal that was shortened has no intent.
                let seq = begun.unwrap_or(entry.seq);
                if let Some(change) = change {
                    apply(self.steps.entry(seq).or_insert(blank), change);
                }
                self.steps.get_mut(&seq).into_iter().for_each(|step| step.is_sure = true);
            }
            _ => {}
        }
    }

    fn step(&self, entry: &Entry, tool: String) -> FileStep {
        FileStep {
            step: 0,
            run: self.history.run.clone(),
            at: entry.at,
            tool,
            root: PathBuf::from(&self.history.frame().workspace),
            path: String::new(),
            was: FileNow::Missing,
            now: FileNow::Missing,
            added: 0,
            removed: 0,
            made: None,
            place: None,
            is_sure: false,
        }
    }
}

/// What the call itself saw counts: the file may have changed after the intent.
fn apply(step: &mut FileStep, change: &FileChange) {
    step.path.clone_from(&change.path);
    step.was = change.was.clone().map_or(FileNow::Missing, FileNow::Content);
    step.now = FileNow::Content(change.now.clone());
    step.added = change.added;
    step.removed = change.removed;
}
