//! References to results: `q1.r2.revenue`, sums over columns, and arithmetic on them.
//!
//! ```text
//!   expression = term (("+" | "-") term)*
//!   term       = factor (("*" | "/") factor)*
//!   factor     = number | "-" factor | "(" expression ")" | name "(" column ")" | cell
//!   cell       = q1.r2.revenue │ q1.rows │ data.sales.rows │ c1.r1.n1       column = q1.revenue
//! ```

use super::evidence::{CellPlace, NumberEvidence, ResultReading};
use crate::exact::Exact;

/// How deep brackets may be.
const DEPTH_MAX: u32 = 20;

/// An expression that was worked out.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Evaluated {
    pub(crate) value: Exact,
    /// Why its worth does not come from results alone, if it does not.
    pub(crate) unsound: Option<&'static str>,
    /// Whether some of it was written into a query or into code.
    pub(crate) is_constant: bool,
    /// The cells that it was worked out from.
    pub(crate) cells: Vec<CellPlace>,
}

/// What an expression is worth, or what is wrong with it.
pub(crate) fn evaluate(text: &str, evidence: &NumberEvidence) -> Result<Evaluated, String> {
    let mut parser = Parser::new(text, evidence);
    let found = parser.sum()?;
    if !parser.rest.is_empty() {
        return Err(format!("cannot read \"{}\"", parser.rest));
    }
    if found.kind == PartKind::Literal {
        parser.unsound = Some(NO_CELL);
    }
    if parser.literals > LITERALS_MAX {
        parser.unsound = Some(OWN_NUMBER);
    }
    let Parser { unsound, is_constant, cells, .. } = parser;
    Ok(Evaluated { value: found.value, unsound, is_constant, cells })
}

/// The results that an expression refers to, such as `q1` and `c2`, in the order in which it does.
pub(crate) fn results_named(text: &str) -> Vec<&str> {
    let (mut names, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        let end = word_end(rest);
        names.extend(rest[..end].split_once('.').map(|(name, _)| name));
        rest = &rest[end.max(first.len_utf8())..];
    }
    names
}

/// Where the name at the beginning of a text ends. Its parts are joined by dots and may be quoted.
fn word_end(text: &str) -> usize {
    let mut quoted = false;
    let end = text.find(|c: char| {
        if c == '"' {
            quoted = !quoted;
            return false;
        }
        !(quoted || c.is_alphanumeric() || c == '_' || c == '.')
    });
    end.unwrap_or(text.len())
}

const NO_CELL: &str = "it names no result";
const OWN_NUMBER: &str = "a number of its own is worked in";

/// Numbers that an expression may have of its own, as factors: parts, months, hours, units. More,
/// and any number could be made.
const FACTORS: [i128; 18] = [
    1,
    2,
    3,
    4,
    7,
    10,
    12,
    24,
    30,
    52,
    60,
    100,
    365,
    1_000,
    10_000,
    1_000_000,
    100_000_000,
    1_000_000_000,
];

/// How many of them.
const LITERALS_MAX: u32 = 2;

/// A part of an expression.
#[derive(Debug, Clone, Copy)]
struct ExprPart<'a> {
    value: Exact,
    kind: PartKind,
    /// As it is written.
    text: &'a str,
    /// How many parts were added up in it.
    terms: i128,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PartKind {
    /// A number of its own.
    Literal,
    /// It comes from results.
    Result,
    /// A result by a result, times so much: `b / a * 100`.
    Ratio(i128),
}

struct Parser<'a> {
    rest: &'a str,
    evidence: &'a NumberEvidence,
    depth: u32,
    /// Numbers of its own so far.
    literals: u32,
    unsound: Option<&'static str>,
    is_constant: bool,
    cells: Vec<CellPlace>,
}

const TOO_LARGE: &str = "the number has too many digits";

impl<'a> Parser<'a> {
    fn new(text: &'a str, evidence: &'a NumberEvidence) -> Self {
        let (rest, cells) = (text.trim(), Vec::new());
        Self { rest, evidence, depth: 0, literals: 0, unsound: None, is_constant: false, cells }
    }

    /// Notes what was read for a part, and gives its value.
    fn read(&mut self, reading: ResultReading) -> Exact {
        self.is_constant |= reading.is_constant;
        self.cells.extend(reading.cells);
        reading.value
    }

    fn takes(&mut self, sign: char) -> bool {
        let found = self.rest.trim_start().strip_prefix(sign);
        if let Some(rest) = found {
            self.rest = rest.trim_start();
        }
        found.is_some()
    }

