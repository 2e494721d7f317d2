//! Days: by name, by weekday, by date.

use jiff::civil::{Date, Weekday};
use jiff::{ToSpan, Zoned};

use super::clock::{Beside, Part, times};
use super::offsets::offsets;
use super::scan::{Readings, Scan};
use super::words;

/// A day as it was said.
#[derive(Debug, Clone, Copy)]
pub(super) struct Day {
    pub(super) which: Which,
    /// The part of the day that its name brought: tonight.
    pub(super) part: Option<Part>,
}

/// Which day it is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Which {
    On(Date),
    /// The next one ahead; today only with a time that is still ahead.
    Next(Weekday),
}

/// Days here.
pub(super) fn days(scan: &Scan, at: usize, now: &Zoned) -> Readings<Day> {
    let today = now.date();
    let mut found: Readings<Option<Date>> = Vec::new();
    let on = scan.any(at, words::ON);
    let at = on.unwrap_or(at);
    let near = scan.word(scan.maybe(at, words::THE), words::NEAR_DAYS);
    found.extend(near.map(|(days, end)| (plus(today, days), end)));
    found.extend(calendar_weeks(scan, at, today));
    found.extend(numeric(scan, at));
    found.extend(chinese_dates(scan, at, today));
    found.extend(month_days(scan, at, today));
    found.extend(english_dates(scan, at, today));
    found.extend(ends(scan, at, today));
    found.extend(offsets(scan, at).into_iter().map(|(amount, end)| (amount.day(today), end)));
    let known = |(date, end): (Option<Date>, usize)| {
        Some((Day { which: Which::On(date?), part: None }, end))
    };
    let mut found: Readings<Day> = found.into_iter().filter_map(known).collect();
    if let Some(((days, part), end)) = scan.word(at, words::DAYS_WITH_PART) {
        let date = plus(today, days);
        found.extend(date.map(|date| (Day { which: Which::On(date), part: Some(part) }, end)));
    }
    let shy = scan
        .word(at, words::SHY_DAY_NAMES)
        .filter(|(_, end)| on.is_some() || !times(scan, *end, Beside::Day).is_empty());
    let bare = [chinese_weekday(scan, at), scan.word(at, words::DAY_NAMES), shy];
    for (weekday, end) in bare.into_iter().flatten() {
        found.push((Day { which: Which::Next(weekday), part: None }, end));
    }
    found
}

fn plus(date: Date, days: i64) -> Option<Date> {
    date.checked_add(days.days()).ok()
}

/// A weekday word with its prefix.
pub(super) fn chinese_weekday(scan: &Scan, at: usize) -> Option<(Weekday, usize)> {
    scan.word(scan.any(at, words::WEEK)?, words::WEEK_DAYS)
}

/// An English weekday where a word before it makes clear that it is one.
pub(super) fn english_weekday(scan: &Scan, at: usize) -> Option<(Weekday, usize)> {
    scan.word(at, words::DAY_NAMES).or_else(|| scan.word(at, words::SHY_DAY_NAMES))
}

fn in_week(today: Date, weeks: i64, day: Weekday) -> Option<Date> {
    let offset = |day: Weekday| i64::from(day.to_monday_zero_offset());
    plus(today, weeks * 7 + offset(day) - offset(today.weekday()))
}

/// Saturday of the week; on a Sunday this weekend is today.
fn weekend(today: Date, weeks: i64) -> Option<Date> {
    match weeks {
        0 if today.weekday() == Weekday::Sunday => Some(today),
        _ => in_week(today, weeks, Weekday::Saturday),
    }
}

