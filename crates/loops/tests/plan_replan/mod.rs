//! Plan-replan, branch by branch.

mod contracts;
mod limits;
mod phases;
mod questions;
mod trouble;

use crate::support::Scenario;
use everloop_types::Message;
use expect_test::Expect;

fn check(scenario: Scenario, trace: &Expect) {
    trace.assert_eq(&scenario.play().trace);
}

/// The last prompt from its first phase on, one message a line.
fn talk(scenario: Scenario) -> String {
    let played = scenario.play();
    let last = played.prompts.last().expect("a prompt");
    let line = |message: &Message| match message {
        Message::Assistant { text, .. } => format!("< {text}\n"),
        other => format!("> {}\n", other.text().replace('\n', " / ")),
    };
    last[2..].iter().map(line).collect()
}
