//! Answers for programs. Field names are fixed; moments are RFC 3339 in the user's zone.

use super::{DisplayContext, runs};
use crate::commands::CommandError;
use crate::desk::{
    AgendaNotice, AgendaResult, CommandOutcome, CommandRefusal, DeletedItem, EntryConflict,
    ItemAction,
};
use crate::kept::{self, EntryOccurrence};
use everloop_store::{AgendaRow, ChangedItem, Firing, ScheduleRow, TodoRow};
use everloop_types::UtcMs;
use serde_json::{Value, json};

/// The outcome of a command as JSON.
#[must_use]
pub fn as_json(reader: &DisplayContext, answer: &AgendaResult) -> Value {
    match answer {
        Ok(reply) => show_reply(reader, reply),
        Err(refusal) => {
            let mut whole = json!({"ok": false, "error": refusal_name(refusal),
                "message": super::answer(reader, answer)});
            if let CommandRefusal::Conflict(found) = refusal {
                whole["conflict"] = conflict(reader, found);
            }
            whole
        }
    }
}

fn conflict(reader: &DisplayContext, conflict: &EntryConflict) -> Value {
    let with = conflict.with.iter().map(|(entry, from)| {
        let lasts = entry.said.span.minutes.saturating_mul(60_000);
        let to = kept::moment(from.as_millisecond().saturating_add(lasts));
        occurrence(reader, &EntryOccurrence { entry, from: *from, to })
    });
    let with: Vec<Value> = with.collect();
    json!({"with": with, "minutes": conflict.minutes,
        "next_free": conflict.next_free.map(|free| at(reader, free.as_millisecond()))})
}

/// The deleted items: one as an object, several as a list.
fn deleted(all: &[DeletedItem]) -> Value {
    match all {
        [one] => json!({"ok": true, "did": "deleted", "id": one.id, "text": one.text}),
        all => {
            let all: Vec<Value> =
                all.iter().map(|gone| json!({"id": gone.id, "text": gone.text})).collect();
            json!({"ok": true, "did": "deleted", "deleted": all})
        }
    }
}

fn notices(reader: &DisplayContext, notices: &[AgendaNotice]) -> Vec<Value> {
    let one = |notice: &AgendaNotice| {
        let (kind, moment) = match *notice {
            AgendaNotice::StartPast(at) => ("start_past", at),
            AgendaNotice::DuePast(at) => ("due_past", at),
            AgendaNotice::ReminderPast(at) => ("reminder_past", at),
            AgendaNotice::ReminderGone(at) => ("reminder_gone", at),
        };
        json!({"kind": kind, "at": at(reader, moment), "message": super::notice(reader, *notice)})
    };
    notices.iter().map(one).collect()
}

