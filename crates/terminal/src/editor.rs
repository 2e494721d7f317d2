//! The line editor: takes keys, says what came of them. It draws nothing and waits for nothing, so
//! it is the same while a run works and while nothing does.

use crate::buffer::{CursorMove, EditBuffer};
use crate::history::InputHistory;
use crate::layout::{InputLayout, lay_out_input};
use crate::menu::{CompletionMenu, CompletionSource};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What came of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditorEffect {
    /// Nothing.
    Nothing,
    /// The line, the cursor or the menu.
    Changed,
    /// This was sent; the line is empty again.
    Send(String),
    /// Ctrl-C; the line is empty again.
    Interrupt {
        /// Whether it was empty before.
        was_empty: bool,
    },
    /// Esc, with nothing open that it would close.
    Escape,
    /// Ctrl-D on an empty line.
    End,
    /// Ctrl-G, or Ctrl-X Ctrl-E: the line belongs into the person's own editor.
    OpenEditor,
    /// Ctrl-T.
    ShowPlan,
    /// Ctrl-O.
    Unfold,
    /// Ctrl-L.
    ClearScreen,
}

/// The words that the editor shows.
pub struct EditorTexts {
    /// Stands before what is searched in the history.
    pub search: String,
    /// Stands for a folded paste of so many lines.
    pub pasted: Box<dyn Fn(usize) -> String + Send>,
}

/// One line of input, which may have several rows.
pub struct LineEditor {
    buffer: EditBuffer,
    history: InputHistory,
    /// How far back in the history the line is, and what stood there before.
    browsed: Option<(usize, String)>,
    search: Option<LineSearch>,
    menu: Option<CompletionMenu>,
    /// Whether Esc has closed the menu, until the text changes.
    is_menu_closed: bool,
    /// Whether Ctrl-X was the last key.
    after_ctrl_x: bool,
}

/// A search in the history.
#[derive(Debug, Default)]
struct LineSearch {
    words: String,
    /// How far back the entry is that is shown.
    found: Option<usize>,
}

impl LineEditor {
    /// An empty line.
    #[must_use]
    pub fn new(history: InputHistory) -> Self {
        Self {
            buffer: EditBuffer::default(),
            history,
            browsed: None,
            search: None,
            menu: None,
            is_menu_closed: false,
            after_ctrl_x: false,
        }
    }

    /// Whether nothing is typed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// What is typed.
    #[must_use]
    pub fn content(&self) -> String {
        self.buffer.content()
    }

    /// Replaces what is typed.
    pub fn set(&mut self, text: &str) {
        self.leave_modes();
        self.buffer.set(text);
    }

    /// Takes what is typed away.
    pub fn take(&mut self) -> String {
        self.leave_modes();
        self.buffer.take()
    }

    /// Remembers an input.
    pub fn remember(&mut self, entry: &str) {
        self.history.push(entry);
    }

    /// Puts text in at the cursor, as if it had been typed.
    pub fn insert(&mut self, text: &str) {
        self.buffer.insert(text);
    }

    /// Takes a paste. Its line ends send nothing.
    pub fn paste(&mut self, text: &str, source: &dyn CompletionSource) -> EditorEffect {
        self.search = None;
        self.buffer.paste(text);
        self.refresh_menu(source);
        EditorEffect::Changed
    }

    /// Takes a key.
    pub fn press(&mut self, key: KeyEvent, source: &dyn CompletionSource) -> EditorEffect {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        if std::mem::take(&mut self.after_ctrl_x) && control && key.code == KeyCode::Char('e') {
            return EditorEffect::OpenEditor;
        }
        if self.search.is_some() && self.search_key(key) {
            return EditorEffect::Changed;
        }
        if self.menu.is_some()
            && let Some(effect) = self.menu_key(key, source)
        {
            return effect;
        }
        let before = (self.buffer.text().to_owned(), self.buffer.cursor());
        let effect = if control {
            self.control_key(key)
        } else if key.modifiers.contains(KeyModifiers::ALT) {
            self.alt_key(key)
        } else {
            self.plain_key(key, source)
        };
        if effect != EditorEffect::Nothing
            && (before.0 != self.buffer.text() || before.1 != self.buffer.cursor())
        {
            self.is_menu_closed = false;
            let opens = key.code != KeyCode::Tab && self.browsed.is_none();
            if opens {
                self.refresh_menu(source);
            }
        }
        effect
    }

    fn plain_key(&mut self, key: KeyEvent, source: &dyn CompletionSource) -> EditorEffect {
        match key.code {
            KeyCode::Enter if key.modifiers.contains(KeyModifiers::SHIFT) => {
                self.buffer.insert("\n");
            }
            KeyCode::Enter => return self.enter(),
            KeyCode::Char(c) => {
                self.browsed = None;
                self.buffer.insert_typed(c);
            }
            KeyCode::Backspace => self.buffer.delete(CursorMove::Left),
            KeyCode::Delete => self.buffer.delete(CursorMove::Right),
            KeyCode::Left => self.buffer.move_cursor(CursorMove::Left),
            KeyCode::Right => self.buffer.move_cursor(CursorMove::Right),
            KeyCode::Home => self.buffer.move_cursor(CursorMove::LineStart),
            KeyCode::End => self.buffer.move_cursor(CursorMove::LineEnd),
            KeyCode::Up => self.up(),
            KeyCode::Down => self.down(),
            KeyCode::Tab => self.complete(source),
            KeyCode::Esc => return EditorEffect::Escape,
            _ => return EditorEffect::Nothing,
        }
        EditorEffect::Changed
    }

