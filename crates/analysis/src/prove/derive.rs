//! Numbers that a report works out of results: totals, shares, differences, ratios, changes.
//!
//! Only what a reader would work out is tried: within one column or one row, of rows that the
//! sentence names, of neighbours, or of results with a single row. What is tried is counted: where
//! an invented number would agree too easily, agreeing proves nothing.

use super::chance::{ChanceMeter, NAMED_CHANCE_MAX, OPEN_CHANCE_MAX};
use super::context::SentenceContext;
use super::evidence::{EvidenceTable, NumberEvidence};
use super::matching::matches;
use super::tokens::WrittenNumber;
use crate::exact::Exact;

/// Rows of a result from which numbers are worked out.
const ROWS_MAX: usize = 200;

/// Rows of a result whose rows are taken together without being named.
const OPEN_ROWS_MAX: usize = 12;

/// Single values that are taken together.
const SINGLES_MAX: usize = 20;

/// An expression and its worth.
type Derived = (String, Exact);

/// A cell as an operand.
#[derive(Clone)]
struct Operand {
    text: String,
    value: Exact,
}

/// The expression that a number was worked out by, if there is one.
pub(super) fn find(
    number: &WrittenNumber,
    context: &SentenceContext<'_>,
    evidence: &NumberEvidence,
) -> Option<Derived> {
    let words = DerivedWords::of(context, number);
    let mut named = Search::new(number, words);
    let mut open = Search::new(number, words);
    let mut tables: Vec<(Vec<usize>, &EvidenceTable)> = evidence
        .tables
        .iter()
        .filter(|table| table.rows.len() <= ROWS_MAX)
        .map(|table| (context.named_rows(table), table))
        .collect();
    // What is named most narrowly comes first: each further result makes agreeing easier.
    tables.sort_by_key(|(rows, table)| (rows.is_empty(), rows.len(), table.rows.len()));
    for (rows, table) in tables {
        let own = context.meant(number.at.start, table);
        let meant = rows.iter().filter(|row| own.may_be_row(&table.rows[**row])).copied();
        let scope = DerivationScope { table, meant: meant.collect(), rows, words };
        let numeric = (0..table.columns.len()).filter(|at| !table.is_label[*at]);
        let columns: Vec<usize> = numeric.collect();
        for column in &columns {
            in_column(&mut named, &mut open, &scope, *column);
        }
        in_rows(&mut named, &mut open, &scope, &columns);
        let proof = named.proof(NAMED_CHANCE_MAX).or_else(|| open.proof(OPEN_CHANCE_MAX));
        if proof.is_some() {
            return proof;
        }
    }
    across(&mut open, evidence);
    open.proof(OPEN_CHANCE_MAX)
}

/// A result, the rows of it that the sentence names, and what the sentence says of totals.
struct DerivationScope<'a> {
    table: &'a EvidenceTable,
    rows: Vec<usize>,
    /// Those of them that the number can belong to.
    meant: Vec<usize>,
    words: DerivedWords,
}

/// What a sentence says that a number is. One that names a row and speaks of no total is about that
/// row; a number that is not said to be a difference is none.
#[derive(Debug, Clone, Copy)]
struct DerivedWords {
    total: bool,
    mean: bool,
    difference: bool,
    ratio: bool,
}

/// Words for a total; the last ones are Chinese.
const TOTAL: [&str; 18] = [
    "total",
    "totals",
    "all",
    "sum",
    "together",
    "overall",
    "combined",
    "both",
    "and",
    "whole",
    "altogether",
    "every",
    "\u{5408}\u{8ba1}",
    "\u{603b}",
    "\u{5171}",
    "\u{5168}",
    "\u{7d2f}\u{8ba1}",
    "\u{548c}",
];

/// Words for a mean; the last one is Chinese.
const MEAN: [&str; 6] = ["average", "averages", "averaged", "mean", "typical", "\u{5747}"];

