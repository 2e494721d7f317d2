//! `/schedule`.

use super::words::{Words, quoted, unquoted};
use super::{DayMeans, Wrong, date_option, moment, todo::TEXT_CHARS_MAX, written};
use crate::time::{Precision, Repeat, dates};
use jiff::civil::{Date, DateTime};
use jiff::{Timestamp, Zoned};

/// What is asked about the schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScheduleCommand {
    /// A new entry.
    Add(NewEntry),
    /// What is near.
    List,
    /// One entry.
    Get(i64),
    /// A stretch of the calendar.
    View(Stretch, Date),
    /// Another time and title, and whatever else is said; the rest stays.
    Update(i64, NewEntry),
    /// Whether it repeats.
    Repeat(i64, Switch),
    /// It is taken away.
    Delete(i64),
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// On.
    On,
    /// Off.
    Off,
}

/// A stretch of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stretch {
    /// One day.
    Day,
    /// From Monday to Sunday.
    Week,
    /// A month.
    Month,
}

impl Stretch {
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

/// What is said of an entry; what is not said is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEntry {
    /// When it first takes place, on the person's wall.
    pub starts: DateTime,
    /// That moment.
    pub starts_at: Timestamp,
    /// What it is.
    pub title: String,
    /// How long it takes.
    pub minutes: Option<i64>,
    /// When the person is reminded of the first one; none within for "no longer".
    pub remind: Option<Option<Timestamp>>,
    /// How it repeats.
    pub repeat: Option<Repeat>,
    /// How often in all; none within for no end.
    pub times: Option<Option<i64>>,
    /// No reminder before this moment; none within for "from the first on".
    pub remind_from: Option<Option<Timestamp>>,
    /// What is done about reminders that were missed.
    pub catch_up: Option<String>,
    /// Whether it is saved beside others at the same time.
    pub allow_conflict: bool,
}

const ADD: &str = "usage.schedule.add";
const UPDATE: &str = "usage.schedule.update";
const VIEW: &str = "usage.schedule.view";

/// Minutes of the longest entry: four weeks.
const MINUTES_MAX: i64 = 40_320;

pub(super) fn parse(mut words: Words, now: &Zoned) -> Result<ScheduleCommand, Wrong> {
    let part = words.next().unwrap_or_else(|| "list".to_owned());
    match part.to_lowercase().as_str() {
        "add" => entry(words, now, ADD).map(ScheduleCommand::Add),
        "update" | "edit" => {
            let id = super::todo::id(&mut words, UPDATE)?;
            Ok(ScheduleCommand::Update(id, entry(words, now, UPDATE)?))
        }
        "list" | "ls" if words.is_empty() => Ok(ScheduleCommand::List),
        "get" | "show" => {
            super::todo::number(words, "usage.schedule.get").map(ScheduleCommand::Get)
        }
        "delete" | "rm" => {
            super::todo::number(words, "usage.schedule.delete").map(ScheduleCommand::Delete)
        }
        "repeat" => {
            let usage = "usage.schedule.repeat";
            let id = super::todo::id(&mut words, usage)?;
            let switch = match words.rest().as_str() {
                "on" => Switch::On,
                "off" => Switch::Off,
                _ => return Err(Wrong::Usage(usage)),
            };
            Ok(ScheduleCommand::Repeat(id, switch))
        }
        "view" => view(words, now),
        _ => Err(Wrong::Usage("usage.schedule")),
    }
}

fn view(mut words: Words, now: &Zoned) -> Result<ScheduleCommand, Wrong> {
    let stretch = match words.next().unwrap_or_default().to_lowercase().as_str() {
        "day" => Stretch::Day,
        "week" => Stretch::Week,
        "month" => Stretch::Month,
        _ => return Err(Wrong::Usage(VIEW)),
    };
    let date = match words.rest() {
        text if text.is_empty() => now.date(),
        text => {
            let month = format!("{text}-01").parse::<Date>().ok();
            let month = month.filter(|_| stretch == Stretch::Month);
            let said = || dates::parse(&text, now).map(|when| when.at.date());
            month.or_else(said).ok_or(Wrong::NotADate(text.clone()))?
        }
    };
    Ok(ScheduleCommand::View(stretch, date))
}

fn entry(mut words: Words, now: &Zoned, usage: &'static str) -> Result<NewEntry, Wrong> {
    let plain = words.written();
    let Some((when, length)) = dates::leading(&plain, now) else {
        let missing = plain.is_empty();
        return Err(if missing { Wrong::Usage(usage) } else { Wrong::NotADate(plain) });
    };
    let starts_at = match when.precision {
        Precision::Minute => moment(&when, now, DayMeans::Morning),
        Precision::Day => return Err(Wrong::NoTime(plain[..length].trim().to_owned())),
    };
    let starts_at = starts_at.ok_or_else(|| Wrong::NotADate(plain.clone()))?;
    // A wall time that a clock change leaves out is the time that the clocks then show.
    let starts = starts_at.to_zoned(now.time_zone().clone()).datetime();
    let mut entry = NewEntry {
        starts,
        starts_at,
        title: String::new(),
        minutes: None,
        remind: None,
        repeat: when.repeat,
        times: None,
        remind_from: None,
        catch_up: None,
        allow_conflict: false,
    };
    words.skip(words.until_option());
    let mut title = plain[length..].trim().to_owned();
    options(&mut entry, &mut words, now, usage, &mut title)?;
    entry.title = unquoted(title.trim()).trim().to_owned();
    check(entry, usage)
}

