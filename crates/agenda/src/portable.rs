//! Todos and entries in files of other programs: todos as todo.txt, the schedule as iCalendar.
//!
//! ```text
//!   rows ──write──► text     text ──read──► PortableFile ──import──► rows, ImportSummary
//! ```
//!
//! Unique ids (`uid`) are kept, so importing the same file twice changes nothing. Of a calendar
//! only the title, time, repetition and one reminder are imported. Deliberately absent: file access
//! (the user interfaces').

pub mod ics_read;
pub mod ics_write;
pub mod todo_txt;

mod ics_lines;
mod ics_rule;
mod ics_zone;
mod take;

use crate::desk::Agenda;
use crate::show::DisplayContext;
use everloop_store::{ScheduleText, Store, StoreError, TodoText};
use everloop_text::{self as text, Text};
use everloop_types::UtcMs;
use jiff::Zoned;
use jiff::civil::Date;
use std::fmt::Display;

/// What is exported or imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortableContent {
    /// Todos: out as todo.txt, in as that or as a calendar.
    Todos,
    /// The schedule, as a calendar.
    Schedule,
    /// Both, as one calendar.
    All,
}

impl PortableContent {
    /// The content of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "todos" | "todo" => Some(Self::Todos),
            "schedule" => Some(Self::Schedule),
            "all" => Some(Self::All),
            _ => None,
        }
    }

    /// The file extension.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Todos => "txt",
            Self::Schedule | Self::All => "ics",
        }
    }
}

/// A todo of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedTodo {
    /// Where it begins in the file, from 1.
    pub line: usize,
    /// Its unique id; derived from its text if the file has none.
    pub uid: String,
    /// Its content.
    pub said: TodoText,
    /// Whether it is done.
    pub done: Option<CompletionTime>,
    /// When it was created, if the file says so.
    pub created_at: Option<UtcMs>,
}

/// When a todo was done, as exactly as the file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompletionTime {
    /// To the second.
    At(UtcMs),
    /// On this day.
    On(Date),
    /// Unknown.
    Sometime,
}

/// An entry of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedEntry {
    /// Where it begins in the file, from 1.
    pub line: usize,
    /// Its unique id.
    pub uid: String,
    /// Its content.
    pub said: ScheduleText,
    /// When it was created, if the file says so.
    pub created_at: Option<UtcMs>,
}

/// The content of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PortableFile {
    /// Its todos.
    pub todos: Vec<ImportedTodo>,
    /// Its entries of the schedule.
    pub entries: Vec<ImportedEntry>,
    /// What could not be imported unchanged.
    pub problems: Vec<FileProblem>,
}

/// Something that could not be imported unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileProblem {
    /// The line, from 1.
    pub line: usize,
    /// Its kind.
    pub trouble: FileProblemKind,
    /// The text of the file that it is about.
    pub detail: String,
}

/// Kinds of problems. The first ones drop the whole item, the others a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileProblemKind {
    /// The file is not a calendar.
    NotACalendar,
    /// A part of the calendar is not closed, or closed without having begun.
    Unbalanced,
    /// A line is not a valid calendar line.
    NotALine,
    /// There is no text or title.
    NoText,
    /// The text is too long.
    TooLong,
    /// An invalid date, or a missing one.
    BadDate,
    /// An invalid priority.
    BadPriority,
    /// A unique id that occurs twice in the file.
    Twice,
    /// An entry that was canceled.
    CalledOff,
    /// A single occurrence that differs from its series.
    Exception,
    /// Days on which a repetition does not take place.
    ExceptDays,
    /// An invalid date that can be left out.
    DateLeftOut,
    /// A repetition that has no counterpart here.
    Repetition,
    /// An unknown zone.
    Zone,
    /// A reminder that has no counterpart here.
    Reminder,
}

impl FileProblemKind {
    /// The message for the user.
    fn text(self, detail: &dyn Display) -> Text {
        use text::exchange::trouble;
        match self {
            Self::NotACalendar => trouble::not_a_calendar(),
            Self::Unbalanced => trouble::unbalanced(detail),
            Self::NotALine => trouble::not_a_line(detail),
            Self::NoText => trouble::no_text(),
            Self::TooLong => trouble::too_long(),
            Self::BadDate => trouble::bad_date(detail),
            Self::BadPriority => trouble::bad_priority(detail),
            Self::Twice => trouble::twice(detail),
            Self::CalledOff => trouble::called_off(detail),
            Self::Exception => trouble::exception(detail),
            Self::ExceptDays => trouble::except_days(detail),
            Self::DateLeftOut => trouble::date_left_out(detail),
            Self::Repetition => trouble::repetition(detail),
            Self::Zone => trouble::zone(detail),
            Self::Reminder => trouble::reminder(),
        }
    }
}