fn show_reply(reader: &DisplayContext, reply: &CommandOutcome) -> Value {
    match reply {
        CommandOutcome::Todo(did, row, said) => {
            json!({"ok": true, "did": did_name(*did), "todo": todo(reader, row),
                "notices": notices(reader, said)})
        }
        CommandOutcome::Marked(all) => {
            let one = |(did, row): &(ItemAction, TodoRow)| {
                let row = todo(reader, row);
                json!({"did": did_name(*did), "todo": row})
            };
            json!({"ok": true, "todos": all.iter().map(one).collect::<Vec<_>>()})
        }
        CommandOutcome::TodosDeleted(all) | CommandOutcome::EntriesDeleted(all) => deleted(all),
        CommandOutcome::Todos(list) => {
            let todos: Vec<Value> = list.todos.iter().map(|row| todo(reader, row)).collect();
            json!({"ok": true, "view": list.view.as_str(), "search": list.word,
                "tag": list.filter.tags.first(), "tags": list.filter.tags, "todos": todos})
        }
        CommandOutcome::Proposed(mark, rows) => {
            let todos: Vec<Value> = rows.iter().map(|row| todo(reader, row)).collect();
            json!({"ok": true, "did": "proposed", "mark": mark.as_str(), "todos": todos})
        }
        CommandOutcome::Undone(items) => undone(items),
        CommandOutcome::Snoozed(fired, until) => {
            json!({"ok": true, "did": "snoozed", "reminder": firing(reader, fired),
                "until": at(reader, *until)})
        }
        CommandOutcome::ReminderRead(fired) => {
            json!({"ok": true, "did": "read", "reminder": firing(reader, fired)})
        }
        CommandOutcome::Views => {
            let views = crate::commands::TodoView::ALL.map(crate::commands::TodoView::as_str);
            json!({"ok": true, "views": views})
        }
        CommandOutcome::Entry(did, row, fired, said) => {
            let fired: Vec<Value> = fired.iter().map(|row| firing(reader, row)).collect();
            let entry = entry(reader, row);
            json!({"ok": true, "did": did_name(*did), "entry": entry, "fired": fired,
                "notices": notices(reader, said)})
        }
        CommandOutcome::Entries(range, rows) => {
            let listed = kept::occurrences_between(rows, range.from, range.to);
            let (from, to) = (range.from.as_millisecond(), range.to.as_millisecond());
            let held = listed.held.iter().map(|held| occurrence(reader, held));
            json!({"ok": true, "from": at(reader, from), "to": at(reader, to),
                "entries": held.collect::<Vec<_>>(), "left_out": listed.left_out})
        }
        CommandOutcome::RunSchedule(view) => runs::view_json(reader, view),
        CommandOutcome::RunStarted(entry, firing) => runs::started_json(reader, entry, firing),
        CommandOutcome::RunFirings(entry, firings) => runs::firings_json(reader, entry, firings),
    }
}

fn undone(items: &[ChangedItem]) -> Value {
    let one = |item: &ChangedItem| {
        let row = item.before.as_ref().or(item.after.as_ref());
        let kind = match row {
            Some(AgendaRow::Entry(_)) => "entry",
            Some(AgendaRow::Todo(_)) | None => "todo",
        };
        json!({"kind": kind, "id": item.subject, "text": row.map(AgendaRow::text),
            "removed": item.before.is_none()})
    };
    json!({"ok": true, "did": "undone", "items": items.iter().map(one).collect::<Vec<_>>()})
}

fn did_name(did: ItemAction) -> &'static str {
    match did {
        ItemAction::Added => "added",
        ItemAction::Changed => "changed",
        ItemAction::Finished => "finished",
        ItemAction::WasFinished => "was_finished",
        ItemAction::Reopened => "reopened",
        ItemAction::Shown => "shown",
    }
}

fn refusal_name(refusal: &CommandRefusal) -> &'static str {
    match refusal {
        CommandRefusal::NoSuchTodo(_) => "no_such_todo",
        CommandRefusal::NoSuchEntry(_) => "no_such_entry",
        CommandRefusal::Conflict(_) => "conflict",
        CommandRefusal::OverlapsItself => "overlaps_itself",
        CommandRefusal::ReminderNeedsDue => "reminder_needs_due",
        CommandRefusal::NotDue(_) => "not_due",
        CommandRefusal::DoesNotRepeat(_) => "does_not_repeat",
        CommandRefusal::RunInPast => "run_in_past",
        CommandRefusal::DoesNotRemind(_) => "does_not_remind",
        CommandRefusal::StartsNoRuns(_) => "starts_no_runs",
        CommandRefusal::CannotRun(_) => "cannot_run",
        CommandRefusal::NothingToUndo => "nothing_to_undo",
        CommandRefusal::ChangedSince(_) => "changed_since",
        CommandRefusal::NoReminder(_) => "no_reminder",
        CommandRefusal::Contested => "contested",
        CommandRefusal::Outdated(_) => "outdated",
        CommandRefusal::NotHere => "not_here",
    }
}

