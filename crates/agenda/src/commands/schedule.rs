//! `/schedule`.

use super::options::{self, DayMeans, Remind, ahead_of_now, moment};
use super::run_options::{self, RunChange};
use super::todo::{TEXT_CHARS_MAX, once, remind_words};
use super::update::{self, TimeShift};
use super::words::{CommandWords, known, plain, quoted, unquoted};
use super::{CommandError, exact};
use crate::time::{
    ParsedDate, ParsedText, Precision, Repeat, SpokenRepeat, TextSubject, dates, lengths, optional,
    texts,
};
use everloop_text::{self as text, Text};
use everloop_types::Lang;
use jiff::civil::{Date, DateTime};
use jiff::{Timestamp, Zoned};

/// A command about the schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScheduleCommand {
    /// A new entry.
    Add(NewEntry),
    /// The entries around now.
    List,
    /// One entry.
    Get(i64),
    /// A calendar view.
    View(CalendarView, Date),
    /// The given values change; the rest stays.
    Update(i64, NewEntry),
    /// Whether it repeats.
    Repeat(i64, RepeatSwitch),
    /// They are deleted.
    Delete(Vec<i64>),
    /// It starts no runs until it is resumed.
    Pause(i64),
    /// It starts runs again.
    Resume(i64),
    /// It starts a run now.
    RunNow(i64),
    /// What became of its firings.
    Runs(i64),
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepeatSwitch {
    /// On.
    On,
    /// Off.
    Off,
}

/// A calendar view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CalendarView {
    /// One day.
    Day,
    /// Seven days: from today on, or from Monday if the day is not today.
    Week,
    /// A month.
    Month,
}

impl CalendarView {
    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
        }
    }
}

/// The given values of an entry; the others are `None`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewEntry {
    /// When it first takes place; required for a new entry.
    pub start: Option<FirstOccurrence>,
    /// The change of its time, if the new time is incomplete.
    pub shift: Option<TimeShift>,
    /// The title; required for a new entry.
    pub title: Option<String>,
    /// How long it takes.
    pub minutes: Option<i64>,
    /// When the user is reminded of the first occurrence.
    pub remind: Option<Remind>,
    /// How it repeats, by default on the days of its start; the inner `None` ends the repetition.
    pub repeat: Option<Option<SpokenRepeat>>,
    /// The number of occurrences; the inner `None` means no end.
    pub times: Option<Option<i64>>,
    /// No reminder before this moment; the inner `None` means from the first occurrence on.
    pub remind_from: Option<Option<Timestamp>>,
    /// The policy for missed reminders.
    pub catch_up: Option<String>,
    /// Whether it is saved despite conflicts.
    pub allow_conflict: bool,
    /// What it starts.
    pub run: Option<Box<RunChange>>,
    /// The zone that it is in, if that is not the person's.
    pub zone: Option<String>,
}

/// When an entry first takes place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstOccurrence {
    /// The local time.
    pub wall: DateTime,
    /// That moment.
    pub at: Timestamp,
}

impl FirstOccurrence {
    fn of(when: &ParsedDate, now: &Zoned) -> Option<Self> {
        moment(when, now, DayMeans::Morning).map(|at| Self::at(at, now))
    }

    /// A moment. A local time that a clock change skips becomes the time that clocks then show.
    pub(crate) fn at(at: Timestamp, now: &Zoned) -> Self {
        Self { wall: at.to_zoned(now.time_zone().clone()).datetime(), at }
    }

    /// The first day at or after this one on which a repetition takes place.
    fn fitting(self, every: &SpokenRepeat, now: &Zoned) -> Option<Self> {
        let day = every.first_day(self.wall.date())?;
        if day == self.wall.date() {
            return Some(self);
        }
        let zoned = day.to_datetime(self.wall.time()).to_zoned(now.time_zone().clone()).ok()?;
        Some(Self { wall: zoned.datetime(), at: zoned.timestamp() })
    }
}

const ADD: fn() -> Text = text::usage::schedule::add;
pub(super) const UPDATE: fn() -> Text = text::usage::schedule::update;
const VIEW: fn() -> Text = text::usage::schedule::view;

/// Minutes of the longest entry: four weeks.
const MINUTES_MAX: i64 = 40_320;

