//! A sign of life while the model answers: one line that is rewritten in place.
//!
//! It is for a person at a terminal; a log or a pipe never sees it.

use crate::console::Console;
use crate::show::grouped;
use crate::terminal;
use everloop_engine::Fragment;
use everloop_text::{self as text, Text};
use everloop_types::Purpose;
use std::fmt::Display;
use std::time::{Duration, Instant};

/// How often the line changes at most.
const REDRAW: Duration = Duration::from_millis(100);

/// One reply on its way.
pub(crate) struct Answering {
    text: fn(&dyn Display, &dyn Display) -> Text,
    chars: usize,
    drawn: Option<Instant>,
}

impl Answering {
    /// The model was asked; nothing came yet.
    pub(crate) fn to(purpose: Purpose) -> Self {
        let text: fn(&dyn Display, &dyn Display) -> Text = match purpose {
            Purpose::Plan => text::answering::plan,
            Purpose::Think => text::answering::think,
            Purpose::Replan => text::answering::replan,
            Purpose::Compact => text::answering::compact,
            Purpose::Close => text::answering::close,
        };
        Self { text, chars: 0, drawn: None }
    }

    /// The model was asked by an earlier process, so nobody told us what for.
    pub(crate) fn unexpectedly(fragment: &Fragment) -> Option<Self> {
        let of_a_reply = matches!(fragment, Fragment::Text(_) | Fragment::Reasoning(_));
        of_a_reply.then_some(Self { text: text::answering::any, chars: 0, drawn: None })
    }

    /// The attempt failed and what came of it is worth nothing; another follows.
    pub(crate) fn begin_again(&mut self) {
        self.chars = 0;
    }

    /// A piece came. While a reply is on its way, output is the text of its tool calls.
    pub(crate) fn grow(&mut self, fragment: &Fragment) {
        let (Fragment::Text(text)
        | Fragment::Reasoning(text)
        | Fragment::Call(text)
        | Fragment::Output(text)) = fragment;
        self.chars += text.chars().count();
    }

    /// Shows the line, unless it was shown a moment ago.
    pub(crate) fn draw(&mut self, app: &Console, mark: &str) {
        if self.is_due(Instant::now()) {
            let chars = grouped(self.chars as u64);
            terminal::pass(&app.text((self.text)(&mark, &chars)));
        }
    }

    fn is_due(&mut self, now: Instant) -> bool {
        let due = self.drawn.is_none_or(|drawn| now.duration_since(drawn) >= REDRAW);
        if due {
            self.drawn = Some(now);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_counted_not_bytes_and_the_line_changes_ten_times_a_second_at_most() {
        let mut answering = Answering::to(Purpose::Think);
        answering.grow(&Fragment::Text("你好".to_owned()));
        answering.grow(&Fragment::Reasoning("abc".to_owned()));
        assert_eq!(answering.chars, 5);
        let start = Instant::now();
        let due = (0..1000).filter(|ms| answering.is_due(start + Duration::from_millis(*ms)));
        assert_eq!(due.count(), 10);
    }

    #[test]
    fn output_of_a_tool_is_no_reply() {
        assert!(Answering::unexpectedly(&Fragment::Output("x".to_owned())).is_none());
        assert!(Answering::unexpectedly(&Fragment::Text("x".to_owned())).is_some());
    }
}
