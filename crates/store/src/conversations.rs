//! Conversations: their runs and messages.

use crate::{
    db::{DbError, SqlRow, Urgency},
    error::StoreError,
    facets::Conversations,
    runs::status,
    statement::{INSERT_MESSAGE, hold_conversation, int, one, params},
};
use everloop_types::{ConversationId, RunId, Status, UtcMs};

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationMessage {
    /// The run that it belongs to.
    pub run: Option<RunId>,
    /// Which of the run's messages it is: `goal`, `final`, `ask:…`, `answer:…`.
    pub slot: String,
    /// Who wrote it.
    pub role: String,
    /// The text.
    pub body: String,
    /// When.
    pub created_at: UtcMs,
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

const SAID: &str = "
    SELECT run_id, COALESCE(slot, ''), role, body, created_at FROM messages
     WHERE conversation_id = $1 ORDER BY pos DESC LIMIT $2
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
        let read = |row: SqlRow| {
            let mut cells = row.cells();
            Ok(ConversationMessage {
                run: cells.opt_text()?.map(RunId::new),
                slot: cells.text()?,
                role: cells.text()?,
                body: cells.text()?,
                created_at: cells.int()?,
            })
        };
        let mut said = rows.into_iter().map(read).collect::<Result<Vec<_>, StoreError>>()?;
        said.reverse();
        Ok(said)
    }
}
