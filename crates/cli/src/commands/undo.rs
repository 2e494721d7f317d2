//! `everloop runs undo`: files as they were before a run changed them, and what `/undo` and
//! `/rewind` say.

use crate::args::UndoArgs;
use everloop_app::undo::{self, RunChanges, UndoReport, UndoRequest};
use everloop_console::show::timestamp;
use everloop_console::show::undoing::{change_lines, report_lines};
use everloop_console::{Console, Exit, Failure, terminal};
use everloop_store::Store;
use everloop_text as text;
use everloop_types::RunId;
use serde_json::{Value, json};

/// Carries `runs undo` out. A file that is refused is an exit code of 1, whatever became of the
/// others.
pub(crate) async fn undo(app: &Console, store: &Store, args: &UndoArgs) -> Result<Exit, Failure> {
    let run = app.find_run(store, &args.id).await?;
    if args.list {
        let changes = app.checked(RunChanges::read(store, &run).await)?;
        list(app, &changes, args.json);
        return Ok(Exit::Done);
    }
    let report = if args.redo {
        let undone = app.checked(undo::undo_to_redo(store, &run).await)?;
        let Some(undone) = undone else {
            return Err(app.failure(Exit::Usage, text::undo::nothing_to_redo_of(&run)));
        };
        app.checked(undo::redo(app, store, &undone, "user").await)?
    } else {
        undo_run(app, store, run, args.to).await?
    };
    if args.json {
        terminal::print_json(&report);
    } else {
        report_lines(app, &report).iter().for_each(|line| terminal::print_line(line));
    }
    Ok(if report.has_refusal() { Exit::Failed } else { Exit::Done })
}

async fn undo_run(
    app: &Console,
    store: &Store,
    run: RunId,
    to: Option<usize>,
) -> Result<UndoReport, Failure> {
    if let Some(step) = to {
        let changes = app.checked(RunChanges::read(store, &run).await)?;
        if !(1..=changes.steps.len()).contains(&step) {
            let no_such = text::undo::no_such_change(&run, &step);
            return Err(app.failure(Exit::Usage, no_such));
        }
    }
    let request = UndoRequest { run, to, by: "user".to_owned() };
    app.checked(undo::undo(app, store, &request).await)
}

fn list(app: &Console, changes: &RunChanges, as_json: bool) {
    if as_json {
        let steps: Vec<Value> = changes.steps.iter().map(step_json).collect();
        let run = changes.row.run.as_str();
        let all = json!({ "run_id": run, "changes": steps, "commands": changes.commands });
        return terminal::print_json(&all);
    }
    change_lines(app, changes).iter().for_each(|line| terminal::print_line(line));
}

fn step_json(step: &undo::FileStep) -> Value {
    json!({
        "step": step.step,
        "run_id": step.run,
        "time": timestamp(step.at),
        "tool": step.tool,
        "path": step.path,
        "added": step.added,
        "removed": step.removed,
    })
}
