//! Spans of text, and the escape codes that give them their look.

use std::rc::Rc;

/// How a terminal shows Markdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalStyle {
    /// Columns of a line.
    pub width: usize,
    /// Whether colors may be used.
    pub color: bool,
    /// Whether bold, dim, italic and underlined text may be used.
    pub emphasis: bool,
    /// Whether the terminal understands links (OSC 8).
    pub links: bool,
    /// Whether symbols outside of ASCII may be used.
    pub unicode: bool,
}

impl TerminalStyle {
    /// The same style on fewer columns; never fewer than eight.
    pub(crate) fn narrowed(self, columns: usize) -> Self {
        Self { width: self.width.saturating_sub(columns).max(8), ..self }
    }
}

/// The colors in use. They are of the terminal's own palette, so that they suit a light and a dark
/// background; yellow cannot be read on a light one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Color {
    Green,
    Magenta,
    Cyan,
    Red,
}

impl Color {
    fn code(self) -> &'static str {
        match self {
            Self::Red => "31",
            Self::Green => "32",
            Self::Magenta => "35",
            Self::Cyan => "36",
        }
    }
}

/// How a span looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Look {
    pub(crate) bold: bool,
    pub(crate) dim: bool,
    pub(crate) italic: bool,
    pub(crate) underline: bool,
    pub(crate) strike: bool,
    pub(crate) color: Option<Color>,
}

impl Look {
    pub(crate) const DIM: Self = Self {
        dim: true,
        bold: false,
        italic: false,
        underline: false,
        strike: false,
        color: None,
    };

    pub(crate) fn colored(color: Color) -> Self {
        Self { color: Some(color), ..Self::default() }
    }

    fn codes(self, style: &TerminalStyle) -> String {
        let flags = [
            (self.bold, "1"),
            (self.dim, "2"),
            (self.italic, "3"),
            (self.underline, "4"),
            (self.strike, "9"),
        ];
        let mut codes: Vec<&str> =
            flags.iter().filter(|(is_set, _)| *is_set).map(|(_, code)| *code).collect();
        if !style.emphasis {
            codes.clear();
        }
        codes.extend(self.color.filter(|_| style.color).map(Color::code));
        codes.join(";")
    }
}

/// A piece of a line that looks the same throughout. Its text has no control characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextSpan {
    pub(crate) text: String,
    pub(crate) look: Look,
    pub(crate) link: Option<Rc<str>>,
    /// Whether text that comes later may still be read together with a mark in this one.
    pub(crate) may_pair: bool,
}

impl TextSpan {
    pub(crate) fn new(text: &str, look: Look) -> Self {
        Self { text: without_controls(text), look, link: None, may_pair: false }
    }

    pub(crate) fn plain(text: &str) -> Self {
        Self::new(text, Look::default())
    }

    /// The same look and link with other text, which comes of this span.
    pub(crate) fn part(&self, text: &str) -> Self {
        Self { text: text.to_owned(), link: self.link.clone(), ..*self }
    }
}

/// One line of the terminal.
pub(crate) type SpanLine = Vec<TextSpan>;

/// The text without what could steer a terminal or reorder it: control characters other than
/// newline, and the marks that change the direction of text. A tab becomes spaces.
pub(crate) fn without_controls(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' => clean.push('\n'),
            '\t' => clean.push_str("    "),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {}
            letter if letter.is_control() => {}
            letter => clean.push(letter),
        }
    }
    clean
}

/// A line as text with escape codes.
pub(crate) fn paint(line: &[TextSpan], style: &TerminalStyle) -> String {
    let mut painted = String::new();
    for span in line {
        let codes = span.look.codes(style);
        let link = span.link.as_deref().filter(|_| style.links);
        if let Some(address) = link {
            painted.push_str(&format!("\u{1b}]8;;{address}\u{1b}\\"));
        }
        if codes.is_empty() {
            painted.push_str(&span.text);
        } else {
            painted.push_str(&format!("\u{1b}[{codes}m{}\u{1b}[0m", span.text));
        }
        if link.is_some() {
            painted.push_str("\u{1b}]8;;\u{1b}\\");
        }
    }
    let kept = painted.trim_end_matches(' ').len();
    painted.truncate(kept);
    painted
}
