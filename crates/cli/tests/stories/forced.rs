//! What each loop offers and forces on the wire, phase by phase, and endpoints that do not obey.

use crate::support::Home;
use everloop_loops::LOOPS;
use everloop_models::ScriptedReply;
use everloop_models::testing::{CannedReply, FakeServer, ReceivedRequest};
use serde_json::{Value, json};

fn list() -> Value {
    json!({"todos": [{"id": "1", "content": "write", "status": "pending"}], "merge": false})
}

fn round() -> Value {
    let args = json!({"path": "f.txt", "content": "written"});
    json!({"steps": [{"tool": "write_file", "arguments": args}], "reasoning": "as asked"})
}

fn thought() -> Value {
    json!({"internal_analysis": "-", "user_summary": "Written.", "task_completed": true,
           "next_steps_preview": ""})
}

/// The same small task: write a file, say so.
fn script(name: &str) -> Vec<ScriptedReply> {
    let write = json!({"path": "f.txt", "content": "written"});
    let writes = || ScriptedReply::calls("write_file", write.clone());
    let marks = || {
        let todo = json!({"id": "1", "status": "completed"});
        ScriptedReply::calls("todo_write", json!({"todos": [todo], "merge": true}))
    };
    let (lists, says) =
        (ScriptedReply::calls("todo_write", list()), || ScriptedReply::says("Written."));
    let object = |value: Value| ScriptedReply::says(value.to_string());
    match name {
        "plan-replan" => vec![
            object(json!({"status": "planned", "plan": ["write"]})),
            object(json!({"status": "continue", "current_step": "", "question": null,
                "response": null, "next_action": {"tool": "write_file", "input": write}})),
            object(json!({"status": "done", "current_step": "", "next_action": null,
                "question": null, "response": "did it"})),
            object(json!({"status": "done", "response": "Written."})),
        ],
        "react" => vec![writes(), says()],
        "plan-execute-think" => {
            vec![
                ScriptedReply::calls("plan_tool_call", round()),
                ScriptedReply::calls("think", thought()),
            ]
        }
        "tool-driven" | "task-driven" => vec![lists, writes(), marks(), says()],
        "staged" | "hybrid" => vec![lists, writes(), ScriptedReply::says("did it"), says()],
        "autonomous" => vec![
            ScriptedReply::says(format!("<tool name=\"write_file\">{write}</tool>")),
            ScriptedReply::says("<final>Written.</final>"),
        ],
        other => panic!("what would {other} do?"),
    }
}

/// `tools offered / choice` of one request; all tools of a run are `all`.
fn forced(request: &ReceivedRequest) -> String {
    let sent = request.json();
    let names = |tools: &Vec<Value>| -> Vec<String> {
        tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
    };
    let tools = sent["tools"].as_array().map(names);
    let tools = match tools {
        None => "-".to_owned(),
        Some(tools) if tools.len() > 3 && tools.iter().any(|name| name == "todo_write") => {
            "all".to_owned()
        }
        Some(tools) if tools.len() > 3 => "all but todo_write".to_owned(),
        Some(tools) => tools.join(" "),
    };
    let choice = match &sent["tool_choice"] {
        Value::Null => "-".to_owned(),
        Value::String(word) => word.clone(),
        named => format!("named {}", named["function"]["name"].as_str().unwrap()),
    };
    format!("{tools} / {choice}")
}

fn ask(home: &Home, name: &str, set: &[&str]) -> Value {
    let args = ["run", "--loop", name, "--output-format", "json", "write f"];
    let ran = home.run(args.iter().chain(set));
    assert!(matches!(ran.code, Some(0 | 4)), "{name}: {} {}", ran.stdout, ran.stderr);
    ran.json()
}

/// What the model said; below it may stand what it left open.
fn said(result: &Value) -> &str {
    result["text"].as_str().and_then(|text| text.lines().next()).unwrap()
}

#[test]
fn each_loop_offers_and_forces_what_its_phase_is_for() {
    for name in LOOPS {
        let server = FakeServer::openai(script(name));
        let home = Home::new().endpoint(&server.url());
        let result = ask(&home, name, &[]);
        assert_eq!((said(&result), home.read("f.txt").as_str()), ("Written.", "written"));
        let sent: Vec<String> = server.seen().iter().map(forced).collect();
        let plan = "todo_write / named todo_write";
        let expected: &[&str] = match name {
            "plan-replan" => &["- / -"; 4],
            "react" => &["all but todo_write / auto"; 2],
            "plan-execute-think" => {
                &["plan_tool_call / named plan_tool_call", "think / named think"]
            }
            "tool-driven" => &["all / auto"; 4],
            "task-driven" => &["all / auto", "all / auto", "all / auto", "- / -"],
            "staged" => &[plan, "all but todo_write / auto", "all but todo_write / auto", "- / -"],
            "hybrid" => &[plan, "all / auto", "all / auto", "- / -"],
            _ => &["- / -"; 2],
        };
        assert_eq!(sent, expected, "{name}");
    }
}

