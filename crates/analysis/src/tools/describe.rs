//! A table in words for a model: as much of the data as the person shares.

use crate::error::AnalysisError;
use crate::exact::Exact;
use crate::infer::{ColumnKind, ColumnPlan, TextReason};
use crate::load::{DataFolder, LoadedColumn, LoadedTable, quoted};
use crate::query::{QueryEngine, QueryLimits, QueryResult};
use crate::report::zone_name;
use crate::value::DataValue;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Rows of the beginning and of the middle that are shown.
const HEAD_ROWS: usize = 5;

/// Characters of a cell that are shown.
const CELL_CHARS: usize = 60;

/// Columns whose values are shown; of more, only the names.
const COLUMNS_SHOWN: usize = 100;

/// Rows up to which smallest and largest values are looked for.
const ENDS_UP_TO: u64 = 20_000_000;

/// Cells of a table up to which different values are counted.
const DISTINCT_UP_TO: u64 = 4_000_000;

/// What of the data the model sees without asking. Results of queries always reach it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShareLevel {
    /// Names and types of columns, and counts: no value of any row.
    Schema,
    /// The same with smallest, largest and mean values of numbers and dates.
    Aggregates,
    /// The same with some rows, and with examples of what is odd.
    #[default]
    Samples,
}

impl ShareLevel {
    /// Its name in settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Schema => "schema",
            Self::Aggregates => "aggregates",
            Self::Samples => "samples",
        }
    }

    /// Reads the name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Schema, Self::Aggregates, Self::Samples].into_iter().find(|own| own.name() == name)
    }
}

/// A table in words.
pub(crate) fn table(
    data: &DataFolder,
    table: &LoadedTable,
    share: ShareLevel,
    limits: &QueryLimits,
) -> Result<String, AnalysisError> {
    let mut out = format!(
        "table {} from {}: {} rows, {} columns\n",
        quoted(&table.name),
        table.file.file_name().map(|name| name.to_string_lossy()).unwrap_or_default(),
        table.rows,
        table.columns.len()
    );
    write_notes(&mut out, table, share);
    let with_values = share != ShareLevel::Schema && table.rows <= ENDS_UP_TO;
    let ranges = if with_values { Some(ranges(data, table, limits)?) } else { None };
    let distinct = distinct(data, table, limits)?;
    for (at, column) in table.columns.iter().enumerate() {
        if at == COLUMNS_SHOWN {
            let _ = writeln!(out, "- and {} more columns", table.columns.len() - at);
            break;
        }
        let _ = write!(out, "- {} {}", quoted(&column.name), column.plan.kind.name());
        if let Some(count) = distinct.get(at) {
            let _ = write!(out, "; {count} distinct");
        }
        // The ends of a column of text are values of two rows, such as names of persons.
        let is_text = column.plan.kind == ColumnKind::Text;
        if let Some(ranges) = ranges.as_ref().filter(|_| !is_text || share == ShareLevel::Samples) {
            write_range(&mut out, ranges, at);
        }
        write_oddities(&mut out, table, column, share);
        out.push('\n');
    }
    if share == ShareLevel::Samples {
        let from = quoted(&table.name);
        let head = data.query(&format!("SELECT * FROM {from} LIMIT {HEAD_ROWS}"), limits)?;
        let _ = write!(out, "first rows:\n{}", rows(&head, HEAD_ROWS));
        if table.rows > 2 * HEAD_ROWS as u64 {
            // The same rows each time: a call that is made again says the same.
            let step = table.rows / (HEAD_ROWS as u64 + 1);
            let places: Vec<String> = (1..=HEAD_ROWS as u64)
                .map(|at| (at * step + at * 7 % step.max(1)).to_string())
                .collect();
            let sql = format!("SELECT * FROM {from} WHERE rowid IN ({})", places.join(","));
            let _ = write!(out, "some rows:\n{}", rows(&data.query(&sql, limits)?, HEAD_ROWS));
        }
    }
    Ok(out)
}

