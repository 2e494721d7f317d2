//! All that differs between SQLite and, later, PostgreSQL. Every other file writes SQL once.
//!
//! Statements use `$1 … $n` and the two markers below. Deliberately absent: any query of its own
//! that touches our tables.

use crate::db::Row;
use everloop_types::SqlValue;

/// Stands where PostgreSQL needs `FOR UPDATE SKIP LOCKED`. SQLite reads a comment: its only
/// writer holds the whole database already.
macro_rules! skip_locked {
    () => {
        "/* skip locked */"
    };
}
pub(crate) use skip_locked;

/// Stands for the database's own clock, in UTC milliseconds: what leases are measured with.
const NOW_MARKER: &str = "{now}";

/// The clock's name in SQLite, where every connection brings it along.
pub(crate) const SQLITE_NOW: &str = "everloop_now";

/// The column type of raw bytes in table definitions.
const BYTES_MARKER: &str = "{bytes}";

/// A statement as SQLite wants it: `?1` for `$1`.
///
/// SQLite takes `$1` for a *name* and numbers it by first use, so the form must change.
pub(crate) fn sqlite_statement(sql: &str) -> String {
    sql.replace('$', "?").replace(NOW_MARKER, "everloop_now()")
}

/// Table definitions as SQLite wants them.
pub(crate) fn sqlite_tables(sql: &str) -> String {
    sql.replace(BYTES_MARKER, "BLOB")
}

/// Copies the whole database into a new file, consistently, while others go on.
pub(crate) const BACKUP: &str = "VACUUM INTO $1";

/// The engine's own version.
pub(crate) const VERSION: &str = "SELECT sqlite_version()";

/// `ok`, or what is wrong with the file.
pub(crate) const QUICK_CHECK: &str = "PRAGMA quick_check(1)";

/// Bytes that the database takes on disk, without its log.
pub(crate) const SIZE: &str =
    "SELECT p.page_count * s.page_size FROM pragma_page_count() p, pragma_page_size() s";

/// What durability rests on: set at open, read back, and shown by `inspect`.
pub(crate) const PRAGMAS: &[(&str, &str, &str)] = &[
    ("busy_timeout", "5000", "PRAGMA busy_timeout"),
    ("journal_mode", "wal", "PRAGMA journal_mode"),
    ("synchronous", "2", "PRAGMA synchronous"),
    ("foreign_keys", "1", "PRAGMA foreign_keys"),
    ("journal_size_limit", "67108864", "PRAGMA journal_size_limit"),
    ("wal_autocheckpoint", "0", "PRAGMA wal_autocheckpoint"),
];

/// The one value of a one-row answer, as text.
pub(crate) fn scalar(rows: Vec<Row>) -> String {
    match rows.into_iter().next().and_then(|row| row.0.into_iter().next()) {
        Some(SqlValue::Text(text)) => text,
        Some(SqlValue::Int(n)) => n.to_string(),
        Some(SqlValue::Null | SqlValue::Bytes(_)) | None => String::new(),
    }
}

/// The name of the unique index behind a violation.
///
/// SQLite names columns, not the index, and two of our partial indexes have the same columns:
/// `phase` tells them apart.
pub(crate) fn index_name(columns: &str, phase: Option<i64>) -> &'static str {
    match (columns, phase) {
        ("journal.run_id, journal.effect_id", Some(1)) => "journal_plan",
        ("journal.run_id, journal.effect_id", _) => "journal_outcome",
        ("journal.run_id, journal.effect_id, journal.attempt", _) => "journal_start",
        ("journal.run_id, journal.seq", _) => "journal_pkey",
        ("messages.run_id, messages.slot", _) => "messages_slot",
        ("messages.message_id", _) => "messages_message_id",
        ("outbox.outbox_id", _) => "outbox_pkey",
        ("snapshots.run_id, snapshots.seq", _) => "snapshots_pkey",
        _ => "other",
    }
}