    /// What was read since then.
    fn since(&self, before: &'a str) -> &'a str {
        let read = before.len().saturating_sub(self.rest.len());
        before.get(..read).unwrap_or_default().trim()
    }

    fn sum(&mut self) -> Result<ExprPart<'a>, String> {
        let before = self.rest;
        let mut sum = self.product()?;
        loop {
            let value = if self.takes('+') {
                let next = self.product()?;
                self.judge_summands(&sum, &next);
                (sum.value.plus(next.value), next.kind)
            } else if self.takes('-') {
                let next = self.product()?;
                self.judge_summands(&sum, &next);
                (sum.value.minus(next.value), next.kind)
            } else {
                return Ok(sum);
            };
            let is_literal = sum.kind == PartKind::Literal && value.1 == PartKind::Literal;
            sum = ExprPart {
                value: value.0.ok_or(TOO_LARGE)?,
                kind: if is_literal { PartKind::Literal } else { PartKind::Result },
                text: self.since(before),
                terms: sum.terms + 1,
            };
        }
    }

    /// A number of its own is a summand only in `b / a - 1` and `1 - share`.
    fn judge_summands(&mut self, one: &ExprPart<'_>, two: &ExprPart<'_>) {
        let (literal, other) = match (one.kind, two.kind) {
            (PartKind::Literal, other) => (one, (other, two)),
            (other, PartKind::Literal) => (two, (other, one)),
            _ => return,
        };
        let whole = match other {
            (PartKind::Ratio(scale), _) => Exact::new(scale, 0),
            _ => Exact::new(1, 0),
        };
        let is_share = match other {
            (PartKind::Ratio(_), _) => true,
            (PartKind::Result, part) => part.value.abs() <= whole && !part.value.is_zero(),
            _ => false,
        };
        if literal.value != whole || !is_share {
            self.unsound = Some(OWN_NUMBER);
        }
        // It was counted as a factor.
        self.literals = self.literals.saturating_sub(1);
    }

    fn product(&mut self) -> Result<ExprPart<'a>, String> {
        let before = self.rest;
        let mut product = self.factor()?;
        loop {
            let (value, next, divides) = if self.takes('*') {
                let next = self.factor()?;
                (product.value.times(next.value).ok_or(TOO_LARGE)?, next, false)
            } else if self.takes('/') {
                let next = self.factor()?;
                let value = product.value.divided_by(next.value).ok_or("division by nothing")?;
                (value, next, true)
            } else {
                return Ok(product);
            };
            self.judge_factors(&product, &next, divides);
            let kind = kind_of(&product, &next, divides);
            product = ExprPart { value, kind, text: self.since(before), terms: 1 };
        }
    }

    fn judge_factors(&mut self, one: &ExprPart<'_>, two: &ExprPart<'_>, divides: bool) {
        let bare = |text: &'_ str| text.replace(['(', ')', ' '], "");
        if divides && two.kind != PartKind::Literal && bare(one.text) == bare(two.text) {
            self.unsound = Some("a result is divided by itself");
        }
        for (literal, other) in [(one, two), (two, one)] {
            // The mean of what was added up.
            let is_mean = divides && literal.value == Exact::new(other.terms, 0);
            let is_factor = FACTORS.iter().any(|own| literal.value == Exact::new(*own, 0));
            if literal.kind == PartKind::Literal && !is_factor && !is_mean {
                self.unsound = Some(OWN_NUMBER);
            }
        }
    }

    fn factor(&mut self) -> Result<ExprPart<'a>, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err("too many brackets".to_owned());
        }
        let before = self.rest;
        let found = self.factor_inside();
        self.depth -= 1;
        found.map(|part| ExprPart { text: self.since(before), ..part })
    }

    fn factor_inside(&mut self) -> Result<ExprPart<'a>, String> {
        if self.takes('-') {
            let part = self.factor()?;
            return Ok(ExprPart { value: part.value.negated(), ..part });
        }
        if self.takes('(') {
            let part = self.sum()?;
            return self.takes(')').then_some(part).ok_or_else(|| "a bracket is open".to_owned());
        }
        let word = self.word()?;
        let part = |value, kind| ExprPart { value, kind, text: word, terms: 1 };
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            self.literals += 1;
            let value = Exact::parse(word).ok_or_else(|| format!("{word} is no number"))?;
            return Ok(part(value, PartKind::Literal));
        }
        if self.takes('(') {
            let column = self.word()?;
            if !self.takes(')') {
                return Err("a bracket is open".to_owned());
            }
            let reading = self.evidence.read_column(word, column)?;
            return Ok(part(self.read(reading), PartKind::Result));
        }
        let reading = self.evidence.read_cell(word)?;
        Ok(part(self.read(reading), PartKind::Result))
    }

    /// A name with its dots; a part may be quoted.
    fn word(&mut self) -> Result<&'a str, String> {
        let text = self.rest.trim_start();
        let end = word_end(text);
        if end == 0 {
            return Err(format!("a reference is missing at \"{text}\""));
        }
        self.rest = text[end..].trim_start();
        Ok(&text[..end])
    }
}

