//! Dates in numbers, with or without the words for year, month and day.

use jiff::civil::{Date, Weekday};
use jiff::{ToSpan, civil};

use super::clock::{TimeContext, times};
use super::days::{DayKind, SpokenDay, chinese_weekday, english_weekday, in_month};
use super::scan::{Readings, Scan};
use super::words;

/// Dates in digits.
pub(super) fn dates(scan: &Scan, at: usize, today: Date) -> Readings<SpokenDay> {
    let at = scan.skip_spaces(at);
    let mut found = Vec::new();
    let full =
        |found: (Option<Date>, usize)| Some((SpokenDay::of(found.0?, DayKind::Full), found.1));
    found.extend(year_first(scan, at).and_then(full));
    found.extend(year_last(scan, at).and_then(full));
    found.extend(compact(scan, at).and_then(full));
    found.extend(without_year(scan, at, today));
    found
}

/// `2026-11-15`, `2026/11/15` and `2026.11.15`.
fn year_first(scan: &Scan, at: usize) -> Option<(Option<Date>, usize)> {
    let (year, end) = scan.digits(at, 4, 4)?;
    let separator = scan.get(end).filter(|c| matches!(c, '-' | '/' | '.'))?;
    let (month, end) = scan.digits(end + 1, 1, 2)?;
    let end = (scan.get(end) == Some(separator)).then_some(end + 1)?;
    let (day, end) = scan.digits(end, 1, 2)?;
    Some((date(year, month, day), end))
}

/// `11/15/2026`, `15.11.2026`; a first number that is not a month is the day.
fn year_last(scan: &Scan, at: usize) -> Option<(Option<Date>, usize)> {
    let (first, end) = scan.digits(at, 1, 2)?;
    let separator = scan.get(end).filter(|c| matches!(c, '-' | '/' | '.'))?;
    let (second, end) = scan.digits(end + 1, 1, 2)?;
    let end = (scan.get(end) == Some(separator)).then_some(end + 1)?;
    let (year, end) = match scan.digits(end, 4, 4) {
        Some(found) => found,
        None => scan.digits(end, 2, 2).map(|(year, end)| (year + 2000, end))?,
    };
    let day_first = separator == '.' || first > 12;
    let (month, day) = if day_first { (second, first) } else { (first, second) };
    Some((date(year, month, day), end))
}

/// `20261115`.
fn compact(scan: &Scan, at: usize) -> Option<(Option<Date>, usize)> {
    let (_, end) = scan.digits(at, 8, 8)?;
    if scan.is_behind(at, words::NUMBER_OF) {
        return None;
    }
    let number = |from, to| scan.text(from, to).parse().ok();
    let (year, month, day) = (number(at, at + 4)?, number(at + 4, at + 6)?, number(at + 6, end)?);
    (2000..2100).contains(&year).then_some((date(year, month, day), end))
}

/// `12/24`, `12-25`, `12.25`, `24.12.`: the next such day. The marks are fractions and scores too.
fn without_year(scan: &Scan, at: usize, today: Date) -> Option<(SpokenDay, usize)> {
    let (first, end) = scan.digits(at, 1, 2)?;
    let separator = scan.get(end).filter(|c| matches!(c, '-' | '/' | '.'))?;
    let (second, end) = scan.digits(end + 1, 1, 2)?;
    let goes_on = |at| scan.get(at).is_some_and(|c: char| c.is_ascii_digit());
    if scan.get(end) == Some(separator) && goes_on(end + 1) {
        return None;
    }
    let closed = separator == '.' && scan.get(end) == Some('.');
    let end = if closed { end + 1 } else { end };
    let day_first = closed || first > 12;
    let (month, day) = if day_first { (second, first) } else { (first, second) };
    let date = next_date(today, i8::try_from(month).ok()?, i8::try_from(day).ok()?)?;
    let sort = if closed { DayKind::Plain } else { DayKind::Shy };
    Some((SpokenDay::of(date, sort), end))
}

fn date(year: u32, month: u32, day: u32) -> Option<Date> {
    let (year, month, day) = (year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?);
    Date::new(year, month, day).ok().filter(|date| date.year() >= 1000)
}

