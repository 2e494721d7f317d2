//! The siblings of tool-driven, branch by branch, and all of them on the same task.

mod autonomous;
mod hybrid;
pub(crate) mod same_task;
mod staged;
mod switches;
mod task_driven;

use crate::support::{Played, Scenario};
use everloop_types::Message;
use everloop_types::journal::{EffectPlanned, EntryKind, PlannedModelCall};
use expect_test::Expect;
use serde_json::{Value, json};

fn check(scenario: Scenario, trace: &Expect) {
    trace.assert_eq(&scenario.play().trace);
}

fn path(path: &str) -> Value {
    json!({ "path": path })
}

const TWO: [(&str, &str, &str); 2] = [("a", "read a", "pending"), ("b", "read b", "pending")];

/// What the runtime has told the model, one message a line.
fn told(scenario: Scenario) -> String {
    let played = scenario.play();
    let last = played.prompts.last().expect("a prompt");
    let told = last[2..].iter().filter(|message| matches!(message, Message::User { .. }));
    told.map(|message| format!("{}\n", message.text().replace('\n', " / "))).collect()
}

/// What each model call offers, and how it may choose.
fn offers(played: &Played) -> String {
    let calls = played.journal.iter().filter_map(|entry| match &entry.kind {
        EntryKind::EffectPlanned(EffectPlanned::CallModel(PlannedModelCall { call, .. })) => {
            Some(call)
        }
        _ => None,
    });
    calls.map(|call| format!("{:?} {:?}\n", call.offer, call.choice)).collect()
}

/// A crash after any entry changes nothing.
fn survives(scenario: &Scenario) {
    let undisturbed = scenario.clone().play();
    for n in 2..undisturbed.journal.len() {
        let upset = scenario.clone().crash_after(n).by_snapshots().play();
        assert_eq!(upset.trace, undisturbed.trace, "after entry {n}");
    }
}
