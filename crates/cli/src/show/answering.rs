//! A sign of life while the model answers: one line that is rewritten in place.
//!
//! It is for a person at a terminal; a log or a pipe never sees it.

use crate::console::Console;
use crate::show::grouped;
use crate::terminal;
use everloop_engine::ReplyView;
use everloop_text as text;
use everloop_types::Purpose;
use std::time::{Duration, Instant};

/// How often the line changes at most.
const REDRAW: Duration = Duration::from_millis(100);

/// What the model does, and how much of its reply has come.
pub(crate) fn answering_line(app: &Console, mark: &str, reply: &ReplyView) -> String {
    let key = match reply.purpose {
        Purpose::Plan => text::answering::plan,
        Purpose::Think => text::answering::think,
        Purpose::Replan => text::answering::replan,
        Purpose::Compact => text::answering::compact,
        Purpose::Close => text::answering::close,
    };
    let chars = grouped(reply.chars as u64);
    app.text(key(&mark, &chars))
}

/// The line on the terminal.
#[derive(Default)]
pub(super) struct AnsweringLine {
    drawn: Option<Instant>,
}

impl AnsweringLine {
    /// Shows the line, unless it was shown a moment ago.
    pub(super) fn draw(&mut self, app: &Console, mark: &str, reply: &ReplyView) {
        if self.is_due(Instant::now()) {
            terminal::pass(&answering_line(app, mark, reply));
        }
    }

    /// Takes the line away.
    pub(super) fn erase(&mut self) {
        if self.drawn.take().is_some() {
            terminal::wipe();
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
    fn the_line_changes_ten_times_a_second_at_most() {
        let mut line = AnsweringLine::default();
        let start = Instant::now();
        let due = (0..1000).filter(|ms| line.is_due(start + Duration::from_millis(*ms)));
        assert_eq!(due.count(), 10);
    }
}
