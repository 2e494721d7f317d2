//! A log of what happened, for finding the cause of a failure.

use std::sync::{Mutex, PoisonError};
use tokio::time::Instant;

/// Lines with their time.
#[derive(Debug)]
pub(super) struct SimTrace {
    start: Instant,
    lines: Mutex<Vec<String>>,
}

impl SimTrace {
    pub(super) fn new() -> Self {
        Self { start: Instant::now(), lines: Mutex::default() }
    }

    pub(super) fn tell(&self, line: impl FnOnce() -> String) {
        let at = self.start.elapsed().as_millis();
        let line = format!("{at:>8} ms  {}", line());
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }

    pub(super) fn text(&self) -> String {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).join("\n")
    }
}
