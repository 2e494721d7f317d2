//! One column: what is missing, how values are distributed, what is odd.

use super::gaps::{DateGaps, gaps_between};
use super::sample::ColumnSample;
use super::scan::{ColumnScan, DAYS_MAX};
use crate::infer::{ColumnKind, TextReason};
use crate::load::{LoadedColumn, LoadedTable};
use crate::value::DataValue;
use jiff::civil::Date;
use serde::Serialize;

/// Spellings of the same word are only looked for among so many different texts.
const VARIANTS_AMONG: u64 = 1_000;

/// A value and how often it is there.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ValueCount {
    /// The value.
    pub value: String,
    /// How often.
    pub count: u64,
    /// Whether that is an estimate by a sample.
    #[serde(skip_serializing_if = "is_exact")]
    pub is_rough: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_exact(is_rough: &bool) -> bool {
    !*is_rough
}

/// How many numbers lie where.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Histogram {
    /// Where the first part begins; smaller numbers are counted with it.
    pub low: f64,
    /// Where the last part ends; larger numbers are counted with it.
    pub high: f64,
    /// Numbers by part; all parts are equally wide.
    pub counts: Vec<u64>,
}

/// How the numbers of a column are distributed; nothing for a column of other values.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NumberSpread {
    /// The mean.
    pub mean: Option<f64>,
    /// The values below which a quarter, half and three quarters of the numbers lie.
    pub quartiles: Option<[f64; 3]>,
    /// Numbers far outside of the quartiles.
    pub outliers: Option<u64>,
    /// How many numbers lie where.
    pub histogram: Option<Histogram>,
}

/// How the texts of a column are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TextSpelling {
    /// Texts with blanks before or after them.
    pub with_blanks: u64,
    /// Different texts that are the same but for case and blanks.
    pub variants: u64,
    /// Words such as `NA` that may stand for a missing value and are kept.
    pub missing_words: u64,
}

/// A column as it is found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnProfile {
    /// Its name in SQL.
    pub name: String,
    /// What it holds.
    pub kind: ColumnKind,
    /// Values that are missing.
    pub missing: u64,
    /// Values that are not of its kind.
    pub misfits: u64,
    /// Times with a zone among times without one, or the other way round.
    #[serde(skip)]
    pub odd_zones: u64,
    /// Examples of them.
    pub misfit_examples: Vec<String>,
    /// Words that were taken for missing.
    pub null_words: Vec<String>,
    /// Different values.
    pub distinct: Option<u64>,
    /// Whether that is an estimate, within 2 percent or so.
    pub is_distinct_rough: bool,
    /// The smallest value.
    pub min: String,
    /// The largest value.
    pub max: String,
    /// How its numbers are distributed.
    #[serde(flatten)]
    pub spread: NumberSpread,
    /// The most frequent values.
    pub top: Vec<ValueCount>,
    /// Days that are missing.
    pub gaps: Option<DateGaps>,
    /// How its texts are written.
    #[serde(flatten)]
    pub spelling: TextSpelling,
    /// What is odd about it, by short names.
    pub odd: Vec<&'static str>,
}

/// What was seen of a column.
pub(super) struct ColumnSeen {
    pub(super) sample: ColumnSample,
    pub(super) scan: ColumnScan,
    pub(super) top: Vec<ValueCount>,
}

pub(super) fn profile_column(
    table: &LoadedTable,
    column: &LoadedColumn,
    seen: &ColumnSeen,
    (sampled, today): (u64, Date),
) -> ColumnProfile {
    let ColumnSeen { sample, scan, top } = seen;
    let (distinct, is_distinct_rough) = scan.distinct.count();
    // An estimate may be more than there is.
    let there = table.rows.saturating_sub(column.misfits.missing + column.misfits.misfits);
    let distinct = distinct.min(there);
    let is_number = column.plan.kind.is_number();
    let is_text = column.plan.kind == ColumnKind::Text;
    let end = |of: fn(&(DataValue, DataValue)) -> &DataValue| {
        scan.ends
            .as_ref()
            .map_or_else(String::new, |ends| crate::source::example(&of(ends).shown()))
    };
    let mut found = ColumnProfile {
        name: column.name.clone(),
        kind: column.plan.kind,
        missing: column.misfits.missing,
        misfits: column.misfits.misfits,
        odd_zones: column.misfits.odd_zones,
        misfit_examples: column.misfits.examples.clone(),
        null_words: column.misfits.null_words.keys().cloned().collect(),
        distinct: Some(distinct),
        is_distinct_rough,
        min: end(|ends| &ends.0),
        max: end(|ends| &ends.1),
        spread: NumberSpread {
            mean: if is_number { scan.sum.rough_mean() } else { None },
            quartiles: sample.quartiles(),
            outliers: sample.fence().map(|_| scan.outliers),
            histogram: sample.histogram(sampled),
        },
        top: top.clone(),
        gaps: date_gaps(scan),
        spelling: TextSpelling {
            with_blanks: scan.with_blanks,
            variants: if is_text && distinct <= VARIANTS_AMONG { sample.variants() } else { 0 },
            missing_words: column.misfits.kept_words.values().sum(),
        },
        odd: Vec::new(),
    };
    found.odd = oddities(&found, table, column, today);
    found
}

fn date_gaps(scan: &ColumnScan) -> Option<DateGaps> {
    let mut days: Vec<u64> = scan.days.iter().copied().collect();
    days.sort_unstable();
    let date = |day: u64| {
        let (year, month, day) = (day / 10_000, day / 100 % 100, day % 100);
        Date::new(year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?).ok()
    };
    let days: Vec<Date> = days.into_iter().filter_map(date).collect();
    if days.len() < 3 || days.len() > DAYS_MAX { None } else { gaps_between(&days) }
}

fn oddities(
    found: &ColumnProfile,
    table: &LoadedTable,
    column: &LoadedColumn,
    today: Date,
) -> Vec<&'static str> {
    let is_later = found.max.get(..10).and_then(|day| day.parse::<Date>().ok());
    let is_later = column.plan.kind.is_time() && is_later.is_some_and(|day| day > today);
    let present = table.rows.saturating_sub(found.missing);
    let checks = [
        (present == 0, "empty"),
        (present > 1 && found.distinct == Some(1), "constant"),
        (found.missing * 2 > table.rows && present > 0, "mostly_missing"),
        (found.misfits > 0, "mixed"),
        (column.plan.ambiguous_dates, "ambiguous_dates"),
        (column.plan.mixed_percent, "mixed_percent"),
        (column.plan.ambiguous_numbers, "ambiguous_numbers"),
        (column.plan.mixed_currency, "mixed_currency"),
        (column.plan.text_reason == Some(TextReason::Codes), "codes"),
        (column.plan.text_reason == Some(TextReason::SomeNumbers), "some_numbers"),
        (column.plan.text_reason == Some(TextReason::SomeDates), "some_dates"),
        (column.plan.text_reason == Some(TextReason::Units), "units"),
        (column.misfits.odd_zones > 0, "odd_zones"),
        (found.spread.outliers.is_some_and(|count| count > 0), "outliers"),
        (found.spelling.with_blanks > 0, "with_blanks"),
        (found.spelling.variants > 0, "variants"),
        (is_later, "future"),
        (found.spelling.missing_words > 0, "missing_words"),
        (!column.misfits.null_words.is_empty(), "words_for_nothing"),
    ];
    checks.into_iter().filter(|(is_odd, _)| *is_odd).map(|(_, name)| name).collect()
}
