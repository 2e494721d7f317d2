//! Columns that join tables: values of one that are values of another.

use super::{TableProfile, first_count};
use crate::error::AnalysisError;
use crate::infer::ColumnKind;
use crate::load::{DataFolder, LoadedColumn, LoadedTable, quoted};
use crate::query::{QueryEngine, QueryLimits};
use serde::Serialize;

/// Rows of the larger table up to which columns are compared.
const ROWS_MAX: u64 = 5_000_000;

/// Pairs of columns that are compared.
const PAIRS_MAX: usize = 60;

/// Different values from which columns of other names are compared: a few are alike by chance.
const VALUES_MIN: u64 = 5;

/// Two columns with values in common.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JoinProfile {
    /// The table and column with the key.
    pub key: String,
    /// The table and column that refer to it.
    pub by: String,
    /// Different values there.
    pub values: u64,
    /// How many of them are keys.
    pub found: u64,
    /// Whether the key is there more than once: joining makes more rows.
    pub is_repeated: bool,
}

/// How a column may refer to a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum JoinHint {
    /// Both have the same name.
    SameName,
    /// `customer_id` and the `id` of `customers`.
    NameOfTable,
    /// Only the values can tell.
    Values,
}

/// Two columns that may join their tables, by their places.
struct JoinPair {
    hint: JoinHint,
    key: (usize, usize),
    by: (usize, usize),
}

pub(super) fn find(
    data: &DataFolder,
    tables: &[LoadedTable],
    profiles: &[TableProfile],
    limits: &QueryLimits,
) -> Result<Vec<JoinProfile>, AnalysisError> {
    let mut pairs = Vec::new();
    for (at, one) in tables.iter().enumerate() {
        for (other, two) in tables.iter().enumerate().filter(|(other, _)| *other != at) {
            if one.rows.max(two.rows) <= ROWS_MAX {
                pairs.extend(pairs_of((at, one), (other, two), profiles));
            }
        }
    }
    pairs.sort_by_key(|pair| pair.hint);
    let mut joins: Vec<JoinProfile> = Vec::new();
    for pair in pairs.iter().take(PAIRS_MAX) {
        let column = |(table, column): (usize, usize)| (&tables[table], column);
        let found = compare(data, column(pair.key), column(pair.by), limits)?;
        let least = if pair.hint == JoinHint::Values { 90 } else { 50 };
        let is_join = found.values > 1 && found.found * 100 >= found.values * least;
        // A column refers to one key: the likelier pair came first.
        let is_known = joins.iter().any(|join| join.by == found.by || join.key == found.by);
        if is_join && !(is_known && pair.hint == JoinHint::Values) {
            let is_repeated = !is_key(profiles, tables, pair.key);
            joins.push(JoinProfile { is_repeated, ..found });
        }
    }
    Ok(joins)
}

fn is_key(profiles: &[TableProfile], tables: &[LoadedTable], key: (usize, usize)) -> bool {
    profiles[key.0].keys.contains(&tables[key.0].columns[key.1].name)
}

/// The pairs of a key of the first table with a column of the second.
fn pairs_of(
    (at, one): (usize, &LoadedTable),
    (other, two): (usize, &LoadedTable),
    profiles: &[TableProfile],
) -> Vec<JoinPair> {
    let has_key = |table: usize, name: &str| profiles[table].keys.iter().any(|key| key == name);
    let distinct = |table: usize, at: usize| profiles[table].columns[at].distinct.unwrap_or(0);
    let mut pairs = Vec::new();
    for (key_at, key) in one.columns.iter().enumerate() {
        for (by_at, by) in two.columns.iter().enumerate() {
            if key.plan.kind != by.plan.kind || key.plan.kind.is_time() {
                continue;
            }
            let (is_key, is_other_key) = (has_key(at, &key.name), has_key(other, &by.name));
            let hint = match () {
                // The key is the side where each value is there once; else the smaller table.
                () if key.name.eq_ignore_ascii_case(&by.name) => {
                    let is_smaller = (one.rows, at) < (two.rows, other);
                    let is_first = is_key != is_other_key && is_key;
                    (is_first || is_key == is_other_key && is_smaller).then_some(JoinHint::SameName)
                }
                // `customer_id` names the `id` of `customers`, also where some are there twice: a
                // join over those multiplies rows, which the reader has to know.
                () => match named_by(&one.name, key, by) {
                    NamedPart::Key => Some(JoinHint::NameOfTable),
                    NamedPart::Table if is_key => Some(JoinHint::NameOfTable),
                    _ if is_key && key.plan.kind == ColumnKind::Text => {
                        let (keys, values) = (distinct(at, key_at), distinct(other, by_at));
                        (values >= VALUES_MIN && values <= keys && !(is_other_key && at > other))
                            .then_some(JoinHint::Values)
                    }
                    _ => None,
                },
            };
            pairs.extend(hint.map(|hint| JoinPair { hint, key: (at, key_at), by: (other, by_at) }));
        }
    }
    pairs
}

/// What of another table the name of a column names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NamedPart {
    /// Table and key: `customer_id`, `customers_id` or `CustomerId` for the `id` of `customers`.
    Key,
    /// The table alone: `customer`.
    Table,
    Nothing,
}

fn named_by(table: &str, key: &LoadedColumn, by: &LoadedColumn) -> NamedPart {
    let plain = |name: &str| name.to_lowercase().replace('_', "");
    let (table, key, by) = (plain(table), plain(&key.name), plain(&by.name));
    let singles = [
        table.clone(),
        table.strip_suffix('s').unwrap_or(&table).to_owned(),
        table.strip_suffix("es").unwrap_or(&table).to_owned(),
        table.strip_suffix("ies").map_or_else(|| table.clone(), |stem| format!("{stem}y")),
    ];
    let is_key = singles.iter().any(|single| by == format!("{single}{key}"));
    match is_key {
        true => NamedPart::Key,
        false if singles.contains(&by) => NamedPart::Table,
        false => NamedPart::Nothing,
    }
}

fn compare(
    data: &DataFolder,
    (key_table, key_at): (&LoadedTable, usize),
    (by_table, by_at): (&LoadedTable, usize),
    limits: &QueryLimits,
) -> Result<JoinProfile, AnalysisError> {
    let (key, by) = (&key_table.columns[key_at].name, &by_table.columns[by_at].name);
    let (keys, refers) = (quoted(&key_table.name), quoted(&by_table.name));
    let (own, other) = (quoted(key), quoted(by));
    let values = format!("SELECT count(DISTINCT {other}) FROM {refers}");
    let values = first_count(&data.query(&values, limits)?).unwrap_or(0);
    let found = format!(
        "SELECT count(*) FROM (SELECT DISTINCT {other} AS v FROM {refers} WHERE v IS NOT NULL) \
         WHERE v IN (SELECT {own} FROM {keys})"
    );
    let found = first_count(&data.query(&found, limits)?).unwrap_or(0);
    let name = |table: &LoadedTable, column: &str| format!("{}.{column}", table.name);
    let (key, by) = (name(key_table, key), name(by_table, by));
    Ok(JoinProfile { key, by, values, found, is_repeated: false })
}
