//! What a person is told at the end, and on the way: what failed, what is open, where a round is.

use crate::support::{Home, calls, of_type, says};
use everloop_models::ScriptedReply;
use everloop_models::testing::FakeServer;
use serde_json::{Value, json};

const MARK: &str = "[ANALYSIS_COMPLETE]";

fn two() -> Value {
    let todo = |id: &str| json!({"id": id, "content": format!("do {id}"), "status": "pending"});
    calls("todo_write", json!({"todos": [todo("one"), todo("two")], "merge": false}))
}

#[test]
fn items_that_all_failed_are_named_and_the_run_fails() {
    let mut replies = vec![two()];
    replies.extend(vec![says("I did it, honest."); 6]);
    replies.push(says("Everything was done."));
    let home = Home::scripted(&replies);
    let ran = home.run(["run", "--loop", "task-driven", "do two"]).ends_with(1);
    assert_eq!(ran.stdout, "Everything was done.\n\nFailed:\n- one: do one\n- two: do two\n");
    home.verified(&home.newest());
}

#[test]
fn items_that_stayed_open_are_named_beside_the_report() {
    let home = Home::scripted(&[two(), says("done"), says("Everything was done.")]);
    let ran = home.run(["run", "--loop", "hybrid", "do two"]).ends_with(0);
    assert_eq!(ran.stdout, "Everything was done.\n\nNot done:\n- one: do one\n- two: do two\n");
}

#[test]
fn the_completion_mark_is_in_no_stream_no_event_and_no_story() {
    let text = format!("Report {MARK} text here. {MARK}");
    for chunk in [1, 3, 7, 100] {
        let server = FakeServer::openai(vec![ScriptedReply::says(&text).in_chunks(chunk)]);
        let home = Home::new().endpoint(&server.url());
        let args = ["run", "--loop", "react", "--output-format", "stream-json", "report"];
        let ran = home.run(args).ends_with(0);
        let run = home.newest();
        let events = home.run(["runs", "events", &run]).ends_with(0).stdout;
        let story = home.run(["replay", &run]).ends_with(0).stdout;
        for shown in [&ran.stdout, &events, &story] {
            assert!(!shown.contains("ANALYSIS"), "{shown}");
        }
        let last = home.events(&run).last().unwrap()["seq"].as_i64().unwrap();
        for seq in 1..=last {
            for form in [&[][..], &["--json"]] {
                let at = ["replay", &run, "--at", &seq.to_string()];
                let shown = home.run(at.iter().chain(form)).ends_with(0).stdout;
                assert!(!shown.contains("ANALYSIS"), "at {seq}: {shown}");
            }
        }
        let lines = ran.lines();
        let deltas = of_type(&lines, "message.delta").into_iter();
        let streamed: String = deltas.map(|delta| delta["text"].as_str().unwrap()).collect();
        assert_eq!(streamed.trim_end(), "Report text here.");
        assert_eq!(home.show(&run)["text"], "Report text here.");
    }
}

/// Models that think aloud write tags in every loop; people see none of them.
#[test]
fn tags_around_an_answer_are_in_no_stream_no_event_and_no_story() {
    let text = "<think>It may be three.</think>\n<final>It is three.</final>";
    for chunk in [1, 5, 100] {
        let server = FakeServer::openai(vec![ScriptedReply::says(text).in_chunks(chunk)]);
        let home = Home::new().endpoint(&server.url());
        let args = ["run", "--loop", "react", "--output-format", "stream-json", "how many?"];
        let ran = home.run(args).ends_with(0);
        let run = home.newest();
        let events = home.run(["runs", "events", &run]).ends_with(0).stdout;
        let story = home.run(["replay", &run]).ends_with(0).stdout;
        for shown in [&ran.stdout, &events, &story] {
            assert!(!shown.contains("final>") && !shown.contains("think>"), "{shown}");
        }
        let lines = ran.lines();
        let deltas = of_type(&lines, "message.delta").into_iter();
        let streamed: String = deltas.map(|delta| delta["text"].as_str().unwrap()).collect();
        assert_eq!(streamed, "It is three.");
        assert_eq!(home.show(&run)["text"], "It is three.");
    }
}

