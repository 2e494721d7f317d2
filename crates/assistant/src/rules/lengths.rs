//! How long an entry takes, where the sentence says so at the end of its text.

use super::{before_any, words};

/// Minutes of the longest entry that is believed of a sentence: a day.
const MINUTES_MAX: i64 = 24 * 60;

/// The length at the end of a text, in minutes, and the text before it.
pub(super) fn taken_from(text: &str) -> (Option<i64>, &str) {
    let text = text.trim_end();
    let found = in_words(text).or_else(|| in_digits(text));
    match found.filter(|(minutes, _)| (1..=MINUTES_MAX).contains(minutes)) {
        Some((minutes, rest)) => {
            let rest = rest.trim_end();
            (Some(minutes), before_any(rest, words::BEFORE_LENGTHS).unwrap_or(rest))
        }
        None => (None, text),
    }
}

fn in_words(text: &str) -> Option<(i64, &str)> {
    let fits = words::LENGTHS
        .iter()
        .filter_map(|(word, minutes)| Some((*minutes, before_any(text, &[word])?)));
    fits.min_by_key(|(_, rest)| rest.len())
}

/// `90 minutes`, `1.5 h`, `两小时`.
fn in_digits(text: &str) -> Option<(i64, &str)> {
    let fits = words::UNITS.iter().filter_map(|(unit, minutes)| {
        let head = without_unit(text, unit)?.trim_end();
        let start = head
            .rfind(|c: char| !c.is_ascii_digit() && c != '.')
            .map_or(0, |at| at + head[at..].chars().next().map_or(1, char::len_utf8));
        let (rest, digits) = head.split_at(start);
        let (rest, count) = match digits.parse::<f64>() {
            Ok(count) => (rest, count),
            Err(_) => numeral(head)?,
        };
        let minutes = count * *minutes as f64;
        (minutes.fract() == 0.0 && minutes > 0.0).then_some((minutes as i64, rest))
    });
    fits.min_by_key(|(_, rest)| rest.len())
}

/// A unit may stand right behind its digits.
fn without_unit<'a>(text: &'a str, unit: &str) -> Option<&'a str> {
    let at = text.len().checked_sub(unit.len())?;
    let (head, tail) = text.split_at_checked(at)?;
    tail.eq_ignore_ascii_case(unit).then_some(head)
}

/// A single Chinese numeral at the end.
fn numeral(head: &str) -> Option<(&str, f64)> {
    let last = head.chars().next_back()?;
    let (_, count) = words::NUMERALS.iter().find(|(numeral, _)| *numeral == last)?;
    Some((&head[..head.len() - last.len_utf8()], f64::from(*count)))
}
