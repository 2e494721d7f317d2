//! Tables with aligned columns in any script.

use everloop_types::one_line;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Rows under heads. The last column takes the remaining width.
#[derive(Debug, Clone)]
pub struct TextTable {
    rows: Vec<Vec<String>>,
    /// Columns that give way to the last one, the first of them first.
    optional: Vec<usize>,
}

/// Columns between two cells.
const GAP: usize = 2;

/// The last column is never cut below this.
const LAST_MIN: usize = 10;

/// Other columns give way to this much of the last one.
const LAST_WANTED: usize = 36;

impl TextTable {
    /// An empty table.
    #[must_use]
    pub fn new(heads: Vec<String>) -> Self {
        Self { rows: vec![heads], optional: Vec::new() }
    }

    /// Lets these columns give way, in this order, where the last one would be cut short. Columns
    /// without any value are left out in any case.
    pub fn may_drop(&mut self, columns: &[usize]) {
        self.optional = columns.to_vec();
    }

    /// The table without columns that are empty, or that have to give way.
    fn fitted(&self, columns: Option<usize>) -> Vec<Vec<String>> {
        let count = self.rows.first().map_or(0, Vec::len);
        let is_used = |at: &usize| {
            *at + 1 == count
                || self.rows.iter().skip(1).any(|row| row.get(*at).is_some_and(|c| !c.is_empty()))
        };
        let mut kept: Vec<usize> = (0..count).filter(is_used).collect();
        let widest = |at: usize| {
            self.rows
                .iter()
                .filter_map(|row| row.get(at))
                .map(|cell| width(cell))
                .max()
                .unwrap_or(0)
        };
        for column in &self.optional {
            let before: usize =
                kept.iter().filter(|at| **at + 1 < count).map(|at| widest(*at) + GAP).sum();
            let wanted = widest(count.saturating_sub(1)).min(LAST_WANTED);
            if columns.is_some_and(|columns| columns < before + wanted) {
                kept.retain(|at| at != column);
            }
        }
        let pick = |row: &Vec<String>| {
            kept.iter().map(|at| row.get(*at).cloned().unwrap_or_default()).collect()
        };
        self.rows.iter().map(pick).collect()
    }

    /// Adds a row of as many cells as there are heads.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells.into_iter().map(|cell| one_line(&cell)).collect());
    }

    /// The table as lines, clipped to the width of the screen if there is one.
    #[must_use]
    pub fn show(&self, columns: Option<usize>) -> String {
        let rows = self.fitted(columns);
        let count = rows.iter().map(Vec::len).max().unwrap_or(0);
        let widest =
            |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| width(cell)).max();
        let widths: Vec<usize> = (0..count).map(|at| widest(at).unwrap_or(0)).collect();
        let before: usize = widths.iter().take(count.saturating_sub(1)).map(|w| w + GAP).sum();
        let last = columns.map(|columns| columns.saturating_sub(before).max(LAST_MIN));
        let line = |row: &Vec<String>| {
            let mut line = String::new();
            for (at, cell) in row.iter().enumerate() {
                if at + 1 < count {
                    line.push_str(&padded(cell, widths[at] + GAP));
                } else {
                    line.push_str(&last.map_or_else(|| cell.clone(), |most| clipped(cell, most)));
                }
            }
            line.trim_end().to_owned()
        };
        rows.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

/// Columns that a text takes.
pub(super) fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// The text with spaces after it, so that it takes `columns`.
#[must_use]
pub fn padded(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(width(text));
    format!("{text}{}", " ".repeat(missing))
}

/// As much of a text as fits into `columns`, with a mark if it was clipped.
#[must_use]
pub fn clipped(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut cut = String::new();
    let mut taken = 1;
    for grapheme in text.graphemes(true) {
        taken += width(grapheme);
        if taken > columns {
            break;
        }
        cut.push_str(grapheme);
    }
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::{TextTable, clipped, width};

    #[test]
    fn columns_stand_under_each_other_in_any_script() {
        let mut table = TextTable::new(vec!["编号".into(), "标签".into(), "内容".into()]);
        table.row(vec!["1".into(), "work".into(), "交周报".into()]);
        table.row(vec!["12".into(), "家务".into(), "buy milk".into()]);
        let shown = table.show(None);
        let starts: Vec<usize> = shown
            .lines()
            .zip(["内容", "交周报", "buy milk"])
            .map(|(line, last)| width(&line[..line.find(last).unwrap()]))
            .collect();
        assert_eq!(starts, [12, 12, 12], "{shown}");
    }

    #[test]
    fn a_cut_text_fits_and_keeps_whole_characters() {
        for columns in 1..12 {
            let cut = clipped("交周报👨‍👩‍👧e\u{301}xyz", columns);
            assert!(width(&cut) <= columns, "{cut} in {columns}");
        }
        assert_eq!(clipped("交周报", 6), "交周报");
        assert_eq!(clipped("交周报", 5), "交周…");
        assert_eq!(clipped("交周报", 4), "交…");
    }
}
