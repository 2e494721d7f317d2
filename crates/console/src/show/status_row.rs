//! What stands below the lines of `run`: the end of an answer or of a command's output, and the
//! status line. Rewritten in place.
//!
//! It is for a person at a terminal; a log or a pipe never sees it. Where only progress goes to the
//! terminal and the answer elsewhere, one line is rewritten.

use crate::screen::{self, LiveScreen};
use crate::terminal;
use std::time::{Duration, Instant};

/// How often it changes at most.
const REDRAW: Duration = Duration::from_millis(100);

/// The rows on the terminal.
#[derive(Default)]
pub(super) struct StatusRow {
    drawn: Option<Instant>,
    screen: Option<LiveScreen>,
}

impl StatusRow {
    /// Shows the rows, the status last, unless they were shown a moment ago.
    pub(super) fn draw(&mut self, rows: impl FnOnce() -> Vec<String>) {
        if !self.is_due(Instant::now()) {
            return;
        }
        let rows = rows();
        if self.screen.is_none() && terminal::answers_are_seen() {
            self.screen = LiveScreen::open();
        }
        match (&self.screen, rows.last()) {
            (Some(_), _) => screen::draw_live(rows),
            (None, Some(status)) => terminal::show_transient(status),
            (None, None) => {}
        }
    }

    /// Takes the rows away.
    pub(super) fn erase(&mut self) {
        if self.drawn.take().is_some() {
            self.screen = None;
            terminal::clear_transient();
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
        let mut line = StatusRow::default();
        let start = Instant::now();
        let due = (0..1000).filter(|ms| line.is_due(start + Duration::from_millis(*ms)));
        assert_eq!(due.count(), 10);
    }
}
