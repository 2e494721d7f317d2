//! Rows of cells, as lines for a screen: the first column to the left, figures to the right.

use unicode_width::UnicodeWidthStr;

/// Columns between two cells.
const GAP: usize = 2;

/// The rows as lines. Widths are those of a screen, so wide characters stand under narrow ones.
pub(super) fn lines(rows: &[Vec<String>]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let cells = |at: usize| rows.iter().filter_map(move |row| row.get(at));
    let widths: Vec<usize> =
        (0..count).map(|at| cells(at).map(|cell| cell.width()).max().unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let cell = |(at, cell): (usize, &String)| {
            let room = " ".repeat(widths[at].saturating_sub(cell.width()));
            match at {
                0 => format!("{cell}{room}"),
                _ => format!("{}{room}{cell}", " ".repeat(GAP)),
            }
        };
        row.iter().enumerate().map(cell).collect::<String>().trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::lines;
    use unicode_width::UnicodeWidthStr;

    #[test]
    fn figures_end_under_each_other_in_any_script() {
        let row = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect();
        let shown = lines(&[row(&["循环", "模型调用"]), row(&["react", "12"])]);
        let widths: Vec<usize> = shown.lines().map(UnicodeWidthStr::width).collect();
        assert_eq!(widths, [15, 15], "{shown}");
        assert!(shown.ends_with("react        12"), "{shown}");
    }
}
