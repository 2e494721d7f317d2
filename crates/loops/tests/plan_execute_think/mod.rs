//! Plan-execute-think, branch by branch.

mod rounds;
mod trouble;

use crate::support::Scenario;
use everloop_types::Message;
use expect_test::Expect;
use serde_json::{Value, json};

fn check(scenario: Scenario, trace: &Expect) {
    trace.assert_eq(&scenario.play().trace);
}

fn read(path: &str) -> (&'static str, Value) {
    ("read_file", json!({ "path": path }))
}

/// The last prompt from the first phase on, one message a line.
fn talk(scenario: Scenario) -> String {
    let played = scenario.play();
    let last = played.prompts.last().expect("a prompt");
    let line = |message: &Message| match message {
        Message::Assistant { text, calls } => {
            let calls: Vec<String> =
                calls.iter().map(|call| format!("{}({})", call.tool, call.id)).collect();
            format!("< {text}{}\n", calls.join(" "))
        }
        Message::Tool { call, text } => format!("{call}> {text}\n"),
        other => format!("> {}\n", other.text().replace('\n', " / ")),
    };
    last[2..].iter().map(line).collect()
}