    fn control_key(&mut self, key: KeyEvent) -> EditorEffect {
        match key.code {
            KeyCode::Char('c') => {
                let was_empty = self.buffer.is_empty();
                self.take();
                return EditorEffect::Interrupt { was_empty };
            }
            KeyCode::Char('d') if self.buffer.is_empty() => return EditorEffect::End,
            KeyCode::Char('d') => self.buffer.delete(CursorMove::Right),
            KeyCode::Char('g') => return EditorEffect::OpenEditor,
            KeyCode::Char('x') => self.after_ctrl_x = true,
            KeyCode::Char('t') => return EditorEffect::ShowPlan,
            KeyCode::Char('o') => return EditorEffect::Unfold,
            KeyCode::Char('l') => return EditorEffect::ClearScreen,
            KeyCode::Char('j') | KeyCode::Enter => self.buffer.insert("\n"),
            KeyCode::Char('a') => self.buffer.move_cursor(CursorMove::LineStart),
            KeyCode::Char('e') => self.buffer.move_cursor(CursorMove::LineEnd),
            KeyCode::Char('b') => self.buffer.move_cursor(CursorMove::Left),
            KeyCode::Char('f') => self.buffer.move_cursor(CursorMove::Right),
            KeyCode::Left => self.buffer.move_cursor(CursorMove::WordLeft),
            KeyCode::Right => self.buffer.move_cursor(CursorMove::WordRight),
            KeyCode::Char('p') => self.up(),
            KeyCode::Char('n') => self.down(),
            KeyCode::Char('h') => self.buffer.delete(CursorMove::Left),
            KeyCode::Char('w') | KeyCode::Backspace => self.buffer.cut(CursorMove::WordLeft),
            KeyCode::Char('u') => self.buffer.cut(CursorMove::LineStart),
            KeyCode::Char('k') => self.buffer.cut(CursorMove::LineEnd),
            KeyCode::Char('y') => self.buffer.put_cut(),
            KeyCode::Char('r') => self.search = Some(LineSearch::default()),
            // A terminal sends the same byte for Ctrl-_, Ctrl-/ and Ctrl-7.
            KeyCode::Char('_' | '/' | '7') => self.buffer.undo(),
            _ => return EditorEffect::Nothing,
        }
        EditorEffect::Changed
    }

    fn alt_key(&mut self, key: KeyEvent) -> EditorEffect {
        match key.code {
            KeyCode::Enter => self.buffer.insert("\n"),
            KeyCode::Char('b') | KeyCode::Left => self.buffer.move_cursor(CursorMove::WordLeft),
            KeyCode::Char('f') | KeyCode::Right => self.buffer.move_cursor(CursorMove::WordRight),
            KeyCode::Char('d') | KeyCode::Delete => self.buffer.cut(CursorMove::WordRight),
            KeyCode::Backspace => self.buffer.cut(CursorMove::WordLeft),
            _ => return EditorEffect::Nothing,
        }
        EditorEffect::Changed
    }

    fn enter(&mut self) -> EditorEffect {
        let text = self.buffer.text();
        if text.ends_with('\\') && self.buffer.cursor() == text.len() {
            self.buffer.delete(CursorMove::Left);
            self.buffer.insert("\n");
            return EditorEffect::Changed;
        }
        EditorEffect::Send(self.take())
    }

    /// The line above, or the entry before.
    fn up(&mut self) {
        if self.browsed.is_none() && self.buffer.move_line(false) {
            return;
        }
        let back = self.browsed.as_ref().map_or(0, |(back, _)| back + 1);
        let Some(entry) = self.history.back(back).map(str::to_owned) else { return };
        let before = match self.browsed.take() {
            Some((_, before)) => before,
            None => self.buffer.content(),
        };
        self.buffer.set(&entry);
        self.browsed = Some((back, before));
    }

    /// The line below, or the entry after; behind the last one stands what was typed.
    fn down(&mut self) {
        let Some((back, before)) = self.browsed.take() else {
            self.buffer.move_line(true);
            return;
        };
        let entry = back.checked_sub(1).and_then(|back| self.history.back(back));
        match entry.map(str::to_owned) {
            Some(entry) => {
                self.buffer.set(&entry);
                self.browsed = Some((back - 1, before));
            }
            None => self.buffer.set(&before),
        }
    }

