//! Small things that one meets every day: one key at a question, a line that failed, a folder with
//! two chats, what is told once and not twice.

use crate::support::{Home, Terminal, calls, says, slow};
use everloop_models::testing::{CannedReply, FakeServer};
use serde_json::{Value, json};

const CTRL_D: u8 = 4;
const PROMPT: &str = "You › ";
const RUN: [&str; 4] = ["run", "--loop", "react", "do it"];

fn at_terminal(home: Home) -> Home {
    home.with("TERM", "xterm").with("NO_COLOR", "1").with("AGENT_MODE", "react")
}

fn scripted(replies: &[Value]) -> Home {
    at_terminal(Home::scripted(replies))
}

fn commanding(line: &str) -> Vec<Value> {
    vec![calls("shell", json!({ "command": line })), says("I am done.")]
}

fn open(home: &Home) -> Terminal {
    let mut chat = home.on_terminal(["chat"]);
    chat.until(PROMPT);
    chat
}

fn left(mut chat: Terminal) -> String {
    chat.until(PROMPT).presses(CTRL_D);
    chat.ended().ends_with(0).stdout
}

/// How often words are on the screen.
fn count(terminal: &Terminal, words: &str) -> usize {
    terminal.rows().iter().filter(|row| row.contains(words)).count()
}

#[test]
fn under_run_one_key_allows_a_command_and_the_command_is_shown_once() {
    let home = scripted(&commanding("echo x > made"));
    let mut run = home.on_terminal(RUN);
    run.until("[e] edit").until("Allow? › ");
    assert_eq!(count(&run, "echo x > made"), 1, "{:#?}", run.rows());
    run.keys("y").until("✔ Allowed this once").until("I am done.");
    run.ended().ends_with(0);
    assert_eq!(home.read("made"), "x\n");
    let home = scripted(&commanding("echo x > made"));
    let mut run = home.on_terminal(RUN);
    run.until("Allow? › ").keys("n").until("Reason, or Enter › ").types("not here");
    run.until("not here").until("I am done.");
    run.ended().ends_with(0);
    assert!(!home.work("made").exists());
}

#[test]
fn in_a_chat_a_command_that_is_asked_about_is_shown_once() {
    let home = scripted(&commanding("echo x > made"));
    let mut chat = open(&home);
    chat.types("do it").until("Allow? › ");
    assert_eq!(count(&chat, "echo x > made"), 1, "{:#?}", chat.rows());
    chat.keys("n").until("Reason, or Enter › ").types("").until("Denied").until("I am done.");
    left(chat);
    let seen = home.show(&home.newest())["run_id"].as_str().unwrap().to_owned();
    let events = home.run(["runs", "events", &seen]).ends_with(0).stdout;
    assert!(events.contains("did not allow this call; nothing was done\""), "{events}");
}

#[test]
fn while_a_command_runs_under_run_its_last_lines_are_shown() {
    let command = "echo first line; cat gate; echo second line";
    let home = scripted(&commanding(command));
    let made = std::process::Command::new("mkfifo").arg(home.work("gate")).status().unwrap();
    assert!(made.success());
    let mut run = home.on_terminal(["run", "--loop", "react", "--yes", "do it"]);
    run.until("$ echo first line").until("    first line");
    std::fs::write(home.work("gate"), "go\n").unwrap();
    run.until("I am done.");
    run.ended().ends_with(0);
}

#[test]
fn a_command_that_failed_does_not_come_back_into_the_line() {
    let home = scripted(&[says("never")]);
    let mut chat = open(&home);
    for wrong in ["/persona nope", "/model nosuch/foo", "/image missing.png"] {
        chat.types(wrong).until(PROMPT);
    }
    chat.types("/undo --list").until("nothing to undo").until(PROMPT);
    chat.types("/todo list").until("There are no todos");
    let rows = chat.rows();
    let typed = rows.iter().filter(|row| row.starts_with(PROMPT));
    assert!(typed.clone().all(|row| row.matches('/').count() <= 2), "{rows:#?}");
    left(chat);
}

#[test]
fn changes_are_listed_and_undone_by_number_in_the_chat() {
    let write = |text: &str| calls("write_file", json!({"path": "a.txt", "content": text}));
    let home = scripted(&[write("one\n"), write("two\n"), says("Written.")]);
    let mut chat = open(&home);
    chat.types("write").until("Written.").until(PROMPT);
    chat.types("/undo list").until("  1  ").until("  2  ").until(PROMPT);
    chat.types("/undo --to 2").until("restored a.txt");
    assert_eq!(home.read("a.txt"), "one\n");
    left(chat);
}

#[test]
fn what_another_chat_of_the_folder_left_is_told_when_the_newest_goes_on() {
    let home = scripted(&[]);
    let slowly = [slow(says("The first answer."))];
    home.rewrite_with(&[says("The second answer.")], "first", &slowly);
    let mut first = open(&home);
    first.types("the first goal").until("working").types("a line for later").until("Queued:");
    let mut second = home.on_terminal(["chat"]);
    second.until("is open in another terminal").until(PROMPT);
    second.types("the second goal").until("The second answer.");
    first.kill9();
    left(second);
    let mut third = home.on_terminal(["chat"]);
    third.until("Continuing “the second goal”");
    third.until("● “the first goal”, also of this folder, has a line that was not sent");
    third.until("a line for later");
    left(third);
}

