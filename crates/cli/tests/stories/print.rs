//! `everloop -p`: the answer alone, for scripts.

use crate::support::{Home, Spawned, ask, done, goes_on, plan, thought};
use everloop_models::ScriptedReply;
use everloop_models::testing::{CannedReply, FakeServer};
use serde_json::{Value, json};
use std::io::Write;

fn two_steps() -> Vec<Value> {
    let add = goes_on("todo", json!("/todo add milk"));
    vec![plan(&["add", "answer"]), add, thought("added"), done("Milk is on the list.")]
}

#[test]
fn the_answer_alone_is_printed_and_nothing_else_is_said() {
    let home = Home::scripted(&two_steps());
    let told = home.run(["-p", "put milk on the list"]).ends_with(0);
    assert_eq!(told.stdout, "Milk is on the list.\n");
    assert_eq!(told.stderr, "");
    let object = home.run(["-p", "put milk on the list", "--output-format", "json"]).ends_with(0);
    assert_eq!(object.json()["text"], "Milk is on the list.");
    home.verified(&home.newest());
}

/// What the model was told first.
fn first_prompt(server: &FakeServer) -> String {
    server.seen()[0].json()["messages"].to_string()
}

#[test]
fn what_comes_through_the_pipe_is_read_with_the_question() {
    let text = |value: Value| ScriptedReply::says(value["text"].as_str().unwrap());
    let server = FakeServer::openai(two_steps().into_iter().map(text).collect());
    let home = Home::new().endpoint(&server.url());
    let mut asks: Spawned = home.piped(["-p", "summarize this"]);
    asks.hears(&["the sea is blue", "潮水涨了"]);
    assert_eq!(asks.ended().ends_with(0).stdout, "Milk is on the list.\n");
    let told = first_prompt(&server);
    assert!(told.contains("summarize this"), "{told}");
    assert!(told.contains("the sea is blue") && told.contains("潮水涨了"), "{told}");
}

#[test]
fn an_input_that_is_too_long_is_refused_before_a_run_begins() {
    let home = Home::scripted(&two_steps());
    let file = home.work("long.txt");
    let mut long = std::fs::File::create(&file).unwrap();
    long.write_all("0123456789".repeat(50_000).as_bytes()).unwrap();
    let told = home.run_from(["-p", "summarize"], &file).ends_with(2);
    assert!(told.stdout.is_empty() && told.stderr.contains("longer than 400 KB"), "{told:?}");
    assert!(home.run(["runs", "list", "--json"]).json()["data"].as_array().unwrap().is_empty());
}

#[test]
fn an_open_question_ends_with_code_3_and_the_run_can_be_answered_later() {
    let home = Home::scripted(&[plan(&["ask"]), ask("Which milk?"), done("Oat milk it is.")]);
    let told = home.run(["-p", "buy milk"]).ends_with(3);
    let run = told.stdout.trim().to_owned();
    assert_eq!(run, home.newest(), "the id is printed");
    told.says(&["Which milk?"]);
    let ended = home.run(["runs", "resume", &run, "--answer", "oat"]).ends_with(0);
    assert_eq!(ended.stdout, "Oat milk it is.\n");
}

#[test]
fn without_a_model_it_says_what_to_do_and_ends_with_code_5() {
    let told = Home::new().run(["-p", "hello"]).ends_with(5);
    assert_eq!(told.stdout, "");
    told.says(&["No LLM is configured", "EVERLOOP_MODEL", "OPENAI_API_KEY"]);
}

#[test]
fn slash_commands_work_without_a_model() {
    let home = Home::new();
    home.run(["-p", "/todo add buy milk"]).ends_with(0);
    let list = home.run(["-p", "/todo list"]).ends_with(0);
    assert!(list.stdout.contains("buy milk") && list.stdout.contains("1 todo, 1 open"));
    let list = home.run(["-p", "/todo list", "--output-format", "json"]).ends_with(0).json();
    assert_eq!(list["todos"][0]["text"], "buy milk");
    home.run(["-p", "/todo get 9"]).ends_with(1).says(&["Todo #9 not found"]);
    home.run(["-p", "/tdo list"]).ends_with(2).says(&["Did you mean /todo?"]);
}

#[test]
fn a_key_that_is_refused_is_named_and_ends_with_the_code_for_that() {
    for status in [401, 403] {
        let refused =
            || CannedReply::status(status, "", "{\"error\":{\"message\":\"no such key\"}}");
        let server = FakeServer::start((0..9).map(|_| refused()).collect());
        let home = Home::new().endpoint(&server.url()).with("OPENAI_API_KEY", "sk-wrong");
        let words = format!("HTTP {status}: no such key");
        home.run(["-p", "hello"]).ends_with(5).says(&[&words]);
    }
}
