//! Changes of files, and what became of taking them back.

use super::preview;
use crate::console::Console;
use everloop_agenda::show::padded;
use everloop_app::conversation::{RewindReport, RewindTurn};
use everloop_app::undo::{FileResult, RunChanges, UndoReport};
use everloop_text as text;
use everloop_types::one_line;

/// As wide as `write_file`.
const TOOL_COLUMNS: usize = 10;

/// The changes of a run by number, a line each.
pub fn change_lines(app: &Console, changes: &RunChanges) -> Vec<String> {
    let mut lines = Vec::new();
    if changes.steps.is_empty() {
        lines.push(app.text(text::undo::no_changes(&changes.row.run.short())));
    }
    let reader = app.reader();
    for step in &changes.steps {
        let (time, tool) = (reader.moment(step.at), padded(&step.tool, TOOL_COLUMNS));
        let (counts, path) = (format!("+{} -{}", step.added, step.removed), one_line(&step.path));
        lines.push(format!("{:>3}  {time}  {tool}  {}  {path}", step.step, padded(&counts, 8)));
    }
    lines.extend(commands_line(app, changes.commands));
    lines
}

/// What an undo did, a line for each file.
pub fn report_lines(app: &Console, report: &UndoReport) -> Vec<String> {
    let mut lines: Vec<String> = report.files.iter().map(|file| file_line(app, file)).collect();
    if lines.is_empty() {
        lines.push(app.text(text::undo::no_changes(&report.run_id.short())));
    }
    lines.extend(commands_line(app, report.commands));
    lines
}

fn commands_line(app: &Console, count: usize) -> Option<String> {
    (count > 0).then(|| app.text(text::undo::commands(&count)))
}

fn file_line(app: &Console, file: &FileResult) -> String {
    app.text(file.text())
}

/// What a rewind did.
pub fn rewind_words(app: &Console, report: &RewindReport) -> String {
    let mut lines = vec![app.text(text::rewind::done(&preview(&report.turn.goal)))];
    for undone in &report.undone {
        lines.extend(report_lines(app, undone));
    }
    if report.undone.is_empty() {
        lines.push(app.text(text::rewind::no_files()));
    }
    if report.forgets {
        lines.push(app.text(text::rewind::forgot()));
    }
    lines.join("\n")
}

/// A turn in one line: what was wanted, and what helps to tell it from others.
pub fn turn_line(app: &Console, turn: &RewindTurn) -> (String, String) {
    let time = app.reader().moment(turn.at);
    let files = app.text(text::rewind::files(&turn.files));
    (preview(&turn.goal), format!("{time} · {files}"))
}
