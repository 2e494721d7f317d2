//! A document that is still being written.
//!
//! ```text
//!   push(delta) ──► lines that no later text can change     tail() ──► the lines that still may
//!   finish()    ──► whatever is left
//! ```
//!
//! All blocks but the last are finished, and so are all items of a list but its last one. Of the
//! last paragraph, the lines before its first open mark are: a `*` that was not closed may still
//! become emphasis. Code is finished line by line; a table once its columns are known, and then
//! row by row. What is finished is dropped, so that a piece costs the same however long the answer
//! has become.

mod open;

use crate::block::with_definitions;
use crate::block::{Page, blank_lines, block, list, list_item, options, paragraph};
use crate::paint::{SpanLine, TerminalStyle, paint};
use crate::table::LAYOUT_ROWS;
use comrak::nodes::{Node, NodeList, NodeValue};
use comrak::{Arena, parse_document};
use open::{OpenBlock, OpenTable, is_too_short_to_tell, line_offset, open_code, stable_lines};
use open::{after_letters, letters_of};

/// Bytes of an open block from which on it is not read again for every piece.
const LARGE_BLOCK: usize = 4_000;

/// A large block is read again when it has grown by this part of it.
const GROWTH: usize = 32;

/// Markdown that comes in pieces.
#[derive(Debug, Clone)]
pub struct MarkdownStream {
    style: TerminalStyle,
    /// The source of the block that is not finished.
    source: String,
    /// Bytes that came since the source was read.
    unread: usize,
    /// How many lines of that block were given out.
    given: usize,
    /// How many letters these lines have, for a block that turns out to be laid out differently.
    given_letters: usize,
    /// Whether any line was given out, so that the next block needs an empty line before it.
    has_begun: bool,
    /// The rest of a list whose first items were given out.
    list: Option<ListRest>,
    open: Option<OpenBlock>,
    /// The width of the blocks after the one that is not finished.
    next_width: usize,
}

/// A list that continues.
#[derive(Debug, Clone, Copy)]
struct ListRest {
    /// The number of its next item.
    number: usize,
    /// Whether an empty line stands before that item.
    has_gap: bool,
}

impl MarkdownStream {
    /// An empty document.
    #[must_use]
    pub fn new(style: TerminalStyle) -> Self {
        Self {
            style,
            source: String::new(),
            unread: 0,
            given: 0,
            given_letters: 0,
            has_begun: false,
            list: None,
            open: None,
            next_width: style.width,
        }
    }

    /// What comes from now on has another width. A block of which lines were given out keeps its
    /// own: where its other lines begin would not be known any more.
    pub fn resize(&mut self, width: usize) {
        self.next_width = width;
        self.use_next_width();
    }

    fn use_next_width(&mut self) {
        if self.style.width != self.next_width && self.given == 0 && self.open.is_none() {
            self.style.width = self.next_width;
            self.unread = self.source.len();
        }
    }

    /// More text. Gives the lines that are finished by it.
    pub fn push(&mut self, delta: &str) -> Vec<String> {
        self.push_lines(delta);
        self.unread += delta.len();
        let is_large = self.open.is_none() && self.source.len() > LARGE_BLOCK;
        if is_large && self.unread < self.source.len() / GROWTH {
            return Vec::new();
        }
        self.unread = 0;
        let mut lines = Vec::new();
        loop {
            let before = (self.source.len(), self.open.is_some());
            if self.open.is_some() {
                self.finish_open_lines(&mut lines);
            } else {
                self.finish_blocks(&mut lines);
            }
            if (self.source.len(), self.open.is_some()) == before {
                break;
            }
        }
        let painted = self.painted(&lines);
        self.use_next_width();
        painted
    }

