//! Models that answer badly: every run ends in words, with nothing lost.

use crate::support::{Home, calls, done, of_type, plan, says, thought};
use everloop_models::testing::{CannedReply, FakeServer};
use serde_json::{Value, json};

const REACT: [&str; 4] = ["run", "--loop", "react", "go"];

fn chunk(delta: &str) -> String {
    format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{delta}}}]}}\n\n")
}

/// A whole stream of these deltas.
fn stream(deltas: &[&str], stop: &str) -> CannedReply {
    let mut body: String = deltas.iter().map(|delta| chunk(delta)).collect();
    body.push_str(&format!(
        "data: {{\"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"{stop}\"}}]}}\n\n"
    ));
    body.push_str("data: [DONE]\n\n");
    CannedReply::sse(body)
}

fn text(text: &str) -> CannedReply {
    stream(&[&json!({ "content": text }).to_string()], "stop")
}

#[test]
fn a_reply_that_is_no_json_is_asked_for_again_with_the_fault_named() {
    let home =
        Home::scripted(&[says("Sure! Let me plan."), plan(&["one"]), thought("ok"), done("Done.")]);
    let ran = home.run(["run", "go"]).ends_with(0);
    assert_eq!(ran.stdout, "Done.\n");
    let state = home.run(["replay", &home.newest(), "--at", "9"]).stdout;
    assert!(state.contains("contract error"), "{state}");
    home.verified(&home.newest());
}

#[test]
fn replies_that_are_never_json_end_the_run_in_words() {
    let home = Home::scripted(&vec![says("{no JSON here}"); 9]);
    let ran = home.run(["run", "go"]).ends_with(1);
    for part in [
        "unavailable right now",
        "(phase plan, 3 tries)",
        "last reply:\n{no JSON here}",
        "/loop react",
    ] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
    let shown = home.show(&home.newest());
    assert_eq!((&shown["status"], &shown["model_calls"]), (&json!("failed"), &json!(3)));
    home.verified(&home.newest());
}

#[test]
fn empty_replies_end_the_run_in_words() {
    let empty: Vec<CannedReply> = (0..4).map(|_| stream(&[], "stop")).collect();
    let server = FakeServer::start(empty);
    let home = Home::new().endpoint(&server.url());
    let ran = home.run(REACT.iter().chain(&["--set", "model.attempts=2"])).ends_with(1);
    assert!(ran.stderr.contains("The model openai/x failed"), "{}", ran.stderr);
    assert_eq!(home.status(&home.newest()), "failed");
    home.verified(&home.newest());
}

#[test]
fn row_27_a_tool_that_does_not_exist_is_news_for_the_model() {
    let home = Home::scripted(&[calls("fly", json!({"to": "the moon"})), says("I cannot fly.")]);
    let ran = home.run(REACT).ends_with(0);
    assert_eq!(ran.stdout, "I cannot fly.\n");
    let events = home.events(&home.newest());
    let told = of_type(&events, "tool.failed")[0]["result"].as_str().unwrap().to_owned();
    assert!(told.contains("no tool called \"fly\"") && told.contains("write_file"), "{told}");
    home.verified(&home.newest());
}

#[test]
fn row_27_wrong_arguments_are_news_for_the_model_and_nothing_is_done() {
    let home = Home::scripted(&[
        calls("write_file", json!({"path": 7})),
        calls("write_file", json!({"path": "../../outside.txt", "content": "x"})),
        says("I give up."),
    ]);
    assert_eq!(home.run(REACT).ends_with(0).stdout, "I give up.\n");
    assert!(!home.path("outside.txt").exists());
    assert_eq!(of_type(&home.events(&home.newest()), "tool.failed").len(), 2);
    home.verified(&home.newest());
}

