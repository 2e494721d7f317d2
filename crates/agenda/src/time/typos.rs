//! Misspelt names of days and months: "wendsday", "satruday", "tomorrwo".

use jiff::civil::Weekday;

use super::scan::Scan;
use super::words::{self, WordTable};

/// The minimum length of a name with one typo, and with two.
const LEAST: usize = 6;
const LEAST_FOR_TWO: usize = 9;

pub(super) fn weekday(scan: &Scan, at: usize) -> Option<(Weekday, usize)> {
    corrected(scan, at, words::FULL_DAY_NAMES)
}

pub(super) fn month(scan: &Scan, at: usize) -> Option<(i8, usize)> {
    corrected(scan, at, words::MONTH_NAMES)
}

/// The distance in days of a misspelt name of a day.
pub(super) fn near_day(scan: &Scan, at: usize) -> Option<(i64, usize)> {
    corrected(scan, at, words::SLIPPING_DAYS)
}

/// The only name that a Latin word can be a misspelling of.
fn corrected<T: Copy>(scan: &Scan, at: usize, table: WordTable<T>) -> Option<(T, usize)> {
    let is_letter = |at: usize| scan.get(at).is_some_and(|c| c.is_ascii_alphabetic());
    let begin = scan.skip_spaces(at);
    let end = begin + (begin..scan.len()).take_while(|at| is_letter(*at)).count();
    let is_inside = begin > 0 && is_letter(begin - 1);
    if end - begin < LEAST || is_inside {
        return None;
    }
    let word = scan.text(begin, end);
    if words::NO_SLIPS.contains(&word.as_str()) {
        return None;
    }
    let is_meant = |name: &str| {
        let most = if name.len() >= LEAST_FOR_TWO { 2 } else { 1 };
        let is_plural = word.strip_suffix('s') == Some(name);
        name.len() >= LEAST
            && name.get(..1) == word.get(..1)
            && !is_plural
            && (1..=most).contains(&strsim::damerau_levenshtein(name, &word))
    };
    let found = table.iter().find(|(name, _)| is_meant(name));
    found.map(|(_, value)| (*value, end))
}
