//! Tags that models write around what they think and say, taken out of what people read, also where
//! they come in pieces (TD-8).
//!
//! ```text
//!   <think>…</think> ──► reasoning      <final>…</final> ──► text, without the tags
//! ```
//!
//! What stands in backticks is quoted, and stays as it is. What may be the beginning of a tag is
//! held back until that is sure.

/// A piece of a reply, without tags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplyPiece {
    /// For people.
    Text(String),
    /// What the model thought.
    Reasoning(String),
}

/// A reply on its way to people.
#[derive(Debug, Clone, Default)]
pub struct TagFilter {
    held: String,
    thinks: bool,
    /// Nothing but blanks was let go since the last tag.
    is_fresh: bool,
    code: Code,
}

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";
const DROPPED: [&str; 3] = ["<final>", "</final>", CLOSE];

impl TagFilter {
    /// What can be shown once this piece has come.
    pub fn push(&mut self, piece: &str) -> Vec<ReplyPiece> {
        self.held.push_str(piece);
        let mut shown = Vec::new();
        while self.step(&mut shown) {}
        shown
    }

    /// The end of the reply. What was held back was no tag.
    pub fn finish(&mut self) -> Vec<ReplyPiece> {
        let held = std::mem::take(&mut self.held);
        let mut shown = Vec::new();
        self.let_go(&held, &mut shown);
        *self = Self::default();
        shown
    }

    /// Takes what is held up to the next tag. Whether there may be more.
    fn step(&mut self, shown: &mut Vec<ReplyPiece>) -> bool {
        if self.thinks {
            return self.think(shown);
        }
        let mut code = self.code;
        for (at, c) in self.held.char_indices() {
            let rest = &self.held[at..];
            if c == '<' && !code.is_open() {
                if let Some(tag) = [OPEN].iter().chain(&DROPPED).find(|tag| rest.starts_with(**tag))
                {
                    self.cut(at, tag, shown);
                    return true;
                }
                if [OPEN].iter().chain(&DROPPED).any(|tag| tag.starts_with(rest)) {
                    self.take(at, shown);
                    return false;
                }
            }
            code.see(c);
        }
        self.take(self.held.len(), shown);
        false
    }

    fn think(&mut self, shown: &mut Vec<ReplyPiece>) -> bool {
        if let Some(at) = self.held.find(CLOSE) {
            self.cut(at, CLOSE, shown);
            return true;
        }
        let begun = (1..CLOSE.len()).rev().find(|length| self.held.ends_with(&CLOSE[..*length]));
        self.take(self.held.len() - begun.unwrap_or(0), shown);
        false
    }

    /// Releases the text before a tag, and drops the tag.
    fn cut(&mut self, at: usize, tag: &str, shown: &mut Vec<ReplyPiece>) {
        self.take(at, shown);
        self.held.drain(..tag.len());
        (self.thinks, self.is_fresh, self.code) = (tag == OPEN, true, Code::default());
    }

    fn take(&mut self, length: usize, shown: &mut Vec<ReplyPiece>) {
        let rest = self.held.split_off(length);
        let sure = std::mem::replace(&mut self.held, rest);
        self.let_go(&sure, shown);
    }

    fn let_go(&mut self, text: &str, shown: &mut Vec<ReplyPiece>) {
        text.chars().for_each(|c| self.code.see(c));
        let text = if self.is_fresh { text.trim_start() } else { text };
        if text.is_empty() {
            return;
        }
        self.is_fresh = false;
        shown.push(match self.thinks {
            true => ReplyPiece::Reasoning(text.to_owned()),
            false => ReplyPiece::Text(text.to_owned()),
        });
    }
}

/// Whether a place lies in backticks: a block, or a span within its line.
#[derive(Debug, Clone, Copy, Default)]
struct Code {
    /// Backticks that must come to close it.
    fence: usize,
    /// Backticks that have just come in a row.
    ticks: usize,
}

impl Code {
    fn see(&mut self, c: char) {
        if c == '`' {
            self.ticks += 1;
            return;
        }
        let ticks = std::mem::take(&mut self.ticks);
        match self.fence {
            0 => self.fence = ticks,
            open if ticks == open || (ticks > open && open >= 3) => self.fence = 0,
            _ => {}
        }
        if c == '\n' && self.fence < 3 {
            self.fence = 0;
        }
    }

    fn is_open(&self) -> bool {
        let mut now = *self;
        now.see(' ');
        now.fence > 0
    }
}

/// A whole reply as people read it: without tags, and without what was only thought.
#[must_use]
pub fn without_tags(text: &str) -> String {
    if !text.contains("think>") && !text.contains("final>") {
        return text.to_owned();
    }
    let mut filter = TagFilter::default();
    let mut pieces = filter.push(text);
    pieces.extend(filter.finish());
    let said = pieces.iter().filter_map(|piece| match piece {
        ReplyPiece::Text(text) => Some(text.as_str()),
        ReplyPiece::Reasoning(_) => None,
    });
    let shown: String = said.collect();
    if shown == text { shown } else { shown.trim().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::{ReplyPiece, TagFilter, without_tags};

    fn watched(pieces: &[&str]) -> (String, String) {
        let mut filter = TagFilter::default();
        let mut all: Vec<ReplyPiece> = pieces.iter().flat_map(|piece| filter.push(piece)).collect();
        all.extend(filter.finish());
        let (mut text, mut thought) = (String::new(), String::new());
        for piece in all {
            match piece {
                ReplyPiece::Text(piece) => text.push_str(&piece),
                ReplyPiece::Reasoning(piece) => thought.push_str(&piece),
            }
        }
        (text, thought)
    }

    #[test]
    fn tags_are_never_shown_wherever_they_are_torn() {
        for (whole, text, thought) in [
            ("<think>hm <b></think>\n\n<final>It is 3 < 4.</final>", "It is 3 < 4.", "hm <b>"),
            ("<final>在三点</final>\n", "在三点", ""),
            ("It is <think>so</think>three.", "It is three.", "so"),
            ("so it is</think>\n\nThree.", "so it isThree.", ""),
            ("<think>never ends", "", "never ends"),
            ("Write `<final>` so:\n```\n<think>\n```\nDone <fin", "", ""),
        ] {
            let text = if text.is_empty() && thought.is_empty() { whole } else { text };
            for (at, _) in whole.char_indices() {
                let (one, other) = whole.split_at(at);
                assert_eq!(watched(&[one, other]), (text.to_owned(), thought.to_owned()), "{at}");
            }
            let letters: Vec<String> = whole.chars().map(String::from).collect();
            let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
            assert_eq!(watched(&letters), (text.to_owned(), thought.to_owned()));
        }
    }

    #[test]
    fn a_text_without_tags_stays_as_it_is() {
        for text in [" a < b ", "Vec<final_t>", "use `</think>` here", "", "a `b\nc <b>"] {
            assert_eq!(without_tags(text), text);
        }
        assert_eq!(without_tags("<think>a</think> <final> so </final> "), "so");
    }
}
