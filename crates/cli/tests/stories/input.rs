//! The input line of a chat: keys, the menu, answers of one key, and nothing that is lost.

use crate::support::{Home, Terminal, calls, says};
use everloop_models::testing::{CannedReply, FakeServer, ReplyGate};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const PROMPT: &str = "You › ";
const ALLOW: &str = "Allow? › ";
const CTRL_D: u8 = 4;
const CTRL_G: u8 = 7;
const CTRL_R: u8 = 18;
const CTRL_U: u8 = 21;
const ESC: u8 = 27;

fn english(replies: &[Value]) -> Home {
    Home::scripted(replies).with("TERM", "xterm").with("NO_COLOR", "1")
}

fn open(home: &Home) -> Terminal {
    let mut chat = home.on_terminal(["chat", "--loop", "react"]);
    chat.until(PROMPT);
    chat
}

/// Leaves a chat whose prompt waits and is empty.
fn left(mut chat: Terminal) -> String {
    chat.until(PROMPT).presses(CTRL_D);
    chat.ended().ends_with(0).stdout
}

/// A model that wants to write a file with a command.
fn wants_to_write() -> Home {
    english(&[calls("shell", json!({"command": "echo one > ONE"})), says("All done.")])
}

fn asked(home: &Home) -> Terminal {
    let mut chat = open(home);
    chat.types("write it").until("allow once").until(ALLOW);
    chat
}

fn streamed(text: &str) -> String {
    let choice = json!({"index": 0, "delta": {"content": text}, "finish_reason": null});
    format!("data: {}\n\n", json!({ "choices": [choice] }))
}

fn stopped() -> String {
    let choice = json!({"index": 0, "delta": {}, "finish_reason": "stop"});
    format!("data: {}\n\ndata: [DONE]\n\n", json!({ "choices": [choice] }))
}

/// Some thousand keys, in pieces of any length, while words stream in. With `EVERLOOP_LONG=1` (as
/// `./check --long` sets it) ten minutes of them, on terminals of several widths.
#[test]
fn thousands_of_keys_typed_while_a_model_streams_are_all_there() {
    const WIDTHS: [u16; 4] = [60, 80, 120, 40];
    let is_long = std::env::var_os("EVERLOOP_LONG").is_some_and(|value| value == "1");
    let until = Instant::now() + Duration::from_secs(if is_long { 600 } else { 0 });
    for (round, width) in WIDTHS.into_iter().cycle().enumerate() {
        type_while_a_model_streams(if round == 0 { 80 } else { width });
        if Instant::now() >= until {
            break;
        }
    }
}

/// Each line is queued as it was typed, and sent as it was typed.
fn type_while_a_model_streams(width: u16) {
    const LINES: usize = 16;
    let gate = ReplyGate::default();
    let mut long = CannedReply::stream();
    for word in 0..400 {
        long = long.then(streamed(&format!("word {word} 世界 of a long answer.\n\n"))).pause_ms(2);
    }
    let long = long.behind(&gate).then(streamed("The end.") + &stopped()).end();
    let short =
        (0..LINES).map(|at| CannedReply::sse(streamed(&format!("Reply {at}.")) + &stopped()));
    let server = FakeServer::start(std::iter::once(long).chain(short).collect());
    let home = english(&[]).endpoint(&server.url());
    let mut chat = open(&home);
    chat.resize(width);
    chat.types("go").until("word 1 ");
    let line =
        |at: usize| format!("line {at}: {} 你好，世界 👩‍💻 {at}", "the quick brown fox ".repeat(9));
    let typed: String = (0..LINES).map(|at| line(at) + "\r").collect();
    let mut rest = typed.as_str();
    for length in (1..40).cycle() {
        if rest.is_empty() {
            break;
        }
        let end = rest.char_indices().nth(length).map_or(rest.len(), |(at, _)| at);
        chat.keys(&rest[..end]);
        rest = &rest[end..];
    }
    chat.until(&format!("Queued: line {}: ", LINES - 1));
    gate.open();
    chat.until(&format!("Reply {}.", LINES - 1));
    left(chat);
    let runs = home.run(["runs", "list", "--json"]).ends_with(0).json();
    let mut goals: Vec<String> = Vec::new();
    for run in runs["data"].as_array().unwrap() {
        goals.push(run["goal"].as_str().unwrap().to_owned());
    }
    for at in 0..LINES {
        assert!(goals.contains(&line(at)), "line {at} is not among {goals:#?}");
    }
}