/// Whatever loop ends at its limit, the last words are asked for without any tool.
#[test]
fn the_closing_offers_nothing_under_any_loop() {
    for name in LOOPS {
        let mut replies = script(name);
        replies.truncate(1);
        replies.extend(std::iter::repeat_n(ScriptedReply::says("That is all I know."), 6));
        let server = FakeServer::openai(replies);
        let home = Home::new().endpoint(&server.url());
        let limits = [
            "--set",
            "loop.max_steps=1",
            "--set",
            "loop.max_iterations=1",
            "--set",
            "budget.model_calls=1",
        ];
        let result = ask(&home, name, &limits);
        let seen = server.seen();
        let last = seen.last().unwrap();
        assert_eq!(forced(last), "- / -", "{name}");
        let messages = last.json()["messages"].as_array().unwrap().clone();
        let closes =
            messages.last().unwrap()["content"].as_str().unwrap().contains("this run ends now");
        assert!(closes, "{name}: {}", messages.last().unwrap());
        assert!(
            result["text"].as_str().unwrap().contains("That is all I know."),
            "{name}: {result}"
        );
    }
}

fn text(text: &str) -> CannedReply {
    let delta = json!({"choices": [{"index": 0, "delta": {"content": text}}]});
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    CannedReply::sse(format!("data: {delta}\n\ndata: {end}\n\ndata: [DONE]\n\n"))
}

/// An endpoint that refuses a named tool gets the tool's schema instead, with the same result.
#[test]
fn an_endpoint_without_named_tools_is_asked_by_schema_with_the_same_result() {
    let refuses =
        || CannedReply::status(400, "", r#"{"error":{"message":"tool_choice is not supported"}}"#);
    let rounds = vec![refuses(), text(&round().to_string()), text(&thought().to_string())];
    let stages = || vec![refuses(), text(&list().to_string()), text("did it"), text("Written.")];
    for (name, replies, portable) in
        [("plan-execute-think", rounds, 2), ("staged", stages(), 1), ("hybrid", stages(), 1)]
    {
        let server = FakeServer::start(replies);
        let home = Home::new().endpoint(&server.url());
        let result = ask(&home, name, &[]);
        assert_eq!(said(&result), "Written.", "{name}");
        if name == "plan-execute-think" {
            assert_eq!(home.read("f.txt"), "written");
        }
        let sent: Vec<Value> = server.seen().iter().map(ReceivedRequest::json).collect();
        assert_eq!(sent[0]["tool_choice"]["type"], "function", "{name}");
        for request in &sent[1..=portable] {
            assert_eq!((request.get("tools"), request.get("tool_choice")), (None, None), "{name}");
            let schema = &request["response_format"]["json_schema"]["schema"];
            assert_eq!(schema["type"], "object", "{name}: {request}");
        }
        home.verified(&home.newest());
    }
}

/// A whole reply in words, with what it cost.
fn costing(text: &str) -> CannedReply {
    let delta = json!({"choices": [{"index": 0, "delta": {"content": text}}]});
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    let cost = json!({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 10}});
    CannedReply::sse(format!("data: {delta}\n\ndata: {end}\n\ndata: {cost}\n\ndata: [DONE]\n\n"))
}

fn counted(result: &Value) -> (u64, u64) {
    let number = |value: &Value| value.as_u64().unwrap();
    (number(&result["model_calls"]), number(&result["usage"]["input_tokens"]))
}

/// Told precisely and asked again, as often as `loop.contract_retries` says; each request counts.
#[test]
fn words_in_place_of_a_forced_call_break_the_contract_and_every_request_is_counted() {
    for (name, tool, retries, requests) in
        [("staged", "todo_write", "2", 4), ("hybrid", "todo_write", "1", 3)]
    {
        let server = FakeServer::start(vec![costing("blah blah"); requests]);
        let home = Home::new().endpoint(&server.url());
        let retries = format!("loop.contract_retries={retries}");
        let args = ["run", "--loop", name, "--output-format", "json", "--set", &retries, "write f"];
        let result = home.run(args).ends_with(1).json();
        let seen = server.seen();
        assert_eq!(seen.len(), requests, "{name}");
        assert_eq!(counted(&result), (requests as u64, 100 * requests as u64), "{name}");
        let told = format!("`{tool}` has to be called");
        assert!(seen[1].json()["messages"].to_string().contains(&told), "{name}");
        assert_eq!(home.show(&home.newest())["reason"]["reason"], "broken_contract", "{name}");
        home.verified(&home.newest());
    }
}

#[test]
fn an_endpoint_that_follows_only_a_schema_costs_one_try_and_that_counts_too() {
    let replies = [json!("I would rather talk"), round(), thought()];
    let replies = replies.map(|reply| match reply.as_str() {
        Some(words) => costing(words),
        None => costing(&reply.to_string()),
    });
    let server = FakeServer::start(replies.to_vec());
    let home = Home::new().endpoint(&server.url());
    let result = ask(&home, "plan-execute-think", &[]);
    assert_eq!((&result["text"], counted(&result)), (&json!("Written."), (3, 300)));
    assert_eq!(home.read("f.txt"), "written");
}
