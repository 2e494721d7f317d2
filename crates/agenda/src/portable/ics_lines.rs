//! The lines of a calendar: folding, properties, and the parts that they form.
//!
//! Not the `icalendar` crate (MIT or Apache-2.0): it would add a second date library and a parser
//! library, and it has neither the tolerance that files of other programs need nor the line numbers
//! of errors.

use super::{FileProblem, FileProblemKind};
use jiff::civil::{Date, DateTime};

/// Octets of a line before it is folded.
const LINE_OCTETS: usize = 75;

/// The maximum nesting of components; no calendar has more than three.
const DEPTH_MAX: usize = 8;

/// A property: `NAME;PARAMETER=value:value`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct IcsProperty {
    pub(super) line: usize,
    pub(super) name: String,
    pub(super) params: Vec<(String, String)>,
    pub(super) value: String,
}

impl IcsProperty {
    pub(super) fn param(&self, name: &str) -> Option<&str> {
        self.params.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// A component: the lines between `BEGIN` and `END`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct IcsComponent {
    pub(super) line: usize,
    pub(super) name: String,
    pub(super) properties: Vec<IcsProperty>,
    pub(super) parts: Vec<IcsComponent>,
}

impl IcsComponent {
    pub(super) fn first(&self, name: &str) -> Option<&IcsProperty> {
        self.properties.iter().find(|property| property.name == name)
    }

    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &IcsProperty> {
        self.properties.iter().filter(move |property| property.name == name)
    }

    /// The text of a property, if it has one.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        let text = self.first(name).map(|property| unescaped(&property.value))?;
        Some(text).filter(|text| !text.trim().is_empty())
    }
}

/// Adds a line to a calendar, folded between characters.
pub(super) fn push_line(out: &mut String, line: &str) {
    let mut length = 0;
    for c in line.chars() {
        if length + c.len_utf8() > LINE_OCTETS {
            out.push_str("\r\n ");
            length = 1;
        }
        out.push(c);
        length += c.len_utf8();
    }
    out.push_str("\r\n");
}

/// A text as the value of a property. Control characters have no place in a calendar.
pub(super) fn escaped(text: &str) -> String {
    let mut value = String::with_capacity(text.len());
    for c in text.replace("\r\n", "\n").replace('\r', "\n").chars() {
        match c {
            '\n' => value.push_str(r"\n"),
            '\\' | ';' | ',' => value.extend(['\\', c]),
            c if c.is_control() && c != '\t' => {}
            c => value.push(c),
        }
    }
    value
}

pub(super) fn unescaped(value: &str) -> String {
    let (mut text, mut chars) = (String::with_capacity(value.len()), value.chars());
    while let Some(c) = chars.next() {
        match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some('n' | 'N')) => text.push('\n'),
            ('\\', Some(escaped)) => text.push(escaped),
            (c, _) => text.push(c),
        }
    }
    text
}

