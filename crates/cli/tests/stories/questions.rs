//! Runs that wait for a person, and outlive the process that asked.

use crate::support::{Home, ask, calls, done, of_type, plan, says, thought};
use serde_json::{Value, json};

fn asking() -> Vec<Value> {
    vec![plan(&["ask", "answer"]), ask("Which colour?"), done("It will be blue.")]
}

/// A run that waits for its answer, its process killed.
fn waiting(home: &Home) -> String {
    let mut first = home.spawn(["run", "--output-format", "stream-json", "paint it"]);
    first.until("interrupt.opened");
    let _ = first.kill9_if_alive();
    let run = home.newest();
    assert_eq!(home.status(&run), "waiting");
    run
}

#[test]
fn a_question_outlives_its_process_and_another_one_answers_it() {
    let home = Home::scripted(&asking());
    let run = waiting(&home);
    assert_eq!(home.show(&run)["text"], "Which colour?");
    let ended = home.run(["runs", "resume", &run, "--answer", "blue"]).ends_with(0);
    assert_eq!(ended.stdout, "It will be blue.\n");
    let events = home.events(&run);
    let answers = of_type(&events, "interrupt.answered");
    assert_eq!((answers.len(), &answers[0]["text"]), (1, &json!("blue")));
    home.verified(&run);
}

#[test]
fn a_run_without_an_open_question_takes_no_answer() {
    let home = Home::scripted(&asking());
    let run = waiting(&home);
    home.run(["runs", "resume", &run, "--answer", "blue"]).ends_with(0);
    let late = home.run(["runs", "resume", &run, "--answer", "red"]).ends_with(2);
    assert!(late.says(&["no open question"]).stdout.is_empty());
    assert_eq!(of_type(&home.events(&run), "interrupt.answered").len(), 1);
}

#[test]
fn row_18_the_first_answer_wins() {
    let home = Home::scripted(&asking());
    let run = waiting(&home);
    // Somebody else drives, so both answers are in the inbox before anyone reads them.
    home.rewrite(&[calls("shell", json!({"command": "sleep 1000"}))]);
    let mut busy = home.spawn(["run", "--loop", "react", "--yes", "keep busy"]);
    busy.until("shell");
    home.rewrite(&asking());
    let mut first = home.spawn(["runs", "resume", &run, "--answer", "blue"]);
    first.until("Another everloop process");
    let mut second = home.spawn(["runs", "resume", &run, "--answer", "red"]);
    second.until("already answered");
    busy.kill9();
    assert_eq!(first.ended().ends_with(0).stdout, "It will be blue.\n");
    assert_eq!(second.ended().ends_with(0).stdout, "It will be blue.\n");
    let events = home.events(&run);
    let answers = of_type(&events, "interrupt.answered");
    assert_eq!((answers.len(), &answers[0]["text"]), (1, &json!("blue")));
    home.verified(&run);
}

#[test]
fn a_waiting_run_that_is_resumed_without_an_answer_asks_again_and_waits_on() {
    let home = Home::scripted(&asking());
    let run = waiting(&home);
    for _ in 0..7 {
        let again = home.run(["runs", "resume", &run]).ends_with(3);
        assert_eq!(again.stdout, format!("{run}\n"));
        again.says(&["Which colour?", "runs resume", "--answer"]);
    }
    home.run(["runs", "resume", &run, "--answer", "blue"]).ends_with(0);
}

#[test]
fn react_asks_through_its_tool_and_the_model_reads_the_answer() {
    let question = calls("ask_user", json!({"question": "Which one?"}));
    let home = Home::scripted(&[question, says("The second.")]);
    let asked = home.run(["run", "--loop", "react", "choose"]).ends_with(3);
    let run = asked.stdout.trim().to_owned();
    asked.says(&["Which one?"]);
    let ended = home.run(["runs", "resume", &run, "--answer", "the second"]).ends_with(0);
    assert_eq!(ended.stdout, "The second.\n");
    let events = home.events(&run);
    assert_eq!(of_type(&events, "tool.completed")[0]["result"], "the second");
    home.verified(&run);
}

#[test]
fn an_answer_of_spaces_is_refused_and_the_question_stays_open() {
    let home = Home::scripted(&asking());
    let run = waiting(&home);
    home.run(["runs", "resume", &run, "--answer", "  "]).ends_with(2);
    assert_eq!(home.status(&run), "waiting");
}

#[test]
fn two_questions_are_answered_one_after_the_other() {
    let replanned = crate::support::reply(
        &json!({"status": "replanned", "plan": [{"task": "ask again", "completed": false}]}),
    );
    let home = Home::scripted(&[
        plan(&["ask"]),
        ask("First?"),
        replanned,
        ask("Second?"),
        done("Both known."),
        thought("never reached"),
    ]);
    let run = home.run(["run", "ask twice"]).ends_with(3).stdout.trim().to_owned();
    let second = home.run(["runs", "resume", &run, "--answer", "one"]).ends_with(3);
    second.says(&["Second?"]);
    let ended = home.run(["runs", "resume", &run, "--answer", "two"]).ends_with(0);
    assert_eq!(ended.stdout, "Both known.\n");
    home.verified(&run);
}
