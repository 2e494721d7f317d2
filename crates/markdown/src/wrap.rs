//! Lines that break between words, and where Unicode allows it (UAX #14) between Chinese
//! characters, but not before their closing punctuation. A path, an address or the name of a
//! variable is never broken, so that it can be copied.

use crate::paint::{SpanLine, TextSpan};
use unicode_linebreak::{BreakOpportunity, linebreaks};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How many columns a text takes.
#[must_use]
pub fn display_width(text: &str) -> usize {
    text.width()
}

/// Plain text in lines of at most `width` columns. A word that is wider than a line is cut.
#[must_use]
pub fn wrap_text(text: &str, width: usize) -> Vec<String> {
    let lines = wrap(&[TextSpan::plain(text)], width);
    lines.into_iter().map(|line| line.into_iter().map(|span| span.text).collect()).collect()
}

/// Spans in lines of at most `width` columns. A newline in a span ends a line.
pub(crate) fn wrap(spans: &[TextSpan], width: usize) -> Vec<SpanLine> {
    let text: String = spans.iter().map(|span| span.text.as_str()).collect();
    let mut filler = LineFiller { spans, width: width.max(1), start: 0, end: 0, lines: Vec::new() };
    let mut from = 0;
    for (to, opportunity) in linebreaks(&text) {
        if opportunity == BreakOpportunity::Allowed && !is_between_words(&text, to) {
            continue;
        }
        filler.add(&text, from, to);
        let is_newline = text[from..to].ends_with('\n');
        if opportunity == BreakOpportunity::Mandatory && is_newline {
            filler.end_line(&text, to);
        }
        from = to;
    }
    if filler.start < text.len() || filler.lines.is_empty() {
        filler.end_line(&text, text.len());
    }
    filler.lines
}

/// Whether a break here is at a space, or beside a character that is a word by itself.
fn is_between_words(text: &str, at: usize) -> bool {
    let mut letters = text[..at].chars().rev();
    let before = letters.next();
    let after = text[at..].chars().next();
    let is_wide = |letter: char| letter.width().unwrap_or(0) > 1;
    // A number stays with the Chinese word that it counts.
    let is_counted = before == Some(' ') && after.is_some_and(is_wide);
    if is_counted && letters.next().is_some_and(|letter| letter.is_ascii_digit()) {
        return false;
    }
    before.is_some_and(|letter| letter.is_whitespace() || is_wide(letter))
        || after.is_some_and(is_wide)
}

/// Lines being filled: the open line is `text[start..end]`.
struct LineFiller<'a> {
    spans: &'a [TextSpan],
    width: usize,
    start: usize,
    end: usize,
    lines: Vec<SpanLine>,
}

impl LineFiller<'_> {
    /// Adds what may not be broken, `text[from..to]`; spaces at its end may hang over.
    fn add(&mut self, text: &str, from: usize, to: usize) {
        let word = text[from..to].trim_end();
        let is_open = self.end > self.start;
        if is_open && text[self.start..from].width() + word.width() > self.width {
            self.end_line(text, from);
        }
        if word.width() > self.width {
            self.cut(text, from, from + word.len());
        }
        self.end = to;
    }

    /// Cuts a word that is wider than a line, between its characters.
    fn cut(&mut self, text: &str, from: usize, to: usize) {
        for (offset, character) in text[from..to].grapheme_indices(true) {
            let at = from + offset;
            let is_full = text[self.start..at].width() + character.width() > self.width;
            if is_full && at > self.start {
                self.end_line(text, at);
            }
        }
    }

    fn end_line(&mut self, text: &str, at: usize) {
        let kept = text[self.start..at].trim_end().len();
        self.lines.push(slice(self.spans, self.start, self.start + kept));
        self.start = at;
        self.end = at;
    }
}

/// The spans of a range of their joined text.
fn slice(spans: &[TextSpan], from: usize, to: usize) -> SpanLine {
    let mut line = Vec::new();
    let mut offset = 0;
    for span in spans {
        let span_end = offset + span.text.len();
        let start = from.max(offset);
        let end = to.min(span_end);
        if start < end {
            line.push(span.part(&span.text[start - offset..end - offset]));
        }
        offset = span_end;
    }
    line
}
