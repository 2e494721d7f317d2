//! What bytes mean: numbers, exact decimals, dates, text.

use super::meta::{LogicalType, PhysicalType};
use crate::exact::Exact;
use crate::source::RawField;
use jiff::civil::Date;
use std::sync::Arc;

/// A value that is kept. Text of a dictionary is there once.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum OwnedField {
    Null,
    Int(i64),
    Real(f64),
    /// The digits of any other number.
    Number(Arc<str>),
    Bool(bool),
    Text(Arc<str>),
    /// No number that can be reckoned with.
    Error(&'static str),
}

impl OwnedField {
    /// The value, with at most so many bytes of a text.
    pub(super) fn raw(&self, most: usize) -> RawField<'_> {
        match self {
            Self::Null => RawField::Null,
            Self::Int(number) => RawField::Int(*number),
            Self::Real(number) => RawField::Real(*number),
            Self::Number(digits) => RawField::Number(digits),
            Self::Bool(yes) => RawField::Bool(*yes),
            Self::Error(what) => RawField::Error(what),
            Self::Text(text) => RawField::Text(&text[..text.floor_char_boundary(most)]),
        }
    }

    fn text(text: impl AsRef<str>) -> Self {
        Self::Text(Arc::from(text.as_ref()))
    }
}

/// Days from 0000-03-01 of the Julian count to 1970-01-01.
const JULIAN_1970: i64 = 2_440_588;

/// A whole number.
pub(super) fn of_int(number: i64, physical: PhysicalType, logical: LogicalType) -> OwnedField {
    match logical {
        LogicalType::Decimal { scale } => decimal(i128::from(number), scale),
        LogicalType::Date => OwnedField::text(day(number)),
        LogicalType::Time { units } => OwnedField::text(time(number, units)),
        LogicalType::Timestamp { units, is_utc } => {
            let zone = if is_utc { "Z" } else { "" };
            OwnedField::text(moment(number, units) + zone)
        }
        LogicalType::Unsigned if number < 0 && physical == PhysicalType::Int32 => {
            OwnedField::Int(number + (1 << 32))
        }
        LogicalType::Unsigned if number < 0 => {
            OwnedField::Number(number.cast_unsigned().to_string().into())
        }
        _ => OwnedField::Int(number),
    }
}

/// A number with a point of 32 bits, as it is written and not as 64 bits show it.
pub(super) fn of_float(number: f32) -> OwnedField {
    real(number.to_string().parse().unwrap_or(f64::NAN))
}

pub(super) fn real(number: f64) -> OwnedField {
    if number.is_finite() {
        OwnedField::Real(number)
    } else if number.is_nan() {
        OwnedField::Null
    } else {
        OwnedField::Error(if number > 0.0 { "inf" } else { "-inf" })
    }
}

/// Bytes.
pub(super) fn of_bytes(bytes: &[u8], logical: LogicalType) -> OwnedField {
    match logical {
        LogicalType::Decimal { scale } if bytes.len() <= 16 => {
            let negative = bytes.first().is_some_and(|first| first & 0x80 != 0);
            let begin = if negative { -1_i128 } else { 0 };
            decimal(bytes.iter().fold(begin, |number, byte| number << 8 | i128::from(*byte)), scale)
        }
        LogicalType::Uuid if bytes.len() == 16 => {
            let hex = hex_of(bytes);
            let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
            OwnedField::text(parts.join("-"))
        }
        LogicalType::Float16 if bytes.len() == 2 => {
            real(half(u16::from_le_bytes([bytes[0], bytes[1]])))
        }
        LogicalType::Text => OwnedField::text(String::from_utf8_lossy(bytes)),
        // Old writers say of text only that it is bytes.
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => OwnedField::text(text),
            Err(_) => OwnedField::text(hex_of(&bytes[..bytes.len().min(64)])),
        },
    }
}

/// Nanoseconds of a day and a Julian day: how old writers keep moments.
pub(super) fn of_int96(bytes: [u8; 12]) -> OwnedField {
    let [a, b, c, d, e, f, g, h, i, j, k, l] = bytes;
    let nanos = i64::from_le_bytes([a, b, c, d, e, f, g, h]);
    let days = i64::from(i32::from_le_bytes([i, j, k, l])) - JULIAN_1970;
    let seconds = days.saturating_mul(86_400).saturating_add(nanos.div_euclid(1_000_000_000));
    OwnedField::text(shown_moment(seconds, nanos.rem_euclid(1_000_000_000)))
}

fn decimal(digits: i128, scale: u32) -> OwnedField {
    OwnedField::Number(Exact::new(digits, scale).to_string().into())
}

fn hex_of(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

fn day(days: i64) -> String {
    let span = jiff::Span::new().try_days(days);
    let date = span.and_then(|span| Date::constant(1970, 1, 1).checked_add(span));
    date.map_or_else(|_| days.to_string(), |date| date.to_string())
}

fn time(number: i64, units: i64) -> String {
    let (seconds, rest) = (number.div_euclid(units), number.rem_euclid(units));
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
    format!("{hours:02}:{minutes:02}:{:02}{}", seconds % 60, fraction(rest, units))
}

fn moment(number: i64, units: i64) -> String {
    let nanos = number.rem_euclid(units) * (1_000_000_000 / units);
    shown_moment(number.div_euclid(units), nanos)
}

fn shown_moment(seconds: i64, nanos: i64) -> String {
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    format!(
        "{} {:02}:{:02}:{:02}{}",
        day(days),
        second / 3_600,
        second / 60 % 60,
        second % 60,
        fraction(nanos, 1_000_000_000)
    )
}

/// What is behind the second, without zeros at its end.
fn fraction(rest: i64, units: i64) -> String {
    if rest == 0 {
        return String::new();
    }
    let places = units.ilog10() as usize;
    format!(".{rest:0places$}").trim_end_matches('0').to_owned()
}

/// A number with a point of 16 bits.
fn half(bits: u16) -> f64 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (exponent, part) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    match exponent {
        0 => sign * part * 2_f64.powi(-24),
        31 => f64::NAN,
        _ => sign * (1.0 + part / 1_024.0) * 2_f64.powi(exponent - 15),
    }
}
