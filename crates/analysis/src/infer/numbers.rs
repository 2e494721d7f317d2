//! Numbers as people write them: separators, currencies, percent signs, brackets for minus.

use crate::exact::Exact;
use serde::{Deserialize, Serialize};

/// Which character is the decimal point.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NumberStyle {
    /// `1.234,56`.
    Comma,
    /// `1,234.56`.
    #[default]
    Point,
}

/// A number that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ParsedNumber {
    pub(crate) value: Exact,
    /// Whether it had a percent sign.
    pub(crate) percent: bool,
    /// The sign of its currency.
    pub(crate) currency: Option<char>,
}

impl ParsedNumber {
    fn plain(value: Exact) -> Self {
        Self { value, percent: false, currency: None }
    }
}

/// What is known of a number before its style is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NumberShape {
    /// Whether it is whole, in the styles that it fits.
    point: Option<bool>,
    comma: Option<bool>,
    /// The separator that each style reads in another way.
    pub(crate) unclear: Option<char>,
    pub(crate) percent: bool,
    pub(crate) currency: Option<char>,
}

impl NumberShape {
    /// A number that its file has as one.
    pub(crate) fn typed(is_whole: bool) -> Self {
        let whole = Some(is_whole);
        Self { point: whole, comma: whole, unclear: None, percent: false, currency: None }
    }

    /// The style in which it can be read, if it cannot be read in both.
    pub(crate) fn only_style(self) -> Option<NumberStyle> {
        match (self.point, self.comma) {
            (Some(_), None) => Some(NumberStyle::Point),
            (None, Some(_)) => Some(NumberStyle::Comma),
            _ => None,
        }
    }

    /// Whether it is whole in this style; none if it does not fit.
    pub(crate) fn in_style(self, style: NumberStyle) -> Option<bool> {
        match style {
            NumberStyle::Point => self.point,
            NumberStyle::Comma => self.comma,
        }
    }
}

/// Digits with a leading zero, or more of them than a number has, are a code; so is what begins
/// with a plus and is as long as the number of a telephone.
pub(crate) fn is_code(text: &str) -> bool {
    if let Some(phone) = text.strip_prefix('+') {
        let digits = phone.bytes().filter(u8::is_ascii_digit).count();
        return digits >= 8 && phone.bytes().all(|b| b.is_ascii_digit() || b"- ()".contains(&b));
    }
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    digits && (text.len() > 18 || text.len() > 1 && text.starts_with('0'))
}

/// Whether it is four digits or more that nothing groups: then its column groups none.
pub(super) fn is_ungrouped(text: &str) -> bool {
    let digits = text.trim_start_matches(['-', '+']);
    digits.len() >= 4 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether it is digits with a short unit (`5 kg`, `1.5w`), or grouped as no number is.
pub(super) fn is_quantity(text: &str) -> bool {
    let is_numeric = |c: char| ascii_digit(c).is_ascii_digit() || "+-−., '".contains(c);
    let unit = text.trim_start_matches(is_numeric);
    let digits = text.len() - unit.len();
    digits > 0 && unit.chars().count() <= 4 && unit.chars().all(|c| c.is_alphabetic() || c == '%')
}

/// How a text can be read as a number; none if it cannot.
pub(crate) fn shape_of(text: &str) -> Option<NumberShape> {
    // Most numbers of most files.
    if text.len() < 18 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(NumberShape::typed(true));
    }
    let point = parse_number(text, NumberStyle::Point);
    let comma = parse_number(text, NumberStyle::Comma);
    let Some(found) = point.or(comma) else {
        return rough_number(text).map(|_| NumberShape::typed(false));
    };
    let is_unclear = point.zip(comma).is_some_and(|(point, comma)| point.value != comma.value);
    let is_whole = |found: ParsedNumber| found.value.scale() == 0;
    Some(NumberShape {
        point: point.map(is_whole),
        comma: comma.map(is_whole),
        unclear: text.chars().map(ascii_digit).find(|c| is_unclear && ",.".contains(*c)),
        percent: found.percent,
        currency: found.currency,
    })
}

/// A number with an exponent that is too large or too small to be kept exactly, such as `2e-45`.
pub(crate) fn rough_number(text: &str) -> Option<f64> {
    let is_plain = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    let has_exponent = text.contains(['e', 'E']) && text.bytes().all(is_plain);
    let number: f64 = if has_exponent { text.parse().ok()? } else { return None };
    number.is_finite().then_some(number)
}

