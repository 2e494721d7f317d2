//! Reads HTML as it comes: a flat tree of elements and texts, and what is broken is passed over.
//!
//! ```text
//!   bytes ──tokens──► nodes in reading order ──► elements by class ──► their clean text
//!                     each knows its parent and where its inside ends
//! ```
//!
//! Not the standard parser that `fetch_web` uses: that one can turn a small hostile page into a
//! tree of any size, and result pages need only elements by class, their content and their text.
//! Nothing here recurses, and everything has a bound.
//!
//! Deliberately absent: selectors, character sets other than UTF-8, scripts, repairs of tables.

use super::text::{decoded, spaced};
use super::token::{HtmlTag, HtmlToken, HtmlTokens};

/// Elements and texts of a page; what comes after them is not read.
const NODES_MAX: usize = 100_000;

/// Elements within elements; deeper ones have no inside.
const DEPTH_MAX: usize = 256;

/// Elements whose content is not text for a reader.
const UNREAD: [&str; 6] = ["script", "style", "noscript", "template", "svg", "head"];

/// Block elements.
const BLOCKS: [&str; 14] =
    ["p", "div", "li", "ul", "ol", "br", "h1", "h2", "h3", "h4", "table", "tr", "td", "section"];

/// A page that was read.
pub(super) struct HtmlPage<'p> {
    nodes: Vec<HtmlNode<'p>>,
}

struct HtmlNode<'p> {
    what: HtmlNodeKind<'p>,
    parent: Option<usize>,
    /// The first node that is not inside.
    end: usize,
}

enum HtmlNodeKind<'p> {
    Element(HtmlTag<'p>),
    Text(&'p str),
}

/// An element of a page.
#[derive(Clone, Copy)]
pub(super) struct HtmlElement<'a, 'p> {
    page: &'a HtmlPage<'p>,
    at: usize,
    tag: &'a HtmlTag<'p>,
}

impl<'p> HtmlPage<'p> {
    /// Reads a page; there is none that cannot be read.
    pub(super) fn read(source: &'p str) -> Self {
        let mut page = Self { nodes: Vec::new() };
        let mut open: Vec<usize> = Vec::new();
        for token in HtmlTokens::new(source) {
            if page.nodes.len() >= NODES_MAX {
                break;
            }
            match token {
                HtmlToken::Text(text) => page.push(HtmlNodeKind::Text(text), open.last()),
                HtmlToken::Open(tag) => {
                    page.end_of_previous(&tag, &mut open);
                    let inside = !tag.closed && !tag.is_void();
                    page.push(HtmlNodeKind::Element(tag), open.last());
                    if inside && open.len() < DEPTH_MAX {
                        open.push(page.nodes.len() - 1);
                    }
                }
                HtmlToken::Close(name) => page.close(&mut open, |tag| tag.is(name)),
            }
        }
        let end = page.nodes.len();
        open.into_iter().for_each(|at| page.nodes[at].end = end);
        page
    }

    fn push(&mut self, what: HtmlNodeKind<'p>, parent: Option<&usize>) {
        let end = self.nodes.len() + 1;
        self.nodes.push(HtmlNode { what, parent: parent.copied(), end });
    }

    /// Some elements end where the next of their kind begins.
    fn end_of_previous(&mut self, next: &HtmlTag<'_>, open: &mut Vec<usize>) {
        let within = |tag: &HtmlTag<'_>| tag.is("ul") || tag.is("ol");
        let listed = |&at: &usize| !self.tag(at).is_some_and(within);
        if next.is("li")
            && open.iter().rev().take_while(|at| listed(at)).any(|at| self.is(*at, "li"))
        {
            self.close(open, |tag| tag.is("li"));
        }
        if BLOCKS[..5].iter().any(|block| next.is(block))
            && open.last().is_some_and(|at| self.is(*at, "p"))
        {
            self.close(open, |tag| tag.is("p"));
        }
    }

    /// Ends the innermost open element that fits, and all within it; a stray end is passed over.
    fn close(&mut self, open: &mut Vec<usize>, fits: impl Fn(&HtmlTag<'p>) -> bool) {
        let Some(depth) = open.iter().rposition(|at| self.tag(*at).is_some_and(&fits)) else {
            return;
        };
        let end = self.nodes.len();
        open.drain(depth..).for_each(|at| self.nodes[at].end = end);
    }

    fn tag(&self, at: usize) -> Option<&HtmlTag<'p>> {
        match &self.nodes[at].what {
            HtmlNodeKind::Element(tag) => Some(tag),
            HtmlNodeKind::Text(_) => None,
        }
    }

    fn is(&self, at: usize, name: &str) -> bool {
        self.tag(at).is_some_and(|tag| tag.is(name))
    }

    fn between(&self, from: usize, to: usize) -> impl Iterator<Item = HtmlElement<'_, 'p>> {
        let found = (from..to).filter_map(|at| Some((at, self.tag(at)?)));
        found.map(|(at, tag)| HtmlElement { page: self, at, tag })
    }

    /// Every element, in reading order.
    pub(super) fn elements(&self) -> impl Iterator<Item = HtmlElement<'_, 'p>> {
        self.between(0, self.nodes.len())
    }

    /// Those that have a class.
    pub(super) fn of_class(&self, class: &str) -> impl Iterator<Item = HtmlElement<'_, 'p>> {
        self.elements().filter(move |element| element.has_class(class))
    }
}

impl<'a, 'p> HtmlElement<'a, 'p> {
    /// Whether it has this name.
    pub(super) fn is(&self, name: &str) -> bool {
        self.tag.is(name)
    }

    /// The value of an attribute; empty if it has none.
    pub(super) fn attribute(&self, name: &str) -> Option<String> {
        self.tag
            .attributes()
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, v)| decoded(v))
    }

    /// Whether this is among its classes.
    pub(super) fn has_class(&self, class: &str) -> bool {
        self.attribute("class").is_some_and(|all| all.split_whitespace().any(|one| one == class))
    }

    /// The elements inside, in reading order.
    pub(super) fn inside(&self) -> impl Iterator<Item = HtmlElement<'a, 'p>> {
        self.page.between(self.at + 1, self.page.nodes[self.at].end)
    }

    /// The first element inside that fits.
    pub(super) fn first(
        &self,
        fits: impl Fn(&HtmlElement<'a, 'p>) -> bool,
    ) -> Option<HtmlElement<'a, 'p>> {
        self.inside().find(fits)
    }

    /// Whether it is inside an element that fits.
    pub(super) fn within(&self, fits: impl Fn(&HtmlElement<'a, 'p>) -> bool) -> bool {
        let mut at = self.page.nodes[self.at].parent;
        while let Some(parent) = at {
            let found = self.page.between(parent, parent + 1).next();
            if found.is_some_and(|element| fits(&element)) {
                return true;
            }
            at = self.page.nodes[parent].parent;
        }
        false
    }

    /// What a reader sees of it, on one line.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let (mut at, end) = (self.at + 1, self.page.nodes[self.at].end);
        while at < end {
            match &self.page.nodes[at].what {
                HtmlNodeKind::Text(part) => text.push_str(&decoded(part)),
                HtmlNodeKind::Element(tag) if UNREAD.iter().any(|name| tag.is(name)) => {
                    at = self.page.nodes[at].end;
                    continue;
                }
                HtmlNodeKind::Element(tag) if BLOCKS.iter().any(|name| tag.is(name)) => {
                    text.push(' ')
                }
                HtmlNodeKind::Element(_) => {}
            }
            at += 1;
        }
        spaced(&text)
    }
}

#[cfg(test)]
#[path = "html_tests.rs"]
mod tests;