/// The values of a list, separated by commas.
pub(super) fn listed(value: &str) -> Vec<String> {
    let (mut values, mut from, mut escaped) = (Vec::new(), 0, false);
    for (at, c) in value.char_indices() {
        if c == ',' && !escaped {
            values.push(unescaped(&value[from..at]));
            from = at + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    values.push(unescaped(&value[from..]));
    values.retain(|value| !value.trim().is_empty());
    values
}

/// The complete components of a calendar, in order, without the calendar itself.
pub(super) fn parts(text: &str, problems: &mut Vec<FileProblem>) -> Vec<IcsComponent> {
    let mut report = |line, trouble, detail: &str| {
        problems.push(FileProblem { line, trouble, detail: detail.to_owned() });
    };
    let (mut found, mut open): (Vec<IcsComponent>, Vec<IcsComponent>) = (Vec::new(), Vec::new());
    for (line, text) in unfolded(text) {
        if text.trim().is_empty() {
            continue;
        }
        let Some(property) = property(line, &text) else {
            report(line, FileProblemKind::NotALine, &text);
            continue;
        };
        match property.name.as_str() {
            "BEGIN" if open.len() < DEPTH_MAX => {
                let name = property.value.trim().to_ascii_uppercase();
                open.push(IcsComponent { line, name, ..IcsComponent::default() });
            }
            "END" => {
                let name = property.value.trim().to_ascii_uppercase();
                if !open.iter().any(|part| part.name == name) {
                    report(line, FileProblemKind::Unbalanced, &name);
                }
                close(&mut open, &mut found, &name, &mut report);
            }
            _ => {
                open.last_mut().into_iter().for_each(|part| part.properties.push(property.clone()))
            }
        }
    }
    for part in open {
        report(part.line, FileProblemKind::Unbalanced, &part.name);
    }
    found
}

/// Closes the component of that name, and those that are still open in it.
fn close(
    open: &mut Vec<IcsComponent>,
    found: &mut Vec<IcsComponent>,
    name: &str,
    report: &mut impl FnMut(usize, FileProblemKind, &str),
) {
    let Some(at) = open.iter().rposition(|part| part.name == name) else { return };
    for left in open.drain(at + 1..) {
        report(left.line, FileProblemKind::Unbalanced, &left.name);
    }
    let Some(part) = open.pop() else { return };
    match open.last_mut() {
        _ if part.name == "VCALENDAR" => {}
        Some(around) if around.name != "VCALENDAR" => around.parts.push(part),
        _ => found.push(part),
    }
}

/// Unfolded lines, by the number of their first line.
fn unfolded(text: &str) -> Vec<(usize, String)> {
    let text = text.trim_start_matches('\u{feff}');
    let mut lines: Vec<(usize, String)> = Vec::new();
    for (at, line) in text.split('\n').enumerate() {
        let line = line.trim_end_matches('\r');
        match (line.strip_prefix([' ', '\t']), lines.last_mut()) {
            (Some(more), Some((_, before))) => before.push_str(more),
            _ => lines.push((at + 1, line.to_owned())),
        }
    }
    lines
}

fn property(line: usize, text: &str) -> Option<IcsProperty> {
    let mut ends = Vec::new();
    let mut quoted = false;
    let mut colon = None;
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            ';' if !quoted => ends.push(at),
            ':' if !quoted => {
                colon = Some(at);
                break;
            }
            _ => {}
        }
    }
    let colon = colon?;
    let mut pieces = Vec::new();
    let mut from = 0;
    for end in ends.into_iter().chain([colon]) {
        pieces.push(&text[from..end]);
        from = end + 1;
    }
    let name = pieces.first()?.trim().to_ascii_uppercase();
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.' || c == '_';
    if name.is_empty() || !name.chars().all(is_name) {
        return None;
    }
    let params = pieces.iter().skip(1).filter_map(|piece| piece.split_once('='));
    let params = params.map(|(key, value)| {
        (key.trim().to_ascii_uppercase(), value.trim().trim_matches('"').to_owned())
    });
    Some(IcsProperty { line, name, params: params.collect(), value: text[colon + 1..].to_owned() })
}

/// A day or a time of a calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IcsTime {
    Day(Date),
    /// A local time; its zone is given elsewhere.
    Wall(DateTime),
    Utc(DateTime),
}

/// `20261116`, `20261116T090000` or `20261116T090000Z`.
pub(super) fn stamp(value: &str) -> Option<IcsTime> {
    let value = value.trim();
    let (date, time) = value.split_once('T').map_or((value, None), |(d, t)| (d, Some(t)));
    let date = Date::new(digits(date, 0..4)?, digits(date, 4..6)?, digits(date, 6..8)?).ok()?;
    let Some(time) = time else { return (value.len() == 8).then_some(IcsTime::Day(date)) };
    let (clock, is_utc) = time.strip_suffix('Z').map_or((time, false), |clock| (clock, true));
    let second: i8 = digits(clock, 4..6)?;
    // A leap second does not exist in our calendar.
    let clock =
        jiff::civil::Time::new(digits(clock, 0..2)?, digits(clock, 2..4)?, second.min(59), 0);
    let wall = date.to_datetime(clock.ok()?);
    Some(if is_utc { IcsTime::Utc(wall) } else { IcsTime::Wall(wall) })
}

fn digits<T: std::str::FromStr>(text: &str, at: std::ops::Range<usize>) -> Option<T> {
    let text = text.get(at)?;
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Seconds of `PT30M`, `-P1DT2H` or `P1W`. Days are 24 hours.
pub(super) fn seconds(value: &str) -> Option<i64> {
    let value = value.trim();
    let (sign, value) = match value.strip_prefix('-') {
        Some(value) => (-1, value),
        None => (1, value.strip_prefix('+').unwrap_or(value)),
    };
    let value = value.strip_prefix('P')?;
    let (mut total, mut number, mut in_time) = (0_i64, None::<i64>, false);
    for c in value.chars() {
        let unit = match (c, in_time) {
            ('0'..='9', _) => {
                let digit = i64::from(c.to_digit(10)?);
                number = Some(number.unwrap_or(0).checked_mul(10)?.checked_add(digit)?);
                continue;
            }
            ('T', false) => {
                in_time = true;
                continue;
            }
            ('W', false) => 604_800,
            ('D', false) => 86_400,
            ('H', true) => 3_600,
            ('M', true) => 60,
            ('S', true) => 1,
            _ => return None,
        };
        total = total.checked_add(number.take()?.checked_mul(unit)?)?;
    }
    // A century is more than any calendar needs, and cannot overflow.
    (number.is_none() && total <= 3_200_000_000).then_some(sign * total)
}
