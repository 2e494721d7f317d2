//! Messages: found, shown in pages, marked as read, exported, and titled.

use crate::support::{Home, eventually, says};
use everloop_models::ScriptedReply;
use everloop_models::testing::FakeServer;
use serde_json::{Value, json};

/// A home with two conversations; the first was about a login page.
fn home() -> Home {
    let home = Home::scripted(&[says("登录页面的测试修好了。")]).with("AGENT_MODE", "react");
    home.chat(&["修一下测试", "now MEND the fence", "/new", "something else"]).ends_with(0);
    home
}

fn list(home: &Home) -> Vec<Value> {
    let list = home.run(["conversations", "list", "--all", "--json"]).ends_with(0).json();
    list["data"].as_array().unwrap().clone()
}

fn id(one: &Value) -> String {
    one["conversation_id"].as_str().unwrap().to_owned()
}

#[test]
fn messages_are_found_by_words_in_both_scripts_and_come_in_pages() {
    let home = home();
    let search = |words: &[&str]| {
        let args = [&["conversations", "search"], words, &["--messages", "--json"]].concat();
        home.run(args).ends_with(0).json()
    };
    let found = search(&["mend", "fence"]);
    assert_eq!(found["data"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found["data"][0]["content"], "now MEND the fence");
    assert_eq!(found["data"][0]["title"], "修一下测试");
    assert_eq!(found["unindexed"], 0);
    assert_eq!(search(&["登录页面"])["data"].as_array().unwrap().len(), 3);
    let page = search(&["登录页面", "--limit", "2"]);
    let next = page["next"].as_i64().unwrap().to_string();
    let last = search(&["登录页面", "--limit", "2", "--next", &next]);
    assert_eq!(last["data"].as_array().unwrap().len(), 1, "{last}");
    assert_eq!(last["next"], json!(null));
    let table = home.run(["conversations", "search", "--messages", "测试"]).ends_with(0).stdout;
    assert!(table.contains("Message") && table.contains("修一下测试"), "{table}");
    home.run(["conversations", "search", "--messages", "teapot"]).ends_with(0).says(&["“teapot”"]);
}

#[test]
fn a_conversation_is_shown_in_pages_with_ids_runs_and_turns() {
    let home = home();
    let conversation = id(&list(&home)[1]);
    let show = |args: &[&str]| {
        let args = [&["conversations", "show", &conversation, "--json"], args].concat();
        home.run(args).ends_with(0).json()
    };
    let page = show(&["--limit", "3"]);
    let said = page["messages"].as_array().unwrap();
    assert_eq!(said.iter().map(|one| &one["position"]).collect::<Vec<_>>(), [2, 3, 4]);
    assert_eq!((&page["has_more"], &page["before"]), (&json!(true), &json!(2)));
    let last = &said[2];
    assert_eq!((&last["role"], &last["slot"]), (&json!("assistant"), &json!("final")));
    assert_eq!(last["source_ref"], json!({"kind": "run", "ref_id": last["run_id"]}));
    assert_eq!(last["turn_id"], last["run_id"]);
    assert_eq!(last["parts"], json!([{"type": "text", "text": last["content"]}]));
    assert_eq!(said[1]["source_ref"], json!(null), "the person's own words stand for themselves");
    let first = show(&["--before", "2"]);
    assert_eq!(first["messages"][0]["content"], "修一下测试");
    assert_eq!(first["has_more"], false);
    let told = home.run(["conversations", "show", &conversation, "--limit", "1"]).ends_with(0);
    told.says(&["--before 4"]);
}

#[test]
fn conversations_are_marked_as_read_up_to_a_message_or_all() {
    let home = Home::scripted(&[says("Done.")]).with("AGENT_MODE", "react");
    home.run(["-p", "one"]).ends_with(0);
    home.run(["-p", "two"]).ends_with(0);
    let unread = || list(&home).iter().map(|one| one["unread"].as_i64().unwrap()).sum::<i64>();
    let before = unread();
    assert!(before >= 2, "{before}");
    let one = id(&list(&home)[1]);
    let shown = home.run(["conversations", "show", &one, "--json"]).ends_with(0).json();
    let message = shown["messages"][0]["id"].as_str().unwrap();
    home.run(["conversations", "read", &one, "--upto", message]).ends_with(0);
    assert_eq!(unread(), before - 1);
    let other = id(&list(&home)[0]);
    let wrong = home.run(["conversations", "read", &other, "--upto", message]).ends_with(2);
    wrong.says(&["No message"]);
    let done = home.run(["conversations", "read", "--all", "--json"]).ends_with(0).json();
    assert_eq!(done["unread"], json!({"conversations": 0, "messages": 0}), "{done}");
    assert_eq!(unread(), 0);
}

#[test]
fn a_conversation_is_exported_in_three_forms_and_comes_back_from_the_archive() {
    let home = home();
    let one = id(&list(&home)[1]);
    let lines =
        home.run(["conversations", "export", &one, "--format", "jsonl"]).ends_with(0).lines();
    assert_eq!(lines.len(), 5, "the conversation and its four messages");
    assert_eq!((&lines[0]["conversation_id"], &lines[1]["position"]), (&json!(one), &json!(1)));
    let file = home.path("talk.json");
    let to = ["--format", "json", "--output", file.to_str().unwrap()];
    home.run(["conversations", "export", &one].into_iter().chain(to)).ends_with(0);
    let whole: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(whole["messages"].as_array().unwrap().len(), 4);
    let text = home.run(["conversations", "export", &one, "--format", "md"]).ends_with(0).stdout;
    assert!(text.starts_with("# 修一下测试\n"), "{text}");
    home.run(["conversations", "archive", &one]).ends_with(0);
    home.run(["conversations", "unarchive", &one]).ends_with(0);
    assert_eq!(list(&home)[1]["archived_at"], json!(null));
}

#[test]
fn a_chat_at_a_terminal_gets_a_title_from_its_model_and_a_given_one_beats_it() {
    let server = FakeServer::openai(vec![ScriptedReply::says("The cellar is dry.")]);
    let home = Home::new().endpoint(&server.url()).with("AGENT_MODE", "react");
    let home = home.with("EVERLOOP_CHAT__TITLES", "on").with("TERM", "xterm").with("NO_COLOR", "1");
    home.run(["-p", "a script"]).ends_with(0);
    home.chat(&["a pipe"]).ends_with(0);
    let mut chat = home.on_terminal(["chat"]);
    chat.until("You › ").types("look into the cellar").until("The cellar is dry.").until("You › ");
    let titled = |source: &str| {
        let all = list(&home);
        all.into_iter().find(|one| one["title_source"] == source)
    };
    let made = eventually("a title", || titled("made"));
    assert_eq!((&made["title"], &made["given_title"]), (&json!("The cellar is dry"), &json!(null)));
    assert_eq!(titled("goal").map(|one| one["channel_type"].clone()), Some(json!("pipe")));
    chat.presses(4);
    chat.ended().ends_with(0);
    let one = id(&made);
    home.run(["conversations", "rename", &one, "Mine"]).ends_with(0);
    assert_eq!(titled("given").unwrap()["title"], "Mine");
    home.run(["conversations", "rename", &one, "--auto"]).ends_with(0);
    assert_eq!(titled("made").unwrap()["title"], "The cellar is dry");
    let asked = server.seen().into_iter().filter(|request| {
        String::from_utf8_lossy(&request.body).contains("Write a title for the conversation")
    });
    assert_eq!(asked.count(), 2, "once by itself, and once because it was asked for");
}
