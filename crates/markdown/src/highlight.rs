//! Colors for code: comments, strings, numbers and keywords of the common families of languages.
//!
//! A line is read once, left to right. What spans lines (a block comment, a long string) is kept in
//! the highlighter.

mod languages;

use crate::paint::{Color, Look, TextSpan};
use languages::{Language, language};

/// Colors the lines of one block of code, in order.
#[derive(Debug, Clone)]
pub(crate) struct Highlighter {
    language: Option<&'static Language>,
    /// What ends the comment or string that an earlier line began, and its look.
    open: Option<(&'static str, Look)>,
}

impl Highlighter {
    /// For a fence's info string, such as `rust` or `python title="x"`.
    pub(crate) fn new(info: &str) -> Self {
        let name = info.split([' ', ',', '{']).next().unwrap_or_default().to_ascii_lowercase();
        Self { language: language(&name), open: None }
    }

    /// The next line.
    pub(crate) fn line(&mut self, line: &str) -> Vec<TextSpan> {
        let Some(language) = self.language else { return vec![TextSpan::plain(line)] };
        if language.is_diff {
            return vec![TextSpan::new(line, diff_look(line))];
        }
        let mut reader = CodeReader { rest: line, spans: Vec::new() };
        while !reader.rest.is_empty() {
            if let Some((end, look)) = self.open {
                if reader.take_until(end, look) {
                    self.open = None;
                }
            } else {
                self.open = reader.step(language);
            }
        }
        reader.spans
    }
}

fn diff_look(line: &str) -> Look {
    if line.starts_with("+++") || line.starts_with("---") || line.starts_with("diff ") {
        return Look { bold: true, ..Look::default() };
    }
    match line.chars().next() {
        Some('+') => Look::colored(Color::Green),
        Some('-') => Look::colored(Color::Red),
        Some('@') => Look::colored(Color::Cyan),
        _ => Look::default(),
    }
}

struct CodeReader<'a> {
    rest: &'a str,
    spans: Vec<TextSpan>,
}

impl CodeReader<'_> {
    /// Takes one token. Gives what ends it if it does not end on this line.
    fn step(&mut self, language: &'static Language) -> Option<(&'static str, Look)> {
        let comment = Look::DIM;
        if language.line_comments.iter().any(|mark| self.starts_comment(mark)) {
            self.take(self.rest.len(), comment);
            return None;
        }
        for (start, end) in language.long_comments {
            if self.rest.starts_with(start) {
                self.take(start.len(), comment);
                return Some((end, comment));
            }
        }
        let string = Look::colored(Color::Green);
        for mark in language.long_strings {
            if self.rest.starts_with(mark) {
                self.take(mark.len(), string);
                return Some((mark, string));
            }
        }
        match self.rest.chars().next() {
            Some(quote) if language.quotes.contains(quote) => self.take_string(quote, string),
            Some(letter) if letter.is_ascii_digit() => {
                let number = |letter: char| letter.is_ascii_alphanumeric() || "._".contains(letter);
                self.take_while(number, Look::colored(Color::Cyan));
            }
            Some(letter) if is_word(letter) => self.take_word(language),
            Some(letter) => self.take(letter.len_utf8(), Look::default()),
            None => {}
        }
        None
    }

    /// A mark that is also a usual character (`#`) begins a comment only after a space.
    fn starts_comment(&self, mark: &str) -> bool {
        let before = self.spans.last().and_then(|span| span.text.chars().last());
        let is_apart = before.is_none_or(char::is_whitespace);
        self.rest.starts_with(mark) && (mark != "#" || is_apart)
    }

    fn take(&mut self, bytes: usize, look: Look) {
        let (token, rest) = self.rest.split_at(bytes);
        match self.spans.last_mut() {
            Some(last) if last.look == look => last.text.push_str(&TextSpan::plain(token).text),
            _ => self.spans.push(TextSpan::new(token, look)),
        }
        self.rest = rest;
    }

    fn take_while(&mut self, is_part: impl Fn(char) -> bool, look: Look) {
        let end = self.rest.find(|letter| !is_part(letter)).unwrap_or(self.rest.len());
        self.take(end, look);
    }

    /// Takes up to and with `end`; whether it was found.
    fn take_until(&mut self, end: &str, look: Look) -> bool {
        let found = self.rest.find(end);
        self.take(found.map_or(self.rest.len(), |at| at + end.len()), look);
        found.is_some()
    }

    fn take_string(&mut self, quote: char, look: Look) {
        let mut is_escaped = false;
        let body = &self.rest[quote.len_utf8()..];
        let end = body.char_indices().find(|(_, letter)| {
            let ends = *letter == quote && !is_escaped;
            is_escaped = *letter == '\\' && !is_escaped;
            ends
        });
        match end {
            Some((at, _)) => self.take(at + 2 * quote.len_utf8(), look),
            // An apostrophe alone: a lifetime, or a word in a shell's comment.
            None if quote == '\'' => self.take(quote.len_utf8(), Look::default()),
            None => self.take(self.rest.len(), look),
        }
    }

    fn take_word(&mut self, language: &Language) {
        let end = self.rest.find(|letter| !is_word(letter)).unwrap_or(self.rest.len());
        let word = &self.rest[..end];
        let is_keyword = if language.ignores_case {
            language.keywords.contains(&word.to_ascii_lowercase().as_str())
        } else {
            language.keywords.contains(&word)
        };
        let look = if is_keyword { Look::colored(Color::Magenta) } else { Look::default() };
        self.take(end, look);
    }
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}
