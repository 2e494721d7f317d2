//! A whole database copied to another one of either kind: every table, every row, as it is.
//!
//! ```text
//!   check that the target is empty ─► mark it ─► copy page by page ─► compare both ─► unmark it
//! ```
//!
//! The tables and their columns are read from our own schema, so that a new table is copied too.
//! While the mark stands no program opens the target: a copy that broke off cannot be mistaken
//! for a whole one. Rows are compared by a digest over all of them, in the order of their keys.
//!
//! Deliberately absent: who else uses the two databases (the caller's), and going on with a copy
//! that broke off.

use crate::{
    db::{SqlRow, Urgency},
    error::StoreError,
    schema::{HALF_COPIED, MIGRATIONS, SET_META},
    sqlite::{TableShape, tables},
    statement::{any, int, one, params},
    store::Store,
};
use everloop_types::{SqlValue, Statement, Write, digest_bytes};
use std::sync::OnceLock;

/// Rows that are read at once. Both sides are read in the same pages.
const PAGE: usize = 500;

/// The same for tables whose rows can be megabytes.
const PAGE_OF_LARGE: usize = 8;
const LARGE: [&str; 2] = ["blobs", "snapshots"];

/// Bytes of one commit.
const COMMIT_BYTES: usize = 4 << 20;

/// The table that describes the database itself; its first two keys belong to each database.
const OWN_TABLE: &str = "schema_meta";
const OWN_KEYS: [&str; 2] = ["schema_version", "min_reader"];

/// Why a database was not copied.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// The target has rows already.
    #[error("the target is not empty: {table} has {rows} rows")]
    NotEmpty {
        /// The first table with rows.
        table: &'static str,
        /// How many.
        rows: u64,
    },
    /// The two differ after the copy.
    #[error("{table} differs: {from} rows here, {to} rows in the target")]
    Differs {
        /// The table.
        table: &'static str,
        /// Rows of the source.
        from: u64,
        /// Rows of the target.
        to: u64,
    },
    /// A table could not be read or written.
    #[error("{table} was not copied")]
    Table {
        /// The table.
        table: &'static str,
        /// Why.
        source: StoreError,
    },
}

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransferPhase {
    /// Rows are copied.
    Copying,
    /// Both sides are compared.
    Checking,
}

/// How far a copy is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransferProgress {
    /// What is being done.
    pub phase: TransferPhase,
    /// The table.
    pub table: &'static str,
    /// Rows that are done.
    pub done: u64,
    /// All rows of the table, as counted when it was begun.
    pub total: u64,
}

/// One table, the same on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableDigest {
    /// Its name.
    pub table: &'static str,
    /// Its rows.
    pub rows: u64,
    /// A digest over all of them, in the order of their keys.
    pub digest: String,
}

/// The statements for one table. Made once: a statement lives as long as the program.
struct TableCopy {
    name: &'static str,
    /// Where the columns of the key are among all columns.
    key: Vec<usize>,
    first: &'static str,
    next: &'static str,
    count: &'static str,
    insert: Statement,
    clear: Statement,
    page: usize,
}

fn plans() -> &'static [TableCopy] {
    static PLANS: OnceLock<Vec<TableCopy>> = OnceLock::new();
    PLANS.get_or_init(|| {
        let tables = tables().expect("our own schema can be made in memory");
        tables.into_iter().map(TableCopy::new).collect()
    })
}

fn placeholders(from: usize, count: usize) -> String {
    (from..from + count).map(|n| format!("${n}")).collect::<Vec<_>>().join(", ")
}

