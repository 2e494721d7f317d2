//! Short forms for building transactions.

use everloop_types::{Rows, SqlValue, Statement, Write};

/// Values for the placeholders, in order.
macro_rules! params {
    ($($value:expr),* $(,)?) => { vec![$(everloop_types::SqlValue::from($value)),*] };
}
pub(crate) use params;

/// A write that must touch exactly one row.
pub(crate) fn one(statement: Statement, params: Vec<SqlValue>) -> Write {
    Write { statement, params, expect: Rows::Exactly(1) }
}

/// A write that may touch any number of rows.
pub(crate) fn any(statement: Statement, params: Vec<SqlValue>) -> Write {
    Write { statement, params, expect: Rows::Any }
}

/// A count as a number for SQL.
pub(crate) fn int(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// The wake time of runs that only a message can wake: the end of the year 9999.
pub(crate) const NEVER: i64 = 253_402_300_799_999;

/// A message, at the next position of its conversation.
///
/// Comes after [`hold_conversation`], so that no two messages get the same position.
pub(crate) const INSERT_MESSAGE: Statement = Statement::screened(
    "
    INSERT INTO messages
           (conversation_id, pos, message_id, run_id, slot, role, body, created_at)
    SELECT $1, COALESCE(MAX(pos), 0) + 1, $2, $3, $4, $5, $6, $7
      FROM messages WHERE conversation_id = $1
",
);

const HOLD_CONVERSATION: Statement = Statement::screened("SELECT {hold $1}");

/// Locks the positions of this conversation until the end of the transaction.
///
/// A separate statement, because one that counts sees the database as of its own start.
pub(crate) fn hold_conversation(conversation: &str) -> Write {
    any(HOLD_CONVERSATION, params![conversation])
}

/// Messages that are unread when a run ends will never be read.
pub(crate) const CLOSE_INBOX: Statement = Statement::screened(
    "
    UPDATE inbox SET taken_seq = 0 WHERE run_id = $1 AND taken_seq IS NULL
",
);
