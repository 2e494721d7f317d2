//! What stands above the input while a run is looked at: the plan and what the model does. Redrawn
//! in place; everything else scrolls above it.

use everloop_console::show::{
    AnswerStream, HeldLines, LinesFor, StatusPlace, ThoughtFold, call_lines, child_line,
    event_diff_lines, event_lines, output_tail, plan_head, plan_lines, replanned_line, status_line,
    status_row, tool_of, turning_mark, unfolded_lines,
};
use everloop_console::terminal::{Marks, marks};
use everloop_console::{Console, screen, terminal};
use everloop_engine::{EventKind, RunEvent, RunView};
use everloop_markdown::{StyledLine, Tone};
use everloop_text as text;
use everloop_types::ApprovalMode;
use std::time::{Duration, Instant};

/// How often it is redrawn at most.
const REDRAW: Duration = Duration::from_millis(60);

/// How often it is redrawn though nothing happens: its seconds move.
const TICK: Duration = Duration::from_secs(1);

/// Lines of a reply on its way that are shown.
const TAIL_LINES: usize = 6;

/// Items of a plan that are shown unless the person wants them all.
const ITEMS_SHOWN: usize = 8;

/// The live part of the screen.
pub(super) struct LiveView<'a> {
    app: &'a Console,
    marks: Marks,
    drawn: Option<Instant>,
    /// Whether something has happened that is not drawn yet.
    stale: bool,
    view: RunView,
    answer: Option<AnswerStream>,
    thoughts: ThoughtFold,
    held: HeldLines,
    place: StatusPlace,
    expanded: bool,
    /// Whether the person knows already that the run was recovered.
    recovery_told: bool,
    /// What stands in place of the status: that the run is being stopped.
    stopping: Option<String>,
}

impl<'a> LiveView<'a> {
    /// `past` is the run as it was before the first event, `place` where and how it works.
    pub(super) fn new(app: &'a Console, past: RunView, place: StatusPlace) -> Self {
        let marks = marks();
        let held = HeldLines::of(&past, &place.together, |tool, arguments| {
            // A question of the model is shown when the run waits for its answer.
            match tool {
                "ask_user" => Vec::new(),
                _ => call_lines(app, &marks, (tool, arguments), LinesFor::Chat),
            }
        });
        Self {
            app,
            marks,
            drawn: None,
            stale: false,
            answer: terminal::markdown_style().map(|style| AnswerStream::new(style, &past)),
            view: past,
            thoughts: ThoughtFold::default(),
            held,
            place,
            expanded: false,
            recovery_told: false,
            stopping: None,
        }
    }

    /// What the run does without asking.
    pub(super) fn approval_mode(&self) -> ApprovalMode {
        self.place.approval_mode
    }

    /// The next recovery is no news.
    pub(super) fn skip_recovery(&mut self) {
        self.recovery_told = true;
    }

    /// What was folded last, after the run.
    pub(super) fn folded(&self) -> Vec<StyledLine> {
        unfolded_lines(self.app, &self.view)
    }

    /// Takes in what happened.
    pub(super) fn take(&mut self, event: &RunEvent) {
        if event.run_id != self.view.run {
            let line = child_line(self.app, &self.marks, event);
            return self.print_styled(line.as_slice());
        }
        let mut lines = Vec::new();
        let mut diff = Vec::new();
        lines.extend(replanned_line(self.app, &self.view, event));
        self.view.apply(event);
        self.place.note(event);
        let thought = self.thoughts.take(self.app, &self.view, event, Instant::now());
        self.print_styled(thought.as_slice());
        self.print_answer();
        let is_recovery = matches!(event.kind, EventKind::RunRecovered { .. });
        let is_told = is_recovery && std::mem::take(&mut self.recovery_told);
        // A question is shown when the run waits for its answer.
        if tool_of(event) != Some("ask_user") && !is_told {
            let to = LinesFor::Chat;
            lines.splice(..0, event_lines(self.app, &self.marks, &self.view, event, to));
            diff = event_diff_lines(self.app, event);
        }
        let run = (&self.view, &self.place.together);
        let lines = self.held.take(run, event, lines, Instant::now());
        self.print_styled(&lines);
        self.print_styled(&diff);
        self.stale = true;
        self.redraw_if_due();
    }

    /// Shows what was folded last: reasoning, and the whole result of a call.
    pub(super) fn unfold(&mut self) {
        let lines = unfolded_lines(self.app, &self.view);
        self.print_styled(&lines);
    }