fn round(file: &str) -> Value {
    let write =
        |name: String| json!({"tool": "write_file", "arguments": {"path": name, "content": "x"}});
    let steps = [write(format!("{file}1")), write(format!("{file}2"))];
    calls("plan_tool_call", json!({"steps": steps, "reasoning": "both"}))
}

fn thinks(summary: &str, completed: bool) -> Value {
    calls("think", json!({"user_summary": summary, "task_completed": completed}))
}

fn two_rounds() -> Vec<Value> {
    vec![
        round("a"),
        thinks(&format!("Half {MARK} is there."), false),
        round("b"),
        thinks("All is there.", true),
    ]
}

const ROUNDS: [&str; 5] = ["run", "--loop", "plan-execute-think", "--yes", "write four"];

/// The source's words for work that is done and that nobody sums up.
#[test]
fn a_task_that_was_done_and_not_summed_up_is_said_to_be_carried_out() {
    let mut replies = vec![round("a")];
    replies.extend(vec![says("{\"user_summary\":1}"); 6]);
    replies.push(says(""));
    let home = Home::scripted(&replies).with("EVERLOOP_LANG", "zh-CN");
    let ran = home.run(ROUNDS).ends_with(1).stdout;
    assert!(
        ran.starts_with("任务执行完成\n已完成：\n- write_file a1：已写入 a1（1 字节）\n"),
        "{ran}"
    );
}

#[test]
fn rounds_and_steps_are_told_as_what_they_are() {
    let home = Home::scripted(&two_rounds());
    let ran = home.run(ROUNDS).ends_with(0);
    ran.says(&[
        "▸ Round 1 of 5, step 1 of 2",
        "▸ Round 1 of 5, step 2 of 2",
        "▸ Round 1 of 5, 2 of 2 steps run",
        "Half is there.",
        "▸ Round 2 of 5, step 1 of 2",
    ]);
    let home = Home::scripted(&two_rounds());
    let result = home.run(ROUNDS.iter().chain(&["--output-format", "json"])).ends_with(0).json();
    assert_eq!((&result["rounds"], &result["steps"]), (&json!(2), &json!(4)));
    assert_eq!(home.show(&home.newest())["rounds"], 2);
}

#[test]
fn the_last_summary_is_said_once() {
    let home = Home::scripted(&two_rounds());
    let ran = home.run(ROUNDS).ends_with(0);
    assert_eq!(
        (ran.stdout.as_str(), ran.stderr.contains("All is there.")),
        ("All is there.\n", false)
    );
}

#[test]
fn a_list_of_runs_keeps_its_columns_and_speaks_the_readers_language() {
    let home = Home::scripted(&two_rounds());
    home.run(ROUNDS).ends_with(0);
    home.rewrite(&[says("hi")]);
    home.run(["run", "--loop", "react", "hello"]).ends_with(0);
    for (lang, word) in [("en", "succeeded"), ("zh-CN", "成功")] {
        let list = home.run(["--lang", lang, "runs", "list"]).ends_with(0).stdout;
        let place = |line: &str| {
            let before = line.split_once("T").map_or("", |(before, _)| before);
            before.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum::<usize>()
        };
        let places: Vec<usize> = list.lines().map(place).collect();
        assert_eq!(places[0], places[1], "{list}");
        assert_eq!(list.matches(word).count(), 2, "{list}");
        let shown = home.run(["--lang", lang, "runs", "show", &home.newest()]).ends_with(0).stdout;
        let story = home.run(["--lang", lang, "replay", &home.newest()]).ends_with(0).stdout;
        assert!(shown.contains(word) && story.contains(word), "{shown}{story}");
    }
    assert_eq!(home.show(&home.newest())["status"], "succeeded");
}
