//! Requests and messages to the outside, and `kill -9` while they are under way.

use crate::support::{Home, calls, eventually, of_type, says};
use everloop_models::testing::{CannedReply, FakeServer, ReceivedRequest};
use serde_json::{Value, json};

/// A home whose tools may call the server.
fn home(server: &FakeServer, replies: &[Value]) -> Home {
    let host = server.url().replace("http://", "");
    Home::scripted(replies).with("EVERLOOP_TOOLS__HTTP_ALLOW", &host)
}

fn order(server: &FakeServer, method: &str) -> Value {
    let url = format!("{}/orders", server.url());
    let probe_url = format!("{}/orders/7", server.url());
    calls("http_send", json!({"method": method, "url": url, "body": "{}", "probe_url": probe_url}))
}

fn sends(server: &FakeServer) -> Vec<ReceivedRequest> {
    server.seen().into_iter().filter(|seen| !seen.head.starts_with("GET")).collect()
}

fn key(seen: &ReceivedRequest) -> String {
    let head = seen.head.to_lowercase();
    let key = head.lines().find_map(|line| line.strip_prefix("idempotency-key: "));
    key.unwrap_or_else(|| panic!("no key: {head}")).to_owned()
}

const RUN: [&str; 5] = ["run", "--loop", "react", "--yes", "order it"];

fn absent() -> CannedReply {
    CannedReply::status(404, "connection: close\r\n", "")
}

/// Runs until the server has the request, and kills everloop before the answer.
fn killed_after_sending(home: &Home, server: &FakeServer) -> String {
    let mut first = home.spawn(RUN);
    first.until("http_send");
    eventually("the request", || (sends(server).len() == 1).then_some(()));
    first.kill9();
    home.newest()
}

#[test]
fn a_request_whose_answer_nobody_heard_is_found_by_its_probe_and_not_sent_again() {
    let there = CannedReply::status(200, "connection: close\r\n", "order 7 is placed");
    let server = FakeServer::start(vec![absent(), CannedReply::default().stall(), there]);
    let home = home(&server, &[order(&server, "POST"), says("It is placed.")]);
    let run = killed_after_sending(&home, &server);
    assert_eq!(home.run(["runs", "resume", &run]).ends_with(0).stdout, "It is placed.\n");
    assert_eq!(sends(&server).len(), 1, "it was sent once");
    let events = home.events(&run);
    assert_eq!(of_type(&events, "tool.probed")[0]["found"], "happened");
    let result = of_type(&events, "tool.completed")[0]["result"].as_str().unwrap();
    assert!(result.contains("order 7 is placed"), "{result}");
    home.verified(&run);
}

#[test]
fn a_put_that_was_not_acted_upon_is_sent_once_more_with_the_same_key() {
    let placed = CannedReply::status(201, "connection: close\r\n", "placed");
    let replies = vec![absent(), CannedReply::default().stall(), absent(), absent(), placed];
    let server = FakeServer::start(replies);
    let home = home(&server, &[order(&server, "PUT"), says("It is placed.")]);
    let run = killed_after_sending(&home, &server);
    home.run(["runs", "resume", &run]).ends_with(0);
    let sent = sends(&server);
    assert_eq!(sent.len(), 2);
    assert_eq!(key(&sent[0]), key(&sent[1]));
    assert_eq!(of_type(&home.events(&run), "tool.probed")[0]["found"], "did_not");
    home.verified(&run);
}

/// The other side may still be at it: a second POST could be a second order.
#[test]
fn a_post_that_shows_nothing_yet_is_not_sent_again_and_a_person_is_asked() {
    let server = FakeServer::start(vec![absent(), CannedReply::default().stall(), absent()]);
    let home = home(&server, &[order(&server, "POST"), says("As you say.")]);
    let run = killed_after_sending(&home, &server);
    home.run(["runs", "resume", &run]).ends_with(3).says(&["http_send"]);
    assert_eq!(home.status(&run), "waiting");
    assert_eq!(of_type(&home.events(&run), "tool.probed")[0]["found"], "unknown");
    home.run(["runs", "resume", &run, "--answer", "happened"]).ends_with(0);
    assert_eq!(sends(&server).len(), 1, "it was sent once");
    home.verified(&run);
}

#[test]
fn where_keys_are_honoured_a_request_is_sent_again_with_its_key_and_nobody_is_asked() {
    let placed = || CannedReply::status(201, "connection: close\r\n", "placed");
    let server = FakeServer::start(vec![CannedReply::default().stall(), placed()]);
    let url = format!("{}/orders", server.url());
    let order = calls("http_send", json!({"method": "POST", "url": url}));
    let home = home(&server, &[order, says("It is placed.")]);
    let home = home.with("EVERLOOP_TOOLS__HTTP_KEY_LIFETIME", "1h");
    let run = killed_after_sending(&home, &server);
    home.run(["runs", "resume", &run]).ends_with(0);
    let sent = sends(&server);
    assert_eq!((sent.len(), key(&sent[0])), (2, key(&sent[1])));
    home.verified(&run);
}

