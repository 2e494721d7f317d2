//! How far away a moment is: "in 2 hours", "two weeks from now".

use jiff::ToSpan;
use jiff::civil::Date;

use super::scan::{Readings, Scan};
use super::words;

/// What an offset is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Minute,
    Quarter,
    HalfHour,
    Hour,
    HalfDay,
    Day,
    Week,
    Fortnight,
    HalfMonth,
    Month,
    HalfYear,
    Year,
}

/// An amount of time. Minutes elapse; days and months are counted on the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Amount {
    Minutes(i64),
    Days(i64),
    Months(i64),
}

impl Unit {
    pub(super) fn times(self, n: i64) -> Amount {
        match self {
            Self::Minute => Amount::Minutes(n),
            Self::Quarter => Amount::Minutes(n * 15),
            Self::HalfHour => Amount::Minutes(n * 30),
            Self::Hour => Amount::Minutes(n * 60),
            Self::HalfDay => Amount::Minutes(n * 12 * 60),
            Self::Day => Amount::Days(n),
            Self::Week => Amount::Days(n * 7),
            Self::Fortnight => Amount::Days(n * 14),
            Self::HalfMonth => Amount::Days(n * 15),
            Self::Month => Amount::Months(n),
            Self::HalfYear => Amount::Months(n * 6),
            Self::Year => Amount::Months(n * 12),
        }
    }
}

impl Amount {
    fn negated(self) -> Self {
        match self {
            Self::Minutes(n) => Self::Minutes(-n),
            Self::Days(n) => Self::Days(-n),
            Self::Months(n) => Self::Months(-n),
        }
    }

    /// The day that is this far away; minutes are none of its business.
    pub(super) fn day(self, today: Date) -> Option<Date> {
        let span = match self {
            Self::Minutes(_) => return None,
            Self::Days(n) => 0.days().try_days(n).ok()?,
            Self::Months(n) => 0.months().try_months(n).ok()?,
        };
        today.checked_add(span).ok()
    }
}

/// Offsets from now: an amount with a word before or behind it.
pub(super) fn offsets(scan: &Scan, at: usize) -> Readings<Amount> {
    let mut found = Vec::new();
    for (amount, end) in amounts(scan, at) {
        if let Some((sign, end)) = scan.word(end, words::AFTER) {
            found.push((if sign < 0 { amount.negated() } else { amount }, end));
        }
    }
    let Some(at) = scan.any(at, words::IN) else { return found };
    for (amount, end) in amounts(scan, at) {
        found.push((amount, end));
        let after = scan.word(end, words::AFTER).filter(|(sign, _)| *sign > 0);
        found.extend(after.map(|(_, end)| (amount, end)));
    }
    found
}

/// Amounts of time: "3 days", "an hour and a half", "1.5 hours", "1 hour 30 minutes".
pub(super) fn amounts(scan: &Scan, at: usize) -> Readings<Amount> {
    let mut found = Vec::new();
    found.extend(scan.word(at, words::HALF_UNITS).map(|(unit, end)| (unit.times(1), end)));
    let Some((number, end)) = scan.number(at).filter(|(number, _)| *number > 0) else {
        return found;
    };
    let number = i64::from(number);
    let hours_and_half = Amount::Minutes(number * 60 + 30);
    let half = scan.any(end, words::AND_HALF_HOURS).or_else(|| scan.any(end, words::HALF_HOURS));
    found.extend(half.map(|end| (hours_and_half, end)));
    if scan.any(end, words::POINT_FIVE) == Some(end + 2) {
        let unit = scan.word(end + 2, words::UNITS).filter(|(unit, _)| *unit == Unit::Hour);
        found.extend(unit.map(|(_, end)| (hours_and_half, end)));
    }
    let Some((unit, end)) = scan.word(end, words::UNITS) else { return found };
    found.push((unit.times(number), end));
    if unit == Unit::Hour {
        found.extend(scan.any(end, words::HOURS_AND_HALF).map(|end| (hours_and_half, end)));
        let next = scan.maybe(end, words::AND);
        if let Some((minutes, end)) = scan.number(next) {
            let end = scan.word(end, words::UNITS).filter(|(unit, _)| *unit == Unit::Minute);
            let sum = Amount::Minutes(number * 60 + i64::from(minutes));
            found.extend(end.map(|(_, end)| (sum, end)));
        }
    }
    found
}
