//! Words of rise and fall: "grew by 2.2 %" does not say −2.2 %.

use super::context::SentenceContext;
use super::tokens::WrittenNumber;
use crate::exact::Exact;

/// Words for more; the last ones are Chinese.
const RISES: [&str; 20] = [
    "grew",
    "grow",
    "grows",
    "grown",
    "growth",
    "rose",
    "rise",
    "rises",
    "risen",
    "increase",
    "increased",
    "increases",
    "gained",
    "climbed",
    "up",
    "\u{589e}",
    "\u{4e0a}\u{5347}",
    "\u{63d0}\u{9ad8}",
    "\u{4e0a}\u{6da8}",
    "\u{6da8}",
];

/// Words for less; the last ones are Chinese.
const FALLS: [&str; 30] = [
    "fell",
    "fall",
    "falls",
    "fallen",
    "falling",
    "drop",
    "dropped",
    "drops",
    "decline",
    "declined",
    "declines",
    "decrease",
    "decreased",
    "decreases",
    "shrank",
    "down",
    "lower",
    "less",
    "lost",
    "loss",
    "negative",
    "minus",
    "slowed",
    "not",
    "\u{4e0b}\u{964d}",
    "\u{51cf}\u{5c11}",
    "\u{964d}\u{4f4e}",
    "\u{8dcc}",
    "\u{8d1f}",
    "\u{4e0b}\u{6ed1}",
];

/// What columns of changes are called; the last ones are Chinese.
const CHANGES: [&str; 10] = [
    "growth",
    "change",
    "delta",
    "diff",
    "yoy",
    "mom",
    "\u{540c}\u{6bd4}",
    "\u{73af}\u{6bd4}",
    "\u{589e}",
    "\u{53d8}\u{5316}",
];

/// Words for a loss; the last ones are Chinese.
const LOSSES: [&str; 4] = ["lost", "loss", "losses", "\u{4e8f}\u{635f}"];

/// What columns of gains are called; the last one is Chinese.
const GAINS: [&str; 3] = ["profit", "gain", "\u{5229}\u{6da6}"];

/// Whether the words about a number without a sign say the opposite of the sign that was found.
pub(super) fn contradicts(
    number: &WrittenNumber,
    context: &SentenceContext<'_>,
    found: Exact,
    column: &str,
) -> bool {
    if number.signed || found.is_zero() {
        return false;
    }
    let column = column.to_lowercase();
    let is_called = |names: &[&str]| names.iter().any(|name| column.contains(name));
    if found < Exact::ZERO {
        return is_called(&CHANGES) && context.clause_has(&RISES) && !context.clause_has(&FALLS);
    }
    // A growth that "fell to 3 %" is a growth still.
    let is_by = context.is_by() || number.percent && !context.is_level();
    is_called(&CHANGES) && is_by && context.clause_has(&FALLS[..18]) && !context.clause_has(&RISES)
        || is_called(&GAINS) && context.clause_has(&LOSSES)
}
