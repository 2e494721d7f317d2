//! Entries that start runs, for people and for programs.

use super::json::{at, entry as entry_json};
use super::{DisplayContext, TextTable, card, repeats, starts};
use crate::desk::{RunScheduleAction, RunScheduleView};
use crate::time::{CronError, CronField};
use everloop_store::{
    OverlapPolicy, RunPlace, SchedulePause, ScheduleRow, ScheduledFiring, ScheduledRun,
    ScheduledState,
};
use everloop_text::{self as text, Text};
use everloop_types::one_line;
use serde_json::{Value, json};

/// The entry after it was changed, or all about it.
pub(super) fn view(reader: &DisplayContext, view: &RunScheduleView) -> String {
    let entry = &view.entry;
    let id = &entry.id;
    let title = &one_line(&entry.said.title);
    let line = match view.did {
        RunScheduleAction::Shown => return whole(reader, view),
        RunScheduleAction::Added => text::scheduled::added(id, title),
        RunScheduleAction::Changed => text::scheduled::changed(id, title),
        RunScheduleAction::Paused => text::scheduled::paused(id, title),
        RunScheduleAction::Resumed => text::scheduled::resumed(id, title),
    };
    let mut details = vec![starts(reader, entry)];
    details.extend(repeats(reader, entry));
    if let Some(next) = entry.remind_next {
        details.push(reader.text(text::scheduled::next(&reader.moment(next))));
    }
    let mut lines = vec![super::with_details(reader, reader.text(line), &details)];
    lines.extend(view.preflight.iter().cloned());
    lines.join("\n")
}

fn whole(reader: &DisplayContext, view: &RunScheduleView) -> String {
    let RunScheduleView { entry, firings, failures, .. } = view;
    let none = || "-".to_owned();
    let plan = entry.said.run.clone().unwrap_or_default();
    let or_setting = |value: &Option<String>| {
        value.clone().unwrap_or_else(|| reader.text(text::scheduled::as_set()))
    };
    let next = entry.remind_next.map_or_else(none, |next| reader.moment(next));
    let rows = vec![
        (text::schedule::head::id(), entry.id.to_string()),
        (text::schedule::head::title(), entry.said.title.clone()),
        (text::scheduled::head::goal(), plan.goal.clone()),
        (text::schedule::head::at(), starts(reader, entry)),
        (text::schedule::head::repeat(), repeats(reader, entry).unwrap_or_else(none)),
        (text::scheduled::head::next(), next),
        (text::scheduled::head::run_loop(), or_setting(&plan.loop_name)),
        (text::scheduled::head::persona(), or_setting(&plan.persona)),
        (text::scheduled::head::workspace(), plan.workspace.clone().unwrap_or_else(none)),
        (text::scheduled::head::conversation(), place(reader, &plan)),
        (text::scheduled::head::overlap(), reader.text(overlap(plan.overlap))),
        (text::scheduled::head::failures(), failures.to_string()),
        (text::scheduled::head::state(), state(reader, &plan)),
    ];
    let mut lines = vec![card(reader, rows)];
    lines.extend(firings.iter().map(|firing| firing_line(reader, firing)));
    lines.join("\n")
}

fn place(reader: &DisplayContext, plan: &ScheduledRun) -> String {
    match &plan.place {
        RunPlace::New => reader.text(text::scheduled::place::each()),
        RunPlace::Own => reader.text(text::scheduled::place::own()),
        RunPlace::In(id) => id.to_string(),
    }
}

fn overlap(policy: OverlapPolicy) -> Text {
    match policy {
        OverlapPolicy::Skip => text::scheduled::overlap::skip(),
        OverlapPolicy::QueueOne => text::scheduled::overlap::queue_one(),
        OverlapPolicy::CancelPrevious => text::scheduled::overlap::cancel_previous(),
        OverlapPolicy::Allow => text::scheduled::overlap::allow(),
    }
}

/// Whether it is paused, and why.
pub(super) fn state(reader: &DisplayContext, plan: &ScheduledRun) -> String {
    let Some(SchedulePause { at, failures, error }) = &plan.paused else {
        return reader.text(text::scheduled::state::active());
    };
    let since = reader.moment(*at);
    let why = match failures {
        0 => text::scheduled::state::paused(&since),
        failures => text::scheduled::state::failing(failures, &since),
    };
    match error {
        Some(error) => format!("{}: {}", reader.text(why), one_line(error)),
        None => reader.text(why),
    }
}

/// The mark of an entry in a list.
pub(super) fn mark(reader: &DisplayContext, plan: &ScheduledRun) -> String {
    reader.text(match plan.paused {
        Some(_) => text::scheduled::is_paused(),
        None => text::scheduled::is_run(),
    })
}

