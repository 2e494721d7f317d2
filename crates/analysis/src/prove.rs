//! Number provenance: every number of a report comes from a cell of a result, or is marked.
//!
//! ```text
//!   {{q1.r2.revenue|0}} ──insert──► 4,813         inserted: cannot be wrong
//!   4,813, 18.4%, 1.2 million ──compare──► a cell, or worked out of cells
//!                                         └─ none: it stays, marked and counted
//! ```

mod agreeing;
mod chance;
mod context;
mod derive;
mod direction;
mod evidence;
mod expr;
mod literals;
mod matching;
mod names;
mod pairs;
mod sizes;
mod tokens;

pub(crate) use evidence::{NumberEvidence, rows_compared};
pub(crate) use expr::{grouped, results_named};

use crate::exact::Exact;
use agreeing::{AgreeingCells, may_be, near, says_exactly};
use context::SentenceContext;
use evidence::EvidenceCell;
use expr::NumberFormat;
use matching::matches;
use names::KnownNames;
use serde::{Deserialize, Serialize};
use sizes::size;
use std::ops::Range;
use tokens::{NumberForm, WrittenNumber, numbers_of};

/// What is known of a number of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NumberStatus {
    /// It was inserted from a result.
    Inserted,
    /// It is a number of a result.
    Found,
    /// It follows from numbers of results.
    Derived,
    /// The person wrote it in the question: that is no source, and nothing to mark.
    Asked,
    /// It is written in words that are too small or too vague to be compared.
    InWords,
    /// Nothing brought it forth.
    NoSource,
    /// It is a number of a result, but of another row or column than the sentence says.
    Misplaced,
    /// It is near to a number of a result, but not that number rounded.
    Misrounded,
    /// It is a number of two or more results, and the sentence does not say of which.
    Ambiguous,
    /// It comes from a query or from code that only gives back what was written into it.
    Constant,
    /// Its reference leads nowhere.
    BadReference,
}

impl NumberStatus {
    /// Whether it has a source.
    #[must_use]
    pub fn is_proven(self) -> bool {
        matches!(self, Self::Inserted | Self::Found | Self::Derived)
    }

    /// Whether it should have a source and has none: it is marked.
    #[must_use]
    pub fn is_marked(self) -> bool {
        !self.is_proven() && !matches!(self, Self::Asked | Self::InWords)
    }
}

/// A number of a report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReportNumber {
    /// As it is written.
    pub text: String,
    /// What is known of it.
    pub status: NumberStatus,
    /// The expression over results that gives it; for a misplaced one, where it really stands.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// The exact value there.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// Where it is in the text of the report, in bytes.
    #[serde(default)]
    pub at: Range<usize>,
    /// The chart in whose title it stands; none for one of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chart: Option<u32>,
}

/// How many of some numbers have a source, and how many need none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct NumberCounts {
    /// Numbers that have a source.
    pub proven: usize,
    /// Numbers that have to have one.
    pub numbers: usize,
    /// Numbers of the question.
    pub asked: usize,
    /// Numbers in words that are not compared.
    pub in_words: usize,
}

impl NumberCounts {
    /// Counts numbers.
    #[must_use]
    pub fn of(numbers: &[ReportNumber]) -> Self {
        let count = |is: fn(NumberStatus) -> bool| {
            numbers.iter().filter(|number| is(number.status)).count()
        };
        Self {
            proven: count(NumberStatus::is_proven),
            numbers: count(|status| status.is_proven() || status.is_marked()),
            asked: count(|status| status == NumberStatus::Asked),
            in_words: count(|status| status == NumberStatus::InWords),
        }
    }
}

/// A report with its numbers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProvenText {
    /// The text, with numbers in place of references.
    pub text: String,
    /// Its numbers, in order.
    pub numbers: Vec<ReportNumber>,
}

impl ProvenText {
    /// How many numbers have a source.
    #[must_use]
    pub fn proven(&self) -> usize {
        self.numbers.iter().filter(|number| number.status.is_proven()).count()
    }
}

