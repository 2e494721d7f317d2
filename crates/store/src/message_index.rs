//! The full-text index: every message that is inserted gets its terms in the same transaction.
//!
//! ```text
//!   INSERT_MESSAGE ──► the same with its number, and at the end of the transaction its terms
//!   messages of earlier programs: number NULL ──Maintenance::index_messages──► indexed
//! ```
//!
//! [`IndexedDb`] lies below the removal of secrets, so no part of a secret becomes a term. It adds
//! the writes itself: whoever inserts a message cannot forget the index.
//!
//! The number of a message is its time and a part of a digest of its id, so that a greater number
//! is a later message. Two messages with one number are found together, which does no harm.

use crate::{
    db::{DatabaseKind, Db, DbFuture, SqlRow, Urgency, WriteResult},
    error::StoreError,
    facets::Maintenance,
    queue::INSERT_LAST_MESSAGE,
    search_terms::terms_of,
    statement::{INSERT_MESSAGE, any, int, params},
};
use everloop_types::{SqlValue, Statement, UtcMs, Write};
use std::sync::Arc;

/// Bits of a number that come from the id of its message.
const ID_BITS: u32 = 20;

/// As [`INSERT_MESSAGE`], with the number of the message.
const INSERT_NUMBERED: Statement = Statement::screened(
    "
    INSERT INTO messages
           (conversation_id, pos, message_id, run_id, slot, role, body, created_at, search_no)
    SELECT $1, COALESCE(MAX(pos), 0) + 1, $2, $3, $4, $5, $6, $7, CAST($8 AS BIGINT)
      FROM messages WHERE conversation_id = $1
",
);

const INSERT_TERMS: Statement = Statement::screened(
    "
    INSERT INTO message_terms (term, search_no)
    SELECT item.value, CAST($1 AS BIGINT) FROM {each $2} WHERE item.value <> ''
    ON CONFLICT DO NOTHING
",
);

/// The message may be gone, or there with another text.
const NUMBER: Statement = Statement::screened(
    "
    UPDATE messages SET search_no = $2 WHERE message_id = $1 AND body = $3 AND search_no IS NULL
",
);

const INSERT_TERMS_OF_NUMBERED: Statement = Statement::screened(
    "
    INSERT INTO message_terms (term, search_no)
    SELECT item.value, CAST($1 AS BIGINT) FROM {each $2}
     WHERE EXISTS (SELECT 1 FROM messages m
                    WHERE m.message_id = $3 AND m.search_no = $1 AND m.body = $4)
    ON CONFLICT DO NOTHING
",
);

/// Who adds terms later, and who deletes messages, take turns: no term stays behind.
const HOLD_TERMS: Statement = Statement::screened("SELECT {hold 'message_terms'}");

const DELETE_TERMS_OF_RUN: Statement = Statement::screened(
    "
    DELETE FROM message_terms
     WHERE search_no IN (SELECT m.search_no FROM messages m WHERE m.run_id = $1)
",
);

const DELETE_TERMS_OF_CONVERSATION: Statement = Statement::screened(
    "
    DELETE FROM message_terms
     WHERE search_no IN (SELECT m.search_no FROM messages m WHERE m.conversation_id = $1)
",
);

const WITHOUT_NUMBER: &str = "
    SELECT message_id, created_at, body FROM messages WHERE search_no IS NULL
     ORDER BY message_id LIMIT $1
";

const COUNT_WITHOUT_NUMBER: &str = "SELECT count(*) FROM messages WHERE search_no IS NULL";

/// The number of a message in the index.
pub(crate) fn search_no(message_id: &str, created_at: UtcMs) -> i64 {
    let most = (1 << (63 - ID_BITS)) - 1;
    let digest = i64::from(crc32c::crc32c(message_id.as_bytes())) & ((1 << ID_BITS) - 1);
    (created_at.clamp(0, most) << ID_BITS) | digest
}

fn terms_json(body: &str) -> String {
    serde_json::to_string(&terms_of(body)).expect("texts always have a JSON form")
}

