//! The real wire: an OpenAI-compatible endpoint on this machine.

use crate::support::{Home, done, goes_on, plan, thought};
use everloop_models::ScriptedReply;
use everloop_models::testing::{CannedReply, FakeServer};
use serde_json::{Value, json};

fn text_of(reply: &Value) -> ScriptedReply {
    ScriptedReply::says(reply["text"].as_str().unwrap())
}

#[test]
fn react_works_over_the_wire_to_its_end() {
    let server = FakeServer::openai(vec![
        ScriptedReply::calls("write_file", json!({"path": "a.txt", "content": "from the wire"})),
        ScriptedReply::calls("read_file", json!({"path": "a.txt"})).reasoning("let me check"),
        ScriptedReply::says("It says: from the wire.").in_chunks(3),
    ]);
    let home = Home::new().endpoint(&server.url());
    let args = ["run", "--loop", "react", "--output-format", "json", "write and check"];
    let result = home.run(args).ends_with(0).json();
    assert_eq!(result["text"], "It says: from the wire.");
    assert_eq!((&result["model_calls"], &result["tool_calls"]), (&json!(3), &json!(2)));
    assert_eq!(home.read("a.txt"), "from the wire");
    let sent = server.seen();
    assert_eq!(sent.len(), 3);
    assert!(sent[0].head.starts_with("POST /v1/chat/completions "), "{}", sent[0].head);
    let last = sent[2].json();
    let messages = last["messages"].as_array().unwrap();
    assert_eq!(messages.last().unwrap()["role"], "tool");
    assert!(messages.last().unwrap()["content"].as_str().unwrap().contains("from the wire"));
    // Prompts only grow, so that the endpoint can cache them.
    let before = sent[1].json();
    let before = before["messages"].as_array().unwrap();
    assert_eq!(before[..], messages[..before.len()]);
    home.verified(&home.newest());
}

#[test]
fn plan_replan_works_over_the_wire_to_its_end() {
    let write = json!({"path": "b.txt", "content": "planned"});
    let replies =
        [plan(&["write b"]), goes_on("write_file", write), thought("ok"), done("Written.")];
    let server = FakeServer::openai(replies.iter().map(text_of).collect());
    let home = Home::new().endpoint(&server.url());
    let ran = home.run(["run", "write b"]).ends_with(0);
    assert_eq!((ran.stdout.as_str(), home.read("b.txt").as_str()), ("Written.\n", "planned"));
    home.verified(&home.newest());
}

#[test]
fn plan_execute_think_forces_its_two_tools_on_the_wire() {
    let steps = json!([
        {"tool": "write_file", "arguments": {"path": "c.txt", "content": "in a round"}},
        {"tool": "read_file", "arguments": {"path": "c.txt"}},
    ]);
    let thought = json!({"internal_analysis": "kept to myself", "user_summary": "Written.",
                         "task_completed": true, "next_steps_preview": ""});
    let server = FakeServer::openai(vec![
        ScriptedReply::calls("plan_tool_call", json!({"steps": steps, "reasoning": "write, read"})),
        ScriptedReply::calls("think", thought).in_chunks(5),
    ]);
    let home = Home::new().endpoint(&server.url()).with("AGENT_MODE", "plan_execute_think");
    let ran = home.run(["run", "--output-format", "stream-json", "write c"]).ends_with(0);
    assert!(ran.stdout.contains("Written."), "{}", ran.stdout);
    assert!(!ran.stdout.contains("kept to myself"), "{}", ran.stdout);
    assert_eq!(home.read("c.txt"), "in a round");
    let sent = server.seen();
    for (request, tool) in sent.iter().zip(["plan_tool_call", "think"]) {
        let sent = request.json();
        let named = json!({"type": "function", "function": {"name": tool}});
        assert_eq!(sent["tool_choice"], named);
        let offered: Vec<&Value> =
            sent["tools"].as_array().unwrap().iter().map(|t| &t["function"]["name"]).collect();
        assert_eq!(offered, [&json!(tool)]);
    }
    let messages = sent[1].json();
    let results = messages["messages"].as_array().unwrap().iter().find(|m| m["role"] == "tool");
    assert!(results.unwrap()["content"].as_str().unwrap().contains("all steps were run"));
    home.verified(&home.newest());
}

#[test]
fn tokens_are_counted_with_those_from_the_cache() {
    let usage = json!({"prompt_tokens": 120, "completion_tokens": 7,
                       "prompt_tokens_details": {"cached_tokens": 100}});
    let server = FakeServer::start(vec![CannedReply::sse(format!(
        "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"hi\"}}}}]}}\n\n\
         data: {{\"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"stop\"}}]}}\n\n\
         data: {{\"choices\":[],\"usage\":{usage}}}\n\ndata: [DONE]\n\n"
    ))]);
    let home = Home::new().endpoint(&server.url());
    let args = ["run", "--loop", "react", "--output-format", "json", "hi"];
    let result = home.run(args).ends_with(0).json();
    let expected = json!({"input_tokens": 120, "output_tokens": 7, "cached_tokens": 100});
    assert_eq!((&result["text"], &result["usage"]), (&json!("hi"), &expected));
}

#[test]
fn a_run_killed_while_the_wire_streams_asks_once_more_and_repeats_no_tool() {
    let server = FakeServer::openai(vec![
        ScriptedReply::calls("shell", json!({"command": "echo once >> log"})),
        ScriptedReply::says("a b c d").in_chunks(2).after_ms(20_000),
    ]);
    let mut home = Home::new().endpoint(&server.url());
    let args = ["run", "--loop", "react", "--yes", "--output-format", "stream-json", "go"];
    let mut first = home.spawn(args);
    first.until("tool.completed");
    crate::support::eventually("the second request", || (server.seen().len() == 2).then_some(()));
    first.kill9();
    let id = home.newest();
    let quick = FakeServer::openai(vec![
        ScriptedReply::says("never asked"),
        ScriptedReply::says("a b c d"),
    ]);
    home.set("OPENAI_BASE_URL", &quick.url());
    let ended = home.run(["runs", "resume", &id]).ends_with(0);
    assert_eq!((ended.stdout.as_str(), home.read("log").as_str()), ("a b c d\n", "once\n"));
    assert_eq!(quick.seen().len(), 1);
    // Byte for byte the same request: nothing was forgotten.
    assert_eq!(quick.seen()[0].json()["messages"], server.seen()[1].json()["messages"]);
    home.verified(&id);
}
