//! What may come next in a line: the names of commands, files, and so on.

use crate::width::{clip_line, display_width};

/// Rows of the menu that are shown at once.
const ROWS_MAX: usize = 8;

/// Columns of the values at most.
const VALUE_COLUMNS_MAX: usize = 32;

/// One proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// What stands in the line afterwards.
    pub value: String,
    /// What it is, for people.
    pub hint: String,
    /// Whether something may follow directly: then no space is put behind it.
    pub is_open: bool,
}

/// The proposals for a place in a line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completions {
    /// Where the part begins that a proposal replaces; it ends at the cursor.
    pub from: usize,
    /// Whether the menu opens without the Tab key.
    pub opens: bool,
    /// Whether the return key takes the first proposal where the person has not moved in the menu.
    pub enter_takes: bool,
    /// The proposals, best first.
    pub items: Vec<Completion>,
}

/// Knows what may come next.
pub trait CompletionSource {
    /// Proposals for the text up to the cursor.
    fn complete(&self, before_cursor: &str) -> Completions;
}

/// Proposes nothing.
#[derive(Debug, Clone, Copy)]
pub struct NoCompletions;

impl CompletionSource for NoCompletions {
    fn complete(&self, _: &str) -> Completions {
        Completions::default()
    }
}

/// The menu, while it is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletionMenu {
    completions: Completions,
    chosen: usize,
    /// Whether the person has moved in it.
    is_moved: bool,
}

impl CompletionMenu {
    pub(crate) fn open(completions: Completions) -> Option<Self> {
        (!completions.items.is_empty()).then_some(Self { completions, chosen: 0, is_moved: false })
    }

    pub(crate) fn move_choice(&mut self, down: bool) {
        let count = self.completions.items.len();
        self.chosen = if down { self.chosen + 1 } else { self.chosen + count - 1 } % count;
        self.is_moved = true;
    }

    pub(crate) fn from(&self) -> usize {
        self.completions.from
    }

    pub(crate) fn chosen(&self) -> Option<&Completion> {
        self.completions.items.get(self.chosen)
    }

    /// Whether the return key takes a proposal, where this was typed.
    pub(crate) fn takes_enter(&self, typed: &str) -> bool {
        let is_whole = self.completions.items.iter().any(|item| item.value == typed);
        self.is_moved || self.completions.enter_takes && !is_whole
    }

    /// Its rows, with a mark before the one that is chosen.
    #[must_use]
    pub fn rows(&self, columns: usize, color: bool) -> Vec<String> {
        let items = &self.completions.items;
        let widest = items.iter().map(|item| display_width(&item.value)).max().unwrap_or(0);
        let value_columns = widest.min(VALUE_COLUMNS_MAX).min(columns / 2);
        let first = (self.chosen + 1).saturating_sub(ROWS_MAX);
        let shown = items.iter().enumerate().skip(first).take(ROWS_MAX);
        let row = |(at, item): (usize, &Completion)| {
            let is_chosen = at == self.chosen;
            let value = clip_line(&item.value, value_columns);
            let gap = " ".repeat(value_columns.saturating_sub(display_width(&value)));
            let mark = if is_chosen { "›" } else { " " };
            let room = columns.saturating_sub(value_columns + 4);
            let hint = clip_line(&item.hint, room);
            match (color, is_chosen) {
                (true, true) => format!("\u{1b}[1m{mark} {value}{gap}\u{1b}[0m  {hint}"),
                (true, false) => format!("{mark} {value}{gap}  \u{1b}[2m{hint}\u{1b}[0m"),
                (false, _) => format!("{mark} {value}{gap}  {hint}"),
            }
        };
        let mut rows: Vec<String> = shown.map(row).collect();
        let hidden = items.len().saturating_sub(first + ROWS_MAX);
        if hidden > 0 {
            rows.push(format!("  … +{hidden}"));
        }
        rows.iter().map(|row| clip_line(row, columns)).collect()
    }
}
