//! A chat that swallows nothing: what was typed is answered, kept or said back.

use crate::support::{Home, Terminal, ask, done, plan, replanned, slow, thought};
use everloop_models::Scripted;
use everloop_models::testing::FakeServer;
use rustix::process::Signal;
use serde_json::Value;

const PROMPT: &str = "You › ";

fn on_terminal(home: Home) -> Home {
    home.with("TERM", "xterm").with("NO_COLOR", "1")
}

/// A chat whose prompt waits.
fn open(home: &Home) -> Terminal {
    let mut chat = home.on_terminal(["chat"]);
    chat.until(PROMPT);
    chat
}

fn text_of(reply: &Value) -> Scripted {
    Scripted::says(reply["text"].as_str().unwrap())
}

/// The goals of all runs, the newest first.
fn goals(home: &Home) -> Vec<String> {
    let list = home.run(["runs", "list", "--json"]).ends_with(0).json();
    let rows = list["data"].as_array().unwrap();
    rows.iter().map(|row| row["goal"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_answer_is_part_of_the_conversation_and_the_next_goal_hears_of_it() {
    let first = [plan(&["ask"]), ask("when?"), replanned(&[("say so", false)]), thought("so be it")];
    let then = [done("ok then"), plan(&["more"]), thought("well"), done("and more")];
    let server = FakeServer::openai(first.iter().chain(&then).map(text_of).collect());
    let home = Home::new().endpoint(&server.url());
    let lines = ["the goal", "ZEBRA", "/history", "/export chat", "next goal"];
    let chat = home.chat(&lines).ends_with(0).stdout;
    assert_eq!(chat.matches("you: ZEBRA\n").count(), 2, "{chat}");
    let order = ["you: the goal", "assistant: Please confirm: when?", "you: ZEBRA", "ok then"];
    let history = &chat[chat.find("you: the goal").unwrap()..];
    let at: Vec<usize> = order.iter().map(|words| history.find(words).unwrap()).collect();
    assert!(at.is_sorted(), "{history}");
    let asked = server.seen();
    let next = asked.iter().map(|seen| seen.json().to_string());
    let next = next.filter(|body| body.contains("next goal")).next().unwrap();
    assert!(next.contains("user: ZEBRA"), "{next}");
    home.verified(&home.newest());
}

#[test]
fn a_line_after_a_question_that_was_answered_elsewhere_is_a_new_goal() {
    let script =
        [plan(&["ask"]), ask("when?"), replanned(&[("say", false)]), thought("x"), done("answered!")];
    let home = on_terminal(Home::scripted(&script));
    let mut chat = open(&home);
    chat.types("plan it").until("Please confirm: when?").until(PROMPT);
    let run = home.newest();
    home.run(["runs", "resume", &run, "--answer", "two"]);
    chat.until("ended: succeeded").until("answered!").until(PROMPT);
    chat.types("a new goal").until("Please confirm: when?").until(PROMPT).presses(4);
    chat.ended().ends_with(0);
    assert_eq!(goals(&home), ["a new goal", "plan it"]);
}

/// The same where the window could not hear of the end: another process drives.
#[test]
fn a_line_after_a_question_whose_run_ended_unheard_is_a_new_goal() {
    let script =
        [plan(&["ask"]), ask("when?"), replanned(&[("say", false)]), thought("x"), done("answered!")];
    let home = Home::scripted(&script);
    let mut first = home.piped(["chat"]);
    first.hears(&["plan it"]);
    first.until("Please confirm: when?");
    let run = home.newest();
    let mut second = home.piped(["chat"]);
    second.until("Please confirm: when?");
    first.hears(&["two"]);
    first.until("answered!");
    second.hears(&["a new goal"]);
    second.until("Please confirm: when?");
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
    second.says(&["Not finished last time", &format!("run {run} my goal: goes on")]);
    home.verified(&run);
}
