//! Messages for channels outside: at least once, in order per conversation and channel.

use crate::{
    db::Urgency,
    error::StoreError,
    facets::Outbox,
    queue::Claim,
    statement::{any, int, one, params},
};
use everloop_types::{RunId, Statement, UtcMs, Write};

/// A message for a channel outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewOutbox {
    /// Unique; the receiver can use it to drop a repetition.
    pub outbox_id: String,
    /// Where it goes.
    pub channel: String,
    /// What it says.
    pub body: String,
}

/// A message that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxRow {
    /// Its id.
    pub outbox_id: String,
    /// The run that wrote it.
    pub run: RunId,
    /// Where it goes.
    pub channel: String,
    /// What it says.
    pub body: String,
    /// How often sending it has failed.
    pub tries: i64,
    /// Since when it is due.
    pub due_at: UtcMs,
}

/// The messages of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OutboxCount {
    /// Those that arrived.
    pub sent: u64,
    /// Those that are still to be sent.
    pub waiting: u64,
}

const INSERT: Statement = Statement::screened(
    "
    INSERT INTO outbox (outbox_id, conversation_id, pos, run_id, channel, body, next_try_at)
    SELECT $1, $2, COALESCE(MAX(pos), 0) + 1, $3, $4, $5, $6
      FROM outbox WHERE conversation_id = $2
",
);

/// Only the first unsent one of each conversation and channel: the later ones wait for it.
const DUE: &str = "
    SELECT outbox_id, run_id, channel, body, tries, next_try_at FROM outbox o
     WHERE sent_at IS NULL AND next_try_at <= $1 AND NOT EXISTS (
           SELECT 1 FROM outbox e
            WHERE e.conversation_id = o.conversation_id AND e.channel = o.channel
              AND e.sent_at IS NULL AND e.pos < o.pos)
     ORDER BY next_try_at, outbox_id LIMIT $2
";

const SENT: Statement =
    Statement::screened("UPDATE outbox SET sent_at = $2 WHERE outbox_id = $1 AND sent_at IS NULL");

/// Only one of several senders that found the message due gets it.
const HOLD: Statement = Statement::screened(
    "
    UPDATE outbox SET next_try_at = $3
     WHERE outbox_id = $1 AND next_try_at = $2 AND sent_at IS NULL
",
);

/// Through the conversation, which has an index.
const COUNT: &str = "
    SELECT count(*), count(sent_at) FROM outbox
     WHERE run_id = $1
       AND conversation_id = (SELECT conversation_id FROM runs WHERE run_id = $1)
";

const FAILED: Statement = Statement::screened(
    "
    UPDATE outbox SET tries = tries + 1, next_try_at = $2
     WHERE outbox_id = $1 AND sent_at IS NULL
",
);

const DROP_UNSENT: Statement = Statement::screened("DELETE FROM outbox WHERE sent_at IS NULL");

pub(crate) fn insert(claim: &Claim, new: NewOutbox, now: UtcMs) -> Write {
    let (conversation, run) = (claim.conversation.as_str(), claim.run.as_str());
    one(INSERT, params![new.outbox_id, conversation, run, new.channel, new.body, now])
}

impl Outbox<'_> {
    /// Up to `most` messages that may be sent now.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn due(self, now: UtcMs, most: usize) -> Result<Vec<OutboxRow>, StoreError> {
        let rows = self.store.rows(DUE, params![now, int(most)]).await?;
        let read = |row: crate::SqlRow| {
            let mut cells = row.cells();
            Ok(OutboxRow {
                outbox_id: cells.text()?,
                run: RunId::new(cells.text()?),
                channel: cells.text()?,
                body: cells.text()?,
                tries: cells.int()?,
                due_at: cells.int()?,
            })
        };
        rows.into_iter().map(read).collect()
    }

    /// Reserves a message that is due, so that no other process sends it before `until`; it is due
    /// again then. Returns false if another process was faster.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn hold(self, row: &OutboxRow, until: UtcMs) -> Result<bool, StoreError> {
        let hold = any(HOLD, params![row.outbox_id.as_str(), row.due_at, until]);
        let done = self.store.db.commit(vec![hold], Urgency::Critical).await?;
        Ok(done.first().is_some_and(|done| done.touched > 0))
    }

    /// How many messages a run has sent, and how many are still to be sent.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn count(self, run: &RunId) -> Result<OutboxCount, StoreError> {
        let Some(row) = self.store.first(COUNT, params![run.as_str()]).await? else {
            return Ok(OutboxCount::default());
        };
        let mut cells = row.cells();
        let [all, sent] = [cells.int()?, cells.int()?].map(i64::unsigned_abs);
        Ok(OutboxCount { sent, waiting: all.saturating_sub(sent) })
    }

    /// A message was sent. May be repeated.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn mark_sent(self, outbox_id: &str, now: UtcMs) -> Result<(), StoreError> {
        let sent = any(SENT, params![outbox_id, now]);
        self.store.db.commit(vec![sent], Urgency::Critical).await?;
        Ok(())
    }

    /// Deletes all unsent messages: in a copy of a database nobody knows whether they were sent.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn drop_unsent(self) -> Result<(), StoreError> {
        self.store.db.commit(vec![any(DROP_UNSENT, params![])], Urgency::Critical).await?;
        Ok(())
    }

    /// A message could not be sent; it is due again at `next_try_at`.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn mark_failed(self, outbox_id: &str, next_try_at: UtcMs) -> Result<(), StoreError> {
        let failed = any(FAILED, params![outbox_id, next_try_at]);
        self.store.db.commit(vec![failed], Urgency::Critical).await?;
        Ok(())
    }
}
