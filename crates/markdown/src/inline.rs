//! What stands inside a paragraph, a heading or a cell, as spans.

use crate::paint::{Color, Look, TerminalStyle, TextSpan, without_controls};
use comrak::nodes::{Node, NodeValue};
use std::rc::Rc;
use unicode_width::UnicodeWidthChar;

/// The spans of a node's children.
pub(crate) fn spans(node: Node<'_>, look: Look, style: &TerminalStyle) -> Vec<TextSpan> {
    let mut reader = InlineReader { style, spans: Vec::new(), link: None, is_in_link: false };
    for child in node.children() {
        reader.read(child, look);
    }
    reader.spans
}

struct InlineReader<'a> {
    style: &'a TerminalStyle,
    spans: Vec<TextSpan>,
    link: Option<Rc<str>>,
    is_in_link: bool,
}

impl InlineReader<'_> {
    fn read(&mut self, node: Node<'_>, look: Look) {
        match &node.data().value {
            NodeValue::Text(text) => self.text(text, look),
            NodeValue::SoftBreak | NodeValue::LineBreak => self.push("\n", look),
            NodeValue::Code(code) => self.code(&code.literal, look),
            NodeValue::HtmlInline(html) => self.html(html, look),
            NodeValue::Emph => self.children(node, Look { italic: true, ..look }),
            NodeValue::Strong => self.children(node, Look { bold: true, ..look }),
            NodeValue::Strikethrough => self.children(node, Look { strike: true, ..look }),
            NodeValue::Link(link) => self.link(node, &link.url, look),
            NodeValue::Image(image) => self.image(node, &image.url, look),
            NodeValue::FootnoteReference(note) => self.push(&format!("[{}]", note.name), look),
            _ => self.children(node, look),
        }
    }

    fn children(&mut self, node: Node<'_>, look: Look) {
        for child in node.children() {
            self.read(child, look);
        }
    }

    fn push(&mut self, text: &str, look: Look) {
        let mut span = TextSpan::new(text, look);
        span.link.clone_from(&self.link);
        self.spans.push(span);
    }

    /// Plain text. Marks within a closed link stay what they are.
    fn text(&mut self, text: &str, look: Look) {
        self.push(text, look);
        if let Some(span) = self.spans.last_mut() {
            span.may_pair = !self.is_in_link;
        }
    }

    /// Code keeps its backticks where no color shows what it is.
    fn code(&mut self, code: &str, look: Look) {
        if self.style.color {
            self.push(code, Look { color: Some(Color::Cyan), ..look });
        } else {
            self.push(&format!("`{code}`"), look);
        }
    }

    fn html(&mut self, html: &str, look: Look) {
        let tag = html.trim_matches(['<', '>', '/', ' ']);
        if tag.eq_ignore_ascii_case("br") {
            self.push("\n", look);
        } else {
            self.push(html, look);
        }
    }

    /// A link shows where it leads, unless the terminal shows that itself; one whose words name
    /// another address than the one it leads to always does.
    fn link(&mut self, node: Node<'_>, url: &str, look: Look) {
        let (url, rest) = address_and_rest(node, url);
        let target = web_address(url);
        let before = self.spans.len();
        let outer = self.link.clone();
        if self.style.links {
            self.link = target.as_deref().map(Rc::from);
        }
        let was_in_link = std::mem::replace(&mut self.is_in_link, true);
        let underlined = Look { underline: true, ..look };
        match bare_words(node).as_deref().and_then(|words| words.strip_suffix(rest)) {
            Some(words) if !rest.is_empty() => self.push(words, underlined),
            _ => self.children(node, underlined),
        }
        self.is_in_link = was_in_link;
        self.link = outer;
        let words: String = self.spans[before..].iter().map(|span| span.text.as_str()).collect();
        let shown = without_controls(url);
        let names_target = words == shown || shown.strip_prefix("mailto:") == Some(&words);
        let names_other = words.contains("://") || words.starts_with("www.");
        let is_shown_by_terminal = self.style.links && target.is_some() && !names_other;
        if !names_target && !is_shown_by_terminal && !shown.is_empty() {
            self.push(&format!(" ({shown})"), Look { dim: true, ..look });
        }
        if !rest.is_empty() {
            self.push(rest, look);
        }
    }

    fn image(&mut self, node: Node<'_>, url: &str, look: Look) {
        self.push("[", look);
        self.children(node, look);
        self.push(&format!("] ({url})"), look);
    }
}

/// An address that stands in the text, and the Chinese words that follow it without a space: they
/// are no part of it.
fn address_and_rest<'a>(node: Node<'_>, url: &'a str) -> (&'a str, &'a str) {
    let is_bare = bare_words(node).is_some_and(|words| url.ends_with(&words));
    let end = url.find(|letter: char| letter.width().unwrap_or(0) > 1).unwrap_or(url.len());
    if is_bare && url[..end].contains('.') { url.split_at(end) } else { (url, "") }
}

/// The words of a link that has nothing but plain words.
fn bare_words(node: Node<'_>) -> Option<String> {
    let child = node.first_child()?;
    match &child.data().value {
        NodeValue::Text(text) if child.next_sibling().is_none() => Some(text.to_string()),
        _ => None,
    }
}

/// The address if a terminal may open it: web or mail, without anything that ends an escape code.
fn web_address(url: &str) -> Option<String> {
    let is_known = ["https://", "http://", "mailto:"].iter().any(|scheme| url.starts_with(scheme));
    let is_clean = url.chars().all(|letter| !letter.is_control() && !letter.is_whitespace());
    (is_known && is_clean).then(|| url.to_owned())
}
