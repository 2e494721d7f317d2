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
///
/// Each jumps over all that ends before the other begins, so only the rarer of both is walked.
fn meeting<'a>(
    owns: &Course<'_>,
    others: &Course<'a>,
    from: Timestamp,
    to: Timestamp,
) -> Option<Held<'a>> {
    let mut own = owns.ending_after(from).next()?;
    let mut other = others.ending_after(own.from).next()?;
    while own.from < to {
        if other.to <= own.from {
            other = others.ending_after(own.from).next()?;
        } else if own.to <= other.from {
            own = owns.ending_after(other.from).next()?;
        } else {
            return Some(other);
        }
    }
    None
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
