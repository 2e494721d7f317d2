//! A reply on its way, as lines that a person reads along.
//!
//! ```text
//!   deltas ──► take(view) ──► finished lines, which scroll up and stay     tail() ──► the rest
//!   the reply is complete ──► its last lines            unshown(text) ──► what is printed still
//! ```
//!
//! Only words for people are shown: of the JSON that a loop asks for the answer in it, of tags
//! nothing.

use super::json_answer::{JsonAnswer, whole_answer};
use crate::terminal;
use everloop_engine::{ReplyView, RunView};
use everloop_loops::{LoopSpec, ReplyForm};
use everloop_markdown::{MarkdownStream, TerminalStyle, to_lines};
use everloop_tools::Cleaner;
use everloop_types::Purpose;

/// The reply that is being shown.
pub struct AnswerStream {
    style: TerminalStyle,
    markdown: MarkdownStream,
    /// Drops what a terminal would obey, also where it comes in pieces.
    cleaner: Cleaner,
    json: JsonAnswer,
    /// The planned call whose reply it is.
    seq: i64,
    /// What of it was taken.
    taken: String,
    /// The complete message that was taken in last.
    message_seq: i64,
    /// The last message that was shown to its end.
    shown: String,
}

impl AnswerStream {
    /// `view` is the run before its first event that is shown.
    pub fn new(style: TerminalStyle, view: &RunView) -> Self {
        Self {
            style,
            markdown: MarkdownStream::new(style),
            cleaner: Cleaner::default(),
            json: JsonAnswer::default(),
            seq: 0,
            taken: String::new(),
            message_seq: view.message.seq,
            shown: String::new(),
        }
    }

    /// Takes in what has come. Gives the lines that are finished.
    pub fn take(&mut self, view: &RunView) -> Vec<String> {
        // The terminal may have been resized.
        if let Some(style) = terminal::markdown_style() {
            self.style = style;
            self.markdown.resize(style.width);
        }
        let mut lines = Vec::new();
        // A whole reply comes with an event of its own, after its reasoning.
        let is_complete = view.reply.is_none() && view.message.seq != self.message_seq;
        if is_complete {
            self.message_seq = view.message.seq;
            lines.extend(self.complete(view));
        }
        match &view.reply {
            Some(reply) => lines.extend(self.grow(view, reply)),
            None => lines.extend(self.break_off()),
        }
        lines
    }

    /// The lines that may still change.
    pub fn tail(&self) -> Vec<String> {
        self.markdown.tail()
    }

    /// What of a text has not been shown: a note before or after words that were is told alone.
    pub fn unshown(&self, text: &str) -> Option<String> {
        rest_of(text, self.shown.trim())
    }

    /// More of a reply. Only what is new is looked at.
    fn grow(&mut self, view: &RunView, reply: &ReplyView) -> Vec<String> {
        let mut lines = Vec::new();
        // Another call, or the same one made again: what was shown of the first stays.
        let is_another = reply.seq != self.seq;
        if is_another || reply.text.is_empty() {
            lines = self.break_off();
            self.json = JsonAnswer::default();
            self.seq = reply.seq;
        }
        let text = match form_of(view, reply) {
            WordsForm::Plain => reply.text.as_str(),
            WordsForm::Json => self.json.read(&reply.text),
            WordsForm::None => return lines,
        };
        let new = text.get(self.taken.len()..).unwrap_or_default();
        if !new.is_empty() {
            self.taken.push_str(new);
            lines.extend(self.markdown.push(&self.cleaner.push(new.as_bytes())));
        }
        lines
    }

    /// A message is complete: the rest of it, or all of it where nothing had come before.
    fn complete(&mut self, view: &RunView) -> Vec<String> {
        let text = view.message.text.trim();
        let answer =
            whole_answer(text).filter(|_| reply_form(view) == Some(ReplyForm::JsonObjects));
        let text = answer.as_deref().map_or(text, str::trim);
        let taken = self.taken.trim();
        if taken.is_empty() {
            let speaks = reply_form(view) == Some(ReplyForm::NativeCalls);
            let is_remark = view.message.tool_calls > 0 && speaks;
            return if is_remark { self.laid_out(text) } else { Vec::new() };
        }
        let rest = text.strip_prefix(taken).map(str::to_owned);
        self.shown = text.to_owned();
        let Some(rest) = rest else {
            // Its beginning came before anybody watched.
            let mut lines = self.break_off();
            lines.push(String::new());
            lines.extend(self.laid_out(text));
            return lines;
        };
        let mut lines = self.markdown.push(&self.cleaner.push(rest.as_bytes()));
        lines.extend(self.break_off());
        lines
    }

    /// Nothing more comes of this reply.
    fn break_off(&mut self) -> Vec<String> {
        if self.taken.is_empty() {
            return Vec::new();
        }
        self.taken.clear();
        self.cleaner = Cleaner::default();
        self.markdown.finish()
    }

    fn laid_out(&self, text: &str) -> Vec<String> {
        to_lines(&everloop_tools::clean(text.as_bytes()), &self.style)
    }
}

/// Where the words for people are in a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WordsForm {
    Plain,
    Json,
    None,
}

/// How a reply on its way is read by people. Its first letter tells whether it is words.
fn form_of(view: &RunView, reply: &ReplyView) -> WordsForm {
    let text = reply.text.trim_start();
    let is_words = !text.is_empty() && !text.starts_with(['{', '<', '[']);
    match (reply_form(view), reply.purpose) {
        (_, Purpose::Compact) | (None, _) => WordsForm::None,
        (Some(ReplyForm::NativeCalls), Purpose::Think | Purpose::Close) if is_words => {
            WordsForm::Plain
        }
        (Some(ReplyForm::JsonObjects), Purpose::Plan | Purpose::Replan) => WordsForm::Json,
        _ => WordsForm::None,
    }
}

/// How the model writes under this loop.
fn reply_form(view: &RunView) -> Option<ReplyForm> {
    LoopSpec::named(&view.loop_name).map(|spec| spec.reply_form)
}

/// A text without the words that were shown, if those stand in it as a paragraph.
fn rest_of(text: &str, shown: &str) -> Option<String> {
    let whole = || Some(text.to_owned());
    let Some((before, after)) = text.split_once(shown).filter(|_| !shown.is_empty()) else {
        return whole();
    };
    let is_border = |c: Option<char>| c.is_none_or(char::is_whitespace);
    if !is_border(before.chars().next_back()) || !is_border(after.chars().next()) {
        return whole();
    }
    let rest = [before.trim(), after.trim()].into_iter().filter(|part| !part.is_empty());
    let rest = rest.collect::<Vec<_>>().join("\n\n");
    (!rest.is_empty()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::rest_of;

    #[test]
    fn words_that_were_shown_are_not_printed_again_with_a_note_around_them() {
        for (text, shown, rest) in [
            ("done", "done", None),
            ("done\n\n[stopped]", "done", Some("[stopped]")),
            ("unknown: shell\ndone", "done", Some("unknown: shell")),
            ("undone", "done", Some("undone")),
            ("done", "", Some("done")),
            ("other", "done", Some("other")),
        ] {
            assert_eq!(rest_of(text, shown).as_deref(), rest, "{text}");
        }
    }
}
