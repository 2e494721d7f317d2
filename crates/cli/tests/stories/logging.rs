//! The log: whole lines with ids and outcomes, nothing that people wrote, and no secret.

use crate::support::{Home, Served, eventually, says};
use everloop_models::ScriptedReply;
use everloop_models::testing::FakeServer;
use rustix::process::Signal;
use serde_json::{Value, json};

const KEY: &str = "sk-fake-log-4f9Q2zL8aVbN0pXr";
const GOAL: &str = "find the zebra in the attic";
const CONTENT: [&str; 4] = ["zebra", "quokka", "walrus", KEY];

fn server() -> FakeServer {
    FakeServer::openai(vec![
        ScriptedReply::calls("write_file", json!({"path": "quokka.txt", "content": "walrus"})),
        ScriptedReply::says(format!("The walrus has the key {KEY}.")),
    ])
}

fn home(server: &FakeServer) -> Home {
    Home::new().endpoint(&server.url()).with("OPENAI_API_KEY", KEY)
}

/// Runs a goal with a log in a file, and returns the log.
fn logged(home: &Home, goal: &str) -> String {
    let file = home.path("log.jsonl");
    let file = format!("log.file={}", file.display());
    let set = ["--set", "log.format=json", "--set", &file];
    let ran = home.run(["run", "--loop", "react", "--yes", goal].iter().chain(&set)).ends_with(0);
    assert!(!ran.stderr.contains("everloop_engine"), "{}", ran.stderr);
    std::fs::read_to_string(home.path("log.jsonl")).unwrap()
}

fn parsed(log: &str) -> Vec<Value> {
    log.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}")))
        .collect()
}

fn with_message<'a>(lines: &'a [Value], message: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["message"] == message).collect()
}

#[test]
fn a_log_tells_runs_effects_and_requests_but_neither_content_nor_secrets() {
    let server = server();
    let home = home(&server).with("EVERLOOP_LOG", "debug");
    let log = logged(&home, GOAL);
    let lines = parsed(&log);
    let run = json!(home.newest());
    let finished = with_message(&lines, "run finished");
    assert_eq!(finished.len(), 1, "{log}");
    assert_eq!((&finished[0]["run"], &finished[0]["status"]), (&run, &json!("succeeded")));
    assert_eq!((&finished[0]["loop"], &finished[0]["epoch"]), (&json!("react"), &json!(1)));
    assert!(finished[0]["ms"].is_u64() && finished[0]["worker"].is_string(), "{log}");
    let effects = with_message(&lines, "effect finished");
    let outcomes: Vec<&str> = effects.iter().filter_map(|line| line["outcome"].as_str()).collect();
    assert_eq!(outcomes, ["replied", "ok", "replied"], "{log}");
    for effect in &effects {
        assert!(effect["effect"].as_str().is_some_and(|id| id.contains(run.as_str().unwrap())));
        assert!(
            effect["run"] == run && effect["turn"].is_u64() && effect["ms"].is_u64(),
            "{effect}"
        );
    }
    let planned = with_message(&lines, "effect planned");
    assert!(planned.iter().any(|line| line["tool"] == "write_file"), "{log}");
    let requests = with_message(&lines, "request finished");
    assert_eq!(requests.len(), 2, "{log}");
    let request = requests[0];
    assert_eq!((&request["host"], &request["status"]), (&json!("127.0.0.1"), &json!(200)));
    assert_eq!((&request["model"], &request["kind"]), (&json!("x"), &json!("model")));
    assert!(request["bytes_sent"].as_u64() > Some(100), "{request}");
    assert!(request["bytes_received"].as_u64() > Some(10), "{request}");
    assert!(with_message(&lines, "commit").iter().any(|line| line["rows"].as_u64() > Some(0)));
    for secret in CONTENT {
        assert!(!log.contains(secret), "{secret} in {log}");
    }
}

#[test]
fn content_is_logged_if_it_is_asked_for_and_secrets_never() {
    let server = server();
    let home = home(&server).with("EVERLOOP_LOG", "debug").with("EVERLOOP_LOG__CONTENT", "on");
    let log = logged(&home, &format!("{GOAL} with {KEY}"));
    parsed(&log);
    for content in ["zebra", "quokka.txt", "The walrus has the key"] {
        assert!(log.contains(content), "{content} not in {log}");
    }
    assert!(!log.contains(KEY), "{log}");
}

