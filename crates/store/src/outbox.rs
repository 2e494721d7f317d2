//! Messages for channels outside: at least once, in order per conversation and channel.

use crate::{
    db::Urgency,
    error::StoreError,
    facets::Outbox,
    queue::Claim,
    statement::{any, hold_conversation, int, one, params},
};
use everloop_types::{ConversationId, RunId, Statement, UtcMs, Write};

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

/// The answer of a run to a conversation of a channel outside, whose type has a kind and a name:
/// its final message, which comes before this in the same transaction. The channel of the message
/// names the thread too.
const REPLY: Statement = Statement::screened(
    "
    INSERT INTO outbox (outbox_id, conversation_id, pos, run_id, channel, body, next_try_at)
    SELECT $2, r.conversation_id,
           (SELECT COALESCE(MAX(o.pos), 0) + 1 FROM outbox o
             WHERE o.conversation_id = r.conversation_id),
           r.run_id, c.channel_type || '#' || COALESCE(c.channel_thread_id, ''), m.body, $3
      FROM runs r
      JOIN conversations c ON c.conversation_id = r.conversation_id
      JOIN messages m ON m.run_id = r.run_id AND m.slot = 'final'
     WHERE r.run_id = $1 AND r.parent_run_id IS NULL AND c.channel_type LIKE '%:%'
    ON CONFLICT DO NOTHING
",
);

/// A question of a run, which comes before this in the same transaction. A run that works for
/// another one asks where the turn began.
const QUESTION: Statement = Statement::screened(
    "
    INSERT INTO outbox (outbox_id, conversation_id, pos, run_id, channel, body, next_try_at)
    SELECT $3, t.conversation_id,
           (SELECT COALESCE(MAX(o.pos), 0) + 1 FROM outbox o
             WHERE o.conversation_id = t.conversation_id),
           r.run_id, c.channel_type || '#' || COALESCE(c.channel_thread_id, ''), m.body, $4
      FROM runs r
      JOIN runs t ON t.run_id = COALESCE(r.turn_id, r.run_id)
      JOIN conversations c ON c.conversation_id = t.conversation_id
      JOIN messages m ON m.run_id = r.run_id AND m.slot = $2
     WHERE r.run_id = $1 AND c.channel_type LIKE '%:%'
    ON CONFLICT DO NOTHING
",
);

/// Words of the program itself, to the thread of a conversation.
const NOTE: Statement = Statement::screened(
    "
    INSERT INTO outbox (outbox_id, conversation_id, pos, run_id, channel, body, next_try_at)
    SELECT $2, c.conversation_id,
           (SELECT COALESCE(MAX(o.pos), 0) + 1 FROM outbox o
             WHERE o.conversation_id = c.conversation_id),
           '', c.channel_type || '#' || COALESCE(c.channel_thread_id, ''), $3, $4
      FROM conversations c WHERE c.conversation_id = $1
    ON CONFLICT DO NOTHING
",
);

/// Only the first unsent one of each conversation and channel: the later ones wait for it.
const DUE: &str = "
    SELECT outbox_id, run_id, channel, body, tries, next_try_at FROM outbox o
     WHERE sent_at IS NULL AND next_try_at <= $1
       AND (next_try_at > $3 OR (next_try_at = $3 AND outbox_id > $4)) AND NOT EXISTS (
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

/// Sends a question of a run back, if its turn began in a channel outside.
pub(crate) fn question(run: &RunId, slot: &str, now: UtcMs) -> Write {
    any(QUESTION, params![run.as_str(), slot, format!("{run}:{slot}"), now])
}

/// Sends the final message of a run back, if its conversation is one of a channel outside.
pub(crate) fn reply(run: &RunId, now: UtcMs) -> Write {
    any(REPLY, params![run.as_str(), format!("{run}:reply"), now])
}

impl Outbox<'_> {
    /// Up to `most` messages that may be sent now, the longest due first, after another one.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn due(
        self,
        now: UtcMs,
        after: Option<&OutboxRow>,
        most: usize,
    ) -> Result<Vec<OutboxRow>, StoreError> {
        let (at, id) = after.map_or((i64::MIN, ""), |row| (row.due_at, row.outbox_id.as_str()));
        let rows = self.store.rows(DUE, params![now, int(most), at, id]).await?;
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

    /// Queues words of the program itself for the thread that a conversation belongs to. The same
    /// id twice is one message.
    ///
    /// # Errors
    /// See [`StoreError`]. May be repeated.
    pub async fn note(
        self,
        conversation: &ConversationId,
        outbox_id: &str,
        body: &str,
        now: UtcMs,
    ) -> Result<(), StoreError> {
        let note = any(NOTE, params![conversation.as_str(), outbox_id, body, now]);
        let writes = vec![hold_conversation(conversation.as_str()), note];
        self.store.db.commit(writes, Urgency::Critical).await?;
        Ok(())
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
