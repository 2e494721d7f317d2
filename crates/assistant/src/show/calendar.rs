//! The schedule as a list, a day, a week, a month.

use super::{Reader, Table, repeats, table::padded};
use crate::commands::Stretch;
use crate::desk::Range;
use crate::kept::Held;
use jiff::ToSpan;
use jiff::civil::Date;

pub(super) fn show(reader: &Reader, range: &Range, held: &[Held<'_>]) -> String {
    match range.calendar {
        None => list(reader, held),
        Some((Stretch::Day, date)) => day(reader, date, held),
        Some((Stretch::Week, date)) => week(reader, date, held),
        Some((Stretch::Month, date)) => month(reader, date, held),
    }
}

fn list(reader: &Reader, held: &[Held<'_>]) -> String {
    if held.is_empty() {
        return reader.text("schedule.none", &[]);
    }
    let heads = ["id", "at", "minutes", "repeat", "title"];
    let heads = heads.map(|name| reader.text(&format!("schedule.head.{name}"), &[]));
    let mut table = Table::new(heads.to_vec());
    for held in held {
        table.row(vec![
            held.entry.id.to_string(),
            reader.moment(held.from.as_millisecond()),
            held.entry.said.span.minutes.to_string(),
            repeats(reader, held.entry).unwrap_or_else(|| "-".to_owned()),
            held.entry.said.title.clone(),
        ]);
    }
    table.show(reader.width)
}

fn heading(reader: &Reader, date: Date) -> String {
    let number = date.weekday().to_monday_zero_offset();
    let weekday = reader.text(&format!("weekday.{number}"), &[]);
    let today =
        if date == reader.now.date() { reader.text("calendar.today", &[]) } else { String::new() };
    format!("{date} {weekday}{today}")
}

fn line(reader: &Reader, held: &Held<'_>) -> String {
    let zone = reader.now.time_zone();
    let time = |at: jiff::Timestamp| at.to_zoned(zone.clone()).strftime("%H:%M").to_string();
    let (from, to) = (time(held.from), time(held.to));
    format!("  {from}-{to}  #{} {}", held.entry.id, held.entry.said.title)
}

fn on(reader: &Reader, date: Date, held: &Held<'_>) -> bool {
    let zone = reader.now.time_zone();
    let day = |at: jiff::Timestamp| at.to_zoned(zone.clone()).date();
    // What ends at midnight does not touch the day that begins then.
    let last = jiff::Timestamp::from_millisecond(held.to.as_millisecond() - 1);
    day(held.from) <= date && date <= last.map_or_else(|_| day(held.from), day)
}

fn day_lines(reader: &Reader, date: Date, held: &[Held<'_>]) -> Vec<String> {
    held.iter().filter(|held| on(reader, date, held)).map(|held| line(reader, held)).collect()
}

fn day(reader: &Reader, date: Date, held: &[Held<'_>]) -> String {
    let mut lines = vec![heading(reader, date)];
    lines.extend(day_lines(reader, date, held));
    if lines.len() == 1 {
        lines.push(format!("  {}", reader.text("calendar.free", &[])));
    }
    lines.join("\n")
}

fn week(reader: &Reader, date: Date, held: &[Held<'_>]) -> String {
    let back = i64::from(date.weekday().to_monday_zero_offset());
    let monday = date.saturating_sub(back.days());
    let days = (0..7).map(|after: i64| day(reader, monday.saturating_add(after.days()), held));
    days.collect::<Vec<_>>().join("\n")
}

/// A grid with the number of entries of each day, and below it the days that have some.
fn month(reader: &Reader, date: Date, held: &[Held<'_>]) -> String {
    const CELL: usize = 7;
    let first = date.first_of_month();
    let name = first.strftime("%Y-%m").to_string();
    let heads = (0..7).map(|day| padded(&reader.text(&format!("weekday.{day}"), &[]), CELL));
    let mut lines = vec![name, heads.collect::<String>().trim_end().to_owned()];
    let mut row =
        " ".repeat(CELL * first.weekday().to_monday_zero_offset().unsigned_abs() as usize);
    let mut below = Vec::new();
    for number in 1..=first.days_in_month() {
        let Ok(day_date) = Date::new(first.year(), first.month(), number) else { continue };
        let found = day_lines(reader, day_date, held);
        let count = if found.is_empty() { String::new() } else { format!("({})", found.len()) };
        row.push_str(&padded(&format!("{number:>2}{count}"), CELL));
        if !found.is_empty() {
            below.push(heading(reader, day_date));
            below.extend(found);
        }
        if day_date.weekday().to_monday_zero_offset() == 6 {
            lines.push(std::mem::take(&mut row).trim_end().to_owned());
        }
    }
    if !row.is_empty() {
        lines.push(row.trim_end().to_owned());
    }
    lines.extend(below);
    lines.join("\n")
}
