//! A small grammar for dates, times, offsets, weekdays and repetitions in Chinese and English.
//!
//! ```text
//!   day [time] | time day | time | offset | repetition [time] | time repetition
//! ```
//!
//! Where a phrase can mean several things:
//!
//! - A bare weekday is the next one after today; it is today only if a time still ahead is said.
//! - The "next" Monday is in the next calendar week; weeks begin on Monday. So is the Chinese one,
//!   and the Chinese "this Friday" is in this calendar week even if it is over, while the English
//!   one is the coming Friday. A named week without a day is its Monday, a month its first day.
//! - The weekend is its Saturday; on a Sunday, this weekend is today.
//! - A date without a year, or a day without a month, is the next one, today included.
//! - `HH:MM` is one of 24 hours as written. A bare hour of 1 to 12 without a part of the day is
//!   the next such hour on a clock's dial when it is said alone or with today; on any other day and
//!   in repetitions 1 to 6 are in the afternoon, 7 to 12 as they are.
//! - A time alone is today if it is still ahead, else tomorrow.
//! - Midnight, and 12 in the evening, end the day they are said with; hours 1 to 4 of an evening
//!   belong to the night that follows it.
//! - A part of the day alone is its usual hour: morning 08:00 (forenoon 09:00), noon 12:00,
//!   afternoon 15:00, dusk 18:00, evening and tonight 20:00, small hours 00:00.
//! - Every so many minutes begins one interval from now; other repetitions begin with the first
//!   fitting day from today on whose time is still ahead. The Chinese "gap of one" day, week,
//!   month or year is every second one; any other gap is the interval itself.
//!
//! What no calendar or clock has (25:00, February 30) is refused, never bent.

use std::ops::Range;

use jiff::civil::{Date, DateTime, Time as Wall};
use jiff::{SignedDuration, Timestamp, ToSpan, Zoned};

use super::clock::{Beside, Spoken, Time, times};
use super::days::{Day, Which, ahead, days};
use super::every::{Every, everies};
use super::offsets::{Amount, offsets};
use super::repeat::Repeat;
use super::scan::{Readings, Scan};
use super::words;

/// What a phrase means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct When {
    /// The wall time; of a repetition, its first.
    pub at: DateTime,
    /// Whether a time of day was said.
    pub precision: Precision,
    /// The moment of an elapsed offset ("in 2 hours"), exact even in an hour that comes twice.
    pub instant: Option<Timestamp>,
    /// How it repeats, if it does.
    pub repeat: Option<Repeat>,
}

/// How exact a phrase was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// No time of day was said; it is then 00:00.
    Day,
    /// A time of day was said.
    Minute,
}

/// Understands a text that is one date phrase.
#[must_use]
pub fn parse(text: &str, now: &Zoned) -> Option<When> {
    let scan = Scan::new(text.trim());
    let mut readings = readings(&scan, 0, now).into_iter();
    readings.find(|(_, end)| *end == scan.len()).map(|(when, _)| when)
}

/// The longest date phrase a text begins with, and how many bytes of it that is.
#[must_use]
pub fn leading(text: &str, now: &Zoned) -> Option<(When, usize)> {
    let scan = Scan::new(text);
    let start = scan.skip_spaces(0);
    let (when, end) = longest(&scan, start, now)?;
    Some((when, scan.offset(end)))
}

/// The longest, then first, date phrase anywhere in a text.
#[must_use]
pub fn find(text: &str, now: &Zoned) -> Option<(When, Range<usize>)> {
    let scan = Scan::new(text);
    let mut best: Option<(When, Range<usize>)> = None;
    let mut broken_until = 0;
    for at in (0..scan.len()).filter(|at| may_start(&scan, *at)) {
        let Some((when, end)) = longest(&scan, at, now) else { continue };
        if at < broken_until || follows_a_broken_date(&scan, at) {
            broken_until = broken_until.max(end);
        } else if best.as_ref().is_none_or(|(_, range)| range.len() < end - at) {
            best = Some((when, at..end));
        }
    }
    best.map(|(when, range)| (when, scan.offset(range.start)..scan.offset(range.end)))
}

