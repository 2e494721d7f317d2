//! Progress while a run is followed: lines for people, or events for programs.

use super::diff_lines::event_diff_lines;
use super::event_lines::{LinesFor, call_lines, child_line, event_lines, replanned_line, tool_of};
use super::held_lines::HeldLines;
use super::status_row::StatusRow;
use super::{AnswerStream, StatusPlace, ThoughtFold};
use super::{output_tail, plan_head, plan_lines, status_line, status_row, turning_mark};
use crate::console::Console;
use crate::terminal::{self, Marks, eprint_styled, marks};
use everloop_engine::{EventKind, RunEvent, RunView};
use everloop_text as text;
use everloop_types::{CallId, Progress};
use std::collections::BTreeSet;
use std::time::Instant;

/// Rows above the status line that are rewritten.
const TAIL_ROWS: usize = 6;

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrintMode {
    /// Lines for people, on stderr.
    Lines,
    /// JSON events, one a line, on stdout.
    Events,
    /// The answer alone, as it comes, on stdout.
    Answer,
    /// Nothing.
    Silent,
}

/// Prints what happens to a run.
pub struct Printer<'a>(PrinterOutput<'a>);

enum PrinterOutput<'a> {
    Lines(Box<ProgressLines<'a>>),
    Answer(Box<AnswerLines>),
    Events,
    Silent,
}

impl<'a> Printer<'a> {
    /// `past` is the run as it was before the first event.
    pub fn new(app: &'a Console, manner: PrintMode, past: RunView) -> Self {
        Self(match manner {
            PrintMode::Lines => PrinterOutput::Lines(Box::new(ProgressLines::new(app, past))),
            PrintMode::Answer => PrinterOutput::Answer(Box::new(AnswerLines::new(past))),
            PrintMode::Events => PrinterOutput::Events,
            PrintMode::Silent => PrinterOutput::Silent,
        })
    }

    /// The same, where it is known how the run works.
    pub fn at(mut self, place: StatusPlace) -> Self {
        if let PrinterOutput::Lines(lines) = &mut self.0 {
            lines.hold_waiting_calls(&place);
            lines.place = place;
        }
        self
    }

    /// A second has passed.
    pub fn tick(&mut self) {
        if let PrinterOutput::Lines(lines) = &mut self.0 {
            lines.show_status();
        }
    }

    /// Prints an event.
    pub fn show(&mut self, event: &RunEvent) {
        match &mut self.0 {
            PrinterOutput::Lines(lines) => lines.show(event),
            PrinterOutput::Answer(lines) => lines.show(event),
            PrinterOutput::Events => terminal::print_line(&event.to_json()),
            PrinterOutput::Silent => {}
        }
    }

    /// What of a text has not been shown.
    pub fn unshown(&self, text: &str) -> Option<String> {
        match &self.0 {
            PrinterOutput::Lines(lines) => lines.answer.unshown(text),
            PrinterOutput::Answer(lines) => lines.unshown(text),
            PrinterOutput::Events | PrinterOutput::Silent => Some(text.to_owned()),
        }
    }
}

/// The answer on stdout as it comes, where a person reads it.
struct AnswerLines {
    view: RunView,
    stream: Option<AnswerStream>,
}

impl AnswerLines {
    fn new(past: RunView) -> Self {
        let stream = terminal::markdown_style().map(|style| AnswerStream::new(style, &past));
        Self { view: past, stream }
    }

    fn show(&mut self, event: &RunEvent) {
        self.view.apply(event);
        let lines = self.stream.as_mut().map(|stream| stream.take(&self.view));
        lines.iter().flatten().for_each(|line| terminal::print_painted(line));
    }

    /// The lines that may still change.
    fn tail(&self) -> Vec<String> {
        self.stream.as_ref().map(AnswerStream::tail).unwrap_or_default()
    }

