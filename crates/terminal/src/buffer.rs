//! The text of an input line, with a cursor: moves, deletes, undo. Everything goes by characters as
//! people see them, so that neither a Chinese character nor an emoji is ever torn.

use unicode_segmentation::UnicodeSegmentation;

/// Steps that can be undone.
const UNDO_MAX: usize = 200;

/// A paste of at least so many lines is shown folded.
const FOLD_LINES: usize = 10;

/// So is one of at least so many bytes.
const FOLD_BYTES: usize = 2_000;

/// The first of the characters that stand for folded pastes. Unicode gives them no meaning.
const FOLD_BASE: u32 = 0x10_0000;

/// The last one.
const FOLD_LAST: u32 = 0x10_fffd;

/// What was typed so far.
#[derive(Debug, Default)]
pub struct EditBuffer {
    text: String,
    /// A byte position between two characters.
    cursor: usize,
    /// What was cut last.
    cut: String,
    undo: Vec<(String, usize)>,
    /// Whether the last change was a typed letter: a word is undone at once.
    is_typing: bool,
    /// Folded pastes; each stands in the text as one character.
    folds: Vec<String>,
}

/// Where a move leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CursorMove {
    Left,
    Right,
    WordLeft,
    WordRight,
    LineStart,
    LineEnd,
}

impl EditBuffer {
    /// The text as it is edited; a folded paste is one character of it.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The byte position of the cursor.
    #[must_use]
    pub fn cursor(&self) -> usize {
        self.cursor
    }

    /// Whether nothing was typed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The text with the pastes that are folded.
    #[must_use]
    pub fn content(&self) -> String {
        let mut out = String::with_capacity(self.text.len());
        for c in self.text.chars() {
            match self.folded(c) {
                Some(paste) => out.push_str(paste),
                None => out.push(c),
            }
        }
        out
    }

    /// Lines of the paste that this character stands for.
    #[must_use]
    pub fn folded_lines(&self, c: char) -> Option<usize> {
        self.folded(c).map(|paste| paste.lines().count())
    }

    fn folded(&self, c: char) -> Option<&str> {
        let index = u32::from(c).checked_sub(FOLD_BASE)?;
        self.folds.get(usize::try_from(index).ok()?).map(String::as_str)
    }

    /// Replaces the whole text; the cursor stands behind it.
    pub fn set(&mut self, text: &str) {
        self.remember();
        self.text = cleaned(text);
        self.cursor = self.text.len();
    }

    /// Takes the whole text away, without a way back.
    pub fn take(&mut self) -> String {
        let content = self.content();
        let cut = std::mem::take(&mut self.cut);
        *self = Self { cut, ..Self::default() };
        content
    }

    pub(crate) fn insert_typed(&mut self, c: char) {
        let starts_word = c.is_whitespace();
        if !self.is_typing || starts_word {
            self.remember();
        }
        self.insert_raw(&cleaned(c.encode_utf8(&mut [0; 4])));
        self.is_typing = !starts_word;
    }

    pub(crate) fn insert(&mut self, text: &str) {
        self.remember();
        self.insert_raw(&cleaned(text));
    }

    /// Puts in what was pasted; folded, if it is long.
    pub(crate) fn paste(&mut self, text: &str) {
        let text = cleaned(text);
        if text.lines().count() < FOLD_LINES && text.len() < FOLD_BYTES {
            return self.insert(&text);
        }
        let next = u32::try_from(self.folds.len()).ok().map(|count| FOLD_BASE + count);
        match next.filter(|code| *code <= FOLD_LAST).and_then(char::from_u32) {
            Some(stand_in) => {
                self.folds.push(text);
                self.remember();
                self.insert_raw(stand_in.encode_utf8(&mut [0; 4]));
            }
            None => self.insert(&text),
        }
    }

    /// Replaces what is between two byte positions.
    pub(crate) fn replace(&mut self, from: usize, to: usize, with: &str) {
        self.remember();
        self.text.replace_range(from..to, &cleaned(with));
        self.cursor = from + cleaned(with).len();
    }

    fn insert_raw(&mut self, text: &str) {
        self.text.insert_str(self.cursor, text);
        self.cursor += text.len();
    }

    pub(crate) fn move_cursor(&mut self, to: CursorMove) {
        self.is_typing = false;
        self.cursor = self.target(to);
    }

    /// Deletes up to where the move leads.
    pub(crate) fn delete(&mut self, to: CursorMove) {
        let (from, to) = self.span(to);
        if from < to {
            self.remember();
            self.text.replace_range(from..to, "");
            self.cursor = from;
        }
    }

    /// The same, and what was there can be put in again. At the end of a line its end goes too.
    pub(crate) fn cut(&mut self, to: CursorMove) {
        let (from, mut until) = self.span(to);
        if from == until && to == CursorMove::LineEnd {
            until = self.target(CursorMove::Right);
        }
        if from < until {
            self.remember();
            self.cut = self.text[from..until].to_owned();
            self.text.replace_range(from..until, "");
            self.cursor = from;
        }
    }

    /// Puts in what was cut last.
    pub(crate) fn put_cut(&mut self) {
        if !self.cut.is_empty() {
            self.remember();
            let cut = self.cut.clone();
            self.insert_raw(&cut);
        }
    }

    /// Takes the last change back.
    pub(crate) fn undo(&mut self) {
        self.is_typing = false;
        if let Some((text, cursor)) = self.undo.pop() {
            self.text = text;
            self.cursor = cursor;
        }
    }

