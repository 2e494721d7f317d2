//! A chat that swallows nothing: what was typed is answered, kept or said back.

use crate::support::{
    Home, Terminal, ask, calls, done, eventually, plan, replanned, says, short, slow, thought,
};
use everloop_models::ScriptedReply;
use everloop_models::testing::FakeServer;
use rustix::process::Signal;
use serde_json::{Value, json};

const PROMPT: &str = "You › ";
const CTRL_A: u8 = 1;
const CTRL_C: u8 = 3;
const CTRL_D: u8 = 4;
const CTRL_K: u8 = 11;

fn on_terminal(home: Home) -> Home {
    home.with("TERM", "xterm").with("NO_COLOR", "1")
}

/// A chat whose prompt waits.
fn open(home: &Home) -> Terminal {
    let mut chat = home.on_terminal(["chat"]);
    chat.until(PROMPT);
    chat
}

fn text_of(reply: &Value) -> ScriptedReply {
    ScriptedReply::says(reply["text"].as_str().unwrap())
}

/// The goals of all runs, the newest first.
fn goals(home: &Home) -> Vec<String> {
    let list = home.run(["runs", "list", "--json"]).ends_with(0).json();
    let rows = list["data"].as_array().unwrap();
    rows.iter().map(|row| row["goal"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_answer_is_part_of_the_conversation_and_the_next_goal_hears_of_it() {
    let script =
        [plan(&["ask"]), ask("when?"), replanned(&[("say", false)]), thought("x"), done("ok then")];
    let server = FakeServer::openai(script.iter().map(text_of).collect());
    let home = Home::new().endpoint(&server.url());
    let lines = ["the goal", "ZEBRA", "/history", "/export chat", "next goal"];
    let chat = home.chat(&lines).ends_with(3).stdout;
    assert_eq!(chat.matches("you: ZEBRA\n").count(), 2, "{chat}");
    let order = ["you: the goal", "assistant: when?", "you: ZEBRA", "ok then"];
    let history = &chat[chat.find("you: the goal").unwrap()..];
    let at: Vec<usize> = order.iter().map(|words| history.find(words).unwrap()).collect();
    assert!(at.is_sorted(), "{history}");
    let asked = server.seen();
    let mut next = asked.iter().map(|seen| seen.json().to_string());
    let next = next.find(|body| body.contains("next goal")).unwrap();
    assert!(next.contains("user: ZEBRA"), "{next}");
    let runs = home.run(["runs", "list", "--json"]).ends_with(0).json();
    home.verified(runs["data"][1]["run_id"].as_str().unwrap());
}

#[test]
fn a_line_after_a_question_that_was_answered_elsewhere_is_a_new_goal() {
    let script = [
        plan(&["ask"]),
        ask("when?"),
        replanned(&[("say", false)]),
        thought("x"),
        done("answered!"),
    ];
    let home = on_terminal(Home::scripted(&script));
    let mut chat = open(&home);
    chat.types("plan it").until("when?").until("Answer › ");
    let run = home.newest();
    home.run(["runs", "resume", &run, "--answer", "two"]);
    chat.until("ended: succeeded").until("answered!").until(PROMPT);
    chat.types("a new goal").until("when?").until("Answer › ").presses(CTRL_D);
    chat.ended().ends_with(0);
    assert_eq!(goals(&home), ["a new goal", "plan it"]);
}

/// The same where the window could not hear of the end: another process drives.
#[test]
fn a_line_after_a_question_whose_run_ended_unheard_is_a_new_goal() {
    let script = [
        plan(&["ask"]),
        ask("when?"),
        replanned(&[("say", false)]),
        thought("x"),
        done("answered!"),
    ];
    let home = Home::scripted(&script);
    let mut first = home.piped(["chat"]);
    first.hears(&["plan it"]);
    first.until("when?");
    let run = home.newest();
    // In the same conversation, which the first chat has open.
    let mut second = home.piped(["-c"]);
    second.until("when?");
    first.hears(&["two"]);
    first.until("answered!");
    second.hears(&["a new goal"]);
    second.until("when?");
    drop(second);
    assert_eq!(goals(&home), ["a new goal", "plan it"]);
    assert_eq!(home.status(&run), "succeeded");
}

#[test]
fn a_run_that_was_left_in_the_queue_is_announced_and_its_answer_is_printed() {
    let script = |last| [plan(&["say"]), last, done("said.")];
    let home = Home::scripted(&script(slow(thought("x"))));
    let mut first = home.piped(["chat"]);
    first.hears(&["my goal"]);
    first.until("Plan v1");
    first.signal(Signal::TERM);
    first.ended().ends_with(143);
    let run = home.newest();
    assert_eq!(home.status(&run), "queued");
    home.rewrite(&script(thought("x")));
    let second = home.chat(&[]).ends_with(0);
    assert_eq!(second.stdout, "said.\n");
    second.says(&["Unfinished from last time", &format!("run {} my goal: continues", short(&run))]);
    home.verified(&run);
}

/// Leaves a chat whose prompt waits; all that was on its screen.
fn left(mut chat: Terminal) -> String {
    chat.until(PROMPT).presses(CTRL_D);
    chat.ended().ends_with(0).stdout
}

#[test]
fn lines_queued_while_busy_outlive_a_kill_and_are_sent_once() {
    let script = |last| [plan(&["say"]), last, done("said.")];
    let home = on_terminal(Home::scripted(&script(slow(thought("x")))));
    let mut first = open(&home);
    first.types("the first").until("Plan v1").types("the second").until("Queued: the second");
    first.types("the third").until("Queued: the third");
    first.kill9();
    home.rewrite(&script(thought("x")));
    let mut second = home.on_terminal(["chat"]);
    second.until("Queued last time and not sent yet: the second");
    second.until("not sent yet: the third").until("said.").until("You › the second");
    second.until("said.").until("You › the third").until("said.");
    left(second);
    assert_eq!(goals(&home), ["the third", "the second", "the first"]);
    left(home.on_terminal(["chat"]));
    assert_eq!(goals(&home).len(), 3, "sent once");
    assert_eq!(std::fs::read_dir(home.data().join("queued")).unwrap().count(), 0);
}

#[test]
fn after_ctrl_c_queued_lines_wait_in_the_input_line_for_enter() {
    let script = |last| [plan(&["say"]), last, done("said.")];
    let home = on_terminal(Home::scripted(&script(slow(thought("x")))));
    let mut chat = open(&home);
    chat.types("the first").until("Plan v1").types("the second").until("Queued: the second");
    chat.types("the third").until("Queued: the third");
    home.rewrite(&script(thought("x")));
    chat.presses(CTRL_C).until("Not sent: the second").until("Not sent: the third");
    chat.until(PROMPT).until("the second");
    assert_eq!(goals(&home), ["the first"], "nothing begins by itself");
    chat.presses(CTRL_A).presses(CTRL_K).types("").until("Dropped");
    chat.until(PROMPT).until("the third").types(" indeed");
    eventually("the third", || (goals(&home)[0] == "the third indeed").then_some(()));
    drop(chat);
    assert_eq!(goals(&home), ["the third indeed", "the first"]);
}

/// A home without a model.
fn alone(lang: &str) -> Home {
    Home::new().with("EVERLOOP_LANG", lang)
}

#[test]
fn at_a_confirmation_commands_are_carried_out_and_another_sentence_takes_its_place() {
    let home = alone("zh-CN");
    let lines = ["2030年5月6日下午3点开会", "/todo list", "提醒我买牛奶", "好的", "/schedule list"];
    let chat = home.chat(&lines).ends_with(0).stdout;
    let asked = "理解为：/schedule add 2030-05-06 15:00 开会\n执行吗？";
    assert_eq!(chat.matches(asked).count(), 2, "{chat}");
    assert!(chat.contains("没有待办") && chat.contains("理解为：/todo add 买牛奶"), "{chat}");
    assert!(chat.contains("已添加待办 #1：买牛奶") && !chat.contains("已添加日程"), "{chat}");
    for (word, done) in [("行", true), ("ok", true), ("不行", false), ("No", false)] {
        let home = alone("zh-CN");
        let chat = home.chat(&["2030年5月6日下午3点开会", word]).ends_with(0).stdout;
        assert_eq!(chat.contains("已添加日程 #1：开会"), done, "{word}: {chat}");
        assert_eq!(chat.ends_with("没有执行\n"), !done, "{word}: {chat}");
    }
}

#[test]
fn a_proposed_command_can_be_edited_in_the_line() {
    let mut home = on_terminal(alone("en"));
    std::fs::write(home.data().join("config.toml"), "").unwrap();
    home.set("TZ", "UTC");
    let mut chat = open(&home);
    chat.types("remind me to buy milk tomorrow").until("I read this as: /todo add buy milk");
    chat.until("[e] edit › ").types("/todo list").until("There are no todos");
    chat.until("I read this as: /todo add buy milk").until("[e] edit › ").types("e");
    chat.until(PROMPT).until("/todo add buy milk").presses(CTRL_A).presses(CTRL_K);
    chat.types("/todo add bread").until("Added todo #1: bread");
    left(chat);
}

#[test]
fn an_approval_names_few_words_and_what_is_unclear_is_asked_again() {
    let script = [calls("shell", json!({"command": "echo x >> made"})), says("so be it.")];
    for (word, approves) in [("1", true), ("sure", true), ("可以", true), ("hm", false)] {
        let home = Home::scripted(&script);
        let mut chat = home.piped(["chat", "--loop", "react"]);
        chat.hears(&["make it", word]);
        let ended = chat.ended().ends_with(if approves { 0 } else { 3 });
        let chat = ended.says(&["[y] allow once   [a] always"]);
        assert_eq!(chat.stdout.ends_with("so be it.\n"), approves, "{}", chat.stdout);
        assert_eq!(chat.stdout.contains("“hm” was not understood"), !approves, "{}", chat.stdout);
        assert_eq!(home.work("made").exists(), approves, "{word}");
    }
}

/// A chat that was killed in the middle of a command.
fn killed_in_a_command() -> Home {
    let command = "echo once >> log; cat gate";
    let home = Home::scripted(&[calls("shell", json!({ "command": command })), says("who knows.")]);
    let made = std::process::Command::new("mkfifo").arg(home.work("gate")).status().unwrap();
    assert!(made.success());
    let mut first = home.piped(["chat", "--loop", "react", "--yes"]);
    first.hears(&["append a line"]);
    eventually("the line", || (home.read("log") == "once\n").then_some(()));
    first.kill9();
    home.deserted();
    home
}

#[test]
fn in_the_chat_an_unknown_outcome_is_looked_at_and_settled_by_a_number() {
    let home = killed_in_a_command();
    let chat = home.chat(&["3", "1", "/settle"]).ends_with(0);
    assert!(chat.stdout.contains("Checked shell: can't tell"), "{}", chat.stdout);
    assert!(chat.stdout.contains("Settled: $ echo once"), "{}", chat.stdout);
    assert!(chat.stdout.ends_with("No call has an unknown outcome\n"), "{}", chat.stdout);
    chat.says(&["[1] it happened   [2] it did not   [3] check"]);
    let shown = home.show(&home.newest());
    assert_eq!(shown["unknowns"][0]["settled"]["verdict"], "happened");
    assert_eq!(home.read("log"), "once\n");
    home.verified(&home.newest());
}

#[test]
fn a_line_that_was_queued_before_a_kill_says_nothing_of_an_unknown_outcome() {
    let command = "echo once >> log; cat gate";
    let replies = [calls("shell", json!({ "command": command })), says("who knows.")];
    let home = on_terminal(Home::scripted(&replies));
    let made = std::process::Command::new("mkfifo").arg(home.work("gate")).status().unwrap();
    assert!(made.success());
    let mut first = home.on_terminal(["chat", "--loop", "react", "--yes"]);
    first.until(PROMPT).types("append a line");
    eventually("the line", || (home.read("log") == "once\n").then_some(()));
    first.types("1").until("Queued: 1");
    first.kill9();
    home.deserted();
    let mut second = home.on_terminal(["chat", "--loop", "react"]);
    second.until("Queued last time and not sent yet: 1").until("Did it happen?").until(PROMPT);
    let shown = home.show(&home.newest());
    assert_eq!(shown["unknowns"][0]["settled"], json!(null), "nobody has said what happened");
    second.types("2").until("Settled: $ echo once");
    drop(second);
}

#[test]
fn an_unknown_outcome_is_settled_later_by_a_command() {
    let home = killed_in_a_command();
    home.chat(&[]).ends_with(0);
    let lines = ["/settle", "/确认 没有发生"];
    let mut chat = home.piped(["chat", "--lang", "zh-CN"]);
    chat.hears(&lines);
    let chat = chat.ended().ends_with(0).stdout;
    assert!(chat.contains("[1] 执行了   [2] 没执行   [3] 让工具去核实"), "{chat}");
    let shown = home.show(&home.newest());
    assert_eq!(shown["unknowns"][0]["settled"]["verdict"], "not", "{chat}");
}
