//! Answers for programs. Field names are fixed; moments are RFC 3339 in the reader's zone.

use super::Reader;
use crate::desk::{Answer, Did, Refusal, Reply};
use crate::kept::{self, Held};
use everloop_store::{Firing, ScheduleRow, TodoRow};
use everloop_types::UtcMs;
use serde_json::{Value, json};

/// What a command came to, as JSON.
#[must_use]
pub fn as_json(reader: &Reader, answer: &Answer) -> Value {
    match answer {
        Ok(reply) => show_reply(reader, reply),
        Err(refusal) => json!({"ok": false, "error": refusal_name(refusal),
            "message": super::answer(reader, answer)}),
    }
}

fn show_reply(reader: &Reader, reply: &Reply) -> Value {
    match reply {
        Reply::Todo(did, row) => {
            json!({"ok": true, "did": did_name(*did), "todo": todo(reader, row)})
        }
        Reply::TodoDeleted(id) => json!({"ok": true, "did": "deleted", "id": id}),
        Reply::Several(answers) => {
            let all: Vec<Value> = answers.iter().map(|one| as_json(reader, one)).collect();
            let ok = answers.iter().all(Result::is_ok);
            json!({"ok": ok, "answers": all})
        }
        Reply::Todos(view, word, rows) => {
            let todos: Vec<Value> = rows.iter().map(|row| todo(reader, row)).collect();
            json!({"ok": true, "view": view.as_str(), "search": word, "todos": todos})
        }
        Reply::Views => {
            let views = crate::commands::View::ALL.map(crate::commands::View::as_str);
            json!({"ok": true, "views": views})
        }
        Reply::Entry(did, row, fired) => {
            let fired: Vec<Value> = fired.iter().map(|row| firing(reader, row)).collect();
            let entry = entry(reader, row);
            json!({"ok": true, "did": did_name(*did), "entry": entry, "fired": fired})
        }
        Reply::EntryDeleted(id) => json!({"ok": true, "did": "deleted", "id": id}),
        Reply::Entries(range, rows) => {
            let listed = kept::held_between(rows, range.from, range.to);
            let held: Vec<Value> =
                listed.held.iter().map(|held| occurrence(reader, held)).collect();
            let (from, to) = (range.from.as_millisecond(), range.to.as_millisecond());
            json!({"ok": true, "from": at(reader, from), "to": at(reader, to), "entries": held,
                "left_out": listed.left_out})
        }
    }
}

fn did_name(did: Did) -> &'static str {
    match did {
        Did::Added => "added",
        Did::Changed => "changed",
        Did::Finished => "finished",
        Did::Reopened => "reopened",
        Did::Shown => "shown",
    }
}

fn refusal_name(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::NoSuchTodo(_) => "no_such_todo",
        Refusal::NoSuchEntry(_) => "no_such_entry",
        Refusal::Conflict(_) => "conflict",
        Refusal::OverlapsItself => "overlaps_itself",
        Refusal::ReminderNeedsDue => "reminder_needs_due",
        Refusal::DoesNotRepeat(_) => "does_not_repeat",
        Refusal::DoesNotRemind(_) => "does_not_remind",
        Refusal::Contested => "contested",
        Refusal::NotHere => "not_here",
    }
}

fn at(reader: &Reader, at: UtcMs) -> String {
    let zoned = kept::moment(at).to_zoned(reader.now.time_zone().clone());
    zoned.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

fn todo(reader: &Reader, row: &TodoRow) -> Value {
    let said = &row.said;
    json!({
        "id": row.id, "uid": row.uid, "text": said.text, "tag": said.tag,
        "priority": said.priority,
        "due": said.due_at.map(|ms| at(reader, ms)),
        "remind": said.remind_at.map(|ms| at(reader, ms)),
        "done": row.done_at.map(|ms| at(reader, ms)),
        "created": at(reader, row.created_at),
    })
}

fn entry(reader: &Reader, row: &ScheduleRow) -> Value {
    let said = &row.said;
    let repeat = said.repeat.as_ref();
    json!({
        "id": row.id, "uid": row.uid, "title": said.title,
        "start": at(reader, said.span.starts_at), "wall": said.span.starts,
        "zone": said.span.zone, "minutes": said.span.minutes,
        "rrule": repeat.map(|rule| &rule.rrule), "times": repeat.and_then(|rule| rule.times),
        "repeats": repeat.is_some_and(|rule| rule.on != 0),
        "remind_next": row.remind_next.map(|ms| at(reader, ms)),
        "catch_up": said.catch_up,
    })
}

fn occurrence(reader: &Reader, held: &Held<'_>) -> Value {
    json!({
        "id": held.entry.id, "title": held.entry.said.title,
        "start": at(reader, held.from.as_millisecond()),
        "end": at(reader, held.to.as_millisecond()),
        "repeats": held.entry.said.repeat.as_ref().is_some_and(|rule| rule.on != 0),
    })
}

/// One firing.
#[must_use]
pub fn firing(reader: &Reader, row: &Firing) -> Value {
    json!({
        "kind": row.due.kind.as_str(), "id": row.due.subject, "title": row.title,
        "due": at(reader, row.due.due_at), "at": at(reader, row.occurs_at),
        "fired": at(reader, row.fired_at), "state": row.state.as_str(),
    })
}
