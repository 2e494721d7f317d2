//! A period within which something is due: "本周内", "this month", "今天之内".

use jiff::civil::{Date, Weekday};

use super::days::{DayKind, SpokenDay, in_month, in_week};
use super::scan::{Readings, Scan};
use super::words;

/// "今天之内", "周五以内": by the end of that day.
pub(super) fn within_day(
    scan: &Scan,
    day: SpokenDay,
    at: usize,
    today: Date,
) -> Option<(SpokenDay, usize)> {
    let end = scan.any(at, words::WITHIN_ENDS).filter(|_| day.part.is_none())?;
    let is_stretch = scan.before(at).is_some_and(|c| words::STRETCHES.contains(c));
    let is_other = is_stretch || scan.get(end).is_some_and(|c| words::NOT_WITHIN.contains(c));
    let date = day.date(today).filter(|date| !is_other && *date >= today)?;
    Some((SpokenDay::of(date, DayKind::Within), end))
}

/// "本周内", "这个月内".
pub(super) fn within_week_or_month(scan: &Scan, at: usize, today: Date) -> Readings<SpokenDay> {
    let mut found = Vec::new();
    let week = scan.word(at, words::ZH_WEEKS).filter(|(weeks, _)| *weeks >= 0);
    if let Some((weeks, end)) = week
        && let Some(end) = scan.any(end, words::WEEK)
        && let Some(end) = scan.any(end, words::WITHIN_ENDS)
    {
        let date = in_week(today, weeks, Weekday::Sunday);
        found.extend(date.map(|date| (SpokenDay::of(date, DayKind::Within), end)));
    }
    let sunday = || in_week(today, 0, Weekday::Sunday);
    let this_week = scan.any(at, words::THIS_WEEK).or_else(|| {
        let end = scan.any(at, words::ZH_THIS_WEEK)?;
        let is_last = scan.skip_spaces(end) == scan.len();
        let is_date = is_last || scan.any(end, words::BEHIND_HOLIDAYS).is_some();
        is_date.then_some(end)
    });
    let end = this_week.zip(sunday());
    found.extend(end.map(|(end, date)| (SpokenDay::of(date, DayKind::Within), end)));
    let end = scan.any(at, words::THIS_MONTH);
    let last = end.map(|end| (SpokenDay::of(today.last_of_month(), DayKind::Within), end));
    found.extend(last);
    let last = Date::new(today.year(), 12, 31).ok().zip(scan.any(at, words::THIS_YEAR));
    found.extend(last.map(|(date, end)| (SpokenDay::of(date, DayKind::Within), end)));
    if let Some((months, end)) = scan.word(at, words::MONTHS_AWAY)
        && let Some(end) = scan.any(end, words::WITHIN_ENDS)
    {
        let date = in_month(today, months, 1).map(Date::last_of_month);
        found.extend(date.map(|date| (SpokenDay::of(date, DayKind::Within), end)));
    }
    found
}
