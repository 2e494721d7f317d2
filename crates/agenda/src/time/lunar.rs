//! The Chinese calendar from 2020 to 2100: lunar months and the two solar terms with a holiday.
//!
//! The table was computed from the moments of new moons and of the sun's longitude, in the time of
//! Beijing, with a leap month where a month has no middle term.

use jiff::ToSpan;
use jiff::civil::Date;

const FIRST_YEAR: i16 = 2020;

/// A year each: days from January 1 to its first day, then four bits for the leap month (0 for
/// none), then a bit for each month in order, set if it has 30 days.
const YEARS: [u32; 81] = [
    0x030952e, 0x0540556, 0x03e0ab5, 0x02a55b2, 0x05006d2, 0x038cea5, 0x05e0725, 0x048064b,
    0x032ac97, 0x0560cab, 0x042055a, 0x02c6ad6, 0x0520b69, 0x03d7752, 0x0620b52, 0x04c0b25,
    0x036da4b, 0x05a0a4b, 0x04404ab, 0x02ea55b, 0x05405ad, 0x03e0b6a, 0x02a5b52, 0x0500d92,
    0x03afd25, 0x05e0d25, 0x0480a55, 0x032b4ad, 0x05804b6, 0x04005b5, 0x02c6daa, 0x0520ec9,
    0x03f1e92, 0x0620e92, 0x04c0d26, 0x036ca56, 0x05a0a57, 0x04404d6, 0x02e86d5, 0x0540755,
    0x0400749, 0x0286e93, 0x04e0693, 0x038f52b, 0x05e052b, 0x0460a5b, 0x032b55a, 0x058056a,
    0x0420b65, 0x02c974a, 0x0520b4a, 0x03d1a95, 0x0620a95, 0x04a052d, 0x034caad, 0x05a0ab5,
    0x04605aa, 0x02e8ba5, 0x0540da5, 0x0400d4a, 0x02a7c95, 0x04e0c96, 0x038f94e, 0x05e0556,
    0x0480ab5, 0x032b5b2, 0x05806d2, 0x0420ea5, 0x02e8e4a, 0x050068b, 0x03b0c97, 0x06004ab,
    0x04a055b, 0x034cad6, 0x05a0b6a, 0x0460752, 0x0309725, 0x0540b25, 0x03e0a8b, 0x028549b,
    0x04e04ab,
];

const LEAP_SHIFT: u32 = 13;
const FIRST_DAY_SHIFT: u32 = 17;

/// A month of the lunar year.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Month {
    Plain(i8),
    Leap(i8),
}

/// The date of a day of a lunar year; `None` beyond the table, or if there is no such day.
pub(super) fn date(year: i16, month: Month, day: i8) -> Option<Date> {
    let (place, length) = place(year, month)?;
    let begin = new_year(year)?;
    let before: i64 = (0..place).filter_map(|place| length_of(year, place)).sum();
    let day = i64::from(day);
    (1..=length).contains(&day).then(|| begin.checked_add((before + day - 1).days()).ok())?
}

/// The first day of a lunar year: the Spring Festival.
fn new_year(year: i16) -> Option<Date> {
    let days = i64::from(packed(year)? >> FIRST_DAY_SHIFT);
    Date::new(year, 1, 1).ok()?.checked_add(days.days()).ok()
}

/// The day before the Spring Festival that ends a lunar year.
pub(super) fn eve(year: i16) -> Option<Date> {
    new_year(year + 1)?.yesterday().ok()
}

/// The position of a month in its year, and its number of days.
fn place(year: i16, month: Month) -> Option<(u32, i64)> {
    let leap = leap_month(year)?;
    let (number, is_leap) = match month {
        Month::Plain(number) => (number, false),
        Month::Leap(number) => (number, true),
    };
    if !(1..=12).contains(&number) || is_leap && number != leap {
        return None;
    }
    let is_behind = is_leap || leap != 0 && number > leap;
    let place = u32::try_from(number - 1 + i8::from(is_behind)).ok()?;
    Some((place, length_of(year, place)?))
}

fn leap_month(year: i16) -> Option<i8> {
    i8::try_from(packed(year)? >> LEAP_SHIFT & 0xf).ok()
}

