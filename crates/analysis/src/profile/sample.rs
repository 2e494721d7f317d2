//! Rows from all over a table, one of each stretch, of which distributions are worked out.

use super::columns::{Histogram, ValueCount};
use super::distinct::{HashCounts, HashesSeen, IdentityHasher, hash_of, hash_of_bytes};
use super::scan::rowid_of;
use crate::error::AnalysisError;
use crate::load::{DataFolder, LoadedColumn, LoadedTable, quoted};
use crate::query::{QueryEngine, QueryLimits};
use crate::statistics::quantile;
use crate::value::{DataValue, LongDecimal};
use rusqlite::types::ValueRef;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// Columns that are looked at together; each holds some 20 MB at most.
pub(super) const COLUMNS_AT_ONCE: usize = 4;

/// Values that are listed with their counts.
const TOP: usize = 5;

/// Values that are looked up to find these, where many are as frequent.
const LOOKED_UP: usize = 40;

/// Numbers from which quartiles say something.
const QUARTILES_FROM: usize = 4;

/// A number that looks like chance and is the same each time, in SQL: rows at equal distances would
/// all be the same day of a week, or the same shop of a list that goes round.
const SCATTER: &str = "((i * i % 2147483647 * 48271 + i * 69621) % 2147483647 / 7)";

/// Bars of a histogram.
const BINS: usize = 12;

/// What a sample says of one column.
#[derive(Debug, Default)]
pub(super) struct ColumnSample {
    numbers: Vec<f64>,
    /// By hash: how often a value is there, and in which row it was first.
    counts: HashMap<u64, (u64, i64), BuildHasherDefault<IdentityHasher>>,
    /// Texts without regard to case and blanks.
    folded: HashesSeen,
    is_number: bool,
}

impl ColumnSample {
    fn take(&mut self, rowid: i64, value: ValueRef<'_>) {
        let Some(hash) = hash_of(value) else { return };
        self.counts.entry(hash).or_insert((0, rowid)).0 += 1;
        match value {
            #[expect(clippy::cast_precision_loss, reason = "near enough for a quartile")]
            ValueRef::Integer(number) if self.is_number => self.numbers.push(number as f64),
            ValueRef::Real(number) if self.is_number => self.numbers.push(number),
            ValueRef::Blob(digits) if self.is_number => {
                self.numbers.extend(LongDecimal::of_sql(digits).map(|long| long.to_f64()));
            }
            ValueRef::Text(text) if !self.is_number => {
                let text = String::from_utf8_lossy(text).trim().to_lowercase();
                self.folded.insert(hash_of_bytes(text.as_bytes(), 3));
            }
            _ => {}
        }
    }

    /// The values below which a quarter, half and three quarters of the numbers lie.
    pub(super) fn quartiles(&self) -> Option<[f64; 3]> {
        if self.numbers.len() < QUARTILES_FROM {
            return None;
        }
        let of = |share| quantile(&self.numbers, share);
        Some([of(0.25)?, of(0.5)?, of(0.75)?])
    }

    /// Numbers beyond these are outliers: three times the distance of the quartiles from them.
    pub(super) fn fence(&self) -> Option<(f64, f64)> {
        let [low, _, high] = self.quartiles().filter(|[low, _, high]| high > low)?;
        let reach = 3.0 * (high - low);
        Some((low - reach, high + reach))
    }

