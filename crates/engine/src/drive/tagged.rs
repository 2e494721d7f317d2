//! Streamed text with tags (TD-8): parsed while it arrives, its tags never shown.
//!
//! ```text
//!   <think>…</think> ──► reasoning    <tool name="x">…</tool> ──► a call
//!   <final>…</final> ──► text
//! ```
//!
//! Text outside of tags is not part of the answer and is not shown. Text that may begin a tag is
//! held back until that is decided.

use crate::Fragment;

const TOOL: &str = "<tool name=\"";

#[derive(Debug, Default)]
pub(super) struct TaggedStream {
    held: String,
    place: TagPosition,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum TagPosition {
    #[default]
    Outside,
    Think,
    Tool,
    Final,
}

impl TaggedStream {
    /// Takes a piece and returns what can be shown.
    pub(super) fn push(&mut self, piece: &str) -> Vec<Fragment> {
        self.held.push_str(piece);
        let mut shown = Vec::new();
        while self.step(&mut shown) {}
        shown
    }

    /// Ends the reply. An incomplete tag counts as text.
    pub(super) fn finish(&mut self) -> Vec<Fragment> {
        let (held, place) = (std::mem::take(&mut self.held), std::mem::take(&mut self.place));
        let end = match place {
            TagPosition::Final => "</final>",
            TagPosition::Think => "</think>",
            TagPosition::Outside | TagPosition::Tool => return Vec::new(),
        };
        let rest = held.trim_end();
        let rest = rest.strip_suffix(end).unwrap_or(rest);
        fragment(place, rest).into_iter().collect()
    }

    /// Takes one step through the held text. Returns whether another one is possible.
    fn step(&mut self, shown: &mut Vec<Fragment>) -> bool {
        match self.place {
            TagPosition::Outside => self.enter(shown),
            TagPosition::Think => self.leave("</think>", shown),
            TagPosition::Tool => self.leave("</tool>", shown),
            TagPosition::Final => self.go_on(shown),
        }
    }

    /// Finds the next tag and drops the text before it.
    fn enter(&mut self, shown: &mut Vec<Fragment>) -> bool {
        let Some(start) = self.held.find('<') else {
            self.held.clear();
            return false;
        };
        self.held.drain(..start);
        for (tag, place) in [("<think>", TagPosition::Think), ("<final>", TagPosition::Final)] {
            if let Some(rest) = self.held.strip_prefix(tag) {
                (self.held, self.place) = (rest.trim_start().to_owned(), place);
                return true;
            }
        }
        if let Some(rest) = self.held.strip_prefix(TOOL) {
            let Some((name, rest)) = rest.split_once("\">") else { return false };
            shown.push(Fragment::Call(name.to_owned()));
            (self.held, self.place) = (rest.to_owned(), TagPosition::Tool);
            return true;
        }
        if ["<think>", "<final>", TOOL].iter().any(|tag| tag.starts_with(&self.held)) {
            return false;
        }
        self.held.drain(..1);
        true
    }

    /// Shows the text that is decided, up to the end of the tag.
    fn leave(&mut self, end: &str, shown: &mut Vec<Fragment>) -> bool {
        let found = self.held.find(end);
        let sure = found.unwrap_or(self.held.len() - begun(&self.held, end));
        shown.extend(fragment(self.place, &self.held[..sure]));
        self.held.drain(..sure + found.map_or(0, |_| end.len()));
        if found.is_some() {
            self.place = TagPosition::Outside;
        }
        found.is_some()
    }

    /// The answer may mention tags: its end tag counts only if nothing follows it.
    fn go_on(&mut self, shown: &mut Vec<Fragment>) -> bool {
        let end = "</final>";
        let sure = match self.held.find(end) {
            Some(at) if self.held[at + end.len()..].trim().is_empty() => at,
            Some(at) => at + end.len(),
            None => self.held.len() - begun(&self.held, end),
        };
        shown.extend(fragment(TagPosition::Final, &self.held[..sure]));
        self.held.drain(..sure);
        sure > 0 && !self.held.is_empty()
    }
}

fn fragment(place: TagPosition, text: &str) -> Option<Fragment> {
    let text = Some(text).filter(|text| !text.is_empty())?.to_owned();
    match place {
        TagPosition::Think => Some(Fragment::Reasoning(text)),
        TagPosition::Final => Some(Fragment::Text(text)),
        TagPosition::Tool => Some(Fragment::Output(text)),
        TagPosition::Outside => None,
    }
}

/// How many bytes at the end may be the beginning of a tag.
fn begun(text: &str, tag: &str) -> usize {
    (1..tag.len()).rev().find(|length| text.ends_with(&tag[..*length])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::TaggedStream;
    use crate::Fragment;

    /// Text, reasoning, calls and arguments as watchers see them.
    fn watched(pieces: &[&str]) -> [String; 4] {
        let mut tagged = TaggedStream::default();
        let mut all: Vec<Fragment> = pieces.iter().flat_map(|piece| tagged.push(piece)).collect();
        all.extend(tagged.finish());
        let mut seen = [String::new(), String::new(), String::new(), String::new()];
        for fragment in all {
            let (place, text) = match &fragment {
                Fragment::Text(text) => (0, text),
                Fragment::Reasoning(text) => (1, text),
                Fragment::Call(text) => (2, text),
                Fragment::Output(text) => (3, text),
            };
            seen[place].push_str(text);
        }
        seen
    }

    #[test]
    fn tags_are_never_shown_wherever_they_are_torn() {
        let calls = "<think>hm <b></think>\n<tool name=\"read_file\">{\"path\":\"a\"}</tool>";
        let said = "<think>so</think><final>It is 3 < 4, </final> no: 3</final>\n";
        for (whole, expected) in [
            (calls, ["", "hm <b>", "read_file", "{\"path\":\"a\"}"]),
            (said, ["It is 3 < 4, </final> no: 3", "so", "", ""]),
        ] {
            for (at, _) in whole.char_indices() {
                let (one, other) = whole.split_at(at);
                assert_eq!(watched(&[one, other]), expected, "torn at {at}");
            }
            let letters: Vec<String> = whole.chars().map(String::from).collect();
            let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
            assert_eq!(watched(&letters), expected);
        }
    }

    #[test]
    fn an_answer_is_shown_while_it_comes_and_words_outside_are_not() {
        let mut tagged = TaggedStream::default();
        assert!(tagged.push("I think <fi").is_empty());
        assert_eq!(tagged.push("nal>At "), [Fragment::Text("At ".to_owned())]);
        assert_eq!(tagged.push("three</f"), [Fragment::Text("three".to_owned())]);
        assert!(tagged.finish().iter().all(|end| *end == Fragment::Text("</f".to_owned())));
        assert_eq!(watched(&["plain words"]), ["", "", "", ""]);
    }
}
