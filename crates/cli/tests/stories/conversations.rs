//! A conversation per folder: kept apart, found again, named, deleted.

use crate::support::{Home, Terminal, ask, calls, done, eventually, plan, says, slow, thought};
use everloop_models::ScriptedReply;
use everloop_models::testing::FakeServer;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::path::PathBuf;

const CTRL_D: u8 = 4;

fn on_terminal(home: Home) -> Home {
    home.with("TERM", "xterm").with("NO_COLOR", "1").with("AGENT_MODE", "react")
}

fn left(mut chat: Terminal) -> String {
    chat.until("You › ");
    left_at_prompt(chat)
}

fn left_at_prompt(mut chat: Terminal) -> String {
    chat.presses(CTRL_D);
    chat.ended().ends_with(0).stdout
}

/// Another folder of the person.
fn folder(home: &Home, name: &str) -> PathBuf {
    let folder = home.path(name);
    std::fs::create_dir(&folder).unwrap();
    folder
}

fn list(home: &Home) -> Vec<Value> {
    let list = home.run(["conversations", "--json"]).ends_with(0).json();
    list["data"].as_array().unwrap().clone()
}

fn titles(home: &Home) -> Vec<String> {
    list(home).iter().map(|one| one["title"].as_str().unwrap().to_owned()).collect()
}

/// The end of an id, as the lists show it.
fn short(one: &Value) -> String {
    let id = one["conversation_id"].as_str().unwrap();
    id[id.len() - 6..].to_owned()
}

/// A chat in a folder through a pipe.
fn chat_in(home: &Home, folder: &str, lines: &[&str]) -> String {
    let mut chat = home.piped(["chat", "--workspace", folder]);
    chat.hears(lines);
    chat.ended().ends_with(0).stdout
}

#[test]
fn what_is_said_in_one_folder_is_in_no_request_of_another() {
    let server = FakeServer::openai(vec![ScriptedReply::says("Noted.")]);
    let home = Home::new().endpoint(&server.url()).with("AGENT_MODE", "react");
    let (alpha, beta) = (folder(&home, "alpha"), folder(&home, "beta"));
    let [alpha, beta] = [&alpha, &beta].map(|folder| folder.to_str().unwrap());
    chat_in(&home, alpha, &["where is the alpha key"]);
    chat_in(&home, beta, &["a question about beta"]);
    chat_in(&home, alpha, &["once more in alpha"]);
    home.run(["-p", "-c", "--workspace", beta, "a script in beta"]).ends_with(0);
    home.run(["-p", "a script without a past"]).ends_with(0);
    let bodies: Vec<String> =
        server.seen().iter().map(|request| String::from_utf8_lossy(&request.body).into()).collect();
    let of = |words: &str| {
        let found = bodies.iter().rfind(|body| body.contains(words));
        found.unwrap_or_else(|| panic!("no request has {words}"))
    };
    for words in ["a question about beta", "a script in beta", "a script without a past"] {
        assert!(!of(words).contains("alpha"), "{words}");
    }
    assert!(of("once more in alpha").contains("where is the alpha key"));
    assert!(of("a script in beta").contains("a question about beta"), "it went on with it");
}

#[test]
fn a_new_conversation_leaves_the_old_one_in_the_list_and_its_words_behind() {
    let server = FakeServer::openai(vec![ScriptedReply::says("Noted.")]);
    let home = Home::new().endpoint(&server.url()).with("AGENT_MODE", "react");
    home.chat(&["remember the teapot", "/new", "what is there", "/rename 花园"]).ends_with(0);
    let last = server.seen().last().map(|it| String::from_utf8_lossy(&it.body).into_owned());
    assert!(!last.unwrap().contains("teapot"));
    assert_eq!(titles(&home), ["花园", "remember the teapot"]);
    let back = home.chat(&["/resume teapot", "and now"]).ends_with(0).stdout;
    assert!(back.contains("“remember the teapot” in "), "{back}");
    let last = server.seen().last().map(|it| String::from_utf8_lossy(&it.body).into_owned());
    assert!(last.unwrap().contains("remember the teapot"));
    let zh = home.run(["conversations", "--lang", "zh-CN"]).ends_with(0).stdout;
    assert!(zh.contains("标题") && zh.contains("花园"), "{zh}");
}

#[test]
fn two_terminals_in_one_folder_have_two_conversations_unless_one_joins() {
    let home = on_terminal(Home::scripted(&[says("The cellar is dry.")]));
    let mut one = home.on_terminal(["chat"]);
    one.until("You › ").types("look into the cellar").until("The cellar is dry.").until("You › ");
    let mut two = home.on_terminal(["chat"]);
    two.until("is open in another terminal, so this is a new conversation");
    two.until("everloop -c").until("You › ").types("something else").until("dry.").until("You › ");
    let mut three = home.on_terminal(["-c"]);
    three.until("Continuing “something else”");
    left(three);
    let (first, second) = (left_at_prompt(one), left_at_prompt(two));
    assert!(!first.contains("something else"), "{first}");
    assert!(!second.contains("Continuing"), "{second}");
    assert_eq!(titles(&home), ["something else", "look into the cellar"]);
    let mut again = home.on_terminal::<&str>([]);
    again.until("Continuing “something else”");
    left(again);
}

