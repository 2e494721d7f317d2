//! `analysis.py` and `analysis.sql`: the same tables, queries and code without this program.

use crate::infer::ColumnKind;
use crate::load::{LoadedTable, quoted};
use crate::results::{CellState, KeptCell, KeptQuery};
use std::fmt::Write as _;

/// Loads the data, makes the queries again and compares them.
const AGAIN: &str = include_str!("again.py");

/// The queries, and how their tables are made.
pub(super) fn sql_of(tables: &[LoadedTable], queries: &[KeptQuery]) -> String {
    let mut out = "-- The queries of this report. Their tables are made by analysis.py:\n\
                   --   python3 analysis.py --save data.sqlite\n\
                   --   sqlite3 data.sqlite < analysis.sql\n\
                   -- sum() and avg() of sqlite3 are not exact: the last digits may differ.\n"
        .to_owned();
    for table in tables {
        let columns = table.columns.iter().map(|column| {
            let kind = match column.plan.kind {
                ColumnKind::Integer | ColumnKind::Decimal if column.misfits.long > 0 => "",
                kind => kind.sql(),
            };
            format!("{} {kind}", quoted(&column.name)).trim_end().to_owned()
        });
        let columns = columns.collect::<Vec<_>>().join(", ");
        let sql = format!("CREATE TABLE {} ({columns})", quoted(&table.name));
        let _ = writeln!(out, "-- {}", sql.replace(['\n', '\r'], " "));
    }
    out.push('\n');
    for query in queries {
        let sql = query.sql.trim().trim_end_matches(';');
        // A comment at the end must not take the semicolon with it.
        let _ = write!(out, "-- q{}\n{sql}\n;\n\n", query.number);
    }
    out
}

/// What loads the data and makes the queries again, and then the cells of code.
pub(super) fn python_of(cells: &[KeptCell]) -> String {
    let (about, program) = AGAIN.split_once("import ").unwrap_or(("", AGAIN));
    let mut out = about.to_owned();
    out.push_str("# %% the data and the queries\ndef load_report():\n");
    // Inside of a function, so that no cell changes a name that it needs.
    for line in format!("import {program}").lines() {
        let _ = writeln!(out, "{}", format!("    {line}").trim_end());
    }
    out.push_str("    return query, all_same\n\n\nquery, report_is_the_same = load_report()\n\n");
    for cell in cells {
        let _ = writeln!(out, "# %% c{}", cell.number);
        match cell.state {
            CellState::Done => out.push_str(cell.code.trim_end()),
            CellState::Failed | CellState::Begun => {
                out.push_str("# This cell did not run to its end when the report was made.\n");
                let lines = cell.code.trim_end().lines().map(|line| format!("# {line}"));
                out.push_str(&lines.collect::<Vec<_>>().join("\n"));
            }
        }
        out.push_str("\n\n");
    }
    out.push_str("# %% the end\nif not report_is_the_same:\n    raise SystemExit(1)\n");
    out
}
