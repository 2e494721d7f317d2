//! Amounts of time, and how far away a moment is: "in 2 hours", "two weeks from now".

use jiff::ToSpan;
use jiff::civil::{Date, Weekday};

use super::scan::{Readings, Scan};
use super::words;

/// The unit of an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Second,
    Minute,
    Quarter,
    HalfHour,
    Hour,
    HalfDay,
    Day,
    WorkingDay,
    Week,
    Fortnight,
    HalfMonth,
    Month,
    Season,
    HalfYear,
    Year,
}

/// An amount of time. Seconds are elapsed time; days and months are calendar units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Amount {
    pub(super) months: i64,
    pub(super) days: i64,
    pub(super) working_days: i64,
    pub(super) secs: i64,
}

const HOUR: i64 = 3_600;

impl Unit {
    pub(super) fn times(self, n: i64) -> Amount {
        let none = Amount::default();
        match self {
            Self::Second => Amount { secs: n, ..none },
            Self::Minute => Amount { secs: n * 60, ..none },
            Self::Quarter => Amount { secs: n * HOUR / 4, ..none },
            Self::HalfHour => Amount { secs: n * HOUR / 2, ..none },
            Self::Hour => Amount { secs: n * HOUR, ..none },
            Self::HalfDay => Amount { secs: n * 12 * HOUR, ..none },
            Self::Day => Amount { days: n, ..none },
            Self::WorkingDay => Amount { working_days: n, ..none },
            Self::Week => Amount { days: n * 7, ..none },
            Self::Fortnight => Amount { days: n * 14, ..none },
            Self::HalfMonth => Amount { days: n * 15, ..none },
            Self::Month => Amount { months: n, ..none },
            Self::Season => Amount { months: n * 3, ..none },
            Self::HalfYear => Amount { months: n * 6, ..none },
            Self::Year => Amount { months: n * 12, ..none },
        }
    }
}

impl Amount {
    pub(super) fn times(self, n: i64) -> Self {
        Self {
            months: self.months * n,
            days: self.days * n,
            working_days: self.working_days * n,
            secs: self.secs * n,
        }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            months: self.months + other.months,
            days: self.days + other.days,
            working_days: self.working_days + other.working_days,
            secs: self.secs + other.secs,
        }
    }

    /// Whether it has only calendar units.
    pub(super) fn is_of_days(self) -> bool {
        self.secs == 0
    }

    /// Whole minutes, if it has only clock units. A day has 24 hours then.
    pub(super) fn minutes(self) -> Option<i64> {
        let is_plain = self.months == 0 && self.working_days == 0 && self.secs % 60 == 0;
        is_plain.then_some(self.days * 24 * 60 + self.secs / 60)
    }

    /// The day that is this far away.
    pub(super) fn day(self, from: Date) -> Option<Date> {
        let months = 0.months().try_months(self.months).ok()?;
        let days = 0.days().try_days(self.days).ok()?;
        let date = from.checked_add(months).ok()?.checked_add(days).ok()?;
        working_days(date, self.working_days)
    }
}

/// A number of working days later or earlier.
fn working_days(from: Date, n: i64) -> Option<Date> {
    if n.abs() > 10_000 {
        return None;
    }
    let (mut date, mut left) = (from, n.abs());
    while left > 0 {
        date = date.checked_add(n.signum().days()).ok()?;
        left -= i64::from(!matches!(date.weekday(), Weekday::Saturday | Weekday::Sunday));
    }
    Some(date)
}

/// Offsets from now: an amount with a word before or after it.
pub(super) fn offsets(scan: &Scan, at: usize) -> Readings<Amount> {
    let mut found = Vec::new();
    for (amount, end) in amounts(scan, at) {
        if let Some((sign, end)) = scan.word(end, words::AFTER) {
            found.push((amount.times(sign), end));
        }
    }
    let Some(at) = scan.any(at, words::IN) else { return found };
    for (amount, end) in amounts(scan, at) {
        // "put in 2 hours of study" counts what is done.
        if scan.any(end, &["of"]).is_some() {
            continue;
        }
        found.push((amount, end));
        let time = scan.any(end, words::IN_TIME);
        let time = time.filter(|end| scan.any(*end, words::NOT_IN_TIME).is_none());
        found.extend(time.map(|end| (amount, end)));
        let after = scan.word(end, words::AFTER).filter(|(sign, _)| *sign > 0);
        found.extend(after.map(|(_, end)| (amount, end)));
    }
    found
}

