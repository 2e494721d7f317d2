//! Answers as people read them, and as programs do. Pure: from values to text.

mod calendar;
mod firings;
mod json;
mod none;
mod refusals;
mod repeats;
mod table;

pub use firings::{firing_line, firing_lines};
pub use json::{as_json, firing as firing_json, wrong as wrong_json};
pub(crate) use repeats::repeats;
pub use table::{Table, clipped, padded};

use crate::commands::{View, Wrong};
use crate::desk::{Answer, Did, Gone, Notice, Reply, TodoList};
use crate::kept::{self, moment};
use everloop_store::{Firing, ScheduleRow, TodoRow};
use everloop_types::{Lang, UtcMs, one_line};
use jiff::Zoned;

/// For whom and where something is shown.
#[derive(Debug, Clone)]
pub struct Reader {
    /// Their language.
    pub lang: Lang,
    /// Their time, in their zone.
    pub now: Zoned,
    /// Columns of their screen, where there is one.
    pub width: Option<usize>,
}

impl Reader {
    pub(crate) fn text(&self, key: &str, args: &[(&str, &str)]) -> String {
        everloop_text::get(self.lang, key, args)
    }

    /// A moment on the reader's wall.
    #[must_use]
    pub fn moment(&self, at: UtcMs) -> String {
        crate::commands::written(moment(at), &self.now)
    }

    fn joined(&self, parts: &[String]) -> String {
        parts.join(&self.text("show.comma", &[]))
    }
}

/// What a command came to, in words.
#[must_use]
pub fn answer(reader: &Reader, answer: &Answer) -> String {
    match answer {
        Ok(reply) => show_reply(reader, reply),
        Err(refusal) => refusals::show(reader, refusal),
    }
}

fn show_reply(reader: &Reader, reply: &Reply) -> String {
    match reply {
        Reply::Todo(Did::Shown, todo, _) => todo_card(reader, todo),
        Reply::Todo(did, todo, notices) => {
            let line =
                with_details(reader, marked(reader, *did, todo), &todo_details(reader, todo));
            with_notices(reader, line, notices)
        }
        Reply::Marked(all) => {
            let lines = all.iter().map(|(did, todo)| marked(reader, *did, todo));
            lines.collect::<Vec<_>>().join("\n")
        }
        Reply::TodosDeleted(all) => gone(reader, all, "todo.deleted", "todo.deleted_before"),
        Reply::Todos(list) => show_todos(reader, list),
        Reply::Views => views(reader),
        Reply::Entry(Did::Shown, entry, firings, _) => entry_card(reader, entry, firings),
        Reply::Entry(did, entry, _, notices) => {
            let key = match (kept::is_reminder(entry), did) {
                (true, Did::Added) => "schedule.reminder_added",
                (true, _) => "schedule.reminder_changed",
                (false, Did::Added) => "schedule.added",
                (false, _) => "schedule.changed",
            };
            let id = entry.id.to_string();
            let title = one_line(&entry.said.title);
            let line = reader.text(key, &[("id", &id), ("title", &title)]);
            let line = with_details(reader, line, &entry_details(reader, entry));
            with_notices(reader, line, notices)
        }
        Reply::EntriesDeleted(all) => {
            gone(reader, all, "schedule.deleted", "schedule.deleted_before")
        }
        Reply::Entries(range, entries) => {
            let listed = kept::held_between(entries, range.from, range.to);
            calendar::show(reader, range, &listed)
        }
    }
}

/// What was done to a todo.
fn marked(reader: &Reader, did: Did, todo: &TodoRow) -> String {
    let key = match did {
        Did::Added => "todo.added",
        Did::Finished => "todo.finished",
        Did::WasFinished => "todo.was_finished",
        Did::Reopened => "todo.reopened",
        Did::Changed | Did::Shown => "todo.changed",
    };
    let done = todo.done_at.map(|at| reader.moment(at)).unwrap_or_default();
    let (id, text) = (todo.id.to_string(), one_line(&todo.said.text));
    reader.text(key, &[("id", &id), ("text", &text), ("done", &done)])
}

