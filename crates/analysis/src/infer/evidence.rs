//! How the values of one column fit each kind, and the plan that follows.
//!
//! Values that can be read in two ways are read as the others of their column show: those that can
//! be read in one way only are proofs. One proof among many unclear values is more likely a typing
//! error, and proofs of both ways prove nothing.

use super::dates::{DateStyle, TimeForm};
use super::numbers::{self, NumberShape, NumberStyle};
use super::{ColumnKind, ColumnPlan, TextReason, is_null_word, truth};
use crate::exact::Exact;
use crate::source::RawField;
use std::collections::BTreeMap;

/// Of a hundred values that are there, so many must fit.
const FIT_PERCENT: u64 = 90;

/// One value in so many that is not like the others makes a column mixed.
const MIXED_ONE_IN: u64 = 50;

/// How many values can be read in one of two ways only, and how many in both.
#[derive(Debug, Clone, Copy, Default)]
struct StyleProofs {
    own: u64,
    other: u64,
    unclear: u64,
}

impl StyleProofs {
    /// Whether they prove the own way.
    fn are_enough(self) -> bool {
        let has_many = self.own > 0 && self.own * MIXED_ONE_IN >= self.unclear;
        has_many && self.other * MIXED_ONE_IN <= self.own + self.other
    }
}

/// What the rest of a file says of how numbers are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct StyleHint {
    /// The style of the columns that have only one.
    others: Option<NumberStyle>,
    /// Whether a comma separates fields: then hardly anybody writes it as the decimal point too.
    is_comma_file: bool,
}

impl StyleHint {
    pub(crate) fn of(columns: &[ColumnEvidence], separator: Option<char>) -> Self {
        let mut styles = columns.iter().filter_map(ColumnEvidence::only_style);
        let first = styles.next();
        let others = first.filter(|first| styles.all(|style| style == *first));
        Self { others, is_comma_file: separator == Some(',') }
    }
}

/// How the values of one column of a sample fit.
#[derive(Debug, Clone, Default)]
pub(crate) struct ColumnEvidence {
    there: u64,
    /// Whole numbers, by the way that numbers are written.
    integers: BTreeMap<NumberStyle, u64>,
    truths: u64,
    /// With a leading zero or more than 18 digits: codes, not numbers.
    codes: u64,
    /// By the way that numbers are written.
    numbers: BTreeMap<NumberStyle, u64>,
    /// Numbers that can be read in one style only.
    proofs: BTreeMap<NumberStyle, u64>,
    /// Numbers that are another one in each style, by the character that is read in two ways.
    unclear: BTreeMap<char, u64>,
    /// Digits with a unit, or with separators where none belongs.
    quantities: u64,
    /// Whole numbers of four digits and more that nothing groups.
    ungrouped: u64,
    /// By the sign of a currency.
    currencies: BTreeMap<char, u64>,
    percents: u64,
    dates: BTreeMap<DateStyle, u64>,
    /// Dates that can be read as day first and as month first.
    unclear_dates: u64,
    /// Times without a zone.
    local_times: u64,
    /// Times with a zone, by the minutes that it is ahead of UTC.
    zones: BTreeMap<i32, u64>,
}

impl ColumnEvidence {
    pub(crate) fn take(&mut self, field: RawField<'_>) {
        match field {
            RawField::Null | RawField::Error(_) => {}
            RawField::Int(_) => {
                self.there += 1;
                self.count_number(NumberShape::typed(true));
            }
            RawField::Real(_) => {
                self.there += 1;
                self.count_number(NumberShape::typed(false));
            }
            RawField::Number(digits) => {
                self.there += 1;
                self.codes += u64::from(numbers::is_code(digits));
                let is_whole = Exact::parse(digits).is_some_and(|number| number.scale() == 0);
                self.count_number(NumberShape::typed(is_whole));
            }
            RawField::Bool(_) => {
                self.there += 1;
                self.truths += 1;
            }
            RawField::Text(text) if is_null_word(text) => {}
            RawField::Text(text) => self.take_text(text.trim()),
        }
    }