    /// A return without a line feed ends a line too: a terminal would write over it.
    fn push_lines(&mut self, delta: &str) {
        if self.source.ends_with('\r') && !delta.is_empty() {
            self.source.pop();
            self.source.push_str(if delta.starts_with('\n') { "" } else { "\n" });
        }
        let mut rest = delta;
        while let Some((line, after)) = rest.split_once('\r') {
            self.source.push_str(line);
            if after.is_empty() {
                self.source.push('\r');
            } else if !after.starts_with('\n') {
                self.source.push('\n');
            }
            rest = after;
        }
        self.source.push_str(rest);
    }

    /// The lines that may still change, as they look now.
    #[must_use]
    pub fn tail(&self) -> Vec<String> {
        let mut rest = self.clone();
        rest.finish()
    }

    /// The end of the document: gives what is left, and begins anew.
    pub fn finish(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        let source = std::mem::take(&mut self.source);
        if let Some(open) = &mut self.open
            && let Some(last) = open.last_line(&source, &self.style)
        {
            lines.extend(last);
        } else {
            let arena = Arena::new();
            let root = parse_document(&arena, &with_definitions(&source), &options());
            let blank = blank_lines(&source);
            let page = Page::new(self.style, &blank);
            for child in root.children() {
                let shown = self.laid_out(child, &page);
                self.give(shown, &mut lines);
            }
        }
        let painted = self.painted(&lines);
        let width = self.next_width;
        *self = Self::new(TerminalStyle { width, ..self.style });
        painted
    }

    fn painted(&self, lines: &[SpanLine]) -> Vec<String> {
        lines.iter().map(|line| paint(line, &self.style)).collect()
    }

    /// A block; a list that continues has the numbers of its beginning. A paragraph that a line of
    /// dashes makes a heading after all has been read as a paragraph.
    fn laid_out(&self, node: Node<'_>, page: &Page<'_>) -> Vec<SpanLine> {
        match (&node.data().value, self.list) {
            (NodeValue::List(of), Some(rest)) => list(node, of, rest.number, page),
            (NodeValue::Heading(_), _) if self.given > 0 => paragraph(node, &page.style),
            _ => block(node, page),
        }
    }

    /// Gives out the rest of a finished block, after an empty line.
    fn give(&mut self, block: Vec<SpanLine>, lines: &mut Vec<SpanLine>) {
        self.give_part(block, usize::MAX, lines);
        self.forget_given();
        self.list = None;
    }

    fn forget_given(&mut self) {
        self.given = 0;
        self.given_letters = 0;
    }

    /// Gives out the lines of the open block up to `stable`.
    fn give_part(&mut self, mut block: Vec<SpanLine>, stable: usize, lines: &mut Vec<SpanLine>) {
        let is_as_given =
            block.get(..self.given).is_some_and(|given| letters_of(given) == self.given_letters);
        if !is_as_given {
            if stable < usize::MAX {
                return;
            }
            // No word may be lost, even where the lines turn out to be others.
            block = after_letters(block, self.given_letters);
            self.given = 0;
        }
        let end = stable.min(block.len());
        if end <= self.given {
            return;
        }
        if self.given_letters == 0 && self.has_begun && self.list.is_none_or(|rest| rest.has_gap) {
            lines.push(Vec::new());
        }
        self.has_begun = true;
        self.given_letters = letters_of(&block[..end]);
        lines.extend(block.into_iter().take(end).skip(self.given));
        self.given = end;
    }

    fn finish_blocks(&mut self, lines: &mut Vec<SpanLine>) {
        let source = std::mem::take(&mut self.source);
        let arena = Arena::new();
        let root = parse_document(&arena, &with_definitions(&source), &options());
        let blank = blank_lines(&source);
        let page = Page::new(self.style, &blank);
        let mut blocks = root.children().peekable();
        let mut kept_from = 0;
        while let Some(child) = blocks.next() {
            let Some(next) = blocks.peek() else {
                kept_from = self.finish_part(child, &source, &page, lines).unwrap_or(kept_from);
                break;
            };
            let next_from = line_offset(&source, next.data().sourcepos.start.line);
            if is_too_short_to_tell(&source[next_from..]) {
                break;
            }
            let shown = self.laid_out(child, &page);
            self.give(shown, lines);
            kept_from = next_from;
        }
        self.source = source[kept_from..].to_owned();
    }

