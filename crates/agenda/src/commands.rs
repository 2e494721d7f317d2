//! Commands: lines that begin with a slash, as values. No model is involved.
//!
//! ```text
//!   line ──words──► verb ──► its own parser ──► Command ──► Agenda::perform
//!                     └── unknown: the nearest name
//! ```

mod moves;
mod options;
mod schedule;
mod todo;
mod update;
mod verbs;
mod words;

pub use options::Remind;
pub use schedule::{NewEntry, ScheduleCommand, Start, Stretch, Switch};
pub use todo::{Filter, Mark, NewTodo, TodoCommand, View};
pub use update::{Shift, shifted};
pub use verbs::{VERBS, Verb, completions, find};
pub use words::{Words, is_command, normal};

use crate::time::says_several_times;
use everloop_text::Text;
use everloop_types::Lang;
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
    /// Whether it only shows something that is kept.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        use ScheduleCommand as S;
        use TodoCommand as T;
        match self {
            Self::Todo(T::List(..) | T::Get(_) | T::Search(..) | T::Views) => true,
            Self::Schedule(S::List | S::Get(_) | S::View(..)) => true,
            Self::Todo(_) | Self::Schedule(_) | Self::Talk(..) => false,
        }
    }
}

/// Why a line is no command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wrong {
    /// There is no such command; the nearest one.
    NoSuchCommand(String, Option<&'static str>),
    /// Its arguments do not fit; how it is written.
    Usage(Text),
    /// This piece of a date is not understood: the text.
    NotADate(String),
    /// One entry has one time of day: the text.
    SeveralTimes(String),
    /// This moment is over: the text.
    Past(String),
    /// A deadline is no time at which something takes place: the text.
    Deadline(String),
    /// A reminder would come after what it reminds of: the text.
    ReminderAfter(String),
    /// An option was given twice: its name, how the command is written.
    Twice(&'static str, Text),
    /// A time of day is missing: the text.
    NoTime(String),
    /// A value does not fit its option: the option, the text, how the command is written.
    BadValue(&'static str, String, Text),
    /// There is no such option: the option, how the command is written.
    NoSuchOption(String, Text),
    /// An option with one dash: its name.
    OneDash(String),
    /// A text is too long: what to say.
    TooLong(Text),
    /// A reminder needs a due date.
    ReminderNeedsDue,
    /// Todos do not repeat.
    TodosDoNotRepeat,
}

impl Wrong {
    /// Why a text was not understood.
    pub(crate) fn unclear(text: &str, piece: String) -> Self {
        match says_several_times(text) {
            true => Self::SeveralTimes(piece),
            false => Self::NotADate(piece),
        }
    }
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
    if let Some(name) = words.one_dash().filter(|_| verb.is_kept()) {
        return Err(Wrong::OneDash(name));
    }
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
    canonical_in(command, now, Lang::En)
}

/// The canonical form of a line in a person's language; of one that is no command, as it is.
#[must_use]
pub fn shown(line: &str, now: &Zoned, lang: Lang) -> String {
    let command = parse(line, now);
    command.map_or_else(|_| line.to_owned(), |command| canonical_in(&command, now, lang))
}

fn canonical_in(command: &Command, now: &Zoned, lang: Lang) -> String {
    match command {
        Command::Todo(command) => todo::canonical(command, now, lang),
        Command::Schedule(command) => schedule::canonical(command, now, lang),
        Command::Talk(verb, rest) => format!("/{} {rest}", verb.name).trim_end().to_owned(),
    }
}

/// A moment as it is shown, on the wall of `now`'s zone.
#[must_use]
pub fn written(at: Timestamp, now: &Zoned) -> String {
    at.to_zoned(now.time_zone().clone()).strftime("%Y-%m-%d %H:%M").to_string()
}

/// A moment as commands write it: to the second, if it has any.
fn exact(at: Timestamp, now: &Zoned) -> String {
    let zoned = at.to_zoned(now.time_zone().clone());
    let form = if zoned.second() == 0 { "%Y-%m-%d %H:%M" } else { "%Y-%m-%d %H:%M:%S" };
    zoned.strftime(form).to_string()
}

/// The command as it was understood, if its dates were said in other words than they are kept.
/// Shown before anything is saved.
#[must_use]
pub fn echo(line: &str, command: &Command, now: &Zoned, lang: Lang) -> Option<String> {
    let (moments, is_counted): (Vec<Option<Timestamp>>, bool) = match command {
        Command::Todo(TodoCommand::Add(new) | TodoCommand::Update(_, new)) => {
            let remind = new.remind.and_then(Remind::moment);
            let is_counted = new.remind.is_some_and(Remind::is_before) || new.shift.is_some();
            (vec![new.due.flatten(), remind], is_counted)
        }
        Command::Schedule(ScheduleCommand::Add(new) | ScheduleCommand::Update(_, new)) => {
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

/// The year of a command's date, if it is not this one and the line does not say so.
#[must_use]
pub fn other_year(line: &str, command: &Command, now: &Zoned) -> Option<i16> {
    let at = match command {
        Command::Todo(TodoCommand::Add(new) | TodoCommand::Update(_, new)) => new.due.flatten(),
        Command::Schedule(ScheduleCommand::Add(new) | ScheduleCommand::Update(_, new)) => {
            new.start.map(|start| start.at)
        }
        _ => None,
    };
    let year = at?.to_zoned(now.time_zone().clone()).year();
    let said = words::plain(line).to_lowercase();
    let is_said = said.contains(&year.to_string())
        || words::typed::YEARS.iter().any(|word| said.contains(word));
    (year != now.year() && !is_said).then_some(year)
}

/// Whether a command leads to a run that is then looked at.
#[must_use]
pub fn follows(line: &str) -> bool {
    let line = normal(line);
    let name = line.trim_start_matches('/').split_whitespace().next().unwrap_or_default();
    find(name).is_some_and(|verb| matches!(verb.name, "resume" | "fork" | "settle" | "tour"))
}
