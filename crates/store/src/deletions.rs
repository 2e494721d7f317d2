//! What is left of runs and conversations that were deleted: one row each, which says what it was,
//! who deleted it and when. The words are gone.

use crate::{
    error::StoreError,
    facets::Maintenance,
    statement::{any, int, params},
};
use everloop_types::{ConversationId, RunId, Statement, UtcMs, Write};
use serde::Serialize;

/// Who deletes something, and when.
#[derive(Debug, Clone, Copy)]
pub struct Deleter<'a> {
    /// `user`, or the surface.
    pub by: &'a str,
    /// The present moment.
    pub now: UtcMs,
}

/// Something that was deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeletionRow {
    /// `run` or `conversation`.
    #[serde(rename = "deleted")]
    pub kind: String,
    /// The run, if it was one.
    pub run_id: Option<RunId>,
    /// The conversation, or that of the run.
    pub conversation_id: ConversationId,
    /// The turn that the run belonged to.
    pub turn_id: Option<RunId>,
    /// Who deleted it.
    pub by: String,
    /// When.
    #[serde(skip)]
    pub at: UtcMs,
    /// Unique, and in the order of the list among those of the same moment.
    #[serde(skip)]
    pub id: String,
}

const NOTE_RUN: Statement = Statement::screened(
    "
    INSERT INTO deletions
           (deletion_id, kind, run_id, conversation_id, turn_id, deleted_by, deleted_at)
    SELECT $4, 'run', run_id, conversation_id, COALESCE(turn_id, run_id), $2, $3
      FROM runs WHERE run_id = $1
    ON CONFLICT DO NOTHING
",
);

const NOTE_CONVERSATION: Statement = Statement::screened(
    "
    INSERT INTO deletions
           (deletion_id, kind, run_id, conversation_id, turn_id, deleted_by, deleted_at)
    SELECT $4, 'conversation', NULL, conversation_id, NULL, $2, $3
      FROM conversations WHERE conversation_id = $1
    ON CONFLICT DO NOTHING
",
);

const SINCE: &str = "
    SELECT deletion_id, kind, run_id, conversation_id, turn_id, deleted_by, deleted_at
      FROM deletions
     WHERE deleted_at >= $1 AND (deleted_at > $2 OR (deleted_at = $2 AND deletion_id > $3))
     ORDER BY deleted_at, deletion_id LIMIT $4
";

/// Comes before a run is deleted, in the same transaction.
pub(crate) fn note_run(run: &RunId, deleter: Deleter<'_>) -> Write {
    let id = format!("run:{run}:{}", deleter.now);
    any(NOTE_RUN, params![run.as_str(), deleter.by, deleter.now, id])
}

/// Comes before a conversation is deleted, in the same transaction.
pub(crate) fn note_conversation(id: &ConversationId, deleter: Deleter<'_>) -> Write {
    let note = format!("conversation:{id}:{}", deleter.now);
    any(NOTE_CONVERSATION, params![id.as_str(), deleter.by, deleter.now, note])
}

impl Maintenance<'_> {
    /// What was deleted since then, the oldest first, after another row of the list.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn deletions(
        self,
        since: UtcMs,
        after: Option<&DeletionRow>,
        most: usize,
    ) -> Result<Vec<DeletionRow>, StoreError> {
        let (at, id) = after.map_or((i64::MIN, ""), |row| (row.at, row.id.as_str()));
        let rows = self.store.rows(SINCE, params![since, at, id, int(most)]).await?;
        let read = |row: crate::SqlRow| {
            let mut cells = row.cells();
            Ok(DeletionRow {
                id: cells.text()?,
                kind: cells.text()?,
                run_id: cells.opt_text()?.map(RunId::new),
                conversation_id: ConversationId::new(cells.text()?),
                turn_id: cells.opt_text()?.map(RunId::new),
                by: cells.text()?,
                at: cells.int()?,
            })
        };
        rows.into_iter().map(read).collect()
    }
}
