//! Progress while a run is driven: lines for people, or events for programs.

use super::answering::Answering;
use super::{aside, call_args, plan_head, plan_lines, replanned, seen_line};
use crate::console::Console;
use crate::terminal::{self, Marks, complain, marks};
use everloop_engine::{Fragment, Projection, Update};
use everloop_text as text;
use everloop_types::journal::{EffectPlanned, Kind, Outcome, PlannedModelCall, PlannedToolCall};
use everloop_types::{EffectId, Progress, Purpose};
use std::collections::BTreeMap;

/// Prints what happens while a run is driven.
pub(crate) struct Printer<'a> {
    app: &'a Console,
    marks: Marks,
    manner: Manner,
    projection: Projection,
    tools: BTreeMap<EffectId, String>,
    plan: Option<Progress>,
    /// The reply on its way, if a person watches.
    answering: Option<Answering>,
    watched: bool,
}

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Lines for people, on stderr.
    Lines,
    /// JSON events, one a line, on stdout.
    Events,
    /// Nothing.
    Silent,
}

impl<'a> Printer<'a> {
    pub(crate) fn new(app: &'a Console, manner: Manner, mark: &str) -> Self {
        Self {
            app,
            marks: marks(),
            manner,
            projection: Projection::new(mark),
            tools: BTreeMap::new(),
            plan: None,
            answering: None,
            watched: manner == Manner::Lines && !app.quiet && terminal::can_rewrite(),
        }
    }

    /// With calls that are out already, and whose outcome is still to be shown.
    pub(crate) fn with_calls(self, tools: BTreeMap<EffectId, String>) -> Self {
        Self { tools, ..self }
    }

    pub(crate) fn show(&mut self, update: &Update) {
        match self.manner {
            Manner::Silent => {}
            Manner::Lines => self.line(update),
            Manner::Events => {
                for event in self.projection.of(update) {
                    terminal::answer(&event.to_string());
                }
            }
        }
    }

    fn line(&mut self, update: &Update) {
        match update {
            Update::Entry(_, entry) => self.entry(entry.effect.as_ref(), &entry.kind),
            Update::Progress(_, progress) => self.progress(progress),
            Update::Delta(_, fragment) => self.delta(fragment),
            Update::Recovered { run, interrupted } => {
                let count = interrupted.to_string();
                self.app.note(text::run::recovered(&run, &count));
            }
            Update::Retrying { error, wait_ms, .. } => {
                let wait = format!("{:.1}", *wait_ms as f64 / 1000.0);
                self.app.note(text::run::retrying(&error.detail, &wait));
                self.answering.as_mut().map(Answering::begin_again);
            }
            Update::FellBack { error, to, .. } => {
                self.app.note(text::run::fell_back(&to, &error.detail));
                self.answering.as_mut().map(Answering::begin_again);
            }
        }
    }

    fn asked(&mut self, purpose: Purpose) {
        if self.watched {
            let answering = self.answering.insert(Answering::to(purpose));
            answering.draw(self.app, self.marks.now);
        }
    }

    fn delta(&mut self, fragment: &Fragment) {
        if self.watched && self.answering.is_none() {
            self.answering = Answering::unexpectedly(fragment);
        }
        if let Some(answering) = &mut self.answering {
            answering.grow(fragment);
            answering.draw(self.app, self.marks.now);
        }
    }

    fn answered(&mut self) {
        if self.answering.take().is_some() {
            terminal::wipe();
        }
    }

    fn entry(&mut self, effect: Option<&EffectId>, kind: &Kind) {
        if let Some(line) = aside(self.app, &self.tools, effect, kind).filter(|_| !self.app.quiet) {
            complain(&line);
        }
        match (kind, effect) {
            (
                Kind::EffectPlanned(EffectPlanned::CallTool(PlannedToolCall { call, .. })),
                Some(effect),
            ) => {
                self.tools.insert(effect.clone(), call.tool.clone());
                self.app.note(
                    text::progress::Calls {
                        mark: &self.marks.act,
                        tool: &call.tool,
                        args: &call_args(&call.args),
                    }
                    .text(),
                );
            }
            (Kind::EffectPlanned(EffectPlanned::CallModel(PlannedModelCall { call, .. })), _) => {
                self.asked(call.purpose);
            }
            (Kind::EffectFinished(finished), Some(effect)) => {
                self.answered();
                if let Outcome::ModelFailed(error) = &finished.outcome {
                    self.app.note(text::progress::model_failed(&self.marks.failed, &error.detail));
                }
                let Some(tool) = self.tools.remove(effect) else { return };
                let Outcome::Observed(seen) = &finished.outcome else { return };
                let mark = if seen.is_ok() { self.marks.done } else { self.marks.failed };
                self.app.note(
                    text::progress::CameBack {
                        mark: &mark,
                        tool: &tool,
                        text: &seen_line(self.app, &seen.text),
                    }
                    .text(),
                );
            }
            _ => {}
        }
    }

    /// The plan with its marks, whenever it or the place in it changes.
    fn progress(&mut self, progress: &Progress) {
        let known = self.plan.as_ref();
        let same = known
            .is_some_and(|last| last.items == progress.items && last.current == progress.current);
        let note = progress.note.as_ref().filter(|_| known.is_none_or(|k| k.note != progress.note));
        if let Some(note) = note {
            complain(&everloop_text::render(note, self.app.lang));
        }
        if !same && progress.version > 0 && !self.app.quiet {
            let changed = known.and_then(|known| replanned(self.app, known, progress));
            changed.iter().for_each(|line| complain(line));
            complain(&plan_head(self.app, progress));
            for item in plan_lines(self.app, progress, &self.marks) {
                complain(&item);
            }
        }
        self.plan = Some(progress.clone());
    }
}
