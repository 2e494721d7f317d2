//! Blocks of a document as lines: paragraphs, headings, lists, quotes, code, tables.

use crate::highlight::Highlighter;
use crate::inline;
use crate::paint::{Look, SpanLine, TerminalStyle, TextSpan};
use crate::table;
use crate::wrap::{display_width, wrap};
use comrak::nodes::{ListDelimType, ListType, Node, NodeList, NodeValue};
use comrak::{Arena, Options, parse_document};
use std::borrow::Cow;

/// The widest rule that is drawn across the page.
const RULE_WIDTH: usize = 60;

/// What is understood beyond CommonMark. Footnotes are not: where they are defined is not known
/// until the end, and their text is as readable.
pub(crate) fn options() -> Options<'static> {
    let mut options = Options::default();
    options.extension.strikethrough = true;
    options.extension.table = true;
    options.extension.tasklist = true;
    options.extension.autolink = true;
    options.extension.cjk_friendly_emphasis = true;
    options
}

/// What blocks are laid out on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Page<'a> {
    pub(crate) style: TerminalStyle,
    /// Which lines of the source are empty.
    blank: &'a [bool],
}

impl<'a> Page<'a> {
    pub(crate) fn new(style: TerminalStyle, blank: &'a [bool]) -> Self {
        Self { style, blank }
    }

    fn narrowed(self, columns: usize) -> Self {
        Self { style: self.style.narrowed(columns), ..self }
    }

    /// Whether the source has an empty line before a node. What is set apart stays so.
    pub(crate) fn has_gap_before(&self, node: Node<'_>) -> bool {
        let line = node.data().sourcepos.start.line;
        line.checked_sub(2).and_then(|before| self.blank.get(before)).copied().unwrap_or(false)
    }
}

/// Which lines are empty, also inside of a quote.
pub(crate) fn blank_lines(source: &str) -> Vec<bool> {
    source.lines().map(|line| line.trim_matches([' ', '\t', '>', '\r']).is_empty()).collect()
}

/// The source with the definitions of references as text: a reader along has seen the references
/// before, and must not lose where they lead.
pub(crate) fn with_definitions(source: &str) -> Cow<'_, str> {
    if !source.contains("]:") {
        return Cow::Borrowed(source);
    }
    let mut shown = String::with_capacity(source.len() + 8);
    let mut is_code = false;
    for line in source.split_inclusive('\n') {
        let text = line.trim_start_matches([' ', '>']);
        if text.starts_with("```") || text.starts_with("~~~") {
            is_code = !is_code;
        }
        let is_definition = text.starts_with('[') && text.contains("]:") && !is_code;
        if is_definition {
            shown.push_str(&line[..line.len() - text.len()]);
            shown.push('\\');
            shown.push_str(text);
        } else {
            shown.push_str(line);
        }
    }
    Cow::Owned(shown)
}

/// A whole document.
pub(crate) fn document(source: &str, style: &TerminalStyle) -> Vec<SpanLine> {
    let arena = Arena::new();
    let root = parse_document(&arena, &with_definitions(source), &options());
    let blank = blank_lines(source);
    children(root, &Page::new(*style, &blank))
}

/// The blocks of a node, with an empty line between them.
fn children(node: Node<'_>, page: &Page<'_>) -> Vec<SpanLine> {
    let mut lines = Vec::new();
    for child in node.children() {
        let block = block(child, page);
        if !lines.is_empty() && !block.is_empty() {
            lines.push(Vec::new());
        }
        lines.extend(block);
    }
    lines
}

/// One block.
pub(crate) fn block(node: Node<'_>, page: &Page<'_>) -> Vec<SpanLine> {
    let style = &page.style;
    match &node.data().value {
        NodeValue::Paragraph => paragraph(node, style),
        NodeValue::Heading(heading) => self::heading(node, usize::from(heading.level), style),
        NodeValue::List(list) => self::list(node, list, list.start, page),
        NodeValue::BlockQuote => quote(node, page),
        NodeValue::CodeBlock(code) => self::code(&code.info, &code.literal, style),
        NodeValue::HtmlBlock(html) => literal(&html.literal, style),
        NodeValue::ThematicBreak => vec![vec![rule(style.width.min(RULE_WIDTH), style)]],
        NodeValue::Table(table) => table::lines(node, &table.alignments, style),
        _ => children(node, page),
    }
}

pub(crate) fn paragraph(node: Node<'_>, style: &TerminalStyle) -> Vec<SpanLine> {
    wrap(&inline::spans(node, Look::default(), style), style.width)
}

/// A heading is bold; where nothing can be bold, it keeps its number signs.
fn heading(node: Node<'_>, level: usize, style: &TerminalStyle) -> Vec<SpanLine> {
    let look = Look { bold: true, underline: level == 1, ..Look::default() };
    let mut spans = inline::spans(node, look, style);
    if !style.emphasis {
        spans.insert(0, TextSpan::plain(&format!("{} ", "#".repeat(level))));
    }
    wrap(&spans, style.width)
}

