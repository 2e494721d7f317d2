//! Several weekdays: lists and ranges.

use jiff::civil::Weekday;

use super::days::{chinese_day_name, chinese_weekday, english_weekday};
use super::repeat::Weekdays;
use super::scan::{Readings, Scan};
use super::words;

/// Lists and ranges of weekdays, in every length.
pub(super) fn lists(scan: &Scan, at: usize) -> Readings<Weekdays> {
    let chinese = |at| chinese_weekday(scan, at);
    let short = |at| chinese(at).or_else(|| scan.word(at, words::WEEK_DAYS));
    let plural = |at| scan.word(at, words::PLURAL_DAYS);
    let english = |at| english_weekday(scan, at).or_else(|| plural(at));
    let mut found = joined(chinese(at), |at| short(scan.maybe(at, words::DAY_AND)));
    found.extend(joined(english(at), |at| english(scan.any(at, words::DAY_AND)?)));
    found.extend(ranges(scan, at));
    found
}

pub(super) fn ranges(scan: &Scan, at: usize) -> Readings<Weekdays> {
    let chinese = |at| chinese_weekday(scan, at);
    let short = |at| chinese(at).or_else(|| chinese_day_name(scan, at));
    let english = |at| english_weekday(scan, at);
    let mut found = Vec::new();
    found.extend(range(chinese(at), |at| short(scan.any(at, words::TO_DAY)?)));
    found.extend(range(english(at), |at| english(scan.any(at, words::TO_DAY)?)));
    found
}

/// Weekdays without their prefix, which is part of the interval.
pub(super) fn chinese_tails(scan: &Scan, at: usize) -> Readings<Weekdays> {
    let day = |at| chinese_day_name(scan, at);
    let mut found = joined(day(at), |at| day(scan.maybe(at, words::DAY_AND)));
    found.extend(range(day(at), |at| {
        let at = scan.any(at, words::TO_DAY)?;
        chinese_weekday(scan, at).or_else(|| day(at))
    }));
    found
}

type OneDay = Option<(Weekday, usize)>;

pub(super) fn joined(first: OneDay, next: impl Fn(usize) -> OneDay) -> Readings<Weekdays> {
    let mut found: Readings<Weekdays> = Vec::new();
    let mut last = first;
    while let Some((day, end)) = last {
        let so_far = found.last().map_or(Weekdays::default(), |(days, _)| *days);
        found.push((so_far.with(day), end));
        last = next(end).filter(|_| found.len() < 7);
    }
    found
}

fn range(first: OneDay, next: impl Fn(usize) -> OneDay) -> Option<(Weekdays, usize)> {
    let (first, end) = first?;
    let (last, end) = next(end)?;
    let days = first.cycle_forward().take(7);
    let until = usize::from(first.until(last).unsigned_abs());
    Some((days.take(until + 1).collect(), end))
}
