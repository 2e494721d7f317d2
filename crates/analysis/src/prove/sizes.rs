//! Numbers that count: rows of a table or of a result, and what its rows are called.

use super::context::SentenceContext;
use super::evidence::{EvidenceTable, NumberEvidence};
use super::matching::matches;
use super::tokens::WrittenNumber;
use crate::exact::Exact;

/// Words for what a table or a result has; the last ones are Chinese for rows and records.
const ROW_WORDS: [&str; 11] = [
    "row",
    "record",
    "line",
    "entry",
    "result",
    "group",
    "value",
    "observation",
    "\u{884c}",
    "\u{6761}",
    "\u{7b14}",
];
/// Words for what was loaded; the last ones are Chinese.
const DATA_WORDS: [&str; 8] = [
    "table",
    "file",
    "dataset",
    "data",
    "\u{8868}",
    "\u{6587}\u{4ef6}",
    "\u{6570}\u{636e}",
    "spreadsheet",
];
const COLUMN_WORDS: [&str; 4] = ["column", "field", "\u{5217}", "\u{5b57}\u{6bb5}"];

/// The size of a table or of a result, if the sentence counts its rows.
pub(super) fn size(
    number: &WrittenNumber,
    context: &SentenceContext<'_>,
    evidence: &NumberEvidence,
) -> Option<(String, Exact)> {
    if number.percent {
        return None;
    }
    let is_size = |value: Exact| matches(number, value, "");
    let counts_rows = context.counts(&ROW_WORDS);
    let counts_columns = context.counts(&COLUMN_WORDS);
    let results = evidence
        .tables
        .iter()
        .filter(|table| table.is_whole && !table.is_constant && table.name.starts_with('q'));
    // "The table has 12 rows" is not about a result.
    let counts_result = counts_rows && !context.says(&DATA_WORDS);
    for table in results {
        let rows = Exact::new(table.rows.len() as i128, 0);
        let is_said = || {
            counts_result
                || context.is_top()
                || (0..table.columns.len())
                    .any(|at| table.is_label[at] && counts(context, table, at))
                || table.rows.len() > 1 && context.named_rows(table).len() == table.rows.len()
        };
        if is_size(rows) && is_said() {
            return Some((format!("{}.rows", table.name), rows));
        }
        for at in (0..table.columns.len()).filter(|at| table.is_label[*at]) {
            let names = Exact::new(table.names[at].len() as i128, 0);
            if is_size(names) && counts(context, table, at) {
                let column = table.column_reference(at);
                return Some((format!("distinct({}.{column})", table.name), names));
            }
        }
    }
    let is_long = number.value.significant_digits() > 2;
    let counts_label = evidence.tables.iter().any(|table| {
        let mut labels = (0..table.columns.len()).filter(|at| table.is_label[*at]);
        labels.any(|at| counts(context, table, at))
    });
    let is_of_all = || is_long && !counts_label && !context.names_rows(&evidence.tables);
    evidence.sizes().find(|(source, value)| {
        let table = source.split('.').nth(1).unwrap_or_default().to_lowercase();
        let counts_table = || context.counts(&[table.trim_end_matches('s'), &table]);
        is_size(*value)
            && match source.ends_with(".columns") {
                true => counts_columns,
                false => counts_rows || counts_table() || is_of_all(),
            }
    })
}

/// Whether the sentence counts what a column names: "3 regions" of the column `region_name`.
fn counts(context: &SentenceContext<'_>, table: &EvidenceTable, column: usize) -> bool {
    let name = table.columns[column].to_lowercase();
    let words = name.split(|c: char| !c.is_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_ascii() || word.len() > 2).collect();
    context.counts(&words)
}
