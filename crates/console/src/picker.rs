//! One row of several, chosen by a person at a terminal.

use crate::{screen, terminal};
use crossterm::event::{Event, KeyEventKind, read};
use everloop_terminal::{PickEffect, PickList, PickRow, Screen, clip_line};

/// A row that can be picked.
pub struct PickerRow {
    /// What is picked.
    pub label: String,
    /// What helps to tell it from the others: a time, a folder, a state.
    pub hint: String,
}

/// Asks which row the person wants. `None` if they want none.
///
/// Where the terminal cannot be drawn on, the rows are numbered and a number is asked for.
pub async fn pick(title: &str, rows: &[PickerRow]) -> Option<usize> {
    let can_draw = terminal::person_is_there() && terminal::answers_are_seen();
    if !can_draw || terminal::is_dumb() || rows.is_empty() {
        return pick_by_number(title, rows).await;
    }
    let title = everloop_tools::clean(title.as_bytes());
    let clean = |text: &str| everloop_tools::clean(text.as_bytes()).replace('\n', " ");
    let row = |row: &PickerRow| PickRow { label: clean(&row.label), hint: clean(&row.hint) };
    let rows: Vec<PickRow> = rows.iter().map(row).collect();
    let _own = screen::suspend();
    tokio::task::spawn_blocking(move || pick_by_key(&title, &rows)).await.ok().flatten()
}

async fn pick_by_number(title: &str, rows: &[PickerRow]) -> Option<usize> {
    terminal::eprint_line(title);
    for (at, row) in rows.iter().enumerate() {
        terminal::eprint_line(&format!("{:>3}  {}  {}", at + 1, row.label, row.hint));
    }
    let line = terminal::ask("› ").await?;
    let number: usize = line.parse().ok()?;
    (1..=rows.len()).contains(&number).then(|| number - 1)
}

/// Gives the terminal back, also when something goes wrong in between.
struct PickerKeys;

impl Drop for PickerKeys {
    fn drop(&mut self) {
        let _ = crossterm::terminal::disable_raw_mode();
    }
}

fn pick_by_key(title: &str, rows: &[PickRow]) -> Option<usize> {
    crossterm::terminal::enable_raw_mode().ok()?;
    let _keys = PickerKeys;
    let size = || crossterm::terminal::size().unwrap_or((80, 24));
    let mut screen = Screen::new(std::io::stdout(), size(), true);
    let mut list = PickList::new(rows);
    let chosen = loop {
        screen.resize(size());
        let (columns, _) = screen.room();
        let height = usize::from(size().1).saturating_sub(4);
        screen.set_live(title.lines().map(|line| clip_line(line, columns)).collect());
        let shown = list.list(columns, height, terminal::has_color());
        screen.set_input(Some(list.input(columns)), shown);
        screen.draw().ok()?;
        match read().ok()? {
            Event::Key(key) if key.kind != KeyEventKind::Release => match list.press(key) {
                PickEffect::Open => {}
                PickEffect::Chosen(at) => break Some(at),
                PickEffect::Closed => break None,
            },
            _ => {}
        }
    };
    screen.erase().ok()?;
    chosen
}
