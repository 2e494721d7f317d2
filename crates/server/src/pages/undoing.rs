//! Undoing what a run did to files, from the chat.

use super::frame::PageRequest;
use crate::problem::Problem;
use crate::state::ServerState;
use everloop_app::undo::{
    self, FileOutcome, FilePlan, FileVerdict, UndoPlan, UndoReport, UndoRequest,
};
use everloop_pages::parts::say;
use everloop_pages::undo::UndoView;
use everloop_store::RunRow;
use everloop_text::{self as text, Text};
use everloop_types::{Lang, RunId, one_line};

/// What an undo of a run would do; none while it works, or if it was made elsewhere.
pub(super) async fn offer(
    request: &PageRequest,
    state: &ServerState,
    row: &RunRow,
) -> Result<Option<UndoView>, Problem> {
    if !row.status.is_final() {
        return Ok(None);
    }
    // A run that came in a file says nothing about this machine.
    let Ok(plan) = UndoPlan::look(&state.app, state.store(), &row.run).await else {
        return Ok(None);
    };
    let lang = request.lang();
    let mut view = UndoView { run: row.run.to_string(), ..UndoView::default() };
    for file in &plan.files {
        match &file.verdict {
            FileVerdict::Ready => view.ready.push(say(lang, ready(file))),
            FileVerdict::Refused(why) => {
                view.refused.push(say(lang, why.text(&one_line(&file.path))));
            }
            FileVerdict::Unchanged => {}
        }
    }
    view.can_redo = undo::undo_to_redo(state.store(), &row.run).await?.is_some();
    let commands = plan.changes.commands;
    view.commands = (commands > 0).then(|| say(lang, text::undo::commands(&commands)));
    Ok(Some(view))
}

fn ready(file: &FilePlan) -> Text {
    let path = &one_line(&file.path);
    match file.outcome() {
        FileOutcome::Removed => text::pages::undo::ready_gone(path),
        FileOutcome::Recreated => text::pages::undo::ready_again(path),
        _ => text::pages::undo::ready(path),
    }
}

/// Undoes the changes of a run, or takes its last undo back. What became of each file.
pub(super) async fn perform(
    state: &ServerState,
    run: &RunId,
    is_redo: bool,
) -> Result<Option<UndoReport>, Problem> {
    let (app, store) = (&state.app, state.store());
    if !is_redo {
        let request = UndoRequest { run: run.clone(), to: None, by: "user".to_owned() };
        return Ok(Some(undo::undo(app, store, &request).await?));
    }
    let Some(undone) = undo::undo_to_redo(store, run).await? else { return Ok(None) };
    Ok(Some(undo::redo(app, store, &undone, "user").await?))
}

/// A line for each file.
pub(super) fn words_of(lang: Lang, report: Option<&UndoReport>) -> String {
    let Some(report) = report else { return say(lang, text::undo::nothing_to_redo()) };
    let mut lines: Vec<String> = report.files.iter().map(|file| say(lang, file.text())).collect();
    if lines.is_empty() {
        lines.push(say(lang, text::undo::no_changes(&report.run_id)));
    }
    if report.commands > 0 {
        lines.push(say(lang, text::undo::commands(&report.commands)));
    }
    lines.join("\n")
}
