//! Two numbers of one sentence that could be swapped without anybody seeing it: they stand in two
//! rows of one column of a short result, and the sentence names neither.

use super::context::{SentenceContext, sentence};
use super::evidence::NumberEvidence;
use super::tokens::WrittenNumber;
use super::{NumberStatus, ReportNumber, expr};
use std::collections::BTreeMap;
use std::ops::Range;

/// Words of sentences that say by themselves which number is which; the last ones are Chinese.
const ORDERED: [&str; 24] = [
    "between",
    "range",
    "ranges",
    "ranged",
    "from",
    "highest",
    "lowest",
    "largest",
    "smallest",
    "most",
    "least",
    "maximum",
    "minimum",
    "max",
    "min",
    "top",
    "best",
    "respectively",
    "first",
    "then",
    "\u{6700}",
    "\u{81f3}",
    "\u{5230}",
    "\u{5206}\u{522b}",
];

/// Where a number stands: its table and column, and the sentence.
type PairPlace = (usize, usize, usize);

/// Marks such numbers.
pub(super) fn doubt(
    numbers: &mut [ReportNumber],
    text: &str,
    written: &[WrittenNumber],
    evidence: &NumberEvidence,
) {
    let mut found: BTreeMap<PairPlace, Vec<(usize, usize)>> = BTreeMap::new();
    for (index, number) in numbers.iter().enumerate() {
        if let Some((place, row)) = unnamed(number, text, written, evidence) {
            found.entry(place).or_default().push((index, row));
        }
    }
    for pair in found.into_values() {
        let first = pair.first().map(|(_, row)| *row);
        if pair.iter().any(|(_, row)| Some(*row) != first) {
            pair.iter().for_each(|(index, _)| numbers[*index].status = NumberStatus::Ambiguous);
        }
    }
}

/// The place and the row of a number that was found in a row which nothing names.
fn unnamed(
    number: &ReportNumber,
    text: &str,
    written: &[WrittenNumber],
    evidence: &NumberEvidence,
) -> Option<(PairPlace, usize)> {
    let is_found = number.status == NumberStatus::Found;
    let own = written.iter().find(|own| own.at == number.at).filter(|_| is_found)?;
    let cells = expr::evaluate(&number.source, evidence).ok()?.cells;
    let [(table, row, column)] = cells.as_slice() else { return None };
    let result = &evidence.tables[*table];
    let context = SentenceContext::new(text, own, written);
    let has_names = result.is_label.contains(&true) && result.rows.len() > 1;
    if !has_names || context.names_rows(&evidence.tables) || context.says(&ORDERED) {
        return None;
    }
    let range = sentence(text, &own.at);
    // "East fell most. It sold 10, after 20." is about East.
    let before = before(text, &range).is_some_and(|at| {
        let earlier = written.iter().find(|number| number.at.start >= at.start);
        earlier.is_some_and(|number| {
            let number = WrittenNumber { at: at.start..at.start, ..number.clone() };
            SentenceContext::new(text, &number, written).names_rows(&evidence.tables)
        })
    });
    (!before).then_some(((*table, *column, range.start), *row))
}

/// The sentence before this one, in the same paragraph.
fn before(text: &str, range: &Range<usize>) -> Option<Range<usize>> {
    let earlier = text[..range.start].trim_end_matches([' ', '.', '!', '?']);
    let last = earlier.chars().next_back().filter(|c| *c != '\n')?;
    let at = earlier.len() - last.len_utf8();
    Some(sentence(text, &(at..at)))
}
