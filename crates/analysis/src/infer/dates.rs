//! Dates as people write them.

use jiff::SignedDuration;
use jiff::civil::{Date, DateTime, Time};
use serde::{Deserialize, Serialize};

/// The order in which a date is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DateStyle {
    /// `2026-11-18`, `2026/11/18`, or with the Chinese characters for year, month and day.
    YearFirst,
    /// `18/11/2026`, `18.11.2026`.
    DayFirst,
    /// `11/18/2026`.
    MonthFirst,
    /// `18 Nov 2026`, `Nov 18, 2026`.
    Named,
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Letters of the short name of a month, as which also a longer word may begin.
const SHORT_MONTH: usize = 3;

/// A date and what follows it.
struct DateParts<'a> {
    numbers: [u32; 3],
    /// Digits of the first number.
    first_digits: usize,
    rest: &'a str,
}

/// A time of day, and how many minutes its zone is ahead of UTC if it has one.
#[derive(Debug, Clone, Copy, Default)]
struct ClockTime {
    time: Time,
    ahead: Option<i32>,
}

/// What is known of the time of a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeForm {
    /// It has none.
    Day,
    /// It has one, in no zone.
    Local,
    /// It has one in a zone, so many minutes ahead of UTC.
    Zoned(i32),
}

impl DateStyle {
    /// The styles in which a text is a date, and what is known of its time of day.
    pub(crate) fn candidates(text: &str) -> impl Iterator<Item = (Self, TimeForm)> {
        let is_likely = (6..=40).contains(&text.len()) && text.bytes().any(|b| b.is_ascii_digit());
        let all = [Self::YearFirst, Self::DayFirst, Self::MonthFirst, Self::Named];
        all.into_iter().filter(move |_| is_likely).filter_map(move |style| {
            let (_, clock) = style.parse(text)?;
            let form = clock.map_or(TimeForm::Day, |clock| {
                clock.ahead.map_or(TimeForm::Local, TimeForm::Zoned)
            });
            Some((style, form))
        })
    }

    /// In ISO form.
    pub(crate) fn to_iso_day(self, text: &str) -> Option<String> {
        match self.parse(text)? {
            (date, None) => Some(date.strftime("%Y-%m-%d").to_string()),
            (_, Some(_)) => None,
        }
    }

    /// In ISO form with the time of day. What has a zone is moved into that of the column, if that
    /// has one.
    pub(crate) fn to_iso_time(self, text: &str, column_ahead: Option<i32>) -> Option<String> {
        let (date, clock) = self.parse(text)?;
        let clock = clock.unwrap_or_default();
        let mut moment = DateTime::from_parts(date, clock.time);
        if let (Some(own), Some(column)) = (clock.ahead, column_ahead) {
            let minutes = i64::from(column) - i64::from(own);
            moment = moment.checked_add(SignedDuration::from_mins(minutes)).ok()?;
        }
        let whole = moment.strftime("%Y-%m-%d %H:%M:%S").to_string();
        let part = format!("{:09}", moment.subsec_nanosecond());
        Some(match part.trim_end_matches('0') {
            "" => whole,
            part => format!("{whole}.{part}"),
        })
    }

    fn parse(self, text: &str) -> Option<(Date, Option<ClockTime>)> {
        let (date, rest) = match self {
            Self::Named => named(text)?,
            _ => {
                let parts = numeric(text)?;
                (self.ordered(&parts)?, parts.rest)
            }
        };
        let rest = rest.trim_start_matches(['T', ' ', '\u{3000}']);
        match rest.is_empty() {
            true => Some((date, None)),
            false => Some((date, Some(time_of(rest)?))),
        }
    }

    fn ordered(self, parts: &DateParts<'_>) -> Option<Date> {
        let [one, two, three] = parts.numbers;
        let (year, month, day) = match self {
            Self::YearFirst if parts.first_digits == 4 => (one, two, three),
            Self::DayFirst if parts.first_digits <= 2 => (three, two, one),
            Self::MonthFirst if parts.first_digits <= 2 => (three, one, two),
            _ => return None,
        };
        date_of(year, month, day)
    }
}

fn date_of(year: u32, month: u32, day: u32) -> Option<Date> {
    if !(1_000..=9_999).contains(&year) {
        return None;
    }
    Date::new(year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?).ok()
}

/// Three numbers with the same separator between them.
fn numeric(text: &str) -> Option<DateParts<'_>> {
    let mut numbers = [0; 3];
    let mut rest = text;
    let mut first_digits = 0;
    let mut separator = None;
    for (at, number) in numbers.iter_mut().enumerate() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 || digits > 4 {
            return None;
        }
        *number = rest[..digits].parse().ok()?;
        if at == 0 {
            first_digits = digits;
        }
        rest = &rest[digits..];
        let next = rest.chars().next();
        if at < 2 {
            let found = next.filter(|c| "-/.".contains(*c) || ['年', '月'].contains(c))?;
            let is_chinese = ['年', '月'].contains(&found);
            if !is_chinese && separator.is_some_and(|earlier| earlier != found) {
                return None;
            }
            separator = separator.or(Some(found));
            rest = &rest[found.len_utf8()..];
        } else if let Some(day) = next.filter(|c| *c == '日') {
            rest = &rest[day.len_utf8()..];
        }
    }
    let last_is_year = numbers[2] > 31;
    (first_digits == 4 || last_is_year).then_some(DateParts { numbers, first_digits, rest })
}

