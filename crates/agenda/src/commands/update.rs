//! `/todo update` and `/schedule update`: the given values change, and the rest stays.
//!
//! A time of day alone keeps the day, a day alone keeps the time, an amount moves both. The saved
//! time is known only when the command is carried out, so the command records the kind of change. A
//! correction of an unsaved item is parsed the same way.

use super::options::{self, DayMeans, Remind, ahead_of_now, moment};
use super::schedule::{self, NewEntry};
use super::todo::{self, NewTodo, TEXT_CHARS_MAX, TodoInput};
use super::words::{CommandWords, unquoted};
use super::{CommandError, moves};
use crate::time::{LeadTime, ParsedDate, ParsedText, Precision, SpokenRepeat, TextSubject, texts};
use everloop_text as text;
use jiff::civil::{Date, DateTime, Time};
use jiff::{Timestamp, ToSpan, Zoned};

/// An incomplete change of a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeShift {
    /// The same day, at this minute of it.
    Time(i64),
    /// The same day, at an hour without am or pm: in the same half of the day as before.
    OpenTime(i64),
    /// The same time, on this day.
    Day(Date),
    /// This much later.
    Later(LeadTime),
    /// This much earlier.
    Earlier(LeadTime),
}

impl TimeShift {
    pub(super) fn of(when: &ParsedDate) -> Option<Self> {
        match when.precision {
            Precision::Day => Some(Self::Day(when.at.date())),
            Precision::Part => None,
            Precision::Minute if when.is_open => when.clock.map(Self::OpenTime),
            Precision::Minute => when.clock.map(Self::Time),
        }
    }

    /// Applies the change to a moment.
    #[must_use]
    pub fn apply(self, was: &Zoned) -> Option<Zoned> {
        let wall = match self {
            Self::Time(minute) => at_minute(was, minute)?,
            Self::OpenTime(minute) => {
                let is_later = was.hour() >= 12 && minute < NOON;
                at_minute(was, if is_later { minute + NOON } else { minute })?
            }
            Self::Day(date) => date.to_datetime(was.time()),
            Self::Later(amount) => return amount.after(was),
            Self::Earlier(amount) => return amount.before(was),
        };
        wall.to_zoned(was.time_zone().clone()).ok()
    }

    /// Whether it is a part of a date, not an amount.
    pub(super) fn is_part(self) -> bool {
        matches!(self, Self::Time(_) | Self::OpenTime(_) | Self::Day(_))
    }

    /// The change as a command writes it.
    pub(super) fn words(self) -> String {
        match self {
            Self::Time(minute) => format!("{:02}:{:02}", minute / 60, minute % 60),
            Self::OpenTime(minute) if minute % 60 == 0 => format!("at {}", minute / 60),
            Self::OpenTime(minute) => format!("{}:{:02}", minute / 60, minute % 60),
            Self::Day(date) => date.to_string(),
            Self::Later(amount) => format!("postpone by {}", amount.amounts().join(" ")),
            Self::Earlier(amount) => format!("bring forward by {}", amount.amounts().join(" ")),
        }
    }
}

/// The minute in which the second half of a day begins.
const NOON: i64 = 12 * 60;

fn at_minute(was: &Zoned, minute: i64) -> Option<DateTime> {
    was.date().to_datetime(Time::midnight()).checked_add(minute.minutes()).ok()
}

/// The moment after a change in words, if there is one: "改到四点", "Friday".
#[must_use]
pub fn shifted(was: Timestamp, words: &str, now: &Zoned) -> Option<Timestamp> {
    let was = was.to_zoned(now.time_zone().clone());
    if let Some(shift) = moves::amount(words) {
        return shift.apply(&was).map(|at| at.timestamp());
    }
    let when = options::date(moves::target(words).unwrap_or(words), now).ok()?;
    if when.repeat.is_some() {
        return None;
    }
    match TimeShift::of(&when) {
        Some(shift) => shift.apply(&was).map(|at| at.timestamp()),
        None => moment(&when, now, DayMeans::End),
    }
}

