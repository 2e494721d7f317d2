//! Queries that only read: one statement, with limits on time and rows, stopped within a second.

use crate::error::{AnalysisError, QueryBound};
use crate::load::DataFolder;
use crate::room::TempRoom;
use crate::statistics;
use crate::sums;
use crate::value::DataValue;
use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::hooks::{AuthAction, Authorization};
use rusqlite::limits::Limit;
use rusqlite::{Batch, Connection, ErrorCode, OpenFlags, Row, Statement};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Steps of SQLite's machine between two looks at whether to stop.
const STEPS: i32 = 20_000;

/// Memory for pages of the tables, in KiB. SQLite sorts in pieces of this size: small ones stay in
/// the caches of the processor, and a query that groups all rows takes less than half the time.
const CACHE_KIB: i64 = 1_024;

/// Bytes of one value of a result; what is more is cut.
const VALUE_BYTES_MAX: usize = 100_000;

/// Bytes of one value while a query is worked on: a function may not make larger ones.
const LENGTH_MAX: i32 = 32 << 20;

/// Bytes of all values of a result.
const RESULT_BYTES_MAX: usize = 16 << 20;

/// Pause before a table that is being loaded is looked at again.
const BUSY_PAUSE: Duration = Duration::from_millis(50);

/// What bounds a query.
#[derive(Debug, Clone)]
pub struct QueryLimits {
    /// How long it may take.
    pub timeout: Duration,
    /// Rows that are kept.
    pub rows_max: usize,
    /// Asks to stop.
    pub cancel: CancellationToken,
}

impl Default for QueryLimits {
    fn default() -> Self {
        let timeout = Duration::from_mins(2);
        Self { timeout, rows_max: 10_000, cancel: CancellationToken::new() }
    }
}

/// What a query found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct QueryResult {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows, as many as are kept.
    pub rows: Vec<Vec<DataValue>>,
    /// Whether there were more.
    pub is_cut: bool,
    /// Whether no data were read for it: what it gives was written into the query.
    #[serde(default)]
    pub is_constant: bool,
}

/// A place that answers queries over tables. A column engine can take SQLite's place here: it loads
/// the same files and answers the same SQL.
pub trait QueryEngine: Send + Sync {
    /// Answers one query that only reads.
    ///
    /// # Errors
    /// If it is no such query, or a limit is reached.
    fn query(&self, sql: &str, limits: &QueryLimits) -> Result<QueryResult, AnalysisError>;
}

/// Why a query was stopped.
const STOPPED_NOT: u8 = 0;
const STOPPED_CANCELED: u8 = 1;
const STOPPED_LATE: u8 = 2;
const STOPPED_FULL: u8 = 3;

impl QueryEngine for DataFolder {
    fn query(&self, sql: &str, limits: &QueryLimits) -> Result<QueryResult, AnalysisError> {
        after_loads(limits, || self.query_once(sql, limits))
    }
}

/// Does what reads the tables. A load has them for itself while it writes: it is waited for, and
/// that time does not count.
fn after_loads<T>(
    limits: &QueryLimits,
    mut read: impl FnMut() -> Result<T, AnalysisError>,
) -> Result<T, AnalysisError> {
    loop {
        match read() {
            Err(error) if error.is_busy() => {}
            done => return done,
        }
        if limits.cancel.is_cancelled() {
            return Err(AnalysisError::Canceled);
        }
        std::thread::sleep(BUSY_PAUSE);
    }
}

impl DataFolder {
    fn query_once(&self, sql: &str, limits: &QueryLimits) -> Result<QueryResult, AnalysisError> {
        if !self.data_file().exists() {
            return Err(AnalysisError::Refused(
                "no data is loaded yet: call read_dataset first".to_owned(),
            ));
        }
        let reads = Arc::new(DataReads::default());
        let mut connection = self.open_for_reading(&reads)?;
        let stop = QueryStop::watching(&mut connection, limits, Instant::now())?;
        let answer = run(&connection, sql, limits).map_err(|error| stop.why(error))?;
        Ok(QueryResult { is_constant: !reads.some(), ..answer })
    }

