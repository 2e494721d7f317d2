//! What is worth reading of a page: its title, and its text as Markdown.
//!
//! `dom_smoothie` finds the article and writes the Markdown. It builds the whole tree, so pages
//! that are too deep or too long for that are read by our own tokens instead, which nothing can
//! exhaust: every text, a line for every block. So are pages in which it finds no article.

use crate::clean;
use crate::search::{HtmlToken, HtmlTokens, decoded, is_hidden, spaced};
use dom_smoothie::{Config, Readability, TextMode};
use encoding_rs::{Encoding, UTF_8};

/// Nesting of elements. A deeper tree costs time, and stack in a recursive walk.
const DEPTH_MAX: usize = 300;

/// Elements of a page that becomes a tree.
const ELEMENTS_MAX: usize = 30_000;

/// Formatting elements that are open at once. The parser opens all of them again in every paragraph
/// that follows, so their number multiplies the size of the tree.
const FORMATTING_MAX: usize = 30;

/// Formatting elements that a page can leave open in any number.
const FORMATTING: [&str; 12] =
    ["b", "big", "code", "em", "font", "i", "s", "small", "strike", "strong", "tt", "u"];

/// Elements that end where the next one of the same name begins.
const ITEMS: [&str; 8] = ["li", "p", "td", "th", "tr", "dt", "dd", "option"];

/// Characters of a title.
const TITLE_CHARS_MAX: usize = 300;

/// Where a page in HTML names its characters.
const PRESCAN_BYTES: usize = 1_024;

/// Elements whose content is not text for a reader.
const UNREAD: [&str; 7] = ["script", "style", "noscript", "template", "svg", "head", "title"];

/// Inline elements; all others begin a new line.
const INLINE: [&str; 16] = [
    "a", "b", "i", "em", "strong", "span", "code", "small", "sub", "sup", "mark", "u", "s", "q",
    "abbr", "time",
];

/// What kind of content a body has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyKind {
    Html,
    Plain,
    /// The server does not say.
    Unsaid,
}

impl BodyKind {
    /// By the content type of the server; `None` if it is not text.
    pub(super) fn of(content_type: &str) -> Option<Self> {
        let kind = content_type.split(';').next().unwrap_or_default().trim();
        match kind {
            "" => Some(Self::Unsaid),
            "text/html" | "application/xhtml+xml" => Some(Self::Html),
            "application/json"
            | "application/xml"
            | "application/javascript"
            | "application/yaml"
            | "application/toml" => Some(Self::Plain),
            _ if kind.starts_with("text/") => Some(Self::Plain),
            _ if kind.ends_with("+json") || kind.ends_with("+xml") => Some(Self::Plain),
            _ => None,
        }
    }
}

/// A page as text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ReadableText {
    pub(super) title: String,
    pub(super) text: String,
}

impl ReadableText {
    /// `None` for what is not text, whatever the server says.
    pub(super) fn of(bytes: &[u8], kind: BodyKind, content_type: &str, url: &str) -> Option<Self> {
        let text = characters(bytes, content_type);
        if text.contains('\0') {
            return None;
        }
        let looks_like_html = || text.trim_start().starts_with('<') && text.contains("</");
        let page = match kind {
            BodyKind::Html => Self::of_html(&text, url),
            BodyKind::Unsaid if looks_like_html() => Self::of_html(&text, url),
            BodyKind::Plain | BodyKind::Unsaid => Self { title: String::new(), text },
        };
        let title: String = spaced(&page.title).chars().take(TITLE_CHARS_MAX).collect();
        Some(Self { title, text: tidy(&page.text) })
    }

    fn of_html(html: &str, url: &str) -> Self {
        let plain = PlainPage::read(html);
        let article = plain.fits_parser().then(|| article(html, url)).flatten();
        article.unwrap_or(Self { title: plain.title, text: plain.text })
    }
}

fn article(html: &str, url: &str) -> Option<ReadableText> {
    let config = Config { text_mode: TextMode::Markdown, ..Config::default() };
    let article = Readability::new(html, Some(url), Some(config)).ok()?.parse().ok()?;
    let text = article.text_content.to_string();
    (!text.trim().is_empty()).then_some(ReadableText { title: article.title, text })
}

/// The characters, by the mark at the beginning, the other side's word, or the page's own.
fn characters(bytes: &[u8], content_type: &str) -> String {
    let named = charset(content_type.as_bytes());
    let encoding = named.or_else(|| charset(&bytes[..bytes.len().min(PRESCAN_BYTES)]));
    let (text, ..) = encoding.unwrap_or(UTF_8).decode(bytes);
    text.into_owned()
}

fn charset(said: &[u8]) -> Option<&'static Encoding> {
    let said = String::from_utf8_lossy(said).to_lowercase();
    let (_, name) = said.split_once("charset=")?;
    let name = name.trim_start_matches(['"', '\'']);
    let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || "-_:".contains(c)));
    Encoding::for_label(&name.as_bytes()[..end.unwrap_or(name.len())])
}