pub(super) fn parse(mut words: CommandWords, now: &Zoned) -> Result<ScheduleCommand, CommandError> {
    let part = words.next().unwrap_or_else(|| "list".to_owned());
    match part.to_lowercase().as_str() {
        "add" | "new" => new_entry(words, now).map(ScheduleCommand::Add),
        "update" | "edit" => {
            let id = super::todo::id(&mut words, UPDATE)?;
            Ok(ScheduleCommand::Update(id, update::entry(words, now)?))
        }
        "list" | "ls" if words.is_empty() => Ok(ScheduleCommand::List),
        "get" | "show" => {
            super::todo::number(words, text::usage::schedule::get).map(ScheduleCommand::Get)
        }
        "delete" | "rm" | "del" | "remove" => {
            super::marks::numbers(words, text::usage::schedule::delete).map(ScheduleCommand::Delete)
        }
        "repeat" => {
            let usage = text::usage::schedule::repeat;
            let id = super::todo::id(&mut words, usage)?;
            let switch = match known(&words.rest()).as_str() {
                "on" => RepeatSwitch::On,
                "off" => RepeatSwitch::Off,
                _ => return Err(CommandError::Usage(usage())),
            };
            Ok(ScheduleCommand::Repeat(id, switch))
        }
        "view" => view(words, now),
        "pause" => id_of(words, text::scheduled::usage::pause).map(ScheduleCommand::Pause),
        "resume" => id_of(words, text::scheduled::usage::resume).map(ScheduleCommand::Resume),
        "run" => id_of(words, text::scheduled::usage::run).map(ScheduleCommand::RunNow),
        "runs" => id_of(words, text::scheduled::usage::runs).map(ScheduleCommand::Runs),
        _ => Err(CommandError::Usage(text::usage::schedule())),
    }
}

fn id_of(words: CommandWords, usage: fn() -> Text) -> Result<i64, CommandError> {
    super::todo::number(words, usage)
}

fn view(mut words: CommandWords, now: &Zoned) -> Result<ScheduleCommand, CommandError> {
    let first = words.next().unwrap_or_default();
    let stretch = match known(&first).as_str() {
        "day" => CalendarView::Day,
        "week" => CalendarView::Week,
        "month" => CalendarView::Month,
        _ => {
            let when = dates::parse(&format!("{first} {}", words.rest()), now);
            let day =
                when.filter(|when| when.repeat.is_none()).ok_or(CommandError::Usage(VIEW()))?;
            return Ok(ScheduleCommand::View(CalendarView::Day, day.at.date()));
        }
    };
    let date = match words.rest() {
        text if text.is_empty() => now.date(),
        text => {
            let text = plain(&text);
            let month = format!("{text}-01").parse::<Date>().ok();
            let month = month.filter(|_| stretch == CalendarView::Month);
            let said = || dates::parse(&text, now).map(|when| when.at.date());
            month.or_else(said).ok_or(CommandError::NotADate(text.clone()))?
        }
    };
    Ok(ScheduleCommand::View(stretch, date))
}

/// A new entry: its date and title, then its options.
fn new_entry(mut words: CommandWords, now: &Zoned) -> Result<NewEntry, CommandError> {
    let text = words.written();
    words.skip(words.until_option());
    let mut entry = NewEntry::default();
    let mut more = String::new();
    options(&mut entry, &mut words, now, ADD, &mut more)?;
    let text = format!("{text} {more}").trim().to_owned();
    let now = &entry.now_there(now);
    if entry.run.as_ref().is_some_and(|run| run.goal.is_none()) || entry.mixes_run_and_event() {
        return Err(CommandError::Usage(ADD()));
    }
    if let Some(cron) = entry.run.as_ref().and_then(|run| run.cron.clone()) {
        entry.set_cron(&cron, now)?;
        entry.title = Some(unquoted(&text).to_owned());
        entry.complete_run();
        return check(entry);
    }
    if text.is_empty() {
        return Err(CommandError::Usage(ADD()));
    }
    let read = read(&text, now)?;
    let Some(when) = read.when.clone() else {
        return Err(CommandError::unclear(&text, text.clone()));
    };
    let asked = options::asked(&read.title);
    let is_every_minutes = matches!(when.repeat, Some(Repeat::Minutes { .. }));
    // An entry that only reminds has no length.
    if asked.is_some() || is_every_minutes && when.minutes.is_none() {
        entry.minutes = entry.minutes.or(Some(0));
    }
    let title = asked.unwrap_or_else(|| read.title.clone());
    fill(&mut entry, &ParsedText { title, ..read }, &when, now)?;
    if entry.mixes_run_and_event() {
        return Err(CommandError::Usage(ADD()));
    }
    entry.complete_run();
    check(entry)
}

/// A text with the date of an entry. After a whole date and time, the title is taken as it is.
pub(super) fn read(text: &str, now: &Zoned) -> Result<ParsedText, CommandError> {
    texts::read(text, now, TextSubject::Entry)
        .map_err(|unclear| CommandError::unclear(text, unclear.0))
}