    /// Hands each row of a query on and keeps none. Only for our own SQL: a result has no bounds.
    pub(crate) fn each_row(
        &self,
        sql: &str,
        limits: &QueryLimits,
        take: &mut dyn FnMut(&Row<'_>) -> rusqlite::Result<()>,
    ) -> Result<(), AnalysisError> {
        // Once it reads, nobody takes the tables from it: no row is handed on twice.
        after_loads(limits, || {
            let mut connection = self.open_for_reading(&Arc::new(DataReads::default()))?;
            let stop = QueryStop::watching(&mut connection, limits, Instant::now())?;
            let mut each = || {
                let mut statement = connection.prepare(sql)?;
                let mut rows = statement.query(())?;
                while let Some(row) = rows.next()? {
                    take(row)?;
                }
                Ok(())
            };
            each().map_err(|error: rusqlite::Error| stop.why(error.into()))
        })
    }

    /// The tables, which cannot be changed through this.
    fn open_for_reading(&self, reads: &Arc<DataReads>) -> Result<Connection, AnalysisError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(self.data_file(), flags)?;
        // Waiting for a load is left to `after_loads`, which can be canceled.
        connection.busy_timeout(Duration::ZERO)?;
        connection.pragma_update(None, "query_only", true)?;
        connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
        // Pages that are mapped count as memory of the process.
        connection.pragma_update(None, "mmap_size", 128_i64 << 20)?;
        // Large sorts go to the disk and not into memory.
        connection.pragma_update(None, "temp_store", "FILE")?;
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LENGTH_MAX)?;
        sums::register(&connection)?;
        statistics::register(&connection)?;
        let reads = Arc::clone(reads);
        connection.authorizer(Some(move |context: rusqlite::hooks::AuthContext<'_>| {
            reads.note(&context.action);
            match context.action {
                AuthAction::Select | AuthAction::Recursive => Authorization::Allow,
                AuthAction::Read { .. } => Authorization::Allow,
                AuthAction::Function { function_name } if is_harmless(function_name) => {
                    Authorization::Allow
                }
                _ => Authorization::Deny,
            }
        }))?;
        Ok(connection)
    }
}

/// Looks now and then whether a query has to stop.
struct QueryStop {
    reason: Arc<AtomicU8>,
    timeout: Duration,
}

impl QueryStop {
    fn watching(
        connection: &mut Connection,
        limits: &QueryLimits,
        began: Instant,
    ) -> Result<Self, AnalysisError> {
        let stop = Self { reason: Arc::new(AtomicU8::new(STOPPED_NOT)), timeout: limits.timeout };
        let reason = Arc::clone(&stop.reason);
        let cancel = limits.cancel.clone();
        let timeout = limits.timeout;
        let mut room = TempRoom::new();
        connection.progress_handler(
            STEPS,
            Some(move || {
                let why = if cancel.is_cancelled() {
                    STOPPED_CANCELED
                } else if began.elapsed() > timeout {
                    STOPPED_LATE
                } else if room.is_used_up() {
                    STOPPED_FULL
                } else {
                    STOPPED_NOT
                };
                reason.store(why, Ordering::Relaxed);
                why != STOPPED_NOT
            }),
        )?;
        Ok(stop)
    }

    /// The error that it is for the person, if this stopped the query.
    fn why(&self, error: AnalysisError) -> AnalysisError {
        match self.reason.load(Ordering::Relaxed) {
            STOPPED_CANCELED => AnalysisError::Canceled,
            STOPPED_LATE => {
                AnalysisError::Stopped(QueryBound::Time { seconds: self.timeout.as_secs() })
            }
            STOPPED_FULL => AnalysisError::Stopped(QueryBound::Room),
            _ => error,
        }
    }
}

/// Names of tables are no data, and these functions are tables of what they are told.
const NO_DATA: [&str; 5] =
    ["sqlite_schema", "sqlite_master", "everloop_tables", "json_each", "json_tree"];

