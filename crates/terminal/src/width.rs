//! How many columns text takes on a terminal. Escape sequences take none.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Columns that a tab takes in the input.
const TAB: &str = "    ";

/// A piece of painted text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PaintedPiece<'a> {
    /// What is seen as one character.
    Grapheme(&'a str),
    /// A color or a link.
    Escape(&'a str),
}

/// Columns of one character as people see it.
#[must_use]
pub fn grapheme_width(grapheme: &str) -> usize {
    match grapheme {
        "\t" => TAB.len(),
        "\n" | "\r" | "\r\n" => 0,
        _ => grapheme.width(),
    }
}

/// Columns of a line that may have colors and links.
#[must_use]
pub fn display_width(line: &str) -> usize {
    let width = |piece| match piece {
        PaintedPiece::Grapheme(text) => grapheme_width(text),
        PaintedPiece::Escape(_) => 0,
    };
    pieces(line).map(width).sum()
}

/// The line cut to `columns`, with an ellipsis where something is missing. A character that takes
/// two columns is never cut in half, and every color and link is closed.
#[must_use]
pub fn clip_line(line: &str, columns: usize) -> String {
    if display_width(line) <= columns {
        return line.replace('\t', TAB);
    }
    let mut out = String::with_capacity(line.len());
    let mut taken = 0;
    let mut is_full = false;
    for piece in pieces(line) {
        match piece {
            PaintedPiece::Escape(escape) => out.push_str(escape),
            PaintedPiece::Grapheme(_) if is_full => {}
            PaintedPiece::Grapheme(text) => {
                let width = grapheme_width(text);
                if taken + width + 1 > columns {
                    is_full = true;
                    out.push_str(if columns > 0 { "…" } else { "" });
                } else {
                    taken += width;
                    out.push_str(if text == "\t" { TAB } else { text });
                }
            }
        }
    }
    out
}

/// Rows that a line of this width takes where `columns` fit into one.
#[must_use]
pub(crate) fn rows_of(width: usize, columns: usize) -> usize {
    width.div_ceil(columns.max(1)).max(1)
}

fn pieces(line: &str) -> impl Iterator<Item = PaintedPiece<'_>> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let length = escape_length(rest);
        let piece = if length > 0 {
            PaintedPiece::Escape(&rest[..length])
        } else {
            PaintedPiece::Grapheme(rest.graphemes(true).next()?)
        };
        let (PaintedPiece::Grapheme(text) | PaintedPiece::Escape(text)) = piece;
        rest = &rest[text.len()..];
        Some(piece)
    })
}

/// Bytes of the escape sequence at the beginning, if there is one.
fn escape_length(text: &str) -> usize {
    let Some(body) = text.strip_prefix('\u{1b}') else { return 0 };
    let end = match body.chars().next() {
        Some('[') => body[1..].find(|c| ('\u{40}'..='\u{7e}').contains(&c)).map(|at| at + 2),
        Some(']') => {
            let bell = body.find('\u{7}').map(|at| at + 1);
            let string_end = body.find("\u{1b}\\").map(|at| at + 2);
            [bell, string_end].into_iter().flatten().min()
        }
        Some(c) => Some(c.len_utf8()),
        None => Some(0),
    };
    1 + end.unwrap_or(body.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_and_links_take_no_columns() {
        assert_eq!(display_width("\u{1b}[1;31m红\u{1b}[0m x"), 4);
        assert_eq!(display_width("\u{1b}]8;;http://a\u{1b}\\b\u{1b}]8;;\u{1b}\\"), 1);
        assert_eq!(display_width("e\u{301}👨‍👩‍👧"), 3);
    }

    #[test]
    fn a_line_is_cut_between_characters_and_its_colors_are_closed() {
        assert_eq!(clip_line("你好世界", 8), "你好世界");
        assert_eq!(clip_line("你好世界", 6), "你好…");
        assert_eq!(clip_line("\u{1b}[31mabcdef\u{1b}[0m", 4), "\u{1b}[31mabc…\u{1b}[0m");
        assert_eq!(clip_line("abc", 0), "");
    }
}
