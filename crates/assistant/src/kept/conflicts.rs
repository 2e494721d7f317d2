//! Which entries take place at the same time.

use super::{Held, held_between, moment, series};
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
    let from = moment(entry.said.span.starts_at);
    let to = moment(from.as_millisecond().saturating_add(reach(entry)));
    let own = held_between(std::slice::from_ref(entry), from, to);
    let theirs = held_between(others, from, end_of(&own).unwrap_or(to));
    let mut found: Vec<Held<'a>> = Vec::new();
    let mut first = 0;
    for other in theirs {
        if other.entry.id == entry.id || found.iter().any(|held| held.entry.id == other.entry.id) {
            continue;
        }
        // Own occurrences come in order, and so do theirs: what has ended stays ended.
        while own.get(first).is_some_and(|held| held.to <= earliest(&other, from)) {
            first += 1;
        }
        let overlaps = |held: &Held<'_>| held.from < other.to && other.from < held.to;
        let near = own[first..].iter().take_while(|held| held.from < other.to);
        if near.into_iter().any(overlaps) {
            found.push(other);
        }
    }
    found
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

fn earliest(other: &Held<'_>, from: Timestamp) -> Timestamp {
    other.from.max(from)
}

fn end_of(own: &[Held<'_>]) -> Option<Timestamp> {
    own.iter().map(|held| held.to).max()
}

fn reach(entry: &ScheduleRow) -> i64 {
    let lasts = entry.said.span.minutes.saturating_mul(60_000).max(1);
    match entry.said.repeat.as_ref().filter(|rule| rule.on != 0) {
        None => lasts,
        Some(rule) if rule.times.is_none() => ENDLESS_MS,
        Some(_) => FINITE_MS,
    }
}
