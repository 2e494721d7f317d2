//! Lines that wait for a moment, as what follows them may say the same: the line of a call that a
//! question shows in full, and an error of the model that ends the run and is explained there.

use everloop_engine::{EventKind, RunEvent, WaitingFor};
use everloop_markdown::StyledLine;
use serde_json::Value;
use std::time::{Duration, Instant};

/// How long the line of a call waits for a question about it.
const HOLD: Duration = Duration::from_millis(120);

/// Lines that are not shown yet.
#[derive(Debug, Default)]
pub struct HeldLines {
    calls: Vec<HeldCall>,
    /// What the model failed with last.
    failed: Vec<StyledLine>,
}

#[derive(Debug)]
struct HeldCall {
    tool: String,
    arguments: String,
    line: StyledLine,
    since: Instant,
}

impl HeldLines {
    /// Takes the lines of an event. Gives those that are to be shown now.
    pub fn take(
        &mut self,
        event: &RunEvent,
        lines: Vec<StyledLine>,
        now: Instant,
    ) -> Vec<StyledLine> {
        let mut shown = Vec::new();
        match &event.kind {
            EventKind::ToolStarted { tool, arguments, .. } => {
                shown.append(&mut self.failed);
                self.calls.extend(lines.into_iter().map(|line| HeldCall {
                    tool: tool.clone(),
                    arguments: arguments.clone(),
                    line,
                    since: now,
                }));
                return shown;
            }
            EventKind::StepFailed { .. } => {
                shown.extend(self.release_calls());
                self.failed = lines;
                return shown;
            }
            EventKind::RunWaiting(WaitingFor::User) => return lines,
            EventKind::RunWaiting(WaitingFor::Model { .. }) => self.failed.clear(),
            EventKind::QuestionOpened { message, request: Some(request), .. } => {
                let is_asked = |call: &HeldCall| {
                    call.tool == request.tool && is_same(&call.arguments, message)
                };
                self.calls.retain(|call| !is_asked(call));
            }
            EventKind::StepStarted { .. } | EventKind::StepFellBack { .. } => {
                shown.append(&mut self.failed);
            }
            kind if kind.ending().is_some() => self.failed.clear(),
            _ => {}
        }
        shown.extend(self.release_calls());
        shown.extend(lines);
        shown
    }

    /// Lines of calls that nobody was asked about.
    pub fn due(&mut self, now: Instant) -> Vec<StyledLine> {
        match self.calls.first() {
            Some(first) if now.duration_since(first.since) >= HOLD => self.release_calls(),
            _ => Vec::new(),
        }
    }

    fn release_calls(&mut self) -> Vec<StyledLine> {
        self.calls.drain(..).map(|call| call.line).collect()
    }
}

/// Whether two texts are the same arguments, however they are spaced.
fn is_same(one: &str, other: &str) -> bool {
    let read = |text: &str| serde_json::from_str::<Value>(text).ok();
    one == other || read(one).is_some_and(|one| read(other) == Some(one))
}
