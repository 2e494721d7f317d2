//! Whole runs as rows: exported from one database and imported into another, byte for byte.
//!
//! An imported run is foreign: its rows are history and grant no permission. It gets a conversation
//! of its own and no parent, and unsent or unread messages are left out. The table `imports` lists
//! it.
//!
//! Deliberately absent: a format (the caller's), leases, stalls and request keys (they belong to
//! one database), and unsent outbox rows, which the source database still sends.

use crate::{
    db::{SqlRow, Urgency},
    error::StoreError,
    facets::{Maintenance, RunCatalog},
    row,
    statement::{INSERT_MESSAGE, NEVER, hold_conversation, one, params},
};
use everloop_types::{
    AGENT, RunId, SqlValue, Statement, Status, UtcMs, Write, digest_bytes, journal::Entry,
};
use std::collections::BTreeMap;

/// One row of one table, its cells in the order of [`columns`].
#[derive(Debug, Clone, PartialEq)]
pub struct TableRow {
    /// The table.
    pub table: &'static str,
    /// Its values.
    pub cells: Vec<SqlValue>,
}

struct RunTable {
    name: &'static str,
    columns: &'static [&'static str],
    select: &'static str,
    insert: Statement,
}

macro_rules! table {
    (
        $kind:ident $name:literal, $list:literal, [$($column:literal),*], $values:literal,
        $rest:literal
    ) => {
        RunTable {
            name: $name,
            columns: &[$($column),*],
            select: concat!("SELECT ", $list, " FROM ", $name, " ", $rest),
            insert: Statement::$kind(concat!(
                "INSERT INTO ",
                $name,
                " (",
                $list,
                ") VALUES (",
                $values,
                ")"
            )),
        }
    };
}

/// Every table with rows of a run, in the order in which they are written.
const TABLES: [RunTable; 8] = [
    table!(
        screened "runs",
        "run_id, conversation_id, parent_run_id, forked_from, forked_at_seq, loop_name, loop_ver, \
         goal, note, frame_ref, status, priority, wake_at, epoch, next_seq, snap_seq, bytes, \
         inbox_ctr, created_at, updated_at, trimmed_at, run_type, title, retry_of",
        [
            "run_id",
            "conversation_id",
            "parent_run_id",
            "forked_from",
            "forked_at_seq",
            "loop_name",
            "loop_ver",
            "goal",
            "note",
            "frame_ref",
            "status",
            "priority",
            "wake_at",
            "epoch",
            "next_seq",
            "snap_seq",
            "bytes",
            "inbox_ctr",
            "created_at",
            "updated_at",
            "trimmed_at",
            "run_type",
            "title",
            "retry_of"
        ],
        "$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, \
         $20, $21, $22, $23, $24",
        "WHERE run_id = $1"
    ),
    table!(
        sealed "blobs",
        "hash, size, bytes",
        ["hash", "size", "bytes"],
        "$1, $2, $3",
        "WHERE hash IN (SELECT frame_ref FROM runs WHERE run_id = $1)
            OR hash IN (SELECT blob_ref FROM journal WHERE run_id = $1) ORDER BY hash"
    ),
    table!(
        sealed "journal",
        "run_id, seq, epoch, kind, fmt, effect_id, attempt, phase, ts, crc, body, blob_ref",
        [
            "run_id",
            "seq",
            "epoch",
            "kind",
            "fmt",
            "effect_id",
            "attempt",
            "phase",
            "ts",
            "crc",
            "body",
            "blob_ref"
        ],
        "$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12",
        "WHERE run_id = $1 ORDER BY seq"
    ),
    table!(
        screened "messages",
        "conversation_id, pos, message_id, run_id, slot, role, body, created_at",
        ["conversation_id", "pos", "message_id", "run_id", "slot", "role", "body", "created_at"],
        "$1, $2, $3, $4, $5, $6, $7, $8",
        "WHERE run_id = $1 ORDER BY pos"
    ),
    table!(
        screened "inbox",
        "run_id, dedupe, pos, kind, body, created_at, taken_seq",
        ["run_id", "dedupe", "pos", "kind", "body", "created_at", "taken_seq"],
        "$1, $2, $3, $4, $5, $6, $7",
        "WHERE run_id = $1 ORDER BY pos, dedupe"
    ),
    table!(
        sealed "snapshots",
        "run_id, seq, loop_ver, fmt, state_hash, state",
        ["run_id", "seq", "loop_ver", "fmt", "state_hash", "state"],
        "$1, $2, $3, $4, $5, $6",
        "WHERE run_id = $1 ORDER BY seq"
    ),
    table!(
        screened "settlements",
        "run_id, effect_id, verdict, by_whom, at",
        ["run_id", "effect_id", "verdict", "by_whom", "at"],
        "$1, $2, $3, $4, $5",
        "WHERE run_id = $1 ORDER BY effect_id"
    ),
    table!(
        screened "outbox",
        "outbox_id, conversation_id, pos, run_id, channel, body, next_try_at, tries, sent_at",
        [
            "outbox_id",
            "conversation_id",
            "pos",
            "run_id",
            "channel",
            "body",
            "next_try_at",
            "tries",
            "sent_at"
        ],
        "$1, $2, $3, $4, $5, $6, $7, $8, $9",
        "WHERE run_id = $1 AND sent_at IS NOT NULL ORDER BY outbox_id"
    ),
];

