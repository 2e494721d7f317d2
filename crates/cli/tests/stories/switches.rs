//! Going on under another loop: in a chat, from elsewhere, while the run waits, and after a kill.

use crate::support::{Home, ask, calls, done, eventually, of_type, plan, says, slow, thought};
use serde_json::{Value, json};

/// A react run whose command waits at a gate and then a little, for letters of other processes are
/// looked for now and then; and what plan-replan makes of it afterwards.
fn gated() -> Home {
    let home = Home::scripted(&[
        calls("shell", json!({"command": "echo begun > begun; cat gate; sleep 0.5"})),
        plan(&["tell"]),
        thought("the gate is open"),
        done("It was open."),
    ]);
    let made = std::process::Command::new("mkfifo").arg(home.work("gate")).status().unwrap();
    assert!(made.success());
    home
}

fn open_gate(home: &Home) {
    eventually("the command", || home.work("begun").exists().then_some(()));
    std::fs::write(home.work("gate"), "open\n").unwrap();
}

/// The run that went on in place of another, after everything about both was checked.
#[track_caller]
fn heir(home: &Home, first: &str, loop_name: &str) -> String {
    let shown = home.show(first);
    assert_eq!(shown["status"], "canceled", "{shown}");
    let forks: Vec<&str> = shown["forks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fork| fork["run_id"].as_str().unwrap())
        .collect();
    let [heir] = forks.as_slice() else { panic!("{forks:?}") };
    let words = shown["text"].as_str().unwrap();
    assert!(words.contains(heir) && words.contains(loop_name), "{words}");
    assert_eq!(home.show(heir)["loop"], loop_name);
    home.verified(first);
    home.verified(heir);
    (*heir).to_owned()
}

#[test]
fn loop_in_the_middle_of_a_chat_run_finishes_the_call_and_goes_on_under_the_other_loop() {
    let home = gated().with("TERM", "xterm").with("NO_COLOR", "1");
    let mut chat = home.on_terminal(["chat", "--loop", "react", "--yes"]);
    chat.until("You › ").types("what is behind the gate?").until("→ ");
    chat.types("/loop plan-repaln").until("Did you mean plan-replan?");
    chat.types("/loop react").until("already uses react").until("New goals use the react loop");
    chat.types("/loop plan-replan").until("stops at its next step boundary");
    let first = home.newest();
    assert_eq!(home.status(&first), "running", "the command is under way");
    open_gate(&home);
    chat.until("✔ ").until("continues under plan-replan as ").until("It was open.");
    // Later goals are the new loop's, too.
    chat.until("You › ").types("/loop").until("* plan-replan").until("You › ").presses(4);
    chat.ended().ends_with(0);
    let heir = heir(&home, &first, "plan-replan");
    assert_eq!(home.status(&heir), "succeeded");
    let events = home.events(&first);
    assert_eq!(of_type(&events, "tool.completed").len(), 1, "{events:?}");
    assert!(home.events(&heir).iter().all(|event| event["type"] != "tool.started"));
}

#[test]
fn a_run_that_another_process_drives_is_switched_from_elsewhere_and_both_follow() {
    let home = gated();
    let run = home.spawn(["run", "--loop", "react", "--yes", "what is behind the gate?"]);
    eventually("the command", || home.work("begun").exists().then_some(()));
    let first = home.newest();
    home.run(["runs", "switch", &first, "--loop", "plan-repaln"])
        .ends_with(2)
        .says(&["Did you mean plan-replan?"]);
    let mut other = home.spawn(["runs", "switch", &first, "--loop", "plan-replan"]);
    other.until("stops at its next step boundary");
    open_gate(&home);
    let run = run.ended().ends_with(0).says(&["continues under plan-replan as "]);
    assert_eq!(run.stdout, "It was open.\n");
    assert_eq!(other.ended().ends_with(0).stdout, "It was open.\n");
    heir(&home, &first, "plan-replan");
    let over = home.run(["runs", "switch", &first, "--loop", "hybrid"]).ends_with(2);
    assert!(over.stderr.contains("has already ended"), "{}", over.stderr);
}

#[test]
fn a_run_that_waits_for_an_answer_goes_on_without_it() {
    for (lang, words) in [("en", "continues under react as "), ("zh-CN", "已换成 react 循环，以 ")]
    {
        let home = Home::scripted(&[plan(&["ask"]), ask("which day?"), says("Monday then.")]);
        let home = home.with("EVERLOOP_LANG", lang);
        let chat = home.chat(&["make a date", "/loop react"]).ends_with(0).says(&[words]);
        assert!(chat.stdout.ends_with("Monday then.\n"), "{}", chat.stdout);
        let list = home.run(["runs", "list", "--json"]).ends_with(0).json();
        let ids: Vec<&str> = list["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["run_id"].as_str().unwrap())
            .collect();
        let [second, first] = ids.as_slice() else { panic!("{ids:?}") };
        assert_eq!(heir(&home, first, "react"), *second);
    }
}

#[test]
fn a_switch_that_was_accepted_outlives_a_kill() {
    let home = Home::scripted(&[slow(says("never said"))]);
    let mut run = home.spawn(["run", "--loop", "react", "--output-format", "stream-json", "talk"]);
    run.until("step.started");
    let first = home.newest();
    let mut other = home.spawn(["runs", "switch", &first, "--loop", "autonomous"]);
    other.until("stops at its next step boundary");
    other.kill9();
    run.kill9();
    assert_eq!(home.show(&first)["forks"], json!([]), "nothing was forked yet");
    home.rewrite(&[says("<final>It was said.</final>")]);
    home.run(["worker", "--drain"]).ends_with(0);
    let heir = heir(&home, &first, "autonomous");
    assert_eq!(home.show(&heir)["text"], Value::from("It was said."));
}

/// A run that waits for an answer; whoever takes over wants to touch a file.
fn touching() -> Home {
    let touch = calls("shell", json!({"command": "echo x >> made"}));
    Home::scripted(&[plan(&["ask"]), ask("which day?"), touch, says("It is made.")])
}

#[test]
fn what_the_first_run_was_allowed_is_said_anew_for_the_one_that_goes_on() {
    let home = touching();
    let first = home.run(["run", "--loop", "plan-replan", "--yes", "make it"]).ends_with(3);
    let first = first.stdout.trim().to_owned();
    let asked = home.run(["runs", "switch", &first, "--loop", "react"]).ends_with(3);
    asked.says(&["Run this command?"]);
    assert!(!home.work("made").exists());

    let home = touching();
    let first = home.run(["run", "--loop", "plan-replan", "make it"]).ends_with(3);
    let first = first.stdout.trim().to_owned();
    let ended = home.run(["runs", "switch", &first, "--loop", "react", "--yes"]).ends_with(0);
    assert_eq!((ended.stdout.as_str(), home.read("made").as_str()), ("It is made.\n", "x\n"));
    heir(&home, &first, "react");
}

#[test]
fn what_a_chat_was_allowed_holds_for_the_run_that_goes_on() {
    for (args, made) in [(&["chat", "--yes"][..], true), (&["chat"], false)] {
        let home = touching();
        let mut chat = home.piped(args);
        chat.hears(&["make it", "/loop react"]);
        let chat = chat.ended().ends_with(if made { 0 } else { 3 });
        assert_eq!(home.work("made").exists(), made, "{}", chat.stdout);
        assert_eq!(chat.stdout.contains("Run this command?"), !made, "{}", chat.stdout);
        assert_eq!(chat.stdout.ends_with("It is made.\n"), made, "{}", chat.stdout);
    }
}

#[test]
fn a_quiet_chat_says_nothing_of_a_switch() {
    let lines = ["make a date", "/loop react"];
    for (args, said) in [(&["chat", "-q"][..], false), (&["chat"], true)] {
        let home = Home::scripted(&[plan(&["ask"]), ask("which day?"), says("Monday then.")]);
        let mut chat = home.piped(args);
        chat.hears(&lines);
        let chat = chat.ended().ends_with(0);
        assert!(chat.stdout.ends_with("Monday then.\n"), "{}", chat.stdout);
        for words in ["continues under react", "stops at its next step boundary"] {
            assert_eq!(chat.stderr.contains(words), said, "{}", chat.stderr);
        }
    }
}
