//! Spans between two times of day.

use super::clock::{
    ClockReading, HourForm, SpanEnd, SpokenTime, TimeContext, bare, dial, is_half_read, parts,
    single,
};
use super::scan::{Readings, Scan};
use super::words;

/// Whether the text before counts points of a list: "写三点体会".
pub(super) fn is_list(scan: &Scan, end: usize) -> bool {
    scan.before(end) == Some('点') && scan.any(end, words::POINTS_OF).is_some()
}

/// Spans whose first number is an hour only because of the end: "2-4pm", "下午2-4点".
pub(super) fn bare_spans(
    scan: &Scan,
    at: usize,
    links: &[&str],
    has_opening: bool,
) -> Readings<SpokenTime> {
    let mut found = Vec::new();
    let parts = parts(scan, at, TimeContext::Nothing).into_iter();
    let parts = parts.map(|(part, end)| (Some(part), end));
    for (part, next) in parts.chain([(None, at)]) {
        let next = scan.maybe(next, words::AT);
        let Some((hour, end)) = scan.number_in(next, 1..=12) else { continue };
        let bare = SpokenTime { part, clock: Some(bare(hour)), until: None };
        found.extend(spans(scan, bare, end, links).into_iter().filter(|(spoken, after)| {
            let is_hour = scan.text(end, *after).contains(['点', '时']);
            let is_marked = spoken.until.is_some_and(|end| end.part.is_some());
            has_opening || is_marked || is_hour
        }));
    }
    found
}

/// The span that starts with a time: "到五点", "-16:00", "to 4pm".
pub(super) fn spans(
    scan: &Scan,
    from: SpokenTime,
    at: usize,
    links: &[&str],
) -> Readings<SpokenTime> {
    let Some(next) = scan.any(at, links) else { return Vec::new() };
    let Some(clock) = from.shown() else { return Vec::new() };
    let from = SpokenTime { clock: Some(clock), ..from };
    let mut found = Vec::new();
    let next = scan.maybe(next, words::NEXT_DAY);
    for (end, after) in single(scan, next, TimeContext::Nothing) {
        let Some(clock) = end.shown() else { continue };
        // "2:00-3:00pm": the part after the end applies to both.
        let is_latin = end.part.is_some() && scan.text(next, after).is_ascii();
        let start = from.clock.filter(|start| is_latin && from.part.is_none() && start.hour <= 12);
        let start = start.filter(|start| start.hour > 0);
        let from = match start {
            Some(start) => {
                SpokenTime { clock: Some(ClockReading { form: HourForm::Bare, ..start }), ..from }
            }
            None => from,
        };
        found.push((SpokenTime { until: Some(SpanEnd { part: end.part, clock }), ..from }, after));
    }
    if let Some((hour, after)) = scan.number_in(next, 1..=12)
        && !is_half_read(scan, after)
        && scan.any(after, words::DATE_UNITS).is_none()
    {
        let clock = dial(hour, 0);
        let until = Some(SpanEnd { part: None, clock });
        let latin = scan.text(at, next).trim().is_ascii();
        if latin {
            found.push((SpokenTime { until, ..from }, after));
        }
    }
    found
}
