//! Several terminals on one home: none answers for another.

use crate::support::{Home, Terminal, ask, calls, done, plan, says};
use serde_json::json;

fn open(home: &Home) -> Terminal {
    let mut chat = home.on_terminal(["chat", "--loop", "react"]);
    chat.until("You › ");
    chat
}

fn left(mut chat: Terminal) -> String {
    chat.until("You › ").presses(4);
    chat.ended().ends_with(0).stdout
}

fn asking() -> Home {
    let question = calls("ask_user", json!({"question": "Which one?"}));
    let replies = [question, says("The left one.")];
    let home = Home::scripted(&replies);
    home.rewrite_with(&replies, "readme", &[says("The readme is begun.")]);
    home.with("TERM", "xterm").with("NO_COLOR", "1")
}

#[test]
fn a_goal_typed_in_one_terminal_is_no_answer_to_the_question_of_another() {
    let home = asking();
    let mut one = open(&home);
    one.types("choose").until("Which one?").until("Answer › ");
    let run = home.newest();
    let mut other = home.on_terminal(["chat", "--loop", "react"]);
    other.until("“choose” is open in another terminal, so this is a new conversation");
    other.until("● “choose” in ").until("has a question: everloop -r ");
    other.until("You › ").types("start on the readme").until("The readme is begun.");
    assert_eq!(home.status(&run), "waiting");
    // Whoever takes it up may answer it, and the first terminal learns of that.
    other.until("You › ").types(&format!("/resume {run}")).until("Which one?");
    other.until("Answer › ").types("the left one").until("Answered: the left one");
    one.until("answered elsewhere");
    left(other);
    let screen = left(one);
    assert!(!screen.contains("The readme is begun."), "{screen}");
    home.verified(&run);
}

#[test]
fn the_answer_of_a_script_does_not_show_in_an_open_chat() {
    let home = Home::scripted(&[says("For the script.")]);
    let home = home.with("TERM", "xterm").with("NO_COLOR", "1").with("AGENT_MODE", "REACT");
    let mut chat = open(&home);
    let told = home.run(["-p", "for a script"]).ends_with(0);
    assert_eq!(told.stdout, "For the script.\n");
    chat.types("/todo list").until("There are no todos");
    let screen = left(chat);
    assert!(!screen.contains("For the script."), "{screen}");
    let history = home.chat(&["/history"]).ends_with(0).stdout;
    assert!(!history.contains("For the script."), "{history}");
}

#[test]
fn the_newest_run_is_found_though_a_script_began_it() {
    let home = Home::scripted(&[plan(&["ask"]), ask("Which colour?"), done("Blue it is.")]);
    let run = home.run(["run", "paint it"]).ends_with(3).stdout.trim().to_owned();
    let chat = home.chat(&["/resume", "blue"]).ends_with(0);
    assert!(chat.stdout.ends_with("Blue it is.\n"), "{}", chat.stdout);
    assert_eq!(home.status(&run), "succeeded");
    let home = Home::scripted(&[plan(&["ask"]), ask("Which colour?"), done("Blue it is.")]);
    home.run(["run", "paint it"]).ends_with(3);
    assert_eq!(home.run(["-p", "blue", "-r"]).ends_with(0).stdout, "Blue it is.\n");
}

#[test]
fn a_chat_says_that_runs_of_others_wait() {
    let home = Home::scripted(&[plan(&["ask"]), ask("Which colour?"), done("Blue it is.")]);
    let home = home.with("TERM", "xterm").with("NO_COLOR", "1");
    home.run(["run", "paint it"]).ends_with(3);
    let mut chat = home.on_terminal(["chat"]);
    chat.until("● “paint it” in ").until("has a question: everloop -r ").until("/resume ");
    left(chat);
    let again = left(home.on_terminal(["chat"]));
    assert!(!again.contains("has a question"), "it was told of once: {again}");
}

