//! `query_dataset`: SQL over the loaded tables.

use super::read_dataset::ShownProgress;
use super::reply_order::ReplyOrder;
use super::{AnalysisContext, blocking, describe, handling};
use crate::load::LoadedTable;
use crate::prove::rows_compared;
use crate::query::{QueryEngine, QueryResult};
use crate::results::ResultStore;
use crate::value::DataValue;
use everloop_ports::{CallContext, Tool, ToolReturn};
use everloop_types::Handling;
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Instant;

/// The arguments of `query_dataset`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueryDatasetArgs {
    /// One SELECT in SQLite's SQL.
    pub sql: String,
}

/// Queries the tables.
#[derive(Debug)]
pub struct QueryDataset {
    /// What it works with.
    pub analysis: AnalysisContext,
    /// How long a call may take, loading included.
    pub timeout_ms: u64,
    /// In which order results get their numbers.
    order: ReplyOrder,
}

impl QueryDataset {
    /// The tool for one run.
    #[must_use]
    pub fn new(analysis: AnalysisContext, timeout_ms: u64) -> Self {
        Self { analysis, timeout_ms, order: ReplyOrder::default() }
    }
}

impl Tool for QueryDataset {
    const NAME: &'static str = "query_dataset";
    type Args = QueryDatasetArgs;

    fn description(&self) -> &'static str {
        "Query the loaded tables with one SELECT (SQLite). Dates are text such as 2026-11-18; sum \
         and avg are exact and leave text out, so CAST text first; there are also median(x), \
         percentile(x, 90), stddev(x), corr(x, y), sqrt, pow and ln; compare decimals that were \
         added up with round(x, 6); whole numbers divided give whole numbers, so write \
         1.0 * a / b. The result is kept as q1, q2, …: in the report write {{q1.r2.revenue}} for \
         the value of the column revenue in row 2, and it is inserted exactly; \
         {{q1.r2.revenue|0}} without places, {{q1.r2.share|%1}} as percent with one \
         place; {{(q1.r1.a - q1.r2.a) / q1.r2.a|%1}} and {{sum(q1.a)}} are worked out, without \
         numbers of your own but factors such as 100. Give columns short names with AS."
    }

    fn handling(&self) -> Handling {
        handling(self.timeout_ms)
    }

    fn text_arg() -> Option<&'static str> {
        Some("sql")
    }

    async fn call(&self, args: QueryDatasetArgs, context: &CallContext) -> ToolReturn {
        let analysis = self.analysis.clone();
        let data = analysis.data(context);
        let (limits, reads) = (analysis.query_limits(context), analysis.read_limits(context));
        let (key, chars) = (context.idem_key.clone(), context.observation_chars);
        let meter = ShownProgress::new(context.on_output.clone());
        let mut turn = self.order.take_turn();
        blocking(move || {
            analysis.ensure_loaded(&data, &reads, &|progress| meter.tell(progress))?;
            analysis.rebuild_parent_results(&data, &reads, &limits)?;
            let began = Instant::now();
            let result = data.query(&args.sql, &limits)?;
            let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
            let mut warning = division_warning(&args.sql, &result).to_owned();
            warning += &cells_note(&result);
            warning += &long_warning(&args.sql, &data.tables()?);
            turn.wait();
            let kept = ResultStore::open(&data)?.keep_query(&key, &args.sql, result, took_ms)?;
            let name = format!("q{}", kept.number);
            Ok(shown(&name, &kept.result, &warning, chars))
        })
        .await
    }
}

/// As many rows as fit.
fn shown(name: &str, result: &QueryResult, warning: &str, chars: usize) -> String {
    let count = result.rows.len();
    let more = if result.is_cut { " (cut: there are more)" } else { "" };
    let head = format!("{name}: {count} rows{more}{warning}\n");
    let mut most = count;
    loop {
        let rows = describe::rows(result, most);
        let left = if most < count {
            format!("… and {} more rows\n", count - most)
        } else {
            String::new()
        };
        if head.len() + rows.len() + left.len() <= chars || most <= 1 {
            return head + &rows + &left;
        }
        most = (most / 2).max(1);
    }
}

/// What the model reads of a result with more numbers than are compared with those of a report.
fn cells_note(result: &QueryResult) -> String {
    let rows = rows_compared(&result.rows);
    if rows == result.rows.len() {
        return String::new();
    }
    format!(
        "; note: numbers of the report are compared with the first {rows} rows alone; refer to \
         other rows by {{{{…}}}}, or aggregate"
    )
}

/// A division of whole numbers drops what is behind the point, without a word.
fn division_warning(sql: &str, result: &QueryResult) -> &'static str {
    let divides = sql.replace("/*", "").contains('/');
    let has_point = result.rows.iter().flatten().any(|value| matches!(value, DataValue::Real(_)));
    match divides && !has_point {
        true => "; note: a / b of whole numbers is a whole number here; write 1.0 * a / b",
        false => "",
    }
}

/// What a query does with numbers that have more digits than SQLite compares.
const COMPARING: [&str; 8] = ["<", ">", "between", "order by", "min(", "max(", "rank", "="];

/// Numbers with many digits are blobs of digits: sums have them all, but they are compared byte by
/// byte.
fn long_warning(sql: &str, tables: &[LoadedTable]) -> String {
    let sql = sql.to_lowercase();
    if !COMPARING.iter().any(|word| sql.contains(word)) {
        return String::new();
    }
    let columns = tables.iter().flat_map(|table| &table.columns);
    let long = columns.filter(|column| column.misfits.long > 0);
    let named: Vec<&str> = long
        .map(|column| column.name.as_str())
        .filter(|name| sql.contains(&name.to_lowercase()))
        .collect();
    if named.is_empty() {
        return String::new();
    }
    format!(
        "; note: {} has numbers of more digits than are compared: to compare, sort or find the \
         largest write CAST(CAST(x AS TEXT) AS REAL)",
        named.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::DataFolder;
    use crate::source::ReadLimits;

    #[test]
    fn a_query_that_compares_numbers_of_many_digits_says_how() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("wei.csv");
        std::fs::write(&file, "id,eth\n1,99.123456789012345678\n2,100.5\n").unwrap();
        let data = DataFolder::new(folder.path().join("data"));
        let tables = data.load(&file, &ReadLimits::default(), &|_| {}).unwrap();
        assert!(long_warning("SELECT id FROM wei WHERE eth > 50", &tables).contains("eth has"));
        assert_eq!(long_warning("SELECT sum(eth) FROM wei", &tables), "");
        assert_eq!(long_warning("SELECT max(id) FROM wei", &tables), "");
    }
}