/// The error of a line that was meant as a command, as JSON.
#[must_use]
pub fn wrong(reader: &DisplayContext, wrong: &CommandError) -> Value {
    let (name, text) = match wrong {
        CommandError::NoSuchCommand(name, _) => ("no_such_command", Some(name)),
        CommandError::Usage(_) => ("usage", None),
        CommandError::NotADate(text) => ("not_a_date", Some(text)),
        CommandError::SeveralTimes(text) => ("several_times", Some(text)),
        CommandError::Past(text) => ("past", Some(text)),
        CommandError::Deadline(text) => ("deadline", Some(text)),
        CommandError::ReminderAfter(text) => ("reminder_after", Some(text)),
        CommandError::Twice(..) => ("option_twice", None),
        CommandError::NoTime(text) => ("no_time", Some(text)),
        CommandError::BadValue(_, text, _) => ("bad_value", Some(text)),
        CommandError::NoSuchOption(name, _) => ("no_such_option", Some(name)),
        CommandError::OneDash(name) => ("one_dash", Some(name)),
        CommandError::TooLong(..) => ("too_long", None),
        CommandError::ReminderNeedsDue => ("reminder_needs_due", None),
        CommandError::TodosDoNotRepeat => ("todos_do_not_repeat", None),
        CommandError::BadCron(text, _) => ("bad_cron", Some(text)),
        CommandError::NoSuchZone(name) => ("no_such_zone", Some(name)),
    };
    json!({"ok": false, "error": name, "text": text, "message": super::wrong(reader, wrong)})
}

pub(super) fn at(reader: &DisplayContext, at: UtcMs) -> String {
    let zoned = kept::moment(at).to_zoned(reader.now.time_zone().clone());
    zoned.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

fn todo(reader: &DisplayContext, row: &TodoRow) -> Value {
    let said = &row.said;
    json!({
        "id": row.id, "uid": row.uid, "text": said.text, "tags": said.tags,
        "tag": said.tags.first().map_or("default", String::as_str),
        "priority": said.priority,
        "due": said.due_at.map(|ms| at(reader, ms)),
        "remind": said.remind_at.map(|ms| at(reader, ms)),
        "remind_before_ms": said.remind_lead,
        "done": row.done_at.map(|ms| at(reader, ms)),
        "created": at(reader, row.created_at),
    })
}

pub(super) fn entry(reader: &DisplayContext, row: &ScheduleRow) -> Value {
    let said = &row.said;
    let repeat = said.repeat.as_ref();
    json!({
        "id": row.id, "uid": row.uid, "title": said.title,
        "start": at(reader, said.span.starts_at), "wall": said.span.starts,
        "zone": said.span.zone, "minutes": said.span.minutes,
        "is_reminder": kept::is_reminder(row),
        "remind_before_ms": said.remind.as_ref().map(|remind| remind.lead_ms),
        "rrule": repeat.map(|rule| &rule.rrule), "times": repeat.and_then(|rule| rule.times),
        "repeats": repeat.is_some_and(|rule| rule.on != 0),
        "remind_next": row.remind_next.map(|ms| at(reader, ms)),
        "catch_up": said.catch_up,
        "run": said.run,
    })
}

fn occurrence(reader: &DisplayContext, held: &EntryOccurrence<'_>) -> Value {
    json!({
        "id": held.entry.id, "title": held.entry.said.title,
        "is_reminder": kept::is_reminder(held.entry),
        "run": held.entry.said.run,
        "start": at(reader, held.from.as_millisecond()),
        "end": at(reader, held.to.as_millisecond()),
        "repeats": held.entry.said.repeat.as_ref().is_some_and(|rule| rule.on != 0),
    })
}

/// One firing.
#[must_use]
pub fn firing(reader: &DisplayContext, row: &Firing) -> Value {
    json!({
        "kind": row.due.kind.as_str(), "id": row.due.subject, "title": row.title,
        "due": at(reader, row.due.due_at), "at": at(reader, row.occurs_at),
        "fired": at(reader, row.fired_at), "state": row.state.as_str(),
    })
}