/// A date with the name of its month.
fn named(text: &str) -> Option<(Date, &str)> {
    if !has_month(text) {
        return None;
    }
    let is_break = |c: char| " ,-/.".contains(c);
    let mut words: Vec<(&str, usize)> = Vec::new();
    let mut at = 0;
    for part in text.split_inclusive(is_break) {
        let word = part.trim_end_matches(is_break);
        at += part.len();
        if !word.is_empty() {
            words.push((word, at));
        }
        if words.len() == 3 {
            break;
        }
    }
    let [first, second, third] = words.as_slice() else { return None };
    let (month, day) = match month_of(second.0) {
        Some(month) => (month, first.0),
        None => (month_of(first.0)?, second.0),
    };
    if third.0.len() != 4 {
        return None;
    }
    let date = date_of(third.0.parse().ok()?, month, day_number(day)?)?;
    Some((date, text.get(third.1..).unwrap_or_default()))
}

/// Whether a word begins like the name of a month. Most texts are told apart by it.
fn has_month(text: &str) -> bool {
    let mut before = b' ';
    text.as_bytes().windows(3).any(|letters| {
        let begins = !before.is_ascii_alphabetic();
        before = letters[0];
        let is_short = |month: &str| letters.eq_ignore_ascii_case(&month.as_bytes()[..SHORT_MONTH]);
        begins && MONTHS.iter().any(|month| is_short(month))
    })
}

/// The month of a name, long or short. A word that only begins like one is a word.
fn month_of(word: &str) -> Option<u32> {
    let word = word.to_ascii_lowercase();
    let is_name = |month: &str| month == word || month[..SHORT_MONTH] == word;
    let found = match word.as_str() {
        "sept" => 8,
        _ => MONTHS.iter().position(|month| is_name(month))?,
    };
    u32::try_from(found + 1).ok()
}

/// `1`, `01` or `1st`.
fn day_number(text: &str) -> Option<u32> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, ending) = text.split_at(digits);
    let is_ending = ["", "st", "nd", "rd", "th"].iter().any(|own| ending.eq_ignore_ascii_case(own));
    if is_ending { digits.parse().ok() } else { None }
}

/// `9:30`, `09:30:15.25`, with `PM` and a zone after it.
fn time_of(text: &str) -> Option<ClockTime> {
    let upper = text.trim().to_ascii_uppercase();
    let (clock, ahead) = without_zone(&upper)?;
    let (clock, half) = match (clock.strip_suffix("PM"), clock.strip_suffix("AM")) {
        (Some(rest), _) => (rest.trim_end(), Some(12)),
        (None, Some(rest)) => (rest.trim_end(), Some(0)),
        (None, None) => (clock, None),
    };
    let mut parts = clock.split(':');
    let hour: i8 = parts.next()?.parse().ok()?;
    let minute: i8 = parts.next()?.parse().ok()?;
    let (second, nanos) = parts.next().map_or(Some((0, 0)), second_of)?;
    if parts.next().is_some() {
        return None;
    }
    // Twelve is the first hour of each half of a day.
    let hour = match half {
        Some(half) if hour <= 12 => hour % 12 + half,
        Some(0) => return None,
        _ => hour,
    };
    Some(ClockTime { time: Time::new(hour, minute, second, nanos).ok()?, ahead })
}

/// Seconds and the billionths behind their point.
fn second_of(text: &str) -> Option<(i8, i32)> {
    let (whole, part) = text.split_once(['.', ',']).unwrap_or((text, ""));
    let is_fraction = part.bytes().all(|byte| byte.is_ascii_digit());
    let nanos = format!("{:0<9}", part.get(..9).unwrap_or(part));
    let nanos = if is_fraction { nanos.parse().ok()? } else { return None };
    Some((whole.parse().ok()?, nanos))
}

/// A time of day without its zone, and how many minutes that is ahead of UTC.
fn without_zone(text: &str) -> Option<(&str, Option<i32>)> {
    for utc in ["UTC", "GMT", "Z"] {
        if let Some(rest) = text.strip_suffix(utc) {
            return Some((rest.trim_end(), Some(0)));
        }
    }
    let Some(at) = text.rfind(['+', '-']).filter(|at| *at >= 4) else {
        return Some((text, None));
    };
    let (clock, zone) = text.split_at(at);
    let digits: String = zone[1..].chars().filter(|c| *c != ':').collect();
    let is_zone = matches!(digits.len(), 2 | 4) && digits.bytes().all(|b| b.is_ascii_digit());
    if !is_zone {
        return None;
    }
    let (hours, minutes) = digits.split_at(2);
    let minutes: i32 = if minutes.is_empty() { 0 } else { minutes.parse().ok()? };
    let ahead = hours.parse::<i32>().ok()? * 60 + minutes;
    let clock = clock.trim_end().trim_end_matches("UTC").trim_end_matches("GMT").trim_end();
    Some((clock, Some(if zone.starts_with('-') { -ahead } else { ahead })))
}

/// Whether a date that has a time of day has a zone too, at a glance.
pub(crate) fn has_zone(text: &str) -> bool {
    let clock = text.find(':').map_or("", |at| &text[at..]);
    clock.contains(['+', '-', 'Z', 'z']) || clock.ends_with("UTC") || clock.ends_with("GMT")
}
