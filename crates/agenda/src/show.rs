//! Answers for people and for programs. Pure: from values to text.

mod calendar;
mod firings;
mod json;
mod none;
mod refusals;
mod repeats;
mod runs;
mod table;
mod todos;
mod undone;

pub use firings::{firing_line, firing_lines, hinted_lines};
pub use json::{
    as_json, firing as firing_json, occurrence as occurrence_json, wrong as wrong_json,
};
pub(crate) use repeats::repeats;
pub use runs::scheduled_json;
pub use table::{TextTable, clipped, padded};
pub use todos::proposal_line;

use crate::commands::{CommandError, CommandNote, TodoView};
use crate::desk::{AgendaNotice, AgendaResult, CommandOutcome, DeletedItem, ItemAction};
use crate::kept::{self, moment};
use everloop_store::{Firing, ScheduleRow, TodoRow};
use everloop_text::{self as text, Text, TextOf};
use everloop_types::{Lang, UtcMs, one_line};
use jiff::Zoned;
use std::fmt::Display;

/// Language, time and screen of the user.
#[derive(Debug, Clone)]
pub struct DisplayContext {
    /// Their language.
    pub lang: Lang,
    /// Their time, in their zone.
    pub now: Zoned,
    /// Columns of their screen, where there is one.
    pub width: Option<usize>,
}

impl DisplayContext {
    pub(crate) fn text(&self, text: Text) -> String {
        text.in_lang(self.lang)
    }

    /// A moment in the user's zone.
    #[must_use]
    pub fn moment(&self, at: UtcMs) -> String {
        crate::commands::written(moment(at), &self.now)
    }

    fn joined(&self, parts: &[String]) -> String {
        parts.join(&self.text(text::show::comma()))
    }
}

/// How an entry repeats, in words; nothing if it takes place once.
#[must_use]
pub fn repetition(reader: &DisplayContext, entry: &ScheduleRow) -> Option<String> {
    repeats::repeats(reader, entry)
}

/// The outcome of a command as text.
#[must_use]
pub fn answer(reader: &DisplayContext, answer: &AgendaResult) -> String {
    match answer {
        Ok(reply) => show_reply(reader, reply),
        Err(refusal) => refusals::show(reader, refusal),
    }
}

/// A note about a command, in words.
#[must_use]
pub fn note(reader: &DisplayContext, note: &CommandNote) -> String {
    reader.text(match note {
        CommandNote::OtherYear(year) => text::notice::other_year(year),
        CommandNote::Undated(words) => text::notice::undated(words),
        CommandNote::NoEnd(words) => text::notice::no_end(words),
        CommandNote::NeverReminds => text::notice::never_reminds(),
        CommandNote::OptionInText(option) => text::notice::option_in_text(option),
    })
}

fn show_reply(reader: &DisplayContext, reply: &CommandOutcome) -> String {
    match reply {
        CommandOutcome::Todo(ItemAction::Shown, todo, _) => todos::card(reader, todo),
        CommandOutcome::Todo(did, todo, notices) => {
            let line =
                with_details(reader, marked(reader, *did, todo), &todos::details(reader, todo));
            with_notices(reader, line, notices)
        }
        CommandOutcome::Marked(all) => {
            let lines = all.iter().map(|(did, todo)| marked(reader, *did, todo));
            lines.collect::<Vec<_>>().join("\n")
        }
        CommandOutcome::TodosDeleted(all) => {
            gone(reader, all, text::todo::deleted, text::todo::deleted_before)
        }
        CommandOutcome::Todos(list) => todos::list(reader, list),
        CommandOutcome::Proposed(mark, found) => todos::proposed(reader, *mark, found),
        CommandOutcome::Undone(items) => undone::show(reader, items),
        CommandOutcome::Snoozed(firing, at) => {
            let title = one_line(&firing.title);
            reader.text(text::reminder::snoozed(&title, &reader.moment(*at)))
        }
        CommandOutcome::ReminderRead(firing) => {
            reader.text(text::reminder::read(&one_line(&firing.title)))
        }
        CommandOutcome::Views => views(reader),
        CommandOutcome::Entry(ItemAction::Shown, entry, firings, _) => {
            entry_card(reader, entry, firings)
        }
        CommandOutcome::Entry(did, entry, _, notices) => {
            let key = match (kept::is_reminder(entry), did) {
                (true, ItemAction::Added) => text::schedule::reminder_added,
                (true, _) => text::schedule::reminder_changed,
                (false, ItemAction::Added) => text::schedule::added,
                (false, _) => text::schedule::changed,
            };
            let id = entry.id.to_string();
            let title = one_line(&entry.said.title);
            let line = reader.text(key(&id, &title));
            let line = with_details(reader, line, &entry_details(reader, entry));
            with_notices(reader, line, notices)
        }
        CommandOutcome::EntriesDeleted(all) => {
            gone(reader, all, text::schedule::deleted, text::schedule::deleted_before)
        }
        CommandOutcome::Entries(range, entries) => {
            let listed = kept::occurrences_between(entries, range.from, range.to);
            calendar::show(reader, range, &listed)
        }
        CommandOutcome::RunSchedule(view) => runs::view(reader, view),
        CommandOutcome::RunStarted(entry, firing) => runs::started(reader, entry, firing),
        CommandOutcome::RunFirings(entry, firings) => runs::table(reader, entry, firings),
    }
}

