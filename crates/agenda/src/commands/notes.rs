//! What a person should know about a command that was understood in another way than it may have
//! been meant.

use jiff::Zoned;

use super::options::Remind;
use super::words::{self, CommandWords};
use super::{AgendaCommand, ScheduleCommand, TodoCommand, other_year};
use crate::time::{TextSubject, texts};

/// Something about a command that its result does not show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandNote {
    /// No year was said, and the date is in this one.
    OtherYear(i16),
    /// A time word that stays in the text; the todo has no date.
    Undated(String),
    /// A todo has no end: this span was said.
    NoEnd(String),
    /// A reminder was asked for, and no time was said.
    NeverReminds,
    /// An option stands inside of the text and is a part of it.
    OptionInText(String),
}

/// The notes about a command, as its line was typed.
#[must_use]
pub fn notes(line: &str, command: &AgendaCommand, now: &Zoned) -> Vec<CommandNote> {
    let mut found: Vec<CommandNote> = Vec::new();
    found.extend(other_year(line, command, now).map(CommandNote::OtherYear));
    let AgendaCommand::Todo(TodoCommand::Add(todo)) = command else { return found };
    let is_due = todo.due.flatten().is_some();
    if !is_due && todo.remind == Some(Remind::Never) {
        found.push(CommandNote::NeverReminds);
    }
    let text = todo.text.as_deref().unwrap_or_default();
    if let Some(option) = words::option_within(text) {
        found.push(CommandNote::OptionInText(option));
        return found;
    }
    if words::plain(line).contains("--due") {
        return found;
    }
    let mut said = CommandWords::of(line);
    // The shell gives the words alone.
    if words::normal(line).starts_with('/') {
        said.skip(2);
    }
    let said = said.written();
    match is_due {
        true => {
            let read = texts::read(&said, now, TextSubject::Todo).ok();
            let span =
                read.filter(|read| read.when.as_ref().is_some_and(|at| at.minutes.is_some()));
            found.extend(span.map(|read| CommandNote::NoEnd(read.phrase)));
        }
        false => {
            found.extend(texts::unread_time(text).map(CommandNote::Undated));
        }
    }
    found
}

/// Whether a command adds or changes something with a date.
pub(super) fn dated(command: &AgendaCommand) -> Option<jiff::Timestamp> {
    match command {
        AgendaCommand::Todo(TodoCommand::Add(new) | TodoCommand::Update(_, new)) => {
            new.due.flatten()
        }
        AgendaCommand::Schedule(ScheduleCommand::Add(new) | ScheduleCommand::Update(_, new)) => {
            new.start.map(|start| start.at)
        }
        _ => None,
    }
}
