//! All that differs between SQLite and PostgreSQL. Every other file writes SQL once.
//!
//! Statements use `$1 … $n` and the markers below. Deliberately absent: any query that changes our
//! tables.

use crate::db::{DatabaseKind, SqlRow};
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

/// The clock's name in SQLite, where every connection defines it.
pub(crate) const SQLITE_NOW: &str = "everloop_now";

const POSTGRES_NOW: &str = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)";

/// `{hold x}` makes transactions wait that hold or share the text `x`, until this one ends;
/// `{share x}` only those that hold it. Both are text that is not NULL. SQLite's only writer holds
/// everything already, so there they are `x` itself.
const HOLD_MARKER: &str = "{hold ";
const SHARE_MARKER: &str = "{share ";

/// The column type of raw bytes in table definitions.
const BYTES_MARKER: &str = "{bytes}";

/// `{each $n}` in a `FROM` is the rows of a JSON list of texts, in the column `item.value`.
const EACH_MARKER: &str = "{each ";

/// Follows a table that is all key: SQLite then keeps its rows in the key alone.
const CLUSTERED_MARKER: &str = "{clustered}";

/// Follows a table whose rows are changed again and again.
const OFTEN_UPDATED_MARKER: &str = "{often updated}";

/// Sends a notice on a channel of the server.
pub(crate) const POSTGRES_NOTIFY: &str = "SELECT pg_notify($1, $2)";

/// Begins to listen to a channel. A name cannot be a parameter; it is quoted.
pub(crate) fn postgres_listen(channel: &str) -> String {
    format!("LISTEN \"{}\"", channel.replace('"', ""))
}

/// Ends listening to a channel.
pub(crate) fn postgres_unlisten(channel: &str) -> String {
    format!("UNLISTEN \"{}\"", channel.replace('"', ""))
}

/// The number of the server's process that serves this connection.
pub(crate) async fn postgres_pid(
    client: &tokio_postgres::Client,
) -> Result<i32, tokio_postgres::Error> {
    client.query_one("SELECT pg_backend_pid()", &[]).await?.try_get(0)
}

/// A statement as SQLite wants it: `?1` for `$1`.
///
/// SQLite takes `$1` for a *name* and numbers it by first use, so the form must change.
pub(crate) fn sqlite_statement(sql: &str) -> String {
    let sql = sql.replace('$', "?").replace(NOW_MARKER, "everloop_now()");
    let sql = with_argument(&sql, HOLD_MARKER, "(", ")");
    let sql = with_argument(&sql, SHARE_MARKER, "(", ")");
    with_argument(&sql, EACH_MARKER, "json_each(", ") AS item")
}

/// Table definitions as SQLite wants them.
pub(crate) fn sqlite_tables(sql: &str) -> String {
    sql.replace(BYTES_MARKER, "BLOB")
        .replace(OFTEN_UPDATED_MARKER, "")
        .replace(CLUSTERED_MARKER, " WITHOUT ROWID")
}

/// A statement as PostgreSQL wants it.
pub(crate) fn postgres_statement(sql: &str) -> String {
    let sql = sql.replace(NOW_MARKER, POSTGRES_NOW);
    let sql = sql.replace(skip_locked!(), "FOR UPDATE SKIP LOCKED");
    let end = ", 0)) AS TEXT)";
    let sql = with_argument(&sql, HOLD_MARKER, "CAST(pg_advisory_xact_lock(hashtextextended(", end);
    let share = "CAST(pg_advisory_xact_lock_shared(hashtextextended(";
    let sql = with_argument(&sql, SHARE_MARKER, share, end);
    let item = " AS JSON)) AS item (value)";
    with_argument(
        &sql,
        EACH_MARKER,
        "json_array_elements_text(CAST(CAST(",
        &format!(" AS TEXT){item}"),
    )
}

/// Table definitions as PostgreSQL wants them.
///
/// Text sorts by its bytes, as it does in SQLite, and not by the rules of some language. Rows that
/// change often find room on their page, and their remains are cleared away early.
pub(crate) fn postgres_tables(sql: &str) -> String {
    let often = " WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01)";
    sql.replace(BYTES_MARKER, "BYTEA")
        .replace(OFTEN_UPDATED_MARKER, often)
        .replace(CLUSTERED_MARKER, "")
        .replace(" TEXT", " TEXT COLLATE \"C\"")
}

/// Puts `before` and `after` around the text between a marker and its brace.
fn with_argument(sql: &str, marker: &str, before: &str, after: &str) -> String {
    let mut parts = sql.split(marker);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (argument, rest) = part.split_once('}').unwrap_or((part, ""));
        text.extend([before, argument, after, rest]);
    }
    text
}

/// Copies a file of SQLite into a new one, consistently, while others go on.
pub(crate) const BACKUP: &str = "VACUUM INTO $1";

/// Gives some free pages of a file of SQLite back to the disk.
pub(crate) const GIVE_BACK: &str = "PRAGMA incremental_vacuum(2000)";

/// Pages of a file of SQLite that hold nothing.
pub(crate) const FREE_PAGES: &str = "SELECT freelist_count FROM pragma_freelist_count()";

