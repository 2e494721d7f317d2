//! The numbers of a text, as people write them, and what of a text is none: links, dates, the
//! numbers of lists and short names such as `Q3`.
//!
//! ```text
//!   text ──► plain digits ──► regions that are code or addresses
//!                              └─ the rest: digits (dates, names and markers left out), words
//! ```
//!
//! What is left out here is left out for good, so it is little: a number that could be a year or a
//! part of a name is a number, and only the data can say otherwise.

mod dates;
mod names;
mod plain;
mod regions;
mod spelled;

use crate::exact::Exact;
use plain::PlainText;
use std::ops::Range;

/// How a number is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumberForm {
    /// In digits.
    Digits,
    /// In words that say one number: "twelve thousand".
    Words,
    /// In words that are too small or too vague to be compared: "two", "doubled".
    Vague,
}

/// A number as a text has it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WrittenNumber {
    /// Where it is, with its sign, unit and percent sign.
    pub(crate) at: Range<usize>,
    /// The number before its unit.
    pub(crate) value: Exact,
    /// Digits after the point.
    pub(crate) places: u32,
    /// What one of its units is worth; 1 without a unit.
    pub(crate) unit: Exact,
    /// The unit as written.
    pub(crate) unit_text: String,
    pub(crate) percent: bool,
    pub(crate) signed: bool,
    /// Whether the text says that it is not exact.
    pub(crate) rough: bool,
    pub(crate) form: NumberForm,
}

impl WrittenNumber {
    /// A whole number of one to four digits with nothing at its sides, as years and the numbers of
    /// months are written; its worth.
    pub(crate) fn as_label(&self, text: &str) -> Option<i64> {
        let written = text.get(self.at.clone())?;
        let is_bare = !self.percent && !self.signed && self.unit_text.is_empty();
        let is_plain = written.len() <= 4 && written.bytes().all(|byte| byte.is_ascii_digit());
        written.parse().ok().filter(|_| is_bare && is_plain)
    }
}

/// Units after a number; the longer first.
pub(super) const UNITS: [(&str, u32); 18] = [
    ("\u{4e07}\u{4ebf}", 12),
    ("\u{767e}\u{4e07}", 6),
    ("\u{5343}\u{4e07}", 7),
    (" hundred", 2),
    (" thousand", 3),
    (" million", 6),
    (" billion", 9),
    (" trillion", 12),
    ("\u{4e07}", 4),
    ("\u{4ebf}", 8),
    ("\u{5343}", 3),
    ("bn", 9),
    ("mn", 6),
    ("tn", 12),
    ("k", 3),
    ("K", 3),
    ("M", 6),
    ("B", 9),
];

/// Words that make a number a rough one; the last six are Chinese.
const ROUGH: [&str; 16] = [
    "about",
    "around",
    "roughly",
    "nearly",
    "almost",
    "over",
    "approximately",
    "circa",
    "~",
    "≈",
    "\u{7ea6}",
    "\u{8fd1}",
    "\u{8d85}\u{8fc7}",
    "\u{8d85}",
    "\u{5927}\u{7ea6}",
    "\u{63a5}\u{8fd1}",
];

/// Bytes before a number in which such a word is looked for.
const ROUGH_BYTES: usize = 48;

/// Signs of a percentage; the last ones are "percentage points" in Chinese.
const PERCENTS: [&str; 7] = [
    "%",
    "％",
    " percentage points",
    " percent",
    " pp",
    " \u{4e2a}\u{767e}\u{5206}\u{70b9}",
    "\u{4e2a}\u{767e}\u{5206}\u{70b9}",
];

/// Digits of a number that is too long to be one: no result has it.
const DIGITS_READ: usize = 30;

/// All numbers that have to have a source.
pub(crate) fn numbers_of(text: &str) -> Vec<WrittenNumber> {
    let plain = PlainText::of(text);
    let skipped = regions::skipped(plain.text());
    let mut found = in_digits(plain.text(), &skipped);
    let spelled = spelled::numbers(plain.text()).into_iter().filter(|number| {
        let overlaps =
            |other: &Range<usize>| other.start < number.at.end && number.at.start < other.end;
        !skipped.iter().any(overlaps) && !found.iter().any(|own| overlaps(&own.at))
    });
    let spelled: Vec<WrittenNumber> = spelled.collect();
    found.extend(spelled);
    for number in &mut found {
        number.at = plain.place(&number.at);
    }
    found.sort_by_key(|number| number.at.start);
    found
}

fn in_digits(text: &str, skipped: &[Range<usize>]) -> Vec<WrittenNumber> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(offset) = text[at..].find(|c: char| c.is_ascii_digit()) {
        let start = at + offset;
        if let Some(region) = skipped.iter().find(|region| region.contains(&start)) {
            at = region.end.max(start + 1);
            continue;
        }
        if let Some(end) = dates::date_end(text, start) {
            at = end;
            continue;
        }
        let end = digits_end(text, start);
        let is_none =
            names::name_end(text, start, end).or_else(|| names::marker_end(text, start, end));
        if let Some(end) = is_none {
            at = end;
            continue;
        }
        let number = read(text, start, end);
        at = number.at.end;
        if !dates::is_year(text, &number) {
            found.push(number);
        }
    }
    found
}

