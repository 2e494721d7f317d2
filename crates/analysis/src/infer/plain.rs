//! Values in their plainest form, which most values of most files have, read without a detour.
//!
//! What is read here is what [`ColumnPlan::convert`] reads; the tests compare the two.

use super::{ColumnKind, ColumnPlan, NumberStyle};

/// Digits of a number that a floating-point number has for certain.
const DIGITS_MAX: usize = 15;

/// The powers of ten by which a number with a point is divided; floating-point numbers have them
/// exactly, so that the quotient is the nearest number.
const POWERS: [u64; DIGITS_MAX + 1] = powers();

const fn powers() -> [u64; DIGITS_MAX + 1] {
    let mut powers = [1; DIGITS_MAX + 1];
    let mut at = 1;
    while at <= DIGITS_MAX {
        powers[at] = powers[at - 1] * 10;
        at += 1;
    }
    powers
}

/// A value that needed no second look.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum PlainValue<'a> {
    Int(i64),
    Real(f64),
    Text(&'a str),
}

impl ColumnPlan {
    /// The value of a field in plain form; none if it takes a closer look.
    pub(crate) fn convert_plain<'t>(&self, text: &'t str) -> Option<PlainValue<'t>> {
        match self.kind {
            ColumnKind::Integer => plain_digits(text).map(PlainValue::Int),
            ColumnKind::Decimal if !self.is_percent && self.numbers == NumberStyle::Point => {
                plain_decimal(text)
            }
            ColumnKind::Date => is_plain_day(text).then_some(PlainValue::Text(text)),
            _ => None,
        }
    }

    /// The same for a number that its file has as one.
    pub(crate) fn convert_plain_digits(&self, digits: &str) -> Option<PlainValue<'static>> {
        match self.kind {
            ColumnKind::Integer => plain_digits(digits).map(PlainValue::Int),
            ColumnKind::Decimal => plain_decimal(digits),
            _ => None,
        }
    }
}

/// Digits alone, with no more than a minus before them.
fn plain_digits(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || digits.len() > DIGITS_MAX {
        return None;
    }
    let mut number = 0_i64;
    for byte in digits.bytes() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number * 10 + i64::from(digit);
    }
    Some(if digits.len() < text.len() { -number } else { number })
}

fn plain_decimal(text: &str) -> Option<PlainValue<'static>> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let Some((whole, part)) = unsigned.split_once('.') else {
        #[expect(clippy::cast_precision_loss, reason = "it has at most 15 digits")]
        return plain_digits(text).map(|number| PlainValue::Real(number as f64));
    };
    if whole.is_empty() || part.is_empty() || whole.len() + part.len() > DIGITS_MAX {
        return None;
    }
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(whole) || !is_digits(part) {
        return None;
    }
    let power = i64::try_from(POWERS[part.len()]).ok()?;
    let digits = plain_digits(whole)? * power + plain_digits(part)?;
    let digits = if unsigned.len() < text.len() { -digits } else { digits };
    #[expect(clippy::cast_precision_loss, reason = "both have at most 15 digits")]
    Some(PlainValue::Real(digits as f64 / power as f64))
}

/// Whether it is a day as `2026-11-18`, as which it is kept.
fn is_plain_day(text: &str) -> bool {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text.as_bytes() else { return false };
    if ![y1, y2, y3, y4, m1, m2, d1, d2].iter().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let (month, day) = ((m1 - b'0') * 10 + m2 - b'0', (d1 - b'0') * 10 + d2 - b'0');
    // Days that some months do not have take the closer look.
    [b'1', b'2'].contains(y1) && (1..=12).contains(&month) && (1..=28).contains(&day)
}

#[cfg(test)]
mod tests {
    use super::super::{DateStyle, RawField};
    use super::*;
    use crate::value::DataValue;

    #[test]
    fn a_plain_value_is_what_the_closer_look_makes_of_it() {
        let kinds = [ColumnKind::Integer, ColumnKind::Decimal, ColumnKind::Date];
        let texts = [
            "0",
            "-0",
            "7",
            "-12",
            "007",
            "123456789012345",
            "1234567890123456",
            "1.5",
            "-1.50",
            "0.10",
            "-0.00",
            "12.000",
            "0.3",
            "99999999999999.9",
            "1.",
            ".5",
            ".",
            "-",
            "",
            "1,5",
            "1.2.3",
            "1e5",
            "+4",
            "2026-11-18",
            "2026-02-28",
            "2026-02-29",
            "2026-13-01",
            "0999-01-01",
            "2999-12-31",
            "3000-01-01",
            "2026-1-1",
            "$5",
            "5%",
            "word",
        ];
        let mut plain = 0;
        for kind in kinds {
            let dates = Some(DateStyle::YearFirst);
            let plan = ColumnPlan { dates, ..ColumnPlan::of(kind) };
            for text in texts {
                let Some(found) = plan.convert_plain(text) else { continue };
                plain += 1;
                let found = match found {
                    PlainValue::Int(number) => DataValue::Int(number),
                    PlainValue::Real(number) => DataValue::Real(number),
                    PlainValue::Text(text) => DataValue::Text(text.to_owned()),
                };
                assert_eq!(plan.convert(RawField::Text(text)), Some(found), "{kind:?} {text}");
            }
        }
        assert_eq!(plain, 21);
    }
}