#[test]
fn nothing_is_logged_unless_it_is_asked_for() {
    let home = Home::scripted(&[says("done")]);
    let ran = home.run(["run", "--loop", "react", GOAL]).ends_with(0);
    assert!(!ran.stderr.contains("everloop_engine"), "{}", ran.stderr);
    home.rewrite(&[says("done")]);
    let told = home.run(["run", "--loop", "react", "--set", "log.level=info", GOAL]).ends_with(0);
    assert!(told.stderr.contains("INFO  everloop_engine"), "{}", told.stderr);
    assert!(told.stderr.contains("run finished") && !told.stderr.contains("effect planned"));
    let wrong = home.with("EVERLOOP_LOG", "inof").run(["run", "--loop", "react", GOAL]);
    wrong.ends_with(5).says(&["EVERLOOP_LOG", "inof", "info"]);
}

#[test]
fn a_terminal_stays_clean_unless_this_call_asks_for_a_log() {
    let mut home = Home::scripted(&[says("done")]);
    std::fs::create_dir_all(home.data()).unwrap();
    std::fs::write(home.data().join("config.toml"), "[log]\nlevel = \"debug\"\n").unwrap();
    let clean = home.on_terminal(["run", "--loop", "react", GOAL]).ended().ends_with(0);
    assert!(!clean.stdout.contains("everloop_engine"), "{}", clean.stdout);
    home.set("EVERLOOP_LOG", "info");
    home.rewrite(&[says("done")]);
    let told = home.on_terminal(["run", "--loop", "react", GOAL]).ended().ends_with(0);
    assert!(told.stdout.contains("everloop_engine"), "{}", told.stdout);
}

#[test]
fn every_line_of_a_worker_is_json_without_content() {
    let home = Home::scripted(&[json!({"text": "walrus", "delay_ms": 600_000})]);
    let mut cut = home.spawn(["run", "--loop", "react", "--output-format", "stream-json", GOAL]);
    cut.until("step.started");
    cut.kill9();
    let run = home.newest();
    home.rewrite(&[says("walrus")]);
    let mut worker = home.spawn(["worker"]);
    worker.until(&format!("{run} ended: succeeded"));
    worker.signal(Signal::TERM);
    let told = worker.ended().ends_with(143);
    let lines = parsed(&told.stderr);
    let taken = with_message(&lines, "run of a dead worker taken up");
    assert_eq!((taken.len(), &taken[0]["run"]), (1, &json!(run)), "{}", told.stderr);
    let finished = with_message(&lines, "run finished");
    assert_eq!((&finished[0]["run"], &finished[0]["level"]), (&json!(run), &json!("info")));
    assert_eq!(finished[0]["epoch"], 2);
    for content in CONTENT {
        assert!(!told.stderr.contains(content), "{content} in {}", told.stderr);
    }
}

#[test]
fn a_decision_that_failed_leads_to_the_request_that_brought_its_message() {
    let home = Home::scripted(&[]).with_token();
    let file = home.path("log.jsonl");
    let set = format!("log.file={}", file.display());
    let args = ["serve", "--json", "--listen", "127.0.0.1:0", "--set", "log.format=json", "--set"];
    let served = Served::start(home.spawn(args.iter().chain(&[set.as_str()])));
    let begun = served.post("/v1/conversations", &json!({})).is(201).json();
    let path = format!("/v1/conversations/{}/messages", begun["id"].as_str().unwrap());
    let sent = served.post(&path, &json!({"content": "tidy up the attic"})).is(202);
    let request = sent.header("x-request-id").unwrap().to_owned();
    let turn = sent.json()["turn_id"].clone();
    let log = eventually("the failure", || {
        let log = std::fs::read_to_string(&file).unwrap_or_default();
        let (whole, _) = log.rsplit_once('\n')?;
        whole.contains("decision failed").then(|| whole.to_owned())
    });
    let lines = parsed(&log);
    let begun = with_message(&lines, "turn begun");
    assert_eq!((&begun[0]["request"], &begun[0]["turn_id"]), (&json!(request), &turn), "{log}");
    let failed = with_message(&lines, "decision failed");
    assert_eq!((&failed[0]["turn_id"], failed[0]["reason"].is_string()), (&turn, true), "{log}");
    assert!(!log.contains("attic"), "{log}");
}
