//! A database as the store sees it: logical transactions in, rows out.
//!
//! ```text
//!   Store ──Vec<Write>──► Db::commit ──► SqliteDb: writer thread, many transactions per fsync
//!                                   ├──► MemoryDb: the same SQL, inline, for tests
//!                                   └──► PgDb: the same SQL, pipelined, many processes
//! ```
//!
//! Deliberately absent: open transactions. A transaction is a value, so it can never be held
//! across an outside call.

use everloop_types::{SqlValue, Write};
use std::{error::Error, future::Future, path::Path, pin::Pin, sync::Arc};

/// The future of a database operation.
pub type DbFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, DbError>> + Send + 'a>>;

/// An underlying error, shared by all transactions of the same commit.
pub type Cause = Arc<dyn Error + Send + Sync>;

/// A database that takes transactions as values.
pub trait Db: Send + Sync {
    /// Performs one logical transaction: all of `writes`, in order, or none.
    ///
    /// Dropping the future does not take the transaction back.
    fn commit(&self, writes: Vec<Write>, urgency: Urgency) -> DbFuture<'_, Vec<WriteResult>>;

    /// Reads, in one snapshot of the database.
    fn query(&self, sql: &'static str, params: Vec<SqlValue>) -> DbFuture<'_, Vec<SqlRow>>;

    /// The kind of database. A wrapper returns the kind of what it wraps.
    fn engine(&self) -> DatabaseKind {
        DatabaseKind::Sqlite
    }
}

/// The kinds of database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseKind {
    /// A file or memory of this machine; one process drives runs.
    Sqlite,
    /// A server; many processes drive runs.
    Postgres,
}

/// How soon a transaction must be durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Urgency {
    /// At once.
    Critical,
    /// With the next critical one, or after 200 ms.
    Lazy,
}

/// The result of one write.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WriteResult {
    /// How many rows it touched.
    pub touched: u64,
    /// The rows of its `RETURNING`.
    pub rows: Vec<SqlRow>,
}

/// One row of a result.
#[derive(Debug, Clone, PartialEq)]
pub struct SqlRow(pub Vec<SqlValue>);

impl SqlRow {
    /// The values, in the order of the columns.
    #[must_use]
    pub fn cells(self) -> SqlCells {
        SqlCells { values: self.0.into_iter(), column: 0 }
    }
}

/// The values of a row, taken one after the other.
#[derive(Debug)]
pub struct SqlCells {
    values: std::vec::IntoIter<SqlValue>,
    column: usize,
}

impl SqlCells {
    fn next(&mut self) -> SqlValue {
        self.column += 1;
        self.values.next().unwrap_or(SqlValue::Null)
    }

    fn shape<T>(&self, wanted: &'static str) -> Result<T, DbError> {
        Err(DbError::Shape { column: self.column, wanted })
    }

    /// A number.
    ///
    /// # Errors
    /// [`DbError::Shape`] if the next value is not a number.
    pub fn int(&mut self) -> Result<i64, DbError> {
        match self.next() {
            SqlValue::Int(n) => Ok(n),
            _ => self.shape("a number"),
        }
    }

    /// A number or NULL.
    ///
    /// # Errors
    /// As for [`SqlCells::int`].
    pub fn opt_int(&mut self) -> Result<Option<i64>, DbError> {
        match self.next() {
            SqlValue::Int(n) => Ok(Some(n)),
            SqlValue::Null => Ok(None),
            _ => self.shape("a number or null"),
        }
    }

    /// Text.
    ///
    /// # Errors
    /// As for [`SqlCells::int`].
    pub fn text(&mut self) -> Result<String, DbError> {
        match self.next() {
            SqlValue::Text(text) => Ok(text),
            _ => self.shape("text"),
        }
    }

    /// Text or NULL.
    ///
    /// # Errors
    /// As for [`SqlCells::int`].
    pub fn opt_text(&mut self) -> Result<Option<String>, DbError> {
        match self.next() {
            SqlValue::Text(text) => Ok(Some(text)),
            SqlValue::Null => Ok(None),
            _ => self.shape("text or null"),
        }
    }

    /// Bytes or NULL.
    ///
    /// # Errors
    /// As for [`SqlCells::int`].
    pub fn opt_bytes(&mut self) -> Result<Option<Vec<u8>>, DbError> {
        match self.next() {
            SqlValue::Bytes(bytes) => Ok(Some(bytes)),
            SqlValue::Null => Ok(None),
            _ => self.shape("bytes or null"),
        }
    }
}

/// Why a transaction or a query failed.
///
/// All but [`DbError::CommitUnknown`] are definite: nothing of the transaction took place.
#[derive(Debug, Clone, thiserror::Error)]
pub enum DbError {
    /// A write did not touch the required number of rows.
    #[error("write {index} touched {touched} rows, not as many as it must")]
    Expectation {
        /// Its index in the transaction.
        index: usize,
        /// How many rows it touched.
        touched: u64,
    },
    /// A write violated a unique index.
    #[error("write {index} would make a second row for {rule}")]
    Unique {
        /// Its index in the transaction.
        index: usize,
        /// The index by its name, or by its columns where the database does not name it.
        rule: String,
    },
    /// The commit itself failed: it may or may not have taken place.
    #[error("the commit broke off, it may have taken place; read before going on")]
    CommitUnknown {
        /// What the database said.
        source: Cause,
    },
    /// The file or its folder cannot be written.
    #[error("{} is read-only; make the file and its folder writable", .file.display())]
    ReadOnly {
        /// The database.
        file: Arc<Path>,
    },
    /// No space is left.
    #[error("no space left for {}; free some, nothing is lost", .file.display())]
    Full {
        /// The database.
        file: Arc<Path>,
    },
    /// Another process held the file or the rows for longer than the time-out.
    #[error("{} is locked by another process; close it or try again", .file.display())]
    Locked {
        /// The database.
        file: Arc<Path>,
    },
    /// The file is damaged, or is not a database.
    #[error("{} is damaged or no database; put a backup in its place", .file.display())]
    Damaged {
        /// The database.
        file: Arc<Path>,
    },
    /// A column holds a value of another type.
    #[error("column {column} does not hold {wanted}")]
    Shape {
        /// The column, from 1.
        column: usize,
        /// What it should hold.
        wanted: &'static str,
    },
    /// The database did not answer, or not in time. The transaction did not take place.
    #[error("the database does not answer; nothing is lost, try again when it does")]
    Unreachable {
        /// What the system said.
        source: Cause,
    },
    /// Anything else.
    #[error("the database refused")]
    Other {
        /// What it said.
        source: Cause,
    },
}

impl DbError {
    /// Whether the same may succeed later without anyone's help.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::Locked { .. }
                | Self::Full { .. }
                | Self::Unreachable { .. }
                | Self::CommitUnknown { .. }
        )
    }

    /// For a thread of ours that is gone: a bug, which no waiting repairs.
    pub(crate) fn gone() -> Self {
        Self::Other { source: Arc::new(std::io::Error::from(std::io::ErrorKind::BrokenPipe)) }
    }
}
