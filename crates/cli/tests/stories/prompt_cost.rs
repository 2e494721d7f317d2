//! What a greeting costs: the tokens of the first request of each loop, as it goes over the wire.

use crate::support::Home;
use everloop_models::testing::FakeServer;
use everloop_models::{ScriptedReply, count_tokens};
use serde_json::Value;

/// The most that the first request of a loop may cost, in a plain folder with the settings as they
/// come. Lower them when a prompt gets shorter.
const CEILINGS: [(&str, u64); 8] = [
    ("plan-replan", 1_220),
    ("react", 1_340),
    ("plan-execute-think", 1_280),
    ("tool-driven", 1_550),
    ("task-driven", 1_560),
    ("staged", 610),
    ("hybrid", 610),
    ("autonomous", 1_050),
];

/// Tokens of the messages, and of the tools beside them.
fn cost(request: &Value) -> (u64, u64) {
    let text = |message: &Value| match &message["content"] {
        Value::String(text) => count_tokens(text),
        other => count_tokens(&other.to_string()),
    };
    let messages = request["messages"].as_array().into_iter().flatten().map(text).sum();
    let tools = request["tools"].as_array().into_iter().flatten();
    let tools = tools.map(|tool| count_tokens(&tool["function"].to_string())).sum();
    (messages, tools)
}

fn greeted(loop_name: &str) -> Value {
    let server = FakeServer::openai(vec![ScriptedReply::says("Hello!")]);
    let home = Home::new().endpoint(&server.url()).with("EVERLOOP_LANG", "en");
    home.run(["run", "--loop", loop_name, "hello"]);
    server.seen()[0].json()
}

#[test]
fn a_greeting_costs_no_more_than_its_ceiling_under_any_loop() {
    let mut dear = Vec::new();
    eprintln!("{:<20} {:>8} {:>6} {:>6} {:>8}", "loop", "messages", "tools", "sum", "ceiling");
    for (name, ceiling) in CEILINGS {
        let (messages, tools) = cost(&greeted(name));
        let sum = messages + tools;
        eprintln!("{name:<20} {messages:>8} {tools:>6} {sum:>6} {ceiling:>8}");
        if sum > ceiling {
            dear.push((name, sum));
        }
    }
    assert!(dear.is_empty(), "{dear:?}");
}
