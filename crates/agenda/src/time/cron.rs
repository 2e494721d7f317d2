//! Cron expressions: five fields, the values that each allows, and the moments that follow.
//!
//! ```text
//!   minute  hour  day of month  month  weekday        */15 9-17 * * mon-fri
//!           L is the last day of a month, fri#2 its second Friday, friL its last one
//! ```
//!
//! If both the day of the month and the weekday are restricted, either is enough. A fixed hour
//! keeps the local time: one that a clock change skips moves forward by the gap, one that occurs
//! twice is the first. With `*` in the hour the moments follow the clock as it runs: nothing falls
//! into the gap, and an hour that occurs twice counts twice.

use super::month_days::{MonthDay, MonthDays};
use super::repeat::{Repeat, Weekdays};
use jiff::civil::{Date, Weekday};
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{Timestamp, ToSpan};

/// Days that are searched for the next moment: February 29 on a given weekday comes after at most
/// forty years.
const SEARCH_DAYS: usize = 40 * 366;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// A field of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CronField {
    /// 0 to 59.
    Minute,
    /// 0 to 23.
    Hour,
    /// 1 to 31.
    DayOfMonth,
    /// 1 to 12, or names.
    Month,
    /// 0 to 7, or names; 0 and 7 are Sunday.
    Weekday,
}

/// Why a text is not a cron expression that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CronError {
    /// It has so many fields, not five.
    Fields(usize),
    /// A field has a part that is not understood.
    Part(CronField, String),
    /// There is no such moment.
    Never,
}

/// A set of values of one field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CronValues {
    bits: u64,
    /// Whether it begins with a star.
    is_star: bool,
}

impl CronValues {
    fn has(self, value: i8) -> bool {
        u32::try_from(value).is_ok_and(|value| self.bits & (1 << value) != 0)
    }

    fn only(self) -> Option<i8> {
        let first = self.bits.trailing_zeros();
        (self.bits.count_ones() == 1).then(|| i8::try_from(first).ok()).flatten()
    }
}

/// A cron expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cron {
    text: String,
    minutes: CronValues,
    hours: CronValues,
    days: CronValues,
    /// `L` among the days.
    last_day: bool,
    months: CronValues,
    weekdays: CronValues,
    /// `fri#2`; -1 for the last one.
    nth: Vec<(i8, Weekday)>,
}

impl Cron {
    /// Reads an expression of five fields, or a name such as `@daily`.
    ///
    /// # Errors
    /// [`CronError`].
    pub fn parse(text: &str) -> Result<Self, CronError> {
        let text = text.trim().to_ascii_lowercase();
        let written = match text.as_str() {
            "@hourly" => "0 * * * *",
            "@daily" | "@midnight" => "0 0 * * *",
            "@weekly" => "0 0 * * 0",
            "@monthly" => "0 0 1 * *",
            "@yearly" | "@annually" => "0 0 1 1 *",
            other => other,
        };
        let fields: Vec<&str> = written.split_whitespace().collect();
        let &[minute, hour, day, month, weekday] = fields.as_slice() else {
            return Err(CronError::Fields(fields.len()));
        };
        let plain_days: Vec<&str> = day.split(',').filter(|part| *part != "l").collect();
        let last_day = plain_days.len() < day.split(',').count();
        let (mut nth, mut plain) = (Vec::new(), Vec::new());
        for part in weekday.split(',') {
            match nth_weekday(part) {
                Some(found) => nth.push(found),
                None => plain.push(part),
            }
        }
        let cron = Self {
            text: fields.join(" "),
            minutes: values(CronField::Minute, minute)?,
            hours: values(CronField::Hour, hour)?,
            days: some_values(CronField::DayOfMonth, &plain_days)?,
            last_day,
            months: values(CronField::Month, month)?,
            weekdays: some_values(CronField::Weekday, &plain)?,
            nth,
        };
        let any = Date::constant(2024, 1, 1);
        if cron.days_from(any).next().is_none() {
            return Err(CronError::Never);
        }
        Ok(cron)
    }

