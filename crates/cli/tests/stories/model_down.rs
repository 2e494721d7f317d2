//! Endpoints that are down, slow, overloaded or unwilling.

use crate::support::{Home, done, plan, short, thought};
use everloop_models::ScriptedReply;
use everloop_models::testing::{CannedReply, FakeServer};
use serde_json::json;
use std::net::TcpListener;
use std::time::{Duration, Instant};

const REACT: [&str; 4] = ["run", "--loop", "react", "say hi"];

fn hi() -> CannedReply {
    CannedReply::sse(
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"}}]}\n\n\
         data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n\
         data: [DONE]\n\n",
    )
}

fn half() -> CannedReply {
    CannedReply::stream()
        .then("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"half a\"}}]}\n\n")
}

/// An address on which nobody listens.
fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

#[test]
fn an_endpoint_that_is_down_is_named_in_time_and_the_run_is_kept_until_it_is_up() {
    let mut home = Home::new().endpoint(&nobody());
    let begun = Instant::now();
    let down = home.run(REACT).ends_with(1);
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    assert!(down.stdout.is_empty(), "{}", down.stdout);
    let id = home.newest();
    assert_eq!(home.status(&id), "waiting");
    down.says(&[
        "does not answer",
        "nothing is lost",
        &format!("everloop runs resume {}", short(&id)),
    ]);
    let server = FakeServer::start(vec![hi()]);
    home.set("OPENAI_BASE_URL", &server.url());
    assert_eq!(home.run(["runs", "resume", &id]).ends_with(0).stdout, "hi\n");
    home.verified(&id);
}

#[test]
fn an_endpoint_that_is_down_says_so_in_json_too() {
    let home = Home::new().endpoint(&nobody());
    let args = ["run", "--output-format", "json", "--set", "model.patience=1s", "say hi"];
    let result = home.run(args).ends_with(1).json();
    assert_eq!((&result["status"], &result["model_calls"]), (&json!("waiting"), &json!(1)));
    assert!(result["text"].is_string());
}

#[test]
fn a_worker_takes_up_a_run_when_its_model_is_back() {
    let mut home = Home::new().endpoint(&nobody());
    home.run(["run", "--loop", "react", "--set", "model.patience=100ms", "say hi"]).ends_with(1);
    let server = FakeServer::start(vec![hi()]);
    home.set("OPENAI_BASE_URL", &server.url());
    let mut worker = home.spawn(["worker"]);
    worker.until("ended: succeeded");
}

#[test]
fn a_stream_that_is_cut_is_asked_for_again_and_half_a_reply_is_never_used() {
    let server = FakeServer::start(vec![half().cut(), hi()]);
    let home = Home::new().endpoint(&server.url());
    let ran = home.run(REACT).ends_with(0).says(&["retrying"]);
    assert_eq!((ran.stdout.as_str(), server.seen().len()), ("hi\n", 2));
    home.verified(&home.newest());
}

#[test]
fn too_many_requests_are_waited_out_for_as_long_as_the_endpoint_asks() {
    let busy =
        CannedReply::status(429, "retry-after: 1\r\n", "{\"error\":{\"message\":\"slow down\"}}");
    let server = FakeServer::start(vec![busy, hi()]);
    let home = Home::new().endpoint(&server.url());
    let begun = Instant::now();
    let ran = home.run(REACT).ends_with(0).says(&["slow down", "retrying in 1.0 s"]);
    assert!(begun.elapsed() >= Duration::from_secs(1));
    assert_eq!(ran.stdout, "hi\n");
}

#[test]
fn a_long_wait_parks_the_run_at_once() {
    let busy = CannedReply::status(429, "retry-after: 3600\r\n", "slow down");
    let server = FakeServer::start(vec![busy, hi()]);
    let home = Home::new().endpoint(&server.url());
    home.run(REACT).ends_with(1).says(&["runs resume"]);
    let id = home.newest();
    assert_eq!(home.status(&id), "waiting");
    assert_eq!(home.run(["runs", "resume", &id]).ends_with(0).stdout, "hi\n");
}

#[test]
fn a_server_error_is_tried_again() {
    let server = FakeServer::start(vec![CannedReply::status(500, "", "oops"), hi()]);
    let home = Home::new().endpoint(&server.url());
    assert_eq!(home.run(REACT).ends_with(0).stdout, "hi\n");
    home.verified(&home.newest());
}