#[test]
fn a_menu_says_what_commands_do_while_a_slash_is_typed() {
    let home = english(&[]);
    let mut chat = open(&home);
    chat.keys("/sch").until("› /schedule  ").until("schedule");
    let rows = chat.rows();
    let menu = rows.iter().find(|row| row.starts_with("› /schedule")).unwrap();
    assert!(menu.len() > "› /schedule  ".len() + 8, "it says what it does: {rows:#?}");
    assert!(rows.iter().any(|row| row == "You › /sch"), "{rows:#?}");
    // The return key takes the proposal; the line is sent by another one.
    chat.presses(b'\r').until("You › /schedule ").types("list").until("Nothing is scheduled");
    chat.until(PROMPT).keys("/").until("/help").presses(ESC).until("You › /");
    chat.presses(CTRL_U).keys("／lo\t").until("You › /loop ").keys("rea\t").until("/loop react ");
    chat.types("").until("react");
    assert!(!left(chat).contains("NO RECORDS"));
}

#[test]
fn files_of_the_workspace_are_proposed_behind_an_at_sign() {
    let home = english(&[]);
    std::fs::write(home.work("quarterly-report.md"), "x").unwrap();
    let mut chat = open(&home);
    chat.keys("/todo add read @quar").until("› @quarterly-report.md").presses(b'\t');
    chat.until("read @quarterly-report.md ").types("").until("Added todo #1");
    left(chat);
}

#[test]
fn one_key_allows_a_command_and_the_rest_of_the_word_leaves_nothing_behind() {
    for keys in ["y", "yes\r", "y\r", "Y"] {
        let home = wants_to_write();
        let mut chat = asked(&home);
        chat.keys(keys).until("Allowed this once").until("All done.");
        left(chat);
        assert!(home.work("ONE").exists(), "{keys:?}");
    }
}

#[test]
fn a_sentence_that_begins_like_an_answer_allows_nothing() {
    let home = wants_to_write();
    let mut chat = asked(&home);
    chat.types("actually, which folder is it in?").until("was not understood").until(ALLOW);
    chat.types("yesterday it was another one").until("was not understood").until(ALLOW);
    assert!(!home.work("ONE").exists());
    chat.types("no").until("Denied").until("All done.");
    left(chat);
    assert!(!home.work("ONE").exists());
}

#[test]
fn a_no_asks_for_a_reason_and_esc_goes_back_to_the_question() {
    let home = wants_to_write();
    let mut chat = asked(&home);
    chat.presses(b'e').until("New command › echo one > ONE").presses(ESC).until(ALLOW);
    chat.presses(b'n').until("Reason, or Enter › ").keys("bec").until("› bec").presses(ESC);
    chat.until(ALLOW);
    chat.presses(b'n').until("Reason, or Enter › ").types("make a copy first");
    chat.until("Reason, or Enter › make a copy first")
        .until("make a copy first")
        .until("All done.");
    left(chat);
    assert!(!home.work("ONE").exists());
}

#[test]
fn a_key_that_was_pressed_before_the_question_does_not_answer_it() {
    let mut call = calls("shell", json!({"command": "echo one > ONE"}));
    call["delay_ms"] = json!(400);
    let home = english(&[call, says("All done.")]);
    let mut chat = open(&home);
    chat.types("write it").until("working").keys("y").until("› y").until("allow once");
    chat.until("Allow? › y").presses(CTRL_U).until(ALLOW).types("no").until("Denied");
    chat.until("All done.");
    left(chat);
    assert!(!home.work("ONE").exists());
}

#[test]
fn a_paste_is_one_message_and_a_long_one_is_shown_folded() {
    let home = english(&[says("Short.")]);
    let mut chat = open(&home);
    chat.keys("\x1b[200~one\rtwo\x1b[201~").until("  two").types("").until("Short.").until(PROMPT);
    assert_eq!(home.show(&home.newest())["goal"], "one\ntwo");
    let lines: Vec<String> = (0..300).map(|at| format!("pasted {at}")).collect();
    chat.keys(&format!("see \x1b[200~{}\x1b[201~", lines.join("\r\n")));
    chat.until("You › see [pasted 300 lines]").types("").until("Short.");
    left(chat);
    assert_eq!(home.show(&home.newest())["goal"], format!("see {}", lines.join("\n")));
}

#[test]
fn the_history_is_searched_and_an_editor_of_ones_own_is_opened() {
    let home = english(&[]);
    let script = home.path("editor.sh");
    std::fs::write(&script, "#!/bin/sh\nprintf ' and more' >> \"$1\"\n").unwrap();
    let home = home.with("EDITOR", &format!("sh {}", script.display()));
    let mut chat = open(&home);
    chat.types("/todo add buy milk").until("Added todo #1").until(PROMPT);
    chat.types("/todo list").until("buy milk").until(PROMPT).presses(CTRL_R).keys("milk");
    chat.until("search: milk › /todo add buy milk")
        .presses(b'\r')
        .until("You › /todo add buy milk");
    chat.presses(CTRL_G).until("You › /todo add buy milk and more").types("");
    chat.until("Added todo #2: buy milk and more");
    left(chat);
}
