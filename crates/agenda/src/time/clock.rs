//! Times of day, and spans between two of them.

use super::clock_readings::{clocks, may_end_clock, military_clock};
use super::scan::{Readings, Scan};
use super::spans::{bare_spans, is_list, spans};
use super::words;

const NOON: i64 = 12 * 60;
const MIDNIGHT: i64 = 24 * 60;

/// A part of the day, alone or with an hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DayPart {
    Night,
    Morning,
    Forenoon,
    Noon,
    Afternoon,
    Dusk,
    Evening,
    Late,
    Midnight,
    EndOfDay,
    CloseOfBusiness,
    Am,
    Pm,
}

/// A time of day as it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SpokenTime {
    pub(super) part: Option<DayPart>,
    pub(super) clock: Option<ClockReading>,
    pub(super) until: Option<SpanEnd>,
}

/// Where a span of time ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SpanEnd {
    pub(super) part: Option<DayPart>,
    pub(super) clock: ClockReading,
}

/// An hour and a minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ClockReading {
    pub(super) hour: i8,
    pub(super) minute: i8,
    pub(super) form: HourForm,
}

/// Whether the hour is in 24-hour form, or may be in 12-hour form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HourForm {
    Full,
    Dial,
    /// `3:30`: 12-hour form; 7 and later count as written unless the text says otherwise.
    Colon,
    /// A number that only the end of its span makes an hour: "2-4pm".
    Bare,
}

/// A time of day, in minutes from the midnight its day begins with; it may reach into the next day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DayMinute {
    Sure(i64),
    /// An hour of 1 to 11 that may be before or after noon.
    Dial(i64),
}

impl DayMinute {
    /// The usual minute without more information: 1 to 6 are in the afternoon.
    pub(super) fn usual(self) -> i64 {
        match self {
            Self::Dial(minute) if minute < 7 * 60 => minute + NOON,
            Self::Sure(minute) | Self::Dial(minute) => minute,
        }
    }
}

impl SpokenTime {
    /// No time except the part that the day implies.
    pub(super) const OF_DAY: Self = Self { part: None, clock: None, until: None };

    /// The time, unless hour and part contradict each other. `of_day` is a part that the day
    /// implies.
    pub(super) fn time(self, of_day: Option<DayPart>) -> Option<DayMinute> {
        let part = self.part.or(of_day);
        // The small hours of an evening are those after it.
        let is_behind = matches!(of_day, Some(DayPart::Evening | DayPart::Late));
        if let (Some(DayPart::Night), Some(clock), true) = (self.part, self.clock, is_behind) {
            return match clock.time(self.part)? {
                DayMinute::Sure(minute) | DayMinute::Dial(minute) => {
                    Some(DayMinute::Sure(minute + MIDNIGHT))
                }
            };
        }
        match self.clock {
            None => part?.usual().map(DayMinute::Sure),
            Some(clock) if clock.form == HourForm::Bare => self.bare_start(clock, part),
            Some(clock) => clock.time(part),
        }
    }

    /// The latest such hour before the end of its span.
    fn bare_start(self, clock: ClockReading, part: Option<DayPart>) -> Option<DayMinute> {
        let end = self.until?;
        if let Some(part) = part {
            return ClockReading { form: HourForm::Dial, ..clock }.time(Some(part));
        }
        let Some(end_part) = end.part else {
            return ClockReading { form: HourForm::Dial, ..clock }.time(None);
        };
        let DayMinute::Sure(end) = end.clock.time(Some(end_part))? else { return None };
        let first = i64::from(clock.hour) % 12 * 60 + i64::from(clock.minute);
        let starts = [first + NOON, first, first + NOON - MIDNIGHT].into_iter();
        let start = starts.into_iter().find(|start| *start < end)?;
        Some(DayMinute::Sure(start.rem_euclid(MIDNIGHT)))
    }

    /// Whether the half of the day would make it unambiguous.
    pub(super) fn is_open(self, half: DayPart) -> bool {
        let hours = if half == DayPart::Am { 1..=11 } else { 5..=11 };
        let is_dial = |clock: ClockReading| {
            matches!(clock.form, HourForm::Dial | HourForm::Colon) && hours.contains(&clock.hour)
        };
        let ends_open = self.until.is_none_or(|end| end.part.is_none());
        self.part.is_none() && ends_open && self.clock.is_some_and(is_dial)
    }