/// Inserts what is referred to, and checks all other numbers.
pub(crate) fn prove(report: &str, question: &str, evidence: &NumberEvidence) -> ProvenText {
    let (text, mut numbers) = insert(report, evidence);
    let written = numbers_of(&text);
    for number in numbers.iter_mut().filter(|number| number.status == NumberStatus::Inserted) {
        if is_of_another_row(number, &text, &written, evidence) {
            number.status = NumberStatus::Misplaced;
        } else if is_changed(number, &written, evidence) {
            number.status = NumberStatus::NoSource;
        }
        // With the unit or the percent sign beside it, as a reader sees it.
        if let Some(own) = written
            .iter()
            .find(|own| own.at.start <= number.at.start && number.at.end <= own.at.end)
        {
            number.at = own.at.clone();
            text[number.at.clone()].clone_into(&mut number.text);
        }
    }
    let asked = numbers_of(question);
    let names = KnownNames::new(&text, question, evidence);
    for number in &written {
        let is_inserted =
            |known: &ReportNumber| known.at.start < number.at.end && number.at.start < known.at.end;
        if numbers.iter().any(is_inserted) || names.has(number) {
            continue;
        }
        let context = SentenceContext::new(&text, number, &written);
        let (status, source, value) = check(number, &context, evidence, &asked);
        let (at, written) = (number.at.clone(), text[number.at.clone()].to_owned());
        let value = value.map(|value| value.trimmed().to_string()).unwrap_or_default();
        numbers.push(ReportNumber { text: written, status, source, value, at, chart: None });
    }
    numbers.sort_by_key(|number| number.at.start);
    pairs::doubt(&mut numbers, &text, &written, evidence);
    ProvenText { text, numbers }
}

/// Whether what stands beside an inserted number makes another one of it: further digits, a unit.
fn is_changed(number: &ReportNumber, written: &[WrittenNumber], evidence: &NumberEvidence) -> bool {
    let is_own =
        |own: &&WrittenNumber| own.at.start < number.at.end && number.at.start < own.at.end;
    let Some(own) = written.iter().find(is_own) else { return false };
    let Ok(found) = expr::evaluate(&number.source, evidence) else { return true };
    let column = number.source.rsplit('.').next().unwrap_or_default();
    own.at != number.at && !matches(own, found.value, column)
}

/// Whether a number was inserted from another row or column than its sentence says. What follows
/// from several rows is not judged.
fn is_of_another_row(
    number: &ReportNumber,
    text: &str,
    written: &[WrittenNumber],
    evidence: &NumberEvidence,
) -> bool {
    let is_own =
        |own: &&WrittenNumber| own.at.start < number.at.end && number.at.start < own.at.end;
    let Some(own) = written.iter().find(is_own) else { return false };
    let Ok(found) = expr::evaluate(&number.source, evidence) else { return false };
    let cells = found.cells;
    let Some((table, row, column)) = cells.first().copied() else { return false };
    if cells.iter().any(|(other, line, _)| (*other, *line) != (table, row)) {
        return false;
    }
    let context = SentenceContext::new(text, own, written);
    let meant = context.meant(own.at.start, &evidence.tables[table]);
    let is_plain = cells.len() == 1;
    !meant.may_be_row(&evidence.tables[table].rows[row]) || is_plain && !meant.may_be_column(column)
}

/// Replaces every `{{…}}`.
fn insert(report: &str, evidence: &NumberEvidence) -> (String, Vec<ReportNumber>) {
    let (mut text, mut numbers, mut rest) = (String::new(), Vec::new(), report);
    while let Some(start) = rest.find("{{") {
        let Some(end) = rest[start..].find("}}").map(|end| start + end) else { break };
        text.push_str(&rest[..start]);
        let inside = rest[start + 2..end].trim();
        rest = &rest[end + 2..];
        let (expression, format) = inside.split_once('|').unwrap_or((inside, ""));
        let found = NumberFormat::parse(format)
            .and_then(|format| Ok((expr::evaluate(expression, evidence)?, format)));
        let at = text.len();
        let (status, source, value) = match found {
            Ok((found, format)) => {
                text.push_str(&format.write(found.value));
                let status = match found.unsound {
                    Some(_) => NumberStatus::NoSource,
                    None if found.is_constant => NumberStatus::Constant,
                    None => NumberStatus::Inserted,
                };
                (status, expression.trim().to_owned(), found.value.trimmed().to_string())
            }
            Err(_) if let Some(name) = evidence.text_of(inside) => {
                text.push_str(&as_words(name));
                continue;
            }
            // The reference stays, as text.
            Err(why) => {
                text.push_str(inside);
                (NumberStatus::BadReference, why, String::new())
            }
        };
        let (at, chart) = (at..text.len(), None);
        let written = text[at.clone()].to_owned();
        numbers.push(ReportNumber { text: written, status, source, value, at, chart });
    }
    text.push_str(rest);
    (text, numbers)
}

