//! Markdown as HTML that is safe to show, whoever wrote it.
//!
//! HTML in the text is shown as text. Pictures become links: nothing is loaded because a model
//! wrote an address. What is left passes a list of allowed tags and attributes.

use crate::code::with_code;
use ammonia::Builder;
use comrak::Options;
use everloop_text::pages as words;
use everloop_types::Lang;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// Bytes of one text that are rendered; a longer one is shown as plain text.
const RENDERED_MAX: usize = 400_000;

const TAGS: [&str; 21] = [
    "a",
    "blockquote",
    "br",
    "code",
    "del",
    "em",
    "h3",
    "hr",
    "input",
    "li",
    "ol",
    "p",
    "pre",
    "strong",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
];

static SANITIZER: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut builder = Builder::default();
    let attributes = HashMap::from([
        ("a", HashSet::from(["href"])),
        ("code", HashSet::from(["class"])),
        ("td", HashSet::from(["align"])),
        ("th", HashSet::from(["align"])),
        ("ol", HashSet::from(["start"])),
        ("input", HashSet::from(["type", "checked", "disabled"])),
    ]);
    builder
        .tags(HashSet::from(TAGS))
        .tag_attributes(attributes)
        .generic_attributes(HashSet::new())
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        .url_relative(ammonia::UrlRelative::Deny)
        .link_rel(Some("noopener noreferrer nofollow"));
    builder
});

fn options() -> Options<'static> {
    let mut options = Options::default();
    options.extension.table = true;
    options.extension.strikethrough = true;
    options.extension.autolink = true;
    options.extension.tasklist = true;
    options.extension.cjk_friendly_emphasis = true;
    options.parse.smart = false;
    options.render.escape = true;
    options
}

/// The text as HTML.
#[must_use]
pub fn to_html(text: &str) -> String {
    sanitized(text).replace("<pre>", "<pre tabindex=\"0\">")
}

/// A message as HTML: its blocks of code are colored and can be copied.
#[must_use]
pub fn message_html(lang: Lang, text: &str) -> String {
    if text.len() > RENDERED_MAX {
        return to_html(text);
    }
    // Every link of a message leads away from here; a screen reader hears it, too.
    let away = format!("<span class=\"vh\"> {}</span></a>", words::chat::external().in_lang(lang));
    with_code(lang, &sanitized(text).replace("</a>", &away))
}

fn sanitized(text: &str) -> String {
    if text.len() > RENDERED_MAX {
        return format!("<pre>{}</pre>", ammonia::clean_text(text));
    }
    let raw = comrak::markdown_to_html(text, &options());
    let html = SANITIZER.clean(&links_for_pictures(&raw)).to_string();
    // A wide table scrolls inside itself: the keys have to reach it.
    html.replace("<input", "<input aria-hidden=\"true\"")
        .replace("<table>", "<table tabindex=\"0\">")
}

/// `<img src="x" alt="y" />` as `<a href="x">y</a>`, and headings as those of a message.
fn links_for_pictures(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let Some(end) = rest.find('>') else { break };
        let tag = &rest[..=end];
        match picture(tag) {
            Some(link) => out.push_str(&link),
            None => out.push_str(&lowered(tag)),
        }
        rest = &rest[end + 1..];
    }
    out.push_str(rest);
    out
}

fn picture(tag: &str) -> Option<String> {
    let rest = tag.strip_prefix("<img ")?;
    let value = |name: &str| {
        let from = rest.find(&format!("{name}=\""))? + name.len() + 2;
        let end = rest[from..].find('"')?;
        Some(&rest[from..from + end])
    };
    let source = value("src").unwrap_or_default();
    let words = value("alt").filter(|words| !words.is_empty()).unwrap_or(source);
    Some(format!("<a href=\"{source}\">{words}</a>"))
}

/// Every heading of a message is one level below the messages: no level is ever left out.
fn lowered(tag: &str) -> String {
    match tag.as_bytes() {
        [b'<', b'h', b'1'..=b'6', b'>'] => "<h3>".to_owned(),
        [b'<', b'/', b'h', b'1'..=b'6', b'>'] => "</h3>".to_owned(),
        _ => tag.to_owned(),
    }
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
