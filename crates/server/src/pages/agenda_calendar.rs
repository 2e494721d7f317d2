//! The calendar: a day, a week or a month, with what takes place, what is due and what was missed.

use super::agenda_line::weekday;
use super::frame::PageRequest;
use everloop_agenda::kept;
use everloop_pages::agenda::{Calendar, CalendarDay, CalendarEntry, CalendarMark, CalendarSpan};
use everloop_pages::parts::say;
use everloop_store::{ScheduleRow, ScheduledState, TodoRow};
use everloop_text::pages as words;
use jiff::civil::Date;
use jiff::{Timestamp, ToSpan};
use std::collections::BTreeMap;

/// The hours that are shown even if nothing takes place in them.
const USUAL_HOURS: (i8, i8) = (8, 20);

/// Occurrences of an entry on one day that are drawn one by one.
const SINGLE_MAX: usize = 4;

/// Entries of a day of a month.
const MONTH_ENTRIES: usize = 3;

/// What the calendar is made of.
pub(super) struct CalendarSource<'a> {
    pub(super) entries: &'a [ScheduleRow],
    pub(super) todos: &'a [TodoRow],
    /// What became of the moments of schedules: by schedule and moment.
    pub(super) fired: &'a BTreeMap<(i64, i64), ScheduledState>,
}

/// The days of a span that holds a day: the day, its week from Monday on, or the weeks of its
/// month.
fn days_of(span: CalendarSpan, day: Date) -> (Date, i64) {
    let monday = |day: Date| {
        let since = i64::from(day.weekday().to_monday_zero_offset());
        day.checked_sub(since.days()).unwrap_or(day)
    };
    match span {
        CalendarSpan::Day => (day, 1),
        CalendarSpan::Week => (monday(day), 7),
        CalendarSpan::Month => {
            let first = monday(day.first_of_month());
            let last = day.last_of_month();
            let days = i64::from(first.until(last).map_or(27, |span| span.get_days())) + 1;
            (first, (days + 6) / 7 * 7)
        }
    }
}

/// The day from which the same span before or after is shown.
fn turned(span: CalendarSpan, day: Date, by: i64) -> Date {
    let moved = match span {
        CalendarSpan::Day => day.checked_add(by.days()),
        CalendarSpan::Week => day.checked_add((by * 7).days()),
        CalendarSpan::Month => day.first_of_month().checked_add(by.months()),
    };
    moved.unwrap_or(day)
}

pub(super) fn calendar(
    request: &PageRequest,
    span: CalendarSpan,
    day: Date,
    source: &CalendarSource<'_>,
) -> Calendar {
    let (first, count) = days_of(span, day);
    let mut days: Vec<CalendarDay> = (0..count)
        .filter_map(|offset| first.checked_add(offset.days()).ok())
        .map(|date| calendar_day(request, span, date, day, source))
        .collect();
    let hours = hours_of(&days);
    for entry in days.iter_mut().flat_map(|day| &mut day.entries) {
        entry.hour = entry.hour.clamp(hours.0, hours.1);
    }
    let last = days.last().map_or(first, |_| turned(CalendarSpan::Day, first, count - 1));
    let title = match span {
        CalendarSpan::Day => format!("{day} {}", weekday(request, day)),
        CalendarSpan::Week => say(request.lang(), words::agenda::week_of(&first, &last)),
        CalendarSpan::Month => day.strftime("%Y-%m").to_string(),
    };
    Calendar {
        span,
        title,
        hours,
        now: request.reader.now.strftime("%H:%M").to_string(),
        date: day.to_string(),
        turn: (turned(span, day, -1).to_string(), turned(span, day, 1).to_string()),
        days,
    }
}

fn calendar_day(
    request: &PageRequest,
    span: CalendarSpan,
    date: Date,
    chosen: Date,
    source: &CalendarSource<'_>,
) -> CalendarDay {
    let now = &request.reader.now;
    let zone = now.time_zone();
    let begin = date.to_zoned(zone.clone()).map(|at| at.timestamp()).unwrap_or_default();
    let end = date.tomorrow().and_then(|day| day.to_zoned(zone.clone()));
    let end = end.map(|at| at.timestamp()).unwrap_or(begin);
    let held = kept::occurrences_between(source.entries, begin, end);
    let mut all: Vec<CalendarEntry> =
        held.held.iter().map(|held| held_entry(request, begin, source, held)).collect();
    let range = begin.as_millisecond()..end.as_millisecond();
    let is_due = |row: &&TodoRow| {
        row.done_at.is_none() && row.said.due_at.is_some_and(|due| range.contains(&due))
    };
    all.extend(source.todos.iter().filter(is_due).filter_map(|row| {
        let at = Timestamp::from_millisecond(row.said.due_at?).ok()?;
        Some(placed(
            request,
            at,
            CalendarEntry {
                mark: CalendarMark::Due,
                title: row.said.text.clone(),
                to: format!("todo={}", row.id),
                movable: Some(format!("todos/{}", row.id)),
                ..CalendarEntry::default()
            },
        ))
    }));
    all = folded(all);
    all.sort_by(|one, other| one.time.cmp(&other.time));
    let more = match span {
        CalendarSpan::Month => all.len().saturating_sub(MONTH_ENTRIES),
        CalendarSpan::Day | CalendarSpan::Week => 0,
    };
    all.truncate(all.len() - more);
    CalendarDay {
        date: date.to_string(),
        name: weekday(request, date),
        number: date.day().to_string(),
        is_today: date == now.date(),
        is_weekend: date.weekday().to_monday_zero_offset() >= 5,
        is_other: span == CalendarSpan::Month && date.month() != chosen.month(),
        entries: all,
        more,
    }
}