    /// Gives out what is finished of the last block. Gives where the rest of it begins, if any of
    /// its source is not needed any more.
    fn finish_part(
        &mut self,
        node: Node<'_>,
        source: &str,
        page: &Page<'_>,
        lines: &mut Vec<SpanLine>,
    ) -> Option<usize> {
        if let Some((code, body)) = open_code(node, source) {
            self.begin_block(lines);
            self.open = Some(OpenBlock::Code(code));
            return Some(body);
        }
        match &node.data().value {
            NodeValue::Table(_) => return self.finish_table_head(node, source, lines),
            NodeValue::List(of) => {
                if let Some(from) = self.finish_items(node, of, source, page, lines) {
                    return Some(from);
                }
            }
            _ => {}
        }
        let shown = self.laid_out(node, page);
        let stable = stable_lines(node, source, &shown);
        self.give_part(shown, stable, lines);
        None
    }

    /// An empty line before a block, unless it is the first one.
    fn begin_block(&mut self, lines: &mut Vec<SpanLine>) {
        if self.has_begun {
            lines.push(Vec::new());
        }
        self.has_begun = true;
        self.forget_given();
        self.list = None;
    }

    /// Gives out all items of a list but the last one. Gives where that one begins.
    fn finish_items(
        &mut self,
        node: Node<'_>,
        of: &NodeList,
        source: &str,
        page: &Page<'_>,
        lines: &mut Vec<SpanLine>,
    ) -> Option<usize> {
        let last = node.last_child()?;
        let from = line_offset(source, last.data().sourcepos.start.line);
        let count = node.children().count();
        if count < 2 || is_too_short_to_tell(&source[from..]) {
            return None;
        }
        let start = self.list.map_or(of.start, |rest| rest.number);
        let mut finished = Vec::new();
        for (index, item) in node.children().take(count - 1).enumerate() {
            if index > 0 && page.has_gap_before(item) {
                finished.push(Vec::new());
            }
            finished.extend(list_item(item, of, start + index, page));
        }
        let was_given = self.given;
        let length = finished.len();
        self.give_part(finished, usize::MAX, lines);
        // The empty line before the last item may have been given out already.
        let has_gap = page.has_gap_before(last) && was_given <= length;
        self.list = Some(ListRest { number: start + count - 1, has_gap });
        self.forget_given();
        Some(from)
    }

    /// Gives out the rows of a table that is long enough for its columns to be known.
    fn finish_table_head(
        &mut self,
        node: Node<'_>,
        source: &str,
        lines: &mut Vec<SpanLine>,
    ) -> Option<usize> {
        let rows = node.children().count();
        if rows < LAYOUT_ROWS + 2 {
            return None;
        }
        let last = node.last_child()?;
        let (mut table, shown) = OpenTable::begin(node, source, &self.style)?;
        self.begin_block(lines);
        lines.extend(shown);
        let body = node.children().skip(1).take(rows - 2);
        body.for_each(|row| lines.extend(table.row(row, &self.style)));
        self.open = Some(OpenBlock::Table(table));
        Some(line_offset(source, last.data().sourcepos.start.line))
    }

    /// Gives out the whole lines of open code or of an open table, and closes it at its end.
    fn finish_open_lines(&mut self, lines: &mut Vec<SpanLine>) {
        while let Some(open) = &mut self.open {
            let Some(end) = self.source.find('\n') else { return };
            let line = self.source[..end].trim_end_matches('\r');
            match open.line(line, &self.style) {
                Some(shown) => lines.extend(shown),
                None => {
                    let is_fence = matches!(open, OpenBlock::Code(_));
                    self.open = None;
                    // The line that ends a table belongs to the next block.
                    if !is_fence {
                        return;
                    }
                }
            }
            self.source.drain(..=end);
        }
    }
}
