//! What a table looks like, worked out without a model.
//!
//! ```text
//!   200,000 rows ──► ColumnSample: quartiles, frequent values, histogram ─┐
//!   all rows ──────► ColumnScan: ends, mean, different values, outliers ──┴─► ColumnProfile
//! ```

mod columns;
mod distinct;
mod gaps;
mod joins;
mod sample;
mod scan;

use columns::ColumnSeen;
pub use columns::{ColumnProfile, Histogram, NumberSpread, TextSpelling, ValueCount};
pub use gaps::{DateGaps, DateStep};
pub use joins::JoinProfile;

use crate::error::AnalysisError;
use crate::load::{DataFolder, LoadPhase, LoadProgress, LoadedColumn, LoadedTable, OnProgress};
use crate::query::{QueryLimits, QueryResult};
use crate::source::ReadNotes;
use crate::value::DataValue;
use serde::Serialize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Above so many rows distributions are those of a sample.
const SAMPLE_ABOVE: u64 = 200_000;

/// Columns of a table whose rows are compared with each other.
const DUPLICATES_COLUMNS_MAX: usize = 200;

/// A table as it is found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableProfile {
    /// Its name in SQL.
    pub table: String,
    /// The file that it came from.
    pub file: String,
    /// Its rows.
    pub rows: u64,
    /// Rows that are there twice or more, beyond the first; none if that was not looked at.
    pub duplicate_rows: Option<u64>,
    /// Columns of which each value is there once.
    pub keys: Vec<String>,
    /// Its columns.
    pub columns: Vec<ColumnProfile>,
    /// What was odd about the file.
    pub notes: ReadNotes,
    /// Each how manyth row distributions were worked out of; 1 for all.
    pub sampled: u64,
}

/// Tables and what joins them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DataProfile {
    /// The tables.
    pub tables: Vec<TableProfile>,
    /// Columns that join them.
    pub joins: Vec<JoinProfile>,
}

/// Works out the profile of tables that are loaded.
///
/// # Errors
/// If the data cannot be read, or a limit is reached.
pub fn profile(
    data: &DataFolder,
    tables: &[LoadedTable],
    limits: &QueryLimits,
    on_progress: OnProgress<'_>,
) -> Result<DataProfile, AnalysisError> {
    let mut profiles = Vec::new();
    for table in tables {
        let seen = RowsSeen::new(table, on_progress);
        profiles.push(profile_table(data, table, (limits, &seen))?);
    }
    let joins = joins::find(data, tables, &profiles, limits)?;
    Ok(DataProfile { tables: profiles, joins })
}

/// Tells how many rows were looked at.
struct RowsSeen<'a> {
    began: Instant,
    rows: AtomicU64,
    /// All that will be looked at: each row once for each group of columns.
    total: u64,
    on_progress: OnProgress<'a>,
}

impl<'a> RowsSeen<'a> {
    fn new(table: &LoadedTable, on_progress: OnProgress<'a>) -> Self {
        let groups = table.columns.len().div_ceil(scan::COLUMNS_AT_ONCE) as u64;
        let total = table.rows * groups;
        Self { began: Instant::now(), rows: AtomicU64::new(0), total, on_progress }
    }

    fn add(&self, rows: u64) {
        let rows = self.rows.fetch_add(rows, Ordering::Relaxed) + rows;
        (self.on_progress)(LoadProgress {
            phase: LoadPhase::Profiling,
            rows,
            bytes: rows,
            total_bytes: self.total.max(rows),
            took_ms: u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX),
        });
    }
}

fn profile_table(
    data: &DataFolder,
    table: &LoadedTable,
    (limits, rows_seen): (&QueryLimits, &RowsSeen<'_>),
) -> Result<TableProfile, AnalysisError> {
    let sampled = (table.rows / SAMPLE_ABOVE).max(1);
    let today = jiff::Zoned::now().date();
    let (mut columns, mut keys) = (Vec::new(), Vec::new());
    for group in table.columns.chunks(scan::COLUMNS_AT_ONCE) {
        for (column, seen) in
            group.iter().zip(look_at(data, (table, group), sampled, (limits, rows_seen))?)
        {
            let mut found = columns::profile_column(table, column, &seen, (sampled, today));
            if is_key(data, table, (column, &found, &seen), limits)? {
                keys.push(column.name.clone());
                (found.distinct, found.is_distinct_rough) = (Some(table.rows), false);
            }
            columns.push(found);
        }
    }
    // A key makes each row another one.
    let duplicate_rows = match keys.is_empty() && table.columns.len() <= DUPLICATES_COLUMNS_MAX {
        true => scan::repeats(data, table, &table.columns, (u64::MAX, limits))?,
        false => (!keys.is_empty()).then_some(0),
    };
    let file = table.file.display().to_string();
    let notes = table.notes.clone();
    let (table, rows) = (table.name.clone(), table.rows);
    Ok(TableProfile { table, file, rows, duplicate_rows, keys, columns, notes, sampled })
}

/// Looks at the rows of a sample, and then at all.
fn look_at(
    data: &DataFolder,
    (table, columns): (&LoadedTable, &[LoadedColumn]),
    sampled: u64,
    (limits, rows_seen): (&QueryLimits, &RowsSeen<'_>),
) -> Result<Vec<ColumnSeen>, AnalysisError> {
    let mut samples = Vec::new();
    for group in columns.chunks(sample::COLUMNS_AT_ONCE) {
        let group: Vec<&LoadedColumn> = group.iter().collect();
        samples.extend(sample::sample(data, table, &group, sampled, limits)?);
    }
    let with_fences: Vec<(&LoadedColumn, Option<(f64, f64)>)> =
        columns.iter().zip(&samples).map(|(column, sample)| (column, sample.fence())).collect();
    let scans = scan::scan(data, table, &with_fences, (limits, rows_seen))?;
    let mut seen = Vec::new();
    for (column, (sample, scan)) in columns.iter().zip(samples.into_iter().zip(scans)) {
        let counts = (scan.distinct.counts(), sampled);
        let top = sample.top(data, (table, column), counts, limits)?;
        seen.push(ColumnSeen { sample, scan, top });
    }
    Ok(seen)
}

/// Whether each row has a value of its own in this column.
fn is_key(
    data: &DataFolder,
    table: &LoadedTable,
    (column, found, seen): (&LoadedColumn, &ColumnProfile, &ColumnSeen),
    limits: &QueryLimits,
) -> Result<bool, AnalysisError> {
    let (distinct, is_rough) = seen.scan.distinct.count();
    if found.missing > 0 || found.misfits > 0 || table.rows < 2 {
        return Ok(false);
    }
    if !is_rough {
        return Ok(distinct == table.rows);
    }
    // Three percent below are within what an estimate may be off.
    if seen.scan.distinct.has_repeats() || distinct * 100 < table.rows * 97 {
        return Ok(false);
    }
    let is_key = seen.scan.is_rising()
        || scan::repeats(data, table, std::slice::from_ref(column), (1, limits))? == Some(0);
    Ok(is_key)
}

/// The first value of a result, as a count.
fn first_count(result: &QueryResult) -> Option<u64> {
    match result.rows.first()?.first()? {
        DataValue::Int(count) => u64::try_from(*count).ok(),
        _ => None,
    }
}
