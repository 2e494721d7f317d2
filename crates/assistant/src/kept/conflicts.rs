//! Which entries take place at the same time.

use super::{Course, Held, moment, series};
use everloop_store::ScheduleRow;
use jiff::Timestamp;

/// How far an endless repetition is looked into: 31 days.
const ENDLESS_MS: i64 = 31 * 86_400_000;

/// How far a repetition with an end is looked into: a year and a day.
const FINITE_MS: i64 = 366 * 86_400_000;

/// The occurrences of `others` that overlap `entry`, each entry once. One that ends when another
/// begins does not overlap it.
#[must_use]
pub fn conflicts<'a>(entry: &ScheduleRow, others: &'a [ScheduleRow]) -> Vec<Held<'a>> {
    let own = Course::of(entry);
    let from = moment(entry.said.span.starts_at);
    let to = moment(from.as_millisecond().saturating_add(reach(entry)));
    let others = others.iter().filter(|other| other.id != entry.id);
    let mut found: Vec<Held<'a>> =
        others.filter_map(|other| meeting(&own, &Course::of(other), from, to)).collect();
    found.sort_by_key(|held| (held.from, held.entry.id));
    found
}

/// The first occurrence of `others` that overlaps an own one which begins before `to`.
fn meeting<'a>(
    owns: &Course<'_>,
    others: &Course<'a>,
    from: Timestamp,
    to: Timestamp,
) -> Option<Held<'a>> {
    let mut own = Place::after(owns, from)?;
    let mut other = Place::after(others, own.held.from)?;
    while own.held.from < to {
        if other.held.to <= own.held.from {
            other.pass(own.held.from)?;
        } else if own.held.to <= other.held.from {
            own.pass(other.held.from)?;
        } else {
            return Some(other.held);
        }
    }
    None
}

/// Steps after which a jump is cheaper.
const STEPS_MAX: usize = 4;

/// A place among the occurrences of an entry.
struct Place<'c, 'a> {
    course: &'c Course<'a>,
    rest: Box<dyn Iterator<Item = Held<'a>> + 'a>,
    held: Held<'a>,
}

impl<'c, 'a> Place<'c, 'a> {
    /// The first occurrence that ends after `at`.
    fn after(course: &'c Course<'a>, at: Timestamp) -> Option<Self> {
        let mut rest = Box::new(course.ending_after(at));
        let held = rest.next()?;
        Some(Self { course, rest, held })
    }

    /// Goes on to the first occurrence that ends after `at`. A rare entry meets a frequent one, and
    /// what lies between is jumped over.
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

fn reach(entry: &ScheduleRow) -> i64 {
    let lasts = entry.said.span.minutes.saturating_mul(60_000).max(1);
    match entry.said.repeat.as_ref().filter(|rule| rule.on != 0) {
        None => lasts,
        Some(rule) if rule.times.is_none() => ENDLESS_MS,
        Some(_) => FINITE_MS,
    }
}