pub(super) fn fill(
    entry: &mut NewEntry,
    read: &ParsedText,
    when: &ParsedDate,
    now: &Zoned,
) -> Result<(), CommandError> {
    let said = || read.phrase.trim().to_owned();
    if when.is_deadline {
        return Err(CommandError::Deadline(said()));
    }
    if when.precision != Precision::Minute {
        return Err(CommandError::NoTime(said()));
    }
    let when = ahead_of_now(when.clone(), &read.phrase, now)?;
    let mut start =
        FirstOccurrence::of(&when, now).ok_or_else(|| CommandError::NotADate(said()))?;
    if entry.repeat.is_none() {
        entry.repeat = when.repeat.clone().map(|repeat| Some(SpokenRepeat::from(repeat)));
    }
    if let Some(Some(every)) = &entry.repeat {
        start = start.fitting(every, now).ok_or_else(|| CommandError::NotADate(said()))?;
        entry.repeat = Some(Some(SpokenRepeat::from(every.repeat(start.wall.date()))));
    }
    entry.minutes = entry.minutes.or(when.minutes);
    entry.times = entry.times.or(when.times.map(|times| Some(i64::from(times))));
    entry.remind = entry.remind.or(read.ahead.map(Remind::Before));
    let zoned = start.at.to_zoned(now.time_zone().clone());
    options::not_after(entry.remind, Some(&zoned), now)?;
    if let Some(remind) = entry.remind.filter(|remind| *remind != Remind::Never) {
        entry.remind = remind.for_start(Some(&zoned)).map(Remind::At);
    }
    entry.start = Some(start);
    entry.title = Some(unquoted(read.title.trim()).trim().to_owned());
    Ok(())
}

fn check(entry: NewEntry) -> Result<NewEntry, CommandError> {
    let title = entry.title.as_deref().unwrap_or_default();
    super::todo::short(text::command::text_too_long, title, TEXT_CHARS_MAX)?;
    if title.is_empty()
        || (entry.repeat.as_ref().is_none_or(Option::is_none) && entry.times.is_some())
        || (entry.remind_from.is_some() && entry.remind == Some(Remind::Never))
    {
        return Err(CommandError::Usage(ADD()));
    }
    Ok(entry)
}

pub(super) fn options(
    entry: &mut NewEntry,
    words: &mut CommandWords,
    now: &Zoned,
    usage: fn() -> Text,
    title: &mut String,
) -> Result<(), CommandError> {
    while !words.is_empty() {
        let Some(option) = words.next_option() else {
            words.next_into(title);
            continue;
        };
        match option.as_str() {
            "duration" => {
                let minutes = length(words, "duration", 0, usage)?;
                once(&mut entry.minutes, minutes, "duration", usage)?;
            }
            "interval" => {
                let minutes = length(words, "interval", 1, usage)?;
                let minutes = u32::try_from(minutes).unwrap_or(u32::MAX);
                entry.repeat = Some(Some(SpokenRepeat::from(Repeat::every_minutes(minutes))));
            }
            "times" => entry.times = Some(times(words, usage)?),
            "repeat" => {
                entry.repeat =
                    Some(options::value(words, usage, true, |text| repeat(text, usage))?);
            }
            "remind" => {
                let remind = options::remind(words, now, usage, true)?;
                once(&mut entry.remind, remind, "remind", usage)?;
            }
            "remind-start" => {
                entry.remind_from = Some(options::value(words, usage, true, |text| {
                    if options::is_none(text) {
                        return Ok(None);
                    }
                    let when = options::date(text, now)?;
                    Ok(moment(&when, now, DayMeans::Morning))
                })?);
            }
            "allow-conflict" => entry.allow_conflict = true,
            "catch-up" => {
                let value = words.next().unwrap_or_default();
                if !["once", "skip", "all"].contains(&value.as_str()) {
                    return Err(CommandError::BadValue("catch-up", value, usage()));
                }
                entry.catch_up = Some(value);
            }
            _ if run_options::take(entry, &option, words, usage)? => {}
            _ => return Err(CommandError::NoSuchOption(option, usage())),
        }
    }
    Ok(())
}

/// The repetition; `None` ends it.
fn repeat(text: &str, usage: fn() -> Text) -> Result<Option<SpokenRepeat>, CommandError> {
    if options::is_none(text) {
        return Ok(None);
    }
    let written = Repeat::parse_option(&plain(text)).map(SpokenRepeat::from);
    let rule = || Repeat::from_rrule(text).map(SpokenRepeat::from);
    let every = written.or_else(|| optional::read_every(text)).or_else(rule);
    every.map(Some).ok_or_else(|| CommandError::BadValue("repeat", text.to_owned(), usage()))
}

