//! Runs and those below them: `runs tree`, and which of them stands in front.

use crate::app::App;
use crate::args::Format;
use crate::exit::{Exit, Failure};
use crate::show::{preview, row_json};
use crate::terminal;
use everloop_agenda::show::padded;
use everloop_store::{Relative, RunRow, Store};
use everloop_text as text;
use everloop_types::{RunId, one_line};
use serde_json::{Value, json};

/// The run that goes on next: the deepest below that has not ended, or the run itself.
pub(crate) async fn front(app: &App, store: &Store, run: &RunId) -> Result<RunId, Failure> {
    let below = store.descendants(run).await.map_err(|error| app.store_failure(&error))?;
    Ok(below.into_iter().next_back().unwrap_or_else(|| run.clone()))
}

/// The run at the top of the tree: the one that a person began.
pub(crate) async fn top(app: &App, store: &Store, run: &RunId) -> Result<RunId, Failure> {
    let mut way = vec![run.clone()];
    loop {
        let last = way.last().unwrap_or(run);
        let parent = store.parent(last).await.map_err(|error| app.store_failure(&error))?;
        match parent {
            // A file may say that a run is above itself.
            Some(parent) if !way.contains(&parent) => way.push(parent),
            _ => return Ok(last.clone()),
        }
    }
}

/// Whether the run and all below it have ended.
pub(crate) async fn is_over(app: &App, store: &Store, run: &RunId) -> Result<bool, Failure> {
    let fail = |error| app.store_failure(&error);
    let below = store.descendants(run).await.map_err(fail)?;
    let at = store.position(run).await.map_err(fail)?;
    Ok(below.is_empty() && at.is_none_or(|at| at.status.is_final()))
}

/// `everloop runs tree ID`: the run and all that were ever below it.
pub(crate) async fn tree(
    app: &App,
    store: &Store,
    id: &str,
    format: Format,
) -> Result<Exit, Failure> {
    let run = app.find_run(store, id).await?;
    let rows = rows(app, store, &run).await?;
    if format == Format::Json {
        terminal::answer(&nested(&rows, 0).to_string());
        return Ok(Exit::Done);
    }
    for (depth, row) in &rows {
        let status = padded(everloop_text::status(app.lang, row.status), 11);
        let (id, imported) = (one_line(row.run.as_str()), imported_mark(app, row));
        let line = format!("{id}  {status}  {imported}{}", preview(&row.goal));
        terminal::answer(&indented(*depth, &line));
    }
    Ok(Exit::Done)
}

/// The word before the goal of a run that came in a file.
pub(crate) fn imported_mark(app: &App, row: &RunRow) -> String {
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
pub(crate) fn show_kin(app: &App, row: &RunRow, children: &[Relative]) {
    if let Some(parent) = &row.origin.parent {
        terminal::answer(&app.text(text::runs::show_parent(&parent)));
    }
    for child in children {
        let status = everloop_text::status(app.lang, child.status);
        let value = format!("{} {status} {}", child.run, preview(&child.goal));
        terminal::answer(&app.text(text::runs::show_children(&value)));
    }
}

/// A child in `runs show --json`.
pub(crate) fn child_json(child: &Relative) -> Value {
    json!({"run_id": child.run, "status": child.status, "goal": child.goal})
}

/// Each run with its depth, every parent before its children.
async fn rows(app: &App, store: &Store, run: &RunId) -> Result<Vec<(usize, RunRow)>, Failure> {
    let fail = |error| app.store_failure(&error);
    let mut rows = Vec::new();
    let mut next = vec![(0, run.clone())];
    while let Some((depth, run)) = next.pop() {
        let children = store.children(&run).await.map_err(fail)?;
        next.extend(children.into_iter().rev().map(|child| (depth + 1, child.run)));
        if let Some(row) = store.run(&run).await.map_err(fail)? {
            rows.push((depth, row));
        }
        // A file may say that a run is below itself.
        next.retain(|(_, run)| rows.iter().all(|(_, row)| row.run != *run));
    }
    Ok(rows)
}

/// The run at a place of [`rows`], with its children in it.
fn nested(rows: &[(usize, RunRow)], at: usize) -> Value {
    let Some((depth, row)) = rows.get(at) else { return Value::Null };
    let below = (at + 1..rows.len()).take_while(|place| rows[*place].0 > *depth);
    let children = below.filter(|place| rows[*place].0 == depth + 1);
    let mut object = row_json(row);
    object["children"] = json!(children.map(|place| nested(rows, place)).collect::<Vec<_>>());
    object
}
