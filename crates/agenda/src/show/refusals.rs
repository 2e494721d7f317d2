//! Why a command was not carried out, in words.

use super::DisplayContext;
use crate::desk::{CommandRefusal, EntryConflict};
use everloop_text::{self as text, TextOf};

pub(super) fn show(reader: &DisplayContext, refusal: &CommandRefusal) -> String {
    let about = |text: TextOf, id: &i64| reader.text(text(id));
    match refusal {
        CommandRefusal::NoSuchTodo(id) => about(text::todo::none_of_number, id),
        CommandRefusal::NoSuchEntry(id) => about(text::schedule::none_of_number, id),
        CommandRefusal::OverlapsItself => reader.text(text::schedule::overlaps_itself()),
        CommandRefusal::ReminderNeedsDue => reader.text(text::todo::reminder_needs_due()),
        CommandRefusal::NotDue(id) => about(text::todo::not_due, id),
        CommandRefusal::DoesNotRepeat(id) => about(text::schedule::does_not_repeat, id),
        CommandRefusal::DoesNotRemind(id) => about(text::schedule::does_not_remind, id),
        CommandRefusal::StartsNoRuns(id) => about(text::scheduled::starts_none, id),
        CommandRefusal::RunInPast => reader.text(text::scheduled::run_in_past()),
        CommandRefusal::CannotRun(reason) => reader.text(text::scheduled::cannot_run(&reason)),
        CommandRefusal::NothingToUndo => reader.text(text::agenda_undo::nothing()),
        CommandRefusal::ChangedSince(id) => about(text::agenda_undo::changed_since, id),
        CommandRefusal::NoReminder(None) => reader.text(text::reminder::none()),
        CommandRefusal::NoReminder(Some(id)) => about(text::reminder::none_of, id),
        CommandRefusal::Contested => reader.text(text::command::contested()),
        CommandRefusal::Outdated(id) => about(text::command::outdated, id),
        CommandRefusal::NotHere => reader.text(text::command::not_here()),
        CommandRefusal::Conflict(conflict) => show_conflict(reader, conflict),
    }
}

fn show_conflict(reader: &DisplayContext, conflict: &EntryConflict) -> String {
    let mut lines = vec![reader.text(text::schedule::conflict())];
    lines.extend(conflict.with.iter().map(|(entry, at)| {
        reader.text(
            text::schedule::Conflicting {
                id: &entry.id,
                at: &reader.moment(at.as_millisecond()),
                minutes: &entry.said.span.minutes,
                title: &everloop_types::one_line(&entry.said.title),
            }
            .text(),
        )
    }));
    if let Some(free) = conflict.next_free {
        let (at, minutes) = (reader.moment(free.as_millisecond()), conflict.minutes.to_string());
        lines.push(reader.text(text::schedule::next_free(&at, &minutes)));
    }
    lines.push(reader.text(text::schedule::allow_conflict()));
    lines.join("\n")
}
