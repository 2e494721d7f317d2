//! A list to choose from: arrows move, typing filters, the return key takes, Esc takes nothing.

use crate::buffer::EditBuffer;
use crate::layout::{InputLayout, lay_out_input};
use crate::width::{clip_line, display_width};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Rows of the list that are shown at once.
const ROWS_MAX: usize = 12;

/// A row that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PickRow {
    /// What is chosen.
    pub label: String,
    /// What helps to tell it from the others.
    pub hint: String,
}

/// What came of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PickEffect {
    /// The list goes on.
    Open,
    /// The row with this index was chosen.
    Chosen(usize),
    /// None was.
    Closed,
}

/// The list, while it is open.
#[derive(Debug)]
pub struct PickList<'a> {
    rows: &'a [PickRow],
    typed: EditBuffer,
    /// Which of the rows that match is chosen.
    at: usize,
}

impl<'a> PickList<'a> {
    /// The first row is chosen.
    #[must_use]
    pub fn new(rows: &'a [PickRow]) -> Self {
        Self { rows, typed: EditBuffer::default(), at: 0 }
    }

    /// Takes a key.
    pub fn press(&mut self, key: KeyEvent) -> PickEffect {
        let count = self.matching().len();
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Esc => return PickEffect::Closed,
            KeyCode::Char('c' | 'd') if control => return PickEffect::Closed,
            KeyCode::Enter => {
                if let Some(chosen) = self.matching().get(self.at) {
                    return PickEffect::Chosen(*chosen);
                }
            }
            KeyCode::Down | KeyCode::Tab => self.at = (self.at + 1) % count.max(1),
            KeyCode::Up | KeyCode::BackTab => self.at = (self.at + count.max(1) - 1) % count.max(1),
            KeyCode::PageDown => self.at = (self.at + ROWS_MAX).min(count.saturating_sub(1)),
            KeyCode::PageUp => self.at = self.at.saturating_sub(ROWS_MAX),
            KeyCode::Char('n') if control => self.at = (self.at + 1) % count.max(1),
            KeyCode::Char('p') if control => self.at = (self.at + count.max(1) - 1) % count.max(1),
            KeyCode::Char('u') if control => self.filter(""),
            KeyCode::Char(c) if !control => {
                let typed = format!("{}{c}", self.typed.text());
                self.filter(&typed);
            }
            KeyCode::Backspace => {
                let mut typed = self.typed.text().to_owned();
                typed.pop();
                self.filter(&typed);
            }
            _ => {}
        }
        PickEffect::Open
    }

    fn filter(&mut self, typed: &str) {
        self.typed.set(typed);
        self.at = 0;
    }

    /// The rows in which every typed word occurs.
    fn matching(&self) -> Vec<usize> {
        let typed = self.typed.text().to_lowercase();
        let fits = |row: &PickRow| {
            let text = format!("{} {}", row.label, row.hint).to_lowercase();
            typed.split_whitespace().all(|word| text.contains(word))
        };
        let rows = self.rows.iter().enumerate();
        rows.filter(|(_, row)| fits(row)).map(|(at, _)| at).collect()
    }

    /// The input line with what was typed to filter.
    #[must_use]
    pub fn input(&self, columns: usize) -> InputLayout {
        let typed = self.typed.text();
        lay_out_input("› ", (typed, typed.len()), (columns, 1), &|_| None)
    }

    /// The rows of the list around the chosen one.
    #[must_use]
    pub fn list(&self, columns: usize, height: usize, color: bool) -> Vec<String> {
        let matching = self.matching();
        let shown_max = ROWS_MAX.min(height.max(1));
        let widest = matching.iter().map(|at| display_width(&self.rows[*at].label)).max();
        let hints = matching.iter().map(|at| display_width(&self.rows[*at].hint)).max();
        let room = columns.saturating_sub(hints.unwrap_or(0).min(columns / 2) + 4);
        let label_columns = widest.unwrap_or(0).min(room);
        let first = (self.at + 1).saturating_sub(shown_max);
        let row = |(at, index): (usize, &usize)| {
            let row = &self.rows[*index];
            let label = clip_line(&row.label, label_columns);
            let gap = " ".repeat(label_columns.saturating_sub(display_width(&label)));
            let hint = clip_line(&row.hint, columns.saturating_sub(label_columns + 4));
            match (at == self.at, color) {
                (true, true) => format!("\u{1b}[1m› {label}{gap}\u{1b}[0m  {hint}"),
                (true, false) => format!("› {label}{gap}  {hint}"),
                (false, true) => format!("  {label}{gap}  \u{1b}[2m{hint}\u{1b}[0m"),
                (false, false) => format!("  {label}{gap}  {hint}"),
            }
        };
        let mut rows: Vec<String> =
            matching.iter().enumerate().skip(first).take(shown_max).map(row).collect();
        let hidden = matching.len().saturating_sub(first + shown_max);
        if hidden > 0 {
            rows.push(format!("  … +{hidden}"));
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(labels: &[&str]) -> Vec<PickRow> {
        let row = |label: &&str| PickRow { label: (*label).to_owned(), hint: "今天".to_owned() };
        labels.iter().map(row).collect()
    }

    fn press(list: &mut PickList<'_>, code: KeyCode) -> PickEffect {
        list.press(KeyEvent::new(code, KeyModifiers::NONE))
    }

    #[test]
    fn arrows_move_typing_filters_and_the_index_is_that_of_the_whole_list() {
        let rows = rows(&["first goal", "second goal", "第三个"]);
        let mut list = PickList::new(&rows);
        press(&mut list, KeyCode::Down);
        assert_eq!(press(&mut list, KeyCode::Enter), PickEffect::Chosen(1));
        press(&mut list, KeyCode::Char('三'));
        assert_eq!(list.list(40, 9, false), ["› 第三个  今天"]);
        assert_eq!(press(&mut list, KeyCode::Enter), PickEffect::Chosen(2));
        press(&mut list, KeyCode::Char('x'));
        assert_eq!(press(&mut list, KeyCode::Enter), PickEffect::Open);
        assert_eq!(press(&mut list, KeyCode::Esc), PickEffect::Closed);
    }

    #[test]
    fn no_row_is_wider_than_the_terminal() {
        let rows = rows(&["一二三四五六七八九十一二三四五六七八九十", "b"]);
        let list = PickList::new(&rows);
        assert!(list.list(30, 9, false).iter().all(|row| display_width(row) <= 30));
    }
}