    /// Moves to the line above or below; `false` if there is none.
    pub(crate) fn move_line(&mut self, down: bool) -> bool {
        let start = self.target(CursorMove::LineStart);
        let column = self.text[start..self.cursor].graphemes(true).count();
        let other = if down {
            let end = self.target(CursorMove::LineEnd);
            if end == self.text.len() {
                return false;
            }
            end + 1
        } else {
            if start == 0 {
                return false;
            }
            self.text[..start - 1].rfind('\n').map_or(0, |at| at + 1)
        };
        let line = self.text[other..].split('\n').next().unwrap_or_default();
        let ahead: usize = line.graphemes(true).take(column).map(str::len).sum();
        self.cursor = other + ahead;
        self.is_typing = false;
        true
    }

    fn span(&self, to: CursorMove) -> (usize, usize) {
        let other = self.target(to);
        (self.cursor.min(other), self.cursor.max(other))
    }

    fn target(&self, to: CursorMove) -> usize {
        let (before, after) = self.text.split_at(self.cursor);
        match to {
            CursorMove::Left => before.grapheme_indices(true).next_back().map_or(0, |(at, _)| at),
            CursorMove::Right => self.cursor + after.graphemes(true).next().map_or(0, str::len),
            CursorMove::WordLeft => {
                let words = before.split_word_bound_indices().rev();
                words.skip_while(|(_, word)| !is_word(word)).map(|(at, _)| at).next().unwrap_or(0)
            }
            CursorMove::WordRight => {
                let mut words = after.split_word_bound_indices();
                let word = words.find(|(_, word)| is_word(word));
                self.cursor + word.map_or(after.len(), |(at, word)| at + word.len())
            }
            CursorMove::LineStart => before.rfind('\n').map_or(0, |at| at + 1),
            CursorMove::LineEnd => after.find('\n').map_or(self.text.len(), |at| self.cursor + at),
        }
    }

    fn remember(&mut self) {
        self.is_typing = false;
        if self.undo.len() == UNDO_MAX {
            self.undo.remove(0);
        }
        self.undo.push((self.text.clone(), self.cursor));
    }
}

fn is_word(piece: &str) -> bool {
    piece.chars().any(|c| c.is_alphanumeric() || !c.is_ascii() && !c.is_whitespace())
}

/// The text with plain line ends, and without controls that a terminal would obey.
fn cleaned(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let keeps = |c: &char| matches!(c, '\n' | '\t') || !c.is_control() && !is_stand_in(*c);
    text.chars().filter(keeps).collect()
}

fn is_stand_in(c: char) -> bool {
    (FOLD_BASE..=FOLD_LAST).contains(&u32::from(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(text: &str) -> EditBuffer {
        let mut buffer = EditBuffer::default();
        buffer.set(text);
        buffer
    }

    #[test]
    fn a_family_an_accent_and_a_chinese_character_are_one_character_each() {
        let mut buffer = with("世👨‍👩‍👧e\u{301}");
        buffer.delete(CursorMove::Left);
        assert_eq!(buffer.text(), "世👨‍👩‍👧");
        buffer.delete(CursorMove::Left);
        assert_eq!(buffer.text(), "世");
        buffer.move_cursor(CursorMove::Left);
        buffer.delete(CursorMove::Right);
        assert!(buffer.is_empty());
    }

    #[test]
    fn words_end_at_spaces_and_a_chinese_line_is_not_one_word() {
        let mut buffer = with("list the files");
        buffer.cut(CursorMove::WordLeft);
        assert_eq!(buffer.text(), "list the ");
        buffer.cut(CursorMove::WordLeft);
        assert_eq!(buffer.text(), "list ");
        buffer.put_cut();
        assert_eq!(buffer.text(), "list the ");
        let mut buffer = with("今天天气很好");
        buffer.cut(CursorMove::WordLeft);
        assert!(!buffer.is_empty() && buffer.text() != "今天天气很好");
    }

    #[test]
    fn a_typed_word_is_undone_at_once() {
        let mut buffer = EditBuffer::default();
        "two words".chars().for_each(|c| buffer.insert_typed(c));
        buffer.undo();
        assert_eq!(buffer.text(), "two ");
        buffer.undo();
        buffer.undo();
        assert!(buffer.is_empty());
    }

    #[test]
    fn a_long_paste_is_one_character_that_is_sent_whole() {
        let lines: Vec<String> = (0..300).map(|n| format!("line {n}")).collect();
        let pasted = lines.join("\r\n");
        let mut buffer = with("read: ");
        buffer.paste(&pasted);
        let stand_in = buffer.text().chars().last().unwrap_or_default();
        assert_eq!(buffer.folded_lines(stand_in), Some(300));
        assert_eq!(buffer.content(), format!("read: {}", lines.join("\n")));
        buffer.delete(CursorMove::Left);
        assert_eq!(buffer.content(), "read: ");
    }

    #[test]
    fn the_cursor_moves_between_lines_and_a_paste_carries_no_escape() {
        let mut buffer = with("ab\n世界你好\nc");
        assert!(buffer.move_line(false));
        assert_eq!(&buffer.text()[buffer.cursor()..], "界你好\nc");
        assert!(buffer.move_line(false) && !buffer.move_line(false));
        assert!(buffer.move_line(true) && buffer.move_line(true) && !buffer.move_line(true));
        buffer.paste("\u{1b}[31mred\u{7}");
        assert!(buffer.text().ends_with("[31mred"));
    }
}