    /// The expression, as it is written down.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The same rule as a calendar writes it, if it has one: one time of day, on days that follow
    /// one pattern.
    #[must_use]
    pub fn to_repeat(&self) -> Option<Repeat> {
        let all_months = self.months.bits == 0b1_1111_1111_1110;
        self.minutes.only()?;
        self.hours.only()?;
        if !all_months || (self.days.is_star && self.days.bits.count_ones() < 31) {
            return None;
        }
        if self.weekdays.is_star && self.weekdays.bits.count_ones() < 7 {
            return None;
        }
        match (self.days.is_star, self.weekdays.is_star, self.nth.as_slice()) {
            (true, true, []) => Some(Repeat::Daily { every: 1 }),
            (true, false, []) => Some(Repeat::Weekly { every: 1, days: self.plain_weekdays() }),
            (true, false, [(n, day)]) if self.weekdays.bits == 0 => {
                Some(Repeat::Monthly { every: 1, day: MonthDay::Nth(*n, *day) })
            }
            (false, true, []) => {
                let day = match (self.last_day, self.days.bits) {
                    (true, 0) => MonthDay::Last,
                    (true, _) => return None,
                    (false, _) => self.plain_days()?,
                };
                Some(Repeat::Monthly { every: 1, day })
            }
            _ => None,
        }
    }

    fn plain_weekdays(&self) -> Weekdays {
        let named = (0..7).filter(|day| self.weekdays.has(*day)).filter_map(weekday_of);
        named.collect()
    }

    fn plain_days(&self) -> Option<MonthDay> {
        let days = (1..=31).filter(|day| self.days.has(*day));
        days.fold(MonthDays::default(), MonthDays::with).day()
    }

    /// The days on which it has moments, from one on.
    fn days_from(&self, from: Date) -> impl Iterator<Item = Date> {
        let mut day = Some(from);
        let all = std::iter::from_fn(move || {
            let here = day?;
            day = here.checked_add(1.day()).ok();
            Some(here)
        });
        all.take(SEARCH_DAYS).filter(|day| self.is_on(*day))
    }

    fn is_on(&self, date: Date) -> bool {
        if !self.months.has(date.month()) {
            return false;
        }
        let is_last = date.day() == date.days_in_month();
        let by_day = self.days.has(date.day()) || (self.last_day && is_last);
        let weekday = date.weekday();
        let by_weekday = self.weekdays.has(weekday.to_sunday_zero_offset())
            || self.nth.iter().any(|(n, day)| *day == weekday && is_nth(date, *n));
        match self.days.is_star || self.weekdays.is_star {
            true => by_day && by_weekday,
            false => by_day || by_weekday,
        }
    }