/// What of the tables a query reads.
#[derive(Debug, Default)]
struct DataReads {
    columns: AtomicBool,
    /// Rows, of which nothing but their count can be known.
    rows: AtomicBool,
    counts: AtomicBool,
}

impl DataReads {
    fn note(&self, action: &AuthAction<'_>) {
        match action {
            AuthAction::Read { table_name, .. } if NO_DATA.contains(table_name) => {}
            AuthAction::Read { column_name: "", .. } => self.rows.store(true, Ordering::Relaxed),
            AuthAction::Read { .. } => self.columns.store(true, Ordering::Relaxed),
            AuthAction::Function { function_name } if is_counting(function_name) => {
                self.counts.store(true, Ordering::Relaxed);
            }
            _ => {}
        }
    }

    fn some(&self) -> bool {
        let is_set = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        is_set(&self.columns) || is_set(&self.rows) && is_set(&self.counts)
    }
}

fn is_counting(function: &str) -> bool {
    let counting = ["count", "sum", "total", "row_number"];
    counting.iter().any(|name| function.eq_ignore_ascii_case(name))
}

/// Functions that reach outside of the query.
fn is_harmless(function: &str) -> bool {
    let refused = ["load_extension", "readfile", "writefile", "edit", "fts3_tokenizer"];
    !refused.iter().any(|name| function.eq_ignore_ascii_case(name))
}

fn run(
    connection: &Connection,
    sql: &str,
    limits: &QueryLimits,
) -> Result<QueryResult, AnalysisError> {
    let mut statements = Batch::new(connection, sql);
    let first = statements.next().map_err(readable)?;
    let Some(statement) = first else {
        return Err(AnalysisError::Refused("there is no query in it".to_owned()));
    };
    if statements.next().map_err(readable)?.is_some() {
        return Err(AnalysisError::Refused(
            "one query at a time: there is a second statement".to_owned(),
        ));
    }
    collect(statement, limits)
}

fn readable(error: rusqlite::Error) -> AnalysisError {
    let is_denied = error.sqlite_error_code() == Some(ErrorCode::AuthorizationForStatementDenied);
    match is_denied {
        true => AnalysisError::Refused(
            "only a single SELECT (or WITH … SELECT) is allowed: nothing may be written, attached \
             or configured"
                .to_owned(),
        ),
        false => AnalysisError::Sql(error),
    }
}

fn collect(
    mut statement: Statement<'_>,
    limits: &QueryLimits,
) -> Result<QueryResult, AnalysisError> {
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    if columns.is_empty() || !statement.readonly() {
        return Err(AnalysisError::Refused("it is no query: it returns nothing".to_owned()));
    }
    // What is in a table is told as it is there; what was worked out, without its noise.
    let is_stored: Vec<bool> =
        statement.columns().map(|column| column.decl_type().is_some()).collect();
    let mut found = QueryResult { columns: unique(columns), ..QueryResult::default() };
    let mut bytes = 0;
    let mut rows = statement.query(())?;
    while let Some(row) = rows.next()? {
        if found.rows.len() >= limits.rows_max || bytes > RESULT_BYTES_MAX {
            found.is_cut = true;
            break;
        }
        let mut values = Vec::with_capacity(found.columns.len());
        for (at, is_stored) in is_stored.iter().enumerate() {
            let value = DataValue::of_sql(row.get_ref(at)?);
            let mut value = if *is_stored { value } else { value.without_noise() };
            if let DataValue::Text(text) = &mut value {
                text.truncate(text.floor_char_boundary(VALUE_BYTES_MAX));
                bytes += text.len();
            }
            bytes += 16;
            values.push(value);
        }
        found.rows.push(values);
    }
    Ok(found)
}

/// Columns that a reference can tell apart.
fn unique(columns: Vec<String>) -> Vec<String> {
    let mut taken = std::collections::HashSet::new();
    let mut names = Vec::with_capacity(columns.len());
    for column in columns {
        let mut name = column.clone();
        let mut number = 2;
        while !taken.insert(name.clone()) {
            name = format!("{column}_{number}");
            number += 1;
        }
        names.push(name);
    }
    names
}