#[test]
fn a_pipe_that_asks_to_go_on_goes_on_with_the_chat_of_its_folder() {
    let home = scripted(&[says("Noted.")]);
    let mut chat = open(&home);
    chat.types("the cellar is wet").until("Noted.");
    left(chat);
    let mut piped = home.piped(["-c"]);
    piped.hears(&["/history"]);
    let told = piped.ended().ends_with(0);
    assert!(told.stdout.contains("the cellar is wet"), "{told:?}");
    assert!(!told.stderr.contains("This folder has no conversation yet"), "{told:?}");
}

#[test]
fn a_key_that_is_refused_is_told_once_and_an_apology_is_no_answer() {
    let refused = || CannedReply::status(401, "", "{\"error\":{\"message\":\"no such key\"}}");
    let server = FakeServer::start((0..9).map(|_| refused()).collect());
    let home = Home::new().endpoint(&server.url()).with("OPENAI_API_KEY", "sk-wrong");
    let home = at_terminal(home);
    let mut chat = open(&home);
    chat.types("say hi").until("Invalid API key").until("/setup").until("failed ·");
    assert_eq!(count(&chat, "no such key"), 1, "{:#?}", chat.rows());
    left(chat);
    for loop_name in ["react", "plan-replan"] {
        let told = home.run(["-p", "--loop", loop_name, "hi"]).ends_with(5);
        assert_eq!(told.stdout, "", "{loop_name}");
        let args = ["-p", "--loop", loop_name, "--output-format", "json", "hi"];
        let object = home.run(args).ends_with(5).json();
        assert_eq!(object["text"], Value::Null);
        assert!(object["message"].as_str().unwrap().contains("Invalid API key"), "{object}");
    }
}

#[test]
fn an_escape_sequence_of_a_model_is_dropped_whole() {
    let evil = "calm \u{1b}[31mRED\u{1b}[0m words \u{1b}]0;title\u{7}end.";
    let home = scripted(&[says(evil)]);
    let mut chat = open(&home);
    chat.types("speak").until("calm RED words end.");
    let screen = left(chat);
    assert!(!screen.contains("\u{1b}[31m") && !screen.contains("title"), "{screen}");
}

#[test]
fn models_are_listed_and_one_that_is_not_offered_is_warned_of() {
    let offers = json!({"data": [{"id": "m-1"}, {"id": "m-2"}]}).to_string();
    let server = FakeServer::start((0..3).map(|_| CannedReply::json(&offers)).collect());
    let home = at_terminal(Home::new().endpoint(&server.url()).with("OPENAI_API_KEY", "sk-x"));
    let mut chat = open(&home);
    chat.types("/model").until("Models there: m-1, m-2").until(PROMPT);
    chat.types("/model openai/zzz").until("does not list this model").until(PROMPT);
    chat.types("/model openai/m-2").until("use the model openai/m-2").until(PROMPT);
    chat.types("/new the roof").until("New conversation “the roof”");
    left(chat);
}

#[test]
fn one_off_questions_are_listed_on_request_only() {
    let home = scripted(&[says("Noted.")]);
    home.run(["-p", "a script"]).ends_with(0);
    let mut chat = open(&home);
    chat.types("a talk").until("Noted.").until(PROMPT);
    chat.types("/conversations").until("a talk").until(PROMPT);
    let rows = chat.rows();
    assert!(!rows.iter().any(|row| row.contains("unread")), "{rows:#?}");
    chat.presses(CTRL_D);
    chat.ended().ends_with(0);
    let list = |args: &[&str]| home.run(args).ends_with(0).stdout;
    assert!(!list(&["conversations"]).contains("a script"));
    assert!(list(&["conversations", "list", "--all"]).contains("a script"));
}

#[test]
fn a_change_that_changes_nothing_is_not_what_undo_takes_back() {
    let home = scripted(&[]);
    home.run(["todo", "add", "buy milk"]).ends_with(0);
    home.run(["todo", "update", "1", "buy bread"]).ends_with(0);
    home.run(["todo", "update", "1", "buy bread"]).ends_with(0);
    home.run(["todo", "undo"]).ends_with(0);
    let list = home.run(["todo", "list"]).ends_with(0).stdout;
    assert!(list.contains("buy milk") && !list.contains("buy bread"), "{list}");
}

#[test]
fn groups_of_settings_secrets_and_runs_answer_in_one_way() {
    let home = scripted(&[says("Noted.")]);
    let group = home.run(["config", "get", "loop"]).ends_with(0).stdout;
    assert!(group.contains("loop.default = ") && group.contains("loop.max_steps = "), "{group}");
    let secrets = home.run(["secrets", "--json"]).ends_with(0).json();
    assert_eq!(secrets, json!({ "data": [] }));
    home.run(["run", "--loop", "react", "hi"]).ends_with(0);
    let shown = home.run(["runs", "show", &home.newest()]).ends_with(0).stdout;
    for head in ["model        scripted", "workspace    ", "took         "] {
        assert!(shown.contains(head), "{head}: {shown}");
    }
    let list = home.run(["conversations", "list", "--all", "--json"]).ends_with(0).json();
    let at = list["data"][0]["created_at"].as_str().unwrap();
    assert!(at.contains('T') && at.contains(':'), "{at}");
    let wrong = home.run(["todo", "list", "--sort", "due"]).ends_with(2).stderr;
    assert!(wrong.contains("--sort") && !wrong.contains("--set"), "{wrong}");
}