/// Text of the data within a report: it is no markup.
fn as_words(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut words = String::with_capacity(line.len());
    for c in line.chars() {
        match c {
            '<' => words.push_str("&lt;"),
            '[' | ']' | '|' | '`' | '\\' => words.extend(['\\', c]),
            c => words.push(c),
        }
    }
    words
}

type NumberFinding = (NumberStatus, String, Option<Exact>);

fn check(
    number: &WrittenNumber,
    context: &SentenceContext<'_>,
    evidence: &NumberEvidence,
    asked: &[WrittenNumber],
) -> NumberFinding {
    if number.form == NumberForm::Vague {
        return (NumberStatus::InWords, String::new(), None);
    }
    let cells = AgreeingCells::find(number, context, evidence);
    let as_cell = |status: NumberStatus, cell: &EvidenceCell| {
        (status, evidence.reference(cell), Some(cell.value))
    };
    if let Some(cell) = cells.proof(|cell| says_exactly(number, cell)) {
        return as_cell(NumberStatus::Found, cell);
    }
    if let Some((source, value)) = size(number, context, evidence) {
        return (NumberStatus::Found, source, Some(value));
    }
    if let Some(cell) = cells.proof(|_| true) {
        return as_cell(NumberStatus::Found, cell);
    }
    if let Some((source, value)) = derive::find(number, context, evidence) {
        return (NumberStatus::Derived, source, Some(value));
    }
    if let Some(cell) = cells.misplaced.first() {
        return as_cell(NumberStatus::Misplaced, cell);
    }
    let near = near(number, &cells, evidence);
    let of_named = near.filter(|cell| cells.meant[cell.table].names_row());
    let is_asked = |known: &&WrittenNumber| {
        known.value == number.value && known.percent == number.percent && known.unit == number.unit
    };
    if let Some(cell) = of_named {
        return as_cell(NumberStatus::Misrounded, cell);
    }
    if asked.iter().any(|known| is_asked(&known)) {
        return (NumberStatus::Asked, String::new(), None);
    }
    if let Some(cell) = near {
        return as_cell(NumberStatus::Misrounded, cell);
    }
    match evidence.constants.iter().find(|cell| may_be(number, cell, evidence)) {
        Some(cell) => as_cell(NumberStatus::Constant, cell),
        None => (NumberStatus::NoSource, String::new(), None),
    }
}

/// Whether an expression still gives a written number.
pub(crate) fn still_holds(
    text: &str,
    source: &str,
    evidence: &NumberEvidence,
) -> Result<bool, String> {
    let found = expr::evaluate(source, evidence)?;
    if let Some(why) = found.unsound {
        return Err(why.to_owned());
    }
    if found.is_constant {
        return Err("it only gives back what was written into it".to_owned());
    }
    let value = found.value;
    let column = source.rsplit('.').next().unwrap_or_default();
    Ok(match numbers_of(text).as_slice() {
        [number] => matches(number, value, column),
        _ => false,
    })
}

/// What an expression gives, if it gives anything.
pub(crate) fn value_of(source: &str, evidence: &NumberEvidence) -> Option<Exact> {
    expr::evaluate(source, evidence).ok().map(|found| found.value.trimmed())
}

#[cfg(test)]
#[path = "prove_tests.rs"]
mod tests;