impl TableCopy {
    fn new(shape: TableShape) -> Self {
        let TableShape { name, columns, key } = shape;
        let name: &'static str = name.leak();
        let (list, keys) = (columns.join(", "), key.join(", "));
        let own = if name == OWN_TABLE { OwnRows::Left } else { OwnRows::None };
        let (only, also) = own.clauses();
        let after = placeholders(1, key.len());
        let limit = key.len() + 1;
        let values = placeholders(1, columns.len());
        let first = format!("SELECT {list} FROM {name}{only} ORDER BY {keys} LIMIT $1");
        let next = format!(
            "SELECT {list} FROM {name} WHERE ({keys}) > ({after}){also} ORDER BY {keys}
              LIMIT ${limit}"
        );
        let count = format!("SELECT count(*) FROM {name}{only}");
        let insert = format!("INSERT INTO {name} ({list}) VALUES ({values})");
        let clear = format!("DELETE FROM {name}{only}");
        let place = |wanted: &String| columns.iter().position(|column| column == wanted);
        Self {
            name,
            key: key.iter().filter_map(place).collect(),
            first: first.leak(),
            next: next.leak(),
            count: count.leak(),
            insert: Statement::sealed(insert.leak()),
            clear: Statement::sealed(clear.leak()),
            page: if LARGE.contains(&name) { PAGE_OF_LARGE } else { PAGE },
        }
    }

    async fn count(&self, store: &Store) -> Result<u64, TransferError> {
        let row = store.first(self.count, params![]).await.map_err(|source| self.failed(source))?;
        let count = row.map_or(Ok(0), |row| row.cells().int());
        Ok(count.map_err(|error| self.failed(error.into()))?.unsigned_abs())
    }

    /// The rows after the last one of an earlier page.
    async fn page(
        &self,
        store: &Store,
        last: Option<&SqlRow>,
    ) -> Result<Vec<SqlRow>, TransferError> {
        let (sql, mut values) = match last {
            None => (self.first, Vec::new()),
            Some(last) => {
                let cell = |place: &usize| last.0.get(*place).cloned().unwrap_or(SqlValue::Null);
                (self.next, self.key.iter().map(cell).collect())
            }
        };
        values.push(SqlValue::Int(int(self.page)));
        store.rows(sql, values).await.map_err(|source| self.failed(source))
    }

    fn failed(&self, source: StoreError) -> TransferError {
        TransferError::Table { table: self.name, source }
    }

    async fn copy(
        &self,
        from: &Store,
        to: &Store,
        told: &mut (dyn FnMut(TransferProgress) + Send),
    ) -> Result<(), TransferError> {
        let total = self.count(from).await?;
        let mut writes = vec![any(self.clear, params![])];
        let (mut done, mut bytes, mut last) = (0, 0, None);
        loop {
            let rows = self.page(from, last.as_ref()).await?;
            let is_last = rows.len() < self.page;
            last = rows.last().cloned();
            done += rows.len() as u64;
            for row in rows {
                bytes += size(&row);
                writes.push(one(self.insert, row.0));
                if bytes >= COMMIT_BYTES {
                    self.commit(to, std::mem::take(&mut writes)).await?;
                    bytes = 0;
                }
            }
            self.commit(to, std::mem::take(&mut writes)).await?;
            bytes = 0;
            told(TransferProgress { phase: TransferPhase::Copying, table: self.name, done, total });
            if is_last {
                return Ok(());
            }
        }
    }

    async fn commit(&self, to: &Store, writes: Vec<Write>) -> Result<(), TransferError> {
        if writes.is_empty() {
            return Ok(());
        }
        let done = to.db.commit(writes, Urgency::Critical).await;
        done.map(drop).map_err(|error| self.failed(error.into()))
    }

    /// All rows in the order of the key, as one digest.
    async fn digest(&self, store: &Store) -> Result<TableDigest, TransferError> {
        let (mut digest, mut count, mut last) = (String::new(), 0, None);
        loop {
            let rows = self.page(store, last.as_ref()).await?;
            let is_last = rows.len() < self.page;
            let mut bytes = std::mem::take(&mut digest).into_bytes();
            rows.iter().flat_map(|row| &row.0).for_each(|cell| lay_out(cell, &mut bytes));
            digest = digest_bytes(&bytes);
            count += rows.len() as u64;
            last = rows.into_iter().next_back();
            if is_last {
                return Ok(TableDigest { table: self.name, rows: count, digest });
            }
        }
    }
}

