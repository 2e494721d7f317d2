//! Days: by name, by weekday, by date, by distance from another day.

use jiff::civil::{Date, Weekday};
use jiff::{ToSpan, Zoned};

use super::clock::{DayPart, TimeContext, times};
use super::numeric::{self, chinese_dates, english_dates, month_days};
use super::offsets::{amounts, offsets, within};
use super::quarters::quarter_ends;
use super::scan::{Readings, Scan};
use super::within::{within_day, within_week_or_month};
use super::{holiday_phrases, typos, words};

/// A day as it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SpokenDay {
    pub(super) which: DayChoice,
    /// The part of the day that its name implies: tonight.
    pub(super) part: Option<DayPart>,
    pub(super) sort: DayKind,
}

/// The kind of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DayKind {
    Plain,
    /// With its year: it may be in the past.
    Full,
    /// The last day of a period within which something is due.
    Within,
    /// The name of a holiday, which is an attribute elsewhere.
    Holiday,
    /// Digits that are a fraction or a score elsewhere.
    Shy,
}

/// Which day it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DayChoice {
    On(Date),
    /// The next one; today only with a time in the future.
    Next(Weekday),
}

impl SpokenDay {
    pub(super) fn plain(date: Date) -> Self {
        Self { which: DayChoice::On(date), part: None, sort: DayKind::Plain }
    }

    pub(super) fn of(date: Date, sort: DayKind) -> Self {
        Self { sort, ..Self::plain(date) }
    }

    /// The date, for what is counted from it.
    pub(super) fn date(self, today: Date) -> Option<Date> {
        match self.which {
            DayChoice::On(date) => Some(date),
            DayChoice::Next(weekday) => {
                let date = ahead(today, weekday)?;
                if date == today { plus(date, 7) } else { Some(date) }
            }
        }
    }
}

/// Days here.
pub(super) fn days(scan: &Scan, at: usize, now: &Zoned) -> Readings<SpokenDay> {
    let today = now.date();
    let mut found = Vec::new();
    for (day, end) in named_days(scan, at, now) {
        found.push((day, end));
        found.extend(relative_to_day(scan, day, end, today));
        found.extend(with_weekday(scan, day, end, now));
        found.extend(within_day(scan, day, end, today));
    }
    found.extend(weeks_on(scan, at, now));
    if let Some(next) = scan.any(at, words::FIRST_THING) {
        let days = named_days(scan, next, now).into_iter().filter(|(day, _)| day.part.is_none());
        found.extend(
            days.map(|(day, end)| (SpokenDay { part: Some(DayPart::Morning), ..day }, end)),
        );
    }
    if let Some((days, end)) = scan.word(at, words::TODAY_WEEK) {
        found.extend(plus(today, days).map(|date| (SpokenDay::plain(date), end)));
    }
    // Two weeks from Monday, the day before Christmas.
    let begin = scan.maybe(at, words::THE);
    for (amount, end) in amounts(scan, begin).into_iter().chain(one_day(scan, begin)) {
        let Some((sign, next)) = scan.word(end, words::FROM_DAY) else { continue };
        if !amount.is_of_days() {
            continue;
        }
        for (day, end) in named_days(scan, next, now) {
            let date = day.date(today).and_then(|date| amount.times(sign).day(date));
            found.extend(date.map(|date| (SpokenDay::of(date, sort_beside(day)), end)));
        }
    }
    found
}

/// A week today, a fortnight on Friday, three weeks tomorrow.
fn weeks_on(scan: &Scan, at: usize, now: &Zoned) -> Readings<SpokenDay> {
    let (today, mut found) = (now.date(), Vec::new());
    for (amount, end) in amounts(scan, at) {
        let is_weeks = amount.is_of_days() && amount.months == 0 && amount.days > 0;
        let is_led = scan.any(end, words::ON).is_some() || scan.any(end, words::NEAREST).is_some();
        if !is_weeks || amount.days % 7 != 0 || !is_led {
            continue;
        }
        for (day, end) in named_days(scan, end, now) {
            let date = day.date(today).and_then(|date| amount.day(date));
            found.extend(date.map(|date| (SpokenDay::plain(date), end)));
        }
    }
    found
}

