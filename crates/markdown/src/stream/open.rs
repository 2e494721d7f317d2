//! Blocks that are given out line by line while they are open, and how much of others is stable.

use crate::block::{code_line, options};
use crate::highlight::Highlighter;
use crate::paint::{SpanLine, TerminalStyle};
use crate::table::TableLayout;
use crate::wrap::display_width;
use comrak::nodes::{Node, NodeValue};
use comrak::{Arena, parse_document};

/// A block whose lines are finished one by one.
#[derive(Debug, Clone)]
pub(super) enum OpenBlock {
    Code(OpenCode),
    Table(OpenTable),
}

impl OpenBlock {
    /// The next line of the source; none if it ends the block.
    pub(super) fn line(&mut self, line: &str, style: &TerminalStyle) -> Option<Vec<SpanLine>> {
        match self {
            Self::Code(code) if code.is_end(line) => None,
            Self::Code(code) => Some(code.line(line, style)),
            Self::Table(table) => table.line(line, style),
        }
    }

    /// The last line of the source, which has no end; none if it is no part of the block.
    pub(super) fn last_line(&mut self, line: &str, style: &TerminalStyle) -> Option<Vec<SpanLine>> {
        match self {
            Self::Code(code) if line.is_empty() || code.is_end(line) => Some(Vec::new()),
            Self::Table(_) if line.trim().is_empty() => Some(Vec::new()),
            open => open.line(line, style),
        }
    }
}

/// A fence that was opened, and what of it was not given out.
#[derive(Debug, Clone)]
pub(super) struct OpenCode {
    fence: String,
    indent: usize,
    highlighter: Highlighter,
}

impl OpenCode {
    fn is_end(&self, line: &str) -> bool {
        let mark = self.fence.chars().next().unwrap_or('`');
        let line = line.trim();
        line.len() >= self.fence.len() && line.chars().all(|letter| letter == mark)
    }

    fn line(&mut self, line: &str, style: &TerminalStyle) -> Vec<SpanLine> {
        let spaces = line.len() - line.trim_start_matches(' ').len();
        code_line(&line[spaces.min(self.indent)..], &mut self.highlighter, style)
    }
}

/// A fence whose first line is complete and that is not closed, and where its body begins.
pub(super) fn open_code(node: Node<'_>, source: &str) -> Option<(OpenCode, usize)> {
    let data = node.data();
    let NodeValue::CodeBlock(code) = &data.value else { return None };
    let from = line_offset(source, data.sourcepos.start.line);
    let body = from + source[from..].find('\n')? + 1;
    if !code.fenced {
        return None;
    }
    let fence = char::from(code.fence_char).to_string().repeat(code.fence_length);
    let highlighter = Highlighter::new(&code.info);
    Some((OpenCode { fence, indent: code.fence_offset, highlighter }, body))
}

/// A table whose columns are known.
#[derive(Debug, Clone)]
pub(super) struct OpenTable {
    layout: TableLayout,
    /// The head and the line below it, which make a row of any line.
    head: String,
    has_rows: bool,
}

impl OpenTable {
    /// The table that a node begins, and the lines of its head.
    pub(super) fn begin(
        node: Node<'_>,
        source: &str,
        style: &TerminalStyle,
    ) -> Option<(Self, Vec<SpanLine>)> {
        let data = node.data();
        let NodeValue::Table(table) = &data.value else { return None };
        let layout = TableLayout::of(node, &table.alignments, style)?;
        let from = line_offset(source, data.sourcepos.start.line);
        let head: String = source[from..].split_inclusive('\n').take(2).collect();
        let lines = layout.head_lines(style);
        Some((Self { layout, head, has_rows: false }, lines))
    }

    /// One row that was parsed.
    pub(super) fn row(&mut self, row: Node<'_>, style: &TerminalStyle) -> Vec<SpanLine> {
        let is_first = !std::mem::replace(&mut self.has_rows, true);
        self.layout.row(row, is_first, style)
    }

    fn line(&mut self, line: &str, style: &TerminalStyle) -> Option<Vec<SpanLine>> {
        if line.trim().is_empty() {
            return None;
        }
        let source = format!("{}{line}\n", self.head);
        let arena = Arena::new();
        let root = parse_document(&arena, &source, &options());
        let mut blocks = root.children();
        let table = blocks.next()?;
        let is_row = blocks.next().is_none() && table.children().count() == 2;
        let row = table.last_child().filter(|_| is_row)?;
        Some(self.row(row, style))
    }
}

/// Where a line begins; lines count from one.
pub(super) fn line_offset(source: &str, line: usize) -> usize {
    source.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum()
}

