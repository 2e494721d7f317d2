//! The values of options about time, for todos and entries alike.

use super::update::TimeShift;
use super::words::{CommandWords, known, typed};
use super::{CommandError, written};
use crate::time::{LeadTime, ParsedDate, Precision, ahead, optional};
use everloop_text::Text;
use jiff::{Timestamp, Zoned};

/// When the user is reminded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remind {
    /// No longer.
    Never,
    /// At this moment.
    At(Timestamp),
    /// This long before the due date or the start.
    Before(LeadTime),
}

impl Remind {
    /// The moment, for something that is due or starts at `start`.
    #[must_use]
    pub fn for_start(self, start: Option<&Zoned>) -> Option<Timestamp> {
        match self {
            Self::Never => None,
            Self::At(at) => Some(at),
            Self::Before(ahead) => ahead.before(start?).map(|at| at.timestamp()),
        }
    }

    /// The moment, if it is absolute.
    #[must_use]
    pub fn moment(self) -> Option<Timestamp> {
        match self {
            Self::At(at) => Some(at),
            Self::Never | Self::Before(_) => None,
        }
    }

    /// Whether it is relative to the due date or the start.
    #[must_use]
    pub fn is_before(self) -> bool {
        matches!(self, Self::Before(_))
    }
}

/// What a day without a time of day means.
#[derive(Debug, Clone, Copy)]
pub(super) enum DayMeans {
    /// Its last minute: something is due by the end of the day.
    End,
    /// Nine in the morning, for reminders.
    Morning,
}

/// The words that remove a value.
const NONE: [&str; 3] = ["none", "-", "off"];

/// Refuses a past date, unless it has a year.
pub(super) fn ahead_of_now(
    when: ParsedDate,
    said: &str,
    now: &Zoned,
) -> Result<ParsedDate, CommandError> {
    match when.is_past(now) && !when.is_full {
        true => Err(CommandError::Past(said.trim().to_owned())),
        false => Ok(when),
    }
}

/// The moment that a date names.
pub(super) fn moment(when: &ParsedDate, now: &Zoned, day: DayMeans) -> Option<Timestamp> {
    if let Some(instant) = when.instant {
        return Some(instant);
    }
    let at = match (when.precision, day) {
        (Precision::Minute, _) | (Precision::Part, DayMeans::End) => when.at,
        (Precision::Part, DayMeans::Morning) => crate::rules::reminder(when, now),
        (Precision::Day, DayMeans::End) => when.at.date().at(23, 59, 0, 0),
        (Precision::Day, DayMeans::Morning) => when.at.date().at(9, 0, 0, 0),
    };
    at.to_zoned(now.time_zone().clone()).ok().map(|zoned| zoned.timestamp())
}

/// The value of an option: the words before the next one.
///
/// Without quotes the text of the command may follow it, if none came before; then the longest
/// sequence of words that is a value is taken.
pub(super) fn value<T>(
    words: &mut CommandWords,
    usage: fn() -> Text,
    has_text: bool,
    read: impl Fn(&str) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    let most = words.until_option();
    if most == 0 {
        return Err(CommandError::Usage(usage()));
    }
    let all = if words.is_quoted() { 1 } else { most };
    let first = read(&words.peek(all));
    let least = if has_text { all } else { 1 };
    if first.is_ok() || least == all {
        words.skip(all);
        return first;
    }
    for count in (least..all).rev() {
        if let Ok(value) = read(&words.peek(count)) {
            words.skip(count);
            return Ok(value);
        }
    }
    first
}

/// `--due`; the inner `None` removes it. The second value is the change of a known time.
pub(super) fn due(
    words: &mut CommandWords,
    now: &Zoned,
    usage: fn() -> Text,
    has_text: bool,
) -> Result<(Option<Timestamp>, Option<TimeShift>), CommandError> {
    value(words, usage, has_text, |text| {
        if is_none(text) {
            return Ok((None, None));
        }
        let when = date(text, now)?;
        if when.repeat.is_some() {
            return Err(CommandError::TodosDoNotRepeat);
        }
        Ok((moment(&when, now, DayMeans::End), TimeShift::of(&when)))
    })
}

/// `--remind`: relative to the due date or the start, or an absolute moment.
pub(super) fn remind(
    words: &mut CommandWords,
    now: &Zoned,
    usage: fn() -> Text,
    has_text: bool,
) -> Result<Remind, CommandError> {
    value(words, usage, has_text, |text| {
        if is_none(text) {
            return Ok(Remind::Never);
        }
        if let Some(ahead) = ahead::parse(text) {
            return Ok(Remind::Before(ahead));
        }
        let when = date(text, now)?;
        if when.repeat.is_some() {
            return Err(CommandError::NotADate(text.to_owned()));
        }
        // A time of day alone is on the day of the event.
        if let Some(minute) = when.clock {
            return Ok(Remind::Before(LeadTime::on_the_day(minute)));
        }
        let at = moment(&when, now, DayMeans::Morning);
        at.map(Remind::At).ok_or_else(|| CommandError::NotADate(text.to_owned()))
    })
}

/// The subject of a text that asks for a reminder: "提醒我开会", "remind me to call".
pub(super) fn asked(text: &str) -> Option<String> {
    let rest = typed::ASKS.iter().find_map(|word| {
        let (head, rest) = text.trim().split_at_checked(word.len())?;
        head.eq_ignore_ascii_case(word).then_some(rest)
    })?;
    let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || ",，:：".contains(c));
    (!rest.is_empty()).then(|| rest.to_owned())
}

/// The reminder that such a text asks for: at its time, or on the morning of its day.
pub(super) fn asked_for(when: &ParsedDate, now: &Zoned) -> Option<Remind> {
    if when.precision == Precision::Minute {
        return Some(Remind::Before(LeadTime::ON_TIME));
    }
    let at = crate::rules::reminder(when, now);
    let at = at.to_zoned(now.time_zone().clone()).ok()?;
    Some(Remind::At(at.timestamp()))
}

/// A reminder must not come after its event.
pub(super) fn not_after(
    remind: Option<Remind>,
    start: Option<&Zoned>,
    now: &Zoned,
) -> Result<(), CommandError> {
    let Some((remind, start)) = remind.zip(start) else { return Ok(()) };
    match remind.for_start(Some(start)) {
        Some(at) if at > start.timestamp() => Err(CommandError::ReminderAfter(written(at, now))),
        _ => Ok(()),
    }
}

/// A number from 0 on, or a word for it.
pub fn priority(value: &str) -> Option<i64> {
    match known(value).as_str() {
        "high" => Some(1),
        "medium" | "mid" => Some(2),
        "low" => Some(3),
        "none" => Some(0),
        number => number.parse().ok().filter(|n: &i64| *n >= 0),
    }
}

/// The date in an option.
pub(super) fn date(text: &str, now: &Zoned) -> Result<ParsedDate, CommandError> {
    let when = optional::read_option(text, now);
    let when = when.map_err(|unclear| CommandError::unclear(text, unclear.0))?;
    ahead_of_now(when, text, now)
}

pub(super) fn is_none(text: &str) -> bool {
    NONE.contains(&known(text).as_str())
}