    /// A key while the history is searched; `false` if it ends the search and means something else.
    fn search_key(&mut self, key: KeyEvent) -> bool {
        let Some(mut search) = self.search.take() else { return false };
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let from = match key.code {
            KeyCode::Char('r') if control => search.found.map_or(0, |found| found + 1),
            KeyCode::Char('c' | 'g') if control => return true,
            KeyCode::Esc => return true,
            KeyCode::Char(c) if !control => {
                search.words.push(c);
                search.found.unwrap_or(0)
            }
            KeyCode::Backspace => {
                search.words.pop();
                0
            }
            _ => {
                let entry = search.found.and_then(|found| self.history.back(found));
                if let Some(entry) = entry.map(str::to_owned) {
                    self.buffer.set(&entry);
                }
                return matches!(key.code, KeyCode::Enter | KeyCode::Tab);
            }
        };
        let found = self.history.find(&search.words, from).map(|(found, _)| found);
        search.found = found.or(search.found.filter(|_| control));
        self.search = Some(search);
        true
    }

    /// A key while the menu is open; none if the menu has no use for it.
    fn menu_key(&mut self, key: KeyEvent, source: &dyn CompletionSource) -> Option<EditorEffect> {
        let menu = self.menu.as_mut()?;
        let is_plain = !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        match key.code {
            KeyCode::Down => menu.move_choice(true),
            KeyCode::Up | KeyCode::BackTab => menu.move_choice(false),
            KeyCode::Tab => self.accept(source),
            KeyCode::Esc => {
                self.menu = None;
                self.is_menu_closed = true;
            }
            KeyCode::Enter if is_plain && !key.modifiers.contains(KeyModifiers::SHIFT) => {
                let typed = &self.buffer.text()[menu.from()..self.buffer.cursor()];
                if !menu.takes_enter(typed) {
                    return None;
                }
                self.accept(source);
            }
            _ => return None,
        }
        Some(EditorEffect::Changed)
    }

    /// Puts the chosen proposal into the line.
    fn accept(&mut self, source: &dyn CompletionSource) {
        let Some(menu) = self.menu.take() else { return };
        let Some(chosen) = menu.chosen() else { return };
        let at_end = self.buffer.cursor() == self.buffer.text().len();
        let space = if chosen.is_open || !at_end { "" } else { " " };
        let value = format!("{}{space}", chosen.value);
        self.buffer.replace(menu.from(), self.buffer.cursor(), &value);
        self.refresh_menu(source);
    }

    /// The Tab key without a menu: the only proposal, or what all have in common and the menu.
    fn complete(&mut self, source: &dyn CompletionSource) {
        let cursor = self.buffer.cursor();
        let completions = source.complete(&self.buffer.text()[..cursor]);
        let from = completions.from;
        let shared = common_start(completions.items.iter().map(|item| item.value.as_str()));
        let is_only = completions.items.len() == 1;
        self.menu = CompletionMenu::open(completions);
        if is_only {
            self.accept(source);
        } else if shared.len() > cursor - from
            && shared.starts_with(&self.buffer.text()[from..cursor])
        {
            self.buffer.replace(from, cursor, &shared);
        }
    }

    fn refresh_menu(&mut self, source: &dyn CompletionSource) {
        self.menu = None;
        if self.is_menu_closed || self.buffer.is_empty() {
            return;
        }
        let completions = source.complete(&self.buffer.text()[..self.buffer.cursor()]);
        if completions.opens {
            self.menu = CompletionMenu::open(completions);
        }
    }

    fn leave_modes(&mut self) {
        self.browsed = None;
        self.search = None;
        self.menu = None;
        self.is_menu_closed = false;
    }

    /// The menu, if it is open.
    #[must_use]
    pub fn menu(&self) -> Option<&CompletionMenu> {
        self.menu.as_ref()
    }

    /// Its rows on a terminal of so many columns, with `held` behind what is typed.
    #[must_use]
    pub fn rows(
        &self,
        prompt: &str,
        held: &str,
        room: (usize, usize),
        texts: &EditorTexts,
    ) -> InputLayout {
        if let Some(search) = &self.search {
            let prompt = format!("{}{} › ", texts.search, search.words);
            let entry = search.found.and_then(|found| self.history.back(found));
            let entry = entry.unwrap_or_default();
            return lay_out_input(&prompt, (entry, entry.len()), room, &|_| None);
        }
        let label = |c| self.buffer.folded_lines(c).map(|lines| (texts.pasted)(lines));
        let text = self.buffer.text();
        if held.is_empty() {
            return lay_out_input(prompt, (text, self.buffer.cursor()), room, &label);
        }
        lay_out_input(prompt, (held, held.len()), room, &label)
    }
}

fn common_start<'a>(mut values: impl Iterator<Item = &'a str>) -> String {
    let Some(first) = values.next() else { return String::new() };
    let mut shared = first;
    for value in values {
        let both = shared.char_indices().zip(value.chars());
        let end = both.take_while(|((_, a), b)| a == b).last();
        shared = &shared[..end.map_or(0, |((at, c), _)| at + c.len_utf8())];
    }
    shared.to_owned()
}

#[cfg(test)]
#[path = "editor_tests.rs"]
mod tests;