/// Words for a difference; the last ones are Chinese.
const DIFFERENCE: [&str; 63] = [
    "minus",
    "more",
    "less",
    "fewer",
    "difference",
    "differs",
    "gap",
    "lead",
    "leads",
    "ahead",
    "behind",
    "above",
    "below",
    "over",
    "under",
    "than",
    "by",
    "up",
    "down",
    "change",
    "changed",
    "rise",
    "rose",
    "risen",
    "fall",
    "fell",
    "fallen",
    "drop",
    "dropped",
    "decline",
    "declined",
    "decrease",
    "decreased",
    "increase",
    "increased",
    "grew",
    "growth",
    "gain",
    "gained",
    "lost",
    "loss",
    "lower",
    "higher",
    "extra",
    "short",
    "shortfall",
    "surplus",
    "spread",
    "range",
    "excess",
    "vs",
    "versus",
    "against",
    "\u{591a}",
    "\u{5c11}",
    "\u{5dee}",
    "\u{589e}",
    "\u{51cf}",
    "\u{964d}",
    "\u{5347}",
    "\u{6da8}",
    "\u{8dcc}",
    "\u{9ad8}",
];

/// Words for a ratio; the last ones are Chinese.
const RATIO: [&str; 18] = [
    "times", "fold", "x", "ratio", "per", "each", "every", "rate", "average", "averages", "mean",
    "unit", "multiple", "factor", "\u{500d}", "\u{6bcf}", "\u{5747}", "\u{6bd4}",
];

impl DerivedWords {
    fn of(context: &SentenceContext<'_>, number: &WrittenNumber) -> Self {
        Self {
            total: context.clause_has(&TOTAL) || number.percent,
            mean: context.clause_has(&MEAN),
            difference: context.clause_has(&DIFFERENCE) || number.percent || number.signed,
            ratio: number.percent || context.clause_has(&RATIO) || context.is_followed_by("x"),
        }
    }
}

/// What is compared with one number.
struct Search<'a> {
    number: &'a WrittenNumber,
    words: DerivedWords,
    meter: ChanceMeter,
    hit: Option<Derived>,
}

impl<'a> Search<'a> {
    fn new(number: &'a WrittenNumber, words: DerivedWords) -> Self {
        Self { number, words, meter: ChanceMeter::new(number), hit: None }
    }

    fn try_one(&mut self, found: Option<Derived>) {
        let Some(found) = found else { return };
        self.meter.take(found.1);
        if self.hit.is_none() && matches(self.number, found.1, "") {
            self.hit = Some(found);
        }
    }

    /// What people work out of two numbers, and say that it is.
    fn try_two(&mut self, one: &Operand, two: &Operand) {
        if self.words.difference {
            self.try_one(difference(one, two));
            self.try_one(difference(two, one));
            self.try_one(change(one, two));
            self.try_one(change(two, one));
        }
        if self.words.total {
            self.try_one(sum(one, two));
        }
        if self.words.ratio {
            self.try_one(ratio(one, two));
            self.try_one(ratio(two, one));
        }
    }

    fn proof(&self, chance_max: f64) -> Option<Derived> {
        self.hit.clone().filter(|_| self.meter.chance() <= chance_max)
    }
}

fn operand(table: &EvidenceTable, row: usize, column: usize) -> Option<Operand> {
    let value = table.rows[row][column].number()?;
    if table.is_constant_at(row, column) {
        return None;
    }
    Some(Operand { text: table.reference(row, column), value })
}

fn in_column(
    named: &mut Search<'_>,
    open: &mut Search<'_>,
    scope: &DerivationScope<'_>,
    column: usize,
) {
    let (table, rows) = (scope.table, &scope.rows);
    let operands: Vec<(usize, Operand)> =
        (0..table.rows.len()).filter_map(|row| Some((row, operand(table, row, column)?))).collect();
    if table.is_whole && operands.len() > 1 {
        of_whole(named, open, scope, column, &operands);
    }
    let own: Vec<&Operand> =
        operands.iter().filter(|(row, _)| rows.contains(row)).map(|(_, own)| own).collect();
    if own.len() > 1 && own.len() <= OPEN_ROWS_MAX {
        let value = own.iter().try_fold(Exact::ZERO, |sum, part| sum.plus(part.value));
        let text: Vec<&str> = own.iter().map(|part| part.text.as_str()).collect();
        if scope.words.total {
            named.try_one(value.map(|value| (text.join(" + "), value)));
        }
        for (at, one) in own.iter().enumerate() {
            own.iter().skip(at + 1).for_each(|two| named.try_two(one, two));
        }
    }
    // A number of one digit fits too much.
    let is_short = open.number.value.significant_digits() < 2;
    let is_pair = operands.len() == 2;
    if !is_short && (rows.is_empty() || is_pair) {
        for pair in operands.windows(2) {
            open.try_two(&pair[0].1, &pair[1].1);
        }
    }
}

