//! Lines that are not shown at once: the line of a call that has not begun, because another call
//! comes before it or a person is asked about it first, and an error of the model that ends the run
//! and is explained there.

use everloop_engine::{CallView, EventKind, RunEvent, RunView, WaitingFor};
use everloop_markdown::StyledLine;
use everloop_types::CallId;
use serde_json::Value;
use std::collections::BTreeSet;
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
    id: CallId,
    tool: String,
    arguments: String,
    lines: Vec<StyledLine>,
    /// Since when no other call has to end before it; none while one has.
    free_since: Option<Instant>,
}

impl HeldLines {
    /// For a run that is looked at from its middle: calls that wait for others are held, `line` is
    /// the line of one.
    pub fn of(
        past: &RunView,
        together: &BTreeSet<String>,
        line: impl Fn(&str, &str) -> Vec<StyledLine>,
    ) -> Self {
        let waiting = past.open_calls().skip(1).filter(|call| !together.contains(&call.tool));
        let held = |call: &CallView| HeldCall {
            id: call.id.clone(),
            tool: call.tool.clone(),
            arguments: call.arguments.clone(),
            lines: line(&call.tool, &call.arguments),
            free_since: None,
        };
        Self { calls: waiting.map(held).collect(), failed: Vec::new() }
    }

    /// Takes the lines of an event. Gives those that are to be shown now. `view` has taken the
    /// event in; calls of the tools `together` begin side by side.
    pub fn take(
        &mut self,
        (view, together): (&RunView, &BTreeSet<String>),
        event: &RunEvent,
        lines: Vec<StyledLine>,
        now: Instant,
    ) -> Vec<StyledLine> {
        let mut shown = Vec::new();
        match &event.kind {
            EventKind::ToolStarted { call_id, tool, arguments } => {
                shown.append(&mut self.failed);
                self.calls.push(HeldCall {
                    id: call_id.clone(),
                    tool: tool.clone(),
                    arguments: arguments.clone(),
                    lines,
                    free_since: None,
                });
                self.free_calls(view, together, now);
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
                let asked = self.calls.iter().position(|call| {
                    call.tool == request.tool && is_same(&call.arguments, message)
                });
                asked.map(|place| self.calls.remove(place));
            }
            EventKind::ToolCompleted(outcome) | EventKind::ToolFailed(outcome) => {
                shown.extend(self.release_ended(&outcome.call_id, !lines.is_empty()));
            }
            EventKind::StepStarted { .. } | EventKind::StepFellBack { .. } => {
                shown.append(&mut self.failed);
            }
            kind if kind.ending().is_some() => self.failed.clear(),
            _ => {}
        }
        shown.extend(self.release_calls());
        shown.extend(lines);
        self.free_calls(view, together, now);
        shown
    }

    /// Lines of calls that nobody was asked about.
    pub fn due(&mut self, now: Instant) -> Vec<StyledLine> {
        let is_due = |call: &HeldCall| {
            call.free_since.is_some_and(|since| now.duration_since(since) >= HOLD)
        };
        if self.calls.iter().any(is_due) { self.release_calls() } else { Vec::new() }
    }

    /// Calls before which nothing has to end any more.
    fn free_calls(&mut self, view: &RunView, together: &BTreeSet<String>, now: Instant) {
        let first = view.open_calls().next().map(|call| &call.id);
        for call in &mut self.calls {
            if call.free_since.is_none()
                && (together.contains(&call.tool) || first == Some(&call.id))
            {
                call.free_since = Some(now);
            }
        }
    }

    fn release_calls(&mut self) -> Vec<StyledLine> {
        let (free, held) = self.calls.drain(..).partition(|call| call.free_since.is_some());
        self.calls = held;
        lines_of(free)
    }

    /// The lines of those that can have begun, and of one that has ended without. Of one whose end
    /// has no line there is nothing to say.
    fn release_ended(&mut self, ended: &CallId, has_lines: bool) -> Vec<StyledLine> {
        let mut shown = self.release_calls();
        if let Some(place) = self.calls.iter().position(|call| call.id == *ended) {
            let call = self.calls.remove(place);
            shown.extend(call.lines.into_iter().filter(|_| has_lines));
        }
        shown
    }
}

fn lines_of(calls: Vec<HeldCall>) -> Vec<StyledLine> {
    calls.into_iter().flat_map(|call| call.lines).collect()
}

/// Whether two texts are the same arguments, however they are spaced.
fn is_same(one: &str, other: &str) -> bool {
    let read = |text: &str| serde_json::from_str::<Value>(text).ok();
    one == other || read(one).is_some_and(|one| read(other) == Some(one))
}

#[cfg(test)]
#[path = "held_lines_tests.rs"]
mod tests;