/// A span of days within which something is due: "within 3 days", "三天内".
pub(super) fn within(scan: &Scan, at: usize) -> Readings<Amount> {
    let mut found = Vec::new();
    if let Some(at) = scan.any(at, words::WITHIN) {
        found.extend(amounts(scan, at));
    }
    for (amount, end) in amounts(scan, scan.maybe(at, words::WITHIN)) {
        found.extend(scan.any(end, words::WITHIN_ENDS).map(|end| (amount, end)));
    }
    found
}

/// Amounts of time: "3 days", "an hour and a half", "1.5 hours", "1h30m", "两小时十分钟".
pub(super) fn amounts(scan: &Scan, at: usize) -> Readings<Amount> {
    let mut found = Vec::new();
    for (first, end) in one_amount(scan, at) {
        found.push((first, end));
        let next = scan.maybe(end, words::AND);
        for (second, end) in one_amount(scan, next) {
            if is_finer(second, first) {
                found.push((first.plus(second), end));
            }
        }
    }
    found
}

/// The next part of a compound has a smaller unit: hours after days, minutes after hours.
fn is_finer(second: Amount, first: Amount) -> bool {
    let rank = |amount: Amount| match amount {
        Amount { months: 1.., .. } => 4,
        Amount { days: 1.., .. } | Amount { working_days: 1.., .. } => 3,
        Amount { secs, .. } if secs >= HOUR => 2,
        Amount { secs, .. } if secs >= 60 => 1,
        _ => 0,
    };
    rank(second) < rank(first)
}

fn one_amount(scan: &Scan, at: usize) -> Readings<Amount> {
    let mut found = Vec::new();
    found.extend(scan.word(at, words::HALF_UNITS).map(|(unit, end)| (unit.times(1), end)));
    found.extend(decimal_hours(scan, at));
    let Some((number, end)) = scan.count(at).filter(|(number, _)| *number > 0) else {
        return found;
    };
    let n = i64::from(number);
    let hours_and_half = Amount { secs: n * HOUR + HOUR / 2, ..Amount::default() };
    let half = scan.any(end, words::AND_HALF_HOURS).or_else(|| scan.any(end, words::HALF_HOURS));
    found.extend(half.map(|end| (hours_and_half, end)));
    let ends_in_digit = scan.before(end).is_some_and(|c| c.is_ascii_digit());
    if ends_in_digit && scan.get(end).is_some_and(|c| c.is_ascii_alphabetic()) {
        let short = short_unit(scan, end);
        found.extend(short.map(|(unit, end)| (unit.times(n), end)));
    }
    let end = if ends_in_digit && scan.get(end) == Some('-') { end + 1 } else { end };
    let Some((unit, end)) = scan.word(end, words::UNITS) else { return found };
    found.push((unit.times(n), end));
    if unit == Unit::Day && scan.get(end) == Some('半') {
        found.push((Amount { secs: HOUR * 12, ..unit.times(n) }, end + 1));
    }
    if unit == Unit::Hour {
        found.extend(scan.any(end, words::HOURS_AND_HALF).map(|end| (hours_and_half, end)));
    }
    found
}

/// `m` in `30m`; the letter may be followed by the digits of the next part only.
fn short_unit(scan: &Scan, at: usize) -> Option<(Unit, usize)> {
    let (unit, end) = scan.word(at, words::SHORT_UNITS)?;
    let is_bare_number = scan.get(end).is_some_and(|c| c.is_ascii_digit());
    let goes_on = || !one_amount(scan, end).is_empty();
    (!is_bare_number || goes_on()).then_some((unit, end))
}

/// `1.5 hours`, `2.25h`, `1.5小时`.
fn decimal_hours(scan: &Scan, at: usize) -> Option<(Amount, usize)> {
    let (whole, end) = scan.digits(scan.skip_spaces(at), 1, 3)?;
    let end = (scan.get(end) == Some('.')).then_some(end + 1)?;
    let (part, after) = scan.digits(end, 1, 2)?;
    let part = if after - end == 1 { part * 10 } else { part };
    let (unit, end) = match scan.word(after, words::UNITS) {
        Some(found) => found,
        None => scan.word(after, words::SHORT_UNITS)?,
    };
    let secs = i64::from(whole) * HOUR + i64::from(part) * HOUR / 100;
    (unit == Unit::Hour && secs > 0).then_some((Amount { secs, ..Amount::default() }, end))
}
