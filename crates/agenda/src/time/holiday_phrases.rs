//! Holidays and lunar dates in a text.

use jiff::civil::Date;

use super::days::{DayKind, SpokenDay};
use super::holidays::Holiday;
use super::numeric::year_before;
use super::scan::{Readings, Scan};
use super::words;

/// Holidays at this position, possibly with a year before them.
pub(super) fn holiday_dates(scan: &Scan, at: usize, today: Date) -> Readings<SpokenDay> {
    let mut found = Vec::new();
    let (year, begin) = match year_before(scan, at, today) {
        Some((year, end)) => (Some(year), scan.maybe(end, words::POSSESSIVE)),
        None => (None, at),
    };
    for (holiday, end) in holidays(scan, begin) {
        let (year, end) = match year_behind(scan, end).filter(|_| year.is_none()) {
            Some((year, end)) => (Some(year), end),
            None => (year, end),
        };
        let date = match year {
            Some(year) => holiday.in_year(year),
            None => holiday.next(today),
        };
        let end = scan.maybe(end, words::HOLIDAY_DAYS);
        found.extend(date.map(|date| (SpokenDay::of(date, DayKind::Holiday), end)));
    }
    found
}

fn year_behind(scan: &Scan, at: usize) -> Option<(i16, usize)> {
    let next = scan.skip_spaces(scan.maybe(at, words::COMMA));
    let (year, end) = scan.digits(next, 4, 4).filter(|(year, _)| (2000..2100).contains(year))?;
    Some((i16::try_from(year).ok()?, end))
}

/// Holidays without their year.
pub(super) fn holidays(scan: &Scan, at: usize) -> Readings<Holiday> {
    let mut found = Vec::new();
    found.extend(scan.word(at, words::HOLIDAYS));
    found.extend(scan.word(at, words::SHY_HOLIDAYS).filter(|(_, end)| is_free(scan, *end)));
    found.extend(lunar_date(scan, at));
    found
}

/// A number that is a holiday is not followed by something that it could count.
fn is_free(scan: &Scan, end: usize) -> bool {
    let Some(next) = scan.get(end) else { return true };
    let is_border = next.is_whitespace() || ",，。;；".contains(next);
    let is_known = scan.any(end, words::BEHIND_HOLIDAYS) > Some(end);
    let is_timed = scan.word(end, words::PARTS).is_some();
    is_border || is_known || is_timed
}

/// "农历八月十五", "正月初三", "腊月廿五", "农历初一".
fn lunar_date(scan: &Scan, at: usize) -> Option<(Holiday, usize)> {
    let lunar = scan.any(at, words::LUNAR);
    let begin = lunar.unwrap_or(at);
    let leap = scan.any(begin, words::LUNAR_LEAP);
    let begin = leap.unwrap_or(begin);
    let named = scan.word(begin, words::LUNAR_MONTHS);
    let numbered = || {
        let (month, end) = scan.number_in(begin, 1..=12)?;
        Some((month, scan.any(end, words::MONTH)?))
    };
    let is_lunar = |end: usize| {
        let is_marked = scan.get(end).is_some_and(|c| words::LUNAR_MARKS.contains(c));
        lunar.is_some() || is_marked || is_festive(scan, end)
    };
    if let Some((month, end)) = named.or_else(|| numbered().filter(|(_, end)| is_lunar(*end))) {
        let (day, end) = lunar_day(scan, end)?;
        let holiday = match leap {
            Some(_) => Holiday::LunarLeap(month, day),
            None => Holiday::Lunar(month, day),
        };
        return Some((holiday, end));
    }
    let (day, end) = lunar_day(scan, lunar?).filter(|_| leap.is_none())?;
    Some((Holiday::LunarDay(day), end))
}

/// "八月十五赏月": a day in words without its mark is lunar with an activity of a lunar holiday.
pub(super) fn is_festive(scan: &Scan, at: usize) -> bool {
    let day = scan.number_in(at, 1..=30);
    let Some((_, end)) = day.filter(|_| !scan.get(at).is_some_and(|c| c.is_ascii_digit())) else {
        return false;
    };
    let rest = scan.text(end, scan.len());
    scan.any(end, words::DAY_OF_MONTH).is_none()
        && words::LUNAR_THINGS.iter().any(|thing| rest.contains(thing))
}

fn lunar_day(scan: &Scan, at: usize) -> Option<(i8, usize)> {
    match scan.any(at, words::LUNAR_FIRST) {
        Some(at) => scan
            .number_in(at, 1..=10)
            .filter(|(_, end)| !scan.get(*end).is_some_and(|c| words::MEASURES.contains(c))),
        None => {
            let (day, end) = scan.number_in(at, 1..=30)?;
            Some((day, scan.maybe(end, words::DAY_OF_MONTH)))
        }
    }
}
