//! One look at all rows, by several threads, instead of a query for each thing that is asked.
//!
//! ```text
//!   rows 1 … n/2 ──► ColumnScan per column ─┐
//!   rows n/2 … n ──► ColumnScan per column ─┴─ join ──► ends, mean, different values, outliers
//! ```

use super::RowsSeen;
use super::distinct::{DistinctCount, HashesSeen, IdentityHasher, hash_of, hash_of_both};
use crate::error::AnalysisError;
use crate::infer::ColumnKind;
use crate::load::{DataFolder, LoadedColumn, LoadedTable, quoted};
use crate::query::QueryLimits;
use crate::sums::RunningSum;
use crate::value::{DataValue, LongDecimal};
use rusqlite::types::ValueRef;
use std::cmp::Ordering;
use std::collections::HashSet;
use std::hash::BuildHasherDefault;
use std::num::NonZero;

/// Different days that are kept.
pub(super) const DAYS_MAX: usize = 10_000;

/// Rows from which it is worth to have more than one thread.
const THREADS_FROM: u64 = 100_000;

/// Threads at most.
const THREADS_MAX: u64 = 4;

/// Rows between two looks at how far it is.
const TELL_EVERY: u64 = 20_000;

/// Columns that are looked at together; each holds up to some megabytes.
pub(super) const COLUMNS_AT_ONCE: usize = 24;

/// Hashes that are compared with each other at once.
const HASHES_MAX: u64 = 3_500_000;

/// Times that all rows are read to find those that are there twice.
const PASSES_MAX: u64 = 8;

/// What the rows of a table say of one column.
#[derive(Debug, Default)]
pub(super) struct ColumnScan {
    is_number: bool,
    is_time: bool,
    /// Numbers outside of these are outliers.
    fence: Option<(f64, f64)>,
    pub(super) sum: RunningSum,
    pub(super) ends: Option<(DataValue, DataValue)>,
    pub(super) distinct: DistinctCount,
    pub(super) outliers: u64,
    /// Texts with blanks before or after them.
    pub(super) with_blanks: u64,
    /// Days as the number `20261118`.
    pub(super) days: HashSet<u64, BuildHasherDefault<IdentityHasher>>,
    order: RowOrder,
}

/// Whether whole numbers only rise from row to row.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum RowOrder {
    #[default]
    Unseen,
    Rising(i64, i64),
    Mixed,
}

impl RowOrder {
    fn then(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unseen, other) => other,
            (own, Self::Unseen) => own,
            (Self::Rising(first, last), Self::Rising(next, end)) if last < next => {
                Self::Rising(first, end)
            }
            _ => Self::Mixed,
        }
    }
}

impl ColumnScan {
    fn of(kind: ColumnKind, fence: Option<(f64, f64)>) -> Self {
        Self { is_number: kind.is_number(), is_time: kind.is_time(), fence, ..Self::default() }
    }

    fn take(&mut self, value: ValueRef<'_>) {
        let Some(hash) = hash_of(value) else { return };
        self.distinct.add(hash);
        self.order = match (value, self.order) {
            (_, RowOrder::Mixed) => RowOrder::Mixed,
            (ValueRef::Integer(number), order) => order.then(RowOrder::Rising(number, number)),
            _ => RowOrder::Mixed,
        };
        match value {
            ValueRef::Integer(number) if self.is_number => {
                #[expect(clippy::cast_precision_loss, reason = "near enough for an outlier")]
                self.take_number(value, number as f64);
            }
            ValueRef::Real(number) if self.is_number => self.take_number(value, number),
            ValueRef::Blob(digits) if self.is_number => {
                if let Some(long) = LongDecimal::of_sql(digits) {
                    self.take_number(value, long.to_f64());
                }
            }
            // Text in a column of numbers is not a number of it.
            _ if self.is_number => {}
            ValueRef::Text(text) => self.take_text(text),
            value => self.take_end(value),
        }
    }

    fn take_number(&mut self, value: ValueRef<'_>, number: f64) {
        self.sum.change(value, 1);
        self.take_end(value);
        let is_outlier = self.fence.is_some_and(|(low, high)| number < low || number > high);
        self.outliers += u64::from(is_outlier);
    }