    fn count_number(&mut self, shape: NumberShape) {
        self.percents += u64::from(shape.percent);
        for style in [NumberStyle::Point, NumberStyle::Comma] {
            if let Some(is_whole) = shape.in_style(style) {
                *self.numbers.entry(style).or_default() += 1;
                *self.integers.entry(style).or_default() += u64::from(is_whole && !shape.percent);
            }
        }
        if let Some(style) = shape.only_style() {
            *self.proofs.entry(style).or_default() += 1;
        }
        if let Some(separator) = shape.unclear {
            *self.unclear.entry(separator).or_default() += 1;
        }
        if let Some(sign) = shape.currency {
            *self.currencies.entry(sign).or_default() += 1;
        }
    }

    fn take_text(&mut self, text: &str) {
        self.there += 1;
        self.truths += u64::from(truth(text).is_some());
        // Words are told apart at once.
        if !text.chars().any(|c| c.is_ascii_digit() || ('０'..='９').contains(&c)) {
            return;
        }
        if numbers::is_code(text) {
            self.codes += 1;
        }
        self.ungrouped += u64::from(numbers::is_ungrouped(text));
        match numbers::shape_of(text) {
            Some(shape) => self.count_number(shape),
            None => self.quantities += u64::from(numbers::is_quantity(text)),
        }
        let mut time = TimeForm::Day;
        let mut styles = 0;
        for (style, form) in DateStyle::candidates(text) {
            time = form;
            styles += 1;
            *self.dates.entry(style).or_default() += 1;
        }
        // Only day first and month first can be read from the same text.
        self.unclear_dates += u64::from(styles > 1);
        match time {
            TimeForm::Day => {}
            TimeForm::Local => self.local_times += 1,
            TimeForm::Zoned(ahead) => *self.zones.entry(ahead).or_default() += 1,
        }
    }

    /// Whether there are numbers with a point.
    pub(crate) fn has_fractions(&self, style: NumberStyle) -> bool {
        self.in_style(style) > self.whole_in(style) + self.percents
    }

    fn whole_in(&self, style: NumberStyle) -> u64 {
        self.integers.get(&style).copied().unwrap_or(0)
    }

    /// Whether there are dates with a time of day.
    pub(crate) fn has_times(&self) -> bool {
        self.local_times > 0 || !self.zones.is_empty()
    }

    /// Whether there are signs of currencies.
    pub(crate) fn has_currencies(&self) -> bool {
        !self.currencies.is_empty()
    }

    fn fits(&self, count: u64) -> bool {
        count > 0 && count * 100 >= self.there * FIT_PERCENT
    }

    fn in_style(&self, style: NumberStyle) -> u64 {
        self.numbers.get(&style).copied().unwrap_or(0)
    }

    /// The style of most numbers that can be read in one style only.
    fn most_proved(&self) -> NumberStyle {
        let of = |style| self.proofs.get(&style).copied().unwrap_or(0);
        let is_comma = of(NumberStyle::Comma) > of(NumberStyle::Point);
        if is_comma { NumberStyle::Comma } else { NumberStyle::Point }
    }

    /// The style in which its numbers are written, if enough of them prove it.
    fn only_style(&self) -> Option<NumberStyle> {
        let style = self.most_proved();
        let own = self.proofs.get(&style).copied().unwrap_or(0);
        let other = self.proofs.values().sum::<u64>() - own;
        let proofs = StyleProofs { own, other, unclear: self.unclear.values().sum() };
        (proofs.are_enough() && self.fits(self.in_style(style))).then_some(style)
    }

    /// The style of its numbers; none if they could be of either.
    fn style(&self, hint: StyleHint) -> Option<NumberStyle> {
        let alone = |separator| self.unclear.keys().all(|own| *own == separator);
        match self.only_style() {
            Some(style) => Some(style),
            // Each number has one meaning only. Those of the other style are counted as misfits.
            None if self.unclear.is_empty() => Some(self.most_proved()),
            None if hint.is_comma_file && alone(',') => Some(NumberStyle::Point),
            None if hint.others.is_some() => hint.others,
            // Who writes 5000 does not write 1.234 for 1234, and where commas part fields, points
            // are the decimal ones.
            None if alone('.') && (hint.is_comma_file || self.ungrouped > 0) => {
                Some(NumberStyle::Point)
            }
            None => None,
        }
    }

