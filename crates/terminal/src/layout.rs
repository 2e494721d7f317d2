//! The rows of an input, and where the cursor is in them.

use crate::width::{display_width, grapheme_width};
use unicode_segmentation::UnicodeSegmentation;

/// What stands before the second row and those after it.
const INDENT: &str = "  ";

/// An input as rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InputLayout {
    /// The rows; none is wider than the terminal.
    pub rows: Vec<String>,
    /// The row of the cursor.
    pub cursor_row: usize,
    /// Its column.
    pub cursor_column: usize,
}

/// Lays out a prompt and the text behind it. `label` gives the words for characters that stand for
/// something else. Where there are more than `rows_max` rows, those around the cursor are kept.
#[must_use]
pub fn lay_out_input(
    prompt: &str,
    (text, cursor): (&str, usize),
    (columns, rows_max): (usize, usize),
    label: &dyn Fn(char) -> Option<String>,
) -> InputLayout {
    let mut layout = InputLayout { rows: vec![prompt.to_owned()], ..InputLayout::default() };
    let mut column = display_width(prompt);
    for (at, grapheme) in text.grapheme_indices(true) {
        if at == cursor {
            layout.mark_cursor(column);
        }
        if grapheme == "\n" {
            layout.rows.push(INDENT.to_owned());
            column = INDENT.len();
            continue;
        }
        let words = grapheme.chars().next().and_then(label);
        let shown = words.as_deref().unwrap_or(if grapheme == "\t" { "    " } else { grapheme });
        for piece in shown.graphemes(true) {
            let width = grapheme_width(piece);
            if column + width > columns && column > INDENT.len() {
                layout.rows.push(INDENT.to_owned());
                column = INDENT.len();
                if at == cursor && layout.cursor_row + 2 == layout.rows.len() && words.is_none() {
                    layout.mark_cursor(column);
                }
            }
            if let Some(row) = layout.rows.last_mut() {
                row.push_str(piece);
            }
            column += width;
        }
    }
    if cursor >= text.len() {
        if column + 1 > columns.max(1) && column > INDENT.len() {
            layout.rows.push(INDENT.to_owned());
            column = INDENT.len();
        }
        layout.mark_cursor(column);
    }
    layout.keep_around_cursor(rows_max.max(1))
}

impl InputLayout {
    fn mark_cursor(&mut self, column: usize) {
        self.cursor_row = self.rows.len() - 1;
        self.cursor_column = column;
    }

    fn keep_around_cursor(mut self, rows_max: usize) -> Self {
        let excess = self.rows.len().saturating_sub(rows_max);
        let first = (self.cursor_row + 1).saturating_sub(rows_max).min(excess);
        self.rows.drain(..first);
        self.rows.truncate(rows_max);
        self.cursor_row -= first;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lay_out(text: &str, cursor: usize, columns: usize, rows: usize) -> InputLayout {
        lay_out_input("你 › ", (text, cursor), (columns, rows), &|_| None)
    }

    #[test]
    fn a_long_line_wraps_before_a_wide_character_that_does_not_fit() {
        let layout = lay_out("一二三四", 12, 10, 9);
        assert_eq!(layout.rows, ["你 › 一二", "  三四"]);
        assert_eq!((layout.cursor_row, layout.cursor_column), (1, 6));
        let layout = lay_out("一二三四", 6, 10, 9);
        assert_eq!((layout.cursor_row, layout.cursor_column), (1, 2));
    }

    #[test]
    fn several_lines_and_only_those_around_the_cursor() {
        let layout = lay_out("a\nb\nc\nd", 0, 40, 2);
        assert_eq!(layout.rows, ["你 › a", "  b"]);
        assert_eq!((layout.cursor_row, layout.cursor_column), (0, 5));
        let layout = lay_out("a\nb\nc\nd", 7, 40, 2);
        assert_eq!(layout.rows, ["  c", "  d"]);
        assert_eq!((layout.cursor_row, layout.cursor_column), (1, 3));
    }

    #[test]
    fn a_label_stands_for_a_folded_paste() {
        let label = |c| (c == 'X').then(|| "[pasted]".to_owned());
        let layout = lay_out_input("> ", ("aXb", 3), (40, 9), &label);
        assert_eq!(layout.rows, ["> a[pasted]b"]);
        assert_eq!(layout.cursor_column, 12);
    }
}