    /// How many numbers lie where, outliers in the first and the last part.
    pub(super) fn histogram(&self, scale: u64) -> Option<Histogram> {
        let (first, last) = (*self.numbers.first()?, *self.numbers.last()?);
        let (low, high) = match self.fence() {
            Some((low, high)) => (first.max(low), last.min(high)),
            None => (first, last),
        };
        if high <= low || !(high - low).is_finite() {
            return None;
        }
        let mut counts = vec![0; BINS];
        for number in &self.numbers {
            #[expect(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a small number that is not below 0"
            )]
            let bin = ((number - low) / (high - low) * BINS as f64).max(0.0) as usize;
            counts[bin.min(BINS - 1)] += scale;
        }
        Some(Histogram { low, high, counts })
    }

    /// Different texts that are the same but for case and blanks.
    pub(super) fn variants(&self) -> u64 {
        match self.is_number {
            true => 0,
            false => self.counts.len().saturating_sub(self.folded.len()) as u64,
        }
    }

    /// The values that are most frequent, more than once, with the counts of all rows where these
    /// are known.
    pub(super) fn top(
        &self,
        data: &DataFolder,
        (table, column): (&LoadedTable, &LoadedColumn),
        (exact, scale): (Option<&HashCounts>, u64),
        limits: &QueryLimits,
    ) -> Result<Vec<ValueCount>, AnalysisError> {
        let is_rough = exact.is_none() && scale > 1;
        let seen = self.counts.iter().map(|(hash, (count, rowid))| match exact {
            Some(counts) => (counts.get(hash).copied().unwrap_or(*count), *rowid),
            None => (*count, *rowid),
        });
        let mut often: Vec<(u64, i64)> = seen.filter(|(count, _)| *count > 1).collect();
        let scale = if is_rough { scale } else { 1 };
        often.sort_unstable_by_key(|(count, rowid)| (Reverse(*count), *rowid));
        often.truncate(LOOKED_UP);
        let Some(rowid) = rowid_of(table).filter(|_| !often.is_empty()) else {
            return Ok(Vec::new());
        };
        let rows: Vec<String> = often.iter().map(|(_, rowid)| rowid.to_string()).collect();
        let (name, from) = (quoted(&column.name), quoted(&table.name));
        let sql =
            format!("SELECT {rowid}, {name} FROM {from} WHERE {rowid} IN ({})", rows.join(", "));
        let found = data.query(&sql, limits)?;
        let mut top: Vec<(u64, DataValue)> = Vec::new();
        for row in found.rows {
            let [DataValue::Int(rowid), value] = row.as_slice() else { continue };
            let count = often.iter().find(|(_, first)| first == rowid).map_or(0, |own| own.0);
            top.push((count, value.clone()));
        }
        top.sort_by_cached_key(|(count, value)| (Reverse(*count), sort_key(value, self.is_number)));
        let top = top.into_iter().take(TOP).map(|(count, value)| ValueCount {
            value: crate::source::example(&value.shown()),
            count: count * scale,
            is_rough,
        });
        Ok(top.collect())
    }
}

/// Numbers by size, then texts.
fn sort_key(value: &DataValue, is_number: bool) -> (Option<crate::exact::Exact>, String) {
    match value {
        // Those with many digits are given as text.
        _ if is_number => (value.number(), String::new()),
        other => (None, other.shown()),
    }
}

/// What each `sampled`th row says of these columns, at most [`COLUMNS_AT_ONCE`].
pub(super) fn sample(
    data: &DataFolder,
    table: &LoadedTable,
    columns: &[&LoadedColumn],
    sampled: u64,
    limits: &QueryLimits,
) -> Result<Vec<ColumnSample>, AnalysisError> {
    let names: Vec<String> =
        columns.iter().map(|column| format!("everloop_t.{}", quoted(&column.name))).collect();
    let (names, from) = (names.join(", "), quoted(&table.name));
    let sql = match rowid_of(table) {
        // A table without a name for its rows is looked at from its beginning.
        None => {
            format!("SELECT 0, {names} FROM {from} AS everloop_t LIMIT {}", table.rows / sampled)
        }
        Some(rowid) if sampled > 1 => format!(
            "WITH RECURSIVE everloop_n(i) AS (VALUES(0) UNION ALL \
             SELECT i + 1 FROM everloop_n WHERE i + 1 < {}) \
             SELECT everloop_t.{rowid}, {names} FROM everloop_n CROSS JOIN {from} AS everloop_t \
             ON everloop_t.{rowid} = everloop_n.i * {sampled} + 1 + {SCATTER} % {sampled}",
            table.rows / sampled
        ),
        Some(rowid) => format!("SELECT {rowid}, {names} FROM {from} AS everloop_t"),
    };
    let new = |column: &&LoadedColumn| ColumnSample {
        is_number: column.plan.kind.is_number(),
        ..ColumnSample::default()
    };
    let mut samples: Vec<ColumnSample> = columns.iter().map(new).collect();
    data.each_row(&sql, limits, &mut |row| {
        let rowid = row.get(0)?;
        for (at, sample) in samples.iter_mut().enumerate() {
            sample.take(rowid, row.get_ref(at + 1)?);
        }
        Ok(())
    })?;
    for sample in &mut samples {
        sample.numbers.sort_unstable_by(f64::total_cmp);
    }
    Ok(samples)
}
