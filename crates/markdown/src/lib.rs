//! Markdown as lines of a terminal, whole or as it streams.
//!
//! ```text
//!   source ──► comrak (CommonMark, tables, CJK emphasis) ──► lines of spans ──► escape codes
//!   MarkdownStream::push(delta) ──► the lines that can no longer change     tail() ──► the rest
//! ```
//!
//! Text of a model is never trusted: control characters are removed before anything is painted, and
//! only web and mail addresses become links. Deliberately absent: a terminal. Callers print lines.

mod block;
mod code;
mod highlight;
mod inline;
mod paint;
mod stream;
mod styled;
mod table;
mod wrap;

pub use code::{CodeSpan, CodeTone, code_spans};
pub use paint::TerminalStyle;
pub use stream::MarkdownStream;
pub use styled::{StyledLine, Tone};
pub use wrap::{display_width, wrap_text};

/// A whole document as lines, each no wider than the style's width, code aside.
#[must_use]
pub fn to_lines(source: &str, style: &TerminalStyle) -> Vec<String> {
    let lines = block::document(source, style);
    lines.iter().map(|line| paint::paint(line, style)).collect()
}

#[cfg(test)]
mod tests;