/// Whether the beginning of a line may still turn out to belong to the block before it, as the `2`
/// of `2. item` and the first bar of a row do.
pub(super) fn is_too_short_to_tell(source: &str) -> bool {
    const ENOUGH: usize = 8;
    !source.contains('\n') && source.chars().count() < ENOUGH
}

/// How many lines of the last block no later text can change.
///
/// A mark that pairs takes less room than before. The word that it is part of may then fit on the
/// line above, so that line waits as well.
pub(super) fn stable_lines(node: Node<'_>, source: &str, shown: &[SpanLine]) -> usize {
    let is_growing_text = matches!(node.data().value, NodeValue::Paragraph | NodeValue::List(_));
    if !is_growing_text || might_become_table(node, source) || is_cut_within_mark(source) {
        return 0;
    }
    let is_open = |line: &SpanLine| {
        line.iter().filter(|span| span.may_pair).any(|span| has_open_mark(&span.text))
    };
    let last = shown.len().saturating_sub(1);
    let open = shown.iter().position(is_open);
    open.map_or(last, |line| word_start(shown, line).saturating_sub(1).min(last))
}

/// The line on which the first word of a line begins: a word that is wider than a line is cut.
fn word_start(shown: &[SpanLine], line: usize) -> usize {
    let is_end_of_cut = |line: &SpanLine| {
        let text: String = line.iter().map(|span| span.text.as_str()).collect();
        let text = text.trim();
        !text.contains(char::is_whitespace) && display_width(text) == text.chars().count()
    };
    let mut start = line;
    while start > 0 && is_end_of_cut(&shown[start - 1]) {
        start -= 1;
    }
    start
}

/// Whether the source ends where one more character says what the last ones are: a mark of which
/// there may be more, the beginning of an escape or of a character's name, an address that grows.
fn is_cut_within_mark(source: &str) -> bool {
    if source.ends_with(['*', '_', '~', '`', '\\', '!', '<']) {
        return true;
    }
    let word = source.rsplit(|letter: char| letter.is_whitespace() || !letter.is_ascii()).next();
    let word = word.unwrap_or_default();
    let is_entity = word.rsplit_once('&').is_some_and(|(_, name)| {
        name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '#')
    });
    let is_address = word.contains("://") || word.contains("www.") || word.contains('@');
    is_entity || is_address
}

/// How many letters lines have. Spaces are not counted: where a line ends there is none.
pub(super) fn letters_of(lines: &[SpanLine]) -> usize {
    lines.iter().flatten().map(|span| letters_in(&span.text)).sum()
}

fn letters_in(text: &str) -> usize {
    text.chars().filter(|letter| !letter.is_whitespace()).count()
}

/// The lines without as many letters of their beginning; a line may be cut.
pub(super) fn after_letters(lines: Vec<SpanLine>, mut letters: usize) -> Vec<SpanLine> {
    let mut rest = Vec::new();
    for mut line in lines {
        if letters == 0 {
            rest.push(line);
            continue;
        }
        for span in &mut line {
            let taken = letters.min(letters_in(&span.text));
            let kept = span.text.char_indices().filter(|(_, letter)| !letter.is_whitespace());
            let from = match taken {
                0 => 0,
                taken => {
                    kept.map(|(at, letter)| at + letter.len_utf8()).nth(taken - 1).unwrap_or(0)
                }
            };
            letters -= taken;
            span.text.drain(..from);
        }
        if letters_of(std::slice::from_ref(&line)) > 0 {
            rest.push(line);
        }
    }
    rest
}

/// Whether plain text has a mark that a later one may pair with.
fn has_open_mark(text: &str) -> bool {
    let mut before: Option<char> = None;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied();
        let opens = next.is_none_or(|next| !next.is_whitespace());
        let is_mark = match letter {
            '`' | '[' => true,
            '*' | '~' => opens,
            '_' => opens && !before.is_some_and(char::is_alphanumeric),
            '<' => next.is_none_or(|next| next.is_ascii_alphabetic() || "/!?".contains(next)),
            _ => false,
        };
        if is_mark {
            return true;
        }
        before = Some(letter);
    }
    false
}

/// Whether a paragraph's last line may be the head of a table.
fn might_become_table(node: Node<'_>, source: &str) -> bool {
    let from = line_offset(source, node.data().sourcepos.start.line);
    let last = source[from..].trim_end_matches('\n').rsplit('\n').next().unwrap_or_default();
    last.contains('|') && matches!(node.data().value, NodeValue::Paragraph)
}
