//! One connection and the statements it knows: what writer, readers and memory have in common.

use super::files::{self, FileIdentity};
use crate::{
    db::{DbError, SqlRow, WriteResult},
    dialect,
};
use everloop_types::{Rows, SqlValue, UtcMs, Write};
use rusqlite::{
    CachedStatement, Connection, ErrorCode, ToSql,
    config::DbConfig,
    ffi::{SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE},
    functions::FunctionFlags,
    types::{ToSqlOutput, ValueRef},
};
use std::{
    collections::HashMap,
    path::Path,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

/// Far more than there are statements, so that none is ever compiled twice.
const STATEMENTS_KEPT: usize = 512;

/// A connection together with its translated and compiled statements.
pub(super) struct SqliteSession {
    pub(super) conn: Connection,
    file: Arc<Path>,
    translated: HashMap<&'static str, String>,
    /// What the file must still be; nothing for a database in memory.
    identity: Option<Arc<FileIdentity>>,
}

impl SqliteSession {
    pub(super) fn new(
        conn: Connection,
        file: Arc<Path>,
        now: impl Fn() -> UtcMs + Send + 'static,
    ) -> Result<Self, DbError> {
        conn.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
        let broken = |error| classify(error, &file, 0);
        // Otherwise a statement that could use a partial index is compiled again at each new value.
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(broken)?;
        let flags = FunctionFlags::SQLITE_UTF8;
        let clock = conn.create_scalar_function(dialect::SQLITE_NOW, 0, flags, move |_| Ok(now()));
        clock.map_err(broken)?;
        Ok(Self { conn, file, translated: HashMap::new(), identity: None })
    }

    /// The same, refusing to work once its files were removed or replaced.
    pub(super) fn guarded(mut self, identity: &Arc<FileIdentity>) -> Self {
        self.identity = Some(Arc::clone(identity));
        self
    }

    fn check_files(&self) -> Result<(), DbError> {
        self.identity.as_ref().map_or(Ok(()), |identity| identity.check())
    }

    /// Performs one logical transaction as a transaction of its own.
    pub(super) fn transaction(&mut self, writes: &[Write]) -> Result<Vec<WriteResult>, DbError> {
        self.begin()?;
        match self.run_all(writes) {
            Ok(done) => self.commit().map(|()| done),
            Err(error) => {
                self.roll_back();
                Err(error)
            }
        }
    }

    /// At once as a writer: a reader that becomes one fails without waiting for its turn.
    pub(super) fn begin(&mut self) -> Result<(), DbError> {
        self.roll_back();
        self.check_files()?;
        self.control("BEGIN IMMEDIATE")
    }

    /// Commits. An error that SQLite raises before the commit counts is definite; any other leaves
    /// open whether the commit took place. What went to a file that was replaced is not
    /// acknowledged.
    pub(super) fn commit(&mut self) -> Result<(), DbError> {
        let committed = self.conn.prepare_cached("COMMIT").and_then(|mut s| s.raw_execute());
        let Err(source) = committed else { return self.check_files() };
        self.roll_back();
        let source = Arc::new(source);
        let file = || Arc::clone(&self.file);
        Err(match source.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => DbError::Full { file: file() },
            Some(ErrorCode::ReadOnly) => DbError::ReadOnly { file: file() },
            Some(ErrorCode::DatabaseBusy) => DbError::Locked { file: file() },
            Some(ErrorCode::SystemIoFailure) => match files::length_limit(&self.file) {
                Some(words) => DbError::CommitUnknown { source: Arc::new(words) },
                None => DbError::CommitUnknown { source },
            },
            _ => DbError::CommitUnknown { source },
        })
    }

    /// Gives the open transaction up, if SQLite has not done so by itself.
    pub(super) fn roll_back(&mut self) {
        if !self.conn.is_autocommit() {
            // An error leaves the transaction open; the next `BEGIN` then reports it.
            let _ = self.control("ROLLBACK");
        }
    }

    /// A statement without parameters that steers the transaction.
    pub(super) fn control(&self, sql: &str) -> Result<(), DbError> {
        let done = self.conn.prepare_cached(sql).and_then(|mut s| s.raw_execute());
        done.map(|_| ()).map_err(|error| classify(error, &self.file, 0))
    }

    /// All writes, in order, inside the transaction that is open.
    pub(super) fn run_all(&mut self, writes: &[Write]) -> Result<Vec<WriteResult>, DbError> {
        let mut all = Vec::with_capacity(writes.len());
        for (index, write) in writes.iter().enumerate() {
            let done = self.run(write.statement.sql(), &write.params, index)?;
            match write.expect {
                Rows::Exactly(n) if n != done.touched => {
                    return Err(DbError::Expectation { index, touched: done.touched });
                }
                Rows::Exactly(_) | Rows::Any => all.push(done),
            }
        }
        Ok(all)
    }

    /// One read.
    pub(super) fn query(
        &mut self,
        sql: &'static str,
        params: &[SqlValue],
    ) -> Result<Vec<SqlRow>, DbError> {
        let found = self.run(sql, params, 0)?;
        self.check_files()?;
        Ok(found.rows)
    }

    fn run(
        &mut self,
        sql: &'static str,
        params: &[SqlValue],
        index: usize,
    ) -> Result<WriteResult, DbError> {
        if sql == dialect::GIVE_BACK {
            // One step of it frees one page, so it is stepped to its end.
            let done = self.conn.execute_batch(sql);
            let done = done.map(|()| WriteResult { touched: 0, rows: Vec::new() });
            return done.map_err(|error| classify(error, &self.file, index));
        }
        let text = self.translated.entry(sql).or_insert_with(|| dialect::sqlite_statement(sql));
        let done = self.conn.prepare_cached(text).and_then(|statement| perform(statement, params));
        done.map_err(|error| classify(error, &self.file, index))
    }
}