/// The result of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportSummary {
    /// New items.
    pub added: usize,
    /// Existing items that were changed.
    pub changed: usize,
    /// Existing items that are the same.
    pub same: usize,
    /// New or changed entries that conflict with others.
    pub conflicts: usize,
    /// What could not be imported unchanged, by line.
    pub problems: Vec<FileProblem>,
}

impl ImportSummary {
    fn and(mut self, other: Self) -> Self {
        self.added += other.added;
        self.changed += other.changed;
        self.same += other.same;
        self.conflicts += other.conflicts;
        self.problems.extend(other.problems);
        self
    }
}

/// The saved items as the text of a file.
///
/// # Errors
/// If the store fails.
pub async fn export(
    what: PortableContent,
    store: &Store,
    reader: &DisplayContext,
) -> Result<String, StoreError> {
    let now = &reader.now;
    // An entry that starts runs is none of a calendar's.
    let mut entries = store.agenda().schedules().await?;
    entries.retain(|entry| entry.said.run.is_none());
    Ok(match what {
        PortableContent::Todos => todo_txt::write(&store.agenda().todos().await?, now.time_zone()),
        PortableContent::Schedule => ics_write::write(&entries, &[], now),
        PortableContent::All => ics_write::write(&entries, &store.agenda().todos().await?, now),
    })
}

/// The saved todos as a calendar.
///
/// # Errors
/// If the store fails.
pub async fn todo_calendar(store: &Store, reader: &DisplayContext) -> Result<String, StoreError> {
    Ok(ics_write::write(&[], &store.agenda().todos().await?, &reader.now))
}

/// Imports the text of a file. A calendar is recognized by its first line; only `what` is imported
/// from it.
///
/// # Errors
/// If the store fails. Items that were imported before stay, and the import can be repeated.
pub async fn import(
    what: PortableContent,
    text: &str,
    desk: &Agenda,
    reader: &DisplayContext,
) -> Result<ImportSummary, StoreError> {
    let now = &reader.now;
    let parsed = match (ics_read::is_calendar(text), what) {
        (true, _) | (false, PortableContent::Schedule) => ics_read::read(text, now),
        (false, PortableContent::Todos | PortableContent::All) => todo_txt::read(text, now),
    };
    let mut done = ImportSummary { problems: parsed.problems, ..ImportSummary::default() };
    if what != PortableContent::Schedule {
        done = done.and(desk.import_todos(parsed.todos, now).await?);
    }
    if what != PortableContent::Todos {
        done = done.and(desk.import_schedule(parsed.entries, now).await?);
    }
    done.problems.sort_by_key(|problem| problem.line);
    Ok(done)
}

/// Problems that are listed one by one.
const PROBLEMS_TOLD: usize = 20;

/// Characters of a problem's detail that are shown.
const DETAIL_CHARS: usize = 60;

/// The result of an import as text.
#[must_use]
pub fn exchange_words(reader: &DisplayContext, imported: &ImportSummary) -> String {
    let mut lines = vec![
        reader.text(
            text::exchange::Counts {
                added: &imported.added,
                changed: &imported.changed,
                same: &imported.same,
            }
            .text(),
        ),
    ];
    if imported.conflicts > 0 {
        let count = imported.conflicts.to_string();
        lines.push(reader.text(text::exchange::conflicts(&count)));
    }
    lines.extend(imported.problems.iter().take(PROBLEMS_TOLD).map(|problem| {
        let detail: String = problem.detail.chars().take(DETAIL_CHARS).collect();
        let what = reader.text(problem.trouble.text(&detail));
        let line = problem.line.to_string();
        reader.text(text::exchange::problem(&line, &what))
    }));
    if imported.problems.len() > PROBLEMS_TOLD {
        let count = (imported.problems.len() - PROBLEMS_TOLD).to_string();
        lines.push(reader.text(text::exchange::more_problems(&count)));
    }
    lines.join("\n")
}

/// A unique id for an item without one: the same content always gets the same id.
fn derived_uid(content: &str, origin: &str) -> String {
    let hash = blake3::hash(content.as_bytes()).to_hex();
    format!("{}@{origin}", &hash.as_str()[..24])
}

/// The maximum length of an imported text in characters.
const TEXT_CHARS_MAX: usize = 2_000;

/// The problem of a text that cannot be saved.
fn text_trouble(text: &str) -> Option<FileProblemKind> {
    if text.trim().is_empty() {
        return Some(FileProblemKind::NoText);
    }
    (text.chars().count() > TEXT_CHARS_MAX).then_some(FileProblemKind::TooLong)
}

/// The last minute of a day in the user's zone: when something of that day is due.
fn end_of_day(date: Date, now: &Zoned) -> Option<UtcMs> {
    let wall = date.at(23, 59, 0, 0);
    let at = now.time_zone().to_ambiguous_timestamp(wall).compatible().ok()?;
    Some(at.as_millisecond())
}