    fn take_text(&mut self, text: &[u8]) {
        self.take_end(ValueRef::Text(text));
        let is_blank = |byte: Option<&u8>| byte == Some(&b' ');
        self.with_blanks += u64::from(is_blank(text.first()) || is_blank(text.last()));
        if self.is_time && self.days.len() <= DAYS_MAX {
            self.days.extend(day_of(text));
        }
    }

    fn take_end(&mut self, value: ValueRef<'_>) {
        match &mut self.ends {
            None => {
                let value = DataValue::of_sql(value);
                self.ends = Some((value.clone(), value));
            }
            Some((low, _)) if order_of(value, low) == Ordering::Less => {
                *low = DataValue::of_sql(value);
            }
            Some((_, high)) if order_of(value, high) == Ordering::Greater => {
                *high = DataValue::of_sql(value);
            }
            Some(_) => {}
        }
    }

    /// Adds what the rows after these say.
    fn join(&mut self, other: Self) {
        self.sum.join(other.sum);
        self.distinct.join(other.distinct);
        self.outliers += other.outliers;
        self.with_blanks += other.with_blanks;
        self.days.extend(other.days);
        self.order = self.order.then(other.order);
        for end in other.ends.into_iter().flat_map(|(low, high)| [low, high]) {
            match &end {
                DataValue::Int(number) => self.take_end(ValueRef::Integer(*number)),
                DataValue::Real(number) => self.take_end(ValueRef::Real(*number)),
                // A number with many digits, as it was read from the table.
                DataValue::Text(digits) if self.is_number => {
                    self.take_end(ValueRef::Blob(digits.as_bytes()));
                }
                DataValue::Text(text) => self.take_end(ValueRef::Text(text.as_bytes())),
                DataValue::Null => {}
            }
        }
    }

    /// Whether each row is known to have another value.
    pub(super) fn is_rising(&self) -> bool {
        matches!(self.order, RowOrder::Rising(..))
    }
}

/// The order of values of one column: numbers by size, text by its bytes.
fn order_of(value: ValueRef<'_>, other: &DataValue) -> Ordering {
    #[expect(clippy::cast_precision_loss, reason = "as SQLite compares them, nearly")]
    let rough = |number: i64| number as f64;
    match (value, other) {
        (ValueRef::Integer(one), DataValue::Int(two)) => one.cmp(two),
        (ValueRef::Integer(one), DataValue::Real(two)) => rough(one).total_cmp(two),
        (ValueRef::Real(one), DataValue::Int(two)) => one.total_cmp(&rough(*two)),
        (ValueRef::Real(one), DataValue::Real(two)) => one.total_cmp(two),
        (ValueRef::Text(one), DataValue::Text(two)) => one.cmp(two.as_bytes()),
        // Numbers with many digits.
        (ValueRef::Blob(_), _) | (ValueRef::Integer(_) | ValueRef::Real(_), DataValue::Text(_)) => {
            let value = DataValue::of_sql(value);
            match value.number().zip(other.number()) {
                Some((one, two)) => one.cmp(&two),
                None => value.nearest().total_cmp(&other.nearest()),
            }
        }
        (ValueRef::Text(_), _) => Ordering::Greater,
        _ => Ordering::Equal,
    }
}

/// The day that a text in ISO form begins with.
fn day_of(text: &[u8]) -> Option<u64> {
    let day = text.get(..10)?;
    let mut number = 0;
    for (at, byte) in day.iter().enumerate() {
        match byte {
            b'-' if at == 4 || at == 7 => {}
            b'0'..=b'9' if at != 4 && at != 7 => number = number * 10 + u64::from(byte - b'0'),
            _ => return None,
        }
    }
    Some(number)
}

/// A name of the row's number that no column of the table has taken.
pub(super) fn rowid_of(table: &LoadedTable) -> Option<&'static str> {
    let is_taken = |name: &str| table.columns.iter().any(|own| own.name.eq_ignore_ascii_case(name));
    ["rowid", "_rowid_", "oid"].into_iter().find(|name| !is_taken(name))
}

/// The parts of a table that threads look at, as conditions.
fn parts_of(table: &LoadedTable) -> Vec<String> {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get) as u64;
    let threads = cores.min(THREADS_MAX);
    let Some(rowid) = rowid_of(table).filter(|_| table.rows > THREADS_FROM && threads > 1) else {
        return vec![String::new()];
    };
    let each = table.rows.div_ceil(threads);
    let parts = (0..threads).map(|part| {
        // The last one has whatever is left.
        let end = if part + 1 == threads { u64::MAX >> 1 } else { (part + 1) * each };
        format!(" WHERE {rowid} > {} AND {rowid} <= {end}", part * each)
    });
    parts.collect()
}

