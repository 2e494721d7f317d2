//! Repetitions: every day, every other Friday, every month on the 1st.

use jiff::Zoned;
use jiff::civil::{Date, Weekday};

use super::clock::Part;
use super::days::{chinese_weekday, english_weekday, next_date, next_month_day, ordinal};
use super::offsets::{Amount, amounts};
use super::repeat::{MonthDay, Repeat, Weekdays};
use super::scan::{Readings, Scan};
use super::words;

/// A repetition as it was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Every {
    pub(super) repeat: Repeat,
    /// The month and day of a yearly one, if they were said.
    pub(super) date: Option<(i8, i8)>,
    /// The part of the day that its name brought: every night.
    pub(super) part: Option<Part>,
}

impl Every {
    fn plain(repeat: Repeat) -> Self {
        Self { repeat, date: None, part: None }
    }

    /// The first fitting day from `from` on.
    pub(super) fn first_day(&self, from: Date) -> Option<Date> {
        match &self.repeat {
            Repeat::Minutes { .. } | Repeat::Daily { .. } => Some(from),
            Repeat::Weekly { days, .. } => {
                let mut week = from.series(jiff::ToSpan::days(1)).take(7);
                week.find(|date| days.contains(date.weekday()))
            }
            Repeat::Monthly { day: MonthDay::Day(day), .. } => next_month_day(from, *day),
            Repeat::Monthly { day: MonthDay::Last, .. } => Some(from.last_of_month()),
            Repeat::Yearly { .. } => match self.date {
                Some((month, day)) => next_date(from, month, day),
                None => Some(from),
            },
        }
    }
}

/// Repetitions here, without their time of day.
pub(super) fn everies(scan: &Scan, at: usize, now: &Zoned) -> Readings<Every> {
    let mut found = Vec::new();
    let mut plain = |list, repeat: Repeat| {
        found.extend(scan.any(at, list).map(|end| (Every::plain(repeat), end)));
    };
    plain(words::DAILY, Repeat::Daily { every: 1 });
    plain(words::WORKING_DAYS, Repeat::Weekly { every: 1, days: Weekdays::WORKING });
    plain(words::WEEKENDS, Repeat::Weekly { every: 1, days: Weekdays::WEEKEND });
    plain(words::HOURLY, Repeat::every_minutes(60));
    let last = Every::plain(Repeat::Monthly { every: 1, day: MonthDay::Last });
    let last_day = scan.any(scan.maybe(at, words::THE), words::LAST_DAY_OF_EVERY_MONTH);
    found.extend(last_day.map(|end| (last, end)));
    for (list, amount) in [
        (words::WEEKLY, Amount::Days(7)),
        (words::MONTHLY, Amount::Months(1)),
        (words::QUARTERLY, Amount::Months(3)),
        (words::YEARLY, Amount::Months(12)),
    ] {
        if let Some(end) = scan.any(at, list) {
            found.extend(with_details(scan, amount, end, now));
        }
    }
    if let Some((part, end)) = scan.word(at, words::DAILY_PARTS) {
        let daily = Every::plain(Repeat::Daily { every: 1 });
        found.push((Every { part: Some(part), ..daily }, end));
    }
    found.extend(weekday_lists(scan, at));
    found.extend(day_of_every_month(scan, at));
    for (amount, end) in intervals(scan, at) {
        found.extend(with_details(scan, amount, end, now));
    }
    found
}

/// "every 2 weeks", "every other month": an amount between two occurrences.
///
/// A gap of one day, week, month or year leaves that one out, so it is an interval of two.
fn intervals(scan: &Scan, at: usize) -> Readings<Amount> {
    let mut found = Vec::new();
    if let Some(at) = scan.any(at, words::EVERY) {
        found.extend(amounts(scan, at));
        found.extend(scan.word(at, words::UNITS).map(|(unit, end)| (unit.times(1), end)));
        let other = scan.any(at, words::OTHER).and_then(|at| scan.word(at, words::UNITS));
        found.extend(other.map(|(unit, end)| (unit.times(2), end)));
    }
    if let Some(at) = scan.any(at, words::EVERY_GAP) {
        let bare = scan.word(at, words::UNITS).map(|(unit, end)| (unit.times(1), end));
        for (amount, end) in amounts(scan, at).into_iter().chain(bare) {
            let amount = match amount {
                Amount::Days(n @ (1 | 7)) => Amount::Days(n * 2),
                Amount::Months(n @ (1 | 12)) => Amount::Months(n * 2),
                amount => amount,
            };
            found.push((amount, end));
        }
    }
    found
}

/// The repetition of an interval, alone and with the day that may follow it.
fn with_details(scan: &Scan, amount: Amount, end: usize, now: &Zoned) -> Readings<Every> {
    let mut found = Vec::new();
    match amount {
        Amount::Minutes(n) => {
            let every = u32::try_from(n).ok().map(Repeat::every_minutes);
            found.extend(every.map(|repeat| (Every::plain(repeat), end)));
        }
        Amount::Days(n) if n % 7 == 0 => {
            let Ok(every) = u32::try_from(n / 7) else { return found };
            let weekly = |days| Every::plain(Repeat::Weekly { every, days });
            found.push((weekly(now.date().weekday().into()), end));
            let next = scan.maybe(end, words::DAYS_ON);
            let lists = lists(scan, next).into_iter().chain(chinese_tails(scan, next));
            found.extend(lists.map(|(days, end)| (weekly(days), end)));
        }
        Amount::Days(n) => {
            let every = u32::try_from(n).ok();
            found.extend(every.map(|every| (Every::plain(Repeat::Daily { every }), end)));
        }
        Amount::Months(n) if n % 12 == 0 => {
            let Ok(every) = u32::try_from(n / 12) else { return found };
            found.push((Every::plain(Repeat::Yearly { every }), end));
            let date = month_and_day(scan, scan.maybe(end, words::ON));
            let yearly =
                |date| Every { date: Some(date), ..Every::plain(Repeat::Yearly { every }) };
            found.extend(date.map(|(date, end)| (yearly(date), end)));
        }
        Amount::Months(n) => {
            let Ok(every) = u32::try_from(n) else { return found };
            let monthly = |day| Every::plain(Repeat::Monthly { every, day });
            found.push((monthly(MonthDay::Day(now.date().day())), end));
            found.extend(month_day(scan, end).map(|(day, end)| (monthly(day), end)));
        }
    }
    found
}

