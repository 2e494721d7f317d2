//! Times of day.

use super::scan::{Readings, Scan};
use super::words;

const NOON: i64 = 12 * 60;
const MIDNIGHT: i64 = 24 * 60;

/// A part of the day, said alone or beside an hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Night,
    Morning,
    Forenoon,
    Noon,
    Afternoon,
    Dusk,
    Evening,
    Midnight,
    Am,
    Pm,
}

/// A time of day as it was said.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spoken {
    pub(super) part: Option<Part>,
    pub(super) clock: Option<Clock>,
}

/// What a clock shows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    hour: i8,
    minute: i8,
    form: Form,
}

/// Whether the hour is one of 24 as written, or may be one of 12.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Full,
    Dial,
}

/// A time of day, in minutes from the midnight its day begins with; it may reach into the next day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Time {
    Sure(i64),
    /// An hour of 1 to 12 that may be before or after noon.
    Dial(i64),
}

impl Spoken {
    /// The time, unless hour and part contradict each other. `of_day` is a part its day brought.
    pub(super) fn time(self, of_day: Option<Part>) -> Option<Time> {
        let part = self.part.or(of_day);
        let Some(clock) = self.clock else { return part?.usual().map(Time::Sure) };
        let (hour, minute) = (i64::from(clock.hour), i64::from(clock.minute));
        match part {
            Some(part) => part.hour(hour).map(|hour| Time::Sure(hour * 60 + minute)),
            None if clock.form == Form::Dial && (1..=12).contains(&hour) => {
                Some(Time::Dial(hour * 60 + minute))
            }
            None => Some(Time::Sure(hour * 60 + minute)),
        }
    }
}

impl Part {
    /// The time that is meant when only the part was said.
    fn usual(self) -> Option<i64> {
        match self {
            Self::Night => Some(0),
            Self::Morning => Some(8 * 60),
            Self::Forenoon => Some(9 * 60),
            Self::Noon => Some(NOON),
            Self::Afternoon => Some(15 * 60),
            Self::Dusk => Some(18 * 60),
            Self::Evening => Some(20 * 60),
            Self::Midnight => Some(MIDNIGHT),
            Self::Am | Self::Pm => None,
        }
    }

    /// The hour of 24 for an hour said beside this part; 24 and more are in the next day.
    fn hour(self, hour: i64) -> Option<i64> {
        match (self, hour) {
            (Self::Night | Self::Am, 12) => Some(0),
            (Self::Night, 0..=6) | (Self::Am, 1..=11) => Some(hour),
            (Self::Morning | Self::Forenoon, 1..=12) | (Self::Noon, 11 | 12) => Some(hour),
            (Self::Noon, 1..=3) | (Self::Dusk, 4..=8) => Some(hour + 12),
            (Self::Afternoon | Self::Pm, 12) => Some(12),
            (Self::Afternoon | Self::Pm, 1..=11) | (Self::Evening, 5..=11) => Some(hour + 12),
            (Self::Afternoon, 13..=18) | (Self::Dusk, 16..=20) => Some(hour),
            (Self::Evening, 17..=23) => Some(hour),
            // The small hours after an evening belong to the night that begins with it.
            (Self::Evening, 1..=4) => Some(hour + 24),
            (Self::Evening | Self::Midnight, 0 | 12) => Some(24),
            (Self::Midnight, 1..=4) => Some(hour + 24),
            _ => None,
        }
    }
}

/// Times of day here. `Beside::Day` when a day was said before or will be.
pub(super) fn times(scan: &Scan, at: usize, beside: Beside) -> Readings<Spoken> {
    let mut found = Vec::new();
    let at = match beside {
        Beside::Day => iso_border(scan, at).unwrap_or(scan.maybe(at, words::BETWEEN)),
        Beside::Nothing => at,
    };
    let after_at = scan.any(at, words::AT);
    if let Some(end) = after_at {
        let bare = scan.number_in(end, 0..=23).filter(|(_, end)| !is_half_read(scan, *end));
        found.extend(bare.map(|(hour, end)| (dial(hour, 0), end)));
    }
    let at = after_at.unwrap_or(at);
    for (clock, end) in clocks(scan, at) {
        found.push((Spoken { part: None, clock: Some(clock) }, end));
    }
    let mut parts: Vec<_> = scan.word(at, words::PARTS).into_iter().collect();
    if beside == Beside::Day {
        parts.extend(scan.word(at, words::SHY_PARTS));
    }
    parts.extend(scan.word(at, words::IN_THE_PARTS));
    for (part, end) in parts {
        let is_shy = matches!(scan.get(end - 1), Some(c) if words::SHY_ENDS.contains(c))
            && end - scan.skip_spaces(at) == 1;
        if beside == Beside::Day || !is_shy {
            found.push((Spoken { part: Some(part), clock: None }, end));
        }
        let next = scan.maybe(scan.maybe(end, words::BETWEEN), words::AT);
        for (clock, end) in clocks(scan, next) {
            found.push((Spoken { part: Some(part), clock: Some(clock) }, end));
        }
        if next > end {
            let bare = scan.number_in(next, 1..=12).filter(|(_, end)| !is_half_read(scan, *end));
            let spoken = |hour| Spoken { part: Some(part), ..dial(hour, 0) };
            found.extend(bare.map(|(hour, end)| (spoken(hour), end)));
        }
    }
    let trailing = found.iter().filter(|(spoken, _)| spoken.part.is_none()).filter_map(|found| {
        let (part, end) = scan.word(found.1, words::TRAILING_PARTS)?;
        Some((Spoken { part: Some(part), ..found.0 }, end))
    });
    let trailing: Vec<_> = trailing.collect();
    found.extend(trailing);
    found.extend(plain_hour_with_part(scan, at));
    found
}

