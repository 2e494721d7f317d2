//! The schedule as a list, a day, a week, a month.

use super::repeats::weekday;
use super::todos::when;
use super::{DisplayContext, TextTable, lasts, repeats, table::padded};
use crate::commands::CalendarView;
use crate::desk::{ScheduleRange, week_start};
use crate::kept::{EntryOccurrence, OccurrencePage, is_reminder};
use everloop_text as text;
use everloop_types::one_line;
use jiff::ToSpan;
use jiff::civil::{Date, Weekday};
use std::collections::BTreeMap;

/// The maximum number of lines of a list.
const LINES_MAX: usize = 1_000;

/// Times of a repeating entry that are shown.
const NEXT_TIMES: usize = 3;

/// The maximum number of lines of one day.
const DAY_LINES_MAX: usize = 200;

pub(super) fn show(
    reader: &DisplayContext,
    range: &ScheduleRange,
    listed: &OccurrencePage<'_>,
) -> String {
    let held = &listed.held;
    let shown = match range.calendar {
        None => return list(reader, listed),
        Some((CalendarView::Day, date)) => day(reader, date, held),
        Some((CalendarView::Week, date)) => week(reader, date, held),
        Some((CalendarView::Month, date)) => month(reader, date, held),
    };
    match left_out(reader, listed.left_out) {
        Some(line) => format!("{shown}\n{line}"),
        None => shown,
    }
}

fn left_out(reader: &DisplayContext, count: usize) -> Option<String> {
    (count > 0).then(|| reader.text(text::calendar::left_out(&count)))
}

/// The last listed time of an entry, and those that are still to come.
struct EntryTimes<'l, 'e> {
    last: &'l EntryOccurrence<'e>,
    next: Vec<&'l EntryOccurrence<'e>>,
}

/// One row for each entry: a repeating one with its next times.
fn list(reader: &DisplayContext, listed: &OccurrencePage<'_>) -> String {
    let held = &listed.held;
    if held.is_empty() {
        return reader.text(text::schedule::none());
    }
    let now = reader.now.timestamp();
    let heads = [
        text::schedule::head::id(),
        text::schedule::head::at(),
        text::schedule::head::minutes(),
        text::schedule::head::repeat(),
        text::schedule::head::title(),
    ];
    let mut table = TextTable::new(heads.map(|head| reader.text(head)).to_vec());
    table.may_drop(&[2, 3]);
    let mut by_entry: BTreeMap<i64, EntryTimes<'_, '_>> = BTreeMap::new();
    for held in held {
        let times =
            by_entry.entry(held.entry.id).or_insert(EntryTimes { last: held, next: vec![] });
        times.last = held;
        if times.next.len() < NEXT_TIMES && held.reaches(now) {
            times.next.push(held);
        }
    }
    let mut rows = Vec::new();
    for EntryTimes { last, next } in by_entry.into_values() {
        let shown = next.first().copied().unwrap_or(last);
        rows.push((shown.from, shown.entry, next));
    }
    rows.sort_by_key(|(from, entry, _)| (*from, entry.id));
    for (from, entry, next) in rows.iter().take(LINES_MAX) {
        table.row(vec![
            entry.id.to_string(),
            when(reader, from.as_millisecond()),
            lasts(reader, entry),
            repeats(reader, entry).unwrap_or_default(),
            with_next(reader, &entry.said.title, next),
        ]);
    }
    let more = rows.len().saturating_sub(LINES_MAX);
    let lines = [Some(table.show(reader.width)), left_out(reader, more)];
    lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// The title, and when it takes place after the time in its row.
fn with_next(reader: &DisplayContext, title: &str, next: &[&EntryOccurrence<'_>]) -> String {
    let later = next.iter().skip(1).map(|held| when(reader, held.from.as_millisecond()));
    let later: Vec<String> = later.collect();
    if later.is_empty() {
        return title.to_owned();
    }
    let times = later.join(&reader.text(text::show::listed()));
    reader.text(text::show::details(&title, &reader.text(text::schedule::more_times(&times))))
}

fn heading(reader: &DisplayContext, date: Date) -> String {
    let weekday = reader.text(weekday(date.weekday()));
    let today = if date == reader.now.date() {
        reader.text(text::calendar::today())
    } else {
        String::new()
    };
    format!("{date} {weekday}{today}")
}

fn line(reader: &DisplayContext, held: &EntryOccurrence<'_>) -> String {
    let zone = reader.now.time_zone();
    let time = |at: jiff::Timestamp| at.to_zoned(zone.clone()).strftime("%H:%M").to_string();
    let (from, to) = (time(held.from), time(held.to));
    let span = match is_reminder(held.entry) {
        true => format!("{from} {}", reader.text(text::schedule::is_reminder())),
        false => format!("{from}-{to}"),
    };
    format!("  {span}  #{} {}", held.entry.id, one_line(&held.entry.said.title))
}

/// The number of entries of a day, and their lines.
fn day_lines(
    reader: &DisplayContext,
    date: Date,
    held: &[EntryOccurrence<'_>],
) -> (usize, Vec<String>) {
    let zone = reader.now.time_zone();
    let midnight = |date: Date| {
        let zoned = date.to_zoned(zone.clone());
        zoned.map_or(jiff::Timestamp::MAX, |zoned| zoned.timestamp())
    };
    let (from, to) = (midnight(date), midnight(date.saturating_add(1.day())));
    // An entry that ends at midnight is not on the next day.
    let on = held.iter().take_while(|held| held.from < to).filter(|held| held.reaches(from));
    let on: Vec<&EntryOccurrence<'_>> = on.collect();
    let mut lines: Vec<String> =
        on.iter().take(DAY_LINES_MAX).map(|held| line(reader, held)).collect();
    let more = left_out(reader, on.len() - lines.len());
    lines.extend(more.map(|more| format!("  {more}")));
    (on.len(), lines)
}

fn day(reader: &DisplayContext, date: Date, held: &[EntryOccurrence<'_>]) -> String {
    let mut lines = vec![heading(reader, date)];
    lines.extend(day_lines(reader, date, held).1);
    if lines.len() == 1 {
        lines.push(format!("  {}", reader.text(text::calendar::free())));
    }
    lines.join("\n")
}

fn week(reader: &DisplayContext, date: Date, held: &[EntryOccurrence<'_>]) -> String {
    let first = week_start(date, reader.now.date());
    let days = (0..7).map(|after: i64| day(reader, first.saturating_add(after.days()), held));
    days.collect::<Vec<_>>().join("\n")
}

/// A grid with the number of entries of each day, and below it the days that have some.
fn month(reader: &DisplayContext, date: Date, held: &[EntryOccurrence<'_>]) -> String {
    const CELL: usize = 7;
    let first = date.first_of_month();
    let name = first.strftime("%Y-%m").to_string();
    let days = Weekday::Monday.cycle_forward().take(7);
    let heads = days.map(|day| padded(&reader.text(weekday(day)), CELL));
    let mut lines = vec![name, heads.collect::<String>().trim_end().to_owned()];
    let mut row =
        " ".repeat(CELL * first.weekday().to_monday_zero_offset().unsigned_abs() as usize);
    let mut below = Vec::new();
    for number in 1..=first.days_in_month() {
        let Ok(day_date) = Date::new(first.year(), first.month(), number) else { continue };
        let (count, found) = day_lines(reader, day_date, held);
        let count = if count == 0 { String::new() } else { format!("({count})") };
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
