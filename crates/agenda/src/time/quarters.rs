//! The ends of quarters: of this one, of the next, and by number.

use jiff::civil::Date;

use super::days::in_month;
use super::scan::{Readings, Scan};
use super::words;

/// "季度末", "end of next quarter", "end of Q1", "Q3 end", "第四季度末".
pub(super) fn quarter_ends(scan: &Scan, at: usize, today: Date) -> Readings<Option<Date>> {
    let mut found = Vec::new();
    if let Some((quarters, end)) = scan.word(at, words::QUARTER_ENDS) {
        let months = 2 - i64::from((today.month() - 1) % 3) + quarters * 3;
        found.push((in_month(today, months, 1).map(Date::last_of_month), end));
    }
    let Some((quarter, end)) = numbered(scan, at) else { return found };
    let last = |year: i16| Date::new(year, quarter * 3, 1).ok().map(Date::last_of_month);
    let next = last(today.year()).filter(|date| *date >= today);
    found.push((next.or_else(|| last(today.year() + 1)), end));
    let year = scan.digits(scan.skip_spaces(end), 4, 4);
    let year = year.filter(|(year, _)| (2000..2100).contains(year));
    found.extend(year.and_then(|(year, end)| Some((last(i16::try_from(year).ok()?), end))));
    found
}

/// The number of a quarter whose end is named.
fn numbered(scan: &Scan, at: usize) -> Option<(i8, usize)> {
    let led = scan.any(at, words::END_OF);
    if let Some((quarter, end)) = scan.word(led.unwrap_or(at), words::QUARTER_NAMES) {
        let end = if led.is_some() { Some(end) } else { scan.any(end, words::QUARTER_END) };
        return Some((quarter, end?));
    }
    let (quarter, end) = scan.number_in(scan.maybe(at, words::NUMBER_MARK), 1..=4)?;
    let end = scan.any(end, words::QUARTER_UNITS)?;
    Some((quarter, scan.any(end, words::QUARTER_END)?))
}