/// A page by its tokens alone, and how large its tree could become.
#[derive(Default)]
struct PlainPage {
    title: String,
    text: String,
    elements: usize,
    depth_max: usize,
    formatting_max: usize,
}

/// The elements that a parser may have open, rather too many than too few: as in the standard, an
/// end tag closes only an element of its own name, and `<div/>` opens one.
#[derive(Default)]
struct OpenElements<'p> {
    names: Vec<&'p str>,
    formatting: [usize; FORMATTING.len()],
}

impl<'p> OpenElements<'p> {
    fn open(&mut self, name: &'p str) {
        if let Some(at) = FORMATTING.iter().position(|known| name.eq_ignore_ascii_case(known)) {
            self.formatting[at] += 1;
        }
        self.end_previous(name);
        if self.names.len() <= DEPTH_MAX {
            self.names.push(name);
        }
    }

    /// Ends an item of the same name, with a paragraph or, for a row, a cell that is open in it.
    fn end_previous(&mut self, name: &str) {
        let is = |at: usize, wanted: &str| {
            let open = self.names.iter().rev().nth(at);
            open.is_some_and(|open| open.eq_ignore_ascii_case(wanted))
        };
        let mut inner = usize::from(is(0, "p") && !name.eq_ignore_ascii_case("p"));
        if name.eq_ignore_ascii_case("tr") && (is(inner, "td") || is(inner, "th")) {
            inner += 1;
        }
        if ITEMS.iter().any(|item| name.eq_ignore_ascii_case(item)) && is(inner, name) {
            self.names.truncate(self.names.len() - inner - 1);
        }
    }

    fn close(&mut self, name: &str) {
        if let Some(at) = FORMATTING.iter().position(|known| name.eq_ignore_ascii_case(known)) {
            self.formatting[at] = self.formatting[at].saturating_sub(1);
        }
        if let Some(at) = self.names.iter().rposition(|open| open.eq_ignore_ascii_case(name)) {
            self.names.truncate(at);
        }
    }
}

impl PlainPage {
    /// Whether a parser can turn it into a tree of bounded depth and size.
    fn fits_parser(&self) -> bool {
        self.depth_max <= DEPTH_MAX
            && self.elements <= ELEMENTS_MAX
            && self.formatting_max <= FORMATTING_MAX
    }

    fn read(html: &str) -> Self {
        let mut plain = Self::default();
        let mut open = OpenElements::default();
        let mut unread: Option<&str> = None;
        for token in HtmlTokens::new(html) {
            match token {
                HtmlToken::Text(text) => match unread {
                    None => plain.text.push_str(&decoded(text)),
                    Some("title") => plain.title = decoded(text),
                    Some(_) => {}
                },
                HtmlToken::Open(tag) => {
                    plain.elements += 1;
                    if !tag.is_void() {
                        open.open(tag.name());
                        plain.depth_max = plain.depth_max.max(open.names.len());
                        let formatting = open.formatting.iter().sum();
                        plain.formatting_max = plain.formatting_max.max(formatting);
                    }
                    let found = UNREAD.iter().find(|name| tag.is(name) && !tag.closed);
                    match (unread, found) {
                        (None | Some("head"), Some(name)) => unread = Some(name),
                        // A body also ends a head that was not closed.
                        (Some("head"), None) if tag.is("body") => unread = None,
                        _ => {}
                    }
                    if !INLINE.iter().any(|name| tag.is(name)) {
                        plain.text.push('\n');
                    }
                }
                HtmlToken::Close(name) => {
                    open.close(name);
                    if unread.is_some_and(|own| own.eq_ignore_ascii_case(name)) {
                        unread = None;
                    }
                    if !INLINE.iter().any(|own| own.eq_ignore_ascii_case(name)) {
                        plain.text.push('\n');
                    }
                }
            }
        }
        let lines = plain.text.lines().map(spaced).filter(|line| !line.is_empty());
        plain.text = lines.collect::<Vec<_>>().join("\n");
        plain
    }
}

/// Without characters that hide words from a person, and with one empty line where there are many.
fn tidy(text: &str) -> String {
    let text = clean(text.as_bytes());
    let mut out = String::with_capacity(text.len());
    let mut empty = 0;
    for line in text.lines() {
        let line: String = line.chars().filter(|c| !is_hidden(*c)).collect();
        let line = line.trim_end();
        empty = if line.is_empty() { empty + 1 } else { 0 };
        if empty < 2 && !(line.is_empty() && out.is_empty()) {
            out.push_str(line);
            out.push('\n');
        }
    }
    out.truncate(out.trim_end().len());
    out
}

#[cfg(test)]
#[path = "readable_tests.rs"]
mod tests;