/// What a product or a quotient is.
fn kind_of(one: &ExprPart<'_>, two: &ExprPart<'_>, divides: bool) -> PartKind {
    let whole = |part: &ExprPart<'_>| part.value.in_units(0);
    match (one.kind, two.kind) {
        (PartKind::Literal, PartKind::Literal) => PartKind::Literal,
        (PartKind::Literal, PartKind::Ratio(scale))
        | (PartKind::Ratio(scale), PartKind::Literal)
            if !divides =>
        {
            let own = if one.kind == PartKind::Literal { whole(one) } else { whole(two) };
            own.and_then(|own| own.checked_mul(scale)).map_or(PartKind::Result, PartKind::Ratio)
        }
        // `100 * b / a`: the factor came first.
        (PartKind::Result, PartKind::Result) if divides => {
            let factor = one.text.split('*').next().and_then(|own| own.trim().parse().ok());
            PartKind::Ratio(factor.unwrap_or(1))
        }
        _ => PartKind::Result,
    }
}

/// How an inserted number is written: `|2`, `|%1`, `|+1`, or with a unit, `|k1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NumberFormat {
    places: Option<u32>,
    percent: bool,
    signed: bool,
    unit: Option<(char, u32)>,
}

/// Units that a format may name.
const UNITS: [(char, u32); 7] =
    [('千', 3), ('万', 4), ('亿', 8), ('k', 3), ('K', 3), ('M', 6), ('B', 9)];

impl NumberFormat {
    /// Reads what follows the `|`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut format = Self { places: None, percent: false, signed: false, unit: None };
        let mut digits = String::new();
        for c in text.trim().chars() {
            match c {
                '%' => format.percent = true,
                '+' => format.signed = true,
                ',' | ' ' => {}
                c if c.is_ascii_digit() => digits.push(c),
                c => match UNITS.iter().find(|(unit, _)| *unit == c) {
                    Some(unit) => format.unit = Some(*unit),
                    None => return Err(format!("cannot read the format \"{text}\"")),
                },
            }
        }
        if !digits.is_empty() {
            let places = digits.parse().ok().filter(|places| *places <= 10);
            format.places = Some(places.ok_or("at most 10 places")?);
        }
        Ok(format)
    }

    /// The number in words of digits.
    pub(crate) fn write(&self, value: Exact) -> String {
        let power = if self.percent { 2 } else { 0 };
        let scaled = value.times(Exact::new(10_i128.pow(power), 0)).unwrap_or(value);
        let unit = self.unit.map_or(0, |(_, power)| power);
        let scaled = scaled.divided_by(Exact::new(10_i128.pow(unit), 0)).unwrap_or(scaled);
        let places = self.places.unwrap_or_else(|| usual_places(scaled));
        let mut text = grouped(&scaled.with_places(places));
        if self.signed && !text.starts_with('-') {
            text.insert(0, '+');
        }
        if let Some((unit, _)) = self.unit {
            text.push(unit);
        }
        if self.percent {
            text.push('%');
        }
        text
    }
}

/// Whole numbers without a point, others with two places, small ones with more.
fn usual_places(value: Exact) -> u32 {
    let exact = value.trimmed();
    match exact.scale() {
        scale @ 0..=2 => scale,
        scale if exact.abs() < Exact::new(1, 0) => scale.min(4),
        _ => 2,
    }
}

/// With a comma after each three digits.
pub(crate) fn grouped(number: &str) -> String {
    let (sign, digits) = match number.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", number),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let mut groups = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            groups.push(',');
        }
        groups.push(digit);
    }
    let point = if part.is_empty() { "" } else { "." };
    format!("{sign}{groups}{point}{part}")
}
