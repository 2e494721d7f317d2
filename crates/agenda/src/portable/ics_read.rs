//! iCalendar files of any program, as entries and todos.
//!
//! Times without a zone are in the user's zone, a day without a time is the whole day, a todo that
//! is due on a day is due at its end. Problems are reported by line; the rest is imported.

use super::ics_lines::{self, IcsComponent, IcsProperty, IcsTime, listed, seconds, stamp};
use super::{
    CompletionTime, FileProblem, FileProblemKind, ImportedEntry, ImportedTodo, PortableFile,
    derived_uid, end_of_day, ics_rule, ics_zone, text_trouble,
};
use crate::commands::add_tags;
use crate::kept::{CatchUp, wall_text};
use everloop_store::{ReminderRule, RepeatRule, ScheduleText, Span, TodoText};
use everloop_types::UtcMs;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use std::collections::BTreeMap;

const DAY_MINUTES: i64 = 24 * 60;

/// Whether a text is a calendar, by its first line.
#[must_use]
pub fn is_calendar(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let first = text.lines().next().unwrap_or_default();
    first.trim_end().eq_ignore_ascii_case("BEGIN:VCALENDAR")
}

/// Reads a calendar.
#[must_use]
pub fn read(text: &str, now: &Zoned) -> PortableFile {
    let mut parsed = PortableFile::default();
    if !is_calendar(text) {
        let detail = text.lines().next().unwrap_or_default().to_owned();
        let problem = FileProblem { line: 1, trouble: FileProblemKind::NotACalendar, detail };
        return PortableFile { problems: vec![problem], ..parsed };
    }
    let parts = ics_lines::parts(text, &mut parsed.problems);
    let locations = ics_zone::locations(&parts);
    let mut reading = IcsReader { now, locations, problems: &mut parsed.problems };
    for part in &parts {
        match part.name.as_str() {
            "VEVENT" => parsed.entries.extend(reading.entry(part)),
            "VTODO" => parsed.todos.extend(reading.todo(part)),
            _ => {}
        }
    }
    parsed.problems.sort_by_key(|problem| problem.line);
    parsed
}

struct IcsReader<'a> {
    now: &'a Zoned,
    locations: BTreeMap<String, String>,
    problems: &'a mut Vec<FileProblem>,
}

/// When something takes place: the moment, and its local time.
struct IcsMoment {
    at: Timestamp,
    wall: DateTime,
    zone: TimeZone,
    kind: MomentKind,
}

/// What the time of an alarm is relative to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AlarmAnchor {
    Start,
    End,
    Nothing,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum MomentKind {
    Day,
    Wall,
    Utc,
}

