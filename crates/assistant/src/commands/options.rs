//! The values of options about time, for todos and entries alike.

use super::Wrong;
use super::words::{Words, known};
use crate::time::{Ahead, Precision, When, ahead, texts};
use jiff::{Timestamp, Zoned};

/// When a person is reminded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remind {
    /// No longer.
    Never,
    /// At this moment.
    At(Timestamp),
    /// So long before the due date or the start.
    Before(Ahead),
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

    /// The moment, if it is one of its own.
    #[must_use]
    pub fn moment(self) -> Option<Timestamp> {
        match self {
            Self::At(at) => Some(at),
            Self::Never | Self::Before(_) => None,
        }
    }

    /// Whether it is counted back from something.
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
    /// Nine in the morning: that is when a person wants to hear of it.
    Morning,
}

/// The words that take a value away.
const NONE: [&str; 3] = ["none", "-", "off"];

/// Refuses what is over, unless its year was said: then it is meant.
pub(super) fn ahead_of_now(when: When, said: &str, now: &Zoned) -> Result<When, Wrong> {
    match when.is_past(now) && !when.is_full {
        true => Err(Wrong::Past(said.trim().to_owned())),
        false => Ok(when),
    }
}

/// The moment that a date names.
pub(super) fn moment(when: &When, now: &Zoned, day: DayMeans) -> Option<Timestamp> {
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

/// The value of an option: the words before the next one.
///
/// Without quotes the text of the command may follow it, if none came before; then as many words
/// are taken as are a value.
pub(super) fn value<T>(
    words: &mut Words,
    usage: &'static str,
    has_text: bool,
    read: impl Fn(&str) -> Result<T, Wrong>,
) -> Result<T, Wrong> {
    let most = words.until_option();
    if most == 0 {
        return Err(Wrong::Usage(usage));
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

/// `--due`; none within for "no longer".
pub(super) fn due(
    words: &mut Words,
    now: &Zoned,
    usage: &'static str,
    has_text: bool,
) -> Result<Option<Timestamp>, Wrong> {
    value(words, usage, has_text, |text| {
        if is_none(text) {
            return Ok(None);
        }
        let when = date(text, now)?;
        if when.repeat.is_some() {
            return Err(Wrong::TodosDoNotRepeat);
        }
        Ok(moment(&when, now, DayMeans::End))
    })
}

/// `--remind`: before the due date or the start, or a moment of its own.
pub(super) fn remind(
    words: &mut Words,
    now: &Zoned,
    usage: &'static str,
    has_text: bool,
) -> Result<Remind, Wrong> {
    value(words, usage, has_text, |text| {
        if is_none(text) {
            return Ok(Remind::Never);
        }
        if let Some(ahead) = ahead::parse(text) {
            return Ok(Remind::Before(ahead));
        }
        let when = date(text, now)?;
        if when.repeat.is_some() {
            return Err(Wrong::NotADate(text.to_owned()));
        }
        let at = moment(&when, now, DayMeans::Morning);
        at.map(Remind::At).ok_or_else(|| Wrong::NotADate(text.to_owned()))
    })
}

/// A date that stands in an option.
pub(super) fn date(text: &str, now: &Zoned) -> Result<When, Wrong> {
    let when = texts::read_option(text, now).map_err(|unclear| Wrong::NotADate(unclear.0))?;
    ahead_of_now(when, text, now)
}

pub(super) fn is_none(text: &str) -> bool {
    NONE.contains(&known(text).as_str())
}
