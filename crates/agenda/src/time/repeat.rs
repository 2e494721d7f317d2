//! How an entry repeats, and how that is written down.

use super::cron::Cron;
use jiff::civil::{Date, Weekday};

pub use super::month_days::{MonthDay, MonthDays};

const MINUTES_PER_DAY: u32 = 24 * 60;

/// The days of a week in order, with their names in a calendar rule and in an option.
const DAYS: [(Weekday, &str, &str); 7] = [
    (Weekday::Monday, "MO", "mon"),
    (Weekday::Tuesday, "TU", "tue"),
    (Weekday::Wednesday, "WE", "wed"),
    (Weekday::Thursday, "TH", "thu"),
    (Weekday::Friday, "FR", "fri"),
    (Weekday::Saturday, "SA", "sat"),
    (Weekday::Sunday, "SU", "sun"),
];

/// How an entry repeats. Its first occurrence is the entry's own start.
///
/// An interval of 0 counts as 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repeat {
    /// Elapsed time from the first moment; see [`Repeat::every_minutes`] for whole days.
    Minutes {
        /// The interval in minutes.
        every: u32,
    },
    /// The same local time with an interval in days.
    Daily {
        /// The interval in days.
        every: u32,
    },
    /// The same local time on some weekdays, with an interval in weeks; weeks begin on Monday.
    Weekly {
        /// The interval in weeks.
        every: u32,
        /// The days; an empty set means the weekday of the start.
        days: Weekdays,
    },
    /// The same local time on a day of the month, with an interval in months; months without that
    /// day are skipped.
    Monthly {
        /// The interval in months.
        every: u32,
        /// The day of the month.
        day: MonthDay,
    },
    /// The start's month and day, with an interval in years; February 29 skips common years.
    Yearly {
        /// The interval in years.
        every: u32,
    },
    /// The moments of a cron expression from the start on, which itself need not be one.
    Cron(Cron),
}

/// What a cron expression begins with where other rules are written down.
const CRON: &str = "X-CRON:";

/// A set of weekdays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Weekdays(u8);

impl Weekdays {
    /// Monday to Friday.
    pub const WORKING: Self = Self(0b001_1111);
    /// Saturday and Sunday.
    pub const WEEKEND: Self = Self(0b110_0000);

    /// Whether the day is in the set.
    #[must_use]
    pub fn contains(self, day: Weekday) -> bool {
        self.0 & bit(day) != 0
    }

    /// The set with one day more.
    #[must_use]
    pub fn with(self, day: Weekday) -> Self {
        Self(self.0 | bit(day))
    }

    /// Whether there is no day in the set.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The days from Monday on.
    pub fn iter(self) -> impl Iterator<Item = Weekday> {
        DAYS.into_iter().map(|(day, _, _)| day).filter(move |day| self.contains(*day))
    }
}

impl FromIterator<Weekday> for Weekdays {
    fn from_iter<I: IntoIterator<Item = Weekday>>(days: I) -> Self {
        days.into_iter().fold(Self::default(), Self::with)
    }
}

impl From<Weekday> for Weekdays {
    fn from(day: Weekday) -> Self {
        Self::default().with(day)
    }
}

fn bit(day: Weekday) -> u8 {
    1 << day.to_monday_zero_offset()
}

impl Repeat {
    /// An interval in minutes. Whole days repeat at the same local time, so they become `Daily`.
    #[must_use]
    pub fn every_minutes(every: u32) -> Self {
        if every > 0 && every.is_multiple_of(MINUTES_PER_DAY) {
            Self::Daily { every: every / MINUTES_PER_DAY }
        } else {
            Self::Minutes { every }
        }
    }

    /// The same rule with explicit days, which a weekly one may take from its start.
    #[must_use]
    pub fn named(self, start: Date) -> Self {
        match self {
            Self::Weekly { every, days } if days.is_empty() => {
                Self::Weekly { every, days: start.weekday().into() }
            }
            repeat => repeat,
        }
    }

    /// The interval, at least 1.
    #[must_use]
    pub fn interval(&self) -> u32 {
        match self {
            Self::Minutes { every }
            | Self::Daily { every }
            | Self::Weekly { every, .. }
            | Self::Monthly { every, .. }
            | Self::Yearly { every } => (*every).max(1),
            Self::Cron(_) => 1,
        }
    }

