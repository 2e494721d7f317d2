//! Holidays: by date, by weekday, by the lunar calendar.

use jiff::ToSpan;
use jiff::civil::{Date, Weekday};

use super::lunar::{self, Month};

/// How the day of a holiday is computed for a year.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holiday {
    /// A month and a day.
    Fixed(i8, i8),
    /// The nth weekday of a month; -1 is the last.
    Nth(i8, i8, Weekday),
    /// A number of days after the nth weekday of a month.
    AfterNth(i8, i8, Weekday, i64),
    /// A number of days after Easter Sunday.
    Easter(i64),
    /// A month and a day of the lunar year.
    Lunar(i8, i8),
    /// A day of a leap month of the lunar year.
    LunarLeap(i8, i8),
    /// A day of the next lunar month that has it.
    LunarDay(i8),
    /// The last day of the lunar year.
    LunarEve,
    /// The solar term of the tombs.
    Qingming,
    /// The winter solstice.
    Solstice,
    /// Another solar term: its month, and its place in it in hundredths of a day.
    Term(i8, i16),
}

impl Holiday {
    /// The day in a year; a lunar year gives its days to the year it begins in and to the next.
    pub(super) fn in_year(self, year: i16) -> Option<Date> {
        let lunar = |month, day| {
            let years = [year, year - 1].into_iter();
            years.filter_map(|of| lunar::date(of, month, day)).find(|date| date.year() == year)
        };
        match self {
            Self::Fixed(month, day) => Date::new(year, month, day).ok(),
            Self::Nth(month, n, weekday) => {
                Date::new(year, month, 1).ok()?.nth_weekday_of_month(n, weekday).ok()
            }
            Self::AfterNth(month, n, weekday, days) => {
                Self::Nth(month, n, weekday).in_year(year)?.checked_add(days.days()).ok()
            }
            Self::Easter(days) => easter(year)?.checked_add(days.days()).ok(),
            Self::Lunar(month, day) => lunar(Month::Plain(month), day),
            Self::LunarLeap(month, day) => lunar(Month::Leap(month), day),
            Self::LunarDay(_) => None,
            Self::LunarEve => lunar::eve(year - 1),
            Self::Qingming => lunar::qingming(year),
            Self::Solstice => lunar::winter_solstice(year),
            Self::Term(month, place) => lunar::term(year, month, f64::from(place) / 100.0),
        }
    }

    /// The next one from a day on. A leap month may be far away.
    pub(super) fn next(self, today: Date) -> Option<Date> {
        if let Self::LunarDay(day) = self {
            let months = (1..=12).flat_map(|n| [Month::Plain(n), Month::Leap(n)]);
            let years = [today.year() - 1, today.year()];
            let days = months.flat_map(|month| years.map(|year| lunar::date(year, month, day)));
            return days.flatten().filter(|date| *date >= today).min();
        }
        let years = (0..=40).filter_map(|years| self.in_year(today.year() + years));
        years.into_iter().find(|date| *date >= today)
    }
}

/// Easter Sunday of the Gregorian calendar, by the anonymous rule of 1876.
fn easter(year: i16) -> Option<Date> {
    let y = i32::from(year);
    let (golden, century, of_century) = (y % 19, y / 100, y % 100);
    let lift = (century + 8) / 25;
    let moon = (century - lift + 1) / 3;
    let epact = (19 * golden + century - century / 4 - moon + 15) % 30;
    let weekday = (32 + 2 * (century % 4) + 2 * (of_century / 4) - epact - of_century % 4) % 7;
    let shift = (golden + 11 * epact + 22 * weekday) / 451;
    let day = epact + weekday - 7 * shift + 114;
    Date::new(year, i8::try_from(day / 31).ok()?, i8::try_from(day % 31 + 1).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn movable_feasts_agree_with_known_dates() {
        for (year, day) in
            [(2024, "2024-03-31"), (2025, "2025-04-20"), (2026, "2026-04-05"), (2027, "2027-03-28")]
        {
            assert_eq!(Holiday::Easter(0).in_year(year).unwrap().to_string(), day);
        }
        let of = |holiday: Holiday| holiday.in_year(2026).unwrap().to_string();
        assert_eq!(of(Holiday::Nth(11, 4, Weekday::Thursday)), "2026-11-26");
        assert_eq!(of(Holiday::Nth(5, -1, Weekday::Monday)), "2026-05-25");
        assert_eq!(of(Holiday::LunarEve), "2026-02-16");
        assert_eq!(of(Holiday::Lunar(12, 8)), "2026-01-26");
        // The day after Thanksgiving is not always the fourth Friday.
        let black_friday = Holiday::AfterNth(11, 4, Weekday::Thursday, 1);
        assert_eq!(black_friday.in_year(2024).unwrap().to_string(), "2024-11-29");
    }
}