    fn unshown(&self, text: &str) -> Option<String> {
        match &self.stream {
            Some(stream) => stream.unshown(text),
            None => Some(text.to_owned()),
        }
    }
}

/// Lines on stderr, and where a person watches one line that is rewritten.
struct ProgressLines<'a> {
    app: &'a Console,
    marks: Marks,
    view: RunView,
    answer: AnswerLines,
    thoughts: ThoughtFold,
    held: HeldLines,
    place: StatusPlace,
    /// Questions that were put before anybody looked on: their answers are no news.
    asked_before: BTreeSet<CallId>,
    row: StatusRow,
    is_watched: bool,
}

impl<'a> ProgressLines<'a> {
    fn new(app: &'a Console, past: RunView) -> Self {
        let asks = past.open_calls().filter(|call| call.tool == "ask_user");
        Self {
            app,
            marks: marks(),
            asked_before: asks.map(|call| call.id.clone()).collect(),
            answer: AnswerLines::new(past.clone()),
            view: past,
            thoughts: ThoughtFold::default(),
            held: HeldLines::default(),
            place: StatusPlace::default(),
            row: StatusRow::default(),
            is_watched: terminal::can_rewrite(),
        }
    }

    /// Calls that were planned before anybody looked on, and that have not begun.
    fn hold_waiting_calls(&mut self, place: &StatusPlace) {
        if self.is_watched {
            self.held = HeldLines::of(&self.view, &place.together, |tool, arguments| {
                call_lines(self.app, &self.marks, (tool, arguments), LinesFor::Screen)
            });
        }
    }

    fn show(&mut self, event: &RunEvent) {
        if event.run_id != self.view.run {
            child_line(self.app, &self.marks, event).iter().for_each(eprint_styled);
            return;
        }
        let replanned = replanned_line(self.app, &self.view, event);
        let plan = event.kind.plan().filter(|plan| self.is_new(plan));
        self.view.apply(event);
        self.place.note(event);
        if self.is_watched {
            let thought = self.thoughts.take(self.app, &self.view, event, Instant::now());
            thought.iter().for_each(eprint_styled);
        }
        self.answer.show(event);
        if !self.is_old_question(event) {
            let to = if self.is_watched { LinesFor::Screen } else { LinesFor::Log };
            let lines = event_lines(self.app, &self.marks, &self.view, event, to);
            let lines = match self.is_watched {
                true => {
                    let run = (&self.view, &self.place.together);
                    self.held.take(run, event, lines, Instant::now())
                }
                false => lines,
            };
            lines.iter().for_each(eprint_styled);
            event_diff_lines(self.app, event).iter().for_each(eprint_styled);
        }
        if let Some(plan) = plan {
            replanned.iter().for_each(eprint_styled);
            eprint_styled(&plan_head(self.app, plan));
            plan_lines(self.app, plan, &self.marks).iter().for_each(eprint_styled);
        }
        self.show_status();
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

    /// What goes on, where a person watches; nothing once the run waits for them or is over.
    fn show_status(&mut self) {
        self.held.due(Instant::now()).iter().for_each(eprint_styled);
        let waits = self.view.waiting.is_some() || self.view.question.is_some();
        if !self.is_watched || waits || self.view.ending.is_some() {
            return self.row.erase();
        }
        let (app, view, place) = (self.app, &self.view, &self.place);
        let mark = self.marks.now;
        let mut rows = self.answer.tail();
        self.row.draw(|| {
            let now = jiff::Timestamp::now().as_millisecond();
            let room = terminal::line_style().width.saturating_sub(4);
            let hint = app.text(text::now::how_to_stop());
            let what = status_line(app.lang, view, place, &hint, now, room);
            let style = terminal::line_style();
            let output = output_tail(view);
            rows.extend(output.iter().map(|line| line.clipped(&style)));
            rows.drain(..rows.len().saturating_sub(TAIL_ROWS));
            rows.push(status_row(turning_mark(mark, now), what).clipped(&style));
            rows
        });
    }
}