/// Days of a named week, and the named week itself, which begins on Monday.
fn calendar_weeks(scan: &Scan, at: usize, today: Date) -> Readings<Option<Date>> {
    let mut found = Vec::new();
    let (weeks, after) = match scan.word(at, words::ZH_WEEKS) {
        Some((weeks, end)) => (Some(weeks), end),
        None => (None, at),
    };
    if let Some(end) = scan.any(after, words::WEEK) {
        if let Some(end) = scan.any(end, words::WEEK_END) {
            found.push((weekend(today, weeks.unwrap_or(0)), end));
        }
        if let Some(weeks) = weeks {
            let day = scan.word(end, words::WEEK_DAYS);
            found.extend(day.map(|(day, end)| (in_week(today, weeks, day), end)));
            if weeks > 0 {
                found.push((in_week(today, weeks, Weekday::Monday), end));
            }
        }
    }
    let named = scan.word(scan.maybe(at, words::THE), words::EN_WEEKENDS);
    found.extend(named.map(|(weeks, end)| (weekend(today, weeks), end)));
    let named = scan.word(at, words::EN_NEXT_WEEK);
    found.extend(named.map(|(weeks, end)| (in_week(today, weeks, Weekday::Monday), end)));
    let next = scan.any(at, words::EN_NEXT).and_then(|at| english_weekday(scan, at));
    found.extend(next.map(|(day, end)| (in_week(today, 1, day), end)));
    let this = scan.any(at, words::EN_THIS).and_then(|at| english_weekday(scan, at));
    found.extend(this.map(|(day, end)| (ahead(today, day), end)));
    let last = scan.any(at, words::EN_LAST).and_then(|at| english_weekday(scan, at));
    let before = |day| ahead(today, day).and_then(|date| plus(date, -7));
    found.extend(last.map(|(day, end)| (before(day), end)));
    found
}

/// The first such weekday from today on.
pub(super) fn ahead(today: Date, day: Weekday) -> Option<Date> {
    plus(today, i64::from(today.weekday().until(day)))
}

/// `2026-11-15` and `2026/11/15`.
fn numeric(scan: &Scan, at: usize) -> Option<(Option<Date>, usize)> {
    let at = scan.skip_spaces(at);
    let (year, end) = scan.digits(at, 4, 4)?;
    let separator = scan.get(end).filter(|c| matches!(c, '-' | '/'))?;
    let (month, end) = scan.digits(end + 1, 1, 2)?;
    let end = (scan.get(end) == Some(separator)).then_some(end + 1)?;
    let (day, end) = scan.digits(end, 1, 2)?;
    Some((date(year, month, day), end))
}

fn date(year: u32, month: u32, day: u32) -> Option<Date> {
    let (year, month, day) = (year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?);
    Date::new(year, month, day).ok()
}

/// Year, month and day in Chinese; a date without a year is the next one, today included.
fn chinese_dates(scan: &Scan, at: usize, today: Date) -> Readings<Option<Date>> {
    let mut found = Vec::new();
    let (mut year, mut after) = (None, at);
    if let Some((years, end)) = scan.word(at, words::YEARS) {
        (year, after) = (Some(i64::from(today.year() + years)), end);
    } else if let Some((number, end)) = scan.number(at)
        && let Some(end) = scan.any(end, words::YEAR)
    {
        (year, after) = (Some(i64::from(number)), end);
    }
    let Some((month, end)) = scan.number_in(after, 1..=12) else { return found };
    let Some(end) = scan.any(end, words::MONTH) else { return found };
    if let Some((day, end)) = scan.number_in(end, 1..=31)
        && let Some(end) = scan.any(end, words::DAY_OF_MONTH)
    {
        found.push((in_year(today, year, month, day), end));
    }
    if let Some(end) = scan.any(end, words::END) {
        let last = in_year(today, year, month, 1).map(Date::last_of_month);
        let this_month = today.month() == month && year.is_none();
        found.push((if this_month { Some(today.last_of_month()) } else { last }, end));
    }
    found
}

fn in_year(today: Date, year: Option<i64>, month: i8, day: i8) -> Option<Date> {
    match year {
        Some(year) => {
            let year = i16::try_from(year).ok().filter(|year| *year >= 1000)?;
            Date::new(year, month, day).ok()
        }
        None => next_date(today, month, day),
    }
}

/// The next such date from today on. Eight years always hold a February 29.
pub(super) fn next_date(today: Date, month: i8, day: i8) -> Option<Date> {
    let years = (0..=8).filter_map(|years| Date::new(today.year() + years, month, day).ok());
    years.into_iter().find(|date| *date >= today)
}

/// The next such day of a month from today on; months without it are passed over.
pub(super) fn next_month_day(today: Date, day: i8) -> Option<Date> {
    let months = (0..=3).filter_map(|months| in_month(today, months, day));
    months.into_iter().find(|date| *date >= today)
}