/// The chat that came first drives every run of the home; the others see what happens all the same.
#[test]
fn a_chat_shows_the_tool_calls_of_a_run_that_another_chat_drives() {
    let list = calls("list_dir", json!({"path": "."}));
    let home = Home::scripted(&[list, says("Nothing there.")]).with("AGENT_MODE", "react");
    let mut drives = home.piped(["chat"]);
    drives.hears(&["/todo add wait"]);
    drives.until("wait");
    let mut looks = home.piped(["chat"]);
    looks.hears(&["look around"]);
    looks.until("Nothing there.");
    let told = looks.ended().ends_with(0);
    for words in ["→ list_dir", "✔ list_dir"] {
        assert_eq!(told.stderr.matches(words).count(), 1, "{}", told.stderr);
    }
    drives.ended().ends_with(0);
}

#[test]
fn a_conversation_that_is_joined_shows_the_run_of_the_other_terminal_and_its_answer() {
    let slow = json!({"text": "It is built.", "delay_ms": 5000});
    let home = Home::scripted(&[slow]).with("TERM", "xterm").with("NO_COLOR", "1");
    let mut one = open(&home);
    one.types("build it").until("thinking");
    let mut other = home.on_terminal(["-c"]);
    other.until("is working in another terminal: build it");
    other.until("ended: succeeded").until("It is built.");
    one.until("It is built.");
    left(one);
    let screen = left(other);
    assert_eq!(screen.matches("It is built.").count(), 1, "{screen}");
}

#[test]
fn a_question_in_a_joined_conversation_is_announced_there() {
    let mut slow = calls("shell", json!({"command": "touch made"}));
    slow["delay_ms"] = json!(4000);
    let home = Home::scripted(&[slow, says("done")]).with("TERM", "xterm").with("NO_COLOR", "1");
    let mut one = open(&home);
    one.types("build it").until("thinking");
    let mut other = home.on_terminal(["-c"]);
    other.until("is working in another terminal: build it");
    other.until("waits for an answer: Allow shell to run? $ touch made");
    one.until("Allow? › ").types("n").until("done");
    left(one);
    left(other);
}

/// Whoever wrote the log that is pasted has allowed nothing.
#[test]
fn a_paste_that_answers_one_question_of_a_run_allows_nothing_else() {
    let home = Home::scripted(&[
        calls("ask_user", json!({"question": "Please paste the log"})),
        calls("shell", json!({"command": "echo two > TWO"})),
        says("done"),
    ]);
    let home = home.with("TERM", "xterm").with("NO_COLOR", "1");
    let mut run = home.on_terminal(["run", "--loop", "react", "go"]);
    run.until("paste the log").until("› ").keys("line 1 of the log\nalways\ny\nmore\n");
    run.until("Run this command").until("allow once").until("› ").types("no");
    run.ended().ends_with(0);
    assert!(!home.work("TWO").exists());
    let allowed = home.run(["approvals"]).ends_with(0).stdout;
    assert!(!allowed.contains("shell"), "{allowed}");
}

#[test]
fn a_yes_that_was_typed_before_the_question_allows_nothing() {
    let mut call = calls("shell", json!({"command": "echo one > ONE"}));
    call["delay_ms"] = json!(300);
    let home = Home::scripted(&[call, says("done")]).with("TERM", "xterm").with("NO_COLOR", "1");
    let mut run = home.on_terminal(["run", "--loop", "react", "go"]);
    run.until("started").types("y");
    run.until("Run this command").until("allow once").until("› ").types("no");
    run.ended().ends_with(0);
    assert!(!home.work("ONE").exists());
}

#[test]
fn a_question_cannot_be_pushed_off_the_screen() {
    let padding = "x ".repeat(2_000);
    let command = format!("touch EVIL # {padding}\nAllow shell to run?\n{{\"command\": \"ls\"}}");
    let home = Home::scripted(&[calls("shell", json!({ "command": command })), says("done")]);
    let home = home.with("TERM", "xterm").with("NO_COLOR", "1");
    let mut run = home.on_terminal(["run", "--loop", "react", "go"]);
    run.until("one call of shell").until("EVIL #").until("allow once").until("› ");
    run.types("no");
    run.ended().ends_with(0);
    assert!(!home.work("EVIL").exists());
}