fn check(entry: NewEntry, usage: &'static str) -> Result<NewEntry, Wrong> {
    super::todo::short("command.text_too_long", &entry.title, TEXT_CHARS_MAX)?;
    let alone = entry.repeat.is_none() && usage == ADD;
    if entry.title.is_empty()
        || (alone && entry.times.is_some())
        || (entry.remind_from.is_some() && entry.remind.is_none() && usage == ADD)
    {
        return Err(Wrong::Usage(usage));
    }
    Ok(entry)
}

fn options(
    entry: &mut NewEntry,
    words: &mut Words,
    now: &Zoned,
    usage: &'static str,
    title: &mut String,
) -> Result<(), Wrong> {
    while !words.is_empty() {
        let Some(option) = words.next_option() else {
            words.next_into(title);
            continue;
        };
        match option.as_str() {
            "duration" => {
                entry.minutes = Some(count("duration", words, 0..=MINUTES_MAX, usage)?);
            }
            "interval" => {
                let most = i64::from(u32::MAX);
                let minutes = count("interval", words, 1..=most, usage)?;
                let minutes = u32::try_from(minutes).unwrap_or(u32::MAX);
                entry.repeat = Some(Repeat::every_minutes(minutes));
            }
            "times" => entry.times = Some(times(words, usage)?),
            "repeat" => {
                let value = words.peek(words.until_option());
                let said = || dates::parse(&value, now).and_then(|when| when.repeat);
                let repeat = Repeat::parse_option(&value).or_else(said);
                words.skip(words.until_option());
                entry.repeat = Some(repeat.ok_or(Wrong::BadValue("repeat", value, usage))?);
            }
            "remind" => entry.remind = Some(date(words, now, usage)?),
            "remind-start" => entry.remind_from = Some(date(words, now, usage)?),
            "allow-conflict" => entry.allow_conflict = true,
            "catch-up" => {
                let value = words.next().unwrap_or_default();
                if !["once", "skip", "all"].contains(&value.as_str()) {
                    return Err(Wrong::BadValue("catch-up", value, usage));
                }
                entry.catch_up = Some(value);
            }
            _ => return Err(Wrong::NoSuchOption(option, usage)),
        }
    }
    Ok(())
}

fn times(words: &mut Words, usage: &'static str) -> Result<Option<i64>, Wrong> {
    let value = words.next().unwrap_or_default();
    match value.parse::<i64>() {
        Ok(-1) => Ok(None),
        Ok(count @ 2..=1_000_000) => Ok(Some(count)),
        _ => Err(Wrong::BadValue("times", value, usage)),
    }
}

fn count(
    name: &'static str,
    words: &mut Words,
    range: std::ops::RangeInclusive<i64>,
    usage: &'static str,
) -> Result<i64, Wrong> {
    let value = words.next().unwrap_or_default();
    let number = value.parse().ok().filter(|number| range.contains(number));
    number.ok_or(Wrong::BadValue(name, value, usage))
}

/// The longest date among the words that follow; `none` for no date.
fn date(words: &mut Words, now: &Zoned, usage: &'static str) -> Result<Option<Timestamp>, Wrong> {
    let said = words.peek(words.until_option());
    match date_option(words, now, usage)? {
        Some(when) if when.repeat.is_some() => Err(Wrong::NotADate(said)),
        when => Ok(when.and_then(|when| moment(&when, now, DayMeans::Morning))),
    }
}

pub(super) fn canonical(command: &ScheduleCommand, now: &Zoned) -> String {
    match command {
        ScheduleCommand::Add(entry) => format!("/schedule add {}", said(entry, now)),
        ScheduleCommand::Update(id, entry) => {
            format!("/schedule update {id} {}", said(entry, now))
        }
        ScheduleCommand::List => "/schedule list".to_owned(),
        ScheduleCommand::Get(id) => format!("/schedule get {id}"),
        ScheduleCommand::Delete(id) => format!("/schedule delete {id}"),
        ScheduleCommand::View(stretch, date) => {
            format!("/schedule view {} {date}", stretch.as_str())
        }
        ScheduleCommand::Repeat(id, switch) => {
            let word = if *switch == Switch::On { "on" } else { "off" };
            format!("/schedule repeat {id} {word}")
        }
    }
}

fn said(entry: &NewEntry, now: &Zoned) -> String {
    let mut line = format!("{} {}", written(entry.starts_at, now), entry.title);
    let mut option = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            line.push_str(&format!(" --{name} {}", quoted(&value)));
        }
    };
    let date = |at: Option<Timestamp>| at.map_or("none".to_owned(), |at| written(at, now));
    option("duration", entry.minutes.map(|n| n.to_string()));
    option("remind", entry.remind.map(date));
    option("repeat", entry.repeat.as_ref().map(Repeat::to_option));
    option("times", entry.times.map(|times| times.unwrap_or(-1).to_string()));
    option("remind-start", entry.remind_from.map(date));
    option("catch-up", entry.catch_up.clone());
    if entry.allow_conflict {
        line.push_str(" --allow-conflict");
    }
    line
}
