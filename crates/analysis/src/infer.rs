//! What a column holds: numbers, dates, truth values or text, with evidence.
//!
//! ```text
//!   sample of rows ──► ColumnEvidence (how many values fit which kind) ──► ColumnPlan
//!   all rows ──ColumnPlan::convert──► the value, or the text as it was, counted with examples
//! ```
//!
//! Nothing is guessed in silence: a date that could be two dates stays text, so does a number that
//! could be two numbers; a number with a leading zero is a code; and what does not fit is counted,
//! kept as text in a table of its own, and NULL in its column. Words such as `NA` are missing
//! values in columns of numbers and dates only: in a column of text they may mean something.

mod dates;
mod evidence;
mod numbers;
mod plain;
mod words;

pub(crate) use dates::{DateStyle, has_zone};
pub(crate) use evidence::{ColumnEvidence, StyleHint};
pub(crate) use numbers::{NumberStyle, is_code, parse_number};
pub(crate) use plain::PlainValue;

use crate::exact::{Exact, KeptNumber};
use crate::source::{EXAMPLES_MAX, RawField, example};
use crate::value::DataValue;
use numbers::ParsedNumber;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use words::{NULL_WORDS, NULL_WORDS_ZH};

/// Different words for "nothing" that are counted.
const NULL_WORDS_MAX: usize = 12;

/// What the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnKind {
    /// Whole numbers.
    Integer,
    /// Numbers with a point, kept exactly; also the whole ones among them have a point.
    Decimal,
    /// Days, as `2026-11-18`.
    Date,
    /// Moments, as `2026-11-18 09:30:00`.
    DateTime,
    /// 0 or 1.
    Boolean,
    /// Anything else.
    Text,
}

impl ColumnKind {
    /// The type in SQL.
    #[must_use]
    pub fn sql(self) -> &'static str {
        match self {
            Self::Integer | Self::Boolean => "INTEGER",
            Self::Decimal => "REAL",
            Self::Date | Self::DateTime | Self::Text => "TEXT",
        }
    }

    /// Its name, as JSON and models read it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::Decimal => "decimal",
            Self::Date => "date",
            Self::DateTime => "datetime",
            Self::Boolean => "boolean",
            Self::Text => "text",
        }
    }

    /// Whether sums of it mean something.
    #[must_use]
    pub fn is_number(self) -> bool {
        matches!(self, Self::Integer | Self::Decimal)
    }

    /// Whether it is a day or a moment.
    #[must_use]
    pub fn is_time(self) -> bool {
        matches!(self, Self::Date | Self::DateTime)
    }
}

/// Whether a field is data rather than the name of a column.
pub(crate) fn looks_like_data(field: &str) -> bool {
    let text = field.trim();
    parse_number(text, NumberStyle::default()).is_some() || looks_like_date(text)
}

/// Whether a field is a day or a moment.
pub(crate) fn looks_like_date(field: &str) -> bool {
    DateStyle::candidates(field.trim()).next().is_some()
}

/// Whether a text stands for nothing.
pub(crate) fn is_null_word(text: &str) -> bool {
    let text = text.trim();
    // What the words below begin with; most values of most files do not.
    let may_be = |first: &u8| b"nNmM#-\\?".contains(first) || !first.is_ascii();
    if text.as_bytes().first().is_some_and(|first| !may_be(first)) {
        return false;
    }
    text.is_empty()
        || text.len() <= 12
            && (NULL_WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
                || NULL_WORDS_ZH.contains(&text))
}

fn truth(text: &str) -> Option<bool> {
    match text {
        "true" | "TRUE" | "True" => Some(true),
        "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

/// Why a column is text although many of its values look like something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextReason {
    /// Digits that name something: with leading zeros, or longer than a number.
    Codes,
    /// Half of the values are numbers, but not nine in ten.
    SomeNumbers,
    /// Half of the values are dates, but not nine in ten.
    SomeDates,
    /// Digits with a unit, or grouped as no number is.
    Units,
}

/// How the values of a column are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnPlan {
    /// What it holds.
    pub kind: ColumnKind,
    /// How its numbers are written.
    pub(crate) numbers: NumberStyle,
    /// Whether its numbers have a percent sign; `12%` is kept as 0.12.
    pub is_percent: bool,
    /// How its dates are written.
    pub(crate) dates: Option<DateStyle>,
    /// Whether it holds dates whose day and month cannot be told apart.
    pub ambiguous_dates: bool,
    /// Whether some of its numbers have a percent sign and others not.
    pub mixed_percent: bool,
    /// Whether its numbers could be 1.234 as well as 1234.
    #[serde(default, skip_serializing_if = "is_false")]
    pub ambiguous_numbers: bool,
    /// Why it is text, where many values look like something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_reason: Option<TextReason>,
    /// The sign of the currency of its amounts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<char>,
    /// Whether its amounts have signs of several currencies.
    #[serde(default, skip_serializing_if = "is_false")]
    pub mixed_currency: bool,
    /// The minutes that the zone of its times is ahead of UTC, if they have one: times of other
    /// zones were moved into it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<i32>,
    /// Whether it was made text because nothing else fitted, whatever all rows say.
    #[serde(default, skip)]
    pub(crate) is_forced_text: bool,
}