/// Deletes the terms of a run's messages; comes before the messages are deleted.
pub(crate) fn delete_terms_of_run(run: &str) -> [Write; 2] {
    [any(HOLD_TERMS, params![]), any(DELETE_TERMS_OF_RUN, params![run])]
}

/// Deletes the terms of a conversation; comes before its messages are deleted.
pub(crate) fn delete_terms_of_conversation(conversation: &str) -> [Write; 2] {
    [any(HOLD_TERMS, params![]), any(DELETE_TERMS_OF_CONVERSATION, params![conversation])]
}

/// Adds a message that is there already.
fn index_existing(message_id: &str, created_at: UtcMs, body: &str) -> [Write; 2] {
    let number = search_no(message_id, created_at);
    let terms = params![number, terms_json(body), message_id, body];
    [any(NUMBER, params![message_id, number, body]), any(INSERT_TERMS_OF_NUMBERED, terms)]
}

/// A database that indexes each message in the transaction that inserts it.
pub(crate) struct IndexedDb {
    pub(crate) db: Arc<dyn Db>,
}

impl Db for IndexedDb {
    fn commit(&self, mut writes: Vec<Write>, urgency: Urgency) -> DbFuture<'_, Vec<WriteResult>> {
        let count = writes.len();
        add_terms(&mut writes);
        if writes.len() == count {
            return self.db.commit(writes, urgency);
        }
        Box::pin(async move {
            let mut done = self.db.commit(writes, urgency).await?;
            done.truncate(count);
            Ok(done)
        })
    }

    fn query(&self, sql: &'static str, params: Vec<SqlValue>) -> DbFuture<'_, Vec<SqlRow>> {
        self.db.query(sql, params)
    }

    fn engine(&self) -> DatabaseKind {
        self.db.engine()
    }
}

/// Adds the terms of every message at the end, where they change the place of no other write.
fn add_terms(writes: &mut Vec<Write>) {
    let mut terms = Vec::new();
    for write in writes.iter_mut() {
        if write.statement == INSERT_MESSAGE
            && let [_, SqlValue::Text(id), _, _, _, SqlValue::Text(body), SqlValue::Int(at)] =
                write.params.as_slice()
        {
            let number = search_no(id, *at);
            terms.push(any(INSERT_TERMS, params![number, terms_json(body)]));
            write.statement = INSERT_NUMBERED;
            write.params.push(SqlValue::Int(number));
        } else if write.statement == INSERT_LAST_MESSAGE
            && let [_, SqlValue::Text(id), SqlValue::Text(body), SqlValue::Int(at)] =
                write.params.as_slice()
        {
            terms.extend(index_existing(id, *at, body));
        }
    }
    writes.append(&mut terms);
}

impl Maintenance<'_> {
    /// Adds up to `most` messages of earlier programs to the index, in one commit, and returns how
    /// many. 0 means that all are in it. May be repeated, and by several processes at once.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn index_messages(self, most: usize) -> Result<usize, StoreError> {
        let rows = self.store.rows(WITHOUT_NUMBER, params![int(most)]).await?;
        let count = rows.len();
        if count == 0 {
            return Ok(0);
        }
        let mut writes = vec![any(HOLD_TERMS, params![])];
        for row in rows {
            let mut cells = row.cells();
            let (id, at, body) = (cells.text()?, cells.int()?, cells.text()?);
            writes.extend(index_existing(&id, at, &body));
        }
        self.store.db.commit(writes, Urgency::Critical).await?;
        Ok(count)
    }

    /// How many messages are not in the index yet.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn count_unindexed(self) -> Result<u64, StoreError> {
        let row = self.store.first(COUNT_WITHOUT_NUMBER, params![]).await?;
        row.map_or(Ok(0), |row| Ok(row.cells().int()?.unsigned_abs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_message_has_a_greater_number_whatever_its_id() {
        assert!(search_no("zzz", 1_000) < search_no("aaa", 1_001));
        assert_eq!(search_no("a", 5), search_no("a", 5));
        assert!(search_no("a", i64::MAX) > 0 && search_no("a", -1) >= 0);
    }
}