    /// The same on the evening of a holiday, if its hour is ambiguous: "除夕夜八点".
    pub(super) fn on_eve(self) -> Self {
        let is_twelve = |clock: ClockReading| clock.form == HourForm::Dial && clock.hour == 12;
        let is_open = self.is_open(DayPart::Pm) || self.clock.is_some_and(is_twelve);
        Self { part: self.part.or(is_open.then_some(DayPart::Evening)), ..self }
    }

    /// The clock reading; noon and midnight have one too.
    pub(super) fn shown(self) -> Option<ClockReading> {
        match (self.clock, self.part) {
            (None, Some(DayPart::Noon | DayPart::Midnight)) => Some(dial(12, 0)),
            (clock, _) => clock,
        }
    }

    /// Whether it is a span of two bare numbers.
    pub(super) fn is_bare_span(self) -> bool {
        let is_bare = self.clock.is_some_and(|clock| clock.form == HourForm::Bare);
        is_bare && self.part.is_none() && self.until.is_some_and(|end| end.part.is_none())
    }

    /// The length in minutes of a span that begins at this minute; the inner `None` means no end.
    pub(super) fn minutes(self, start: i64, of_day: Option<DayPart>) -> Option<Option<i64>> {
        let Some(mut end) = self.until else { return Some(None) };
        if end.clock.form == HourForm::Colon {
            end.clock.form = HourForm::Dial;
        }
        let of_start = self.part.or(of_day);
        let inherited = of_start.and_then(|part| end.clock.time(Some(part)));
        let minutes = |time: DayMinute| {
            let (first, step) = match time {
                DayMinute::Sure(minute) => (minute, MIDNIGHT),
                DayMinute::Dial(minute) => (minute, NOON),
            };
            (0..4).map(|round| first + round * step).find(|end| *end > start)
        };
        let time = match end.part {
            Some(part) => end.clock.time(Some(part))?,
            None => match inherited {
                Some(DayMinute::Sure(end)) if end > start => DayMinute::Sure(end),
                _ => end.clock.time(None)?,
            },
        };
        // A span over midnight is at most half a day long; otherwise its end is before its start.
        let fits = |end: &i64| *end - start <= NOON || *end <= MIDNIGHT && *end - start < MIDNIGHT;
        Some(minutes(time).filter(fits).map(|end| end - start)).filter(Option::is_some)
    }
}

impl ClockReading {
    fn time(self, part: Option<DayPart>) -> Option<DayMinute> {
        let (hour, minute) = (i64::from(self.hour), i64::from(self.minute));
        match part {
            Some(part) => part.hour(hour).map(|hour| DayMinute::Sure(hour * 60 + minute)),
            None if self.form == HourForm::Colon && hour >= 7 => {
                Some(DayMinute::Sure(hour * 60 + minute))
            }
            None if self.form != HourForm::Full && (1..=11).contains(&hour) => {
                Some(DayMinute::Dial(hour * 60 + minute))
            }
            None => Some(DayMinute::Sure(hour * 60 + minute)),
        }
    }
}

impl DayPart {
    /// The usual time of a part of the day.
    fn usual(self) -> Option<i64> {
        match self {
            Self::Night => Some(0),
            Self::Morning => Some(8 * 60),
            Self::Forenoon => Some(9 * 60),
            Self::Noon => Some(NOON),
            Self::Afternoon => Some(15 * 60),
            Self::Dusk => Some(18 * 60),
            Self::Evening => Some(20 * 60),
            Self::Late => Some(23 * 60),
            Self::Midnight => Some(MIDNIGHT),
            Self::EndOfDay => Some(MIDNIGHT - 1),
            Self::CloseOfBusiness => Some(17 * 60),
            Self::Am | Self::Pm => None,
        }
    }

    /// The minute at which it ends, if it is a period.
    pub(super) fn end(self) -> Option<i64> {
        match self {
            Self::Night => Some(6 * 60),
            Self::Morning | Self::Forenoon => Some(NOON),
            Self::Noon => Some(14 * 60),
            Self::Afternoon => Some(18 * 60),
            Self::Dusk => Some(20 * 60),
            Self::Evening | Self::Late => Some(MIDNIGHT - 1),
            Self::Midnight | Self::EndOfDay | Self::CloseOfBusiness | Self::Am | Self::Pm => None,
        }
    }

