//! Code as colored pieces, for a page: every character of it, in order.

use crate::highlight::Highlighter;
use crate::paint::{Color, Look};

/// What a piece of code is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeTone {
    /// Nothing in particular.
    Plain,
    /// A word of the language.
    Keyword,
    /// A text in quotes.
    Text,
    /// A number.
    Number,
    /// A comment.
    Comment,
    /// A line that a diff adds.
    Added,
    /// A line that a diff takes away.
    Removed,
}

/// A piece of code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeSpan {
    /// What it is.
    pub tone: CodeTone,
    /// Its characters.
    pub text: String,
}

/// Stands for a tab on the way through the highlighter, which makes spaces of tabs for terminals.
const TAB: char = '\u{f0009}';

/// Code in a language, colored. Control characters other than tabs and line ends are left out.
#[must_use]
pub fn code_spans(language: &str, code: &str) -> Vec<CodeSpan> {
    let code = code.replace('\t', &TAB.to_string());
    let is_diff = matches!(language, "diff" | "patch");
    let mut lines = Highlighter::new(language);
    let mut spans: Vec<CodeSpan> = Vec::new();
    for line in code.split_inclusive('\n') {
        let (body, end) = line.strip_suffix('\n').map_or((line, ""), |body| (body, "\n"));
        for span in lines.line(body) {
            push(&mut spans, tone(span.look, is_diff), &span.text.replace(TAB, "\t"));
        }
        push(&mut spans, CodeTone::Plain, end);
    }
    spans
}

fn push(spans: &mut Vec<CodeSpan>, tone: CodeTone, text: &str) {
    match spans.last_mut() {
        _ if text.is_empty() => {}
        Some(last) if last.tone == tone => last.text.push_str(text),
        _ => spans.push(CodeSpan { tone, text: text.to_owned() }),
    }
}

fn tone(look: Look, is_diff: bool) -> CodeTone {
    match look.color {
        Some(Color::Green) if is_diff => CodeTone::Added,
        Some(Color::Green) => CodeTone::Text,
        Some(Color::Red) => CodeTone::Removed,
        Some(Color::Magenta) => CodeTone::Keyword,
        Some(Color::Cyan) => CodeTone::Number,
        None if look.dim => CodeTone::Comment,
        None => CodeTone::Plain,
    }
}