/// A date with its weekday, in either order; they must agree: "Monday, November 30", "20日周五".
fn with_weekday(scan: &Scan, day: SpokenDay, at: usize, now: &Zoned) -> Readings<SpokenDay> {
    let next = scan.maybe(at, &[",", "，", "(", "（"]);
    let weekday = |day: SpokenDay| match day.which {
        DayChoice::Next(weekday) => Some(weekday),
        DayChoice::On(_) => None,
    };
    let others = named_days(scan, next, now).into_iter().filter_map(|(other, end)| {
        let (date, of) = match (weekday(day), weekday(other)) {
            (Some(of), None) => (other, of),
            (None, Some(of)) => (day, of),
            _ => return None,
        };
        let DayChoice::On(on) = date.which else { return None };
        (on.weekday() == of).then(|| (date, scan.maybe(end, &[")", "）"])))
    });
    others.collect()
}

fn one_day(scan: &Scan, at: usize) -> Option<(super::offsets::Amount, usize)> {
    let end = scan.any(at, &["day"])?;
    Some((super::offsets::Unit::Day.times(1), end))
}

/// A day relative to a holiday keeps its kind; others are plain.
fn sort_beside(day: SpokenDay) -> DayKind {
    match day.sort {
        DayKind::Full => DayKind::Full,
        _ => DayKind::Plain,
    }
}

/// The day before or after one: "国庆前一天", "春节后第二天", "圣诞节前三天".
fn relative_to_day(scan: &Scan, day: SpokenDay, at: usize, today: Date) -> Readings<SpokenDay> {
    let mut found = Vec::new();
    let Some(date) = day.date(today).filter(|_| day.part.is_none()) else { return found };
    if let Some((days, end)) = scan.word(at, words::BESIDE_DAY) {
        let date = plus(date, days);
        found.extend(date.map(|date| (SpokenDay::of(date, sort_beside(day)), end)));
    }
    if let Some((sign, next)) = scan.word(at, words::SIDES) {
        for (amount, end) in amounts(scan, next) {
            let is_counted = scan.get(end).is_some_and(|c| words::COUNTS_DAYS.contains(c));
            let date = amount.times(sign).day(date).filter(|_| amount.is_of_days());
            let date = date.filter(|_| !is_counted && day.sort == DayKind::Holiday);
            found.extend(date.map(|date| (SpokenDay::plain(date), end)));
        }
    }
    found
}

/// Days that are not relative to another one.
pub(super) fn named_days(scan: &Scan, at: usize, now: &Zoned) -> Readings<SpokenDay> {
    let today = now.date();
    let mut dates: Readings<Option<Date>> = Vec::new();
    let on = scan.any(at, words::ON);
    let at = on.unwrap_or(at);
    let is_name = scan.any(at, &["today"]).is_some() && scan.is_behind(at, &["usa"]);
    let is_planned = scan.any(at, words::PLANNED).is_some() && scan.is_behind(at, words::PLAN);
    let is_this = [words::THIS_WEEK, words::THIS_MONTH];
    let is_this = is_this.iter().any(|list| scan.any(at, list).is_some());
    let is_open = is_this && scan.is_behind(at, words::SOME_TIME);
    let is_other = words::is_word(scan, scan.skip_spaces(at), words::NO_DAYS);
    if is_other || is_name || is_planned || is_open {
        return Vec::new();
    }
    let near = scan.word(scan.maybe(at, words::THE), words::NEAR_DAYS);
    let near = near.or_else(|| typos::near_day(scan, at));
    dates.extend(near.map(|(days, end)| (plus(today, days), end)));
    dates.extend(calendar_weeks(scan, at, today));
    dates.extend(month_days(scan, at, today));
    dates.extend(ends(scan, at, today));
    let far = offsets(scan, at).into_iter().filter(|(amount, _)| amount.is_of_days());
    dates.extend(far.map(|(amount, end)| (amount.day(today), end)));
    let known = |(date, end): (Option<Date>, usize)| Some((SpokenDay::plain(date?), end));
    let mut found: Readings<SpokenDay> = dates.into_iter().filter_map(known).collect();
    found.extend(english_dates(scan, at, today));
    found.extend(numeric::dates(scan, at, today));
    found.extend(chinese_dates(scan, at, today));
    found.extend(holiday_phrases::holiday_dates(scan, at, today));
    for (amount, end) in within(scan, at).into_iter().filter(|(amount, _)| amount.is_of_days()) {
        let date = amount.day(today);
        found.extend(date.map(|date| (SpokenDay::of(date, DayKind::Within), end)));
    }
    found.extend(within_week_or_month(scan, at, today));
    if let Some(((days, part), end)) = scan.word(at, words::DAYS_WITH_PART) {
        let date = plus(today, days);
        found.extend(
            date.map(|date| (SpokenDay { part: Some(part), ..SpokenDay::plain(date) }, end)),
        );
    }
    found.extend(weekdays(scan, at, on.is_some()));
    found
}