/// The hours that the grid shows. What happens all day long does not make it longer.
fn hours_of(days: &[CalendarDay]) -> (i8, i8) {
    let entries = days.iter().flat_map(|day| &day.entries).filter(|entry| entry.count.is_none());
    let (first, last) = USUAL_HOURS;
    entries
        .fold((first, last), |(first, last), entry| (first.min(entry.hour), last.max(entry.hour)))
}

/// The entries of a day. An entry that takes place many times a day stands there once for each mark
/// that its occurrences have, with their number.
fn folded(all: Vec<CalendarEntry>) -> Vec<CalendarEntry> {
    let mut often: BTreeMap<String, usize> = BTreeMap::new();
    for entry in &all {
        *often.entry(entry.to.clone()).or_default() += 1;
    }
    let mut kept: Vec<CalendarEntry> = Vec::new();
    for entry in all {
        if often.get(&entry.to).is_none_or(|count| *count <= SINGLE_MAX) {
            kept.push(entry);
            continue;
        }
        let is_same = |one: &&mut CalendarEntry| one.to == entry.to && one.mark == entry.mark;
        match kept.iter_mut().find(is_same) {
            Some(one) => {
                one.count = one.count.map(|count| count + 1);
                let first = one.time.split('–').next().unwrap_or_default();
                one.time = format!("{first}–{}", entry.time);
            }
            None => kept.push(CalendarEntry { count: Some(1), minutes: 0, ..entry }),
        }
    }
    kept
}

/// What is held of an entry on a day that begins then.
fn held_entry(
    request: &PageRequest,
    begin: Timestamp,
    source: &CalendarSource<'_>,
    held: &kept::EntryOccurrence<'_>,
) -> CalendarEntry {
    let entry = held.entry;
    let run = entry.said.run.as_ref();
    let due = held.from.as_millisecond();
    let mark = match (run, source.fired.get(&(entry.id, due))) {
        (None, _) => CalendarMark::Mine,
        (_, Some(ScheduledState::Missed)) => CalendarMark::Missed,
        (_, Some(ScheduledState::Failed)) => CalendarMark::Failed,
        (_, Some(ScheduledState::Started)) => CalendarMark::Done,
        (_, Some(ScheduledState::Late)) => CalendarMark::MadeUp,
        (_, Some(ScheduledState::Skipped)) => CalendarMark::Skipped,
        (Some(run), _) if run.paused.is_some() => CalendarMark::Paused,
        _ => CalendarMark::Auto,
    };
    let repeats = entry.said.repeat.as_ref().is_some_and(|rule| rule.on != 0);
    let shown = CalendarEntry {
        mark,
        title: entry.said.title.clone(),
        minutes: if run.is_some() { 0 } else { entry.said.span.minutes.max(0) },
        to: format!("entry={}", entry.id),
        movable: (!repeats && run.is_none()).then(|| format!("schedules/{}", entry.id)),
        ..CalendarEntry::default()
    };
    placed(request, held.from.max(begin), shown)
}

/// An entry at its place within a day.
fn placed(request: &PageRequest, at: Timestamp, entry: CalendarEntry) -> CalendarEntry {
    let zoned = at.to_zoned(request.reader.now.time_zone().clone());
    CalendarEntry {
        time: zoned.strftime("%H:%M").to_string(),
        hour: zoned.hour(),
        quarter: zoned.minute() / 15,
        ..entry
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minute: i64, mark: CalendarMark) -> CalendarEntry {
        CalendarEntry {
            time: format!("{:02}:{:02}", minute / 60, minute % 60),
            hour: i8::try_from(minute / 60).unwrap_or(0),
            mark,
            to: "entry=7".to_owned(),
            ..CalendarEntry::default()
        }
    }

    #[test]
    fn an_entry_of_every_minute_stands_in_a_day_once_for_each_mark() {
        let mark = |minute| if minute < 600 { CalendarMark::Done } else { CalendarMark::Auto };
        let day: Vec<_> = (0..1_440).map(|minute| at(minute, mark(minute))).collect();
        let shown = folded(day);
        let seen: Vec<_> = shown.iter().map(|one| (one.count, one.time.as_str())).collect();
        assert_eq!(seen, [(Some(600), "00:00–09:59"), (Some(840), "10:00–23:59")]);
        let few = folded(vec![at(0, CalendarMark::Auto), at(60, CalendarMark::Auto)]);
        assert!(few.len() == 2 && few[0].count.is_none());
    }
}