impl IcsReader<'_> {
    fn report(&mut self, line: usize, trouble: FileProblemKind, detail: &str) {
        self.problems.push(FileProblem { line, trouble, detail: detail.to_owned() });
    }

    fn entry(&mut self, part: &IcsComponent) -> Option<ImportedEntry> {
        let title = self.title(part)?;
        if let Some(of) = part.first("RECURRENCE-ID") {
            self.report(of.line, FileProblemKind::Exception, &title);
            return None;
        }
        let Some(start) = part.first("DTSTART").and_then(|start| self.moment(start)) else {
            self.report(part.line, FileProblemKind::BadDate, &title);
            return None;
        };
        let rule = part.first("RRULE").or_else(|| part.first("X-EVERLOOP-RESTS"));
        let start = if rule.is_none() { self.at_home(start) } else { start };
        if let Some(days) = part.first("EXDATE").or_else(|| part.first("RDATE")) {
            self.report(days.line, FileProblemKind::ExceptDays, &title);
        }
        let minutes = self.minutes(part, &start);
        let repeat = rule.and_then(|rule| self.repeat(rule, &start));
        let remind = self.lead(part, &start, minutes).map(|lead_ms| ReminderRule {
            lead_ms,
            from: part.first("X-EVERLOOP-REMIND-FROM").and_then(|from| self.instant(from)),
        });
        let catch_up = part.text("X-EVERLOOP-CATCH-UP");
        let starts = wall_text(start.wall);
        Some(ImportedEntry {
            line: part.line,
            uid: part
                .text("UID")
                .unwrap_or_else(|| derived_uid(&format!("{starts} {title}"), "ics")),
            said: ScheduleText {
                title,
                span: Span {
                    starts,
                    zone: start.zone.iana_name().unwrap_or("UTC").to_owned(),
                    starts_at: start.at.as_millisecond(),
                    minutes,
                },
                repeat,
                remind,
                catch_up: catch_up.filter(|name| CatchUp::parse(name).is_some()),
                // A file from elsewhere starts nothing.
                run: None,
            },
            created_at: part.first("CREATED").and_then(|made| self.instant(made)),
        })
    }

    /// Its title. If it is missing, the location or the first words of the description.
    fn title(&mut self, part: &IcsComponent) -> Option<String> {
        let first_line = |text: String| text.trim().lines().next().map(str::to_owned);
        let title = part
            .text("SUMMARY")
            .or_else(|| part.text("LOCATION").and_then(first_line))
            .or_else(|| part.text("DESCRIPTION").and_then(first_line))
            .unwrap_or_default();
        let called_off = part.text("STATUS").is_some_and(|s| s.eq_ignore_ascii_case("CANCELLED"));
        let trouble =
            called_off.then_some(FileProblemKind::CalledOff).or_else(|| text_trouble(&title));
        match trouble {
            Some(trouble) => {
                self.report(part.line, trouble, &title);
                None
            }
            None => Some(title),
        }
    }

    fn moment(&mut self, property: &IcsProperty) -> Option<IcsMoment> {
        let own = self.now.time_zone().clone();
        let (wall, zone, kind) = match stamp(&property.value)? {
            IcsTime::Day(day) => (day.at(0, 0, 0, 0), own, MomentKind::Day),
            IcsTime::Wall(wall) => (wall, self.zone(property).unwrap_or(own), MomentKind::Wall),
            IcsTime::Utc(wall) => (wall, TimeZone::UTC, MomentKind::Utc),
        };
        let at = zone.to_ambiguous_timestamp(wall).compatible().ok()?;
        match zone.iana_name() {
            Some(_) => Some(IcsMoment { at, wall, zone, kind }),
            // A zone without a name cannot be saved; the moment can.
            None => {
                let wall = TimeZone::UTC.to_datetime(at);
                Some(IcsMoment { at, wall, zone: TimeZone::UTC, kind })
            }
        }
    }

    fn zone(&mut self, property: &IcsProperty) -> Option<TimeZone> {
        let name = property.param("TZID")?;
        let found = ics_zone::find(name, &self.locations);
        if found.is_none() {
            self.report(property.line, FileProblemKind::Zone, name);
        }
        found
    }

    /// Many programs write a single event in UTC; it becomes a time in the user's zone.
    fn at_home(&self, start: IcsMoment) -> IcsMoment {
        let own = self.now.time_zone();
        if start.kind != MomentKind::Utc || own.iana_name().is_none() {
            return start;
        }
        IcsMoment { wall: own.to_datetime(start.at), zone: own.clone(), ..start }
    }

    /// A moment to the second.
    fn instant(&self, property: &IcsProperty) -> Option<UtcMs> {
        let own = self.now.time_zone();
        let at = match stamp(&property.value)? {
            IcsTime::Day(day) => own.to_ambiguous_timestamp(day.into()),
            IcsTime::Wall(wall) => {
                let zone = property.param("TZID");
                let zone = zone.and_then(|name| ics_zone::find(name, &self.locations));
                zone.as_ref().unwrap_or(own).to_ambiguous_timestamp(wall)
            }
            IcsTime::Utc(wall) => TimeZone::UTC.to_ambiguous_timestamp(wall),
        };
        Some(at.compatible().ok()?.as_millisecond())
    }

    /// The length: at least a day for whole days, and 0 if there is none.
    fn minutes(&mut self, part: &IcsComponent, start: &IcsMoment) -> i64 {
        let least = if start.kind == MomentKind::Day { DAY_MINUTES } else { 0 };
        let lasts = part.first("DURATION").and_then(|lasts| seconds(&lasts.value));
        let minutes = match part.first("DTEND") {
            Some(end) => {
                let Some(end) = self.moment(end) else {
                    self.report(end.line, FileProblemKind::DateLeftOut, &end.value);
                    return least;
                };
                // A day with a clock change is still one day.
                match start.kind == MomentKind::Day && end.kind == MomentKind::Day {
                    true => start.wall.duration_until(end.wall).as_secs() / 60,
                    false => start.at.duration_until(end.at).as_secs() / 60,
                }
            }
            None => lasts.map_or(least, |seconds| seconds / 60),
        };
        minutes.max(least)
    }

    fn repeat(&mut self, rule: &IcsProperty, start: &IcsMoment) -> Option<RepeatRule> {
        let Some(found) = ics_rule::read(&rule.value, start.wall, &start.zone) else {
            self.report(rule.line, FileProblemKind::Repetition, &rule.value);
            return None;
        };
        let on = i64::from(rule.name == "RRULE");
        let once = found.times == Some(1);
        (!once).then(|| RepeatRule { rrule: found.repeat.to_rrule(), times: found.times, on })
    }

    /// The lead time of the first alarm. Alarms that send mail are ignored.
    fn lead(&mut self, part: &IcsComponent, start: &IcsMoment, minutes: i64) -> Option<i64> {
        let from = start.at.as_millisecond();
        let to = from.saturating_add(minutes.saturating_mul(60_000));
        let (rings, _) = self.alarm(part, from, to)?;
        Some(from.saturating_sub(rings))
    }

    /// When the first alarm of a component from `from` to `to` fires, and what that is relative to.
    fn alarm(
        &mut self,
        part: &IcsComponent,
        from: UtcMs,
        to: UtcMs,
    ) -> Option<(UtcMs, AlarmAnchor)> {
        let mut found = None;
        for alarm in part.parts.iter().filter(|part| part.name == "VALARM") {
            let action = alarm.text("ACTION").unwrap_or_default().to_ascii_uppercase();
            if action == "NONE" || action == "EMAIL" {
                continue;
            }
            let trigger = alarm.first("TRIGGER");
            let rings = trigger.and_then(|trigger| match seconds(&trigger.value) {
                Some(after) => {
                    let at_end = trigger.param("RELATED").is_some_and(|r| r == "END");
                    let to_what = if at_end { AlarmAnchor::End } else { AlarmAnchor::Start };
                    Some((if at_end { to } else { from }.saturating_add(after * 1_000), to_what))
                }
                None => self.instant(trigger).map(|at| (at, AlarmAnchor::Nothing)),
            });
            match rings {
                Some(_) if found.is_none() => found = rings,
                _ => self.report(alarm.line, FileProblemKind::Reminder, &alarm.name),
            }
        }
        found
    }

    fn todo(&mut self, part: &IcsComponent) -> Option<ImportedTodo> {
        let text = self.title(part)?;
        if let Some(rule) = part.first("RRULE") {
            self.report(rule.line, FileProblemKind::Repetition, &rule.value);
        }
        let due_at = part.first("DUE").and_then(|due| self.due(due));
        let (remind_at, remind_lead) = self.todo_alarm(part, due_at).unzip();
        let remind_lead = remind_lead.flatten();
        let is_done = part.text("STATUS").is_some_and(|s| s.eq_ignore_ascii_case("COMPLETED"));
        let done = match part.first("COMPLETED") {
            Some(done) => Some(match stamp(&done.value) {
                Some(IcsTime::Day(day)) => CompletionTime::On(day),
                _ => self.instant(done).map_or(CompletionTime::Sometime, CompletionTime::At),
            }),
            None => is_done.then_some(CompletionTime::Sometime),
        };
        let mut tags = Vec::new();
        add_tags(&mut tags, part.all("CATEGORIES").flat_map(|group| listed(&group.value)));
        let priority = priority(part);
        Some(ImportedTodo {
            line: part.line,
            uid: part.text("UID").unwrap_or_else(|| derived_uid(&text, "ics")),
            said: TodoText { text, tags, priority, due_at, remind_at, remind_lead },
            done,
            created_at: part.first("CREATED").and_then(|made| self.instant(made)),
        })
    }

    fn due(&mut self, due: &IcsProperty) -> Option<UtcMs> {
        let at = match stamp(&due.value) {
            Some(IcsTime::Day(day)) => end_of_day(day, self.now),
            Some(IcsTime::Wall(_)) => {
                self.zone(due);
                self.instant(due)
            }
            _ => self.instant(due),
        };
        if at.is_none() {
            self.report(due.line, FileProblemKind::DateLeftOut, &due.value);
        }
        at
    }

    /// When a todo reminds, and its lead time if the alarm is relative. Without a due date there is
    /// no reminder.
    fn todo_alarm(
        &mut self,
        part: &IcsComponent,
        due_at: Option<UtcMs>,
    ) -> Option<(UtcMs, Option<i64>)> {
        let Some(due) = due_at else {
            if let Some(alarm) = part.parts.iter().find(|part| part.name == "VALARM") {
                self.report(alarm.line, FileProblemKind::Reminder, &alarm.name);
            }
            return None;
        };
        let start = part.first("DTSTART").and_then(|start| self.instant(start));
        let (rings, related) = self.alarm(part, start.unwrap_or(due), due)?;
        let is_to_due =
            related == AlarmAnchor::End || related == AlarmAnchor::Start && start.is_none();
        Some((rings, is_to_due.then(|| due.saturating_sub(rings))))
    }
}

/// The priority; 0 if it is not a number.
fn priority(part: &IcsComponent) -> i64 {
    let said = part.first("X-EVERLOOP-PRIORITY").or_else(|| part.first("PRIORITY"));
    said.and_then(|said| said.value.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
#[path = "ics_tests.rs"]
mod tests;