/// The changes of an entry: a date, a title, both or neither, and options.
pub(super) fn entry(mut words: CommandWords, now: &Zoned) -> Result<NewEntry, CommandError> {
    let text = words.written();
    words.skip(words.until_option());
    let mut entry = NewEntry::default();
    let mut more = String::new();
    schedule::options(&mut entry, &mut words, now, schedule::UPDATE, &mut more)?;
    let text = format!("{text} {more}").trim().to_owned();
    if entry.mixes_run_and_event() || entry.zone.is_some() {
        return Err(CommandError::Usage(schedule::UPDATE()));
    }
    if let Some(cron) = entry.run.as_ref().and_then(|run| run.cron.clone()) {
        entry.set_cron(&cron, now)?;
        entry.title = (!text.is_empty()).then(|| unquoted(&text).to_owned());
        return Ok(entry);
    }
    entry.shift = moves::amount(&text);
    if !text.is_empty() && entry.shift.is_none() {
        match read(&text, now, TextSubject::Entry)? {
            ParsedText { when: Some(when), title, phrase, ahead, is_exact } => {
                let read = ParsedText { when: None, title, phrase, ahead, is_exact };
                match TimeShift::of(&when).filter(|_| !when.is_deadline) {
                    Some(shift) => move_part(&mut entry, shift, &read, when, now)?,
                    None => schedule::fill(&mut entry, &read, &when, now)?,
                }
            }
            // A bare number is ambiguous: an hour or a title.
            ParsedText { title, .. } if title.parse::<u32>().is_ok() => {
                return Err(CommandError::Usage(schedule::UPDATE()));
            }
            ParsedText { title, .. } => entry.title = Some(unquoted(&title).to_owned()),
        }
    }
    entry.title = entry.title.filter(|title| !title.is_empty());
    if entry == NewEntry::default() {
        return Err(CommandError::Usage(schedule::UPDATE()));
    }
    let title = entry.title.as_deref().unwrap_or_default();
    todo::short(text::command::text_too_long, title, TEXT_CHARS_MAX)?;
    Ok(entry)
}

/// A date of which a part stays the same.
fn move_part(
    entry: &mut NewEntry,
    shift: TimeShift,
    read: &ParsedText,
    when: ParsedDate,
    now: &Zoned,
) -> Result<(), CommandError> {
    let when = ahead_of_now(when, &read.phrase, now)?;
    entry.shift = Some(shift);
    entry.minutes = entry.minutes.or(when.minutes);
    let said = when.repeat.map(|repeat| Some(SpokenRepeat::from(repeat)));
    entry.repeat = entry.repeat.take().or(said);
    entry.times = entry.times.or(when.times.map(|times| Some(i64::from(times))));
    entry.remind = entry.remind.or(read.ahead.map(Remind::Before));
    entry.title = Some(unquoted(read.title.trim()).trim().to_owned());
    Ok(())
}

/// The changes of a todo. A text that is a date is its due date.
pub(super) fn todo(words: CommandWords, now: &Zoned) -> Result<NewTodo, CommandError> {
    let TodoInput { mut todo, mut text, verbatim } = todo::said_of_todo(words, now, todo::UPDATE)?;
    if todo.due.is_none() && !verbatim && !text.is_empty() {
        if let Some(shift) = moves::amount(&text) {
            todo.shift = Some(shift);
            text.clear();
        } else {
            let read = read(&text, now, TextSubject::Todo)?;
            if let Some(when) = read.when {
                if when.repeat.is_some() {
                    return Err(CommandError::TodosDoNotRepeat);
                }
                let when = ahead_of_now(when, &read.phrase, now)?;
                todo.due = moment(&when, now, DayMeans::End).map(Some);
                todo.shift = TimeShift::of(&when);
                todo.remind = todo.remind.or(read.ahead.map(Remind::Before));
                text = read.title;
            }
        }
    }
    let todo = NewTodo { text: (!text.is_empty()).then_some(text), ..todo };
    if todo == NewTodo::default() { Err(CommandError::Usage(todo::UPDATE())) } else { Ok(todo) }
}

/// A text with a date. Words for moving are not part of the title: the date follows them.
fn read(text: &str, now: &Zoned, about: TextSubject) -> Result<ParsedText, CommandError> {
    let unclear = |unclear: texts::UnclearPhrase| CommandError::unclear(text, unclear.0);
    let Some(target) = moves::target(text) else {
        return texts::read(text, now, about).map_err(unclear);
    };
    let read = texts::read(target, now, about).map_err(unclear)?;
    match (&read.when, read.title.is_empty()) {
        (Some(_), true) => Ok(read),
        (Some(_), false) => Err(CommandError::NotADate(read.title)),
        // "move to Berlin" is something to do.
        (None, _) => texts::read(text, now, about).map_err(unclear),
    }
}