    /// The 24-hour form of an hour with this part; 24 and more are on the next day.
    fn hour(self, hour: i64) -> Option<i64> {
        match (self, hour) {
            (Self::Night | Self::Am, 12) => Some(0),
            (Self::Night, 0..=6) | (Self::Am, 1..=11) => Some(hour),
            (Self::Morning | Self::Forenoon, 1..=12) | (Self::Noon, 11 | 12) => Some(hour),
            (Self::Noon, 1..=3) | (Self::Dusk, 4..=8) => Some(hour + 12),
            (Self::Afternoon | Self::Pm, 12) => Some(12),
            (Self::Afternoon | Self::Pm, 1..=11) | (Self::Evening, 5..=11) => Some(hour + 12),
            (Self::Late, 9..=11) => Some(hour + 12),
            (Self::Afternoon, 13..=18) | (Self::Dusk, 16..=20) => Some(hour),
            (Self::Evening, 17..=23) | (Self::Late, 21..=23) => Some(hour),
            // The small hours after an evening belong to the night that begins with it.
            (Self::Evening | Self::Late, 1..=4) => Some(hour + 24),
            (Self::Evening | Self::Late | Self::Midnight, 0 | 12 | 24) => Some(24),
            (Self::Midnight, 1..=4) => Some(hour + 24),
            _ => None,
        }
    }
}

/// The context of a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimeContext {
    Day,
    Nothing,
}

/// Times of day and spans at this position. `TimeContext::Day` if the phrase has a day.
pub(super) fn times(scan: &Scan, at: usize, beside: TimeContext) -> Readings<SpokenTime> {
    let begin = match beside {
        TimeContext::Day => iso_border(scan, at).unwrap_or(scan.maybe(at, words::BETWEEN)),
        TimeContext::Nothing => scan.maybe(at, words::FROM),
    };
    let has_opening = begin > at && scan.any(at, words::FROM).is_some();
    let links = match scan.any(at, &["between"]) {
        Some(_) => &["and", "to", "-"],
        None => words::SPAN_TO,
    };
    let begin = scan.maybe(begin, words::ROUGHLY);
    let (mut found, mut whole) = (Vec::new(), Vec::new());
    for (spoken, end) in single(scan, begin, beside) {
        let end = if may_end_clock(scan, end) { scan.maybe(end, words::OR_SO) } else { end };
        found.push((spoken, end));
        whole.extend(spans(scan, spoken, end, links));
    }
    // "ten to four" is a time, "from ten to four" a span.
    if has_opening {
        whole.append(&mut found);
    }
    found.append(&mut whole);
    found.extend(bare_spans(scan, begin, links, has_opening));
    if beside == TimeContext::Nothing {
        found.retain(|(_, end)| !is_list(scan, *end));
    }
    // "from 2" alone is a number, not a time.
    found
}

/// One time of day.
pub(super) fn single(scan: &Scan, at: usize, beside: TimeContext) -> Readings<SpokenTime> {
    let mut found = Vec::new();
    let plain = |clock| SpokenTime { part: None, clock: Some(clock), until: None };
    let after_at = scan.any(at, words::AT);
    if let Some(end) = after_at {
        let is_hour = |end: usize| is_whole(scan, end) || scan.any(end, &["ish"]).is_some();
        let bare = scan.number_in(end, 0..=23).filter(|(_, end)| is_hour(*end));
        found.extend(bare.map(|(hour, end)| (plain(dial(hour, 0)), end)));
    }
    let at = after_at.unwrap_or(at);
    found.extend(clocks(scan, at).into_iter().map(|(clock, end)| (plain(clock), end)));
    if beside == TimeContext::Day {
        found.extend(military_clock(scan, at).map(|(clock, end)| (plain(clock), end)));
    }
    for (part, end) in parts(scan, at, beside) {
        let is_shy = matches!(scan.get(end - 1), Some(c) if words::SHY_ENDS.contains(c))
            && end - scan.skip_spaces(at) == 1;
        let is_other = is_shy && scan.get(end).is_some_and(|c| words::NO_PART_BEFORE.contains(c));
        if (beside == TimeContext::Day || !is_shy) && !is_other {
            found.push((SpokenTime { part: Some(part), clock: None, until: None }, end));
        }
        let next = scan.maybe(scan.maybe(end, words::BETWEEN), words::ROUGHLY);
        let next = scan.maybe(next, words::AT);
        for (clock, end) in clocks(scan, next) {
            found.push((SpokenTime { part: Some(part), ..plain(clock) }, end));
        }
        if next > end && scan.text(end, next).contains(|c: char| "at@".contains(c)) {
            let bare = scan.number_in(next, 1..=12).filter(|(_, end)| is_whole(scan, *end));
            let spoken = |hour| SpokenTime { part: Some(part), ..plain(dial(hour, 0)) };
            found.extend(bare.map(|(hour, end)| (spoken(hour), end)));
        }
    }
    let trailing = found.iter().filter(|(spoken, _)| spoken.part.is_none()).filter_map(|found| {
        let (part, end) = trailing_part(scan, found.1)?;
        Some((SpokenTime { part: Some(part), ..found.0 }, scan.maybe(end, words::SHARP_LATIN)))
    });
    let trailing: Vec<_> = trailing.collect();
    found.extend(trailing);
    found.extend(plain_hour_with_part(scan, at));
    found
}

