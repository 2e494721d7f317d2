//! What stands at the bottom of the screen while a run is looked at: the plan, what the model
//! does, what the person types. Redrawn in place; everything else scrolls above it.

use crate::console::Console;
use crate::show::{
    answering_line, child_line, event_line, plan_head, plan_lines, replanned_line, tool_of,
};
use crate::terminal::{self, Marks, marks};
use everloop_agenda::show::clipped;
use everloop_engine::{RunEvent, RunView};
use everloop_text as text;
use everloop_types::Status;
use std::io::Write;
use std::time::{Duration, Instant};

/// How often it is redrawn at most.
const REDRAW: Duration = Duration::from_millis(60);

/// Lines of a reply on its way that are shown.
const TAIL_LINES: usize = 6;

/// Items of a plan that are shown unless the person wants them all.
const ITEMS_SHOWN: usize = 8;

/// The live part of the screen.
pub(super) struct LiveView<'a> {
    app: &'a Console,
    marks: Marks,
    /// Rows above the cursor's that belong to it.
    rows: u16,
    drawn: Option<Instant>,
    /// Whether something has happened that is not drawn yet.
    stale: bool,
    view: RunView,
    expanded: bool,
    pub(super) typed: String,
}

impl<'a> LiveView<'a> {
    /// `past` is the run as it was before the first event.
    pub(super) fn new(app: &'a Console, past: RunView) -> Self {
        Self {
            app,
            marks: marks(),
            rows: 0,
            drawn: None,
            stale: false,
            view: past,
            expanded: false,
            typed: String::new(),
        }
    }

    /// Takes in what happened.
    pub(super) fn take(&mut self, event: &RunEvent) {
        if event.run_id != self.view.run {
            let line = child_line(self.app, &self.marks, event);
            return line.iter().for_each(|line| self.print(line));
        }
        let replanned = replanned_line(self.app, &self.view, event);
        self.view.apply(event);
        // A question is shown when the run waits for its answer.
        if tool_of(event) != Some("ask_user") {
            let line = event_line(self.app, &self.marks, event);
            line.iter().for_each(|line| self.print(line));
        }
        replanned.iter().for_each(|line| self.print(line));
        self.stale = true;
        self.redraw_if_due();
    }

    /// Shows all items of the plan, or only those near the present one.
    pub(super) fn toggle(&mut self) {
        self.expanded = !self.expanded;
        self.redraw();
    }

    /// Shows lines above the live part; they stay.
    pub(super) fn print(&mut self, text: &str) {
        self.erase();
        terminal::answer(text);
        self.redraw();
    }

    /// Waits until something that has happened is to be drawn, and draws it.
    pub(super) async fn redraw_when_due(&mut self) {
        if !self.stale {
            return std::future::pending().await;
        }
        let due = self.drawn.map_or_else(Instant::now, |drawn| drawn + REDRAW);
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
        self.erase();
        (self.drawn, self.stale) = (Some(Instant::now()), false);
        let (columns, height) = crossterm::terminal::size().unwrap_or((80, 24));
        let room = usize::from(height).saturating_sub(2).max(1);
        let columns = usize::from(columns).saturating_sub(1).max(10);
        let mut lines = self.lines(columns);
        if lines.len() > room {
            lines.drain(..lines.len() - room);
        }
        let mut out = std::io::stdout().lock();
        for line in &lines {
            let line = everloop_tools::clean(line.as_bytes());
            let _ = write!(out, "{}\r\n", clipped(&line, columns));
        }
        let _ = write!(out, "{}", self.input(columns));
        let _ = out.flush();
        self.rows = u16::try_from(lines.len()).unwrap_or(0);
    }

    /// What is typed, the end of it where it is long. The cursor stays behind it, so that input
    /// methods know where to be.
    fn input(&self, columns: usize) -> String {
        let mut taken = 2;
        let fits = |(_, c): &(usize, char)| {
            taken += unicode_width::UnicodeWidthChar::width(*c).unwrap_or(0);
            taken <= columns
        };
        let first = self.typed.char_indices().rev().take_while(fits).last();
        format!("› {}", first.map_or("", |(at, _)| &self.typed[at..]))
    }

    /// Takes the live part away.
    pub(super) fn erase(&mut self) {
        let mut out = std::io::stdout().lock();
        if self.rows > 0 {
            let _ = write!(out, "\x1b[{}A", self.rows);
        }
        let _ = write!(out, "\r\x1b[J");
        let _ = out.flush();
        self.rows = 0;
    }

    /// The plan as it is at the end, to stay on the screen.
    pub(super) fn plan(&self) -> Vec<String> {
        let progress = &self.view.plan;
        if progress.items.is_empty() {
            return Vec::new();
        }
        let mut lines = vec![plan_head(self.app, progress)];
        lines.extend(plan_lines(self.app, progress, &self.marks));
        lines
    }

    fn lines(&self, columns: usize) -> Vec<String> {
        let mut lines = self.plan();
        if !self.expanded && lines.len() > ITEMS_SHOWN + 1 {
            let current = self.view.plan.current.unwrap_or(0);
            let from = (current.saturating_sub(2) + 1).min(lines.len() - ITEMS_SHOWN);
            let near = lines[from..from + ITEMS_SHOWN].to_vec();
            let hidden = (lines.len() - 1 - ITEMS_SHOWN).to_string();
            lines.truncate(1);
            lines.extend(near);
            lines.push(self.app.text(text::chat::more_items(&hidden)));
        }
        lines.extend(self.tail(columns));
        lines.push(self.status());
        lines
    }

    /// The end of an answer on its way. What is written for the program is not shown.
    fn tail(&self, columns: usize) -> Vec<String> {
        let text = self.view.reply.as_ref().map_or("", |reply| reply.text.trim_start());
        if text.is_empty() || text.starts_with(['{', '`', '<']) {
            return Vec::new();
        }
        let mut rows = Vec::new();
        for line in text.lines() {
            let mut rest = line.to_owned();
            loop {
                let row: String = clipped_hard(&rest, columns);
                rest = rest[row.len()..].to_owned();
                rows.push(row);
                if rest.is_empty() {
                    break;
                }
            }
        }
        rows.split_off(rows.len().saturating_sub(TAIL_LINES))
    }

    fn status(&self) -> String {
        let how = self.app.text(text::chat::while_busy());
        let reply = self.view.reply.as_ref().filter(|_| self.view.status == Status::Running);
        let what = match reply {
            Some(reply) => answering_line(self.app, self.marks.now, reply),
            None => self.app.text(text::chat::working(&self.marks.now)),
        };
        format!("{what} · {how}")
    }
}

/// As much of a text as fits, without a mark.
fn clipped_hard(text: &str, columns: usize) -> String {
    let mut taken = 0;
    let fits = |c: &char| {
        taken += unicode_width::UnicodeWidthChar::width(*c).unwrap_or(0);
        taken <= columns
    };
    let row: String = text.chars().take_while(fits).collect();
    match row.is_empty() && !text.is_empty() {
        true => text.chars().take(1).collect(),
        false => row,
    }
}
