//! Messages for channels outside: at least once, in order per conversation and channel.

use crate::{
    db::Urgency,
    error::StoreError,
    queue::Claim,
    statement::{any, int, one, params},
    store::Store,
};
use everloop_types::{RunId, UtcMs, Write};

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
}

const INSERT: &str = "
    INSERT INTO outbox (outbox_id, conversation_id, pos, run_id, channel, body, next_try_at)
    SELECT $1, $2, COALESCE(MAX(pos), 0) + 1, $3, $4, $5, $6
      FROM outbox WHERE conversation_id = $2
";

/// Only the first unsent one of each conversation and channel: the later ones wait for it.
const DUE: &str = "
    SELECT outbox_id, run_id, channel, body, tries FROM outbox o
     WHERE sent_at IS NULL AND next_try_at <= $1 AND NOT EXISTS (
           SELECT 1 FROM outbox e
            WHERE e.conversation_id = o.conversation_id AND e.channel = o.channel
              AND e.sent_at IS NULL AND e.pos < o.pos)
     ORDER BY next_try_at, outbox_id LIMIT $2
";

const SENT: &str = "UPDATE outbox SET sent_at = $2 WHERE outbox_id = $1 AND sent_at IS NULL";

const FAILED: &str = "
    UPDATE outbox SET tries = tries + 1, next_try_at = $2
     WHERE outbox_id = $1 AND sent_at IS NULL
";

pub(crate) fn insert(claim: &Claim, new: NewOutbox, now: UtcMs) -> Write {
    let (conversation, run) = (claim.conversation.as_str(), claim.run.as_str());
    one(INSERT, params![new.outbox_id, conversation, run, new.channel, new.body, now])
}

impl Store {
    /// Up to `most` messages that may be sent now.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn due_outbox(&self, now: UtcMs, most: usize) -> Result<Vec<OutboxRow>, StoreError> {
        let rows = self.rows(DUE, params![now, int(most)]).await?;
        let read = |row: crate::Row| {
            let mut cells = row.cells();
            Ok(OutboxRow {
                outbox_id: cells.text()?,
                run: RunId::new(cells.text()?),
                channel: cells.text()?,
                body: cells.text()?,
                tries: cells.int()?,
            })
        };
        rows.into_iter().map(read).collect()
    }

    /// A message was sent. May be repeated.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn outbox_sent(&self, outbox_id: &str, now: UtcMs) -> Result<(), StoreError> {
        let sent = any(SENT, params![outbox_id, now]);
        self.db.commit(vec![sent], Urgency::Critical).await?;
        Ok(())
    }

    /// A message could not be sent; it is due again at `next_try_at`.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn outbox_failed(
        &self,
        outbox_id: &str,
        next_try_at: UtcMs,
    ) -> Result<(), StoreError> {
        let failed = any(FAILED, params![outbox_id, next_try_at]);
        self.db.commit(vec![failed], Urgency::Critical).await?;
        Ok(())
    }
}