    /// The rule as RFC 5545 writes it, without `RRULE:`.
    #[must_use]
    pub fn to_rrule(&self) -> String {
        let every = self.interval();
        let (freq, every, rest) = match self {
            Self::Minutes { .. } if every.is_multiple_of(60) => {
                ("HOURLY", every / 60, String::new())
            }
            Self::Minutes { .. } => ("MINUTELY", every, String::new()),
            Self::Daily { .. } => ("DAILY", every, String::new()),
            Self::Weekly { days, .. } if days.is_empty() => ("WEEKLY", every, String::new()),
            Self::Weekly { days, .. } => {
                ("WEEKLY", every, format!(";BYDAY={}", join(*days, |(_, rule, _)| rule)))
            }
            Self::Monthly { day: MonthDay::Day(day), .. } => {
                ("MONTHLY", every, format!(";BYMONTHDAY={day}"))
            }
            Self::Monthly { day: MonthDay::Last, .. } => {
                ("MONTHLY", every, ";BYMONTHDAY=-1".to_owned())
            }
            Self::Monthly { day: MonthDay::Days(days), .. } => {
                ("MONTHLY", every, format!(";BYMONTHDAY={}", join_days(*days)))
            }
            Self::Monthly { day: MonthDay::Nth(n, day), .. } => {
                let name = join((*day).into(), |(_, rule, _)| rule);
                ("MONTHLY", every, format!(";BYDAY={n}{name}"))
            }
            Self::Yearly { .. } => ("YEARLY", every, String::new()),
            Self::Cron(cron) => return format!("{CRON}{}", cron.text()),
        };
        match every {
            1 => format!("FREQ={freq}{rest}"),
            _ => format!("FREQ={freq};INTERVAL={every}{rest}"),
        }
    }

    /// Reads a rule of the subset that [`Repeat::to_rrule`] writes; anything beyond it is `None`.
    ///
    /// `COUNT` and `UNTIL` are not part of it: the series has the number of occurrences.
    #[must_use]
    pub fn from_rrule(rule: &str) -> Option<Self> {
        let rule = rule.trim().to_ascii_uppercase();
        if let Some(text) = rule.strip_prefix(CRON) {
            return Cron::parse(text).ok().map(Self::Cron);
        }
        let rule = rule.strip_prefix("RRULE:").unwrap_or(&rule);
        let (mut freq, mut every, mut days, mut month_day) = (None, None, None, None);
        let mut nth = None;
        for part in rule.split(';') {
            let (name, value) = part.split_once('=')?;
            let is_new = match name {
                "FREQ" => freq.replace(value.to_owned()).is_none(),
                "INTERVAL" => every.replace(positive(value)?).is_none(),
                "BYDAY" if nth_weekday(value).is_some() => {
                    nth.replace(nth_weekday(value)?).is_none()
                }
                "BYDAY" => days.replace(split(value, |(_, rule, _)| rule)?).is_none(),
                "BYMONTHDAY" => month_day.replace(rule_month_day(value)?).is_none(),
                "WKST" => value == "MO",
                _ => false,
            };
            if !is_new {
                return None;
            }
        }
        let every = every.unwrap_or(1);
        let freq = freq?;
        if nth.is_some() && (freq != "MONTHLY" || days.is_some() || month_day.is_some()) {
            return None;
        }
        match (freq.as_str(), days, month_day) {
            ("MINUTELY", None, None) => Some(Self::every_minutes(every)),
            ("HOURLY", None, None) => Some(Self::every_minutes(every.checked_mul(60)?)),
            ("DAILY", None, None) => Some(Self::Daily { every }),
            ("WEEKLY", days, None) => Some(Self::Weekly { every, days: days.unwrap_or_default() }),
            ("MONTHLY", None, None) => Some(Self::Monthly { every, day: nth? }),
            ("MONTHLY", None, Some(day)) => Some(Self::Monthly { every, day }),
            ("YEARLY", None, None) => Some(Self::Yearly { every }),
            _ => None,
        }
    }

    /// The value of a command's `--repeat`, such as `daily:3`, `weekly/2:fri` or `monthly:last`.
    #[must_use]
    pub fn to_option(&self) -> String {
        let every = self.interval();
        let slash = if every == 1 { String::new() } else { format!("/{every}") };
        match self {
            Self::Minutes { .. } => format!("minutes:{every}"),
            Self::Daily { .. } if every == 1 => "daily".to_owned(),
            Self::Daily { .. } => format!("daily:{every}"),
            Self::Weekly { days, .. } if *days == Weekdays::WORKING && every == 1 => {
                "weekdays".to_owned()
            }
            Self::Weekly { days, .. } if days.is_empty() => format!("weekly{slash}"),
            Self::Weekly { days, .. } => {
                format!("weekly{slash}:{}", join(*days, |(_, _, option)| option))
            }
            Self::Monthly { day: MonthDay::Day(day), .. } => format!("monthly{slash}:{day}"),
            Self::Monthly { day: MonthDay::Last, .. } => format!("monthly{slash}:last"),
            Self::Monthly { day: MonthDay::Days(days), .. } => {
                format!("monthly{slash}:{}", join_days(*days))
            }
            Self::Monthly { day: MonthDay::Nth(n, day), .. } => {
                let name = join((*day).into(), |(_, _, option)| option);
                format!("monthly{slash}:{}{name}", nth_name(*n))
            }
            Self::Yearly { .. } => format!("yearly{slash}"),
            Self::Cron(cron) => format!("cron:{}", cron.text()),
        }
    }