fn quote(node: Node<'_>, page: &Page<'_>) -> Vec<SpanLine> {
    let bar = if page.style.unicode { "│ " } else { "> " };
    let lines = children(node, &page.narrowed(2));
    lines.into_iter().map(|line| prefixed(TextSpan::new(bar, Look::DIM), line)).collect()
}

/// Code, line by line.
pub(crate) fn code(info: &str, source: &str, style: &TerminalStyle) -> Vec<SpanLine> {
    let mut highlighter = Highlighter::new(info);
    let lines = source.strip_suffix('\n').unwrap_or(source).split('\n');
    lines.flat_map(|line| code_line(line, &mut highlighter, style)).collect()
}

/// One line of code. What does not fit goes on below, between words, behind a mark: a line without
/// the mark begins where it begins in the source.
pub(crate) fn code_line(
    line: &str,
    highlighter: &mut Highlighter,
    style: &TerminalStyle,
) -> Vec<SpanLine> {
    const MARGIN: &str = "  ";
    let spans = if style.color { highlighter.line(line) } else { vec![TextSpan::plain(line)] };
    if line.trim().is_empty() {
        return vec![Vec::new()];
    }
    let width: usize = spans.iter().map(|span| display_width(&span.text)).sum();
    if width + MARGIN.len() <= style.width {
        return vec![prefixed(TextSpan::plain(MARGIN), spans)];
    }
    let below = if style.unicode { "  ↪ " } else { "  > " };
    let lines = wrap(&spans, style.narrowed(display_width(below)).width).into_iter();
    let lines = lines.enumerate().map(|(index, line)| match index {
        0 => prefixed(TextSpan::plain(MARGIN), line),
        _ => prefixed(TextSpan::new(below, Look::DIM), line),
    });
    lines.collect()
}

fn literal(text: &str, style: &TerminalStyle) -> Vec<SpanLine> {
    wrap(&[TextSpan::plain(text.trim_end())], style.width)
}

fn rule(width: usize, style: &TerminalStyle) -> TextSpan {
    let mark = if style.unicode { "─" } else { "-" };
    TextSpan::new(&mark.repeat(width), Look::DIM)
}

/// A list whose first item has this number. An empty line stands between items where the source
/// has one.
pub(crate) fn list(
    node: Node<'_>,
    list: &NodeList,
    start: usize,
    page: &Page<'_>,
) -> Vec<SpanLine> {
    let mut lines = Vec::new();
    for (index, item) in node.children().enumerate() {
        if index > 0 && page.has_gap_before(item) {
            lines.push(Vec::new());
        }
        lines.extend(list_item(item, list, start + index, page));
    }
    lines
}

/// One item of a list.
pub(crate) fn list_item(
    item: Node<'_>,
    list: &NodeList,
    number: usize,
    page: &Page<'_>,
) -> Vec<SpanLine> {
    let mark = match list.list_type {
        ListType::Ordered if list.delimiter == ListDelimType::Paren => format!("{number}) "),
        ListType::Ordered => format!("{number}. "),
        ListType::Bullet => bullet(item, &page.style).to_owned(),
    };
    hang(&TextSpan::plain(&mark), |inner| item_lines(item, inner), page)
}

fn bullet(item: Node<'_>, style: &TerminalStyle) -> &'static str {
    match &item.data().value {
        NodeValue::TaskItem(task) if task.symbol.is_some() => "[x] ",
        NodeValue::TaskItem(_) => "[ ] ",
        _ if style.unicode => "• ",
        _ => "- ",
    }
}

/// The blocks of an item, with an empty line between them where the source has one.
fn item_lines(item: Node<'_>, page: &Page<'_>) -> Vec<SpanLine> {
    let mut lines = Vec::new();
    for child in item.children() {
        if !lines.is_empty() && page.has_gap_before(child) {
            lines.push(Vec::new());
        }
        lines.extend(block(child, page));
    }
    lines
}

/// Lines behind a mark, and below its text.
fn hang(
    mark: &TextSpan,
    lines: impl FnOnce(&Page<'_>) -> Vec<SpanLine>,
    page: &Page<'_>,
) -> Vec<SpanLine> {
    let indent = display_width(&mark.text);
    let mut lines = lines(&page.narrowed(indent));
    if lines.is_empty() {
        lines.push(Vec::new());
    }
    let below = TextSpan::plain(&" ".repeat(indent));
    lines
        .into_iter()
        .enumerate()
        .map(|(index, line)| match (index, line.is_empty()) {
            (0, _) => prefixed(mark.clone(), line),
            (_, true) => line,
            (_, false) => prefixed(below.clone(), line),
        })
        .collect()
}

fn prefixed(first: TextSpan, line: SpanLine) -> SpanLine {
    let mut all = vec![first];
    all.extend(line);
    all
}
