//! The audit as a table.

use super::facts;
use crate::console::Console;
use crate::terminal;
use everloop_agenda::show::TextTable;
use everloop_app::audit_query::{AuditEvent, AuditStep};
use everloop_app::facts::short_id;
use everloop_engine::AuditCall;
use everloop_store::{DeletionRow, FactChange, RunRow};
use everloop_text::{self as text, Text};
use everloop_types::{canonical, one_line};

/// Characters of arguments and result in a line for people.
const SHOWN_CHARS: usize = 60;

/// A table as wide as the screen. A long one is printed in parts.
pub struct AuditTable<'a> {
    app: &'a Console,
    table: TextTable,
    rows: usize,
}

impl<'a> AuditTable<'a> {
    /// Rows of a part.
    const ROWS_MAX: usize = 500;

    /// An empty table.
    #[must_use]
    pub fn new(app: &'a Console) -> Self {
        let heads = app.text(text::audit::heading());
        let mut table = TextTable::new(heads.split("  ").map(str::to_owned).collect());
        table.may_drop(&[3, 5, 7, 6, 1]);
        Self { app, table, rows: 0 }
    }

    /// Adds an attempt at a tool call.
    pub fn call(&mut self, row: &RunRow, call: &AuditCall) {
        self.row(cells(self.app, row, call));
    }

    /// Adds a step of a run.
    pub fn step(&mut self, row: &RunRow, step: &AuditStep) {
        self.row(step_cells(self.app, row, step));
    }

    /// Adds a change of a fact.
    pub fn fact(&mut self, change: &FactChange) {
        self.row(fact_cells(self.app, change));
    }

    /// Adds something that was deleted.
    pub fn deleted(&mut self, row: &DeletionRow) {
        self.row(deletion_cells(self.app, row));
    }

    /// Moment, run, tool, attempt, ending, time, who allowed it, result, arguments.
    fn row(&mut self, cells: Vec<String>) {
        if self.rows == Self::ROWS_MAX {
            self.print();
            *self = Self::new(self.app);
        }
        self.table.row(cells);
        self.rows += 1;
    }

    /// Prints what has not been printed.
    pub fn print(&self) {
        terminal::print_line(&self.table.show(self.app.reader().width));
    }
}

fn cells(app: &Console, row: &RunRow, call: &AuditCall) -> Vec<String> {
    let took = call.end.duration_ms.map_or("-".to_owned(), |ms| format!("{ms}ms"));
    let run = row.run.as_str();
    let end = run.char_indices().rev().nth(7).map_or(run, |(at, _)| &run[at..]);
    let (end, tool) = (one_line(end), one_line(call.tool.as_deref().unwrap_or("?")));
    let by = match call.approved_by.as_deref() {
        Some("user") => app.text(text::by::user()),
        Some(by) => one_line(by),
        None => "-".to_owned(),
    };
    let imported = match row.origin.imported {
        true => app.text(text::audit::imported()),
        false => String::new(),
    };
    let ending = app.text(ending_text(call.end.ending));
    let result = short(&everloop_text::observed(app.lang, &call.end.result));
    let (at, args) = (app.reader().moment(call.at), short(&canonical(&call.args)));
    let attempt = call.attempt;
    let (tool, attempt) = (format!("{imported}{tool}"), format!("#{attempt}"));
    vec![at, end, tool, attempt, ending, took, by, result, args]
}

fn step_cells(app: &Console, row: &RunRow, step: &AuditStep) -> Vec<String> {
    let what = format!("{} {}", step.event.as_str(), step.what);
    let (at, run) = (app.reader().moment(step.at), row.run.short().to_owned());
    let mut cells = vec![at, run, what];
    cells.resize(8, String::new());
    cells.push(short(&canonical(&step.detail.to_string())));
    cells
}

fn fact_cells(app: &Console, change: &FactChange) -> Vec<String> {
    let run = change.run.as_ref().map_or("-", |run| run.short());
    let (at, what) = (app.reader().moment(change.at), facts::audit_words(app, change));
    let (id, by) = (short_id(&change.fact), facts::by_words(app, &change.by));
    let (version, words) = (change.version, short(&change.after.text));
    let (run, version) = (run.to_owned(), format!("#{version}"));
    vec![at, run, what, version, String::new(), String::new(), by, id.to_owned(), words]
}

fn deletion_cells(app: &Console, row: &DeletionRow) -> Vec<String> {
    let run = row.run_id.as_ref().map_or("-", |run| run.short()).to_owned();
    let (at, by) = (app.reader().moment(row.at), facts::by_words(app, &row.by));
    let what = format!("{} {}", AuditEvent::Deleted.as_str(), row.kind);
    let conversation = row.conversation_id.to_string();
    let empty = String::new;
    vec![at, run, what, empty(), empty(), empty(), by, empty(), conversation]
}

fn ending_text(ending: &str) -> Text {
    match ending {
        "ok" => text::audit::ending::ok(),
        "error" => text::audit::ending::error(),
        "denied" => text::audit::ending::denied(),
        "timed_out" => text::audit::ending::timed_out(),
        "canceled" => text::audit::ending::canceled(),
        "open" => text::audit::ending::open(),
        "retried" => text::audit::ending::retried(),
        _ => text::audit::ending::unknown(),
    }
}

fn short(text: &str) -> String {
    let line = one_line(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    match line.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None if line.is_empty() => "-".to_owned(),
        None => line,
    }
}
