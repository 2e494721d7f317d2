//! How an entry repeats, in words.

use super::Reader;
use crate::time::{MonthDay, Repeat};
use everloop_store::ScheduleRow;

/// Days that every month has.
const SHORTEST_MONTH: i8 = 28;

/// How it repeats, in words.
pub(crate) fn repeats(reader: &Reader, entry: &ScheduleRow) -> Option<String> {
    let rule = entry.said.repeat.as_ref()?;
    if rule.on == 0 {
        return Some(reader.text("schedule.detail.rests", &[]));
    }
    let every = match Repeat::from_rrule(&rule.rrule) {
        Some(repeat) => repeat_words(reader, &repeat),
        None => rule.rrule.clone(),
    };
    Some(match rule.times {
        Some(times) => {
            let times = times.to_string();
            reader.text("schedule.detail.times", &[("every", &every), ("times", &times)])
        }
        None => every,
    })
}

fn repeat_words(reader: &Reader, repeat: &Repeat) -> String {
    let counted = |one: &str, many: &str, every: u32| match every {
        1 => reader.text(one, &[]),
        n => reader.text(many, &[("n", &n.to_string())]),
    };
    match repeat {
        Repeat::Minutes { every } => counted("repeat.minute", "repeat.minutes", *every),
        Repeat::Daily { every } => counted("repeat.day", "repeat.days", *every),
        Repeat::Weekly { every, days } => {
            let days: Vec<String> = days
                .iter()
                .map(|day| {
                    let number = day.to_monday_zero_offset();
                    reader.text(&format!("weekday.{number}"), &[])
                })
                .collect();
            let days = reader.joined(&days);
            let week = counted("repeat.week", "repeat.weeks", *every);
            reader.text("repeat.on_days", &[("week", &week), ("days", &days)])
        }
        Repeat::Monthly { every, day } => monthly_words(reader, *every, *day),
        Repeat::Yearly { every } => counted("repeat.year", "repeat.years", *every),
    }
}

/// A rule of every so many months; twelve of them are a year.
fn monthly_words(reader: &Reader, every: u32, day: MonthDay) -> String {
    let counted = |one: &str, many: &str, every: u32| match every {
        1 => reader.text(one, &[]),
        n => reader.text(many, &[("n", &n.to_string())]),
    };
    let month = match every % 12 {
        0 => counted("repeat.year", "repeat.years", every / 12),
        _ => counted("repeat.month", "repeat.months", every),
    };
    match day {
        MonthDay::Day(day) => {
            let line =
                reader.text("repeat.on_day", &[("month", &month), ("day", &day.to_string())]);
            with_short_months(reader, line, day)
        }
        MonthDay::Last => reader.text("repeat.on_last_day", &[("month", &month)]),
        MonthDay::Days(days) => {
            let last = days.iter().last().unwrap_or_default();
            let days: Vec<String> = days.iter().map(|day| day.to_string()).collect();
            let days = days.join(&reader.text("show.listed", &[]));
            let line = reader.text("repeat.on_day", &[("month", &month), ("day", &days)]);
            with_short_months(reader, line, last)
        }
        MonthDay::Nth(n, day) => {
            let number = day.to_monday_zero_offset();
            let day = reader.text(&format!("weekday.{number}"), &[]);
            let nth = match n {
                -1 => reader.text("repeat.last", &[]),
                n => reader.text(&format!("repeat.nth.{n}"), &[]),
            };
            reader.text("repeat.on_nth", &[("month", &month), ("nth", &nth), ("day", &day)])
        }
    }
}

/// Adds what happens in months that are too short for a day.
fn with_short_months(reader: &Reader, line: String, day: i8) -> String {
    if day <= SHORTEST_MONTH {
        return line;
    }
    reader.text("repeat.short_months", &[("line", &line), ("day", &day.to_string())])
}