fn longest(scan: &Scan, at: usize, now: &Zoned) -> Option<(When, usize)> {
    let mut best: Option<(When, usize)> = None;
    for (when, end) in readings(scan, at, now) {
        let is_longer = best.as_ref().is_none_or(|(_, best)| *best < end);
        if is_longer && may_end(scan, end) {
            best = Some((when, end));
        }
    }
    best
}

/// Whether a phrase may begin here: not inside a word or a number.
fn may_start(scan: &Scan, at: usize) -> bool {
    let Some(c) = scan.get(at).filter(|c| !c.is_whitespace()) else { return false };
    let Some(before) = scan.before(at) else { return true };
    let is_number = |c: char| c.is_ascii_digit() || words::numeral(c).is_some();
    if is_number(c) && (is_number(before) || words::NO_START_AFTER.contains(before)) {
        return false;
    }
    !(c.is_ascii_alphanumeric() && (before.is_ascii_alphanumeric() || before == '_'))
}

/// Whether a date or clock that does not exist stands right before: then the rest is no phrase, or
/// the 30th of February at 3 would be today at 3.
fn follows_a_broken_date(scan: &Scan, at: usize) -> bool {
    let text = scan.text_before(at);
    let text = text.trim_end_matches(|c: char| c.is_whitespace() || c == ',');
    let is_number = |c: char| c.is_ascii_digit() || words::numeral(c).is_some();
    if let Some(rest) = text.strip_suffix(|c| words::BROKEN_ENDS.contains(c)) {
        return rest.trim_end().ends_with(is_number);
    }
    let token = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    let shape: String = token.chars().map(|c| if c.is_ascii_digit() { '9' } else { c }).collect();
    let is_shaped = ["9999-99-99", "9999-9-99", "9999-99-9", "9999-9-9", "99:99", "9:99"]
        .iter()
        .any(|known| shape.replace('/', "-").ends_with(known));
    let number = token.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let month = text[..text.len() - token.len()].trim_end().rsplit(char::is_whitespace).next();
    let is_after_month = month.is_some_and(|word| words::is_month(word.trim_end_matches('.')));
    is_shaped || is_after_month && !number.is_empty() && number.chars().all(is_number)
}

/// Whether a phrase may end here: not inside a word, nor before a piece of a date it did not take.
fn may_end(scan: &Scan, end: usize) -> bool {
    let before = scan.before(end);
    let is_latin = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_latin(before) && is_latin(scan.get(end)) {
        return false;
    }
    let next_is_digit = scan.get(end + 1).is_some_and(|c| c.is_ascii_digit());
    if is_latin(before) && next_is_digit && matches!(scan.get(end), Some(':' | '.' | '-' | '/')) {
        return false;
    }
    let next = scan.maybe(scan.maybe(end, words::BETWEEN), words::AT);
    let rest = scan.number(next).filter(|(n, _)| *n < 100_000);
    rest.is_none_or(|(_, end)| scan.any(end, words::DATE_UNITS).is_none())
}

/// Everything the text from here on can mean, with the end of each phrase.
fn readings(scan: &Scan, at: usize, now: &Zoned) -> Readings<When> {
    let mut found = Vec::new();
    for (amount, end) in offsets(scan, at) {
        found.extend(elapsed(amount, now).map(|when| (when, end)));
    }
    for (day, end) in days(scan, at, now) {
        found.extend(on_day(day, None, now).map(|when| (when, end)));
        for (spoken, end) in times(scan, end, Beside::Day) {
            found.extend(on_day(day, Some(spoken), now).map(|when| (when, end)));
        }
    }
    for (every, end) in everies(scan, at, now) {
        found.extend(repeating(&every, None, now).map(|when| (when, end)));
        for (spoken, end) in times(scan, end, Beside::Day) {
            found.extend(repeating(&every, Some(spoken), now).map(|when| (when, end)));
        }
    }
    for (spoken, end) in times(scan, at, Beside::Nothing) {
        found.extend(alone(spoken, now).map(|when| (when, end)));
        let next = scan.maybe(end, words::COMMA);
        for (day, end) in days(scan, next, now) {
            found.extend(on_day(day, Some(spoken), now).map(|when| (when, end)));
        }
        for (every, end) in everies(scan, next, now) {
            found.extend(repeating(&every, Some(spoken), now).map(|when| (when, end)));
        }
    }
    found
}

