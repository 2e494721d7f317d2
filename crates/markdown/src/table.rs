//! Tables: columns as wide as their cells, narrower and wrapped where the line is short, and a list
//! of fields where even that does not fit.

use crate::inline;
use crate::paint::{Look, SpanLine, TerminalStyle, TextSpan};
use crate::wrap::{display_width, wrap};
use comrak::nodes::{Node, NodeValue, TableAlignment};

/// The narrowest column that is still read as one.
const NARROWEST: usize = 6;

/// A cell's spans.
type TableCell = Vec<TextSpan>;

/// Rows, beside the head, that say how wide the columns are. A longer table is shown row by row as
/// it comes.
pub(crate) const LAYOUT_ROWS: usize = 20;

/// The lines of a table.
pub(crate) fn lines(
    node: Node<'_>,
    alignments: &[TableAlignment],
    style: &TerminalStyle,
) -> Vec<SpanLine> {
    let rows: Vec<Vec<TableCell>> = node.children().map(|row| cells(row, style)).collect();
    let Some((head, body)) = rows.split_first() else { return Vec::new() };
    let layout = TableLayout::new(head, body, alignments, style);
    let mut lines = layout.head_lines(style);
    for (index, row) in body.iter().enumerate() {
        lines.extend(layout.row_lines(row, index == 0, style));
    }
    lines
}

/// How the rows of a table are laid out.
#[derive(Debug, Clone)]
pub(crate) struct TableLayout {
    head: Vec<TableCell>,
    /// The widths of the columns; none where they do not fit beside each other.
    widths: Option<Vec<usize>>,
    alignments: Vec<TableAlignment>,
}

impl TableLayout {
    fn new(
        head: &[TableCell],
        body: &[Vec<TableCell>],
        alignments: &[TableAlignment],
        style: &TerminalStyle,
    ) -> Self {
        let body = &body[..body.len().min(LAYOUT_ROWS)];
        let columns = body.iter().map(Vec::len).max().unwrap_or(0).max(head.len());
        let widest = |column: usize| {
            let rows = body.iter().map(Vec::as_slice).chain([head]);
            rows.filter_map(|row| row.get(column)).map(cell_width).max().unwrap_or(0).max(1)
        };
        let natural: Vec<usize> = (0..columns).map(widest).collect();
        let separators = 3 * columns.saturating_sub(1);
        let widths = fit(&natural, style.width.saturating_sub(separators));
        Self { head: head.to_vec(), widths, alignments: alignments.to_vec() }
    }

    /// The layout of the table that a node is the beginning of.
    pub(crate) fn of(
        node: Node<'_>,
        alignments: &[TableAlignment],
        style: &TerminalStyle,
    ) -> Option<Self> {
        let rows: Vec<Vec<TableCell>> = node.children().map(|row| cells(row, style)).collect();
        let (head, body) = rows.split_first()?;
        Some(Self::new(head, body, alignments, style))
    }

    /// The head and the rule below it.
    pub(crate) fn head_lines(&self, style: &TerminalStyle) -> Vec<SpanLine> {
        let Some(widths) = &self.widths else { return Vec::new() };
        let mut lines = grid_row(&self.head, widths, &self.alignments, style);
        lines.push(head_rule(widths, style));
        lines
    }

    /// One row.
    pub(crate) fn row(
        &self,
        row: Node<'_>,
        is_first: bool,
        style: &TerminalStyle,
    ) -> Vec<SpanLine> {
        self.row_lines(&cells(row, style), is_first, style)
    }

    fn row_lines(&self, row: &[TableCell], is_first: bool, style: &TerminalStyle) -> Vec<SpanLine> {
        match &self.widths {
            Some(widths) => grid_row(row, widths, &self.alignments, style),
            None => self.record(row, is_first, style),
        }
    }

    /// A row as a list of `head: cell`, where the columns do not fit beside each other.
    fn record(&self, row: &[TableCell], is_first: bool, style: &TerminalStyle) -> Vec<SpanLine> {
        let mut lines = if is_first { Vec::new() } else { vec![Vec::new()] };
        for (column, cell) in row.iter().enumerate() {
            let mut spans = self.head.get(column).cloned().unwrap_or_default();
            spans.push(TextSpan::plain(": "));
            spans.extend(cell.iter().cloned());
            lines.extend(wrap(&spans, style.width));
        }
        lines
    }
}

fn cells(row: Node<'_>, style: &TerminalStyle) -> Vec<TableCell> {
    let is_head = matches!(row.data().value, NodeValue::TableRow(true));
    let look = Look { bold: is_head, ..Look::default() };
    row.children().map(|cell| inline::spans(cell, look, style)).collect()
}

fn cell_width(cell: &TableCell) -> usize {
    cell.iter().map(|span| display_width(&span.text)).sum()
}

/// Widths that fit into the room: the widest columns give way first.
fn fit(natural: &[usize], room: usize) -> Option<Vec<usize>> {
    let mut widths = natural.to_vec();
    while widths.iter().sum::<usize>() > room {
        let widest = widths.iter_mut().max()?;
        if *widest <= NARROWEST {
            return None;
        }
        *widest -= 1;
    }
    Some(widths)
}

/// One row, as many lines high as its highest cell.
fn grid_row(
    row: &[TableCell],
    widths: &[usize],
    alignments: &[TableAlignment],
    style: &TerminalStyle,
) -> Vec<SpanLine> {
    let empty = Vec::new();
    let wrapped: Vec<Vec<SpanLine>> = widths
        .iter()
        .enumerate()
        .map(|(column, width)| wrap(row.get(column).unwrap_or(&empty), *width))
        .collect();
    let height = wrapped.iter().map(Vec::len).max().unwrap_or(1);
    let bar = if style.unicode { " │ " } else { " | " };
    let mut lines = Vec::new();
    for level in 0..height {
        let mut line = Vec::new();
        for (column, cell) in wrapped.iter().enumerate() {
            if column > 0 {
                line.push(TextSpan::new(bar, Look::DIM));
            }
            let part = cell.get(level).cloned().unwrap_or_default();
            let alignment = alignments.get(column).copied().unwrap_or(TableAlignment::None);
            line.extend(aligned(part, widths[column], alignment));
        }
        lines.push(line);
    }
    lines
}

fn aligned(cell: SpanLine, width: usize, alignment: TableAlignment) -> SpanLine {
    let free = width.saturating_sub(cell_width(&cell));
    let before = match alignment {
        TableAlignment::Right => free,
        TableAlignment::Center => free / 2,
        TableAlignment::Left | TableAlignment::None => 0,
    };
    let mut line = vec![TextSpan::plain(&" ".repeat(before))];
    line.extend(cell);
    line.push(TextSpan::plain(&" ".repeat(free - before)));
    line
}

fn head_rule(widths: &[usize], style: &TerminalStyle) -> SpanLine {
    let (line, cross) = if style.unicode { ("─", "─┼─") } else { ("-", "-+-") };
    let parts: Vec<String> = widths.iter().map(|width| line.repeat(*width)).collect();
    vec![TextSpan::new(&parts.join(cross), Look::DIM)]
}
