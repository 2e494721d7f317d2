//! Rows of cells, as lines for a screen: the first column to the left, figures to the right.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Columns between two cells.
const GAP: usize = 2;

/// A head is broken if it is wider than this and than the figures below it.
const HEAD: usize = 9;

/// The rows as lines, the first one as heads. Widths are terminal columns, so wide characters
/// align with narrow ones.
pub(super) fn lines(rows: &[Vec<String>]) -> String {
    let Some((heads, body)) = rows.split_first() else { return String::new() };
    let room = |at: usize| body.iter().filter_map(|row| row.get(at)).map(|cell| cell.width()).max();
    let broken = |(at, head): (usize, &String)| broken(head, room(at).unwrap_or(0).max(HEAD));
    let heads: Vec<Vec<String>> = heads.iter().enumerate().map(broken).collect();
    let height = heads.iter().map(Vec::len).max().unwrap_or(0);
    let line = |line: usize| {
        // Shorter heads are aligned at the bottom.
        let part = |head: &Vec<String>| (line + head.len()).checked_sub(height);
        heads.iter().map(|head| part(head).map_or(String::new(), |at| head[at].clone())).collect()
    };
    let all: Vec<Vec<String>> = (0..height).map(line).chain(body.iter().cloned()).collect();
    aligned(&all)
}

fn aligned(rows: &[Vec<String>]) -> String {
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

/// A head in lines of at most that width, broken at blanks and between wide characters.
fn broken(head: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in words(head) {
        let line = lines.last_mut().filter(|line| line.width() + word.trim_end().width() <= room);
        match line {
            Some(line) => line.push_str(word),
            None => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| line.trim_end().to_owned()).filter(|line| !line.is_empty()).collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_wide = |c: char| c.width() == Some(2);
    let is_end = move |c: char| c == ' ' || is_wide(c);
    text.split_inclusive(is_end)
}

#[cfg(test)]
mod tests {
    use super::{broken, lines};
    use unicode_width::UnicodeWidthStr;

    #[test]
    fn figures_end_under_each_other_in_any_script() {
        let row = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect();
        let shown = lines(&[row(&["循环", "模型调用"]), row(&["react", "12"])]);
        let widths: Vec<usize> = shown.lines().map(UnicodeWidthStr::width).collect();
        assert_eq!(widths, [15, 15], "{shown}");
        assert!(shown.ends_with("react        12"), "{shown}");
    }

    #[test]
    fn long_heads_take_several_lines_and_stand_at_the_bottom() {
        let row = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect();
        let shown = lines(&[row(&["Loop", "Model calls"]), row(&["react", "12"])]);
        assert_eq!(shown, "       Model\nLoop   calls\nreact     12");
        assert_eq!(broken("每次运行的模型调用", 9), ["每次运行", "的模型调", "用"]);
        assert_eq!(broken("Uncached input per run", 9), ["Uncached", "input per", "run"]);
    }
}