#[test]
fn row_27_ten_thousand_calls_in_one_reply_are_all_refused_and_the_model_goes_on() {
    let one = |n| json!({"tool": "shell", "args": {"command": format!("echo {n} >> made")}});
    let calls: Vec<Value> = (0..10_000).map(one).collect();
    let home = Home::scripted(&[json!({ "calls": calls }), says("Sorry.")]);
    let ran = home.run(REACT.iter().chain(&["--yes", "--quiet"])).ends_with(0);
    assert_eq!(ran.stdout, "Sorry.\n");
    assert!(!home.work("made").exists());
    home.verified(&home.newest());
}

#[test]
fn row_27_calls_with_the_same_id_are_two_calls_with_two_outcomes() {
    let call = |index: u32, path: &str| {
        let args = json!({"path": path, "content": path}).to_string();
        let function = json!({"name": "write_file", "arguments": args});
        json!({"tool_calls": [{"index": index, "id": "same", "function": function}]}).to_string()
    };
    let both = stream(&[&call(0, "a"), &call(1, "b")], "tool_calls");
    let server = FakeServer::start(vec![both, text("Both written.")]);
    let home = Home::new().endpoint(&server.url());
    let ran = home.run(REACT).ends_with(0);
    assert_eq!(ran.stdout, "Both written.\n");
    assert_eq!((home.read("a"), home.read("b")), ("a".to_owned(), "b".to_owned()));
    home.verified(&home.newest());
}

#[test]
fn row_27_fifty_megabytes_of_text_are_cut_off_in_words() {
    let megabyte = chunk(&json!({"content": "x".repeat(1 << 20)}).to_string());
    let mut reply = CannedReply::stream();
    for _ in 0..50 {
        reply = reply.then(megabyte.clone());
    }
    let server = FakeServer::start(vec![reply.end(), text("short")]);
    let home = Home::new().endpoint(&server.url());
    let ran = home.run(REACT.iter().chain(&["--quiet"]));
    assert!(matches!(ran.code, Some(0 | 1)), "{:?} {}", ran.code, ran.stderr);
    assert!(ran.stdout.len() < 10_000, "{} bytes", ran.stdout.len());
    assert!(!ran.stdout.trim().is_empty());
    let size = std::fs::metadata(home.database()).unwrap().len();
    assert!(size < 5 << 20, "the database has {size} bytes");
    home.verified(&home.newest());
}

#[test]
fn row_27_nul_and_lone_surrogates_do_no_harm() {
    let odd = "{\"content\":\"a\\u0000b\\ud800c\"}";
    let args = "{\\\"path\\\":\\\"f\\\",\\\"content\\\":\\\"x\\\\u0000y\\\\udc00z\\\"}";
    let call = format!(
        "{{\"tool_calls\":[{{\"index\":0,\"id\":\"c\",\"function\":\
         {{\"name\":\"write_file\",\"arguments\":\"{args}\"}}}}]}}"
    );
    let server = FakeServer::start(vec![stream(&[&call], "tool_calls"), stream(&[odd], "stop")]);
    let home = Home::new().endpoint(&server.url());
    let ran = home.run(REACT).ends_with(0);
    assert!(ran.stdout.starts_with('a') && !ran.stdout.contains('\0'), "{:?}", ran.stdout);
    home.verified(&home.newest());
}

#[test]
fn a_stream_that_is_no_json_is_tried_again_and_then_ends_in_words() {
    let broken = || CannedReply::sse("data: {]\n\n");
    let server = FakeServer::start(vec![broken(), text("fine")]);
    let home = Home::new().endpoint(&server.url());
    assert_eq!(home.run(REACT).ends_with(0).stdout, "fine\n");
    let server = FakeServer::start(vec![broken(), broken(), broken(), broken()]);
    let home = Home::new().endpoint(&server.url());
    let ran = home.run(REACT.iter().chain(&["--set", "model.attempts=2"])).ends_with(1);
    assert!(ran.stderr.contains("The model openai/x failed"), "{}", ran.stderr);
    home.verified(&home.newest());
}