fn perform(
    mut statement: CachedStatement<'_>,
    params: &[SqlValue],
) -> rusqlite::Result<WriteResult> {
    for (at, value) in params.iter().enumerate() {
        statement.raw_bind_parameter(at + 1, BoundValue(value))?;
    }
    let columns = statement.column_count();
    if columns == 0 {
        let touched = statement.raw_execute()? as u64;
        return Ok(WriteResult { touched, rows: Vec::new() });
    }
    let mut found = Vec::new();
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        let values = (0..columns).map(|at| row.get_ref(at).map(owned));
        found.push(SqlRow(values.collect::<rusqlite::Result<_>>()?));
    }
    Ok(WriteResult { touched: found.len() as u64, rows: found })
}

/// Text that is not UTF-8 stays bytes, so that a reader of text sees that it is damaged.
fn owned(value: ValueRef<'_>) -> SqlValue {
    match value {
        ValueRef::Null => SqlValue::Null,
        ValueRef::Integer(n) => SqlValue::Int(n),
        ValueRef::Real(n) => SqlValue::Text(n.to_string()),
        ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => SqlValue::Text(text.to_owned()),
            Err(_) => SqlValue::Bytes(bytes.to_vec()),
        },
        ValueRef::Blob(bytes) => SqlValue::Bytes(bytes.to_vec()),
    }
}

/// Binds a value without copying it on our side.
struct BoundValue<'a>(&'a SqlValue);

impl ToSql for BoundValue<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            SqlValue::Null => ValueRef::Null,
            SqlValue::Int(n) => ValueRef::Integer(*n),
            SqlValue::Text(text) => ValueRef::Text(text.as_bytes()),
            SqlValue::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

/// What an error of SQLite means to us.
pub(super) fn classify(error: rusqlite::Error, file: &Arc<Path>, index: usize) -> DbError {
    let file = Arc::clone(file);
    let Some(code) = error.sqlite_error() else {
        return DbError::Other { source: Arc::new(error) };
    };
    let limit = match code.code {
        ErrorCode::ReadOnly | ErrorCode::CannotOpen => files::no_more_files(),
        ErrorCode::SystemIoFailure => files::length_limit(&file).or_else(files::no_more_files),
        _ => None,
    };
    if let Some(words) = limit {
        return DbError::Other { source: Arc::new(words) };
    }
    match code.code {
        ErrorCode::ReadOnly => DbError::ReadOnly { file },
        ErrorCode::CannotOpen if !files::is_writable(&file) => DbError::ReadOnly { file },
        ErrorCode::DiskFull => DbError::Full { file },
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => DbError::Locked { file },
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => DbError::Damaged { file },
        ErrorCode::ConstraintViolation if is_unique(code.extended_code) => {
            let text = error.to_string();
            let rule = text.rsplit_once("failed: ").map_or("", |(_, columns)| columns);
            DbError::Unique { index, rule: rule.to_owned() }
        }
        _ => DbError::Other { source: Arc::new(error) },
    }
}

fn is_unique(extended_code: i32) -> bool {
    matches!(extended_code, SQLITE_CONSTRAINT_UNIQUE | SQLITE_CONSTRAINT_PRIMARYKEY)
}

/// The machine's clock, which is the database's where both are on one machine.
pub(super) fn machine_now() -> UtcMs {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UtcMs::try_from(since.as_millis()).unwrap_or(UtcMs::MAX)
}