/// The minutes of a length.
fn length(
    words: &mut CommandWords,
    name: &'static str,
    least: i64,
    usage: fn() -> Text,
) -> Result<i64, CommandError> {
    let most = if name == "duration" { MINUTES_MAX } else { i64::from(u32::MAX) };
    options::value(words, usage, true, |text| {
        let minutes = lengths::minutes(text).filter(|n| (least..=most).contains(n));
        minutes.ok_or_else(|| CommandError::BadValue(name, text.to_owned(), usage()))
    })
}

fn times(words: &mut CommandWords, usage: fn() -> Text) -> Result<Option<i64>, CommandError> {
    let value = words.next().unwrap_or_default();
    match plain(&value).parse::<i64>() {
        Ok(-1) => Ok(None),
        Ok(count @ 2..=1_000_000) => Ok(Some(count)),
        _ => Err(CommandError::BadValue("times", value, usage())),
    }
}

pub(super) fn canonical(command: &ScheduleCommand, now: &Zoned, lang: Lang) -> String {
    match command {
        ScheduleCommand::Add(entry) => format!("/schedule add {}", said(entry, now, lang)),
        ScheduleCommand::Update(id, entry) => {
            format!("/schedule update {id} {}", said(entry, now, lang))
        }
        ScheduleCommand::List => "/schedule list".to_owned(),
        ScheduleCommand::Get(id) => format!("/schedule get {id}"),
        ScheduleCommand::Delete(ids) => {
            format!("/schedule delete {}", super::todo::written_numbers(ids))
        }
        ScheduleCommand::View(stretch, date) => {
            format!("/schedule view {} {date}", stretch.as_str())
        }
        ScheduleCommand::Repeat(id, switch) => {
            let word = if *switch == RepeatSwitch::On { "on" } else { "off" };
            format!("/schedule repeat {id} {word}")
        }
        ScheduleCommand::Pause(id) => format!("/schedule pause {id}"),
        ScheduleCommand::Resume(id) => format!("/schedule resume {id}"),
        ScheduleCommand::RunNow(id) => format!("/schedule run {id}"),
        ScheduleCommand::Runs(id) => format!("/schedule runs {id}"),
    }
}

fn said(entry: &NewEntry, now: &Zoned, lang: Lang) -> String {
    let title = entry.title.clone().unwrap_or_default();
    let cron = entry.run.as_ref().and_then(|run| run.cron.as_ref());
    let now = &entry.now_there(now);
    let mut line = match entry.start {
        // The times of an expression follow from it.
        Some(_) if cron.is_some() => format!("\"{title}\""),
        Some(start) => {
            let plain = format!("{} {title}", exact(start.at, now));
            // A title that looks like a date must not be parsed as one later.
            let is_plain = read(&plain, now).is_ok_and(|read| read.title == title);
            let title = if is_plain { title } else { format!("\"{title}\"") };
            format!("{} {title}", exact(start.at, now)).trim_end().to_owned()
        }
        None => [entry.shift.map(TimeShift::words).unwrap_or_default(), title]
            .join(" ")
            .trim()
            .to_owned(),
    };
    let mut option = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            let gap = if line.is_empty() { "" } else { " " };
            line.push_str(&format!("{gap}--{name} {}", quoted(&value)));
        }
    };
    let date = |at: Option<Timestamp>| at.map_or("none".to_owned(), |at| exact(at, now));
    let first = entry.start.map(|start| start.wall.date());
    let minutes = entry.minutes.filter(|_| entry.run.is_none());
    option("duration", minutes.map(|n| n.to_string()));
    option("remind", entry.remind.map(|remind| remind_words(remind, now, lang)));
    let rule = |every: &Option<SpokenRepeat>| every.as_ref().map(|every| every.to_option(first));
    let repeat = entry.repeat.as_ref().filter(|_| cron.is_none());
    option("repeat", repeat.map(|every| rule(every).unwrap_or("none".to_owned())));
    option("times", entry.times.map(|times| times.unwrap_or(-1).to_string()));
    option("remind-start", entry.remind_from.map(date));
    option("catch-up", entry.catch_up.clone());
    option("zone", entry.zone.clone());
    for (name, value) in entry.run.iter().flat_map(|run| run_options::written(run)) {
        line.push_str(&format!(" {}", run_options::in_line(name, &value)));
    }
    if entry.allow_conflict {
        line.push_str(" --allow-conflict");
    }
    line
}