    /// Reads what [`Repeat::to_option`] writes; an interval may follow `/` in every form.
    #[must_use]
    pub fn parse_option(value: &str) -> Option<Self> {
        let value = value.trim().to_ascii_lowercase();
        let (head, detail) = match value.split_once(':') {
            Some((head, detail)) => (head, Some(detail)),
            None => (value.as_str(), None),
        };
        let (name, every) = match head.split_once('/') {
            Some((name, every)) => (name, Some(positive(every)?)),
            None => (head, None),
        };
        match (name, every, detail) {
            ("minutes", None, Some(every)) => Some(Self::every_minutes(positive(every)?)),
            ("daily", None, Some(every)) => Some(Self::Daily { every: positive(every)? }),
            ("daily", every, None) => Some(Self::Daily { every: every.unwrap_or(1) }),
            ("weekdays", None, None) => Some(Self::Weekly { every: 1, days: Weekdays::WORKING }),
            ("weekly", every, days) => {
                let days = days
                    .map_or(Some(Weekdays::default()), |days| split(days, |(_, _, option)| option));
                Some(Self::Weekly { every: every.unwrap_or(1), days: days? })
            }
            ("monthly", every, Some(day)) => {
                let day = match day {
                    "last" => MonthDay::Last,
                    day => option_nth(day).or_else(|| days_of_month(day))?,
                };
                Some(Self::Monthly { every: every.unwrap_or(1), day })
            }
            ("yearly", every, None) => Some(Self::Yearly { every: every.unwrap_or(1) }),
            _ => None,
        }
    }
}

type DayNames = (Weekday, &'static str, &'static str);

fn join(days: Weekdays, name: fn(DayNames) -> &'static str) -> String {
    let names = DAYS.into_iter().filter(|(day, _, _)| days.contains(*day)).map(name);
    names.collect::<Vec<_>>().join(",")
}

fn split(list: &str, name: fn(DayNames) -> &'static str) -> Option<Weekdays> {
    let day = |word: &str| DAYS.into_iter().find(|day| name(*day) == word.trim()).map(|day| day.0);
    list.split(',').map(day).collect()
}

/// Digits only: `parse` alone would accept a sign.
fn positive(digits: &str) -> Option<u32> {
    let is_plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    digits.parse().ok().filter(|n| is_plain && *n > 0)
}

fn day_of_month(digits: &str) -> Option<i8> {
    i8::try_from(positive(digits)?).ok().filter(|day| *day <= 31)
}

fn days_of_month(list: &str) -> Option<MonthDay> {
    let mut days = MonthDays::default();
    for day in list.split(',') {
        days = days.with(day_of_month(day.trim())?);
    }
    days.day()
}

fn join_days(days: MonthDays) -> String {
    days.iter().map(|day| day.to_string()).collect::<Vec<_>>().join(",")
}

fn rule_month_day(value: &str) -> Option<MonthDay> {
    match value {
        "-1" => Some(MonthDay::Last),
        days => days_of_month(days),
    }
}

/// `2TU`, `-1FR`.
fn nth_weekday(value: &str) -> Option<MonthDay> {
    let (n, name) = value.split_at_checked(value.len().checked_sub(2)?)?;
    let n = n.trim_start_matches('+').parse().ok().filter(|n| matches!(n, 1..=5 | -1))?;
    let (day, ..) = DAYS.into_iter().find(|(_, rule, _)| *rule == name)?;
    Some(MonthDay::Nth(n, day))
}

/// `2tue`, `lastfri`.
fn option_nth(value: &str) -> Option<MonthDay> {
    let (n, name) = value.split_at_checked(value.len().checked_sub(3)?)?;
    let n = (1..=5).chain([-1]).find(|known| nth_name(*known) == n)?;
    let (day, ..) = DAYS.into_iter().find(|(_, _, option)| *option == name)?;
    Some(MonthDay::Nth(n, day))
}

fn nth_name(n: i8) -> String {
    if n < 0 { "last".to_owned() } else { n.to_string() }
}

#[cfg(test)]
#[path = "repeat_tests.rs"]
pub(super) mod tests;
