//! Undoing what runs did to files.
//!
//! ```text
//!   journal: hashes before, after ──► plan: is each file as the run left it? ──► restore
//!   checkpoints: the contents before ──────────────────────────────────────────────┘
//! ```
//!
//! A file that somebody else changed since is refused and stays as it is; the others are restored.
//! An undo keeps what it replaces, so it can be undone too, and is recorded beside the journal:
//! who, when, which files.
//!
//! Deliberately absent: what shell commands changed. Only the file tools keep what they replace.

mod changes;
mod plan;
mod restoring;

pub use changes::{FileStep, RunChanges};
pub use plan::{FilePlan, FileVerdict, UndoPlan, UndoRefusal};
pub use restoring::{FileOutcome, FileResult, UndoKind, UndoReport, UndoneFile, redo, undo};

use crate::app::App;
use crate::error::AppError;
use crate::settings::Settings;
use everloop_store::{Store, UndoRow};
use everloop_tools::Checkpoints;
use everloop_types::{ConversationId, RunId};
use std::path::Path;

/// Undos of a conversation that are looked at.
pub(crate) const UNDOS_READ: usize = 200;

/// Which changes are to be undone, and for whom.
#[derive(Debug, Clone)]
pub struct UndoRequest {
    /// The run.
    pub run: RunId,
    /// The first change that is undone, from 1; all of them by default.
    pub to: Option<usize>,
    /// Who wants it.
    pub by: String,
}

/// The copies of files in the folder of the data.
pub(crate) fn checkpoints(settings: &Settings, data: &Path) -> Checkpoints {
    let (file, total) = (settings.store.checkpoint_file, settings.store.checkpoint_total);
    Checkpoints::new(data.join("checkpoints"), file.bytes(), total.bytes())
}

impl App {
    /// Where files are kept as they were before a run changed them.
    #[must_use]
    pub fn checkpoints(&self) -> Checkpoints {
        checkpoints(&self.settings, self.home.data())
    }
}

/// The undos that were not taken back.
pub(crate) fn standing_undos(undos: &[UndoRow]) -> impl Iterator<Item = &UndoRow> {
    undos.iter().filter(|undo| {
        let is_taken_back = |other: &UndoRow| other.redoes.as_deref() == Some(&undo.id);
        undo.redoes.is_none() && !undos.iter().any(is_taken_back)
    })
}

/// The newest undo of a run that can be taken back.
///
/// # Errors
/// If the store fails.
pub async fn undo_to_redo(store: &Store, run: &RunId) -> Result<Option<UndoRow>, AppError> {
    let undos = store.undos().of_run(run).await?;
    Ok(standing_undos(&undos).last().cloned())
}

/// The newest undo of a conversation that can be taken back.
///
/// # Errors
/// If the store fails.
pub(crate) async fn undo_of_conversation(
    store: &Store,
    conversation: &ConversationId,
) -> Result<Option<UndoRow>, AppError> {
    let undos = store.undos().of_conversation(conversation, UNDOS_READ).await?;
    Ok(standing_undos(&undos).last().cloned())
}