/// Bare weekdays.
fn weekdays(scan: &Scan, at: usize, is_said: bool) -> Readings<SpokenDay> {
    let shy = scan
        .word(at, words::SHY_DAY_NAMES)
        .filter(|(_, end)| is_said || is_shy_day(scan, at, *end));
    let named = scan.word(at, words::DAY_NAMES).or_else(|| typos::weekday(scan, at));
    let bare = [chinese_weekday(scan, at), named, shy];
    let day =
        |weekday| SpokenDay { which: DayChoice::Next(weekday), part: None, sort: DayKind::Plain };
    bare.into_iter().flatten().map(|(weekday, end)| (day(weekday), end)).collect()
}

/// Whether a name that is a word elsewhere is a day here: "Sat", "by sat", "gym Sat", "Sat 3pm".
fn is_shy_day(scan: &Scan, at: usize, end: usize) -> bool {
    let begin = scan.skip_spaces(at);
    let next = scan.get(scan.skip_spaces(end));
    let is_closed = next.is_none() || scan.get(end).is_some_and(|c| ",;:.!?)]".contains(c));
    let is_alone = scan.text(0, begin).trim().is_empty() && next.is_none();
    let is_led = scan.is_behind(begin, words::DEADLINE_STARTS);
    let is_word = scan.any(end, words::NO_SHY_DAYS).is_some();
    let is_first = scan.text(0, begin).chars().all(|c| !c.is_alphanumeric());
    let is_named = scan.is_name(begin) && (is_closed || is_first && !is_word);
    is_alone || is_led || is_named || !times(scan, end, TimeContext::Day).is_empty()
}

pub(super) fn plus(date: Date, days: i64) -> Option<Date> {
    date.checked_add(days.days()).ok()
}

/// A weekday word with its prefix.
pub(super) fn chinese_weekday(scan: &Scan, at: usize) -> Option<(Weekday, usize)> {
    let begin = scan.skip_spaces(at);
    let week = scan.any(at, words::WEEK).filter(|_| !words::is_word(scan, begin, words::NO_DAYS));
    chinese_day_name(scan, week?)
}

/// The text after the prefix of a weekday: a numeral, or a digit that counts nothing else.
pub(super) fn chinese_day_name(scan: &Scan, at: usize) -> Option<(Weekday, usize)> {
    let is_free = |(_, end): &(Weekday, usize)| {
        !scan.get(*end).is_some_and(|c| words::NO_WEEKDAY_BEFORE.contains(c))
    };
    let digit = || scan.word(at, words::WEEK_DIGITS).filter(is_free);
    scan.word(at, words::WEEK_DAYS).or_else(digit)
}

