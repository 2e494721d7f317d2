//! What the program says by itself, in conversations of its own: each thing once.

use crate::{
    conversation_rows::{self, NewConversation},
    db::{DbError, Urgency},
    error::StoreError,
    facets::{AgendaStore, Conversations},
    firings::{self, DueReminder, Firing},
    statement::{INSERT_MESSAGE, any, hold_conversation, int, one, params},
};
use everloop_types::{Statement, UtcMs, Write};

/// A message of the program, and the conversation that it goes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnMessage {
    /// The conversation; it is made if it is not there.
    pub conversation: NewConversation,
    /// The message's id: the same one is written once.
    pub message_id: String,
    /// What it says.
    pub body: String,
}

/// The key is taken only if it was not taken since `$3`.
const TAKE_KEY: Statement = Statement::screened(
    "
    INSERT INTO notes_said (note_key, said_at) VALUES ($1, $2)
    ON CONFLICT (note_key) DO UPDATE SET said_at = excluded.said_at
     WHERE notes_said.said_at <= $3
",
);

const SAID_SINCE: &str = "SELECT note_key FROM notes_said WHERE said_at > $1";

const FORGET: Statement = Statement::screened("DELETE FROM notes_said WHERE said_at < $1");

/// Those that nobody saw: not shown by any surface, or missed, and not read.
const UNTOLD: &str = "
    SELECT kind, subject, due_at, occurs_at, fired_at, state, title FROM firings
     WHERE told_at IS NULL AND read_at IS NULL AND fired_at <= $1
       AND (announced_at IS NULL OR state = 'missed')
     ORDER BY due_at, kind, subject LIMIT $2
";

const TELL: Statement = Statement::screened(
    "
    UPDATE firings SET told_at = $4
     WHERE kind = $1 AND subject = $2 AND due_at = $3 AND told_at IS NULL
",
);

impl OwnMessage {
    fn writes(&self) -> [Write; 3] {
        let (run, slot): (Option<&str>, Option<&str>) = (None, None);
        let NewConversation { id, now, .. } = &self.conversation;
        let (message, body) = (self.message_id.as_str(), self.body.as_str());
        let row = params![id.as_str(), message, run, slot, "assistant", body, *now];
        [
            conversation_rows::insert(&self.conversation),
            hold_conversation(id.as_str()),
            one(INSERT_MESSAGE, row),
        ]
    }
}

impl Conversations<'_> {
    /// Says something, unless one of its keys was said after `since`. Returns whether it was said.
    ///
    /// # Errors
    /// See [`StoreError`]. It may be repeated.
    pub async fn say_once(
        self,
        message: &OwnMessage,
        keys: &[String],
        since: UtcMs,
    ) -> Result<bool, StoreError> {
        let now = message.conversation.now;
        let take = |key: &String| one(TAKE_KEY, params![key.as_str(), now, since]);
        let mut writes: Vec<Write> = keys.iter().map(take).collect();
        writes.extend(message.writes());
        writes.push(any(FORGET, params![since]));
        match self.store.db.commit(writes, Urgency::Critical).await {
            Ok(_) => Ok(true),
            Err(DbError::Expectation { .. } | DbError::Unique { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// The keys that were said after a moment.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn keys_said(self, since: UtcMs) -> Result<Vec<String>, StoreError> {
        let rows = self.store.rows(SAID_SINCE, params![since]).await?;
        rows.into_iter().map(|row| Ok(row.cells().text()?)).collect()
    }
}

impl AgendaStore<'_> {
    /// Reminders that fired up to a moment and that nobody saw, the oldest first.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn unseen_firings(
        self,
        fired_before: UtcMs,
        most: usize,
    ) -> Result<Vec<Firing>, StoreError> {
        let rows = self.store.rows(UNTOLD, params![fired_before, int(most)]).await?;
        Ok(rows.into_iter().map(firings::read).collect::<Result<_, _>>()?)
    }

    /// Tells of a reminder in a conversation. Returns false if that was done already.
    ///
    /// # Errors
    /// See [`StoreError`]. It may be repeated.
    pub async fn tell_firing(
        self,
        due: DueReminder,
        message: &OwnMessage,
    ) -> Result<bool, StoreError> {
        let row = params![due.kind.as_str(), due.subject, due.due_at, message.conversation.now];
        let mut writes = vec![one(TELL, row)];
        writes.extend(message.writes());
        match self.store.db.commit(writes, Urgency::Critical).await {
            Ok(_) => Ok(true),
            Err(DbError::Expectation { .. } | DbError::Unique { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}
