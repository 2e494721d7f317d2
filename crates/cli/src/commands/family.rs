//! Runs and those below them: `runs tree`.

use crate::args::OutputFormat;
use everloop_agenda::show::padded;
use everloop_app::{run_json, runs};
use everloop_console::show::preview;
use everloop_console::{Console, Exit, Failure, terminal};
use everloop_store::{Relative, RunRow, Store};
use everloop_text as text;
use everloop_types::one_line;

/// `everloop runs tree ID`: the run and all that were ever below it.
pub(crate) async fn tree(
    app: &Console,
    store: &Store,
    id: &str,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    let run = app.find_run(store, id).await?;
    let rows = runs::tree(store, &run).await.map_err(|error| app.fail(error))?;
    if format == OutputFormat::Json {
        terminal::print_json(&run_json::tree(&rows));
        return Ok(Exit::Done);
    }
    for (depth, row) in &rows {
        let status = padded(everloop_text::status(app.lang, row.status), 11);
        let (id, imported) = (one_line(row.run.short()), imported_mark(app, row));
        let line = format!("{id}  {status}  {imported}{}", preview(&row.goal));
        terminal::print_line(&indented(*depth, &line));
    }
    Ok(Exit::Done)
}

/// The word before the goal of a run that came in a file.
pub(crate) fn imported_mark(app: &Console, row: &RunRow) -> String {
    match row.origin.imported {
        true => app.text(text::runs::imported()),
        false => String::new(),
    }
}

/// A line that stands below others.
pub(crate) fn indented(depth: usize, line: &str) -> String {
    match depth {
        0 => line.to_owned(),
        depth => format!("{}↳ {line}", "  ".repeat(depth - 1)),
    }
}

/// The lines of `runs show` about a run's parent and children.
pub(crate) fn show_relations(app: &Console, row: &RunRow, children: &[Relative]) {
    if let Some(parent) = &row.origin.parent {
        terminal::print_line(&app.text(text::runs::show_parent(&parent.short())));
    }
    for child in children {
        let status = everloop_text::status(app.lang, child.status);
        let value = format!("{} {status} {}", child.run.short(), preview(&child.goal));
        terminal::print_line(&app.text(text::runs::show_children(&value)));
    }
}