    /// The moments of one day, in order.
    fn moments_of(&self, date: Date, zone: &TimeZone) -> Vec<Timestamp> {
        let mut found = Vec::new();
        for hour in (0..24).filter(|hour| self.hours.has(*hour)) {
            for minute in (0..60).filter(|minute| self.minutes.has(*minute)) {
                let wall = date.at(hour, minute, 0, 0);
                let there = zone.to_ambiguous_timestamp(wall);
                match there.offset() {
                    AmbiguousOffset::Gap { .. } if self.hours.is_star => {}
                    AmbiguousOffset::Fold { .. } if self.hours.is_star => {
                        found.extend(there.earlier().ok().into_iter().chain(there.later().ok()));
                    }
                    _ => found.extend(there.compatible().ok()),
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The moments from one on, in order.
    pub fn moments(
        &self,
        from: Timestamp,
        zone: &TimeZone,
    ) -> impl Iterator<Item = Timestamp> + use<> {
        let (cron, zone) = (self.clone(), zone.clone());
        // A gap can move a moment to the next day, so the day before is looked at too.
        let first = zone.to_datetime(from).date();
        let mut day = first.checked_sub(1.day()).ok().or(Some(first));
        let mut ahead: Vec<Timestamp> = Vec::new();
        std::iter::from_fn(move || {
            loop {
                if let Some(at) = ahead.pop() {
                    return Some(at);
                }
                let here = cron.days_from(day?).next()?;
                day = here.checked_add(1.day()).ok();
                ahead = cron.moments_of(here, &zone);
                ahead.retain(|at| *at >= from);
                ahead.reverse();
            }
        })
    }
}

fn weekday_of(from_sunday: i8) -> Option<Weekday> {
    Weekday::from_sunday_zero_offset(from_sunday).ok()
}

fn is_nth(date: Date, n: i8) -> bool {
    match n {
        -1 => date.day() + 7 > date.days_in_month(),
        n => (date.day() - 1) / 7 + 1 == n,
    }
}

/// `fri#2`, `5#2`, `friL`, `5L`.
fn nth_weekday(part: &str) -> Option<(i8, Weekday)> {
    let (day, n) = match part.split_once('#') {
        Some((day, n)) => (day, n.parse::<i8>().ok().filter(|n| (1..=5).contains(n))?),
        None => (part.strip_suffix('l').filter(|day| !day.is_empty())?, -1),
    };
    Some((n, weekday_of(number(CronField::Weekday, day)? % 7)?))
}

/// The values of the parts that are left; none if all others were of a special form.
fn some_values(field: CronField, parts: &[&str]) -> Result<CronValues, CronError> {
    match parts {
        [] => Ok(CronValues { bits: 0, is_star: false }),
        parts => values(field, &parts.join(",")),
    }
}

fn values(field: CronField, text: &str) -> Result<CronValues, CronError> {
    let mut bits = 0;
    for part in text.split(',') {
        let wrong = || CronError::Part(field, part.to_owned());
        bits |= part_bits(field, part).ok_or_else(wrong)?;
    }
    Ok(CronValues { bits, is_star: text.starts_with(['*', '?']) })
}

fn part_bits(field: CronField, part: &str) -> Option<u64> {
    let (least, most) = bounds(field);
    let (range, step) = match part.split_once('/') {
        Some((range, step)) => (range, Some(digits(step).filter(|step| *step > 0)?)),
        None => (part, None),
    };
    let (from, to) = match range {
        "*" | "?" => (least, most),
        range => match range.split_once('-') {
            Some((from, to)) => (number(field, from)?, number(field, to)?),
            None => {
                let from = number(field, range)?;
                (from, if step.is_some() { most } else { from })
            }
        },
    };
    let step = usize::try_from(step.unwrap_or(1)).ok()?;
    let days: Vec<i8> = match from <= to {
        true => (from..=to).step_by(step).collect(),
        // From Friday to Monday.
        false if field == CronField::Weekday => (from..=to + 7).step_by(step).collect(),
        false => return None,
    };
    let bit = |value: i8| {
        let value = if field == CronField::Weekday { value % 7 } else { value };
        1_u64 << value
    };
    Some(days.into_iter().map(bit).fold(0, |all, bit| all | bit))
}

fn bounds(field: CronField) -> (i8, i8) {
    match field {
        CronField::Minute => (0, 59),
        CronField::Hour => (0, 23),
        CronField::DayOfMonth => (1, 31),
        CronField::Month => (1, 12),
        CronField::Weekday => (0, 6),
    }
}

fn number(field: CronField, text: &str) -> Option<i8> {
    let named = |names: &[&str], first: i8| {
        let at = names.iter().position(|name| *name == text)?;
        i8::try_from(at).ok()?.checked_add(first)
    };
    let name = match field {
        CronField::Month => named(&MONTHS, 1),
        CronField::Weekday => named(&WEEKDAYS, 0),
        CronField::Minute | CronField::Hour | CronField::DayOfMonth => None,
    };
    let (least, most) = bounds(field);
    let most = if field == CronField::Weekday { 7 } else { most };
    name.or_else(|| digits(text)).filter(|value| (least..=most).contains(value))
}

/// Digits only: `parse` alone would accept a sign.
fn digits(text: &str) -> Option<i8> {
    let is_plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|_| is_plain)
}

#[cfg(test)]
#[path = "cron_tests.rs"]
mod tests;
