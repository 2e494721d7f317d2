//! What another loop is given of a run: its transcript and its open plan, as plain messages.
//!
//! Calls and observations become text: a loop that speaks JSON contracts offers no tools, and
//! providers refuse tool messages where no tool is on offer.

use crate::{AnyRun, Decision, PlannedEffect};
use everloop_types::journal::{EffectFinished, EffectPlanned, Entry, EntryKind, Outcome};
use everloop_types::{
    CallId, EffectId, Ending, ItemState, Message, Observation, PlanItem, RunId, ToolCall,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const CARRIED: &str = include_str!("prompts/carried.md");
const CLOSING: &str = include_str!("prompts/closing.md");

/// Stands in what runs are given nowadays. Never changed: such runs are folded by it.
const GIVEN_AFTER_THE_GOAL: &str = "said not to have been performed was not made";

/// Whether these messages come after the goal, where a compaction reaches them. Those of older runs
/// come before it and stay.
pub(crate) fn stands_after_goal(carried: &[Message]) -> bool {
    carried.last().is_some_and(|last| last.text().contains(GIVEN_AFTER_THE_GOAL))
}

/// Batches that a loop may still want before it has told all that it knows.
const LET_GO_MAX: usize = 1_000;

/// The messages with which a fork under another loop, or another version, begins. Nothing may be
/// outstanding.
#[must_use]
pub fn carried(run: &AnyRun) -> Vec<Message> {
    let run = &let_go(run.clone());
    let mut calls = BTreeMap::new();
    let said = run.messages().iter().filter(|message| !matches!(message, Message::System { .. }));
    let mut messages: Vec<Message> = said.map(|message| plain(message, &mut calls)).collect();
    while messages.last().is_some_and(is_unanswered) {
        messages.pop();
    }
    let plan = open_plan(&run.progress().items);
    messages.push(Message::user(format!("{}{plan}", CARRIED.trim_end())));
    messages
}

/// Whether it asks for something in the manner of the loop that is left.
fn is_unanswered(last: &Message) -> bool {
    let Message::User { text, .. } = last else { return false };
    text == CLOSING || text.starts_with("phase: ")
}

fn plain<'m>(message: &'m Message, calls: &mut BTreeMap<&'m CallId, &'m ToolCall>) -> Message {
    match message {
        Message::Assistant { text, calls: asked } => {
            calls.extend(asked.iter().map(|call| (&call.id, call)));
            let asked = asked.iter().map(|call| {
                json!({ "call": { "tool": call.tool, "input": input(call) } }).to_string()
            });
            let parts = [text.clone()].into_iter().filter(|text| !text.is_empty()).chain(asked);
            let text = parts.collect::<Vec<_>>().join("\n");
            Message::Assistant { text, calls: Vec::new() }
        }
        Message::Tool { call, text } => {
            let call = calls.get(call);
            let tool = call.map(|call| call.tool.as_str());
            let input = call.map(|call| input(call));
            let seen = json!({ "observation": { "tool": tool, "input": input, "result": text } });
            Message::user(seen.to_string())
        }
        other => other.clone(),
    }
}

fn input(call: &ToolCall) -> Value {
    serde_json::from_str(&call.args).unwrap_or_else(|_| Value::from(call.args.as_str()))
}

fn open_plan(items: &[PlanItem]) -> String {
    if items.is_empty() {
        return String::new();
    }
    let line = |item: &PlanItem| {
        let mark = if item.state == ItemState::Completed { "x" } else { " " };
        let claim = if item.used_no_tool() { " (no tool used)" } else { "" };
        format!("\n- [{mark}] {}{claim}", item.text)
    };
    let lines: String = items.iter().map(line).collect();
    format!("\n\nThe plan so far:{lines}")
}

/// Calls that the loop was about to make are not made, and the model can read that. A loop that
/// gathers what came back tells it here.
fn let_go(mut run: AnyRun) -> AnyRun {
    for _ in 0..LET_GO_MAX {
        let Decision::Do(batch) = run.decide() else { break };
        let asks = |one: &PlannedEffect| matches!(one.planned, EffectPlanned::CallModel(_));
        if batch.iter().any(asks) {
            break;
        }
        let cause = run.last_seq();
        let id = |index| EffectId { run: RunId::new("let_go"), cause, index };
        let plans = batch.iter().map(|one| EntryKind::EffectPlanned(one.planned.clone()));
        let ends = batch.iter().map(|one| {
            let seen = one.refused.clone().unwrap_or_else(not_made);
            EntryKind::EffectFinished(EffectFinished::unlabeled(Outcome::Observed(seen), 0))
        });
        for (index, kind) in (0..).zip(plans).chain((0..).zip(ends)) {
            let (seq, at, effect) = (run.last_seq() + 1, run.last_at(), Some(id(index)));
            run.apply(&Entry { seq, epoch: 0, at, effect, kind });
        }
    }
    run
}

fn not_made() -> Observation {
    let text = "not performed: another loop goes on from here; nothing was done";
    Observation { ending: Ending::Canceled, text: text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the notice lacks them, what a run is given would stand before its goal for ever.
    #[test]
    fn the_words_by_which_runs_are_folded_stand_in_the_notice() {
        assert!(CARRIED.contains(GIVEN_AFTER_THE_GOAL));
    }
}
