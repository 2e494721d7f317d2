//! Where a conversation and its runs stand: what a reader of its events compares with what it has.

use crate::{
    db::SqlRow, error::StoreError, facets::Conversations, runs::status, statement::params,
};
use everloop_types::{ConversationId, RunId, Status, UtcMs};

/// What can be changed about a conversation, and how far it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationHeader {
    /// The title that it was given, or that was made for it.
    pub title: Option<String>,
    /// When it was archived.
    pub archived_at: Option<UtcMs>,
    /// Whether nothing of it may become a memory.
    pub out_of_memory: bool,
    /// The position up to which it was read.
    pub read_pos: i64,
    /// The position of its last message.
    pub last_pos: i64,
}

/// Where a run of a conversation stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunStanding {
    /// The run.
    pub run: RunId,
    /// The turn that it belongs to.
    pub turn: RunId,
    /// Its status.
    pub status: Status,
    /// The place of the next entry of its journal.
    pub next_seq: i64,
    /// Whether its journal was trimmed.
    pub is_trimmed: bool,
    /// The position of its final message.
    pub final_pos: Option<i64>,
}

const HEADER: &str = "
    SELECT title, archived_at, out_of_memory, read_pos,
           COALESCE((SELECT MAX(m.pos) FROM messages m WHERE m.conversation_id = $1), 0)
      FROM conversations WHERE conversation_id = $1
";

/// A run and its final message are over in one commit, so the position of the message tells which
/// runs a reader has seen whole.
const STANDINGS: &str = "
    SELECT r.run_id, COALESCE(r.turn_id, r.run_id), r.status, r.next_seq, r.trimmed_at, m.pos
      FROM runs r LEFT JOIN messages m ON m.run_id = r.run_id AND m.slot = 'final'
     WHERE r.conversation_id = $1 AND (m.pos IS NULL OR (m.pos > $2 AND m.pos <= $3))
     ORDER BY r.created_at, r.run_id
";

impl Conversations<'_> {
    /// What can be changed about a conversation; none if there is no such conversation.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn header(
        self,
        id: &ConversationId,
    ) -> Result<Option<ConversationHeader>, StoreError> {
        let Some(row) = self.store.first(HEADER, params![id.as_str()]).await? else {
            return Ok(None);
        };
        let mut cells = row.cells();
        Ok(Some(ConversationHeader {
            title: cells.opt_text()?,
            archived_at: cells.opt_int()?,
            out_of_memory: cells.int()? > 0,
            read_pos: cells.int()?,
            last_pos: cells.int()?,
        }))
    }

    /// The runs that have no final message, and those whose final message is after one position
    /// and not after another; the oldest first.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn run_standings(
        self,
        id: &ConversationId,
        after: i64,
        upto: i64,
    ) -> Result<Vec<RunStanding>, StoreError> {
        let rows = self.store.rows(STANDINGS, params![id.as_str(), after, upto]).await?;
        let read = |row: SqlRow| {
            let mut cells = row.cells();
            Ok(RunStanding {
                run: RunId::new(cells.text()?),
                turn: RunId::new(cells.text()?),
                status: status(&mut cells)?,
                next_seq: cells.int()?,
                is_trimmed: cells.opt_int()?.is_some(),
                final_pos: cells.opt_int()?,
            })
        };
        rows.into_iter().map(read).collect()
    }
}