fn write_notes(out: &mut String, table: &LoadedTable, share: ShareLevel) {
    let notes = &table.notes;
    if !notes.encoding.is_empty() && notes.encoding != "UTF-8" {
        let _ = writeln!(out, "encoding: {}", notes.encoding);
    }
    let counts = [
        (notes.uneven_rows, "rows with too few or too many fields"),
        (notes.broken_rows, "rows that could not be read"),
        (notes.bad_characters, "characters that are not in the encoding"),
        (notes.nul_bytes, "NUL bytes left out"),
        (notes.cut_cells, "cells cut"),
        (notes.dropped_columns, "columns left out"),
    ];
    for (count, what) in counts.into_iter().filter(|(count, _)| *count > 0) {
        let _ = writeln!(out, "warning: {count} {what}");
    }
    if notes.mixed_encodings {
        let _ = writeln!(out, "warning: some lines are in UTF-8: their letters are wrong here");
    }
    if !notes.left_out.is_empty() {
        let names = notes.left_out.join(", ");
        let _ = writeln!(out, "warning: the file has more that was left out: {}", clipped(&names));
    }
    // They have the text of rows.
    for example in notes.examples.iter().filter(|_| share == ShareLevel::Samples) {
        let _ = writeln!(out, "  {example}");
    }
    if table.has_rows_of_cells() {
        let _ = writeln!(
            out,
            "{}",
            match notes.has_header {
                true => "the first row was taken for the names of the columns",
                false => "warning: the first row was taken for data; columns are numbered",
            }
        );
    }
}

fn write_oddities(out: &mut String, table: &LoadedTable, column: &LoadedColumn, share: ShareLevel) {
    let found = &column.misfits;
    if found.missing > 0 {
        let _ = write!(out, "; {} missing", found.missing);
    }
    if found.misfits > 0 {
        let are = if found.misfits == 1 { "value is" } else { "values are" };
        let _ = write!(out, "; {} {are} no {}", found.misfits, column.plan.kind.name());
        if share == ShareLevel::Samples {
            let _ = write!(out, ", such as {:?}", found.examples);
        }
        let _ = write!(
            out,
            " (NULL here; the text is in {}: \"row\", which is the rowid, \"column\", \"value\")",
            quoted(&table.misfits_table)
        );
    }
    if found.long > 0 {
        let have = if found.long == 1 { "number has" } else { "numbers have" };
        let _ = write!(
            out,
            "; {} {have} more digits than are compared: sums are exact, but to sort or compare \
             write CAST(CAST(x AS TEXT) AS REAL)",
            found.long
        );
    }
    if found.odd_zones > 0 {
        let _ = write!(
            out,
            "; {} times differ from the others in whether they have a time zone: they are kept as \
             written, so their order is not certain",
            found.odd_zones
        );
    }
    write_plan(out, column.plan);
    write_null_words(out, &found.null_words, "were read as missing", share);
    write_null_words(out, &found.kept_words, "may mean missing and are kept as text", share);
}

/// Words such as `NA`, and what became of them.
fn write_null_words(
    out: &mut String,
    words: &BTreeMap<String, u64>,
    fate: &str,
    share: ShareLevel,
) {
    let count: u64 = words.values().sum();
    if count == 0 {
        return;
    }
    let _ = write!(out, "; words such as NA {fate}: {count}");
    if share != ShareLevel::Schema {
        let words = words.iter().map(|(word, count)| format!("{word:?} {count}"));
        let _ = write!(out, " ({})", words.collect::<Vec<_>>().join(", "));
    }
}

/// How the values of a column were read.
fn write_plan(out: &mut String, plan: ColumnPlan) {
    let told = [
        (plan.ambiguous_dates, "; dates whose day and month cannot be told apart, left as text"),
        (plan.mixed_percent, "; some values have a percent sign and some not, left as text"),
        (
            plan.ambiguous_numbers,
            "; numbers that could be 1.234 as well as 1234, left as text: CAST as you know them",
        ),
        (plan.mixed_currency, "; amounts in several currencies, left as text: do not add them up"),
        (plan.is_percent, "; 12% is kept as 0.12"),
    ];
    told.iter().filter(|(is, _)| *is).for_each(|(_, words)| out.push_str(words));
    out.push_str(match plan.text_reason {
        Some(TextReason::Codes) => "; digits with leading zeros or too many for a number: codes",
        Some(TextReason::SomeNumbers) => "; many values are numbers and many are not, left as text",
        Some(TextReason::SomeDates) => "; many values are dates and many are not, left as text",
        Some(TextReason::Units) => "; digits with units or odd grouping, left as text",
        None => "",
    });
    if let Some(sign) = plan.currency {
        let _ = write!(out, "; amounts in {sign}");
    }
    if let Some(zone) = plan.zone {
        let _ = write!(out, "; all times are in {}", zone_name(zone));
    }
}

