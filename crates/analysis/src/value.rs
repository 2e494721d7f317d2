//! One value of a table, as SQLite keeps it.

use crate::exact::Exact;
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use serde::{Deserialize, Serialize};

/// One value of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum DataValue {
    /// Nothing.
    Null,
    /// A whole number.
    Int(i64),
    /// A number with a point.
    Real(f64),
    /// Text: also dates in ISO form, and numbers of more than 15 digits.
    Text(String),
}

impl DataValue {
    pub(crate) fn of_sql(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(number) => Self::Int(number),
            ValueRef::Real(number) if number.is_finite() => Self::Real(number),
            ValueRef::Real(_) => Self::Null,
            ValueRef::Text(text) => Self::Text(String::from_utf8_lossy(text).into_owned()),
            ValueRef::Blob(bytes) => Self::Text(match LongDecimal::of_sql(bytes) {
                Some(LongDecimal(digits)) => digits,
                None => format!("[{} bytes]", bytes.len()),
            }),
        }
    }

    /// Without the last digits that sums and products of floating-point numbers leave behind:
    /// 0.30000000000000004 is 0.3, as every calculator shows it.
    #[must_use]
    pub(crate) fn without_noise(self) -> Self {
        match self {
            Self::Real(number) => Self::Real(quiet(number)),
            other => other,
        }
    }

    /// The number, exactly; none for text that is no number.
    #[must_use]
    pub fn number(&self) -> Option<Exact> {
        match self {
            Self::Null => None,
            Self::Int(number) => Some(Exact::new(i128::from(*number), 0)),
            Self::Real(number) => Exact::from_f64(*number),
            Self::Text(text) => Exact::parse(text.trim()),
        }
    }

    /// The nearest floating-point number, also of one that is too large to be exact.
    pub(crate) fn nearest(&self) -> f64 {
        match self {
            Self::Real(number) => *number,
            other => other.number().map_or(f64::NAN, Exact::to_f64),
        }
    }

    /// The words of a label: text that is no number, a date among them.
    #[must_use]
    pub fn label(&self) -> Option<&str> {
        match self {
            Self::Text(text) if Exact::parse(text.trim()).is_none() => Some(text.trim()),
            _ => None,
        }
    }

    /// As it is shown in a table; empty for nothing.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Self::Null => String::new(),
            Self::Int(number) => number.to_string(),
            Self::Real(number) => Exact::from_f64(*number)
                .map_or_else(|| number.to_string(), |exact| exact.trimmed().to_string()),
            Self::Text(text) => text.clone(),
        }
    }
}

/// Digits that a floating-point number has for certain.
const CERTAIN_DIGITS: usize = 15;

/// A number of at most so many digits is taken for what was meant.
const MEANT_DIGITS: usize = 12;

fn quiet(number: f64) -> f64 {
    let digits = |number: f64| Exact::from_f64(number).map_or(0, Exact::significant_digits);
    if digits(number) <= CERTAIN_DIGITS {
        return number;
    }
    let rounded = format!("{number:.*e}", CERTAIN_DIGITS - 1).parse().unwrap_or(number);
    if digits(rounded) <= MEANT_DIGITS { rounded } else { number }
}

/// A number with more digits than SQLite keeps, as its digits. It is a blob there, so that it is
/// not taken for text that is no number of its column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LongDecimal(pub(crate) String);

impl LongDecimal {
    pub(crate) fn of_sql(bytes: &[u8]) -> Option<Self> {
        let digits = std::str::from_utf8(bytes).ok()?;
        Exact::parse(digits).map(|_| Self(digits.to_owned()))
    }

    /// The nearest floating-point number.
    pub(crate) fn to_f64(&self) -> f64 {
        self.0.parse().unwrap_or(f64::NAN)
    }
}

impl ToSql for LongDecimal {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Blob(self.0.as_bytes())))
    }
}

impl ToSql for DataValue {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Null => ToSqlOutput::Borrowed(ValueRef::Null),
            Self::Int(number) => ToSqlOutput::Borrowed(ValueRef::Integer(*number)),
            Self::Real(number) => ToSqlOutput::Borrowed(ValueRef::Real(*number)),
            Self::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
        })
    }
}