/// How an unfinished run is quarantined when it is imported, so that it is not driven twice.
#[derive(Debug, Clone)]
pub struct ImportQuarantine {
    /// Why, for the row.
    pub note: String,
    /// The last message to the user.
    pub message: String,
    /// The present time.
    pub now: UtcMs,
}

/// The result of importing a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunImport {
    /// It was imported.
    New,
    /// It existed already, with the same journal.
    AlreadyThere,
    /// A run with the same id and another journal exists; nothing was written.
    Differs,
}

/// The name of a table, and its columns in order.
#[must_use]
pub fn columns(table: &str) -> Option<(&'static str, &'static [&'static str])> {
    TABLES.iter().find(|known| known.name == table).map(|known| (known.name, known.columns))
}

/// What a column means in a file of a program that did not have it; `None` if every program has.
#[must_use]
pub fn added_column(table: &str, column: &str) -> Option<SqlValue> {
    match (table, column) {
        ("runs", "run_type") => Some(SqlValue::from(AGENT)),
        ("runs", "title" | "retry_of") => Some(SqlValue::Null),
        _ => None,
    }
}

const SET_ASIDE: Statement = Statement::screened(
    "
    UPDATE runs SET status = 'quarantined', note = $2, wake_at = $3 WHERE run_id = $1
",
);

const MARK_FOREIGN: Statement =
    Statement::screened("INSERT INTO imports (run_id, at) VALUES ($1, $2)");

const IS_FOREIGN: &str = "SELECT 1 FROM imports WHERE run_id = $1";

impl TableRow {
    /// The value of a column.
    #[must_use]
    pub fn get(&self, column: &str) -> Option<&SqlValue> {
        let (_, columns) = columns(self.table)?;
        let place = columns.iter().position(|name| *name == column)?;
        self.cells.get(place)
    }

    /// Changes a column, if the table has it.
    fn set(&mut self, column: &str, value: SqlValue) {
        let place = columns(self.table)
            .and_then(|(_, columns)| columns.iter().position(|name| *name == column));
        if let Some(cell) = place.and_then(|place| self.cells.get_mut(place)) {
            *cell = value;
        }
    }

    fn text(&self, column: &str) -> Option<&str> {
        match self.get(column) {
            Some(SqlValue::Text(text)) => Some(text),
            _ => None,
        }
    }
}

/// The hash and the content of a blob row, if they match.
#[must_use]
pub fn blob(row: &TableRow) -> Option<(String, Vec<u8>)> {
    match (row.text("hash"), row.get("bytes")) {
        (Some(hash), Some(SqlValue::Bytes(bytes))) if digest_bytes(bytes) == hash => {
            Some((hash.to_owned(), bytes.clone()))
        }
        _ => None,
    }
}

/// Reads a journal row, and verifies it.
///
/// # Errors
/// [`StoreError::Damaged`] or [`StoreError::NewerEntry`] as for a row of the database.
pub fn entry(
    run: &RunId,
    row: &TableRow,
    blobs: &BTreeMap<String, Vec<u8>>,
) -> Result<Entry, StoreError> {
    let get = |column: &str| row.get(column).cloned().unwrap_or(SqlValue::Null);
    let bytes = row.text("blob_ref").and_then(|hash| blobs.get(hash)).cloned();
    let stored = ["seq", "epoch", "kind", "fmt", "effect_id", "ts", "crc", "body", "blob_ref"];
    let mut cells: Vec<SqlValue> = stored.map(get).into();
    cells.push(SqlValue::from(bytes));
    let entry = row::read(run, SqlRow(cells))?;
    // Not covered by the checksum: these columns only repeat the entry.
    let attempt = SqlValue::from(entry.kind.attempt().map(i64::from));
    let repeats = (get("run_id"), get("attempt"), get("phase"))
        == (SqlValue::from(run.as_str()), attempt, SqlValue::from(entry.kind.phase()));
    match repeats {
        true => Ok(entry),
        false => Err(StoreError::Damaged { run: run.clone(), seq: entry.seq }),
    }
}

impl Maintenance<'_> {
    /// All rows of a run; `None` if the run was driven meanwhile.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn export_run(self, run: &RunId) -> Result<Option<Vec<TableRow>>, StoreError> {
        let before = self.store.runs().get(run).await?;
        let mut rows = Vec::new();
        for table in &TABLES {
            for found in self.store.rows(table.select, params![run.as_str()]).await? {
                rows.push(TableRow { table: table.name, cells: found.0 });
            }
        }
        // Epochs only rise, so a driver in between has changed the row.
        let stood_still = before.as_ref().is_some_and(|row| row.status != Status::Running)
            && self.store.runs().get(run).await? == before;
        Ok(Some(rows).filter(|_| stood_still))
    }

    /// Imports a run, all of it or nothing. The caller has verified the rows.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn import_run(
        self,
        run: &RunId,
        rows: &[TableRow],
        aside: Option<&ImportQuarantine>,
        now: UtcMs,
    ) -> Result<RunImport, StoreError> {
        if self.store.runs().get(run).await?.is_some() {
            return self.compare(run, rows).await;
        }
        let conversation = format!("imported_{run}");
        let mut writes: Vec<Write> = Vec::with_capacity(rows.len() + 4);
        for row in rows.iter().filter_map(|row| as_words(row, &conversation)) {
            writes.extend(insert(&row));
        }
        writes.push(one(MARK_FOREIGN, params![run.as_str(), now]));
        if let Some(aside) = aside {
            writes.push(one(SET_ASIDE, params![run.as_str(), aside.note.as_str(), NEVER]));
            writes.extend(last_word(run, &conversation, aside));
        }
        self.store.db.commit(writes, Urgency::Critical).await?;
        Ok(RunImport::New)
    }

    async fn compare(self, run: &RunId, rows: &[TableRow]) -> Result<RunImport, StoreError> {
        let journal = TABLES.iter().find(|table| table.name == "journal");
        let select = journal.map_or("", |table| table.select);
        let here = self.store.rows(select, params![run.as_str()]).await?;
        let there = rows.iter().filter(|row| row.table == "journal").map(|row| &row.cells);
        match here.iter().map(|row| &row.0).eq(there) {
            true => Ok(RunImport::AlreadyThere),
            false => Ok(RunImport::Differs),
        }
    }
}

