//! Commands: lines that begin with a slash, as values. No model is involved.
//!
//! ```text
//!   line ──words──► verb ──► its own parser ──► Command ──► Desk::perform
//!                     └── unknown: the nearest name
//! ```

mod schedule;
mod todo;
mod verbs;
mod words;

pub use schedule::{NewEntry, ScheduleCommand, Stretch, Switch};
pub use todo::{Filter, NewTodo, TodoCommand, View};
pub use verbs::{VERBS, Verb, completions, find};
pub use words::{Words, is_command, normal};

use crate::time::{Precision, When, dates};
use jiff::{Timestamp, Zoned};

/// A command that was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// About todos.
    Todo(TodoCommand),
    /// About the schedule.
    Schedule(ScheduleCommand),
    /// About the conversation, its runs and this program: the surface's own to carry out.
    Talk(&'static Verb, String),
}

impl Command {
    /// Whether it only shows something.
    #[must_use]
    pub fn changes_nothing(&self) -> bool {
        match self {
            Self::Todo(command) => matches!(
                command,
                TodoCommand::List(..)
                    | TodoCommand::Get(_)
                    | TodoCommand::Search(..)
                    | TodoCommand::Views
            ),
            Self::Schedule(command) => matches!(
                command,
                ScheduleCommand::List | ScheduleCommand::Get(_) | ScheduleCommand::View(..)
            ),
            Self::Talk(..) => false,
        }
    }
}

/// Why a line is no command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wrong {
    /// There is no such command; the nearest one.
    NoSuchCommand(String, Option<&'static str>),
    /// Its arguments do not fit; how it is written, by the key of its usage line.
    Usage(&'static str),
    /// This is no date: the text.
    NotADate(String),
    /// A time of day is missing: the text.
    NoTime(String),
    /// A value does not fit its option: the option, the text, how the command is written.
    BadValue(&'static str, String, &'static str),
    /// There is no such option: the option, how the command is written.
    NoSuchOption(String, &'static str),
    /// A text is too long: the key of what to say, the most characters.
    TooLong(&'static str, usize),
    /// A reminder needs a due date.
    ReminderNeedsDue,
    /// Todos do not repeat.
    TodosDoNotRepeat,
}

/// Understands a line that begins with a slash. `now` is the person's time, in their zone.
///
/// # Errors
/// What is wrong with it.
pub fn parse(line: &str, now: &Zoned) -> Result<Command, Wrong> {
    let line = normal(line);
    let mut words = Words::of(line.trim_start_matches('/'));
    let name = words.next().unwrap_or_default();
    parse_words(&name, words, now)
}

/// Understands a command whose words are separate already.
///
/// # Errors
/// What is wrong with it.
pub fn parse_words(name: &str, words: Words, now: &Zoned) -> Result<Command, Wrong> {
    let Some(verb) = find(name) else {
        return Err(Wrong::NoSuchCommand(format!("/{name}"), verbs::nearest(name)));
    };
    match verb.name {
        "todo" => todo::parse(words, now).map(Command::Todo),
        "view" => todo::parse_view(words).map(Command::Todo),
        "schedule" => schedule::parse(words, now).map(Command::Schedule),
        _ => Ok(Command::Talk(verb, words.rest())),
    }
}

/// The canonical form of a command, with absolute dates, in the zone of `now`.
#[must_use]
pub fn canonical(command: &Command, now: &Zoned) -> String {
    match command {
        Command::Todo(command) => todo::canonical(command, now),
        Command::Schedule(command) => schedule::canonical(command, now),
        Command::Talk(verb, rest) => format!("/{} {rest}", verb.name).trim_end().to_owned(),
    }
}

/// What a day without a time of day means.
#[derive(Debug, Clone, Copy)]
enum DayMeans {
    /// Its last minute: something is due by the end of the day.
    End,
    /// Nine in the morning: that is when a person wants to hear of it.
    Morning,
}

/// The moment that a date option names.
fn moment(when: &When, now: &Zoned, day: DayMeans) -> Option<Timestamp> {
    if let Some(instant) = when.instant {
        return Some(instant);
    }
    let at = match (when.precision, day) {
        (Precision::Minute, _) => when.at,
        (Precision::Day, DayMeans::End) => when.at.date().at(23, 59, 0, 0),
        (Precision::Day, DayMeans::Morning) => when.at.date().at(9, 0, 0, 0),
    };
    at.to_zoned(now.time_zone().clone()).ok().map(|zoned| zoned.timestamp())
}

/// The longest date among the words that follow; none for the word `none`.
fn date_option(words: &mut Words, now: &Zoned, usage: &'static str) -> Result<Option<When>, Wrong> {
    leading_date(words, now, usage, 1)
}

/// The same where the text is there already: whatever follows is the date, or a mistake in it.
fn date_alone(words: &mut Words, now: &Zoned, usage: &'static str) -> Result<Option<When>, Wrong> {
    let least = if words.is_quoted() { 1 } else { words.until_option().max(1) };
    leading_date(words, now, usage, least)
}

fn leading_date(
    words: &mut Words,
    now: &Zoned,
    usage: &'static str,
    least: usize,
) -> Result<Option<When>, Wrong> {
    let most = words.until_option();
    if most > 0 && matches!(words.peek(1).as_str(), "none" | "-") {
        words.skip(1);
        return Ok(None);
    }
    for count in (least..=most).rev() {
        if let Some(when) = dates::parse(&words.peek(count), now) {
            words.skip(count);
            return Ok(Some(when));
        }
    }
    match most {
        0 => Err(Wrong::Usage(usage)),
        _ => Err(Wrong::NotADate(words.peek(most))),
    }
}

/// A moment as commands write it, on the wall of `now`'s zone.
#[must_use]
pub fn written(at: Timestamp, now: &Zoned) -> String {
    at.to_zoned(now.time_zone().clone()).strftime("%Y-%m-%d %H:%M").to_string()
}

/// The command as it was understood, if its dates were said in other words than they are kept.
/// Shown before anything is saved.
#[must_use]
pub fn echo(line: &str, command: &Command, now: &Zoned) -> Option<String> {
    let dates: Vec<String> = match command {
        Command::Todo(TodoCommand::Add(new) | TodoCommand::Update(_, new)) => {
            let moments = [new.due.flatten(), new.remind.flatten()];
            moments.into_iter().flatten().map(|at| written(at, now)).collect()
        }
        Command::Schedule(ScheduleCommand::Add(new) | ScheduleCommand::Update(_, new)) => {
            let moments = [Some(new.starts_at), new.remind.flatten(), new.remind_from.flatten()];
            moments.into_iter().flatten().map(|at| written(at, now)).collect()
        }
        _ => Vec::new(),
    };
    let said = dates.iter().all(|date| line.contains(date));
    (!said).then(|| canonical(command, now))
}

/// Whether a command leads to a run that is then looked at.
#[must_use]
pub fn follows(line: &str) -> bool {
    let line = normal(line);
    let name = line.trim_start_matches('/').split_whitespace().next().unwrap_or_default();
    find(name).is_some_and(|verb| matches!(verb.name, "resume" | "fork" | "settle" | "tour"))
}
