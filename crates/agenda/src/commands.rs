//! The agenda's commands: lines that begin with a slash, as values. No model is involved.
//!
//! ```text
//!   line ──words──► verb ──► its own parser ──► AgendaCommand ──► Agenda::perform
//!                     └── unknown: the nearest name
//! ```
//!
//! Deliberately absent: the commands about a conversation (the application's).

mod marks;
mod moves;
mod notes;
mod options;
mod run_options;
mod schedule;
mod todo;
mod update;
mod verbs;
mod words;

pub(crate) use marks::add_tags;
pub use notes::{CommandNote, notes};
pub use options::{Remind, priority};
pub use run_options::RunChange;
pub use schedule::{CalendarView, FirstOccurrence, NewEntry, RepeatSwitch, ScheduleCommand};
pub use todo::{NewTodo, TodoCommand, TodoFilter, TodoMark, TodoView};
pub use update::{TimeShift, shifted};
pub use verbs::{AgendaVerb, nearest_name};
pub use words::{CommandWords, normal, normal_with};

use words::quoted;

use crate::time::{CronError, says_several_times};
use everloop_text::{self as text, Text};
use everloop_types::Lang;
use jiff::{Timestamp, Zoned};

/// A command that was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgendaCommand {
    /// About todos.
    Todo(TodoCommand),
    /// About the schedule.
    Schedule(ScheduleCommand),
}

impl AgendaCommand {
    /// Whether it only shows saved items.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        use ScheduleCommand as S;
        use TodoCommand as T;
        match self {
            Self::Todo(T::List(..) | T::Get(_) | T::Search(..) | T::Views | T::MarkAll(..)) => true,
            Self::Schedule(S::List | S::Get(_) | S::View(..) | S::Runs(_)) => true,
            Self::Todo(_) | Self::Schedule(_) => false,
        }
    }
}

