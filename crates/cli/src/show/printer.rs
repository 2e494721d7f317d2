//! Progress while a run is followed: lines for people, or events for programs.

use super::answering::AnsweringLine;
use super::event_lines::{child_line, event_line, replanned_line, tool_of};
use super::{plan_head, plan_lines};
use crate::console::Console;
use crate::terminal::{self, Marks, complain, marks};
use everloop_engine::{EventKind, RunEvent, RunView};
use everloop_types::{CallId, Progress};
use std::collections::BTreeSet;

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PrintMode {
    /// Lines for people, on stderr.
    Lines,
    /// JSON events, one a line, on stdout.
    Events,
    /// Nothing.
    Silent,
}

/// Prints what happens to a run.
pub(crate) enum Printer<'a> {
    Lines(Box<ProgressLines<'a>>),
    Events,
    Silent,
}

impl<'a> Printer<'a> {
    /// `past` is the run as it was before the first event.
    pub(crate) fn new(app: &'a Console, manner: PrintMode, past: RunView) -> Self {
        match manner {
            PrintMode::Lines => Self::Lines(Box::new(ProgressLines::new(app, past))),
            PrintMode::Events => Self::Events,
            PrintMode::Silent => Self::Silent,
        }
    }

    pub(crate) fn show(&mut self, event: &RunEvent) {
        match self {
            Self::Lines(lines) => lines.show(event),
            Self::Events => terminal::answer(&event.to_json()),
            Self::Silent => {}
        }
    }
}

/// Lines on stderr, and where a person watches one line that is rewritten.
pub(crate) struct ProgressLines<'a> {
    app: &'a Console,
    marks: Marks,
    view: RunView,
    /// Questions that were put before anybody looked on: their answers are no news.
    asked_before: BTreeSet<CallId>,
    answering: AnsweringLine,
    is_watched: bool,
}

impl<'a> ProgressLines<'a> {
    fn new(app: &'a Console, past: RunView) -> Self {
        let asks = past.open_calls().filter(|call| call.tool == "ask_user");
        Self {
            app,
            marks: marks(),
            asked_before: asks.map(|call| call.id.clone()).collect(),
            view: past,
            answering: AnsweringLine::default(),
            is_watched: terminal::can_rewrite(),
        }
    }

    fn show(&mut self, event: &RunEvent) {
        if event.run_id != self.view.run {
            child_line(self.app, &self.marks, event).iter().for_each(|line| complain(line));
            return;
        }
        let replanned = replanned_line(self.app, &self.view, event);
        let plan = event.kind.plan().filter(|plan| self.is_new(plan));
        self.view.apply(event);
        self.show_reply();
        if !self.is_old_question(event) {
            event_line(self.app, &self.marks, event).iter().for_each(|line| complain(line));
        }
        if let Some(plan) = plan {
            replanned.iter().for_each(|line| complain(line));
            complain(&plan_head(self.app, plan));
            let items = plan_lines(self.app, plan, &self.marks);
            items.iter().for_each(|line| complain(line));
        }
    }

    /// Whether an item or the place in the plan is another one.
    fn is_new(&self, plan: &Progress) -> bool {
        plan.items != self.view.plan.items || plan.current != self.view.plan.current
    }

    fn is_old_question(&self, event: &RunEvent) -> bool {
        match &event.kind {
            EventKind::ToolCompleted(outcome) | EventKind::ToolFailed(outcome) => {
                tool_of(event) == Some("ask_user") && self.asked_before.contains(&outcome.call_id)
            }
            _ => false,
        }
    }

    fn show_reply(&mut self) {
        match &self.view.reply {
            Some(reply) if self.is_watched => {
                self.answering.draw(self.app, self.marks.now, reply);
            }
            _ => self.answering.erase(),
        }
    }
}
