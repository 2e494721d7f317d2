//! Where two runs diverge: the first decision, input or outcome that differs.
//!
//! The comparison covers what happened, not how it is stored: ids, times, prompts' digests, claims,
//! snapshots, attempts and the order in which a batch's outcomes came back are left out. A model
//! call that was superseded is ignored.
//!
//! Side by side, what follows is aligned too: the same text on both sides is one row.

use crate::History;
use everloop_types::journal::{
    EffectPlanned, Entry, EntryKind, InboxMessage, Outcome, PlannedModelCall, PlannedToolCall,
    RunFinished,
};
use everloop_types::{CallId, EffectId, Reply, ToolCall};
use serde_json::Value;
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::collections::{BTreeMap, BTreeSet};

/// What two runs differ in first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DifferenceKind {
    /// Their goals.
    Goal,
    /// Their loops.
    Loop,
    /// A decision of the loop.
    Decision,
    /// A reply of the model.
    Reply,
    /// The result of a tool.
    Outcome,
    /// A message from a person.
    Input,
    /// How they ended, or the last message.
    Ending,
    /// One has no more entries, the other goes on.
    OnlyOne,
}

impl DifferenceKind {
    /// The word used in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Goal => "goal",
            Self::Loop => "loop",
            Self::Decision => "decision",
            Self::Reply => "reply",
            Self::Outcome => "outcome",
            Self::Input => "input",
            Self::Ending => "ending",
            Self::OnlyOne => "only_one",
        }
    }
}

/// The first divergence of two runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Divergence {
    /// What differs.
    pub differs: DifferenceKind,
    /// The entry of the first run.
    pub one: Option<DiffPosition>,
    /// The entry of the second run.
    pub other: Option<DiffPosition>,
}

/// An entry that is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffPosition {
    /// Its position in the journal.
    pub seq: i64,
    /// Its kind.
    pub kind: &'static str,
    /// Its content, without ids and times.
    pub says: String,
}

struct DiffStep {
    differs: DifferenceKind,
    place: DiffPosition,
}

/// Where two runs diverge; `None` if they are the same.
#[must_use]
pub fn first_divergence(one: &History, other: &History) -> Option<Divergence> {
    let (left, right) = (steps(one), steps(other));
    let mut right = right.into_iter();
    for step in left {
        match right.next() {
            Some(twin) if step.place.says == twin.place.says => {}
            Some(twin) => {
                let differs = which(&step, &twin);
                let (one, other) = (Some(step.place), Some(twin.place));
                return Some(Divergence { differs, one, other });
            }
            None => {
                let differs = DifferenceKind::OnlyOne;
                return Some(Divergence { differs, one: Some(step.place), other: None });
            }
        }
    }
    let twin = right.next()?;
    Some(Divergence { differs: DifferenceKind::OnlyOne, one: None, other: Some(twin.place) })
}

/// Two entries of different kinds at the same position: the loop decided differently.
fn which(one: &DiffStep, other: &DiffStep) -> DifferenceKind {
    if one.differs == other.differs { one.differs } else { DifferenceKind::Decision }
}

/// A row of two runs side by side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideBySideRow {
    /// The entry of the first run; none if only the second has one here.
    pub one: Option<DiffPosition>,
    /// The entry of the second run.
    pub other: Option<DiffPosition>,
    /// Whether both say the same.
    pub is_equal: bool,
}

/// All that is compared of two runs, aligned: rows up to the first divergence are equal, and what
/// both have after it stands in one row again.
#[must_use]
pub fn side_by_side(one: &History, other: &History) -> Vec<SideBySideRow> {
    let places = |history| steps(history).into_iter().map(|step| step.place).collect::<Vec<_>>();
    let (left, right) = (places(one), places(other));
    let says = |all: &[DiffPosition]| all.iter().map(|at| at.says.clone()).collect::<Vec<_>>();
    let ops = capture_diff_slices(Algorithm::Myers, &says(&left), &says(&right));
    ops.iter().flat_map(|op| rows(op, &left, &right)).collect()
}

/// The rows of one stretch; what was replaced stands beside what it was replaced by.
fn rows(op: &DiffOp, left: &[DiffPosition], right: &[DiffPosition]) -> Vec<SideBySideRow> {
    let (ones, others) = (&left[op.old_range()], &right[op.new_range()]);
    let is_equal = matches!(op, DiffOp::Equal { .. });
    let row = |at: usize| SideBySideRow {
        one: ones.get(at).cloned(),
        other: others.get(at).cloned(),
        is_equal,
    };
    (0..ones.len().max(others.len())).map(row).collect()
}

/// The tools that a run called after an entry, in order.
#[must_use]
pub fn tools_after(history: &History, seq: i64) -> Vec<String> {
    let called = history.entries.iter().filter(|entry| entry.seq >= seq);
    called
        .filter_map(|entry| match &entry.kind {
            EntryKind::EffectPlanned(EffectPlanned::CallTool(PlannedToolCall { call, .. })) => {
                Some(call.tool.clone())
            }
            _ => None,
        })
        .collect()
}