impl ColumnPlan {
    pub(crate) fn of(kind: ColumnKind) -> Self {
        Self {
            kind,
            numbers: NumberStyle::default(),
            is_percent: false,
            dates: None,
            ambiguous_dates: false,
            mixed_percent: false,
            ambiguous_numbers: false,
            text_reason: None,
            currency: None,
            mixed_currency: false,
            zone: None,
            is_forced_text: false,
        }
    }

    /// The same column as text.
    pub(crate) fn text(&self) -> Self {
        let nothing = Self::of(ColumnKind::Text);
        let (numbers, dates, is_percent) = (nothing.numbers, None, false);
        Self { kind: nothing.kind, numbers, dates, is_percent, currency: None, zone: None, ..*self }
    }

    /// The value of a field; none if it does not fit.
    pub(crate) fn convert(&self, field: RawField<'_>) -> Option<DataValue> {
        match (self.kind, field) {
            (_, RawField::Null | RawField::Error(_)) => Some(DataValue::Null),
            (ColumnKind::Integer, RawField::Int(number)) => Some(DataValue::Int(number)),
            (ColumnKind::Decimal, RawField::Int(number)) => Some(decimal_of_whole(number)),
            (ColumnKind::Decimal, RawField::Real(number)) => real(number),
            (ColumnKind::Integer, RawField::Real(number)) => {
                let whole = number.fract() == 0.0 && number.abs() < 9e15;
                #[expect(clippy::cast_possible_truncation, reason = "it is whole and small")]
                whole.then_some(DataValue::Int(number as i64))
            }
            (ColumnKind::Boolean, RawField::Bool(yes)) => Some(DataValue::Int(i64::from(yes))),
            (ColumnKind::Text, RawField::Text(text)) => Some(DataValue::Text(text.to_owned())),
            (ColumnKind::Integer | ColumnKind::Decimal, RawField::Number(digits)) => {
                self.convert_digits(digits)
            }
            (_, RawField::Text(text)) => self.convert_text(text.trim()),
            _ => None,
        }
    }

    /// A number that its file has as one: no style and no sign changes what it means.
    fn convert_digits(&self, digits: &str) -> Option<DataValue> {
        let value = match Exact::parse(digits) {
            Some(exact) if self.kind == ColumnKind::Integer => exactly(exact),
            Some(exact) => decimal(exact),
            // It is too large or too small to be exact.
            None => real(digits.parse().ok()?)?,
        };
        let is_whole = match &value {
            DataValue::Int(_) => true,
            DataValue::Text(long) => !long.contains('.'),
            _ => false,
        };
        (is_whole || self.kind == ColumnKind::Decimal).then_some(value)
    }

    fn convert_text(&self, text: &str) -> Option<DataValue> {
        match self.kind {
            ColumnKind::Integer => match self.number_of(text)? {
                ParsedNumber { value, percent: false, .. } if value.scale() == 0 => {
                    value.to_string().parse().ok().map(DataValue::Int)
                }
                _ => None,
            },
            ColumnKind::Decimal => {
                let Some(found) = self.number_of(text) else {
                    return numbers::rough_number(text).map(DataValue::Real);
                };
                if found.percent != self.is_percent {
                    return None;
                }
                let hundredth = Exact::new(1, 2);
                let value = if found.percent { found.value.times(hundredth)? } else { found.value };
                Some(decimal(value))
            }
            ColumnKind::Boolean => truth(text).map(|yes| DataValue::Int(i64::from(yes))),
            ColumnKind::Date | ColumnKind::DateTime => {
                let in_iso = |style: DateStyle| match self.kind {
                    ColumnKind::DateTime => style.to_iso_time(text, self.zone),
                    _ => style.to_iso_day(text),
                };
                // A date in ISO form is one in every column of dates.
                let found = in_iso(self.dates?).or_else(|| in_iso(DateStyle::YearFirst));
                found.map(DataValue::Text)
            }
            ColumnKind::Text => Some(DataValue::Text(text.to_owned())),
        }
    }