pub(super) fn parts(scan: &Scan, at: usize, beside: TimeContext) -> Readings<DayPart> {
    let begin = scan.skip_spaces(at);
    if words::is_word(scan, begin, words::NO_PARTS) {
        return Vec::new();
    }
    let mut found: Vec<_> = scan.word(at, words::PARTS).into_iter().collect();
    if beside == TimeContext::Day {
        found.extend(scan.word(at, words::SHY_PARTS));
    }
    for (_, end) in &mut found {
        let is_city = scan.before(*end) == Some('上');
        if is_city && words::is_word(scan, *end - 1, words::SHANGHAI) {
            *end -= 1;
        }
    }
    found.extend(scan.word(at, words::IN_THE_PARTS));
    found
}

/// `2026-11-15T10:30`: the letter is between digits.
fn iso_border(scan: &Scan, at: usize) -> Option<usize> {
    let is_digit = |at| scan.get(at).is_some_and(|c: char| c.is_ascii_digit());
    let is_border = scan.get(at) == Some('t') && is_digit(at + 1) && is_digit(at.checked_sub(1)?);
    is_border.then_some(at + 1)
}

/// A number that continues as something else is not an hour.
pub(super) fn is_half_read(scan: &Scan, end: usize) -> bool {
    matches!(scan.get(end), Some(':' | '.' | '-' | '/' | '%' | ','))
        && scan.get(end + 1).is_some_and(|c| c.is_ascii_digit())
        || matches!(scan.get(end), Some('%' | '°'))
}

/// An hour without its own mark ends at a word boundary, and counts nothing.
fn is_whole(scan: &Scan, end: usize) -> bool {
    let is_counted = scan.get(end).is_some_and(|c| words::MEASURES.contains(c) && c != '.');
    let is_joined = scan.get(end).is_some_and(|c| c.is_ascii_alphabetic());
    !is_half_read(scan, end) && !is_counted && !is_joined
}

pub(super) fn dial(hour: i8, minute: i8) -> ClockReading {
    ClockReading { hour, minute, form: HourForm::Dial }
}

pub(super) fn bare(hour: i8) -> ClockReading {
    ClockReading { hour, minute: 0, form: HourForm::Bare }
}

/// `5pm`, `5 in the morning`: an hour that only its part makes a time.
fn plain_hour_with_part(scan: &Scan, at: usize) -> Option<(SpokenTime, usize)> {
    let (hour, end) = scan.number_in(at, 1..=12)?;
    let (part, end) = trailing_part(scan, end)?;
    let end = scan.maybe(end, words::SHARP_LATIN);
    Some((SpokenTime { part: Some(part), clock: Some(dial(hour, 0)), until: None }, end))
}

/// A part of the day after a clock; a single letter is right after its digit.
fn trailing_part(scan: &Scan, at: usize) -> Option<(DayPart, usize)> {
    let is_digit = scan.before(at).is_some_and(|c| c.is_ascii_digit());
    let letter = || scan.word(at, words::LETTER_PARTS).filter(|(_, end)| *end == at + 1);
    let letter = || letter().filter(|_| is_digit && !is_half_read(scan, at + 1));
    scan.word(at, words::TRAILING_PARTS).or_else(letter)
}