/// A run that was started at once.
pub(super) fn started(
    reader: &DisplayContext,
    entry: &ScheduleRow,
    firing: &ScheduledFiring,
) -> String {
    let run = firing.run.as_ref().map(|run| run.short().to_owned()).unwrap_or_default();
    let title = &one_line(&entry.said.title);
    let started = text::scheduled::Started { id: &entry.id, title, run: &run };
    reader.text(started.text())
}

/// The firings of an entry, as a table.
pub(super) fn table(
    reader: &DisplayContext,
    entry: &ScheduleRow,
    firings: &[ScheduledFiring],
) -> String {
    if firings.is_empty() {
        return reader.text(text::scheduled::no_firings(&entry.id));
    }
    let heads = [
        text::scheduled::head::due(),
        text::scheduled::head::state(),
        text::scheduled::head::run(),
        text::scheduled::head::ended(),
    ];
    let mut table = TextTable::new(heads.map(|head| reader.text(head)).to_vec());
    for firing in firings {
        let run = firing.run.as_ref().map(|run| run.short().to_owned()).unwrap_or_default();
        table.row(vec![
            reader.moment(firing.due_at),
            reader.text(firing_state(firing.state)),
            run,
            outcome(reader, firing),
        ]);
    }
    table.show(reader.width)
}

fn firing_state(state: ScheduledState) -> Text {
    match state {
        ScheduledState::Started => text::scheduled::firing::started(),
        ScheduledState::Late => text::scheduled::firing::late(),
        ScheduledState::Missed => text::scheduled::firing::missed(),
        ScheduledState::Skipped => text::scheduled::firing::skipped(),
        ScheduledState::Queued => text::scheduled::firing::queued(),
        ScheduledState::Failed => text::scheduled::firing::failed(),
    }
}

/// How a firing ended, or why it started nothing.
fn outcome(reader: &DisplayContext, firing: &ScheduledFiring) -> String {
    match (firing.state, &firing.reason, &firing.ended) {
        (ScheduledState::Skipped, Some(run), _) => {
            reader.text(text::scheduled::earlier_open(&run.as_str()))
        }
        (_, Some(reason), _) => one_line(reason),
        (_, None, Some(ended)) if firing.run.is_some() => ended.clone(),
        (_, None, _) if firing.run.is_some() => reader.text(text::scheduled::still_open()),
        _ => String::new(),
    }
}

fn firing_line(reader: &DisplayContext, firing: &ScheduledFiring) -> String {
    let run = firing.run.as_ref().map(|run| run.short().to_owned());
    let parts = [
        Some(reader.moment(firing.due_at)),
        Some(reader.text(firing_state(firing.state))),
        run,
        Some(outcome(reader, firing)).filter(|words| !words.is_empty()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("  ")
}

/// Why a cron expression cannot be used.
pub(super) fn bad_cron(reader: &DisplayContext, written: &str, error: &CronError) -> String {
    reader.text(match error {
        CronError::Fields(count) => text::scheduled::cron::fields(&written, count),
        CronError::Never => text::scheduled::cron::never(&written),
        CronError::Part(field, part) => {
            let field = &reader.text(match field {
                CronField::Minute => text::scheduled::cron::minute(),
                CronField::Hour => text::scheduled::cron::hour(),
                CronField::DayOfMonth => text::scheduled::cron::day(),
                CronField::Month => text::scheduled::cron::month(),
                CronField::Weekday => text::scheduled::cron::weekday(),
            });
            text::scheduled::cron::Part { part, field, written: &written }.text()
        }
    })
}

/// One firing, for programs.
#[must_use]
pub fn scheduled_json(reader: &DisplayContext, firing: &ScheduledFiring) -> Value {
    json!({
        "due": at(reader, firing.due_at), "fired": at(reader, firing.fired_at),
        "state": firing.state.as_str(), "reason": firing.reason,
        "run": firing.run.as_ref().map(everloop_types::RunId::as_str), "ended": firing.ended,
    })
}

fn all(reader: &DisplayContext, firings: &[ScheduledFiring]) -> Vec<Value> {
    firings.iter().map(|firing| scheduled_json(reader, firing)).collect()
}

pub(super) fn view_json(reader: &DisplayContext, view: &RunScheduleView) -> Value {
    json!({"ok": true, "did": view.did.as_str(), "entry": entry_json(reader, &view.entry),
        "firings": all(reader, &view.firings), "failures": view.failures,
        "preflight": view.preflight})
}

pub(super) fn started_json(
    reader: &DisplayContext,
    entry: &ScheduleRow,
    firing: &ScheduledFiring,
) -> Value {
    json!({"ok": true, "did": "started", "id": entry.id,
        "firing": scheduled_json(reader, firing)})
}

pub(super) fn firings_json(
    reader: &DisplayContext,
    entry: &ScheduleRow,
    firings: &[ScheduledFiring],
) -> Value {
    json!({"ok": true, "id": entry.id, "title": entry.said.title,
        "firings": all(reader, firings)})
}
