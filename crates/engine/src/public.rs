//! The public projection of the journal: stable event names for scripts, pages and the API.
//!
//! Journal kinds may change with the program; these names do not. `seq` is the journal's own.

use crate::{Fragment, History, Update};
use everloop_loops::{AnyRun, spoken};
use everloop_types::journal::{
    EffectPlanned, Entry, InboxMessage, Kind, Outcome, PlannedModelCall, PlannedToolCall,
    RunFinished, WaitingOn,
};
use everloop_types::{EffectId, ItemState, Progress, RunId, ToolCall, Words, without_mark};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Follows one run and tells what happens in public words.
#[derive(Debug)]
pub struct Projection {
    calls: BTreeMap<EffectId, ToolCall>,
    plan: Option<Progress>,
    noted: Option<Words>,
    loop_name: String,
    mark: String,
}

impl Projection {
    /// Follows a run whose answers end with this mark, which nobody is shown.
    #[must_use]
    pub fn new(mark: &str) -> Self {
        Self {
            calls: BTreeMap::new(),
            plan: None,
            noted: None,
            loop_name: String::new(),
            mark: mark.to_owned(),
        }
    }

    /// The public events of one update; most updates have one, some none.
    pub fn of(&mut self, update: &Update) -> Vec<Value> {
        match update {
            Update::Entry(run, entry) => self.entry(run, entry),
            Update::Progress(run, progress) => {
                let mut events = self.progress(progress);
                events.iter_mut().for_each(|event| event["run_id"] = json!(run));
                events
            }
            Update::Delta(run, fragment) => vec![delta(run, fragment)],
            Update::Recovered { run, interrupted } => {
                vec![json!({"type": "run.recovered", "run_id": run, "interrupted": interrupted})]
            }
            Update::Retrying { run, error, wait_ms } => vec![json!({
                "type": "step.retrying", "run_id": run, "error": error.detail, "wait_ms": wait_ms,
            })],
            Update::FellBack { run, error, to } => vec![json!({
                "type": "step.fell_back", "run_id": run, "error": error.detail, "model": to,
            })],
        }
    }

    /// The public events of one journal entry.
    pub fn entry(&mut self, run: &RunId, entry: &Entry) -> Vec<Value> {
        let events = self.kind(entry);
        placed(events, run, entry)
    }

    /// The public events of a whole past, each with the place of its entry. The plan and what the
    /// loop noted are folded from the journal; one that cannot be folded tells of neither.
    #[must_use]
    pub fn past(history: &History) -> Vec<(i64, Value)> {
        let mut projection = Self::new(history.frame().mark());
        let mut run = match history.entries.first().map(|entry| &entry.kind) {
            Some(Kind::RunCreated(created)) if history.is_whole() => {
                AnyRun::new(created, history.frame().clone()).ok()
            }
            _ => None,
        };
        let mut all = Vec::new();
        for entry in &history.entries {
            let mut events = projection.kind(entry);
            if let Some(run) = &mut run {
                run.apply(entry);
                events.extend(projection.progress(&run.progress()));
            }
            let events = placed(events, &history.run, entry);
            all.extend(events.into_iter().map(|event| (entry.seq, event)));
        }
        all
    }

    fn kind(&mut self, entry: &Entry) -> Vec<Value> {
        let effect = entry.effect.as_ref();
        match &entry.kind {
            Kind::RunCreated(created) => {
                self.loop_name.clone_from(&created.loop_name);
                vec![json!({
                    "type": "run.started", "goal": created.goal.text, "loop": created.loop_name,
                })]
            }
            Kind::EpochStarted(_) if entry.epoch > 1 => vec![json!({"type": "run.resumed"})],
            Kind::EffectPlanned(EffectPlanned::CallModel(PlannedModelCall { call, .. })) => {
                vec![json!({"type": "step.started", "purpose": call.purpose})]
            }
            Kind::EffectPlanned(EffectPlanned::CallTool(PlannedToolCall { call, .. })) => {
                if let Some(effect) = effect {
                    self.calls.insert(effect.clone(), call.clone());
                }
                vec![json!({"type": "tool.started", "call_id": call.id, "tool": call.tool,
                            "arguments": call.args})]
            }
            Kind::EffectProbed(probed) => {
                let call = effect.and_then(|effect| self.calls.get(effect));
                vec![json!({"type": "tool.probed", "call_id": call.map(|call| &call.id),
                            "tool": call.map(|call| &call.tool), "found": probed.found,
                            "detail": probed.detail})]
            }
            Kind::EffectFinished(finished) => {
                let call = effect.and_then(|effect| self.calls.remove(effect));
                let mut event = self.outcome(call, &finished.outcome, finished.took_ms);
                if !finished.labels.is_empty() {
                    event["labels"] = json!(finished.labels.names());
                }
                vec![event]
            }
            Kind::ApprovalGiven(given) => {
                let call = effect.and_then(|effect| self.calls.get(effect));
                vec![json!({"type": "tool.approved", "call_id": call.map(|call| &call.id),
                            "tool": call.map(|call| &call.tool), "by": given.by,
                            "releases": given.releases})]
            }
            Kind::Input(input) => heard(&input.letter),
            Kind::Waiting(waiting) => waits(&waiting.on),
            Kind::Forked(forked) => vec![json!({
                "type": "run.forked", "from": forked.from, "at": forked.at_seq,
            })],
            Kind::Spawned(spawned) => vec![json!({
                "type": "run.spawned", "parent": spawned.by.run,
            })],
            Kind::Delegated(delegated) => vec![json!({
                "type": "child.started", "child": delegated.to,
            })],
            Kind::RunFinished(finished) => self.ended(finished),
            _ => Vec::new(),
        }
    }

