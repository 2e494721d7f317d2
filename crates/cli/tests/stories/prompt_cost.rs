//! What a greeting costs: the tokens of the first request of each loop, as it goes over the wire.

use crate::support::Home;
use everloop_models::testing::FakeServer;
use everloop_models::{Scripted, count_tokens};
use serde_json::Value;

/// The most that the first request of a loop may cost, in a plain folder with the settings as they
/// come. Before tool sets and short descriptions it was about 2,800.
const CEILINGS: [(&str, u64); 8] = [
    ("plan-replan", 1_700),
    ("react", 1_700),
    ("plan-execute-think", 1_700),
    ("tool-driven", 1_700),
    ("task-driven", 1_700),
    ("staged", 800),
    ("hybrid", 800),
    ("autonomous", 1_700),
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
    let server = FakeServer::openai(vec![Scripted::says("Hello!")]);
    let home = Home::new().endpoint(&server.url()).with("EVERLOOP_LANG", "en");
    home.run(["run", "--loop", loop_name, "hello"]);
    server.seen()[0].json()
}

#[test]
fn a_greeting_costs_at_most_half_of_what_it_did() {
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