fn elapsed(amount: Amount, now: &Zoned) -> Option<When> {
    let Amount::Minutes(minutes) = amount else { return None };
    let instant = now.timestamp().checked_add(SignedDuration::from_mins(minutes)).ok()?;
    let at = now.time_zone().to_datetime(instant);
    Some(When { at, precision: Precision::Minute, instant: Some(instant), repeat: None })
}

fn on_day(day: Day, spoken: Option<Spoken>, now: &Zoned) -> Option<When> {
    let spoken = spoken.or_else(|| day.part.map(|_| Spoken { part: None, clock: None }));
    let time = match spoken {
        Some(spoken) => Some(spoken.time(day.part)?),
        None => None,
    };
    let today = now.date();
    let date = match day.which {
        Which::On(date) => date,
        Which::Next(weekday) => {
            let date = ahead(today, weekday)?;
            let is_ahead = time.is_some_and(|time| is_ahead(date, time, now));
            if date == today && !is_ahead { date.checked_add(7.days()).ok()? } else { date }
        }
    };
    Some(match time {
        Some(time) => plain(at_minute(date, minute_of(date, time, now))?),
        None => When { precision: Precision::Day, ..plain(date.to_datetime(Wall::midnight())) },
    })
}

fn alone(spoken: Spoken, now: &Zoned) -> Option<When> {
    let today = now.date();
    let time = spoken.time(None)?;
    let (first, step) = match time {
        Time::Sure(minute) => (minute, 24 * 60),
        Time::Dial(minute) => (minute, 12 * 60),
    };
    let mut rounds = (0..3).filter_map(|round| at_minute(today, first + round * step));
    rounds.find(|at| *at > now.datetime()).map(plain)
}

fn repeating(every: &Every, spoken: Option<Spoken>, now: &Zoned) -> Option<When> {
    let repeat = Some(every.repeat.clone());
    if let Repeat::Minutes { every } = every.repeat {
        let begin = elapsed(Amount::Minutes(i64::from(every)), now)?;
        return spoken.is_none().then_some(When { repeat, ..begin });
    }
    let mut day = every.first_day(now.date())?;
    let spoken = spoken.or_else(|| every.part.map(|_| Spoken { part: None, clock: None }));
    let Some(spoken) = spoken else {
        let at = day.to_datetime(Wall::midnight());
        return Some(When { precision: Precision::Day, repeat, ..plain(at) });
    };
    let minute = usual_minute(spoken.time(every.part)?);
    if at_minute(day, minute)? <= now.datetime() {
        let next = match &every.repeat {
            Repeat::Yearly { .. } if every.date.is_none() => day.checked_add(1.year()),
            _ => day.checked_add(1.day()),
        };
        day = every.first_day(next.ok()?)?;
    }
    Some(When { repeat, ..plain(at_minute(day, minute)?) })
}

fn plain(at: DateTime) -> When {
    When { at, precision: Precision::Minute, instant: None, repeat: None }
}

fn at_minute(date: Date, minute: i64) -> Option<DateTime> {
    date.to_datetime(Wall::midnight()).checked_add(minute.minutes()).ok()
}

/// Whether a time of a day is still to come, on either round of the dial.
fn is_ahead(date: Date, time: Time, now: &Zoned) -> bool {
    at_minute(date, minute_of(date, time, now)).is_some_and(|at| at > now.datetime())
}

/// The minute of the day; only today's dial depends on what time it is.
fn minute_of(date: Date, time: Time, now: &Zoned) -> i64 {
    match time {
        Time::Dial(minute) if date == now.date() && minute < 12 * 60 => {
            let is_over = at_minute(date, minute).is_none_or(|at| at <= now.datetime());
            if is_over { minute + 12 * 60 } else { minute }
        }
        time if date == now.date() => match time {
            Time::Sure(minute) | Time::Dial(minute) => minute,
        },
        time => usual_minute(time),
    }
}

/// 1 to 6 in the afternoon, 7 to 12 as they are.
fn usual_minute(time: Time) -> i64 {
    match time {
        Time::Dial(minute) if minute < 7 * 60 => minute + 12 * 60,
        Time::Sure(minute) | Time::Dial(minute) => minute,
    }
}

#[cfg(test)]
#[path = "dates_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "dates_laws_tests.rs"]
mod laws;