#[test]
fn a_chat_that_was_killed_goes_on_in_its_folder_and_is_told_of_in_another() {
    let script = |last| [plan(&["say"]), last, done("Said at last.")];
    let home = Home::scripted(&script(slow(thought("x"))));
    let home = home.with("TERM", "xterm").with("NO_COLOR", "1");
    let beta = folder(&home, "beta");
    let mut first = home.on_terminal(["chat"]);
    first.until("You › ").types("the first goal").until("Plan v1");
    let run = home.newest();
    first.kill9();
    home.rewrite(&script(thought("x")));
    let mut second = home.on_terminal(["chat", "--workspace", beta.to_str().unwrap()]);
    second.until("“the first goal” in ").until("continues in the background: everloop -r ");
    eventually("its end", || (home.status(&run) == "succeeded").then_some(()));
    let screen = left(second);
    assert!(!screen.contains("Said at last."), "the answer is the other chat's: {screen}");
    assert_eq!(list(&home)[0]["state"], "unread");
    let mut third = home.on_terminal(["chat"]);
    third.until("Continuing “the first goal”").until("You › ").types("/history");
    third.until("Said at last.");
    left(third);
    assert_eq!(list(&home)[0]["state"], "idle");
    home.verified(&run);
}

#[test]
fn a_question_is_asked_in_its_own_conversation_and_told_of_once_elsewhere() {
    let question = calls("ask_user", json!({"question": "Which one?"}));
    let home = on_terminal(Home::scripted(&[question, says("The left one.")]));
    let beta = folder(&home, "beta");
    let in_beta = ["chat", "--workspace", beta.to_str().unwrap()];
    let mut first = home.on_terminal(["chat"]);
    first.until("You › ").types("choose").until("Which one?").until("Answer › ");
    first.kill9();
    let mut other = home.on_terminal(in_beta);
    other.until("● “choose” in ").until("has a question: everloop -r ");
    let screen = left(other);
    assert!(!screen.contains("Which one?"), "{screen}");
    let screen = left(home.on_terminal(in_beta));
    assert!(!screen.contains("has a question"), "{screen}");
    let id = short(&list(&home)[0]);
    let mut back = home.on_terminal(["-r", &id, "--workspace", beta.to_str().unwrap()]);
    back.until("Which one?").until("Answer › ").types("left").until("The left one.");
    left(back);
}

#[test]
fn a_picker_offers_conversations_and_what_scripts_left_open() {
    let question = [plan(&["ask"]), ask("Which colour?"), done("Blue it is.")];
    let home = Home::scripted(&question).with("TERM", "xterm").with("NO_COLOR", "1");
    home.rewrite_with(&question, "hello", &[plan(&["say"]), done("Hello.")]);
    home.run(["run", "paint it"]).ends_with(3);
    home.chat(&["hello there"]).ends_with(0);
    let mut chat = home.on_terminal(["-r"]);
    chat.until("Which conversation?")
        .until("hello there")
        .until("paint it")
        .until("waiting for you");
    chat.keys("\x1b[B")
        .until("› paint it")
        .types("")
        .until("Which colour?")
        .until("Answer › ")
        .types("blue");
    chat.until("Blue it is.");
    left(chat);
    let mut chat = home.on_terminal(["-r", "hello"]);
    chat.until("Continuing “hello there”");
    left(chat);
    let home = Home::scripted(&[]).with("TERM", "xterm");
    let none = home.on_terminal(["-r"]).ended().ends_with(2).stdout;
    assert!(none.contains("No conversations yet"), "{none}");
}