/// Totals, means, ends and shares of a whole column.
fn of_whole(
    named: &mut Search<'_>,
    open: &mut Search<'_>,
    scope: &DerivationScope<'_>,
    column: usize,
    operands: &[(usize, Operand)],
) {
    let (table, rows) = (scope.table, &scope.rows);
    let reference = format!("{}.{}", table.name, table.column_reference(column));
    let values = || operands.iter().map(|(_, own)| own.value);
    let Some(sum) = values().try_fold(Exact::ZERO, Exact::plus) else { return };
    let total = Operand { text: format!("sum({reference})"), value: sum };
    let mean = sum.divided_by(Exact::new(operands.len() as i128, 0));
    if rows.is_empty() || scope.words.total {
        open.try_one(Some((total.text.clone(), sum)));
    }
    if rows.is_empty() || scope.words.mean {
        open.try_one(mean.map(|mean| (format!("avg({reference})"), mean)));
    }
    if rows.is_empty() {
        open.try_one(values().max().map(|value| (format!("max({reference})"), value)));
        open.try_one(values().min().map(|value| (format!("min({reference})"), value)));
    }
    for (row, own) in operands {
        match rows.as_slice() {
            [] => open.try_one(ratio(own, &total)),
            _ if scope.meant.contains(row) => named.try_one(ratio(own, &total)),
            _ => {}
        }
    }
}

fn in_rows<'a>(
    named: &mut Search<'a>,
    open: &mut Search<'a>,
    scope: &DerivationScope<'_>,
    columns: &[usize],
) {
    let table = scope.table;
    let all: Vec<usize> = (0..table.rows.len()).collect();
    let (search, rows) = match scope.rows.as_slice() {
        // Without a name, only a result of few rows is tried.
        [] if all.len() > OPEN_ROWS_MAX || open.number.value.significant_digits() < 2 => return,
        [] => (open, all.as_slice()),
        _ => (named, scope.meant.as_slice()),
    };
    for row in rows {
        let own: Vec<Operand> =
            columns.iter().filter_map(|column| operand(table, *row, *column)).collect();
        for (at, one) in own.iter().enumerate() {
            own.iter().skip(at + 1).for_each(|two| search.try_two(one, two));
        }
    }
}

/// Results with one row stand for themselves.
fn across(open: &mut Search<'_>, evidence: &NumberEvidence) {
    if open.number.value.significant_digits() < 2 {
        return;
    }
    let single = evidence.tables.iter().filter(|table| table.rows.len() == 1);
    let own: Vec<Operand> = single
        .flat_map(|table| {
            let numeric = (0..table.columns.len()).filter(|at| !table.is_label[*at]);
            numeric.filter_map(|column| operand(table, 0, column)).collect::<Vec<_>>()
        })
        .take(SINGLES_MAX)
        .collect();
    for (at, one) in own.iter().enumerate() {
        own.iter().skip(at + 1).for_each(|two| open.try_two(one, two));
    }
}

fn difference(one: &Operand, two: &Operand) -> Option<Derived> {
    Some((format!("{} - {}", one.text, two.text), one.value.minus(two.value)?))
}

fn sum(one: &Operand, two: &Operand) -> Option<Derived> {
    Some((format!("{} + {}", one.text, two.text), one.value.plus(two.value)?))
}

/// From the first to the second, in parts of the first.
fn change(from: &Operand, to: &Operand) -> Option<Derived> {
    let value = to.value.minus(from.value)?.divided_by(from.value)?;
    Some((format!("({} - {}) / {}", to.text, from.text, from.text), value))
}

fn ratio(one: &Operand, two: &Operand) -> Option<Derived> {
    Some((format!("{} / {}", one.text, two.text), one.value.divided_by(two.value)?))
}