    /// What the loop noted, each time that changes, and the whole plan, each time it or the place
    /// in it changes.
    fn progress(&mut self, progress: &Progress) -> Vec<Value> {
        let noted = std::mem::replace(&mut self.noted, progress.note.clone());
        let note = progress.note.as_ref().filter(|note| noted.as_ref() != Some(*note));
        let mut events: Vec<Value> = note.map(noted_events).unwrap_or_default();
        let same = self.plan.as_ref().is_some_and(|last| {
            last.items == progress.items
                && last.current == progress.current
                && last.failed == progress.failed
        });
        if same || progress.version == 0 {
            return events;
        }
        let kind = if self.plan.is_none() { "plan.created" } else { "plan.updated" };
        self.plan = Some(progress.clone());
        events.push(json!({"type": kind, "plan": progress}));
        events
    }

    fn ended(&self, finished: &RunFinished) -> Vec<Value> {
        let ended = json!({
            "type": format!("run.{}", finished.status), "status": finished.status,
            "reason": finished.reason,
        });
        self.closed_list().into_iter().chain([ended]).collect()
    }

    /// The end closes the plan or list, as an act of its own (TD-3).
    fn closed_list(&self) -> Option<Value> {
        let items = &self.plan.as_ref()?.items;
        let count = |state| items.iter().filter(|item| item.state == state).count();
        use ItemState::{Completed, Failed, InProgress, Pending, Skipped};
        (!items.is_empty()).then(|| {
            json!({
                "type": "agent_completed", "completed": count(Completed), "failed": count(Failed),
                "cancelled": count(Skipped), "open": count(Pending) + count(InProgress),
            })
        })
    }
}

fn placed(mut events: Vec<Value>, run: &RunId, entry: &Entry) -> Vec<Value> {
    for event in &mut events {
        event["seq"] = json!(entry.seq);
        event["ts"] = json!(entry.at);
        event["run_id"] = json!(run);
    }
    events
}

/// A note by the names of its texts, or in the model's own words. A reply that was taken though it
/// broke its contract has a name of its own.
fn noted_events(note: &Words) -> Vec<Value> {
    match note {
        Words::Said(text) => vec![json!({"type": "step.noted", "text": text})],
        Words::Key(key, args) => match key.as_str().strip_prefix("salvaged.") {
            Some(how) => vec![json!({"type": "step.salvaged", "how": how})],
            None => vec![json!({"type": "step.noted", "note": key, "args": args})],
        },
        Words::All(all) => all.iter().flat_map(noted_events).collect(),
    }
}

impl Projection {
    fn outcome(&self, call: Option<ToolCall>, outcome: &Outcome, took_ms: u64) -> Value {
        match (outcome, call) {
            (Outcome::Replied(reply), _) => json!({
                "type": "message.completed",
                "text": without_mark(&spoken(&self.loop_name, &reply.text), &self.mark),
                "usage": {
                    "input_tokens": reply.usage.input_tokens,
                    "output_tokens": reply.usage.output_tokens,
                    "cached_tokens": reply.usage.cached_tokens,
                },
                "tool_calls": reply.calls.len(), "duration_ms": took_ms,
            }),
            (Outcome::Observed(seen), Some(call)) => json!({
                "type": if seen.is_ok() { "tool.completed" } else { "tool.failed" },
                "call_id": call.id, "tool": call.tool, "ending": seen.ending, "result": seen.text,
                "duration_ms": took_ms,
            }),
            (Outcome::ModelFailed(error), _) => {
                json!({"type": "step.failed", "error": error.detail, "kind": error.kind})
            }
            (other, _) => json!({"type": "step.skipped", "outcome": other}),
        }
    }
}

fn heard(letter: &InboxMessage) -> Vec<Value> {
    match letter {
        InboxMessage::Answer { question, text, .. } => vec![json!({
            "type": "interrupt.answered", "interrupt_id": question, "text": text,
        })],
        InboxMessage::Switch(switch) => vec![json!({
            "type": "run.switching", "loop": switch.loop_name, "to": switch.to,
        })],
        InboxMessage::Child(ended) => vec![json!({
            "type": "child.ended", "child": ended.child, "status": ended.status,
            "text": ended.text,
        })],
        _ => Vec::new(),
    }
}

fn waits(on: &WaitingOn) -> Vec<Value> {
    match on {
        WaitingOn::Person { question } => vec![
            json!({"type": "run.waiting", "waiting_for": "user"}),
            json!({"type": "interrupt.opened", "interrupt_id": question.id,
                   "kind": question.kind, "message": question.text}),
        ],
        WaitingOn::Model { error } => vec![json!({
            "type": "run.waiting", "waiting_for": "model", "error": error.detail,
        })],
        WaitingOn::Child { run } => vec![json!({
            "type": "run.waiting", "waiting_for": "child", "child": run,
        })],
    }
}

fn delta(run: &RunId, fragment: &Fragment) -> Value {
    match fragment {
        Fragment::Text(text) => json!({"type": "message.delta", "run_id": run, "text": text}),
        Fragment::Reasoning(text) => {
            json!({"type": "reasoning.delta", "run_id": run, "text": text})
        }
        Fragment::Call(tool) => json!({"type": "tool.progress", "run_id": run, "tool": tool}),
        Fragment::Output(text) => json!({"type": "tool.progress", "run_id": run, "text": text}),
    }
}