/// A setting that durability rests on: its name, what it must be, and how it is read.
type DatabaseSetting = (&'static str, &'static str, &'static str);

/// What a look at the health of a database asks.
pub(crate) struct Probes {
    /// The engine's name.
    pub(crate) engine: &'static str,
    /// Gives its version.
    pub(crate) version: &'static str,
    /// What durability rests on: set at open, read back, and shown by `inspect`.
    pub(crate) settings: &'static [DatabaseSetting],
    /// Gives `ok`, or what is wrong.
    pub(crate) check: &'static str,
    /// What `check` looked at.
    pub(crate) checked: &'static str,
    /// Gives the bytes that the database takes on disk, without its log.
    pub(crate) size: &'static str,
}

/// The questions for an engine.
pub(crate) fn probes(engine: DatabaseKind) -> &'static Probes {
    match engine {
        DatabaseKind::Sqlite => &SQLITE,
        DatabaseKind::Postgres => &POSTGRES,
    }
}

const SQLITE: Probes = Probes {
    engine: "SQLite",
    version: "SELECT sqlite_version()",
    settings: &[
        ("busy_timeout", "5000", "PRAGMA busy_timeout"),
        ("journal_mode", "wal", "PRAGMA journal_mode"),
        ("synchronous", "2", "PRAGMA synchronous"),
        ("foreign_keys", "1", "PRAGMA foreign_keys"),
        ("journal_size_limit", "67108864", "PRAGMA journal_size_limit"),
        ("wal_autocheckpoint", "0", "PRAGMA wal_autocheckpoint"),
    ],
    check: "PRAGMA quick_check(1)",
    checked: "pages",
    size: "SELECT p.page_count * s.page_size FROM pragma_page_count() p, pragma_page_size() s",
};

/// The last two belong to the server: they are read, never set.
const POSTGRES: Probes = Probes {
    engine: "PostgreSQL",
    version: "SELECT current_setting('server_version')",
    settings: &[
        ("synchronous_commit", "on", "SELECT current_setting('synchronous_commit')"),
        (
            "idle_in_transaction_session_timeout",
            "10s",
            "SELECT current_setting('idle_in_transaction_session_timeout')",
        ),
        (
            "standard_conforming_strings",
            "on",
            "SELECT current_setting('standard_conforming_strings')",
        ),
        ("client_encoding", "UTF8", "SELECT current_setting('client_encoding')"),
        ("timezone", "UTC", "SELECT current_setting('timezone')"),
        (
            "default_transaction_isolation",
            "read committed",
            "SELECT current_setting('default_transaction_isolation')",
        ),
        ("fsync", "on", "SELECT current_setting('fsync')"),
        ("full_page_writes", "on", "SELECT current_setting('full_page_writes')"),
    ],
    check: "
        SELECT COALESCE(MIN('the journal of ' || r.run_id || ' has a gap'), 'ok') FROM runs r
         WHERE r.status IN ('queued', 'running', 'waiting') AND r.next_seq - 1 <>
               (SELECT count(*) FROM journal j WHERE j.run_id = r.run_id AND j.seq < r.next_seq)",
    checked: "journals",
    size: "SELECT pg_database_size(current_database())",
};

/// Settings of PostgreSQL that only the server's own configuration can change.
pub(crate) const OF_THE_SERVER: [&str; 2] = ["fsync", "full_page_writes"];

/// The one value of a one-row answer, as text.
pub(crate) fn scalar(rows: Vec<SqlRow>) -> String {
    match rows.into_iter().next().and_then(|row| row.0.into_iter().next()) {
        Some(SqlValue::Text(text)) => text,
        Some(SqlValue::Int(n)) => n.to_string(),
        Some(SqlValue::Null | SqlValue::Bytes(_)) | None => String::new(),
    }
}

/// The name of the unique index behind a violation.
///
/// PostgreSQL names it. SQLite names columns, and two of our partial indexes have the same ones:
/// `phase` tells them apart.
pub(crate) fn index_name(rule: &str, phase: Option<i64>) -> &'static str {
    match (rule, phase) {
        ("journal_plan", _) | ("journal.run_id, journal.effect_id", Some(1)) => "journal_plan",
        ("journal_outcome", _) | ("journal.run_id, journal.effect_id", _) => "journal_outcome",
        ("journal_start" | "journal.run_id, journal.effect_id, journal.attempt", _) => {
            "journal_start"
        }
        ("journal_pkey" | "journal.run_id, journal.seq", _) => "journal_pkey",
        ("messages_slot" | "messages.run_id, messages.slot", _) => "messages_slot",
        ("messages_message_id_key" | "messages.message_id", _) => "messages_message_id",
        ("outbox_pkey" | "outbox.outbox_id", _) => "outbox_pkey",
        ("snapshots_pkey" | "snapshots.run_id, snapshots.seq", _) => "snapshots_pkey",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_become_what_each_engine_understands() {
        let sql = concat!("SELECT {hold $1}, {share 'b'}, {now} ", skip_locked!());
        let sqlite = "SELECT (?1), ('b'), everloop_now() /* skip locked */";
        assert_eq!(sqlite_statement(sql), sqlite);
        let postgres = postgres_statement(sql);
        for part in [
            "pg_advisory_xact_lock(hashtextextended($1, 0))",
            "pg_advisory_xact_lock_shared(hashtextextended('b', 0))",
            "clock_timestamp()",
            "FOR UPDATE SKIP LOCKED",
        ] {
            assert!(postgres.contains(part), "{part} is not in {postgres}");
        }
        assert!(!postgres.contains(['{', '}']), "{postgres}");
    }
}