#[test]
fn a_request_that_was_cut_and_cannot_be_probed_is_never_sent_again_and_a_person_is_asked() {
    let server = FakeServer::start(vec![CannedReply::default().cut()]);
    let url = format!("{}/orders", server.url());
    let order = calls("http_send", json!({"method": "POST", "url": url}));
    let home = home(&server, &[order, says("As you say.")]);
    home.run(RUN).ends_with(3).says(&["http_send"]);
    let run = home.newest();
    assert_eq!(home.status(&run), "waiting");
    home.run(["runs", "resume", &run, "--answer", "happened"]).ends_with(0);
    assert_eq!(sends(&server).len(), 1);
    home.verified(&run);
}

#[test]
fn tools_for_the_outside_are_there_when_they_are_configured_and_doctor_lists_them() {
    let tools = |home: &Home| {
        let report = home.run(["doctor", "--json"]).ends_with(0).json();
        report["tools"].as_array().unwrap().iter().map(|tool| tool.to_string()).collect::<String>()
    };
    let home = Home::scripted(&[]);
    assert!(!tools(&home).contains("http_get") && !tools(&home).contains("send_message"));
    let home = home.with("EVERLOOP_TOOLS__HTTP_ALLOW", "api.example.com");
    let home = home.with("EVERLOOP_TOOLS__CHANNELS", "ops=https://hooks.example.com/secret");
    for tool in ["http_get", "http_send", "send_message"] {
        assert!(tools(&home).contains(tool), "{tool}");
    }
    let report = home.run(["doctor"]).ends_with(0).stdout;
    assert!(report.contains("hooks.example.com") && !report.contains("secret"), "{report}");
}

fn message(text: &str) -> Value {
    calls("send_message", json!({"channel": "ops", "text": text}))
}

/// The lines of the channel's file.
fn delivered(home: &Home) -> Vec<String> {
    let text = std::fs::read_to_string(home.path("post/out.jsonl")).unwrap_or_default();
    let read = |line: &str| serde_json::from_str::<Value>(line).unwrap()["text"].to_string();
    text.lines().map(read).collect()
}

/// A home with a channel into a folder that is not there yet.
fn with_channel(replies: &[Value]) -> Home {
    let home = Home::scripted(replies);
    let channel = format!("ops=file:{}", home.path("post/out.jsonl").display());
    home.with("EVERLOOP_TOOLS__CHANNELS", &channel)
}

#[test]
fn a_message_is_delivered_before_the_process_ends() {
    let home = with_channel(&[message("one"), message("two"), says("Told.")]);
    std::fs::create_dir(home.path("post")).unwrap();
    home.run(RUN).ends_with(0);
    assert_eq!(delivered(&home), ["\"one\"", "\"two\""]);
    let run = home.newest();
    assert_eq!(home.show(&run)["messages"], json!({"sent": 2, "waiting": 0}));
    let shown = home.run(["runs", "show", &run]).ends_with(0).stdout;
    assert!(shown.contains("2 sent, 0 waiting"), "{shown}");
    home.verified(&run);
}

#[test]
fn a_message_that_does_not_arrive_in_time_waits_for_a_worker() {
    let home = with_channel(&[message("one"), says("Told.")]);
    home.run(RUN).ends_with(0).says(&["1 message not delivered yet", "everloop worker"]);
    let run = home.newest();
    assert_eq!(home.show(&run)["messages"], json!({"sent": 0, "waiting": 1}));
    std::fs::create_dir(home.path("post")).unwrap();
    let mut worker = home.spawn(["worker"]);
    worker.until("Ready");
    eventually("the message", || (delivered(&home) == ["\"one\""]).then_some(()));
}

#[test]
fn a_message_of_a_process_that_was_killed_is_delivered_once_by_the_next_worker() {
    let mut last = says("Told.");
    last["delay_ms"] = json!(600_000);
    let home = with_channel(&[message("one"), message("two"), last]);
    let mut first = home.spawn(RUN);
    first.until("queued for ops");
    first.until("queued for ops");
    first.kill9();
    let run = home.newest();
    assert_eq!(home.show(&run)["messages"], json!({"sent": 0, "waiting": 2}));
    home.rewrite(&[message("one"), message("two"), says("Told.")]);
    std::fs::create_dir(home.path("post")).unwrap();
    let mut worker = home.spawn(["worker"]);
    worker.until(&format!("{run} ended: succeeded"));
    let sent = || (home.show(&run)["messages"]["waiting"] == 0).then_some(());
    eventually("both messages", sent);
    drop(worker);
    assert_eq!(delivered(&home), ["\"one\"", "\"two\""]);
    home.verified(&run);
}