/// A year before a month or a holiday: "2027年", "明年".
pub(super) fn year_before(scan: &Scan, at: usize, today: Date) -> Option<(i16, usize)> {
    if let Some((years, end)) = scan.word(at, words::YEARS) {
        return Some((today.year() + years, end));
    }
    let (number, end) = scan.number(at)?;
    let number = if (20..100).contains(&number) { number + 2000 } else { number };
    let year = i16::try_from(number).ok().filter(|year| (1000..=9999).contains(year))?;
    Some((year, scan.any(end, words::YEAR)?))
}

/// Year, month and day in Chinese; a date without a year is the next one, today included.
pub(super) fn chinese_dates(scan: &Scan, at: usize, today: Date) -> Readings<SpokenDay> {
    let mut found = Vec::new();
    let (year, after) = match year_before(scan, at, today) {
        Some((year, end)) => (Some(year), scan.maybe(end, words::POSSESSIVE)),
        None => (None, at),
    };
    let Some((month, end)) = scan.number_in(after, 1..=12) else { return found };
    let Some(end) = scan.any(end, words::MONTH) else { return found };
    let is_relative = scan.word(at, words::YEARS).is_some();
    let sort = if year.is_some() && !is_relative { DayKind::Full } else { DayKind::Plain };
    let mut push = |date: Option<Date>, end| {
        found.extend(date.map(|date| (SpokenDay::of(date, sort), end)));
    };
    let is_feast = super::holiday_phrases::is_festive(scan, end);
    // "十二月廿五" without a word for the day is lunar.
    let is_marked = scan.get(end).is_some_and(|c| words::LUNAR_MARKS.contains(c));
    if let Some((day, end)) = scan.number_in(end, 1..=31) {
        match scan.any(end, words::DAY_OF_MONTH) {
            Some(end) => push(in_year(today, year, month, day), end),
            None if is_bare_day(scan, end) && !is_feast && !is_marked => {
                push(in_year(today, year, month, day), end)
            }
            None => {}
        }
    }
    let first = match year {
        None if today.month() == month => Some(today.first_of_month()),
        _ => in_year(today, year, month, 1),
    };
    if let Some(end) = scan.any(end, words::END) {
        push(first.map(Date::last_of_month), end);
    }
    // "12月前" ends with the last day of November.
    if let Some(end) = scan.any(end, words::BEFORE_MONTH)
        && (year.is_some() || today.month() != month)
    {
        push(in_year(today, year, month, 1).and_then(|first| first.yesterday().ok()), end);
    }
    if let Some(end) = scan.any(end, words::BEGIN) {
        push(in_year(today, year, month, 1), end);
    }
    if let Some((n, end)) = scan.word(scan.maybe(end, words::POSSESSIVE), words::NTH)
        && let Some((weekday, end)) = chinese_weekday(scan, end)
    {
        push(nth_ahead(today, year, month, n, weekday), end);
    }
    found
}

/// A day of a month without its word: the number must not count what follows.
fn is_bare_day(scan: &Scan, end: usize) -> bool {
    !scan.get(end).is_some_and(|c| words::MEASURES.contains(c))
}

/// The nth weekday of a month in that year, or the next one.
fn nth_ahead(today: Date, year: Option<i16>, month: i8, n: i8, day: Weekday) -> Option<Date> {
    let in_year = |year| civil::Date::new(year, month, 1).ok()?.nth_weekday_of_month(n, day).ok();
    match year {
        Some(year) => in_year(year),
        None => (0..=8).filter_map(|n| in_year(today.year() + n)).find(|date| *date >= today),
    }
}

pub(super) fn in_year(today: Date, year: Option<i16>, month: i8, day: i8) -> Option<Date> {
    match year {
        Some(year) => Date::new(year, month, day).ok(),
        None => next_date(today, month, day),
    }
}

/// The next such date from today on. Eight years always hold a February 29.
pub(super) fn next_date(today: Date, month: i8, day: i8) -> Option<Date> {
    let years = (0..=8).filter_map(|years| Date::new(today.year() + years, month, day).ok());
    years.into_iter().find(|date| *date >= today)
}

/// The next such day of a month from today on; months without it are skipped.
pub(super) fn next_month_day(today: Date, day: i8) -> Option<Date> {
    let months = (0..=3).filter_map(|months| in_month(today, months, day));
    months.into_iter().find(|date| *date >= today)
}