/// Why a line is not a valid command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandError {
    /// There is no such command; the nearest one.
    NoSuchCommand(String, Option<&'static str>),
    /// Its arguments do not fit: the usage.
    Usage(Text),
    /// This piece of a date is not understood: the text.
    NotADate(String),
    /// One entry has one time of day: the text.
    SeveralTimes(String),
    /// This moment is over: the text.
    Past(String),
    /// A deadline is not a time at which something takes place: the text.
    Deadline(String),
    /// A reminder would come after its event: the text.
    ReminderAfter(String),
    /// An option was given twice: its name, the usage.
    Twice(&'static str, Text),
    /// A time of day is missing: the text.
    NoTime(String),
    /// A value does not fit its option: the option, the text, the usage.
    BadValue(&'static str, String, Text),
    /// There is no such option: the option, the usage.
    NoSuchOption(String, Text),
    /// An option with one dash: its name.
    OneDash(String),
    /// A text is too long: the message.
    TooLong(Text),
    /// A reminder needs a due date.
    ReminderNeedsDue,
    /// Todos do not repeat.
    TodosDoNotRepeat,
    /// A cron expression cannot be used: the text, and why.
    BadCron(String, CronError),
    /// There is no such time zone: the name.
    NoSuchZone(String),
}

impl CommandError {
    /// Why a text was not understood.
    pub(crate) fn unclear(text: &str, piece: String) -> Self {
        match says_several_times(text) {
            true => Self::SeveralTimes(piece),
            false => Self::NotADate(piece),
        }
    }
}

/// Parses a line that begins with a slash and names a command of the agenda. `now` is the user's
/// time, in their zone.
///
/// # Errors
/// What is wrong with it.
pub fn parse(line: &str, now: &Zoned) -> Result<AgendaCommand, CommandError> {
    let line = normal(line);
    let mut words = CommandWords::of(line.trim_start_matches('/'));
    let name = words.next().unwrap_or_default();
    match AgendaVerb::find(&name) {
        Some(verb) => parse_words(verb, words, now),
        None => {
            let nearest = nearest_name(&name, &AgendaVerb::ALL.map(AgendaVerb::name));
            Err(CommandError::NoSuchCommand(format!("/{name}"), nearest))
        }
    }
}

/// Parses a command whose words are split already.
///
/// # Errors
/// What is wrong with it.
pub fn parse_words(
    verb: AgendaVerb,
    words: CommandWords,
    now: &Zoned,
) -> Result<AgendaCommand, CommandError> {
    if let Some(name) = words.one_dash() {
        return Err(CommandError::OneDash(name));
    }
    match verb {
        AgendaVerb::Snooze => marks::snooze(words, now).map(AgendaCommand::Todo),
        AgendaVerb::Done if words.is_empty() => Ok(AgendaCommand::Todo(TodoCommand::DoneReminded)),
        AgendaVerb::Done => {
            marks::mark(words, text::usage::done, TodoMark::Done).map(AgendaCommand::Todo)
        }
        AgendaVerb::Schedule if words.peek(1).eq_ignore_ascii_case("undo") => {
            let mut words = words;
            words.skip(1);
            marks::undo(words).map(AgendaCommand::Todo)
        }
        AgendaVerb::Todo => todo::parse(words, now).map(AgendaCommand::Todo),
        AgendaVerb::View => todo::parse_view(words).map(AgendaCommand::Todo),
        AgendaVerb::Schedule => schedule::parse(words, now).map(AgendaCommand::Schedule),
    }
}

/// The canonical form of a command, with absolute dates, in the zone of `now`.
#[must_use]
pub fn canonical(command: &AgendaCommand, now: &Zoned) -> String {
    canonical_in(command, now, Lang::En)
}

/// The canonical form of a line in the user's language; a line that is not a command stays as it
/// is.
#[must_use]
pub fn shown(line: &str, now: &Zoned, lang: Lang) -> String {
    let command = parse(line, now);
    command.map_or_else(|_| line.to_owned(), |command| canonical_in(&command, now, lang))
}

fn canonical_in(command: &AgendaCommand, now: &Zoned, lang: Lang) -> String {
    match command {
        AgendaCommand::Todo(command) => todo::canonical(command, now, lang),
        AgendaCommand::Schedule(command) => schedule::canonical(command, now, lang),
    }
}

/// A moment for display, in the zone of `now`.
#[must_use]
pub fn written(at: Timestamp, now: &Zoned) -> String {
    at.to_zoned(now.time_zone().clone()).strftime("%Y-%m-%d %H:%M").to_string()
}

/// A moment as commands write it: with seconds if they are not 0.
fn exact(at: Timestamp, now: &Zoned) -> String {
    let zoned = at.to_zoned(now.time_zone().clone());
    let form = if zoned.second() == 0 { "%Y-%m-%d %H:%M" } else { "%Y-%m-%d %H:%M:%S" };
    zoned.strftime(form).to_string()
}

/// The command as it was understood, if its dates were written differently. Shown before anything
/// is saved.
#[must_use]
pub fn echo(line: &str, command: &AgendaCommand, now: &Zoned, lang: Lang) -> Option<String> {
    let (moments, is_counted): (Vec<Option<Timestamp>>, bool) = match command {
        AgendaCommand::Todo(TodoCommand::Add(new) | TodoCommand::Update(_, new)) => {
            let remind = new.remind.and_then(Remind::moment);
            let is_counted = new.remind.is_some_and(Remind::is_before) || new.shift.is_some();
            (vec![new.due.flatten(), remind], is_counted)
        }
        AgendaCommand::Schedule(ScheduleCommand::Add(new) | ScheduleCommand::Update(_, new)) => {
            let start = new.start.map(|start| start.at);
            let remind = new.remind.and_then(Remind::moment);
            let repeat = new.repeat.is_some() && !line.contains("--repeat");
            let is_counted =
                new.remind.is_some_and(Remind::is_before) || repeat || new.shift.is_some();
            (vec![start, remind, new.remind_from.flatten()], is_counted)
        }
        _ => (Vec::new(), false),
    };
    let mut dates = moments.into_iter().flatten().map(|at| exact(at, now));
    let said = dates.all(|date| line.contains(&date)) && !is_counted;
    (!said).then(|| canonical_in(command, now, lang))
}

/// The year of a command's date, if it is not this one and the line neither says so nor counts
/// from today.
#[must_use]
pub fn other_year(line: &str, command: &AgendaCommand, now: &Zoned) -> Option<i16> {
    let year = notes::dated(command)?.to_zoned(now.time_zone().clone()).year();
    let said = words::plain(line).to_lowercase();
    let is_short = words::typed::short_years(year);
    let is_said = said.contains(&year.to_string())
        || words::typed::YEARS.iter().any(|word| said.contains(word))
        || words::typed::written_year(year).iter().any(|word| said.contains(word))
        || said.split_whitespace().any(|word| is_short.iter().any(|it| word.starts_with(it)));
    let is_counted = words::typed::FROM_TODAY.iter().any(|word| said.contains(word));
    (year != now.year() && !is_said && !is_counted).then_some(year)
}