impl RunCatalog<'_> {
    /// Whether a run was imported.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn is_foreign(self, run: &RunId) -> Result<bool, StoreError> {
        Ok(self.store.first(IS_FOREIGN, params![run.as_str()]).await?.is_some())
    }
}

/// A row as it is imported; `None` for an unsent or unread message.
fn as_words(row: &TableRow, conversation: &str) -> Option<TableRow> {
    let open = match row.table {
        "outbox" => row.get("sent_at"),
        "inbox" => row.get("taken_seq"),
        _ => None,
    };
    if open == Some(&SqlValue::Null) {
        return None;
    }
    let mut row = row.clone();
    row.set("conversation_id", SqlValue::from(conversation));
    row.set("parent_run_id", SqlValue::Null);
    row.set("retry_of", SqlValue::Null);
    Some(row)
}

fn insert(row: &TableRow) -> Option<Write> {
    if let Some((hash, bytes)) = blob(row) {
        return Some(row::insert_blob(hash, bytes));
    }
    let table = TABLES.iter().find(|table| table.name == row.table)?;
    Some(one(table.insert, row.cells.clone()))
}

fn last_word(run: &RunId, conversation: &str, aside: &ImportQuarantine) -> [Write; 2] {
    let id = format!("{run}:final");
    let (message, role) = (aside.message.as_str(), "assistant");
    let params = params![conversation, id, run.as_str(), "final", role, message, aside.now];
    [hold_conversation(conversation), one(INSERT_MESSAGE, params)]
}