/// Whether a table has rows that belong to its database and are not copied.
enum OwnRows {
    None,
    Left,
}

impl OwnRows {
    /// What follows the table, and what follows a condition.
    fn clauses(&self) -> (String, String) {
        match self {
            Self::None => (String::new(), String::new()),
            Self::Left => {
                let keys = OWN_KEYS.map(|key| format!("'{key}'")).join(", ");
                let rule = format!("k NOT IN ({keys})");
                (format!(" WHERE {rule}"), format!(" AND {rule}"))
            }
        }
    }
}

fn size(row: &SqlRow) -> usize {
    let cell = |value: &SqlValue| match value {
        SqlValue::Null | SqlValue::Int(_) => 8,
        SqlValue::Text(text) => text.len(),
        SqlValue::Bytes(bytes) => bytes.len(),
    };
    row.0.iter().map(cell).sum()
}

/// Each value goes in with its kind and its length, so that no two rows have the same bytes.
fn lay_out(cell: &SqlValue, bytes: &mut Vec<u8>) {
    let (kind, value): (u8, &[u8]) = match cell {
        SqlValue::Null => (0, &[]),
        SqlValue::Int(n) => {
            bytes.push(1);
            bytes.extend(n.to_le_bytes());
            return;
        }
        SqlValue::Text(text) => (2, text.as_bytes()),
        SqlValue::Bytes(value) => (3, value),
    };
    bytes.push(kind);
    bytes.extend(int(value.len()).to_le_bytes());
    bytes.extend(value);
}

/// Checks that a database has no more rows than one that was just made.
///
/// # Errors
/// [`TransferError::NotEmpty`], or if it cannot be read.
pub async fn check_empty(store: &Store) -> Result<(), TransferError> {
    let fresh = Store::memory();
    for table in plans().iter().filter(|table| table.name != OWN_TABLE) {
        let rows = table.count(store).await?;
        if rows > table.count(&fresh).await? {
            return Err(TransferError::NotEmpty { table: table.name, rows });
        }
    }
    Ok(())
}

/// Copies everything into an empty database, and compares both afterwards. Returns what is there
/// then: every table by name. If it fails, the target stays marked and cannot be opened.
///
/// Neither store may remove secrets: rows are copied as they are.
///
/// # Errors
/// [`TransferError`].
pub async fn copy_all(
    from: &Store,
    to: &Store,
    told: &mut (dyn FnMut(TransferProgress) + Send),
) -> Result<Vec<TableDigest>, TransferError> {
    check_empty(to).await?;
    mark(to, HALF_COPIED).await?;
    for table in plans() {
        table.copy(from, to, told).await?;
    }
    let mut digests = Vec::new();
    for table in plans() {
        let (ours, theirs) = (table.digest(from).await?, table.digest(to).await?);
        if ours != theirs {
            let (from, to) = (ours.rows, theirs.rows);
            return Err(TransferError::Differs { table: table.name, from, to });
        }
        let (done, total) = (ours.rows, ours.rows);
        told(TransferProgress { phase: TransferPhase::Checking, table: table.name, done, total });
        digests.push(ours);
    }
    mark(to, MIGRATIONS.last().map_or(1, |newest| newest.min_reader)).await?;
    Ok(digests)
}

/// A digest of everything in a database, for a comparison.
///
/// # Errors
/// If it cannot be read.
pub async fn digest_all(store: &Store) -> Result<Vec<TableDigest>, TransferError> {
    let mut digests = Vec::new();
    for table in plans() {
        digests.push(table.digest(store).await?);
    }
    Ok(digests)
}

/// Writes the oldest version that a program must know to open the database.
async fn mark(store: &Store, min_reader: i64) -> Result<(), TransferError> {
    let write = any(Statement::sealed(SET_META), params!["min_reader", min_reader.to_string()]);
    let done = store.db.commit(vec![write], Urgency::Critical).await;
    done.map(drop).map_err(|error| TransferError::Table { table: OWN_TABLE, source: error.into() })
}