/// An English weekday that a word before it makes unambiguous.
pub(super) fn english_weekday(scan: &Scan, at: usize) -> Option<(Weekday, usize)> {
    let named = scan.word(at, words::DAY_NAMES).or_else(|| typos::weekday(scan, at));
    named.or_else(|| scan.word(at, words::SHY_DAY_NAMES))
}

pub(super) fn in_week(today: Date, weeks: i64, day: Weekday) -> Option<Date> {
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
            let day = chinese_day_name(scan, scan.maybe(end, words::OF_WEEKDAY));
            found.extend(day.map(|(day, end)| (in_week(today, weeks, day), end)));
            if weeks > 0 {
                found.push((in_week(today, weeks, Weekday::Monday), end));
            }
        }
    }
    let begin = scan.maybe(at, words::THE);
    let named = scan.word(scan.maybe(at, words::AT_THE), words::EN_WEEKENDS);
    found.extend(named.map(|(weeks, end)| (weekend(today, weeks), end)));
    let named = scan.word(at, words::EN_NEXT_WEEK);
    found.extend(named.map(|(weeks, end)| (in_week(today, weeks, Weekday::Monday), end)));
    if let Some((weeks, end)) =
        scan.word(scan.maybe(scan.maybe(at, words::AT), words::THE), words::WEEK_ENDS)
    {
        let friday = in_week(today, weeks, Weekday::Friday).filter(|date| *date >= today);
        found.push((friday.or_else(|| in_week(today, weeks, Weekday::Sunday)), end));
    }
    let next = scan.any(begin, words::EN_NEXT).and_then(|at| english_weekday(scan, at));
    found.extend(next.map(|(day, end)| (in_week(today, 1, day), end)));
    let next = scan.any(begin, words::EN_NEXT_NEXT).and_then(|at| english_weekday(scan, at));
    found.extend(next.map(|(day, end)| (in_week(today, 2, day), end)));
    if let Some((day, end)) = english_weekday(scan, begin) {
        let next = scan.any(end, &["next week", "of next week"]);
        found.extend(next.map(|end| (in_week(today, 1, day), end)));
        let after = scan.any(end, &["week", "after next"]);
        let date = ahead(today, day).and_then(|date| plus(date, 7));
        found.extend(after.map(|end| (date, end)));
    }
    if let Some((weeks, end)) = scan.word(at, words::EN_NEXT_WEEK) {
        let day = english_weekday(scan, scan.maybe(end, words::ON));
        found.extend(day.map(|(day, end)| (in_week(today, weeks, day), end)));
    }
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

pub(super) fn in_month(today: Date, months: i64, day: i8) -> Option<Date> {
    let begin = today.first_of_month().checked_add(months.months()).ok()?;
    Date::new(begin.year(), begin.month(), day).ok()
}

/// The first or last day of a month, a quarter or a year.
fn ends(scan: &Scan, at: usize, today: Date) -> Readings<Option<Date>> {
    let mut found = Vec::new();
    let at = scan.maybe(scan.maybe(at, words::AT), words::THE);
    if let Some((months, end)) = scan.word(at, words::MONTH_ENDS) {
        found.push((in_month(today, months, 1).map(Date::last_of_month), end));
    }
    let next_day = |day| {
        let this = in_month(today, 0, day).filter(|date| *date >= today);
        this.or_else(|| in_month(today, 1, day))
    };
    found.extend(scan.any(at, words::MONTH_BEGINS).map(|end| (next_day(1), end)));
    let middle = scan.any(at, words::MONTH_MIDDLES);
    let middle =
        middle.filter(|end| !scan.get(*end).is_some_and(|c| words::NOT_MIDDLE.contains(c)));
    found.extend(middle.map(|end| (next_day(15), end)));
    found.extend(quarter_ends(scan, at, today));
    if let Some((years, end)) = scan.word(at, words::YEAR_ENDS) {
        found.push((Date::new(today.year() + years, 12, 31).ok(), end));
    }
    if let Some(end) = scan.any(at, words::YEAR_BEGINS) {
        found.push((Date::new(today.year() + 1, 1, 1).ok(), end));
    }
    found
}
