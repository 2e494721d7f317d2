//! What stands at the bottom of the screen while a run is looked at: the plan, what the model
//! does, what the person types. Redrawn in place; everything else scrolls above it.

use crate::console::Console;
use crate::show::{aside, call_args, plan_head, plan_lines, replanned, seen_line};
use crate::terminal::{self, Marks, marks};
use everloop_agenda::show::clipped;
use everloop_engine::{Fragment, Update};
use everloop_text as text;
use everloop_types::journal::{EffectPlanned, Kind, Outcome, PlannedModelCall, PlannedToolCall};
use everloop_types::{EffectId, Progress, Purpose};
use std::collections::BTreeMap;
use std::io::Write;
use std::time::{Duration, Instant};

/// How often it is redrawn at most.
const REDRAW: Duration = Duration::from_millis(60);

/// Lines of a reply on its way that are shown.
const TAIL_LINES: usize = 6;

/// Items of a plan that are shown unless the person wants them all.
const ITEMS_SHOWN: usize = 8;

/// The live part of the screen.
pub(super) struct Live<'a> {
    app: &'a Console,
    marks: Marks,
    /// Rows above the cursor's that belong to it.
    rows: u16,
    drawn: Option<Instant>,
    /// Whether something has happened that is not drawn yet.
    stale: bool,
    progress: Progress,
    doing: Option<Doing>,
    tools: BTreeMap<EffectId, String>,
    expanded: bool,
    pub(super) typed: String,
}

/// The reply on its way.
struct Doing {
    purpose: Purpose,
    text: String,
    chars: usize,
}

impl<'a> Live<'a> {
    /// `tools` are the calls that are out already, and whose outcome is still to be shown.
    pub(super) fn new(app: &'a Console, tools: BTreeMap<EffectId, String>) -> Self {
        Self {
            app,
            marks: marks(),
            rows: 0,
            drawn: None,
            stale: false,
            progress: Progress::default(),
            doing: None,
            tools,
            expanded: false,
            typed: String::new(),
        }
    }

    /// Takes in what happened.
    pub(super) fn take(&mut self, update: &Update) {
        match update {
            Update::Progress(_, progress) => self.progressed(progress),
            Update::Delta(_, fragment) => self.grew(fragment),
            Update::Entry(_, entry) => self.entered(entry.effect.as_ref(), &entry.kind),
            Update::Recovered { run, interrupted } => {
                let count = interrupted.to_string();
                self.print(&self.app.text(text::run::recovered(&run, &count)));
            }
            Update::Retrying { error, wait_ms, .. } => {
                let wait = format!("{:.1}", *wait_ms as f64 / 1000.0);
                self.doing = None;
                self.print(&self.app.text(text::run::retrying(&error.detail, &wait)));
            }
            Update::FellBack { error, to, .. } => {
                self.doing = None;
                self.print(&self.app.text(text::run::fell_back(&to, &error.detail)));
            }
        }
        self.stale = true;
        self.redraw_if_due();
    }

    fn progressed(&mut self, progress: &Progress) {
        let known = std::mem::replace(&mut self.progress, progress.clone());
        if progress.note.is_some()
            && progress.note != known.note
            && let Some(note) = &progress.note
        {
            self.print(&everloop_text::render(note, self.app.lang));
        }
        if let Some(line) = replanned(self.app, &known, progress) {
            self.print(&line);
        }
    }

    fn grew(&mut self, fragment: &Fragment) {
        let doing = self.doing.get_or_insert(Doing {
            purpose: Purpose::Think,
            text: String::new(),
            chars: 0,
        });
        let (Fragment::Text(text)
        | Fragment::Reasoning(text)
        | Fragment::Call(text)
        | Fragment::Output(text)) = fragment;
        doing.chars += text.chars().count();
        if matches!(fragment, Fragment::Text(_)) {
            doing.text.push_str(text);
        }
    }

    fn entered(&mut self, effect: Option<&EffectId>, kind: &Kind) {
        if let Some(line) = aside(self.app, &self.tools, effect, kind) {
            self.print(&line);
        }
        match (kind, effect) {
            (Kind::EffectPlanned(EffectPlanned::CallModel(PlannedModelCall { call, .. })), _) => {
                self.doing = Some(Doing { purpose: call.purpose, text: String::new(), chars: 0 });
            }
            // The question itself is shown when the run waits for its answer.
            (Kind::EffectPlanned(EffectPlanned::CallTool(PlannedToolCall { call, .. })), _)
                if call.tool == "ask_user" => {}
            (
                Kind::EffectPlanned(EffectPlanned::CallTool(PlannedToolCall { call, .. })),
                Some(effect),
            ) => {
                self.tools.insert(effect.clone(), call.tool.clone());
                self.print(
                    &self.app.text(
                        text::progress::Calls {
                            mark: &self.marks.act,
                            tool: &call.tool,
                            args: &call_args(&call.args),
                        }
                        .text(),
                    ),
                );
            }
            (Kind::EffectFinished(finished), Some(effect)) => {
                self.doing = None;
                if let Outcome::ModelFailed(error) = &finished.outcome {
                    self.print(
                        &self
                            .app
                            .text(text::progress::model_failed(&self.marks.failed, &error.detail)),
                    );
                }
                let Some(tool) = self.tools.remove(effect) else { return };
                let Outcome::Observed(seen) = &finished.outcome else { return };
                let mark = if seen.is_ok() { self.marks.done } else { self.marks.failed };
                self.print(
                    &self.app.text(
                        text::progress::CameBack {
                            mark: &mark,
                            tool: &tool,
                            text: &seen_line(self.app, &seen.text),
                        }
                        .text(),
                    ),
                );
            }
            _ => {}
        }
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

    /// Draws what has happened, but not too often: whoever looks on calls this again and again.
    pub(super) fn redraw_if_due(&mut self) {
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
        let progress = &self.progress;
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
            let current = self.progress.current.unwrap_or(0);
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
        let text = self.doing.as_ref().map_or("", |doing| doing.text.trim_start());
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
        let Some(doing) = &self.doing else {
            let working = self.app.text(text::chat::working(&self.marks.now));
            return format!("{working} · {how}");
        };
        let key = match doing.purpose {
            Purpose::Plan => text::answering::plan,
            Purpose::Think => text::answering::think,
            Purpose::Replan => text::answering::replan,
            Purpose::Compact => text::answering::compact,
            Purpose::Close => text::answering::close,
        };
        let chars = crate::show::grouped(doing.chars as u64);
        let what = self.app.text(key(&self.marks.now, &chars));
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