    /// What the column holds, and how its values are read.
    pub(crate) fn plan(&self, hint: StyleHint) -> ColumnPlan {
        let text = ColumnPlan::of(ColumnKind::Text);
        if self.there == 0 {
            return text;
        }
        if self.fits(self.truths) {
            return ColumnPlan::of(ColumnKind::Boolean);
        }
        if let Some(plan) = self.date_plan() {
            return plan;
        }
        let count = self.numbers.values().max().copied().unwrap_or(0);
        // One code in twenty is enough to leave them as they are.
        if !self.fits(count) || self.codes * 20 > self.there {
            return ColumnPlan { text_reason: self.text_reason(count), ..text };
        }
        let is_percent = self.fits(self.percents);
        if !is_percent && self.percents * MIXED_ONE_IN > self.there {
            return ColumnPlan { mixed_percent: true, ..text };
        }
        let currency = self.currencies.iter().max_by_key(|(_, count)| **count);
        let others =
            self.currencies.values().sum::<u64>() - currency.map_or(0, |(_, count)| *count);
        if others * MIXED_ONE_IN > self.there {
            return ColumnPlan { mixed_currency: true, ..text };
        }
        let Some(numbers) = self.style(hint) else {
            return ColumnPlan { ambiguous_numbers: true, ..text };
        };
        let is_whole = self.whole_in(numbers) == self.in_style(numbers) && !is_percent;
        let kind = if is_whole { ColumnKind::Integer } else { ColumnKind::Decimal };
        let currency = currency.map(|(sign, _)| *sign);
        ColumnPlan { kind, numbers, is_percent, currency, ..text }
    }

    /// Why it is text, where its values look like something else.
    fn text_reason(&self, numbers: u64) -> Option<TextReason> {
        let dates = self.dates.values().max().copied().unwrap_or(0);
        let is_most = |count: u64| count > 0 && count * 2 >= self.there;
        if self.codes * 20 > self.there {
            Some(TextReason::Codes)
        } else if is_most(dates) {
            Some(TextReason::SomeDates)
        } else if is_most(numbers) {
            Some(TextReason::SomeNumbers)
        } else if is_most(self.quantities + numbers) {
            Some(TextReason::Units)
        } else {
            None
        }
    }

    /// Whether dates of this style can be told from those that have day and month the other way
    /// round.
    fn is_proved(&self, style: DateStyle) -> bool {
        let other = match style {
            DateStyle::DayFirst => DateStyle::MonthFirst,
            DateStyle::MonthFirst => DateStyle::DayFirst,
            DateStyle::YearFirst | DateStyle::Named => return true,
        };
        let unclear = self.unclear_dates;
        let only = |style| self.dates.get(&style).map_or(0, |count| count - unclear);
        let proofs = StyleProofs { own: only(style), other: only(other), unclear };
        unclear == 0 || proofs.are_enough()
    }

    fn date_plan(&self) -> Option<ColumnPlan> {
        let most = *self.dates.values().max()?;
        if !self.fits(most) {
            return None;
        }
        let best: Vec<DateStyle> = self
            .dates
            .iter()
            .filter(|(_, count)| **count == most)
            .map(|(style, _)| *style)
            .collect();
        let kind = if self.has_times() { ColumnKind::DateTime } else { ColumnKind::Date };
        let text = ColumnPlan::of(ColumnKind::Text);
        // Times of several zones are told in UTC. Where some have none, all stay as written.
        let zone = match self.zones.len() {
            _ if self.local_times > 0 => None,
            0 | 1 => self.zones.keys().next().copied(),
            _ => Some(0),
        };
        match best.as_slice() {
            [only] if self.is_proved(*only) => {
                Some(ColumnPlan { kind, dates: Some(*only), zone, ..text })
            }
            // Day and month cannot be told apart: nothing is guessed.
            _ => Some(ColumnPlan { ambiguous_dates: true, ..text }),
        }
    }
}