/// Reads a number.
pub(crate) fn parse_number(text: &str, style: NumberStyle) -> Option<ParsedNumber> {
    let first = text.chars().next()?;
    // Words are told apart at once.
    if first.is_alphabetic() && first.is_ascii() || text.len() > 60 {
        return None;
    }
    if style == NumberStyle::Point && text.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        return Exact::parse(text).map(ParsedNumber::plain);
    }
    let BareNumber { body, negative, percent, currency } = bare(text)?;
    let (thousands, point) = match style {
        NumberStyle::Point => (',', '.'),
        NumberStyle::Comma => ('.', ','),
    };
    let (whole, part) = body.split_once(point).unwrap_or((&body, ""));
    // Blanks and apostrophes group digits in both styles; one number has one way of grouping.
    let thousands = if whole.contains(BLANK) { BLANK } else { thousands };
    let whole = ungrouped(whole, thousands)?;
    if body.contains(point) && part.is_empty() && whole.is_empty() {
        return None;
    }
    let value = match part.is_empty() {
        true => Exact::parse(&whole),
        false => Exact::parse(&format!("{whole}.{part}")),
    }?;
    let value = if negative { value.negated() } else { value };
    Some(ParsedNumber { value, percent, currency })
}

/// What stands for a blank or an apostrophe between digits.
const BLANK: char = ' ';

/// Digits and separators, and what stood around them.
struct BareNumber {
    body: String,
    negative: bool,
    percent: bool,
    currency: Option<char>,
}

/// The sign of a currency; those of one currency are the same.
fn currency_of(c: char) -> Option<char> {
    match c {
        '￥' | '元' => Some('¥'),
        '¥' | '$' | '€' | '£' | '₹' => Some(c),
        _ => None,
    }
}

/// Without blanks, currency, sign and percent sign.
fn bare(text: &str) -> Option<BareNumber> {
    let is_blank = |c: char| c.is_whitespace() || matches!(c, '\'' | '’');
    let body: String =
        text.chars().map(ascii_digit).map(|c| if is_blank(c) { BLANK } else { c }).collect();
    let mut body = body.trim_matches(BLANK);
    let mut negative = false;
    if let Some(inner) = body.strip_prefix('(').and_then(|body| body.strip_suffix(')')) {
        body = inner;
        negative = true;
    }
    let currency = body.chars().find_map(currency_of);
    let is_currency = |c: char| currency_of(c).is_some() && currency_of(c) == currency;
    let is_around = |c: char| c == BLANK || is_currency(c);
    let trimmed = body.trim_matches(is_around);
    let (trimmed, percent) = match trimmed.strip_suffix(['%', '％']) {
        Some(rest) => (rest.trim_end_matches(BLANK), true),
        None => (trimmed, false),
    };
    let trimmed = match trimmed.strip_prefix(['-', '−']) {
        Some(rest) if !negative => {
            negative = true;
            rest
        }
        _ => trimmed.strip_prefix('+').unwrap_or(trimmed),
    };
    let trimmed = trimmed.trim_start_matches(is_around);
    let starts = trimmed.starts_with(|c: char| c.is_ascii_digit() || ".,".contains(c));
    let body = trimmed.to_owned();
    starts.then_some(BareNumber { body, negative, percent, currency })
}

fn ascii_digit(c: char) -> char {
    match c {
        '０'..='９' => char::from(b'0' + u8::try_from(c as u32 - '０' as u32).unwrap_or(0)),
        '．' => '.',
        '，' => ',',
        other => other,
    }
}

/// Digits without their separators, which must stand where they belong.
fn ungrouped(whole: &str, separator: char) -> Option<String> {
    if !whole.contains(separator) {
        return Some(whole.to_owned());
    }
    let mut groups = whole.split(separator);
    let first = groups.next()?;
    let is_fine = |group: &str| group.len() == 3 && group.bytes().all(|b| b.is_ascii_digit());
    // Nobody groups behind a zero: 0.500 is a half.
    let is_first = (1..=3).contains(&first.len()) && !first.starts_with('0');
    if !is_first || !groups.all(is_fine) {
        return None;
    }
    Some(whole.replace(separator, ""))
}