    /// A number in the currency of the column, or in none.
    fn number_of(&self, text: &str) -> Option<ParsedNumber> {
        let found = parse_number(text, self.numbers)?;
        (found.currency.is_none() || found.currency == self.currency).then_some(found)
    }

    /// Whether a time has a zone and the column has none, or the other way round.
    pub(crate) fn is_odd_zone(&self, text: &str) -> bool {
        let is_time = self.kind == ColumnKind::DateTime && text.contains(':');
        is_time && has_zone(text.trim()) != self.zone.is_some()
    }

    /// What a field is where it fits nothing: its text as it was.
    pub(crate) fn as_text(field: RawField<'_>) -> DataValue {
        match field {
            RawField::Null | RawField::Error(_) => DataValue::Null,
            RawField::Int(number) => DataValue::Text(number.to_string()),
            RawField::Real(number) => DataValue::Text(number.to_string()),
            RawField::Bool(yes) => DataValue::Text(yes.to_string()),
            RawField::Number(text) | RawField::Text(text) => DataValue::Text(text.to_owned()),
        }
    }
}

/// A number that SQLite keeps without a change; its digits as text if SQLite would lose one.
fn exactly(value: Exact) -> DataValue {
    match value.kept() {
        KeptNumber::Int(number) => DataValue::Int(number),
        KeptNumber::Real(number) => DataValue::Real(number),
        KeptNumber::Long(digits) => DataValue::Text(digits),
    }
}

/// The same in a column of decimals: 5 is 5.0 there. Whole numbers among them would be divided
/// without what is behind the point.
fn decimal(value: Exact) -> DataValue {
    match exactly(value) {
        DataValue::Int(number) => decimal_of_whole(number),
        other => other,
    }
}

fn decimal_of_whole(number: i64) -> DataValue {
    #[expect(clippy::cast_precision_loss, reason = "it is looked at below")]
    let near = number as f64;
    let is_exact = number.unsigned_abs() <= 1 << f64::MANTISSA_DIGITS
        || Exact::from_f64(near) == Some(Exact::new(i128::from(number), 0));
    if is_exact { DataValue::Real(near) } else { DataValue::Text(number.to_string()) }
}

fn real(number: f64) -> Option<DataValue> {
    number.is_finite().then_some(DataValue::Real(number))
}

/// What did not fit a column, counted over all rows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Misfits {
    /// Values that were there.
    pub present: u64,
    /// Values that were missing, the words for nothing among them.
    pub missing: u64,
    /// Values that do not fit the kind: their text is in the table of misfits.
    pub misfits: u64,
    /// Times with a zone where the column has none, or without one where it has one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub odd_zones: u64,
    /// Numbers with more digits than SQLite keeps: their digits are kept, and sums have them all.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub long: u64,
    /// Examples of the values that do not fit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
    /// The words that were read as missing values, and how often.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub null_words: BTreeMap<String, u64>,
    /// The same words in a column of text, where they are kept: `NA` may be Namibia.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kept_words: BTreeMap<String, u64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(is: &bool) -> bool {
    !*is
}

impl Misfits {
    pub(crate) fn misfit(&mut self, field: RawField<'_>) {
        self.misfits += 1;
        if self.examples.len() < EXAMPLES_MAX {
            let shown = example(&ColumnPlan::as_text(field).shown());
            if !self.examples.contains(&shown) {
                self.examples.push(shown);
            }
        }
    }

    /// Counts a word that is read as a missing value.
    pub(crate) fn null_word(&mut self, text: &str) {
        self.missing += 1;
        count_word(&mut self.null_words, text.trim());
    }

    /// Counts a word that may stand for a missing value and is kept as text.
    pub(crate) fn kept_word(&mut self, text: &str) {
        self.present += 1;
        count_word(&mut self.kept_words, text.trim());
    }
}

fn count_word(words: &mut BTreeMap<String, u64>, word: &str) {
    if word.is_empty() {
        return;
    }
    if let Some(count) = words.get_mut(word) {
        *count += 1;
    } else if words.len() < NULL_WORDS_MAX {
        words.insert(word.to_owned(), 1);
    }
}

#[cfg(test)]
#[path = "infer_tests.rs"]
mod tests;