/// What is compared of a run, in order.
fn steps(history: &History) -> Vec<DiffStep> {
    let mut reader = DiffReader { names: BTreeMap::new(), batch: Vec::new(), steps: Vec::new() };
    let superseded = superseded(&history.entries);
    for entry in &history.entries {
        if !entry.effect.as_ref().is_some_and(|effect| superseded.contains(effect)) {
            reader.read(entry, history.final_text());
        }
    }
    reader.close_batch();
    reader.steps
}

fn superseded(entries: &[Entry]) -> BTreeSet<EffectId> {
    let over = entries.iter().filter(|entry| match &entry.kind {
        EntryKind::EffectFinished(finished) => finished.outcome == Outcome::Superseded,
        _ => false,
    });
    over.filter_map(|entry| entry.effect.clone()).collect()
}

struct DiffReader {
    /// Call ids, by the order in which they came.
    names: BTreeMap<CallId, usize>,
    /// Outcomes of the batch under way.
    batch: Vec<(EffectId, DiffStep)>,
    steps: Vec<DiffStep>,
}

impl DiffReader {
    fn read(&mut self, entry: &Entry, final_text: Option<&str>) {
        match (&entry.kind, &entry.effect) {
            (EntryKind::RunCreated(created), _) => {
                self.add(DifferenceKind::Loop, entry, created.loop_name.clone());
                self.add(DifferenceKind::Goal, entry, created.goal.text.clone());
            }
            (EntryKind::Input(input), _) => {
                self.add(DifferenceKind::Input, entry, message_text(&input.message));
            }
            (EntryKind::EffectPlanned(planned), _) => {
                let says = self.plan(planned);
                self.add(DifferenceKind::Decision, entry, says);
            }
            (EntryKind::EffectFinished(finished), Some(effect)) => {
                let (differs, says) = outcome(&finished.outcome);
                let place = place(entry, says);
                self.batch.push((effect.clone(), DiffStep { differs, place }));
            }
            (EntryKind::Forked(forked), _) if !forked.word.text.is_empty() => {
                self.add(DifferenceKind::Input, entry, forked.word.text.clone());
            }
            (EntryKind::RunFinished(finished), _) => {
                self.add(DifferenceKind::Ending, entry, ending(finished, final_text));
            }
            _ => {}
        }
    }

    fn add(&mut self, differs: DifferenceKind, entry: &Entry, says: String) {
        self.close_batch();
        self.steps.push(DiffStep { differs, place: place(entry, says) });
    }

    /// In the order of the plan, not of arrival.
    fn close_batch(&mut self) {
        let mut batch = std::mem::take(&mut self.batch);
        batch.sort_by(|a, b| a.0.cmp(&b.0));
        self.steps.extend(batch.into_iter().map(|(_, step)| step));
    }

    fn plan(&mut self, planned: &EffectPlanned) -> String {
        match planned {
            EffectPlanned::CallModel(PlannedModelCall { call, .. }) => {
                format!("{:?}", call.purpose)
            }
            EffectPlanned::CallTool(PlannedToolCall { call, .. }) => {
                let next = self.names.len() + 1;
                let number = *self.names.entry(call.id.clone()).or_insert(next);
                format!("#{number} {}", spelled(call))
            }
        }
    }
}

fn place(entry: &Entry, says: String) -> DiffPosition {
    DiffPosition { seq: entry.seq, kind: entry.kind.name(), says }
}

/// A call without its id, its arguments in one order.
fn spelled(call: &ToolCall) -> String {
    let args = serde_json::from_str::<Value>(&call.args).map(|args| args.to_string());
    format!("{} {}", call.tool, args.unwrap_or_else(|_| call.args.clone()))
}

fn outcome(outcome: &Outcome) -> (DifferenceKind, String) {
    match outcome {
        Outcome::Replied(reply) => (DifferenceKind::Reply, spoken(reply)),
        Outcome::ModelFailed(error) => {
            (DifferenceKind::Reply, format!("{:?}: {}", error.kind, error.detail))
        }
        Outcome::Observed(seen) => {
            (DifferenceKind::Outcome, format!("{:?}: {}", seen.ending, seen.text))
        }
        Outcome::Superseded | Outcome::Canceled => (DifferenceKind::Reply, format!("{outcome:?}")),
    }
}

fn spoken(reply: &Reply) -> String {
    let calls = reply.calls.iter().map(spelled);
    let parts = [reply.text.clone()].into_iter().filter(|text| !text.is_empty()).chain(calls);
    parts.collect::<Vec<_>>().join("\n")
}

fn message_text(message: &InboxMessage) -> String {
    match message {
        InboxMessage::Answer { text, .. } | InboxMessage::Steer { text } => text.clone(),
        InboxMessage::Switch(switch) => format!("switch to {}", switch.loop_name),
        InboxMessage::Child(ended) => format!("child {}: {}", ended.status, ended.text),
        InboxMessage::Cancel { .. } | InboxMessage::AnswerNow => message.kind().to_owned(),
    }
}

fn ending(finished: &RunFinished, final_text: Option<&str>) -> String {
    let words = final_text.unwrap_or_default();
    match &finished.reason {
        Some(reason) => format!("{} {reason:?}\n{words}", finished.status),
        None => format!("{}\n{words}", finished.status),
    }
}
