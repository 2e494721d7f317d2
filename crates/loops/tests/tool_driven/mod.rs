//! Tool-driven, branch by branch.

mod guards;
mod lists;

use crate::support::Scenario;
use everloop_types::Message;
use expect_test::Expect;
use serde_json::{Value, json};

fn start(goal: &str) -> Scenario {
    Scenario::of("tool-driven", goal)
}

fn check(scenario: Scenario, trace: &Expect) {
    trace.assert_eq(&scenario.play().trace);
}

fn path(path: &str) -> Value {
    json!({ "path": path })
}

/// What the runtime has told the model, one message a line.
fn told(scenario: Scenario) -> String {
    let played = scenario.play();
    let last = played.prompts.last().expect("a prompt");
    let told = last[2..].iter().filter(|message| matches!(message, Message::User { .. }));
    told.map(|message| format!("{}\n", message.text().replace('\n', " / "))).collect()
}