/// What is said beside a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beside {
    Day,
    Nothing,
}

/// `2026-11-15T10:30`: the letter stands between digits.
fn iso_border(scan: &Scan, at: usize) -> Option<usize> {
    let is_digit = |at| scan.get(at).is_some_and(|c: char| c.is_ascii_digit());
    let is_border = scan.get(at) == Some('t') && is_digit(at + 1) && is_digit(at.checked_sub(1)?);
    is_border.then_some(at + 1)
}

/// A number that goes on as something else is no hour.
fn is_half_read(scan: &Scan, end: usize) -> bool {
    matches!(scan.get(end), Some(':' | '.' | '-' | '/' | '%'))
        && scan.get(end + 1).is_some_and(|c| c.is_ascii_digit())
        || scan.get(end) == Some('%')
}

fn dial(hour: i8, minute: i8) -> Spoken {
    Spoken { part: None, clock: Some(Clock { hour, minute, form: Form::Dial }) }
}

/// `5pm`, `5 in the morning`: an hour that only its part makes a time.
fn plain_hour_with_part(scan: &Scan, at: usize) -> Option<(Spoken, usize)> {
    let (hour, end) = scan.number_in(at, 1..=12)?;
    let (part, end) = scan.word(end, words::TRAILING_PARTS)?;
    Some((Spoken { part: Some(part), ..dial(hour, 0) }, end))
}

fn clocks(scan: &Scan, at: usize) -> Readings<Clock> {
    let at = scan.skip_spaces(at);
    let mut found = Vec::new();
    found.extend(colon_clock(scan, at));
    found.extend(chinese_clocks(scan, at));
    let clock = |hour, minute| Clock { hour, minute, form: Form::Dial };
    if let Some((hour, end)) = scan.number_in(at, 1..=12) {
        found.extend(scan.any(end, words::O_CLOCK).map(|end| (clock(hour, 0), end)));
    }
    if let Some((minute, end)) = scan.word(at, words::PAST_HOUR) {
        let hour = scan.number_in(end, 1..=12);
        found.extend(hour.map(|(hour, end)| (clock(hour, minute), end)));
    }
    if let Some((minute, end)) = scan.word(at, words::TO_HOUR) {
        let hour = scan.number_in(end, 1..=12);
        found.extend(hour.map(|(hour, end)| (clock((hour + 10) % 12 + 1, minute), end)));
    }
    found
}

fn colon_clock(scan: &Scan, at: usize) -> Option<(Clock, usize)> {
    let (hour, end) = scan.digits(at, 1, 2).filter(|(hour, _)| *hour < 24)?;
    let end = (scan.get(end) == Some(':')).then_some(end + 1)?;
    let (minute, end) = scan.digits(end, 2, 2).filter(|(minute, _)| *minute < 60)?;
    let (hour, minute) = (i8::try_from(hour).ok()?, i8::try_from(minute).ok()?);
    Some((Clock { hour, minute, form: Form::Full }, end))
}

fn chinese_clocks(scan: &Scan, at: usize) -> Readings<Clock> {
    let mut found = Vec::new();
    let Some((hour, end)) = scan.number_in(at, 0..=23) else { return found };
    let is_padded = scan.get(at) == Some('0');
    let form = if is_padded { Form::Full } else { Form::Dial };
    let Some(end) = scan.any(end, words::HOUR) else { return found };
    let clock = |minute| Clock { hour, minute, form };
    found.push((clock(0), scan.maybe(end, words::SHARP)));
    found.extend(scan.any(end, words::HALF_PAST).map(|end| (clock(30), end)));
    if let Some((quarters, end)) = scan.number_in(end, 1..=3) {
        let end = scan.any(end, words::QUARTER);
        found.extend(end.map(|end| (clock(quarters * 15), end)));
    }
    if let Some((minute, after)) = scan.number_in(end, 0..=59) {
        let is_two_digits = after - scan.skip_spaces(end) >= 2 || minute == 10;
        if let Some(after) = scan.any(after, words::MINUTE) {
            found.push((clock(minute), after));
        } else if is_two_digits {
            found.push((clock(minute), after));
        }
    }
    found
}
