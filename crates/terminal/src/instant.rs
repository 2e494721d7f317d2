//! Answers of one key, while the input line is empty.
//!
//! A key waits for a moment before it counts, so that a sentence which begins with the same letter
//! is a sentence: `y` is an answer, `yes` and a return key too, `yesterday` is text. What still
//! comes of the word after it counted is dropped.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::time::{Duration, Instant};

/// How long a key waits for the next one.
const HOLD: Duration = Duration::from_millis(250);

/// How long after it the rest of its word is dropped.
const DROP: Duration = Duration::from_millis(600);

/// The words that answer by their first letter.
#[derive(Debug, Default)]
pub struct InstantAnswers {
    words: Vec<String>,
    /// What was typed of one.
    held: String,
    due: Option<Instant>,
    /// What may still come of the word that counted, and until when.
    rest: Option<(String, Instant)>,
    /// Whether the word that counted asks for a line.
    opens_line: bool,
}

/// What a key was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InstantStep {
    /// An ordinary key.
    Pass,
    /// It waits.
    Held,
    /// This answer was given. `true` if the return key gave it.
    Fire(char, bool),
    /// This was the beginning of a text; the key itself comes behind it.
    Text(String),
    /// It was the rest of a word that has counted.
    Dropped,
}

impl InstantAnswers {
    /// Whole words such as `yes`; their first letters are the keys.
    #[must_use]
    pub fn new(words: &[&str]) -> Self {
        Self { words: words.iter().map(|word| (*word).to_owned()).collect(), ..Self::default() }
    }

    /// Other words from now on. What counted before may still be typed to its end.
    pub fn set(&mut self, words: &[&str]) {
        let rest = self.rest.take();
        let opens_line = rest.is_some() && words.is_empty();
        *self = Self { rest, opens_line, ..Self::new(words) };
    }

    /// What waits to be counted.
    #[must_use]
    pub fn held(&self) -> &str {
        &self.held
    }

    /// When what waits counts.
    #[must_use]
    pub fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Counts what has waited long enough.
    pub fn fire_due(&mut self, now: Instant) -> Option<char> {
        self.due.filter(|due| *due <= now)?;
        self.fire(now)
    }

    /// Takes a key that came at that time.
    pub fn take(&mut self, key: KeyEvent, at: Instant, line_is_empty: bool) -> InstantStep {
        if self.drops(key, at) {
            return InstantStep::Dropped;
        }
        let is_plain = !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        match key.code {
            KeyCode::Char(c) if is_plain && line_is_empty => self.take_char(c, at),
            _ if self.held.is_empty() => InstantStep::Pass,
            KeyCode::Enter => match self.fire(at) {
                Some(answer) => {
                    self.rest = None;
                    InstantStep::Fire(answer, true)
                }
                None => InstantStep::Pass,
            },
            KeyCode::Backspace | KeyCode::Esc => {
                self.held.clear();
                self.due = None;
                InstantStep::Held
            }
            _ => self.give_up(),
        }
    }

    fn take_char(&mut self, c: char, at: Instant) -> InstantStep {
        let typed = format!("{}{c}", self.held);
        let lowered = typed.to_lowercase();
        if self.words.iter().any(|word| word.starts_with(&lowered)) {
            self.held = typed;
            self.due = Some(at + HOLD);
            InstantStep::Held
        } else if self.held.is_empty() {
            InstantStep::Pass
        } else {
            self.give_up()
        }
    }

    fn give_up(&mut self) -> InstantStep {
        self.due = None;
        InstantStep::Text(std::mem::take(&mut self.held))
    }

    fn fire(&mut self, now: Instant) -> Option<char> {
        self.due = None;
        let held = std::mem::take(&mut self.held).to_lowercase();
        let word = self.words.iter().find(|word| word.starts_with(&held))?;
        let answer = held.chars().next()?;
        self.rest = Some((word[held.len()..].to_owned(), now + DROP));
        Some(answer)
    }

    /// Whether a key is the rest of a word that has counted.
    fn drops(&mut self, key: KeyEvent, at: Instant) -> bool {
        let Some((rest, until)) = self.rest.take() else { return false };
        if at > until {
            return false;
        }
        match key.code {
            KeyCode::Char(c) if rest.starts_with(c.to_ascii_lowercase()) => {
                self.rest = Some((rest[c.len_utf8()..].to_owned(), at + DROP));
                true
            }
            // A word that opens a line is sent with the same key.
            KeyCode::Enter => !self.opens_line,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: [&str; 4] = ["yes", "always", "no", "edit"];

    fn key(code: KeyCode) -> KeyEvent {
        KeyEvent::new(code, KeyModifiers::NONE)
    }

    #[test]
    fn a_key_counts_after_a_moment_and_the_rest_of_its_word_is_dropped() {
        let mut instant = InstantAnswers::new(&WORDS);
        let start = Instant::now();
        assert_eq!(instant.take(key(KeyCode::Char('y')), start, true), InstantStep::Held);
        assert_eq!(instant.fire_due(start), None);
        let later = start + HOLD;
        assert_eq!(instant.fire_due(later), Some('y'));
        for code in [KeyCode::Char('e'), KeyCode::Char('s'), KeyCode::Enter] {
            assert_eq!(instant.take(key(code), later, true), InstantStep::Dropped);
        }
        assert_eq!(instant.take(key(KeyCode::Enter), later, true), InstantStep::Pass);
    }

    #[test]
    fn a_return_key_counts_at_once_and_a_sentence_is_text() {
        let mut instant = InstantAnswers::new(&WORDS);
        let start = Instant::now();
        for c in "alw".chars() {
            assert_eq!(instant.take(key(KeyCode::Char(c)), start, true), InstantStep::Held);
        }
        assert_eq!(instant.take(key(KeyCode::Enter), start, true), InstantStep::Fire('a', true));
        assert_eq!(instant.take(key(KeyCode::Char('a')), start, true), InstantStep::Held);
        let text = InstantStep::Text("a".to_owned());
        assert_eq!(instant.take(key(KeyCode::Char('c')), start, true), text);
        assert_eq!(instant.take(key(KeyCode::Char('y')), start, false), InstantStep::Pass);
    }
}
