//! Events as lines for people. The live part of a chat and the lines of a log say the same.

use super::{call_args, replanned, seen_line};
use crate::console::Console;
use crate::terminal::Marks;
use everloop_engine::{EventKind, EventNote, RunEvent, RunView, ToolOutcome};
use everloop_text as text;
use everloop_types::{Purpose, Words};

/// The line about an event of the run that is looked at, if a person reads of it.
pub(crate) fn event_line(app: &Console, marks: &Marks, event: &RunEvent) -> Option<String> {
    Some(match &event.kind {
        EventKind::RunRecovered { interrupted } => {
            let (id, count) = (event.run_id.as_str(), interrupted.to_string());
            app.text(text::run::recovered(&id, &count))
        }
        EventKind::StepStarted { purpose: Purpose::Compact, .. } => {
            app.text(text::progress::compacting())
        }
        EventKind::StepRetrying { error, wait_ms, .. } => {
            let wait = format!("{:.1}", *wait_ms as f64 / 1000.0);
            app.text(text::run::retrying(&error, &wait))
        }
        EventKind::StepFellBack { error, model } => app.text(text::run::fell_back(&model, &error)),
        EventKind::StepFailed { error, .. } => {
            app.text(text::progress::model_failed(&marks.failed, &error))
        }
        EventKind::StepNoted(said) | EventKind::StepSalvaged { said, .. } => note(app, said),
        EventKind::RoundSummarized { text, .. } => text.clone(),
        EventKind::ToolStarted { tool, arguments, .. } => {
            let args = call_args(arguments);
            app.text(text::progress::Calls { mark: &marks.act, tool: &tool, args: &args }.text())
        }
        EventKind::ToolRetrying { tool, attempt, error, .. } => {
            let mark = &marks.failed;
            app.text(text::progress::ToolRetry { mark, tool, attempt, seen: error }.text())
        }
        EventKind::ToolCompleted(outcome) => came_back(app, marks.done, outcome),
        EventKind::ToolFailed(outcome) => came_back(app, marks.failed, outcome),
        _ => return None,
    })
}

/// The line about an event of a run below the one that is looked at.
pub(crate) fn child_line(app: &Console, marks: &Marks, event: &RunEvent) -> Option<String> {
    let text = match &event.kind {
        EventKind::ToolStarted { .. } => event_line(app, marks, event)?,
        EventKind::ToolCompleted(outcome) => {
            format!("{} {}", marks.done, seen_line(app, &outcome.result))
        }
        EventKind::ToolFailed(outcome) => {
            format!("{} {}", marks.failed, seen_line(app, &outcome.result))
        }
        kind => {
            let status = kind.ending()?.status;
            app.text(text::progress::child_ended(&status))
        }
    };
    Some(app.text(text::progress::child(&text)))
}

/// The line about a plan that this event replaces by another; `view` has not taken it in yet.
pub(crate) fn replanned_line(app: &Console, view: &RunView, event: &RunEvent) -> Option<String> {
    replanned(app, &view.plan, event.kind.plan()?)
}

/// The tool of a call that begins or ends with this event.
pub(crate) fn tool_of(event: &RunEvent) -> Option<&str> {
    match &event.kind {
        EventKind::ToolStarted { tool, .. } => Some(tool),
        EventKind::ToolCompleted(outcome) | EventKind::ToolFailed(outcome) => Some(&outcome.tool),
        _ => None,
    }
}

/// A note in the language of the person, who may read another one than the run speaks.
fn note(app: &Console, said: &EventNote) -> String {
    match (&said.note, &said.args) {
        (Some(key), Some(args)) => {
            everloop_text::render(&Words::Key(key.clone(), args.clone()), app.lang)
        }
        _ => said.text.clone(),
    }
}

fn came_back(app: &Console, mark: &str, outcome: &ToolOutcome) -> String {
    let text = seen_line(app, &outcome.result);
    app.text(
        text::progress::CameBack { mark: &mark, tool: &outcome.tool.as_str(), text: &text }.text(),
    )
}
