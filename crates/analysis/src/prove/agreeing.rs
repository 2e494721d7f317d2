//! The cells that a number agrees with: those that its sentence may mean, and those of another row
//! or column than it says.

use super::chance::{CELL_CHANCE_MAX, ChanceMeter};
use super::context::{MeantCells, SentenceContext};
use super::direction;
use super::evidence::{EvidenceCell, NumberEvidence};
use super::matching::{is_near, matches};
use super::tokens::WrittenNumber;

/// Rows of a result in which a cell proves a number though neither its row nor its column is named.
const FEW_ROWS: usize = 12;

/// The cells that agree with a number, and what the sentence says of them.
pub(super) struct AgreeingCells<'a> {
    /// By table.
    pub(super) meant: Vec<MeantCells>,
    /// Those that the sentence may mean, and whether chance alone would not find them.
    fitting: Vec<(&'a EvidenceCell, bool)>,
    /// Those of another row or column than the sentence says.
    pub(super) misplaced: Vec<&'a EvidenceCell>,
}

impl<'a> AgreeingCells<'a> {
    pub(super) fn find(
        number: &WrittenNumber,
        context: &SentenceContext<'_>,
        evidence: &'a NumberEvidence,
    ) -> Self {
        let meant: Vec<MeantCells> =
            evidence.tables.iter().map(|table| context.meant(number.at.start, table)).collect();
        let chances: Vec<std::cell::OnceCell<bool>> =
            evidence.tables.iter().map(|_| std::cell::OnceCell::new()).collect();
        let mut found = Self { meant: Vec::new(), fitting: Vec::new(), misplaced: Vec::new() };
        for cell in evidence.cells.iter().filter(|cell| may_be(number, cell, evidence)) {
            let (table, meant) = (&evidence.tables[cell.table], &meant[cell.table]);
            if !meant.may_be_row(&table.rows[cell.row])
                || !meant.may_be_column(cell.column)
                || direction::contradicts(number, context, cell.value, &table.columns[cell.column])
            {
                found.misplaced.push(cell);
                continue;
            }
            let is_part = table.rows.len() > 1 && table.is_label.contains(&true);
            let is_unnamed = || !meant.names_row() || !context.clause_names_row(table);
            if is_part && context.is_total() && is_unnamed() {
                continue;
            }
            if context.names_other_single(cell, evidence) {
                found.misplaced.push(cell);
                continue;
            }
            let is_few = table.rows.len() <= FEW_ROWS;
            let is_named = meant.names_row() || meant.names_column(cell.column);
            let is_rare = || {
                *chances[cell.table].get_or_init(|| is_rare(number, meant, evidence, cell.table))
            };
            found.fitting.push((cell, is_few || is_named && is_rare()));
        }
        found.meant = meant;
        found
    }

    pub(super) fn proof(&self, which: impl Fn(&EvidenceCell) -> bool) -> Option<&'a EvidenceCell> {
        let mut fitting = self.fitting.iter().filter(|(_, is_proof)| *is_proof);
        fitting.find(|(cell, _)| which(cell)).map(|(cell, _)| *cell)
    }
}

/// Whether few of the cells that the sentence may mean would agree with a number like this.
fn is_rare(
    number: &WrittenNumber,
    meant: &MeantCells,
    evidence: &NumberEvidence,
    table: usize,
) -> bool {
    let own = &evidence.tables[table];
    let rows: Vec<bool> = own.rows.iter().map(|row| meant.may_be_row(row)).collect();
    if meant.names_row() && rows.iter().filter(|is_meant| **is_meant).count() <= FEW_ROWS {
        return true;
    }
    let mut meter = ChanceMeter::new(number);
    let cells = evidence.cells.iter().filter(|cell| cell.table == table && rows[cell.row]);
    cells.for_each(|cell| meter.take(cell.value));
    meter.chance() <= CELL_CHANCE_MAX
}

/// Whether a cell is the written number without any rounding.
pub(super) fn says_exactly(number: &WrittenNumber, cell: &EvidenceCell) -> bool {
    number.value.abs() == cell.value.abs()
}

/// A cell that the sentence may mean and that the number nearly says.
pub(super) fn near<'a>(
    number: &WrittenNumber,
    cells: &AgreeingCells<'_>,
    evidence: &'a NumberEvidence,
) -> Option<&'a EvidenceCell> {
    evidence.cells.iter().find(|cell| {
        let table = &evidence.tables[cell.table];
        let meant = &cells.meant[cell.table];
        let is_meant = table.rows.len() <= FEW_ROWS || meant.names_row();
        number.value.significant_digits() > 1
            && is_meant
            && meant.may_be_row(&table.rows[cell.row])
            && is_near(number, cell.rough, &table.columns[cell.column])
    })
}

/// First roughly, which is fast, then exactly.
pub(super) fn may_be(
    number: &WrittenNumber,
    cell: &EvidenceCell,
    evidence: &NumberEvidence,
) -> bool {
    let column = &evidence.tables[cell.table].columns[cell.column];
    let is_far = number.value.significant_digits() > 2
        && !number.rough
        && !is_near(number, cell.rough, column);
    !is_far && matches(number, cell.value, column)
}