/// A day of a relative month ("next month"), or of the nearest month.
pub(super) fn month_days(scan: &Scan, at: usize, today: Date) -> Readings<Option<Date>> {
    let mut found = Vec::new();
    let day = |at| {
        let (day, end) = scan.number_in(at, 1..=31)?;
        Some((day, scan.any(end, words::DAY_OF_MONTH)?))
    };
    let alone = day(at).filter(|(_, end)| scan.any(*end, words::NUMBERED_THINGS).is_none());
    found.extend(alone.map(|(day, end)| (next_month_day(today, day), end)));
    if let Some((months, end)) = scan.word(at, words::MONTHS_AWAY) {
        let end = scan.maybe(end, words::POSSESSIVE);
        found.extend(day(end).map(|(day, end)| (in_month(today, months, day), end)));
        let first = in_month(today, months, 1);
        found.extend(scan.any(end, words::END).map(|end| (first.map(Date::last_of_month), end)));
        found.extend(scan.any(end, words::BEGIN).map(|end| (first, end)));
        let middle = scan.any(end, words::MIDDLE);
        let is_day = |end: &usize| !scan.get(*end).is_some_and(|c| words::NOT_MIDDLE.contains(c));
        found.extend(middle.filter(is_day).map(|end| (in_month(today, months, 15), end)));
        if let Some((n, end)) = scan.word(end, words::NTH)
            && let Some((weekday, end)) = chinese_weekday(scan, end)
        {
            let date = first.and_then(|first| first.nth_weekday_of_month(n, weekday).ok());
            found.push((date, end));
        }
        if months > 0 {
            found.push((first, end));
        }
    }
    let next = scan.word(at, words::EN_MONTHS_AWAY).filter(|(months, _)| *months > 0);
    found.extend(next.map(|(months, end)| (in_month(today, months, 1), end)));
    found
}

/// `Nov 20`, `November 20th, 2027`, `20 Nov`, `the 20th of November`, `the 20th`, `first Monday of
/// December`, `end of next month`.
pub(super) fn english_dates(scan: &Scan, at: usize, today: Date) -> Readings<SpokenDay> {
    let mut found = Vec::new();
    let plain = |date: Option<Date>| date.map(SpokenDay::plain);
    let mut with_year = |month: i8, day: i8, end| {
        let next = scan.skip_spaces(scan.maybe(end, words::COMMA));
        let year = scan.digits(next, 4, 4);
        // February 29, 2027 is not the next one that there is.
        let is_broken = (month, day) == (2, 29)
            && year.is_some_and(|(year, _)| (1900..2200).contains(&year))
            && year.is_some_and(|(year, _)| date(year, 2, 29).is_none());
        if !is_broken {
            found.push((plain(next_date(today, month, day)), end));
        }
        if let Some((year, end)) = year {
            let year = i16::try_from(year).ok().filter(|year| *year >= 1000);
            let date = year.and_then(|year| Date::new(year, month, day).ok());
            found.push((date.map(|date| SpokenDay::of(date, DayKind::Full)), end));
        }
        if let Some((years, end)) = scan.word(next, words::EN_YEARS) {
            found.push((plain(Date::new(today.year() + years, month, day).ok()), end));
        }
    };
    if let Some((month, end)) = month_name(scan, at)
        && let Some((day, end)) = ordinal(scan, scan.maybe(end, words::THE))
        && (day.is_marked || scan.any(end, words::COUNTED_THINGS).is_none())
    {
        with_year(month, day.number, end);
    }
    let the = scan.any(at, words::THE);
    let begin = the.unwrap_or(at);
    if let Some((day, end)) = ordinal(scan, begin) {
        if let Some((month, end)) = month_name(scan, scan.maybe(end, words::OF)) {
            with_year(month, day.number, end);
        }
        let of = scan.any(end, words::OF).and_then(|at| scan.word(at, words::EN_MONTHS_AWAY));
        found.extend(of.map(|(months, end)| (plain(in_month(today, months, day.number)), end)));
        let is_led = scan.is_behind(begin, words::BEFORE_ORDINALS);
        let is_thing = scan.any(end, words::ORDINAL_THINGS).is_some();
        if !is_thing
            && (the.is_some() || is_led || is_day_of_month(scan, begin, end))
            && day.is_marked
        {
            found.push((plain(next_month_day(today, day.number)), end));
        }
    }
    let begin = scan.maybe(scan.maybe(at, words::AT), words::THE);
    let of_months = days_of_months(scan, begin, today).into_iter();
    found.extend(of_months.map(|(date, end)| (plain(date), end)));
    let known = found.into_iter().filter_map(|(day, end)| Some((day?, end)));
    known.chain(weekday_and_day(scan, at, today)).collect()
}