/// Smallest, largest and mean value of each column, in one pass.
fn ranges(
    data: &DataFolder,
    table: &LoadedTable,
    limits: &QueryLimits,
) -> Result<QueryResult, AnalysisError> {
    let parts: Vec<String> = table
        .columns
        .iter()
        .take(COLUMNS_SHOWN)
        .map(|column| {
            let name = quoted(&column.name);
            let mean =
                if column.plan.kind.is_number() { format!("avg({name})") } else { "NULL".into() };
            // Numbers with many digits are blobs, which are larger than every number.
            let own = match column.misfits.long {
                0 => name,
                _ => format!("CAST(CAST({name} AS TEXT) AS REAL)"),
            };
            format!("min({own}), max({own}), {mean}")
        })
        .collect();
    data.query(&format!("SELECT {} FROM {}", parts.join(", "), quoted(&table.name)), limits)
}

/// How many different values each column has; nothing for a table that is too large to count.
fn distinct(
    data: &DataFolder,
    table: &LoadedTable,
    limits: &QueryLimits,
) -> Result<Vec<String>, AnalysisError> {
    let columns = table.columns.len().min(COLUMNS_SHOWN);
    if table.rows.saturating_mul(columns as u64) > DISTINCT_UP_TO || columns == 0 {
        return Ok(Vec::new());
    }
    let counted = table.columns.iter().take(columns);
    let counted: Vec<String> =
        counted.map(|column| format!("count(DISTINCT {})", quoted(&column.name))).collect();
    let sql = format!("SELECT {} FROM {}", counted.join(", "), quoted(&table.name));
    let found = data.query(&sql, limits)?;
    Ok(found.rows.first().into_iter().flatten().map(DataValue::shown).collect())
}

fn write_range(out: &mut String, ranges: &QueryResult, at: usize) {
    let Some(row) = ranges.rows.first() else { return };
    let Some([low, high, mean]) = row.get(at * 3..at * 3 + 3) else { return };
    if low.shown().is_empty() {
        return;
    }
    let _ = write!(out, "; {} to {}", clipped(&low.shown()), clipped(&high.shown()));
    if let Some(mean) = mean.number() {
        let _ = write!(out, ", mean {}", shortened(mean));
    }
}

fn shortened(number: Exact) -> String {
    number.rounded(4).trimmed().to_string()
}

fn clipped(text: &str) -> String {
    let one_line: String =
        text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(CELL_CHARS).collect();
    if text.chars().count() > CELL_CHARS { one_line + "…" } else { one_line }
}

/// Rows of a result, as lines with their numbers.
pub(crate) fn rows(result: &QueryResult, most: usize) -> String {
    let mut out = format!("| row | {} |\n", result.columns.join(" | "));
    for (at, row) in result.rows.iter().take(most).enumerate() {
        let cells: Vec<String> =
            row.iter().map(|value| clipped(&value.shown()).replace('|', "/")).collect();
        let _ = writeln!(out, "| r{} | {} |", at + 1, cells.join(" | "));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::ReadLimits;

    #[test]
    fn no_value_of_a_row_is_told_unless_rows_are_shared() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("staff.csv");
        std::fs::write(&file, "name,pay,since\nAnn,10,2026-01-02\nZoe,NA,2026-01-09\n").unwrap();
        let data = DataFolder::new(folder.path().join("data"));
        let loaded = data.load(&file, &ReadLimits::default(), &|_| {}).unwrap().remove(0);
        let told = |share| table(&data, &loaded, share, &QueryLimits::default()).unwrap();
        let schema = told(ShareLevel::Schema);
        assert!(!schema.contains("Ann") && !schema.contains("10") && !schema.contains("2026"));
        let aggregates = told(ShareLevel::Aggregates);
        assert!(!aggregates.contains("Ann") && !aggregates.contains("Zoe"), "{aggregates}");
        assert!(aggregates.contains("; 10 to 10, mean 10"), "{aggregates}");
        assert!(aggregates.contains("; 2026-01-02 to 2026-01-09"), "{aggregates}");
        assert!(aggregates.contains("; words such as NA were read as missing: 1 (\"NA\" 1)"));
        assert!(told(ShareLevel::Samples).contains("; Ann to Zoe"));
    }
}
