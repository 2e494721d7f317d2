//! Which entries take place at the same time.

use super::{EntryOccurrence, EntryTimeline, moment, occurrences_between, series};
use everloop_store::ScheduleRow;
use everloop_types::UtcMs;
use jiff::Timestamp;

/// How far ahead an endless repetition is checked: 31 days.
const ENDLESS_MS: i64 = 31 * 86_400_000;

/// How far ahead a repetition with an end is checked: a year and a day.
const FINITE_MS: i64 = 366 * 86_400_000;

/// An occurrence of an entry that overlaps one of another entry.
struct OccurrenceClash<'a> {
    own: Timestamp,
    other: EntryOccurrence<'a>,
}

/// The occurrences of `others` that overlap `entry`, each entry once. One that ends when another
/// begins does not overlap it, and an entry without a length overlaps nothing.
#[must_use]
pub fn conflicts<'a>(entry: &ScheduleRow, others: &'a [ScheduleRow]) -> Vec<EntryOccurrence<'a>> {
    let mut found: Vec<EntryOccurrence<'a>> =
        clashes(entry, others).into_iter().map(|clash| clash.other).collect();
    found.sort_by_key(|held| (held.from, held.entry.id));
    found
}

fn clashes<'a>(entry: &ScheduleRow, others: &'a [ScheduleRow]) -> Vec<OccurrenceClash<'a>> {
    if !takes_time(entry) {
        return Vec::new();
    }
    let own = EntryTimeline::of(entry);
    let from = moment(entry.said.span.starts_at);
    let to = moment(from.as_millisecond().saturating_add(reach(entry)));
    rivals(entry, others)
        .filter_map(|other| meeting(&own, &EntryTimeline::of(other), from, to))
        .collect()
}

/// The other entries with a length.
fn rivals<'a>(
    entry: &ScheduleRow,
    others: &'a [ScheduleRow],
) -> impl Iterator<Item = &'a ScheduleRow> {
    let id = entry.id;
    others.iter().filter(move |other| other.id != id && takes_time(other))
}

fn takes_time(entry: &ScheduleRow) -> bool {
    entry.said.span.minutes > 0
}

/// The first occurrence of `others` that overlaps one of the entry before `to`.
fn meeting<'a>(
    owns: &EntryTimeline<'_>,
    others: &EntryTimeline<'a>,
    from: Timestamp,
    to: Timestamp,
) -> Option<OccurrenceClash<'a>> {
    let mut own = TimelineCursor::after(owns, from)?;
    let mut other = TimelineCursor::after(others, own.held.from)?;
    while own.held.from < to {
        if other.held.to <= own.held.from {
            other.pass(own.held.from)?;
        } else if own.held.to <= other.held.from {
            own.pass(other.held.from)?;
        } else {
            return Some(OccurrenceClash { own: own.held.from, other: other.held });
        }
    }
    None
}

/// Steps after which a jump is cheaper.
const STEPS_MAX: usize = 4;

/// A position among the occurrences of an entry.
struct TimelineCursor<'c, 'a> {
    course: &'c EntryTimeline<'a>,
    rest: Box<dyn Iterator<Item = EntryOccurrence<'a>> + 'a>,
    held: EntryOccurrence<'a>,
}

impl<'c, 'a> TimelineCursor<'c, 'a> {
    /// The first occurrence that ends after `at`.
    fn after(course: &'c EntryTimeline<'a>, at: Timestamp) -> Option<Self> {
        let mut rest = Box::new(course.reaching(at));
        let held = rest.next()?;
        Some(Self { course, rest, held })
    }

    /// Advances to the first occurrence that ends after `at`. Many occurrences in between are
    /// jumped over.
    fn pass(&mut self, at: Timestamp) -> Option<()> {
        for _ in 0..STEPS_MAX {
            self.held = self.rest.next()?;
            if self.held.to > at {
                return Some(());
            }
        }
        *self = Self::after(self.course, at)?;
        Some(())
    }
}

/// Whether an entry begins again before it has ended.
#[must_use]
pub fn overlaps_itself(entry: &ScheduleRow) -> bool {
    let from = moment(entry.said.span.starts_at);
    let lasts = entry.said.span.minutes.saturating_mul(60_000);
    let mut moments = series(entry).from(from).take(3).map(|found| found.at.as_millisecond());
    let Some(mut last) = moments.next() else { return false };
    moments.any(|at| at - std::mem::replace(&mut last, at) < lasts)
}

/// How far ahead a free time is searched: 31 days.
const SEARCH_MS: i64 = ENDLESS_MS;

/// How often a repeating entry is moved in search of a free time.
const MOVES_MAX: usize = 64;

const MINUTE_MS: i64 = 60_000;

/// The next start, from its own or from `now` on, at which `entry` overlaps none of `others`. One
/// that repeats is moved only within its day: another day would need another rule.
#[must_use]
pub fn next_free(entry: &ScheduleRow, others: &[ScheduleRow], now: Timestamp) -> Option<Timestamp> {
    match &series(entry).repeat {
        None => free_once(entry, others, now),
        Some(_) => free_repeating(entry, others),
    }
}

fn free_once(entry: &ScheduleRow, others: &[ScheduleRow], now: Timestamp) -> Option<Timestamp> {
    let lasts = entry.said.span.minutes.saturating_mul(MINUTE_MS);
    let from = entry.said.span.starts_at.max(whole_minute(now.as_millisecond()));
    let last = from.saturating_add(SEARCH_MS);
    let until = moment(last.saturating_add(lasts));
    let taken = occurrences_between(rivals(entry, others), moment(from), until);
    let mut at = from;
    for held in &taken.held {
        if held.from.as_millisecond() - at >= lasts {
            break;
        }
        at = at.max(whole_minute(held.to.as_millisecond()));
    }
    (taken.left_out == 0 && at <= last).then(|| moment(at))
}

fn free_repeating(entry: &ScheduleRow, others: &[ScheduleRow]) -> Option<Timestamp> {
    let mut moved = entry.clone();
    let day = series(entry).start.date();
    for _ in 0..MOVES_MAX {
        let behind = |clash: &OccurrenceClash<'_>| {
            clash.other.to.as_millisecond() - clash.own.as_millisecond()
        };
        let Some(by) = clashes(&moved, others).iter().map(behind).min() else {
            let found = series(&moved).from(moment(moved.said.span.starts_at)).next();
            return found.map(|found| found.at);
        };
        let course = series(&moved);
        let at = moment(whole_minute(moved.said.span.starts_at.saturating_add(by)));
        let wall = course.zone.to_datetime(at);
        if wall.date() != day {
            return None;
        }
        moved.said.span.starts_at = at.as_millisecond();
        moved.said.span.starts = wall.to_string();
    }
    None
}

/// The moment, or the first whole minute after it.
fn whole_minute(at: UtcMs) -> UtcMs {
    at.saturating_add(MINUTE_MS - 1).div_euclid(MINUTE_MS) * MINUTE_MS
}

fn reach(entry: &ScheduleRow) -> i64 {
    let lasts = entry.said.span.minutes.saturating_mul(60_000).max(1);
    match entry.said.repeat.as_ref().filter(|rule| rule.on != 0) {
        None => lasts,
        Some(rule) if rule.times.is_none() => ENDLESS_MS,
        Some(_) => FINITE_MS,
    }
}
