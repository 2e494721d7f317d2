//! Days, weeks or months that are missing between dates.

use jiff::civil::Date;
use serde::Serialize;

/// How far dates lie apart as a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DateStep {
    /// Every day.
    Day,
    /// The same day of each week.
    Week,
    /// The same day of each month.
    Month,
}

/// What is missing between the first date and the last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DateGaps {
    /// How far the dates lie apart.
    pub step: DateStep,
    /// Days, weeks or months without a row.
    pub missing: u64,
    /// The longest stretch of them.
    pub longest: u64,
    /// When that begins.
    pub longest_from: String,
}

impl DateStep {
    /// The step of most dates.
    fn of(days: &[Date]) -> Option<Self> {
        let pairs = days.len() - 1;
        let most = |fits: &dyn Fn(Date, Date) -> bool| {
            days.windows(2).filter(|pair| fits(pair[0], pair[1])).count() * 10 >= pairs * 9
        };
        let next = |step: Self| {
            let each = days.windows(2).filter(|pair| step.between(pair[0], pair[1]) == 1);
            each.count() * 2 >= pairs
        };
        match () {
            () if next(Self::Day) => Some(Self::Day),
            () if most(&|a, b| days_between(a, b).is_multiple_of(7)) && next(Self::Week) => {
                Some(Self::Week)
            }
            () if most(&is_same_day_of_month) && next(Self::Month) => Some(Self::Month),
            () => None,
        }
    }

    /// Steps from one date to another.
    fn between(self, from: Date, to: Date) -> u64 {
        match self {
            Self::Day => days_between(from, to),
            Self::Week => days_between(from, to).div_ceil(7),
            Self::Month => {
                let months = |date: Date| i64::from(date.year()) * 12 + i64::from(date.month());
                u64::try_from(months(to) - months(from)).unwrap_or(0)
            }
        }
    }

    fn after(self, date: Date) -> Option<Date> {
        let step = match self {
            Self::Day => jiff::Span::new().days(1),
            Self::Week => jiff::Span::new().weeks(1),
            Self::Month => jiff::Span::new().months(1),
        };
        date.checked_add(step).ok()
    }
}

fn days_between(from: Date, to: Date) -> u64 {
    u64::try_from(to.since(from).map_or(0, |span| span.get_days())).unwrap_or(0)
}

/// Also the last day of each month.
fn is_same_day_of_month(one: Date, other: Date) -> bool {
    let is_last = |date: Date| date.day() == date.days_in_month();
    one.day() == other.day() || is_last(one) && is_last(other)
}

/// What is missing between these dates, which rise; none if nothing is, or they follow no rule.
pub(super) fn gaps_between(days: &[Date]) -> Option<DateGaps> {
    let step = DateStep::of(days)?;
    let mut gaps = DateGaps { step, missing: 0, longest: 0, longest_from: String::new() };
    for pair in days.windows(2) {
        let missing = step.between(pair[0], pair[1]).saturating_sub(1);
        gaps.missing += missing;
        if missing > gaps.longest {
            gaps.longest = missing;
            gaps.longest_from = step.after(pair[0]).map_or(String::new(), |date| date.to_string());
        }
    }
    (gaps.missing > 0 && gaps.missing < days.len() as u64).then_some(gaps)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaps(days: &[&str]) -> Option<(DateStep, u64, u64, String)> {
        let days: Vec<Date> = days.iter().map(|day| day.parse().unwrap()).collect();
        let found = gaps_between(&days)?;
        Some((found.step, found.missing, found.longest, found.longest_from))
    }

    #[test]
    fn gaps_are_counted_in_the_step_of_the_dates() {
        let days = ["2026-01-01", "2026-01-02", "2026-01-05", "2026-01-06", "2026-01-07"];
        assert_eq!(gaps(&days), Some((DateStep::Day, 2, 2, "2026-01-03".to_owned())));
        let weeks = ["2026-01-05", "2026-01-12", "2026-01-26", "2026-02-02", "2026-02-09"];
        assert_eq!(gaps(&weeks), Some((DateStep::Week, 1, 1, "2026-01-19".to_owned())));
        let months = ["2026-01-31", "2026-02-28", "2026-04-30", "2026-05-31", "2026-06-30"];
        assert_eq!(gaps(&months), Some((DateStep::Month, 1, 1, "2026-03-28".to_owned())));
        assert_eq!(gaps(&["2026-01-01", "2026-02-01", "2026-03-01"]), None);
        assert_eq!(gaps(&["2026-01-01", "2026-03-17", "2027-06-02"]), None);
    }
}
