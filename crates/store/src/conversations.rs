//! Conversations: their runs and messages.

use crate::{
    db::{DbError, SqlRow, Urgency},
    error::StoreError,
    facets::Conversations,
    message_pages::{message_columns, read_message},
    runs::status,
    statement::{INSERT_MESSAGE, hold_conversation, int, one, params},
};
use everloop_types::{ConversationId, RunId, Status, UtcMs};

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationMessage {
    /// Its id.
    pub id: String,
    /// The conversation.
    pub conversation: ConversationId,
    /// Its position there, which never changes.
    pub pos: i64,
    /// The run that it belongs to.
    pub run: Option<RunId>,
    /// The turn of that run: the first run that one message of the user led to.
    pub turn: Option<RunId>,
    /// Which of the run's messages it is: `goal`, `final`, `stopped`, `ask:…`, `answer:…`.
    pub slot: String,
    /// Who wrote it.
    pub role: String,
    /// The text.
    pub body: String,
    /// Its parts as JSON, if it has more than its text.
    pub parts: Option<String>,
    /// When.
    pub created_at: UtcMs,
}

/// What a message tells of.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct SourceRef {
    /// `run`.
    pub kind: &'static str,
    /// The run.
    pub ref_id: RunId,
}

impl ConversationMessage {
    /// The run whose end the message tells of. A run has one such message: its slot is unique.
    #[must_use]
    pub fn source_ref(&self) -> Option<SourceRef> {
        let run = self.run.as_ref().filter(|_| self.slot == "final")?;
        Some(SourceRef { kind: "run", ref_id: run.clone() })
    }
}

const RUNS: &str = "
    SELECT run_id FROM runs WHERE conversation_id = $1 ORDER BY run_id DESC LIMIT $2
";

const OPEN_RUNS: &str = "
    SELECT run_id, status FROM runs
     WHERE conversation_id = $1
       AND status NOT IN ('succeeded','unsettled','failed','canceled','quarantined')
     ORDER BY run_id DESC
";

const SAID: &str = concat!(
    "SELECT ",
    message_columns!(),
    " FROM messages m WHERE m.conversation_id = $1 ORDER BY m.pos DESC LIMIT $2"
);
/// Runs of an older program have no row of their conversation; then nothing is known to be unread.
const UNREAD_ENDS: &str = "
    SELECT m.run_id FROM messages m
      JOIN conversations c ON c.conversation_id = m.conversation_id
     WHERE m.conversation_id = $1 AND m.slot = 'final' AND m.pos > c.read_pos
       AND m.run_id IS NOT NULL
     ORDER BY m.pos DESC LIMIT $2
";

impl Conversations<'_> {
    /// Adds a message that belongs to the conversation but to no run.
    ///
    /// # Errors
    /// See [`StoreError`]. The same `message_id` twice is one message.
    pub async fn say(
        self,
        conversation: &ConversationId,
        message_id: &str,
        role: &str,
        body: &str,
        now: UtcMs,
    ) -> Result<(), StoreError> {
        let (run, slot): (Option<&str>, Option<&str>) = (None, None);
        let name = conversation.as_str();
        let message = params![name, message_id, run, slot, role, body, now];
        let writes = vec![hold_conversation(name), one(INSERT_MESSAGE, message)];
        match self.store.db.commit(writes, Urgency::Critical).await {
            Ok(_) | Err(DbError::Unique { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The runs of a conversation, the newest first.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn runs_of(
        self,
        conversation: &ConversationId,
        most: usize,
    ) -> Result<Vec<RunId>, StoreError> {
        let rows = self.store.rows(RUNS, params![conversation.as_str(), int(most)]).await?;
        rows.into_iter().map(|row| Ok(RunId::new(row.cells().text()?))).collect()
    }

    /// The runs of a conversation that have not ended and are not quarantined, the newest first.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn open_runs_of(
        self,
        conversation: &ConversationId,
    ) -> Result<Vec<(RunId, Status)>, StoreError> {
        let rows = self.store.rows(OPEN_RUNS, params![conversation.as_str()]).await?;
        let read = |row: SqlRow| {
            let mut cells = row.cells();
            Ok((RunId::new(cells.text()?), status(&mut cells)?))
        };
        rows.into_iter().map(read).collect()
    }

    /// The runs of a conversation whose last words nobody has read, at most the `most` newest; the
    /// oldest first.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn unread_ends(
        self,
        conversation: &ConversationId,
        most: usize,
    ) -> Result<Vec<RunId>, StoreError> {
        let rows = self.store.rows(UNREAD_ENDS, params![conversation.as_str(), int(most)]).await?;
        rows.into_iter().rev().map(|row| Ok(RunId::new(row.cells().text()?))).collect()
    }

    /// The last `most` messages of a conversation, in order.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn messages(
        self,
        conversation: &ConversationId,
        most: usize,
    ) -> Result<Vec<ConversationMessage>, StoreError> {
        let rows = self.store.rows(SAID, params![conversation.as_str(), int(most)]).await?;
        let read = |row: SqlRow| Ok(read_message(&mut row.cells())?);
        let mut said = rows.into_iter().map(read).collect::<Result<Vec<_>, StoreError>>()?;
        said.reverse();
        Ok(said)
    }
}