/// Where digits, their separators, their point and their power of ten end.
fn digits_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut at = start;
    while is_digit(at) {
        at += 1;
    }
    while bytes.get(at) == Some(&b',')
        && (1..=3).all(|offset| is_digit(at + offset))
        && !is_digit(at + 4)
    {
        at += 4;
    }
    if bytes.get(at) == Some(&b'.') && is_digit(at + 1) {
        at += 1;
        while is_digit(at) {
            at += 1;
        }
    }
    power_end(bytes, at).unwrap_or(at)
}

/// Where the `e6` of `1.5e6` ends.
fn power_end(bytes: &[u8], at: usize) -> Option<usize> {
    if !matches!(bytes.get(at), Some(b'e' | b'E')) {
        return None;
    }
    let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
    let digits = bytes[at + 1 + sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let end = at + 1 + sign + digits;
    let is_whole = !bytes.get(end).is_some_and(u8::is_ascii_alphanumeric);
    ((1..=2).contains(&digits) && is_whole).then_some(end)
}

fn read(text: &str, start: usize, end: usize) -> WrittenNumber {
    let digits = text[start..end].replace(',', "");
    let cut = || Exact::parse(digits.get(..DIGITS_READ)?);
    let magnitude = Exact::parse(&digits).or_else(cut).unwrap_or(Exact::ZERO);
    let before = text[..start].chars().next_back();
    let sign = before.filter(|c| ['-', '−', '+'].contains(c)).filter(|c| {
        let earlier = text[..start - c.len_utf8()].chars().next_back();
        !earlier.is_some_and(|c| c.is_alphanumeric() || ")%".contains(c))
    });
    let from = sign.map_or(start, |sign| start - sign.len_utf8());
    let (unit, unit_end) = unit_of(text, end);
    let (is_percent, until) = percent_of(text, unit_end);
    let value = if sign.is_some_and(|c| c != '+') { magnitude.negated() } else { magnitude };
    WrittenNumber {
        at: from..until,
        value,
        places: magnitude.scale(),
        unit: Exact::new(10_i128.pow(unit.map_or(0, |(_, power)| power)), 0),
        unit_text: unit.map_or(String::new(), |(word, _)| word.trim().to_owned()),
        percent: is_percent,
        signed: sign.is_some(),
        rough: is_rough(&text[..from]),
        form: NumberForm::Digits,
    }
}

/// Blanks that many styles put before a unit or a percent sign.
const BLANKS: [char; 4] = [' ', '\u{a0}', '\u{2009}', '\u{202f}'];

/// What follows, and how long the blank before it is, if there is just one.
fn behind_blank(rest: &str) -> (&str, usize) {
    match rest.chars().next().filter(|c| BLANKS.contains(c)) {
        Some(blank) => (&rest[blank.len_utf8()..], blank.len_utf8()),
        None => (rest, 0),
    }
}

/// Characters that make a thousand a measure: kilogram, kilometre, kilowatt, kilobyte, kilocalorie.
const MEASURES: [char; 5] = ['\u{514b}', '\u{7c73}', '\u{74e6}', '\u{5b57}', '\u{5361}'];

/// The unit behind a number, and where it ends.
fn unit_of(text: &str, end: usize) -> (Option<(&'static str, u32)>, usize) {
    let rest = &text[end..];
    let (behind, blank) = behind_blank(rest);
    let found = UNITS.iter().find_map(|(word, power)| {
        let is_word = |after: &str| {
            let is_more = |c: char| c.is_ascii_alphanumeric() && word.is_ascii();
            let is_measure = |c: char| *word == "\u{5343}" && MEASURES.contains(&c);
            !after.starts_with(|c: char| is_more(c) || is_measure(c))
        };
        let at = |rest: &str, blank: usize| {
            rest.strip_prefix(word).filter(|after| is_word(after)).map(|_| blank + word.len())
        };
        // A single letter behind a blank may be anything.
        let may_stand_off = word.len() > 1;
        let len = at(rest, 0).or_else(|| if may_stand_off { at(behind, blank) } else { None })?;
        Some(((*word, *power), end + len))
    });
    found.map_or((None, end), |(unit, end)| (Some(unit), end))
}

/// Whether a percent sign follows, and where it ends.
fn percent_of(text: &str, end: usize) -> (bool, usize) {
    let rest = &text[end..];
    if let Some(sign) = PERCENTS.iter().find(|sign| rest.starts_with(**sign)) {
        return (true, end + sign.len());
    }
    let (behind, blank) = behind_blank(rest);
    let sign = ["%", "％"].into_iter().find(|sign| behind.starts_with(*sign));
    sign.map_or((false, end), |sign| (true, end + blank + sign.len()))
}

fn is_rough(before: &str) -> bool {
    let near = before.floor_char_boundary(before.len().saturating_sub(ROUGH_BYTES));
    let before = before[near..].trim_end_matches([' ', '¥', '￥', '$', '€', '£', '*']);
    let before = before.to_lowercase();
    ROUGH.iter().any(|word| {
        before.strip_suffix(word).is_some_and(|earlier| {
            !word.is_ascii() || !earlier.ends_with(|c: char| c.is_ascii_alphanumeric())
        })
    })
}

#[cfg(test)]
#[path = "tokens_tests.rs"]
mod tests;
