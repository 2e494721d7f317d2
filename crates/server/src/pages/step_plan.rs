//! Which item of its plan a run works on, step by step, and when the plan is another one.

use super::activity::item_state;
use super::steps::RunStep;
use everloop_engine::EventNote;
use everloop_pages::run::WaterfallGroup;
use everloop_pages::waterfall::{TimeSpan, time_in};
use everloop_types::{Lang, Progress, Words};
use std::collections::BTreeMap;

/// An item of a plan, as the steps below it know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlanPlace {
    number: usize,
    text: String,
    state: &'static str,
}

/// What is new about a plan.
#[derive(Debug, Default)]
pub(super) struct NewPlan {
    /// Why, in the words of the loop.
    pub(super) reason: String,
    /// Lines of a diff; nothing for the first plan.
    pub(super) diff: Vec<String>,
}

/// Follows the plan of a run.
#[derive(Debug, Default)]
pub(super) struct PlanReader {
    version: u32,
    items: Vec<String>,
    current: Option<PlanPlace>,
    states: BTreeMap<String, &'static str>,
    noted: Option<(i64, String)>,
}

impl PlanReader {
    /// Remembers what the loop says about its next step.
    pub(super) fn note(&mut self, lang: Lang, seq: i64, said: &EventNote) {
        let words = match (&said.note, &said.args) {
            (Some(key), Some(args)) => {
                everloop_text::render(&Words::Key(key.clone(), args.clone()), lang)
            }
            _ => said.text.clone(),
        };
        self.noted = Some((seq, words));
    }

    /// The item that is worked on.
    pub(super) fn current(&self) -> Option<PlanPlace> {
        self.current.clone()
    }

    /// Takes in the plan as it is now. Progress within the same items is nothing new.
    pub(super) fn take(&mut self, seq: i64, plan: &Progress) -> Option<NewPlan> {
        let items: Vec<String> = plan.items.iter().map(|item| item.text.clone()).collect();
        for item in &plan.items {
            self.states.insert(item.text.clone(), item_state(item.state));
        }
        self.current = plan.current.and_then(|at| {
            let text = items.get(at)?.clone();
            Some(PlanPlace { number: at + 1, text, state: "running" })
        });
        let is_first = self.version == 0;
        if !is_first && (plan.version <= self.version || items == self.items) {
            return None;
        }
        self.version = plan.version;
        let before = std::mem::replace(&mut self.items, items);
        if is_first {
            return Some(NewPlan::default());
        }
        // What is said with the same entry is about this plan.
        let noted = self.noted.take().filter(|(at, _)| *at == seq);
        let reason = noted.map(|(_, words)| words).unwrap_or_default();
        Some(NewPlan { reason, diff: item_diff(&before, &self.items) })
    }

    /// Tells each step how its item ended.
    pub(super) fn close(&self, steps: &mut [RunStep], open_state: &'static str) {
        for place in steps.iter_mut().filter_map(|step| step.under.as_mut()) {
            place.state = match self.states.get(&place.text).copied() {
                Some("running") if open_state == "canceled" => "pending",
                Some("running") => open_state,
                Some(state) => state,
                None => "pending",
            };
        }
    }
}

/// Two versions of a plan as lines of a diff.
pub(super) fn item_diff<T: AsRef<str> + PartialEq>(before: &[T], after: &[T]) -> Vec<String> {
    if before == after {
        return Vec::new();
    }
    let gone = before.iter().filter(|item| !after.contains(item));
    let kept = after.iter().map(|item| match before.contains(item) {
        true => format!(" {}", item.as_ref()),
        false => format!("+{}", item.as_ref()),
    });
    gone.map(|item| format!("-{}", item.as_ref())).chain(kept).collect()
}

fn group_of(step: &RunStep, place: &PlanPlace, span: TimeSpan) -> WaterfallGroup {
    WaterfallGroup {
        seq: step.seq,
        name: format!("{} {}", place.number, place.text),
        state: place.state,
        span: TimeSpan { waits: false, ..span },
        took: 0,
    }
}

/// The steps of a run under the items of its plan.
#[derive(Debug, Default)]
pub(super) struct StepGroups {
    /// The items, in the order in which they were worked on.
    pub(super) groups: Vec<WaterfallGroup>,
    under: Vec<Option<usize>>,
}

impl StepGroups {
    /// Groups the steps of a whole run.
    pub(super) fn of(steps: &[RunStep]) -> Self {
        let mut made = Self::default();
        let mut spans: Vec<Vec<TimeSpan>> = Vec::new();
        let mut last: Option<&PlanPlace> = None;
        for step in steps {
            let span = step.bar().span;
            if let Some(place) = &step.under {
                if last != Some(place) || made.groups.is_empty() {
                    made.groups.push(group_of(step, place, span));
                    spans.push(Vec::new());
                }
                if let (Some(group), Some(own)) = (made.groups.last_mut(), spans.last_mut()) {
                    group.span.from = group.span.from.min(span.from);
                    group.span.to = group.span.to.max(span.to);
                    own.extend((!span.waits).then_some(span));
                }
            }
            last = step.under.as_ref();
            made.under.push(last.and(made.groups.len().checked_sub(1)));
        }
        let idle: Vec<TimeSpan> = steps.iter().map(|step| step.bar().span).collect();
        let idle: Vec<TimeSpan> = idle.into_iter().filter(|span| span.waits).collect();
        for (group, own) in made.groups.iter_mut().zip(spans) {
            group.took = time_in(&own, &idle);
        }
        made
    }

    /// The group of the step at a place.
    pub(super) fn of_step(&self, at: usize) -> Option<usize> {
        self.under.get(at).copied().flatten()
    }
}