fn in_month(today: Date, months: i64, day: i8) -> Option<Date> {
    let begin = today.first_of_month().checked_add(months.months()).ok()?;
    Date::new(begin.year(), begin.month(), day).ok()
}

/// A day of a month that was named by its distance, or of the nearest month.
fn month_days(scan: &Scan, at: usize, today: Date) -> Readings<Option<Date>> {
    let mut found = Vec::new();
    let day = |at| {
        let (day, end) = scan.number_in(at, 1..=31)?;
        Some((day, scan.any(end, words::DAY_OF_MONTH)?))
    };
    found.extend(day(at).map(|(day, end)| (next_month_day(today, day), end)));
    if let Some((months, end)) = scan.word(at, words::MONTHS_AWAY) {
        found.extend(day(end).map(|(day, end)| (in_month(today, months, day), end)));
        let last = in_month(today, months, 1).map(Date::last_of_month);
        found.extend(scan.any(end, words::END).map(|end| (last, end)));
        let first = in_month(today, months, 1);
        found.extend(scan.any(end, words::BEGIN).map(|end| (first, end)));
        if months > 0 {
            found.push((first, end));
        }
    }
    let next = scan.word(at, words::EN_MONTHS_AWAY).filter(|(months, _)| *months > 0);
    found.extend(next.map(|(months, end)| (in_month(today, months, 1), end)));
    found
}

/// The last day of a month or of a year.
fn ends(scan: &Scan, at: usize, today: Date) -> Readings<Option<Date>> {
    let mut found = Vec::new();
    let at = scan.maybe(scan.maybe(at, words::AT), words::THE);
    if let Some((months, end)) = scan.word(at, words::MONTH_ENDS) {
        found.push((in_month(today, months, 1).map(Date::last_of_month), end));
    }
    if let Some((years, end)) = scan.word(at, words::YEAR_ENDS) {
        found.push((Date::new(today.year() + years, 12, 31).ok(), end));
    }
    found
}

/// `Nov 20`, `November 20th, 2027`, `20 Nov`, `the 20th of November`, `the 20th`.
fn english_dates(scan: &Scan, at: usize, today: Date) -> Readings<Option<Date>> {
    let mut found = Vec::new();
    let mut with_year = |month, day, end| {
        found.push((next_date(today, month, day), end));
        let next = scan.skip_spaces(scan.maybe(end, words::COMMA));
        if let Some((year, end)) = scan.digits(next, 4, 4) {
            found.push((in_year(today, Some(i64::from(year)), month, day), end));
        }
    };
    if let Some((month, end)) = month_name(scan, at)
        && let Some((day, end)) = ordinal(scan, scan.maybe(end, words::THE))
    {
        with_year(month, day.number, end);
    }
    let the = scan.any(at, words::THE);
    let Some((day, end)) = ordinal(scan, scan.maybe(at, words::THE)) else { return found };
    if let Some((month, end)) = month_name(scan, scan.maybe(end, words::OF)) {
        with_year(month, day.number, end);
    }
    let of = scan.any(end, words::OF).and_then(|at| scan.word(at, words::EN_MONTHS_AWAY));
    found.extend(of.map(|(months, end)| (in_month(today, months, day.number), end)));
    if the.is_some() && day.is_marked {
        found.push((next_month_day(today, day.number), end));
    }
    found
}

fn month_name(scan: &Scan, at: usize) -> Option<(i8, usize)> {
    let (month, end) = scan.word(at, words::MONTH_NAMES)?;
    Some((month, scan.maybe(end, words::FULL_STOP)))
}

/// A day of a month in English, in digits, perhaps with its ending.
pub(super) struct Ordinal {
    pub(super) number: i8,
    pub(super) is_marked: bool,
}

pub(super) fn ordinal(scan: &Scan, at: usize) -> Option<(Ordinal, usize)> {
    let (number, end) = scan.digits(scan.skip_spaces(at), 1, 2)?;
    let number = i8::try_from(number).ok().filter(|n| (1..=31).contains(n))?;
    let marked = scan
        .any(end, words::ORDINALS)
        .filter(|_| scan.get(end).is_some_and(|c| c.is_ascii_alphabetic()));
    Some((Ordinal { number, is_marked: marked.is_some() }, marked.unwrap_or(end)))
}