/// The day that follows "every month".
fn month_day(scan: &Scan, at: usize) -> Option<(MonthDay, usize)> {
    if let Some(end) = scan.any(at, words::LAST_DAY) {
        return Some((MonthDay::Last, end));
    }
    if let Some((day, end)) = scan.number_in(scan.maybe(at, words::BETWEEN), 1..=31)
        && let Some(end) = scan.any(end, words::DAY_OF_MONTH)
    {
        return Some((MonthDay::Day(day), end));
    }
    let (day, end) = ordinal(scan, scan.maybe(scan.any(at, words::ON)?, words::THE))?;
    Some((MonthDay::Day(day.number), end))
}

/// "the 1st of every month".
fn day_of_every_month(scan: &Scan, at: usize) -> Option<(Every, usize)> {
    let at = scan.maybe(scan.maybe(at, words::ON), words::THE);
    let (day, end) = ordinal(scan, at)?;
    let end = scan.any(scan.any(end, words::OF)?, words::EVERY_MONTH)?;
    let repeat = Repeat::Monthly { every: 1, day: MonthDay::Day(day.number) };
    Some((Every::plain(repeat), end))
}

/// The month and day of every year; only such as exist in some year.
fn month_and_day(scan: &Scan, at: usize) -> Option<((i8, i8), usize)> {
    let at = scan.maybe(at, words::BETWEEN);
    let chinese = || {
        let (month, end) = scan.number_in(at, 1..=12)?;
        let (day, end) = scan.number_in(scan.any(end, words::MONTH)?, 1..=31)?;
        Some(((month, day), scan.any(end, words::DAY_OF_MONTH)?))
    };
    let english = || {
        let (month, end) = scan.word(at, words::MONTH_NAMES)?;
        let (day, end) = ordinal(scan, scan.maybe(end, words::THE))?;
        Some(((month, day.number), end))
    };
    let day_first = || {
        let (day, end) = ordinal(scan, scan.maybe(at, words::THE))?;
        let (month, end) = scan.word(scan.maybe(end, words::OF), words::MONTH_NAMES)?;
        Some(((month, day.number), end))
    };
    let found = chinese().or_else(english).or_else(day_first)?;
    let (month, day) = found.0;
    Date::new(2000, month, day).is_ok().then_some(found)
}

/// "every Monday and Wednesday", "on Fridays", "every other Friday".
fn weekday_lists(scan: &Scan, at: usize) -> Readings<Every> {
    let mut found = Vec::new();
    let weekly = |every, days| Every::plain(Repeat::Weekly { every, days });
    if let Some(end) = scan.any(at, words::EVERY) {
        found.extend(lists(scan, end).into_iter().map(|(days, end)| (weekly(1, days), end)));
        if let Some(end) = scan.any(end, words::OTHER) {
            found.extend(lists(scan, end).into_iter().map(|(days, end)| (weekly(2, days), end)));
        }
    }
    let next = scan.maybe(at, words::ON);
    let plural = |at| scan.word(at, words::PLURAL_DAYS);
    let plurals = joined(plural(next), |at| plural(scan.any(at, words::DAY_AND)?));
    found.extend(plurals.into_iter().map(|(days, end)| (weekly(1, days), end)));
    found
}

/// Lists and ranges of weekdays, in every length.
fn lists(scan: &Scan, at: usize) -> Readings<Weekdays> {
    let chinese = |at| chinese_weekday(scan, at);
    let short = |at| chinese(at).or_else(|| scan.word(at, words::WEEK_DAYS));
    let english = |at| english_weekday(scan, at);
    let mut found = joined(chinese(at), |at| short(scan.maybe(at, words::DAY_AND)));
    found.extend(joined(english(at), |at| english(scan.any(at, words::DAY_AND)?)));
    found.extend(range(chinese(at), |at| short(scan.any(at, words::TO_DAY)?)));
    found.extend(range(english(at), |at| english(scan.any(at, words::TO_DAY)?)));
    found
}

/// Weekdays without their prefix, which the interval already brought.
fn chinese_tails(scan: &Scan, at: usize) -> Readings<Weekdays> {
    let day = |at| scan.word(at, words::WEEK_DAYS);
    joined(day(at), |at| day(scan.maybe(at, words::DAY_AND)))
}

type OneDay = Option<(Weekday, usize)>;

fn joined(first: OneDay, next: impl Fn(usize) -> OneDay) -> Readings<Weekdays> {
    let mut found: Readings<Weekdays> = Vec::new();
    let mut last = first;
    while let Some((day, end)) = last {
        let so_far = found.last().map_or(Weekdays::default(), |(days, _)| *days);
        found.push((so_far.with(day), end));
        last = next(end).filter(|_| found.len() < 7);
    }
    found
}

fn range(first: OneDay, next: impl Fn(usize) -> OneDay) -> Option<(Weekdays, usize)> {
    let (first, end) = first?;
    let (last, end) = next(end)?;
    let days = first.cycle_forward().take(7);
    let until = usize::from(first.until(last).unsigned_abs());
    Some((days.take(until + 1).collect(), end))
}
