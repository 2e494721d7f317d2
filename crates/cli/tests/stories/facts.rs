//! Facts: proposed by runs, decided at the shell and in the chat, told to the next run.

use crate::support::{Finished, Home, calls, says};
use serde_json::{Value, json};

fn proposing(text: &str) -> [Value; 2] {
    [calls("memory_propose", json!({ "text": text })), says("Noted.")]
}

fn facts(home: &Home, more: &[&str]) -> Vec<Value> {
    let all = home.run(["memory", "facts", "--json"].iter().chain(more)).ends_with(0).json();
    all["data"].as_array().unwrap().clone()
}

/// Checks that each of these is in the answer or beside it.
#[track_caller]
fn shows(done: &Finished, words: &[&str]) {
    let said = format!("{}{}", done.stdout, done.stderr);
    words.iter().for_each(|words| assert!(said.contains(words), "{words:?} is not in: {said}"));
}

fn end(fact: &Value) -> String {
    let id = fact["fact_id"].as_str().unwrap();
    id[id.len() - 6..].to_owned()
}

/// The end of a run says what it proposed; a person accepts it, traces it and takes it back.
#[test]
fn a_fact_goes_from_a_run_over_a_person_to_the_next_run_and_back() {
    let home = Home::scripted(&proposing("部署在周五下午")).with("EVERLOOP_LANG", "en");
    home.run(["run", "--loop", "react", "when do we deploy?"]).ends_with(0);
    let id = end(&facts(&home, &["--status", "proposed"])[0]);
    shows(&home.run(["memory", "facts"]).ends_with(0), &[&id, "proposed", "部署在周五下午"]);
    home.run(["memory", "search", "部署"]).ends_with(0);
    shows(&home.run(["memory", "accept", &id]).ends_with(0), &["Remembered", "部署在周五下午"]);
    shows(&home.run(["memory", "search", "什么时候部署"]).ends_with(0), &[&id]);
    let told = ["From: the model", "Message: when do we deploy?", "Run: run_", "accepted"];
    shows(&home.run(["memory", "show", &id]).ends_with(0), &told);
    let shown = home.run(["memory", "show", &id, "--json"]).ends_with(0).json();
    assert_eq!((&shown["status"], &shown["version"]), (&json!("active"), &json!(2)));
    assert_eq!(shown["history"].as_array().unwrap().len(), 2);
    shows(&home.run(["memory", "edit", &id, "部署在周四"]).ends_with(0), &["部署在周四"]);
    shows(&home.run(["memory", "reject", &id]).ends_with(1), &["only a proposal", "withdraw"]);
    shows(&home.run(["memory", "withdraw", &id]).ends_with(0), &["Withdrawn", "memory accept"]);
    assert!(facts(&home, &[]).is_empty() && facts(&home, &["--status", "all"]).len() == 1);
    let audit = home.run(["audit", "--json", "--event", "memory"]).ends_with(0).lines();
    let changes: Vec<&str> = audit.iter().map(|one| one["change"].as_str().unwrap()).collect();
    assert_eq!(changes, ["proposed", "accepted", "edited", "withdrawn"]);
    shows(&home.run(["audit"]).ends_with(0), &["memory_propose", "memory: withdrawn", &id]);
}

#[test]
fn what_cannot_be_remembered_is_said_and_nothing_is_written() {
    let home = Home::new().with("EVERLOOP_LANG", "en");
    let long = "x".repeat(2_001);
    shows(&home.run(["memory", "add", &long]).ends_with(2), &["2001", "2000", "memory.fact_chars"]);
    shows(&home.run(["memory", "add", " "]).ends_with(2), &["needs some text"]);
    shows(&home.run(["memory", "accept", "nope"]).ends_with(2), &["no fact nope"]);
    shows(&home.run(["memory", "facts", "--status", "odd"]).ends_with(2), &["Unknown status odd"]);
    shows(&home.run(["memory", "facts"]).ends_with(0), &["Nothing is remembered"]);
    home.run(["memory", "add", "--global", "The", "user", "is", "Ada"]).ends_with(0);
    let elsewhere = home.path("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let folder = elsewhere.to_str().unwrap();
    assert_eq!(facts(&home, &["--workspace", folder])[0]["text"], "The user is Ada");
    home.run(["memory", "add", "--workspace", folder, "only there"]).ends_with(0);
    assert_eq!(facts(&home, &[]).len(), 1);
    assert_eq!(facts(&home, &["--everywhere"]).len(), 2);
}

/// In the chat the end of a run names the proposal, and `/memory` decides about it.
#[test]
fn the_chat_says_what_was_proposed_and_decides_about_it() {
    let home = Home::scripted(&proposing("The user drinks tea")).with("EVERLOOP_LANG", "en");
    let home = home.with("AGENT_MODE", "react");
    let lines = ["I like tea", "/memory", "/memory accept", "/memory add Tabs, not spaces"];
    let said = home.chat(&lines).ends_with(0);
    shows(&said, &["Proposed to remember: The user drinks tea", "/memory accept or"]);
    shows(&said, &["  1. The user drinks tea (", "Remembered (", "Tabs, not spaces"]);
    let said = home.chat(&["/memory forget 1", "/memory forget 9"]).ends_with(0);
    shows(&said, &["Withdrawn", "no fact 9"]);
    let left = facts(&home, &[]);
    assert_eq!((left.len(), &left[0]["text"]), (1, &json!("Tabs, not spaces")));
}

#[test]
fn a_conversation_is_kept_out_of_memory_and_let_in_again() {
    let home = Home::scripted(&proposing("A secret")).with("EVERLOOP_LANG", "en");
    let home = home.with("AGENT_MODE", "react");
    shows(&home.chat(&["/memory off", "go"]).ends_with(0), &["kept out of memory"]);
    assert!(facts(&home, &["--status", "all"]).is_empty());
    let all = home.run(["conversations", "--json"]).ends_with(0).json();
    assert_eq!(all["data"][0]["out_of_memory"], true);
    let id = all["data"][0]["conversation_id"].as_str().unwrap();
    shows(&home.run(["conversations", "memory", id, "on"]).ends_with(0), &["may propose"]);
    let off = home.run(["conversations", "memory", id, "off", "--json"]).ends_with(0).json();
    assert_eq!(off["out_of_memory"], true);
}
