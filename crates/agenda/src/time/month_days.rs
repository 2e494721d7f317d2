//! Days of a month: by number, the last, several, by weekday.

use jiff::civil::{Date, Weekday};

/// A day of a month, or several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MonthDay {
    /// 1 to 31.
    Day(i8),
    /// The last day.
    Last,
    /// Several days.
    Days(MonthDays),
    /// The nth weekday, 1 to 5; -1 is the last.
    Nth(i8, Weekday),
}

/// A set of days of a month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MonthDays(u32);

impl MonthDays {
    /// The set with one day more, of 1 to 31.
    #[must_use]
    pub fn with(self, day: i8) -> Self {
        match day {
            1..=31 => Self(self.0 | 1 << day),
            _ => self,
        }
    }

    /// The days in order.
    pub fn iter(self) -> impl Iterator<Item = i8> {
        (1..=31).filter(move |day| self.0 & 1 << day != 0)
    }

    /// One day, or the set of them.
    #[must_use]
    pub fn day(self) -> Option<MonthDay> {
        let mut days = self.iter();
        match (days.next(), days.next()) {
            (Some(day), None) => Some(MonthDay::Day(day)),
            (Some(_), Some(_)) => Some(MonthDay::Days(self)),
            (None, _) => None,
        }
    }
}

impl MonthDay {
    /// Its dates in a month, in order; a month may have none.
    pub(super) fn dates(self, month: Date) -> Vec<Date> {
        let first = month.first_of_month();
        let day = |day| Date::new(first.year(), first.month(), day).ok();
        match self {
            Self::Day(of) => day(of).into_iter().collect(),
            Self::Last => vec![first.last_of_month()],
            Self::Days(days) => days.iter().filter_map(day).collect(),
            Self::Nth(n, weekday) => {
                first.nth_weekday_of_month(n, weekday).ok().into_iter().collect()
            }
        }
    }
}
