//! Why a command was not carried out, in words.

use super::Reader;
use crate::desk::{Conflict, Refusal};

pub(super) fn show(reader: &Reader, refusal: &Refusal) -> String {
    let about = |key: &str, id: &i64| reader.text(key, &[("id", &id.to_string())]);
    match refusal {
        Refusal::NoSuchTodo(id) => about("todo.none_of_number", id),
        Refusal::NoSuchEntry(id) => about("schedule.none_of_number", id),
        Refusal::OverlapsItself => reader.text("schedule.overlaps_itself", &[]),
        Refusal::ReminderNeedsDue => reader.text("todo.reminder_needs_due", &[]),
        Refusal::NotDue(id) => about("todo.not_due", id),
        Refusal::DoesNotRepeat(id) => about("schedule.does_not_repeat", id),
        Refusal::DoesNotRemind(id) => about("schedule.does_not_remind", id),
        Refusal::Contested => reader.text("command.contested", &[]),
        Refusal::NotHere => reader.text("command.not_here", &[]),
        Refusal::Conflict(conflict) => show_conflict(reader, conflict),
    }
}

fn show_conflict(reader: &Reader, conflict: &Conflict) -> String {
    let mut lines = vec![reader.text("schedule.conflict", &[])];
    lines.extend(conflict.with.iter().map(|(entry, at)| {
        let args = [
            ("id", entry.id.to_string()),
            ("at", reader.moment(at.as_millisecond())),
            ("minutes", entry.said.span.minutes.to_string()),
            ("title", everloop_types::one_line(&entry.said.title)),
        ];
        let args = args.each_ref().map(|(name, value)| (*name, value.as_str()));
        reader.text("schedule.conflicting", &args)
    }));
    if let Some(free) = conflict.next_free {
        let (at, minutes) = (reader.moment(free.as_millisecond()), conflict.minutes.to_string());
        lines.push(reader.text("schedule.next_free", &[("at", &at), ("minutes", &minutes)]));
    }
    lines.push(reader.text("schedule.allow_conflict", &[]));
    lines.join("\n")
}
