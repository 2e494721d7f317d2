//! What a decision is told: the real bytes of its request.

use crate::support::{Home, says, slow};
use everloop_models::ScriptedReply;
use everloop_models::testing::FakeServer;
use serde_json::{Value, json};

/// DR-3: the message, what was said before, facts, and the tasks with their state.
#[test]
fn a_decision_reads_the_message_the_history_the_facts_and_the_running_tasks() {
    let decision = json!({"decision": "reply", "reply": {"content": "It is under way."},
        "confidence": 0.9, "reason": "it runs already"});
    let server = FakeServer::openai(vec![ScriptedReply::says(decision.to_string())]);
    let home = Home::scripted(&[])
        .with_token()
        .with("OPENAI_BASE_URL", &server.url())
        .with("OPENAI_API_KEY", "key")
        .with("AGENT_DECISION_MODEL", "openai/x");
    home.rewrite_with(&[says("The cat is called Mia.")], "archive", &[slow(says("never"))]);
    home.run(["memory", "add", "Deployments are on Fridays"]).ends_with(0);
    let served = home.serve();
    let begun = served.post("/v1/conversations", &json!({})).is(201).json();
    let path = format!("/v1/conversations/{}/messages", begun["id"].as_str().unwrap());
    let say = |body: &Value| served.post(&path, body).is(202).json()["run"]["id"].clone();
    let is_over = |event: &Value| event["type"] == "run.succeeded";
    let first = say(&json!({"content": "what is the cat called?", "loop": "react"}));
    served.events(first.as_str().unwrap(), 0, is_over);
    let task = say(&json!({"content": "pack the archive", "loop": "react"}));
    let task = task.as_str().unwrap();
    served.events(task, 0, |event| event["type"] == "step.started");
    let decided = say(&json!({"content": "please pack the archive"}));
    served.events(decided.as_str().unwrap(), 0, is_over);
    let seen = server.seen();
    assert_eq!(seen.len(), 1, "one decision, and no second start of the task");
    let told = seen[0].json()["messages"].to_string();
    for words in [
        "please pack the archive",
        "what is the cat called?",
        "The cat is called Mia.",
        "Deployments are on Fridays",
        &format!("- running ({task}): pack the archive"),
        &format!("- succeeded ({}): what is the cat called?", first.as_str().unwrap()),
    ] {
        assert!(told.contains(words), "{words:?} is not in {told}");
    }
}
