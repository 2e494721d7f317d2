//! The schedule and todos as an iCalendar file (RFC 5545).
//!
//! Entries keep their local time and zone, and the file contains the zone's rules. Properties that
//! the standard does not have begin with `X-EVERLOOP-`: a paused repetition, the first reminder,
//! the policy for missed ones, a priority above 9.

use super::ics_lines::{escaped, push_line};
use super::ics_zone::{self, compact};
use crate::kept::moment;
use everloop_store::{ScheduleRow, TodoRow};
use everloop_types::UtcMs;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use std::collections::BTreeMap;

/// Entries and todos as the text of a file. Days are those of `now`'s zone.
#[must_use]
pub fn write(entries: &[ScheduleRow], todos: &[TodoRow], now: &Zoned) -> String {
    let mut out = String::new();
    for line in
        ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Everloop//Everloop//EN", "CALSCALE:GREGORIAN"]
    {
        push_line(&mut out, line);
    }
    for (zone, (first, last)) in zones(entries, now.timestamp()) {
        ics_zone::write(&mut out, zone, first, last);
    }
    for entry in entries {
        write_entry(&mut out, entry);
    }
    for todo in todos {
        write_todo(&mut out, todo, now.time_zone());
    }
    push_line(&mut out, "END:VCALENDAR");
    out
}

/// The zones that are used, each with its first start and its last one or `now`.
fn zones(entries: &[ScheduleRow], now: Timestamp) -> BTreeMap<&str, (Timestamp, Timestamp)> {
    let mut zones = BTreeMap::new();
    for span in entries.iter().map(|entry| &entry.said.span) {
        let at = moment(span.starts_at);
        let (first, last) = zones.entry(span.zone.as_str()).or_insert((at, now));
        *first = at.min(*first);
        *last = at.max(*last);
    }
    zones
}

fn write_entry(out: &mut String, entry: &ScheduleRow) {
    let said = &entry.said;
    let mut line = |line: String| push_line(out, &line);
    line("BEGIN:VEVENT".to_owned());
    line(format!("UID:{}", escaped(&entry.uid)));
    line(format!("DTSTAMP:{}", utc(entry.updated_at)));
    line(format!("CREATED:{}", utc(entry.created_at)));
    let span = &said.span;
    line(match (span.starts.parse::<DateTime>(), TimeZone::get(&span.zone)) {
        (Ok(wall), Ok(_)) => format!("DTSTART;TZID={}:{}", span.zone, compact(wall)),
        _ => format!("DTSTART:{}", utc(span.starts_at)),
    });
    // An event with neither an end nor a duration has no length: a reminder.
    if span.minutes > 0 {
        line(format!("DURATION:PT{}M", span.minutes));
    }
    line(format!("SUMMARY:{}", escaped(&said.title)));
    if let Some(rule) = &said.repeat {
        let count = rule.times.map(|times| format!(";COUNT={times}")).unwrap_or_default();
        // Another program must not repeat a paused entry.
        let name = if rule.on == 0 { "X-EVERLOOP-RESTS" } else { "RRULE" };
        line(format!("{name}:{}{count}", rule.rrule));
    }
    if let Some(from) = said.remind.as_ref().and_then(|remind| remind.from) {
        line(format!("X-EVERLOOP-REMIND-FROM:{}", utc(from)));
    }
    if let Some(catch_up) = &said.catch_up {
        line(format!("X-EVERLOOP-CATCH-UP:{}", escaped(catch_up)));
    }
    if let Some(remind) = &said.remind {
        let trigger = format!("TRIGGER:{}", before(remind.lead_ms));
        alarm(&mut line, &trigger, &said.title);
    }
    line("END:VEVENT".to_owned());
}

fn write_todo(out: &mut String, todo: &TodoRow, zone: &TimeZone) {
    let said = &todo.said;
    let mut line = |line: String| push_line(out, &line);
    line("BEGIN:VTODO".to_owned());
    line(format!("UID:{}", escaped(&todo.uid)));
    line(format!("DTSTAMP:{}", utc(todo.updated_at)));
    line(format!("CREATED:{}", utc(todo.created_at)));
    line(format!("SUMMARY:{}", escaped(&said.text)));
    if let Some(due) = said.due_at {
        let wall = moment(due).to_zoned(zone.clone()).datetime();
        // The last minute of a day means the whole day.
        line(match wall == wall.date().at(23, 59, 0, 0) {
            true => format!("DUE;VALUE=DATE:{}", wall.strftime("%Y%m%d")),
            false => format!("DUE:{}", utc(due)),
        });
    }
    if said.priority != 0 {
        line(format!("PRIORITY:{}", said.priority.clamp(1, 9)));
    }
    if !(0..=9).contains(&said.priority) {
        line(format!("X-EVERLOOP-PRIORITY:{}", said.priority));
    }
    if !said.tags.is_empty() {
        let tags: Vec<String> = said.tags.iter().map(|tag| escaped(tag)).collect();
        line(format!("CATEGORIES:{}", tags.join(",")));
    }
    match todo.done_at {
        Some(done) => {
            line("STATUS:COMPLETED".to_owned());
            line(format!("COMPLETED:{}", utc(done)));
        }
        None => line("STATUS:NEEDS-ACTION".to_owned()),
    }
    if let Some(remind) = said.remind_at {
        let trigger = match said.remind_lead {
            Some(lead_ms) => format!("TRIGGER;RELATED=END:{}", before(lead_ms)),
            None => format!("TRIGGER;VALUE=DATE-TIME:{}", utc(remind)),
        };
        alarm(&mut line, &trigger, &said.text);
    }
    line("END:VTODO".to_owned());
}

fn alarm(line: &mut impl FnMut(String), trigger: &str, text: &str) {
    line("BEGIN:VALARM".to_owned());
    line("ACTION:DISPLAY".to_owned());
    line(format!("DESCRIPTION:{}", escaped(text)));
    line(trigger.to_owned());
    line("END:VALARM".to_owned());
}

fn utc(at: UtcMs) -> String {
    moment(at).to_zoned(TimeZone::UTC).strftime("%Y%m%dT%H%M%SZ").to_string()
}

/// A lead time as calendars write it. Hours are elapsed time; days would depend on clock changes.
fn before(lead_ms: i64) -> String {
    let seconds = lead_ms.div_euclid(1_000);
    let sign = if seconds > 0 { "-" } else { "" };
    let seconds = seconds.abs();
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    // Between hours and seconds the minutes must not be left out.
    match (hours, minutes, seconds) {
        (0, 0, seconds) => format!("{sign}PT{seconds}S"),
        (0, minutes, 0) => format!("{sign}PT{minutes}M"),
        (0, minutes, seconds) => format!("{sign}PT{minutes}M{seconds}S"),
        (hours, 0, 0) => format!("{sign}PT{hours}H"),
        (hours, minutes, 0) => format!("{sign}PT{hours}H{minutes}M"),
        (hours, minutes, seconds) => format!("{sign}PT{hours}H{minutes}M{seconds}S"),
    }
}