#[test]
fn a_model_that_repeats_itself_is_stopped_in_words() {
    let same: Vec<Value> = vec![calls("list_dir", json!({"path": "."})); 30];
    let home = Home::scripted(&same);
    let ran = home.run(REACT).ends_with(4);
    assert!(ran.stdout.contains("list_dir kept giving the same result"), "{}", ran.stdout);
    home.verified(&home.newest());
}

#[test]
fn a_greeting_costs_one_call_and_shows_no_plan() {
    let home = Home::scripted(&[done("Hello! How can I help?")]);
    let ran = home.run(["run", "hello"]).ends_with(0);
    assert_eq!(ran.stdout, "Hello! How can I help?\n");
    assert!(!ran.stderr.contains("Plan") && !ran.stderr.contains("no tool"), "{}", ran.stderr);
    let shown = home.show(&home.newest());
    assert_eq!((&shown["model_calls"], &shown["plan"]), (&json!(1), &json!([])));
    home.verified(&home.newest());
}

#[test]
fn a_reply_with_one_reading_is_taken_at_once_and_nothing_is_said_of_it() {
    let prose = says("Here is the plan: {\"status\":\"planned\",\"plan\":[\"one\"]}");
    let home = Home::scripted(&[prose, thought("ok"), done("Done.")]);
    let ran = home.run(["run", "go"]).ends_with(0);
    for part in ["Planned", "item 1/1"] {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
    assert!(!ran.stderr.contains("asking again"), "{}", ran.stderr);
    let run = home.newest();
    assert_eq!(home.show(&run)["model_calls"], 3);
    let story = home.run(["replay", &run]).ends_with(0).stdout;
    assert!(story.contains("list closed: 1 done, 0 failed, 0 open"), "{story}");
    let events = home.run(["runs", "events", &run]).ends_with(0).stdout;
    let events: Vec<Value> =
        events.lines().map(|line| serde_json::from_str(line).expect("an event")).collect();
    let of = |kind: &str| events.iter().filter(|event| event["type"] == kind).collect::<Vec<_>>();
    assert_eq!(of("plan.created")[0]["plan"]["items"][0]["text"], "one");
    assert_eq!(of("agent_completed")[0]["completed"], 1);
    home.verified(&run);
}

#[test]
fn a_call_that_is_written_as_text_is_never_a_success() {
    let call = r#"{"name": "list_dir", "arguments": {"path": "."}}"#;
    for text in ["<tools></tools>", call] {
        let home = Home::scripted(&vec![says(text); 4]);
        let ran = home.run(REACT).ends_with(1);
        assert!(ran.stdout.contains("did not have the form that react needs"), "{}", ran.stdout);
        home.verified(&home.newest());
    }
}

#[test]
fn tags_are_never_shown_to_those_who_watch() {
    let reads = "<think>hm</think><tool name=\"list_dir\">{\"path\":\".\"}</tool>";
    let server = FakeServer::start(vec![text(reads), text("<final>Nothing is there.</final>")]);
    let home = Home::new().endpoint(&server.url());
    let args = ["run", "--loop", "autonomous", "--output-format", "stream-json", "look"];
    let ran = home.run(args).ends_with(0);
    for tag in ["<think>", "<tool", "<final>", "</final>"] {
        assert!(!ran.stdout.contains(tag), "{tag}: {}", ran.stdout);
    }
    let story = home.run(["replay", &home.newest()]).ends_with(0).stdout;
    assert!(!story.contains("<final>") && story.contains("Nothing is there."), "{story}");
}

#[test]
fn replies_are_never_said_to_be_sent_back_more_often_than_is_allowed() {
    let replies = vec![says("<tools></tools>"); 5];
    for name in ["react", "autonomous", "tool-driven"] {
        let told = Home::scripted(&replies).run(["run", "--loop", name, "look"]).ends_with(1);
        assert!(told.stderr.contains("(2 of 2)"), "{name}: {}", told.stderr);
        assert!(!told.stderr.contains("(3 of 2)"), "{name}: {}", told.stderr);
    }
}
