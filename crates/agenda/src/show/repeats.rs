//! How an entry repeats, in words.

use super::DisplayContext;
use crate::time::{MonthDay, Repeat};
use everloop_store::ScheduleRow;
use everloop_text::{self as text, Text, TextOf};
use jiff::civil::Weekday;

/// Days that every month has.
const SHORTEST_MONTH: i8 = 28;

/// How it repeats, in words.
pub(crate) fn repeats(reader: &DisplayContext, entry: &ScheduleRow) -> Option<String> {
    let rule = entry.said.repeat.as_ref()?;
    if rule.on == 0 {
        return Some(reader.text(text::schedule::detail::rests()));
    }
    let every = match Repeat::from_rrule(&rule.rrule) {
        Some(repeat) => {
            let month = entry.said.span.starts.get(5..7).and_then(|month| month.parse().ok());
            repeat_words(reader, &repeat, month)
        }
        None => rule.rrule.clone(),
    };
    Some(match rule.times {
        Some(times) => {
            let times = times.to_string();
            reader.text(text::schedule::detail::times(&every, &times))
        }
        None => every,
    })
}

/// The short name of a weekday.
pub(super) fn weekday(day: Weekday) -> Text {
    match day {
        Weekday::Monday => text::weekday::monday(),
        Weekday::Tuesday => text::weekday::tuesday(),
        Weekday::Wednesday => text::weekday::wednesday(),
        Weekday::Thursday => text::weekday::thursday(),
        Weekday::Friday => text::weekday::friday(),
        Weekday::Saturday => text::weekday::saturday(),
        Weekday::Sunday => text::weekday::sunday(),
    }
}

/// The same without the word for week, which comes before the first.
fn short_weekday(day: Weekday) -> Text {
    match day {
        Weekday::Monday => text::weekday::short::monday(),
        Weekday::Tuesday => text::weekday::short::tuesday(),
        Weekday::Wednesday => text::weekday::short::wednesday(),
        Weekday::Thursday => text::weekday::short::thursday(),
        Weekday::Friday => text::weekday::short::friday(),
        Weekday::Saturday => text::weekday::short::saturday(),
        Weekday::Sunday => text::weekday::short::sunday(),
    }
}

/// `month` is that of its first day.
fn repeat_words(reader: &DisplayContext, repeat: &Repeat, month: Option<u8>) -> String {
    let counted = |one: Text, many: TextOf, every: u32| match every {
        1 => reader.text(one),
        n => reader.text(many(&n)),
    };
    match repeat {
        Repeat::Minutes { every } if every % 60 == 0 => {
            counted(text::repeat::hour(), text::repeat::hours, every / 60)
        }
        Repeat::Minutes { every } => counted(text::repeat::minute(), text::repeat::minutes, *every),
        Repeat::Daily { every } => counted(text::repeat::day(), text::repeat::days, *every),
        Repeat::Weekly { every, days } => {
            let name = if *every == 1 { short_weekday } else { weekday };
            let days: Vec<String> = days.iter().map(|day| reader.text(name(day))).collect();
            let days = days.join(&reader.text(text::show::listed()));
            if *every == 1 {
                return reader.text(text::repeat::weekly_on(&days));
            }
            reader.text(text::repeat::on_days(&reader.text(text::repeat::weeks(every)), &days))
        }
        Repeat::Monthly { every, day } => {
            monthly_words(reader, *every, *day, month.filter(|_| every % 12 == 0))
        }
        Repeat::Yearly { every } => counted(text::repeat::year(), text::repeat::years, *every),
        Repeat::Cron(cron) => reader.text(text::scheduled::every_cron(&cron.text())),
    }
}

/// A rule with an interval in months; twelve months are a year.
fn monthly_words(
    reader: &DisplayContext,
    every: u32,
    day: MonthDay,
    of_year: Option<u8>,
) -> String {
    let counted = |one: Text, many: TextOf, every: u32| match every {
        1 => reader.text(one),
        n => reader.text(many(&n)),
    };
    let month = match every % 12 {
        0 => counted(text::repeat::year(), text::repeat::years, every / 12),
        _ => counted(text::repeat::month(), text::repeat::months, every),
    };
    let month = match of_year {
        Some(of_year) => reader.text(text::repeat::in_month(&month, &of_year)),
        None => month,
    };
    match day {
        MonthDay::Day(day) => {
            let line = reader.text(text::repeat::on_day(&month, &day));
            with_short_months(reader, line, day)
        }
        MonthDay::Last => reader.text(text::repeat::on_last_day(&month)),
        MonthDay::Days(days) => {
            let last = days.iter().last().unwrap_or_default();
            let days: Vec<String> = days.iter().map(|day| day.to_string()).collect();
            let days = days.join(&reader.text(text::show::listed()));
            let line = reader.text(text::repeat::on_day(&month, &days));
            with_short_months(reader, line, last)
        }
        MonthDay::Nth(n, day) => {
            let day = reader.text(weekday(day));
            let nth = reader.text(match n {
                1 => text::repeat::nth::first(),
                2 => text::repeat::nth::second(),
                3 => text::repeat::nth::third(),
                4 => text::repeat::nth::fourth(),
                5 => text::repeat::nth::fifth(),
                _ => text::repeat::last(),
            });
            reader.text(text::repeat::OnNth { month: &month, nth: &nth, day: &day }.text())
        }
    }
}

/// Adds what happens in months that are too short for a day.
fn with_short_months(reader: &DisplayContext, line: String, day: i8) -> String {
    if day <= SHORTEST_MONTH {
        return line;
    }
    reader.text(text::repeat::short_months(&line, &day))
}