/// "20th" alone, at the end or with a time after it is a day; "second" is text, and so is
/// somebody's 30th.
fn is_day_of_month(scan: &Scan, begin: usize, end: usize) -> bool {
    let is_written = scan.get(scan.skip_spaces(begin)).is_some_and(|c| c.is_ascii_digit());
    let rest = scan.text(end, scan.len());
    let is_last = rest.trim_matches(super::titles::is_end).is_empty();
    let head = scan.text(0, begin);
    let head = head.trim_end();
    let is_of_somebody = head.ends_with("'s") || head.ends_with("s'");
    let is_counted = is_of_somebody || scan.is_behind(begin, words::BEFORE_COUNTED);
    let is_timed = || !times(scan, end, TimeContext::Day).is_empty();
    is_written && !is_counted && (is_last || is_timed())
}

/// "Wed 25th", "Friday the 18th": the first such day of this month and the next two.
fn weekday_and_day(scan: &Scan, at: usize, today: Date) -> Option<(SpokenDay, usize)> {
    let (weekday, end) = english_weekday(scan, at)?;
    let next = scan.maybe(scan.maybe(end, words::COMMA), words::THE);
    let (day, end) = ordinal(scan, next).filter(|(day, _)| day.is_marked)?;
    let mut months = (0..=2).filter_map(|months| in_month(today, months, day.number));
    let date = months.find(|date| *date >= today && date.weekday() == weekday)?;
    Some((SpokenDay::plain(date), end))
}

/// "the first Monday of December", "the last Friday of this month", "last day of November".
fn days_of_months(scan: &Scan, at: usize, today: Date) -> Readings<Option<Date>> {
    let mut found = Vec::new();
    let month = |at| {
        if let Some((months, end)) = scan.word(at, words::EN_MONTHS_AWAY) {
            return Some((in_month(today, months, 1), end));
        }
        let (month, end) = month_name(scan, at)?;
        let year = scan.digits(scan.skip_spaces(end), 4, 4);
        let first = if month == today.month() {
            Some(today.first_of_month())
        } else {
            next_date(today, month, 1)
        };
        match year.and_then(|(year, end)| Some((i16::try_from(year).ok()?, end))) {
            Some((year, end)) => Some((Date::new(year, month, 1).ok(), end)),
            None => Some((first, end)),
        }
    };
    if let Some((n, end)) = scan.word(at, words::NTH)
        && let Some((weekday, end)) = english_weekday(scan, end)
        && let Some((first, end)) = scan.any(end, words::OF).and_then(month)
    {
        found.push((first.and_then(|first| first.nth_weekday_of_month(n, weekday).ok()), end));
    }
    if let Some((day, end)) = scan.word(at, words::EN_MONTH_DAYS)
        && let Some((first, end)) = month(end)
    {
        let date = |first: Date| match day {
            -1 => Some(first.last_of_month()),
            day => first.checked_add(i64::from(day - 1).days()).ok(),
        };
        found.push((first.and_then(date), end));
    }
    found
}

pub(super) fn month_name(scan: &Scan, at: usize) -> Option<(i8, usize)> {
    let named = scan.word(at, words::MONTH_NAMES);
    let (month, end) = named.or_else(|| super::typos::month(scan, at))?;
    Some((month, scan.maybe(end, words::FULL_STOP)))
}

/// A day of a month in English, in digits or as a word, possibly with its suffix.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ordinal {
    pub(super) number: i8,
    pub(super) is_marked: bool,
}

pub(super) fn ordinal(scan: &Scan, at: usize) -> Option<(Ordinal, usize)> {
    if let Some((number, end)) = scan.word(at, words::ORDINAL_WORDS) {
        return Some((Ordinal { number, is_marked: true }, end));
    }
    let (number, end) = scan.digits(scan.skip_spaces(at), 1, 2)?;
    let number = i8::try_from(number).ok().filter(|n| (1..=31).contains(n))?;
    let marked = scan
        .any(end, words::ORDINALS)
        .filter(|_| scan.get(end).is_some_and(|c| c.is_ascii_alphabetic()));
    let is_clock = scan.get(end) == Some(':') || scan.word(end, words::TRAILING_PARTS).is_some();
    if is_clock && marked.is_none() {
        return None;
    }
    Some((Ordinal { number, is_marked: marked.is_some() }, marked.unwrap_or(end)))
}