/// What was done to a todo.
fn marked(reader: &DisplayContext, did: ItemAction, todo: &TodoRow) -> String {
    let id = &todo.id;
    let text = &one_line(&todo.said.text);
    reader.text(match did {
        ItemAction::Added => text::todo::added(id, text),
        ItemAction::Finished => text::todo::finished(id, text),
        ItemAction::WasFinished => {
            let done = &todo.done_at.map(|at| reader.moment(at)).unwrap_or_default();
            text::todo::WasFinished { id, done, text }.text()
        }
        ItemAction::Reopened => text::todo::reopened(id, text),
        ItemAction::Changed | ItemAction::Shown => text::todo::changed(id, text),
    })
}

/// The deleted items by their text, or by their number if the text is gone already.
fn gone(
    reader: &DisplayContext,
    all: &[DeletedItem],
    now: fn(&dyn Display, &dyn Display) -> Text,
    before: TextOf,
) -> String {
    let line = |gone: &DeletedItem| {
        let id = gone.id.to_string();
        match &gone.text {
            Some(text) => reader.text(now(&id, &one_line(text))),
            None => reader.text(before(&id)),
        }
    };
    all.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn with_notices(reader: &DisplayContext, line: String, notices: &[AgendaNotice]) -> String {
    let lines = std::iter::once(line).chain(notices.iter().map(|it| notice(reader, *it)));
    lines.collect::<Vec<_>>().join("\n")
}

fn notice(reader: &DisplayContext, notice: AgendaNotice) -> String {
    reader.text(match notice {
        AgendaNotice::StartPast(at) => text::notice::start_past(&reader.moment(at)),
        AgendaNotice::DuePast(at) => text::notice::due_past(&reader.moment(at)),
        AgendaNotice::ReminderPast(at) => text::notice::reminder_past(&reader.moment(at)),
        AgendaNotice::ReminderGone(at) => text::notice::reminder_gone(&reader.moment(at)),
    })
}

/// The error of a line that was meant as a command.
#[must_use]
pub fn wrong(reader: &DisplayContext, wrong: &CommandError) -> String {
    let usage = |how: &Text| {
        let how = how.in_lang(reader.lang);
        reader.text(text::command::usage(&how))
    };
    match wrong {
        CommandError::NoSuchCommand(name, Some(nearest)) => {
            reader.text(text::command::unknown_near(&name, &nearest))
        }
        CommandError::NoSuchCommand(name, None) => reader.text(text::command::unknown(&name)),
        CommandError::Usage(key) => usage(key),
        CommandError::NotADate(text) => reader.text(text::command::not_a_date(&text)),
        CommandError::SeveralTimes(text) => reader.text(text::command::several_times(&text)),
        CommandError::Past(text) => reader.text(text::command::past(&text)),
        CommandError::Deadline(text) => reader.text(text::command::deadline(&text)),
        CommandError::ReminderAfter(text) => reader.text(text::command::reminder_after(&text)),
        CommandError::Twice(option, key) => {
            let line = reader.text(text::command::twice(&option));
            format!("{line}\n{}", usage(key))
        }
        CommandError::NoTime(text) => {
            // An hour that is still in the future.
            let hour = format!("{:02}", (reader.now.hour() + 1).clamp(9, 23));
            reader.text(text::command::no_time(&text, &hour))
        }
        CommandError::BadValue(option, text, key) => {
            let line = reader.text(text::command::bad_value(&text, &option));
            format!("{line}\n{}", usage(key))
        }
        CommandError::NoSuchOption(option, key) => {
            let line = reader.text(text::command::no_such_option(&option));
            format!("{line}\n{}", usage(key))
        }
        CommandError::OneDash(option) => reader.text(text::command::one_dash(&option)),
        CommandError::TooLong(text) => text.in_lang(reader.lang),
        CommandError::ReminderNeedsDue => reader.text(text::todo::reminder_needs_due()),
        CommandError::TodosDoNotRepeat => reader.text(text::todo::does_not_repeat()),
        CommandError::BadCron(written, error) => runs::bad_cron(reader, written, error),
        CommandError::NoSuchZone(name) => reader.text(text::scheduled::no_such_zone(&name)),
    }
}

fn with_details(reader: &DisplayContext, line: String, details: &[String]) -> String {
    if details.is_empty() {
        return line;
    }
    reader.text(text::show::details(&line, &reader.joined(details)))
}

/// Names and values, one per line, with aligned values.
fn card(reader: &DisplayContext, rows: Vec<(Text, String)>) -> String {
    let names: Vec<String> = rows.iter().map(|(head, _)| head.in_lang(reader.lang)).collect();
    let widest = names.iter().map(|name| table::width(name)).max().unwrap_or(0);
    let lines = names
        .iter()
        .zip(rows)
        .map(|(name, (_, value))| format!("{}  {}", padded(name, widest), one_line(&value)));
    lines.collect::<Vec<_>>().join("\n")
}

fn views(reader: &DisplayContext) -> String {
    let line = |view: TodoView| {
        let what = reader.text(match view {
            TodoView::All => text::view::all(),
            TodoView::Today => text::view::today(),
            TodoView::Overdue => text::view::overdue(),
            TodoView::Upcoming => text::view::upcoming(),
            TodoView::Inbox => text::view::inbox(),
        });
        format!("/view {}  {what}", padded(view.as_str(), 8))
    };
    TodoView::ALL.map(line).join("\n")
}

fn entry_details(reader: &DisplayContext, entry: &ScheduleRow) -> Vec<String> {
    let span = &entry.said.span;
    let mut details = vec![starts(reader, entry)];
    if !kept::is_reminder(entry) {
        let minutes = span.minutes.to_string();
        details.push(reader.text(text::schedule::detail::minutes(&minutes)));
    }
    details.extend(repeats(reader, entry));
    if let Some(next) = entry.remind_next {
        let at = reader.moment(next);
        details.push(reader.text(text::schedule::detail::remind(&at)));
    }
    details
}

/// The start, in the entry's own zone if that differs.
fn starts(reader: &DisplayContext, entry: &ScheduleRow) -> String {
    let span = &entry.said.span;
    let here = reader.moment(span.starts_at);
    let zone = &span.zone;
    if reader.now.time_zone().iana_name() == Some(zone.as_str()) {
        return reader.text(text::schedule::detail::at(&here, &zone));
    }
    let there = span.starts.replace('T', " ");
    reader.text(
        text::schedule::detail::AtThere {
            at: &here.as_str(),
            there: &there.as_str(),
            zone: &zone.as_str(),
        }
        .text(),
    )
}

/// The length in minutes, or that it is a reminder.
fn lasts(reader: &DisplayContext, entry: &ScheduleRow) -> String {
    match (&entry.said.run, kept::is_reminder(entry)) {
        (Some(plan), _) => runs::mark(reader, plan),
        (None, true) => reader.text(text::schedule::is_reminder()),
        (None, false) => entry.said.span.minutes.to_string(),
    }
}

fn entry_card(reader: &DisplayContext, entry: &ScheduleRow, firings: &[Firing]) -> String {
    let said = &entry.said;
    let none = || "-".to_owned();
    let next = kept::series(entry).from(reader.now.timestamp()).next();
    let next = next.map_or_else(none, |found| reader.moment(found.at.as_millisecond()));
    let rows = [
        (text::schedule::head::id(), entry.id.to_string()),
        (text::schedule::head::title(), said.title.clone()),
        (text::schedule::head::at(), starts(reader, entry)),
        (text::schedule::head::minutes(), lasts(reader, entry)),
        (text::schedule::head::repeat(), repeats(reader, entry).unwrap_or_else(none)),
        (text::schedule::head::next(), next),
        (
            text::schedule::head::remind(),
            entry.remind_next.map_or_else(none, |at| reader.moment(at)),
        ),
    ];
    let mut text = card(reader, rows.into());
    for firing in firings {
        text.push('\n');
        text.push_str(&firing_line(reader, firing));
    }
    text
}