fn length_of(year: i16, place: u32) -> Option<i64> {
    Some(29 + i64::from(packed(year)? >> place & 1))
}

fn packed(year: i16) -> Option<u32> {
    YEARS.get(usize::try_from(year - FIRST_YEAR).ok()?).copied()
}

/// The day of the solar term Qingming, in this century.
pub(super) fn qingming(year: i16) -> Option<Date> {
    term(year, 4, 4.81)
}

/// The winter solstice, in this century.
pub(super) fn winter_solstice(year: i16) -> Option<Date> {
    term(year, 12, 21.94)
}

/// The day of a solar term in this century, by its month and its constant.
pub(super) fn term(year: i16, month: i8, constant: f64) -> Option<Date> {
    let of_century = i32::from(year) - 2000;
    if !(1..100).contains(&of_century) {
        return None;
    }
    // The leap day of a year is after its first two months.
    let leap_days = if month <= 2 { (of_century - 1) / 4 } else { of_century / 4 };
    let day = (f64::from(of_century) * 0.2422 + constant).floor() - f64::from(leap_days);
    Date::new(year, month, day as i8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_agrees_with_known_dates() {
        let table = [
            (2024, Month::Plain(1), 1, "2024-02-10"),
            (2025, Month::Plain(1), 1, "2025-01-29"),
            (2026, Month::Plain(1), 1, "2026-02-17"),
            (2027, Month::Plain(1), 1, "2027-02-06"),
            (2033, Month::Plain(1), 1, "2033-01-31"),
            (2034, Month::Plain(1), 1, "2034-02-19"),
            (2025, Month::Plain(8), 15, "2025-10-06"),
            (2026, Month::Plain(8), 15, "2026-09-25"),
            (2026, Month::Plain(5), 5, "2026-06-19"),
            (2025, Month::Plain(5), 5, "2025-05-31"),
            (2025, Month::Leap(6), 1, "2025-07-25"),
            (2033, Month::Leap(11), 1, "2033-12-22"),
            (2026, Month::Plain(9), 9, "2026-10-18"),
            (2026, Month::Plain(7), 7, "2026-08-19"),
            (2026, Month::Plain(1), 15, "2026-03-03"),
            (2028, Month::Leap(5), 1, "2028-06-23"),
        ];
        for (year, month, day, expected) in table {
            let found = date(year, month, day).unwrap().to_string();
            assert_eq!(found, expected, "{year} {month:?} {day}");
        }
        assert_eq!(eve(2026).unwrap().to_string(), "2027-02-05");
        assert_eq!(date(2026, Month::Leap(6), 1), None);
        assert_eq!(date(2101, Month::Plain(1), 1), None);
        assert_eq!(date(2026, Month::Plain(13), 1), None);
        assert_eq!(date(2026, Month::Plain(1), 31), None);
    }

    #[test]
    fn years_follow_each_other_without_a_gap() {
        for year in FIRST_YEAR..2100 {
            let months = if leap_month(year).unwrap() == 0 { 12 } else { 13 };
            let days: i64 = (0..months).filter_map(|place| length_of(year, place)).sum();
            let next = new_year(year).unwrap() + days.days();
            assert_eq!(Some(next), new_year(year + 1), "{year}");
        }
    }

    #[test]
    fn solar_terms_agree_with_known_dates() {
        let known = ["2024-04-04", "2025-04-04", "2026-04-05", "2027-04-05"];
        for (year, day) in (2024..).zip(known) {
            assert_eq!(qingming(year).unwrap().to_string(), day);
        }
        assert_eq!(winter_solstice(2025).unwrap().to_string(), "2025-12-21");
        for (month, constant, day) in [
            (2, 3.87, "2027-02-04"),
            (3, 20.65, "2027-03-21"),
            (5, 5.52, "2027-05-06"),
            (6, 21.37, "2027-06-21"),
            (8, 7.5, "2027-08-08"),
            (9, 23.04, "2027-09-23"),
        ] {
            assert_eq!(term(2027, month, constant).unwrap().to_string(), day);
        }
        assert_eq!(term(2028, 2, 3.87).unwrap().to_string(), "2028-02-04");
        assert_eq!(winter_solstice(2026).unwrap().to_string(), "2026-12-22");
    }
}