/// Reads rows by several threads, each into a value of its own; these are in the order of the rows.
fn by_parts<T: Send>(
    data: &DataFolder,
    table: &LoadedTable,
    columns: &[&LoadedColumn],
    (limits, rows_seen): (&QueryLimits, &RowsSeen<'_>),
    (new, take): (impl Fn() -> T + Sync, impl Fn(&mut T, &[ValueRef<'_>]) + Sync),
) -> Result<Vec<T>, AnalysisError> {
    let names: Vec<String> = columns.iter().map(|column| quoted(&column.name)).collect();
    let select = format!("SELECT {} FROM {}", names.join(", "), quoted(&table.name));
    let read = |part: &str| {
        let (mut found, mut rows) = (new(), 0);
        data.each_row(&format!("{select}{part}"), limits, &mut |row| {
            let mut values = [ValueRef::Null; COLUMNS_AT_ONCE];
            for (at, value) in values.iter_mut().enumerate().take(columns.len()) {
                *value = row.get_ref(at)?;
            }
            take(&mut found, &values[..columns.len()]);
            rows += 1;
            if rows == TELL_EVERY {
                rows_seen.add(std::mem::take(&mut rows));
            }
            Ok(())
        })?;
        rows_seen.add(rows);
        Ok(found)
    };
    let parts = parts_of(table);
    let found: Vec<Result<T, AnalysisError>> = std::thread::scope(|scope| {
        let read = &read;
        let work: Vec<_> = parts.iter().map(|part| scope.spawn(move || read(part))).collect();
        let done = work.into_iter().map(|part| part.join());
        done.map(|part| part.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    found.into_iter().collect()
}

/// What all rows say of these columns, at most [`COLUMNS_AT_ONCE`].
pub(super) fn scan(
    data: &DataFolder,
    table: &LoadedTable,
    columns: &[(&LoadedColumn, Option<(f64, f64)>)],
    told: (&QueryLimits, &RowsSeen<'_>),
) -> Result<Vec<ColumnScan>, AnalysisError> {
    let new = || -> Vec<ColumnScan> {
        columns.iter().map(|(column, fence)| ColumnScan::of(column.plan.kind, *fence)).collect()
    };
    let take = |scans: &mut Vec<ColumnScan>, values: &[ValueRef<'_>]| {
        scans.iter_mut().zip(values).for_each(|(scan, value)| scan.take(*value));
    };
    let names: Vec<&LoadedColumn> = columns.iter().map(|(column, _)| *column).collect();
    let mut parts = by_parts(data, table, &names, told, (new, take))?.into_iter();
    let mut all = parts.next().unwrap_or_default();
    for part in parts {
        all.iter_mut().zip(part).for_each(|(all, part)| all.join(part));
    }
    Ok(all)
}

/// How many rows have the same values in these columns as one before them, counted up to `most`;
/// none if there are too many rows to look.
pub(super) fn repeats(
    data: &DataFolder,
    table: &LoadedTable,
    columns: &[LoadedColumn],
    (most, limits): (u64, &QueryLimits),
) -> Result<Option<u64>, AnalysisError> {
    let passes = table.rows.div_ceil(HASHES_MAX).max(1);
    if passes > PASSES_MAX {
        return Ok(None);
    }
    let names: Vec<String> = columns.iter().map(|column| quoted(&column.name)).collect();
    let sql = format!("SELECT {} FROM {}", names.join(", "), quoted(&table.name));
    let mut count = 0;
    for pass in 0..passes {
        let mut seen = HashesSeen::default();
        let look = data.each_row(&sql, limits, &mut |row| {
            let mut hash = 0;
            for at in 0..names.len() {
                hash = hash_of_both(hash, hash_of(row.get_ref(at)?));
            }
            if hash % passes == pass && !seen.insert(hash) {
                count += 1;
            }
            // More than were asked for need no look at the rest.
            if count >= most { Err(rusqlite::Error::QueryReturnedMoreThanOneRow) } else { Ok(()) }
        });
        match look {
            _ if count >= most => break,
            other => other?,
        }
    }
    Ok(Some(count))
}