    /// Shows lines of progress above the live part; they stay.
    fn print_styled(&mut self, lines: &[StyledLine]) {
        if lines.is_empty() {
            return;
        }
        lines.iter().for_each(terminal::print_styled);
    }

    /// Shows the lines of the answer that are finished; they stay.
    fn print_answer(&mut self) {
        let Some(answer) = &mut self.answer else { return };
        let lines = answer.take(&self.view);
        self.print_lines(&lines);
    }

    /// Shows lines that are painted already; they stay.
    fn print_lines(&mut self, lines: &[String]) {
        if lines.is_empty() {
            return;
        }
        terminal::print_painted_lines(lines);
        self.redraw();
    }

    /// What of a text has not been shown.
    pub(super) fn unshown(&self, text: &str) -> Option<String> {
        match &self.answer {
            Some(answer) => answer.unshown(text),
            None => Some(text.to_owned()),
        }
    }

    /// From now on the status says that the run is being stopped. A line of its own would stand in
    /// the middle of the answer that is on its way.
    pub(super) fn stopping(&mut self, words: String) {
        self.stopping = Some(words);
        self.redraw();
    }

    /// Shows all items of the plan, or only those near the present one.
    pub(super) fn toggle(&mut self) {
        self.expanded = !self.expanded;
        self.redraw();
    }

    /// Waits until something is to be drawn, and draws it: what has happened soon, the seconds that
    /// pass each second.
    pub(super) async fn redraw_when_due(&mut self) {
        let after = if self.stale { REDRAW } else { TICK };
        let due = self.drawn.map_or_else(Instant::now, |drawn| drawn + after);
        tokio::time::sleep_until(due.into()).await;
        self.redraw();
    }

    /// Draws what has happened, but not too often.
    fn redraw_if_due(&mut self) {
        let now = Instant::now();
        if self.stale && self.drawn.is_none_or(|drawn| now.duration_since(drawn) >= REDRAW) {
            self.redraw();
        }
    }

    pub(super) fn redraw(&mut self) {
        (self.drawn, self.stale) = (Some(Instant::now()), false);
        let due = self.held.due(Instant::now());
        self.print_styled(&due);
        let mut lines = self.tail();
        let style = terminal::line_style();
        lines.extend(self.lines().iter().map(|line| line.clipped(&style)));
        screen::draw_live(lines);
    }

    /// Takes the live part away.
    pub(super) fn erase(&mut self) {
        screen::draw_live(Vec::new());
    }

    /// The plan as it is at the end, to stay on the screen.
    pub(super) fn plan(&self) -> Vec<StyledLine> {
        let progress = &self.view.plan;
        if progress.items.is_empty() {
            return Vec::new();
        }
        let mut lines = vec![plan_head(self.app, progress)];
        lines.extend(plan_lines(self.app, progress, &self.marks));
        lines
    }

    fn lines(&self) -> Vec<StyledLine> {
        let mut lines = self.plan();
        if !self.expanded && lines.len() > ITEMS_SHOWN + 1 {
            let current = self.view.plan.current.unwrap_or(0);
            let from = (current.saturating_sub(2) + 1).min(lines.len() - ITEMS_SHOWN);
            let near = lines[from..from + ITEMS_SHOWN].to_vec();
            let hidden = (lines.len() - 1 - ITEMS_SHOWN).to_string();
            lines.truncate(1);
            lines.extend(near);
            let more = self.app.text(text::chat::more_items(&hidden));
            lines.push(StyledLine::new(Tone::Dim, &more));
        }
        lines.push(self.status());
        lines
    }

    /// The end of an answer on its way, or of what a command prints.
    fn tail(&self) -> Vec<String> {
        let mut lines = self.answer.as_ref().map(AnswerStream::tail).unwrap_or_default();
        let style = terminal::line_style();
        lines.extend(output_tail(&self.view).iter().map(|line| line.clipped(&style)));
        lines.split_off(lines.len().saturating_sub(TAIL_LINES))
    }

    fn status(&self) -> StyledLine {
        let now = jiff::Timestamp::now().as_millisecond();
        let mark = turning_mark(self.marks.now, now);
        if let Some(words) = &self.stopping {
            return status_row(mark, StyledLine::new(Tone::Warning, words));
        }
        let hint = self.app.text(text::chat::while_busy());
        let room = terminal::line_style().width.saturating_sub(4);
        let what = status_line(self.app.lang, &self.view, &self.place, &hint, now, room);
        status_row(mark, what)
    }
}
