//! Cuts HTML into tags and texts. Any text has tokens; a `<` that begins nothing is text itself.

/// A piece of a page.
#[derive(Debug, PartialEq)]
pub(crate) enum HtmlToken<'p> {
    Open(HtmlTag<'p>),
    Close(&'p str),
    /// Unchanged, with its entities.
    Text(&'p str),
}

/// The beginning of an element.
#[derive(Debug, PartialEq)]
pub(crate) struct HtmlTag<'p> {
    name: &'p str,
    /// All between the name and `>`.
    rest: &'p str,
    /// `<name/>`.
    pub(crate) closed: bool,
}

/// The tokens of a page, in order.
pub(crate) struct HtmlTokens<'p> {
    rest: &'p str,
    /// The element whose inside is text until its own end, if we are in one.
    raw: Option<&'p str>,
}

/// Elements that have no content.
const VOID: [&str; 14] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr",
];

/// Elements whose inside holds no tags.
const RAW: [&str; 4] = ["script", "style", "textarea", "title"];

impl<'p> HtmlTokens<'p> {
    pub(crate) fn new(source: &'p str) -> Self {
        Self { rest: source, raw: None }
    }

    fn take(&mut self, bytes: usize) -> &'p str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        taken
    }

    /// Until the end of the raw element, or of the page.
    fn raw_text(&mut self, name: &str) -> Option<HtmlToken<'p>> {
        let ends = |(at, _): &(usize, &str)| {
            let after = &self.rest.as_bytes()[at + 2..];
            after.get(..name.len()).is_some_and(|own| own.eq_ignore_ascii_case(name.as_bytes()))
        };
        let end = self.rest.match_indices("</").find(ends).map_or(self.rest.len(), |(at, _)| at);
        (end > 0).then(|| HtmlToken::Text(self.take(end)))
    }

    fn tag(&mut self, end: usize, name: &'p str) -> HtmlToken<'p> {
        let whole = self.take(end);
        let inner = whole.trim_end_matches('>').trim_start_matches(['<', '/']);
        if whole.starts_with("</") {
            return HtmlToken::Close(name);
        }
        let rest = inner.get(name.len()..).unwrap_or_default();
        let closed = rest.trim_end().ends_with('/');
        if !closed && RAW.iter().any(|raw| name.eq_ignore_ascii_case(raw)) {
            self.raw = Some(name);
        }
        HtmlToken::Open(HtmlTag { name, rest, closed })
    }
}

impl<'p> Iterator for HtmlTokens<'p> {
    type Item = HtmlToken<'p>;

    fn next(&mut self) -> Option<HtmlToken<'p>> {
        if let Some(name) = self.raw.take()
            && let Some(text) = self.raw_text(name)
        {
            return Some(text);
        }
        while !self.rest.is_empty() {
            match begins(self.rest) {
                TokenStart::Text(bytes) => return Some(HtmlToken::Text(self.take(bytes))),
                TokenStart::Nothing(bytes) => drop(self.take(bytes)),
                TokenStart::Tag { name, end } => return Some(self.tag(end, name)),
            }
        }
        None
    }
}

enum TokenStart<'p> {
    Text(usize),
    /// A comment, a declaration, an instruction.
    Nothing(usize),
    Tag {
        name: &'p str,
        end: usize,
    },
}

fn begins(rest: &str) -> TokenStart<'_> {
    let Some(after) = rest.strip_prefix('<') else {
        return TokenStart::Text(rest.find('<').unwrap_or(rest.len()));
    };
    if let Some(comment) = after.strip_prefix("!--") {
        return TokenStart::Nothing(comment.find("-->").map_or(rest.len(), |at| 4 + at + 3));
    }
    if after.starts_with(['!', '?']) {
        return TokenStart::Nothing(rest.find('>').map_or(rest.len(), |at| at + 1));
    }
    let named = after.strip_prefix('/').unwrap_or(after);
    if !named.starts_with(|c: char| c.is_ascii_alphabetic()) {
        let text = after.find('<').map_or(rest.len(), |at| at + 1);
        return TokenStart::Text(text);
    }
    let ends = |c: char| c.is_ascii_whitespace() || matches!(c, '>' | '/');
    let name = &named[..named.find(ends).unwrap_or(named.len())];
    let head = rest.len() - named.len() + name.len();
    TokenStart::Tag { name, end: head + end_of_tag(&rest[head..]) }
}

/// The position after the first `>` outside quotes. A quote opens a value only after `=`, so that
/// a stray one does not swallow the page.
fn end_of_tag(attributes: &str) -> usize {
    let mut quote = None;
    let mut value = false;
    for (at, byte) in attributes.bytes().enumerate() {
        match (quote, byte) {
            (Some(open), byte) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'>') => return at + 1,
            (None, b'"' | b'\'') if value => quote = Some(byte),
            (None, byte) if byte.is_ascii_whitespace() => continue,
            (None, _) => {}
        }
        value = quote.is_none() && byte == b'=';
    }
    attributes.len()
}

impl<'p> HtmlTag<'p> {
    /// Whether it has this name.
    pub(crate) fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    /// Its name as written.
    pub(crate) fn name(&self) -> &'p str {
        self.name
    }

    /// Whether it is an element that has no content.
    pub(crate) fn is_void(&self) -> bool {
        VOID.iter().any(|void| self.is(void))
    }

    /// Names and values, as written.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = (&'p str, &'p str)> {
        TagAttributes(self.rest)
    }
}

struct TagAttributes<'p>(&'p str);

impl<'p> Iterator for TagAttributes<'p> {
    type Item = (&'p str, &'p str);

    fn next(&mut self) -> Option<Self::Item> {
        let between = |c: char| c.is_ascii_whitespace() || c == '/';
        let rest = self.0.trim_start_matches(between);
        if rest.is_empty() {
            return None;
        }
        // A `=` in the first place belongs to the name: each turn takes at least one character.
        let ends = |(at, c): &(usize, char)| between(*c) || (*c == '=' && *at > 0);
        let end = rest.char_indices().find(ends).map_or(rest.len(), |(at, _)| at);
        let (name, after) = rest.split_at(end);
        let Some(value) = after.trim_start().strip_prefix('=') else {
            self.0 = after;
            return Some((name, ""));
        };
        let value = value.trim_start();
        let (value, after) = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => {
                let inner = &value[1..];
                inner.split_once(quote).unwrap_or((inner, ""))
            }
            _ => {
                let end = value.find(|c: char| c.is_ascii_whitespace()).unwrap_or(value.len());
                value.split_at(end)
            }
        };
        self.0 = after;
        Some((name, value))
    }
}