#[test]
fn a_stream_without_end_is_ended_and_the_run_kept() {
    let endless = CannedReply::stream()
        .forever("data: {\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":\"\"}}]}\n\n");
    let server = FakeServer::start(vec![endless.clone(), endless.clone(), endless, hi()]);
    let home = Home::new().endpoint(&server.url());
    let limits = ["--set", "model.total_timeout=300ms", "--set", "model.patience=700ms"];
    home.run(REACT.iter().chain(&limits)).ends_with(1).says(&["runs resume"]);
    let id = home.newest();
    assert_eq!(home.status(&id), "waiting");
    let again = home.run(["runs", "resume", &id, "--set", "model.total_timeout=300ms"]);
    assert_eq!(again.ends_with(0).stdout, "hi\n");
    home.verified(&id);
}

#[test]
fn a_stream_that_falls_silent_is_given_up_and_asked_for_again() {
    let server = FakeServer::start(vec![half().stall(), hi()]);
    let home = Home::new().endpoint(&server.url());
    let ran = home.run(REACT.iter().chain(&["--set", "model.idle_timeout=200ms"])).ends_with(0);
    assert_eq!(ran.stdout, "hi\n");
}

#[test]
fn a_wrong_key_ends_the_run_in_words_at_once() {
    let body = "{\"error\":{\"message\":\"Incorrect API key provided\"}}";
    let server = FakeServer::start(vec![CannedReply::status(401, "", body)]);
    let home = Home::new().endpoint(&server.url()).with("OPENAI_API_KEY", "sk-wrong");
    let ran = home.run(REACT).ends_with(5);
    assert!(ran.stderr.contains("Incorrect API key provided"), "{}", ran.stderr);
    assert_eq!((home.status(&home.newest()).as_str(), server.seen().len()), ("failed", 1));
    home.verified(&home.newest());
}

#[test]
fn a_wrong_key_ends_a_planned_run_with_the_cause_in_its_words() {
    let body = "{\"error\":{\"message\":\"Incorrect API key provided\"}}";
    let server = FakeServer::start(vec![CannedReply::status(401, "", body)]);
    let home = Home::new().endpoint(&server.url()).with("OPENAI_API_KEY", "sk-wrong");
    let ran = home.run(["run", "say hi"]).ends_with(5);
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(said.contains("Incorrect API key provided"), "{said}");
}

#[test]
fn a_planned_run_outlives_an_outage_in_its_middle() {
    let text = |reply: serde_json::Value| ScriptedReply::says(reply["text"].as_str().unwrap());
    let outage = text(thought("ok")).failing(everloop_types::ModelErrorKind::Server);
    let server = FakeServer::openai(vec![text(plan(&["one"])), outage, text(done("Done."))]);
    let home = Home::new().endpoint(&server.url());
    assert_eq!(home.run(["run", "go"]).ends_with(0).stdout, "Done.\n");
    home.verified(&home.newest());
}

#[test]
fn a_run_that_waits_is_told_of_when_the_chat_opens_and_is_not_asked_on_another_machine() {
    let mut home = Home::new().endpoint(&nobody());
    home.run(["config", "set", "model.patience", "0s"]).ends_with(0);
    home.chat(&["my goal"]).ends_with(0);
    let run = home.newest();
    assert_eq!(home.status(&run), "waiting");
    home.set("OPENAI_BASE_URL", "http://model.invalid/v1");
    let told = home.chat(&["/resume"]).ends_with(0);
    let parked = format!("Run {} (my goal) waits for the model openai/x", short(&run));
    assert!(told.stderr.contains(&parked), "{}", told.stderr);
    let refused = "begun with a model on localhost, and here it would be asked on model.invalid";
    assert!(told.stdout.contains(refused), "{}", told.stdout);
    assert_eq!(home.status(&run), "waiting");
}

#[test]
fn no_wait_that_a_provider_asks_for_holds_a_run_for_ever() {
    for after in ["99999999999999999999", "18446744073709551", "31536000", "1e300"] {
        let busy = || CannedReply::status(429, &format!("retry-after: {after}\r\n"), "slow down");
        let server = FakeServer::start((0..3).map(|_| busy()).collect());
        let home = Home::new().endpoint(&server.url());
        let told = home.run(REACT).ends_with(1);
        let id = home.newest();
        assert_eq!(home.status(&id), "waiting", "{after}: {}", told.stderr);
        assert!(!server.seen().is_empty(), "{}", told.stderr);
        home.run(["worker", "--drain"]).ends_with(0);
    }
}

#[test]
fn one_reply_that_hangs_is_asked_for_again() {
    let server = FakeServer::start(vec![half().stall(), hi()]);
    let home = Home::new().endpoint(&server.url());
    let args = ["--set", "model.idle_timeout=300ms", "--set", "model.patience=700ms"];
    let args: Vec<&str> = REACT.into_iter().chain(args).collect();
    assert_eq!(home.run(args).ends_with(0).stdout, "hi\n");
    assert_eq!(server.seen().len(), 2);
}
