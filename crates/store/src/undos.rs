//! Undos: what people restored of the files that runs changed. A finished journal is never written
//! again, so they have a table of their own.

use crate::{
    db::{DbError, SqlRow, Urgency},
    error::StoreError,
    facets::FileUndos,
    statement::{any, int, params},
};
use everloop_types::{ConversationId, RunId, Statement, UtcMs};

/// One undo, or the redo of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoRow {
    /// Unique; a later one is greater.
    pub id: String,
    /// The conversation of the run.
    pub conversation: ConversationId,
    /// The run whose changes were undone.
    pub run: RunId,
    /// When.
    pub at: UtcMs,
    /// Who: `user`, a surface.
    pub by: String,
    /// The undo that this one takes back.
    pub redoes: Option<String>,
    /// The folder that the files are in.
    pub workspace: String,
    /// The files, as JSON.
    pub files: String,
}

/// The same undo again has other files if some of them could not be restored.
const INSERT: Statement = Statement::screened(
    "
    INSERT INTO undos (undo_id, conversation_id, run_id, at, by_whom, redoes, workspace, files)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
    ON CONFLICT (undo_id) DO UPDATE SET files = excluded.files
",
);

const OF_RUN: &str = "
    SELECT undo_id, conversation_id, run_id, at, by_whom, redoes, workspace, files FROM undos
     WHERE run_id = $1 ORDER BY undo_id
";

const OF_CONVERSATION: &str = "
    SELECT undo_id, conversation_id, run_id, at, by_whom, redoes, workspace, files FROM undos
     WHERE conversation_id = $1 ORDER BY undo_id DESC LIMIT $2
";

impl FileUndos<'_> {
    /// Records an undo. May be repeated; the last files count.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn record(self, row: &UndoRow) -> Result<(), StoreError> {
        let values = params![
            row.id.as_str(),
            row.conversation.as_str(),
            row.run.as_str(),
            row.at,
            row.by.as_str(),
            row.redoes.as_deref(),
            row.workspace.as_str(),
            row.files.as_str(),
        ];
        self.store.db.commit(vec![any(INSERT, values)], Urgency::Critical).await?;
        Ok(())
    }

    /// The undos of a run, the oldest first.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn of_run(self, run: &RunId) -> Result<Vec<UndoRow>, StoreError> {
        let rows = self.store.rows(OF_RUN, params![run.as_str()]).await?;
        Ok(rows.into_iter().map(read).collect::<Result<_, _>>()?)
    }

    /// The last `most` undos of a conversation, the oldest first.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn of_conversation(
        self,
        conversation: &ConversationId,
        most: usize,
    ) -> Result<Vec<UndoRow>, StoreError> {
        let params = params![conversation.as_str(), int(most)];
        let rows = self.store.rows(OF_CONVERSATION, params).await?;
        let mut undos = rows.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
        undos.reverse();
        Ok(undos)
    }
}

fn read(row: SqlRow) -> Result<UndoRow, DbError> {
    let mut cells = row.cells();
    Ok(UndoRow {
        id: cells.text()?,
        conversation: ConversationId::new(cells.text()?),
        run: RunId::new(cells.text()?),
        at: cells.int()?,
        by: cells.text()?,
        redoes: cells.opt_text()?,
        workspace: cells.text()?,
        files: cells.text()?,
    })
}