/// What was deleted, by its text, or by its number alone if the text is gone already.
fn gone(reader: &Reader, all: &[Gone], key: &str, before: &str) -> String {
    let line = |gone: &Gone| {
        let id = gone.id.to_string();
        match &gone.text {
            Some(text) => reader.text(key, &[("id", &id), ("text", &one_line(text))]),
            None => reader.text(before, &[("id", &id)]),
        }
    };
    all.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn with_notices(reader: &Reader, line: String, notices: &[Notice]) -> String {
    let lines = std::iter::once(line).chain(notices.iter().map(|it| notice(reader, *it)));
    lines.collect::<Vec<_>>().join("\n")
}

fn notice(reader: &Reader, notice: Notice) -> String {
    let (key, at) = match notice {
        Notice::StartPast(at) => ("notice.start_past", at),
        Notice::DuePast(at) => ("notice.due_past", at),
        Notice::ReminderPast(at) => ("notice.reminder_past", at),
        Notice::ReminderGone(at) => ("notice.reminder_gone", at),
    };
    reader.text(key, &[("at", &reader.moment(at))])
}

/// What is wrong with a line that was meant as a command.
#[must_use]
pub fn wrong(reader: &Reader, wrong: &Wrong) -> String {
    let usage = |key: &str| {
        let how = reader.text(key, &[]);
        reader.text("command.usage", &[("how", &how)])
    };
    match wrong {
        Wrong::NoSuchCommand(name, Some(nearest)) => {
            reader.text("command.unknown_near", &[("name", name), ("nearest", nearest)])
        }
        Wrong::NoSuchCommand(name, None) => reader.text("command.unknown", &[("name", name)]),
        Wrong::Usage(key) => usage(key),
        Wrong::NotADate(text) => reader.text("command.not_a_date", &[("text", text)]),
        Wrong::SeveralTimes(text) => reader.text("command.several_times", &[("text", text)]),
        Wrong::Past(text) => reader.text("command.past", &[("text", text)]),
        Wrong::Deadline(text) => reader.text("command.deadline", &[("text", text)]),
        Wrong::ReminderAfter(text) => reader.text("command.reminder_after", &[("text", text)]),
        Wrong::Twice(option, key) => {
            let line = reader.text("command.twice", &[("option", option)]);
            format!("{line}\n{}", usage(key))
        }
        Wrong::NoTime(text) => {
            // An hour that is still ahead, whichever day was said.
            let hour = format!("{:02}", (reader.now.hour() + 1).clamp(9, 23));
            reader.text("command.no_time", &[("text", text), ("hour", &hour)])
        }
        Wrong::BadValue(option, text, key) => {
            let line = reader.text("command.bad_value", &[("option", option), ("text", text)]);
            format!("{line}\n{}", usage(key))
        }
        Wrong::NoSuchOption(option, key) => {
            let line = reader.text("command.no_such_option", &[("option", option)]);
            format!("{line}\n{}", usage(key))
        }
        Wrong::OneDash(option) => reader.text("command.one_dash", &[("option", option)]),
        Wrong::TooLong(key, most) => reader.text(key, &[("most", &most.to_string())]),
        Wrong::ReminderNeedsDue => reader.text("todo.reminder_needs_due", &[]),
        Wrong::TodosDoNotRepeat => reader.text("todo.does_not_repeat", &[]),
    }
}

fn with_details(reader: &Reader, line: String, details: &[String]) -> String {
    if details.is_empty() {
        return line;
    }
    reader.text("show.details", &[("line", &line), ("details", &reader.joined(details))])
}

fn todo_details(reader: &Reader, todo: &TodoRow) -> Vec<String> {
    let said = &todo.said;
    let mut details = Vec::new();
    let mut detail = |key: &str, value: Option<String>| {
        details.extend(value.map(|value| reader.text(key, &[("value", &value)])));
    };
    detail("todo.detail.due", said.due_at.map(|at| reader.moment(at)));
    detail("todo.detail.remind", said.remind_at.map(|at| reader.moment(at)));
    detail("todo.detail.priority", (said.priority > 0).then(|| said.priority.to_string()));
    let tag = Some(one_line(&said.tag)).filter(|tag| tag != kept::DEFAULT_TAG);
    detail("todo.detail.tag", tag);
    details
}

fn state(reader: &Reader, todo: &TodoRow) -> String {
    let now = reader.now.timestamp().as_millisecond();
    let key = match (todo.done_at, todo.said.due_at) {
        (Some(_), _) => "todo.state.done",
        (None, Some(due)) if due < now => "todo.state.overdue",
        (None, _) => "todo.state.open",
    };
    reader.text(key, &[])
}

fn show_todos(reader: &Reader, list: &TodoList) -> String {
    let todos = &list.todos;
    if todos.is_empty() {
        return none::show(reader, list);
    }
    let heads = ["id", "state", "priority", "due", "remind", "tag", "text"];
    let heads = heads.map(|name| reader.text(&format!("todo.head.{name}"), &[]));
    let mut table = Table::new(heads.to_vec());
    for todo in todos {
        let said = &todo.said;
        let at = |at: Option<UtcMs>| at.map_or("-".to_owned(), |at| reader.moment(at));
        table.row(vec![
            todo.id.to_string(),
            state(reader, todo),
            if said.priority > 0 { said.priority.to_string() } else { "-".to_owned() },
            at(said.due_at),
            at(said.remind_at),
            said.tag.clone(),
            said.text.clone(),
        ]);
    }
    let count = todos.len().to_string();
    let open = todos.iter().filter(|todo| todo.done_at.is_none()).count().to_string();
    let foot = reader.text("todo.count", &[("count", &count), ("open", &open)]);
    format!("{}\n{foot}", table.show(reader.width))
}

fn todo_card(reader: &Reader, todo: &TodoRow) -> String {
    let said = &todo.said;
    let at = |at: Option<UtcMs>| at.map_or("-".to_owned(), |at| reader.moment(at));
    let rows = [
        ("id", todo.id.to_string()),
        ("text", said.text.clone()),
        ("state", state(reader, todo)),
        ("tag", said.tag.clone()),
        ("priority", said.priority.to_string()),
        ("due", at(said.due_at)),
        ("remind", at(said.remind_at)),
        ("created", reader.moment(todo.created_at)),
        ("done", at(todo.done_at)),
    ];
    card(reader, "todo", &rows)
}

/// Names and values, one a line, the values under each other.
fn card(reader: &Reader, kind: &str, rows: &[(&str, String)]) -> String {
    let names: Vec<String> =
        rows.iter().map(|(name, _)| reader.text(&format!("{kind}.head.{name}"), &[])).collect();
    let widest = names.iter().map(|name| table::width(name)).max().unwrap_or(0);
    let lines = names
        .iter()
        .zip(rows)
        .map(|(name, (_, value))| format!("{}  {}", padded(name, widest), one_line(value)));
    lines.collect::<Vec<_>>().join("\n")
}

fn views(reader: &Reader) -> String {
    let line = |view: View| {
        let what = reader.text(&format!("view.{}", view.as_str()), &[]);
        format!("/view {}  {what}", padded(view.as_str(), 8))
    };
    View::ALL.map(line).join("\n")
}

fn entry_details(reader: &Reader, entry: &ScheduleRow) -> Vec<String> {
    let span = &entry.said.span;
    let mut details = vec![starts(reader, entry)];
    if !kept::is_reminder(entry) {
        let minutes = span.minutes.to_string();
        details.push(reader.text("schedule.detail.minutes", &[("value", &minutes)]));
    }
    details.extend(repeats(reader, entry));
    if let Some(next) = entry.remind_next {
        let at = reader.moment(next);
        details.push(reader.text("schedule.detail.remind", &[("value", &at)]));
    }
    details
}

/// When it is, on the entry's own wall where that is another one.
fn starts(reader: &Reader, entry: &ScheduleRow) -> String {
    let span = &entry.said.span;
    let here = reader.moment(span.starts_at);
    let zone = &span.zone;
    if reader.now.time_zone().iana_name() == Some(zone.as_str()) {
        return reader.text("schedule.detail.at", &[("at", &here), ("zone", zone)]);
    }
    let there = span.starts.replace('T', " ");
    let args = [("at", here.as_str()), ("there", there.as_str()), ("zone", zone.as_str())];
    reader.text("schedule.detail.at_there", &args)
}

/// How many minutes it takes, or that it is a reminder.
fn lasts(reader: &Reader, entry: &ScheduleRow) -> String {
    match kept::is_reminder(entry) {
        true => reader.text("schedule.is_reminder", &[]),
        false => entry.said.span.minutes.to_string(),
    }
}

fn entry_card(reader: &Reader, entry: &ScheduleRow, firings: &[Firing]) -> String {
    let said = &entry.said;
    let none = || "-".to_owned();
    let next = kept::series(entry).from(reader.now.timestamp()).next();
    let next = next.map_or_else(none, |found| reader.moment(found.at.as_millisecond()));
    let rows = [
        ("id", entry.id.to_string()),
        ("title", said.title.clone()),
        ("at", starts(reader, entry)),
        ("minutes", lasts(reader, entry)),
        ("repeat", repeats(reader, entry).unwrap_or_else(none)),
        ("next", next),
        ("remind", entry.remind_next.map_or_else(none, |at| reader.moment(at))),
    ];
    let mut text = card(reader, "schedule", &rows);
    for firing in firings {
        text.push('\n');
        text.push_str(&firing_line(reader, firing));
    }
    text
}