#[test]
fn conversations_are_searched_renamed_archived_exported_and_deleted() {
    let home = Home::scripted(&[says("登录页面的测试修好了。")]).with("AGENT_MODE", "react");
    home.chat(&["修一下测试", "/new", "something else"]).ends_with(0);
    let run = home.newest();
    let found = home.run(["conversations", "search", "登录页面", "--json"]).ends_with(0).json();
    assert_eq!(found["data"].as_array().unwrap().len(), 2, "{found}");
    assert_eq!(found["data"][0]["excerpt"], "登录页面的测试修好了。");
    let found = home.run(["conversations", "search", "一下测"]).ends_with(0).stdout;
    assert!(found.contains("修一下测试") && !found.contains("something else"), "{found}");
    home.run(["conversations", "search", "teapot"]).ends_with(0).says(&["“teapot”"]);

    let id = short(&list(&home)[1]);
    home.run(["conversations", "rename", &id, "发布", "前"]).ends_with(0);
    assert_eq!(titles(&home)[1], "发布 前");
    home.run(["conversations", "rename", &id, " "]).ends_with(2).says(&["A title needs"]);
    let shown = home.run(["conversations", "show", "发布"]).ends_with(0).stdout;
    assert!(shown.starts_with("发布 前\n") && shown.contains("you: 修一下测试"), "{shown}");
    let text = home.run(["conversations", "export", &id]).ends_with(0).stdout;
    assert!(text.starts_with("# 发布 前\n") && text.contains("## Assistant · "), "{text}");
    let object = home.run(["conversations", "export", &id, "--json"]).ends_with(0).json();
    assert_eq!(object["messages"][0]["content"], "修一下测试");

    home.run(["conversations", "archive", &id]).ends_with(0);
    assert_eq!(titles(&home), ["something else"]);
    let all = home.run(["conversations", "list", "--all"]).ends_with(0).stdout;
    assert!(all.contains("archived"), "{all}");
    home.run(["conversations", "archive", &id, "--undo"]).ends_with(0);

    let other = short(&list(&home)[0]);
    home.run(["conversations", "delete", &other]).ends_with(3).says(&["--yes"]);
    assert_eq!(titles(&home).len(), 2);
    home.run(["conversations", "delete", &other, "--yes"]).ends_with(0);
    assert_eq!(titles(&home), ["发布 前"]);
    home.run(["runs", "show", &run]).ends_with(2);
    let told = home.run(["conversations", "show", &other]).ends_with(2);
    told.says(&["No conversation matches"]);
}

#[test]
fn a_conversation_is_not_deleted_while_a_run_has_not_ended() {
    let home = Home::scripted(&[plan(&["ask"]), ask("Which colour?"), done("Blue it is.")]);
    home.chat(&["paint it"]).ends_with(3);
    let id = short(&list(&home)[0]);
    let told = home.run(["conversations", "delete", &id, "--yes"]).ends_with(1);
    told.says(&[
        "has a run that has not ended",
        crate::support::short(&home.newest()),
        "Nothing was deleted",
    ]);
    assert_eq!(titles(&home), ["paint it"]);
}

/// A database of the program before: no table of conversations, and one conversation for all.
fn of_before(home: &Home) {
    let conn = Connection::open(home.database()).unwrap();
    conn.execute_batch(
        "DROP TABLE deletions;
         DROP TABLE turn_receipts;
         DROP TABLE api_requests;
         DROP INDEX runs_turn;
         DROP INDEX runs_task;
         DROP INDEX runs_retry;
         ALTER TABLE runs DROP COLUMN turn_id;
         ALTER TABLE runs DROP COLUMN task_key;
         ALTER TABLE runs DROP COLUMN run_type;
         ALTER TABLE runs DROP COLUMN title;
         ALTER TABLE runs DROP COLUMN retry_of;
         DROP INDEX schedules_run;
         ALTER TABLE schedules DROP COLUMN run_plan;
         ALTER TABLE schedules DROP COLUMN run_next;
         ALTER TABLE schedules DROP COLUMN run_failures;
         DROP TABLE schedule_runs;
         DROP TABLE webhooks_seen;
         DROP TABLE notes_said;
         DROP INDEX firings_untold;
         ALTER TABLE firings DROP COLUMN told_at;
         DROP TABLE facts;
         DROP TABLE fact_changes;
         DROP TABLE conversations;
         DROP TABLE message_terms;
         DROP INDEX messages_search;
         ALTER TABLE messages DROP COLUMN search_no;
         ALTER TABLE messages DROP COLUMN parts;
         DROP TABLE undos;
         DROP TABLE agenda_changes;
         DELETE FROM counters WHERE name = 'agenda_change';
         ALTER TABLE todos DROP COLUMN more_tags;
         UPDATE runs SET conversation_id = 'conv_terminal';
         UPDATE messages SET conversation_id = 'conv_terminal';
         UPDATE schema_meta SET v = '7' WHERE k = 'schema_version';",
    )
    .unwrap();
}

#[test]
fn the_one_conversation_of_an_earlier_database_stays_and_its_question_is_told_of_once() {
    let question = calls("ask_user", json!({"question": "Which one?"}));
    let home = on_terminal(Home::scripted(&[question, says("The left one.")]));
    home.chat(&["choose"]).ends_with(3);
    of_before(&home);
    let mut chat = home.on_terminal(["chat"]);
    chat.until("● “choose” in folder unknown has a question: everloop -r terminal");
    chat.until("You › ").types("/resume terminal").until("“choose” in folder unknown");
    chat.until("Which one?").until("Answer › ").types("left").until("The left one.");
    let screen = left(chat);
    assert!(!screen.contains("Continuing"), "a new conversation was opened: {screen}");
    assert_eq!(list(&home)[0]["conversation_id"], "conv_terminal");
    assert_eq!(list(&home)[0]["workspace"], json!(null));
    let found = home.run(["conversations", "search", "choose", "--json"]).ends_with(0).json();
    assert_eq!(found["data"][0]["conversation_id"], "conv_terminal", "indexed later: {found}");
    let screen = left(home.on_terminal(["chat"]));
    assert!(!screen.contains("has a question"), "{screen}");
}
