//! Runs that hand a task to others.

use crate::support::{Home, calls, eventually, goes_on, of_type, plan, says, short, slow};
use serde_json::{Value, json};

fn hands_on() -> Vec<Value> {
    vec![calls("delegate", json!({"task": "look into the cellar"})), says("The cellar is dry.")]
}

/// A home whose model hands a task on, and says this to whoever works on it.
fn family(replies: &[Value]) -> Home {
    let home = Home::scripted(&[]);
    home.rewrite_with(&hands_on(), "cellar", replies);
    home
}

/// The one child of a run.
fn child(home: &Home, run: &str) -> String {
    let shown = home.show(run);
    let children = shown["children"].as_array().unwrap();
    assert_eq!(children.len(), 1, "{shown}");
    children[0]["run_id"].as_str().unwrap().to_owned()
}

/// The run that nobody delegated.
fn parent(home: &Home) -> String {
    let list = home.run(["runs", "list", "--json"]).ends_with(0).json();
    let rows = list["data"].as_array().unwrap().clone();
    let top = rows.iter().find(|row| row["parent"].is_null()).unwrap();
    top["run_id"].as_str().unwrap().to_owned()
}

const GOAL: [&str; 4] = ["run", "--loop", "react", "is it wet?"];

#[test]
fn a_child_does_its_task_and_the_parent_reads_its_answer() {
    let home = family(&[calls("list_dir", json!({"path": "."})), says("No water anywhere.")]);
    let ended = home.run(GOAL).ends_with(0).says(&["\u{21b3}", "list .", "No water anywhere."]);
    assert_eq!(ended.stdout, "The cellar is dry.\n");
    let run = parent(&home);
    let shown = home.show(&run);
    // Two calls of its own and two of its child's; delegate and list_dir.
    assert_eq!((&shown["model_calls"], &shown["tool_calls"]), (&json!(4), &json!(2)));
    let below = child(&home, &run);
    assert_eq!(home.show(&below)["parent"], json!(run));
    let tree = home.run(["runs", "tree", &run]).ends_with(0).stdout;
    let lines: Vec<&str> = tree.lines().collect();
    let below_line = format!("\u{21b3} {}", short(&below));
    assert!(lines[0].starts_with(short(&run)) && lines[1].starts_with(&below_line), "{tree}");
    let tree = home.run(["runs", "tree", &run, "--json"]).ends_with(0).json();
    assert_eq!(tree["children"][0]["run_id"], json!(below));
    let events = home.events(&run);
    assert_eq!(of_type(&events, "child.started")[0]["child"], json!(below));
    assert_eq!(of_type(&events, "child.ended")[0]["status"], json!("succeeded"));
    home.verified(&run);
    home.verified(&below);
}

#[test]
fn a_childs_question_is_asked_and_answered_through_its_parent() {
    let ask = calls("ask_user", json!({"question": "Which cellar?"}));
    let home = family(&[ask, says("The left one is dry.")]);
    let asked = home.run(GOAL).ends_with(3).says(&["Which cellar?"]);
    let run = parent(&home);
    assert_eq!(asked.stdout.trim(), run);
    assert_eq!(home.status(&child(&home, &run)), "waiting");
    let ended = home.run(["runs", "resume", &run, "--answer", "the left one"]).ends_with(0);
    assert_eq!(ended.stdout, "The cellar is dry.\n");
    assert_eq!(of_type(&home.events(&child(&home, &run)), "interrupt.answered").len(), 1);
}

/// `--yes` is for the run that a person began, and for no other.
#[test]
fn a_child_does_not_inherit_the_leave_to_do_everything() {
    let home = family(&[calls("shell", json!({"command": "echo wet"})), says("Done.")]);
    home.run(["run", "--yes", "--loop", "react", "is it wet?"]).ends_with(3).says(&["echo wet"]);
    let run = parent(&home);
    home.run(["runs", "resume", &run, "--answer", "no"]).ends_with(0);
    assert_eq!(of_type(&home.events(&child(&home, &run)), "tool.failed").len(), 1);
}

#[test]
fn a_cancel_of_the_parent_ends_the_child_that_is_at_work() {
    let home = family(&[slow(says("never said"))]);
    let first = home.spawn(GOAL);
    let run = eventually("a child", || {
        let list = home.run(["runs", "list", "--json", "--status", "waiting"]).json();
        list["data"][0]["run_id"].as_str().map(str::to_owned)
    });
    home.run(["runs", "cancel", &run]).ends_with(0);
    first.ended().ends_with(130);
    assert_eq!(home.status(&run), "canceled");
    assert_eq!(home.status(&child(&home, &run)), "canceled");
}

/// RA-16: under another loop it has that loop's limit of steps; a limit that somebody set is its
/// own as well.
#[test]
fn a_child_has_the_limits_of_its_own_loop() {
    let list = |n: u32| goes_on("todo", json!({"command": format!("/todo list --tag t{n}")}));
    let mut replies = vec![plan(&["look ten times"])];
    replies.extend((0..10).map(list));
    let home = Home::scripted(&[]);
    let task = json!({"task": "look into the cellar", "loop": "plan-replan"});
    let hands_on = [calls("delegate", task), says("The cellar is dry.")];
    for (limit, set) in [("20", "ui.language=en"), ("6", "loop.max_steps=6")] {
        home.rewrite_with(&hands_on, "cellar", &replies);
        let model = format!("scripted/{}", home.path("script.json").display());
        let args = ["--model", &model, "--set", set];
        home.run(GOAL.iter().chain(&args)).ends_with(0);
        let run = home.run(["runs", "list", "--json", "--status", "failed"]).ends_with(0).json();
        let child = home.show(run["data"][0]["run_id"].as_str().unwrap());
        let reached = format!("The step limit was reached ({limit})");
        assert!(child["text"].as_str().unwrap().starts_with(&reached), "{child}");
    }
}

#[test]
fn a_kill_while_the_child_works_resumes_the_whole_tree() {
    let write = calls("write_file", json!({"path": "a.txt", "content": "dry"}));
    let home = family(&[write.clone(), slow(says("Written."))]);
    let mut first = home.spawn(["run", "--loop", "react", "--output-format", "stream-json", "go"]);
    first.until("child.started");
    eventually("the file", || (home.read("a.txt") == "dry").then_some(()));
    first.kill9();
    let run = parent(&home);
    assert_eq!(home.status(&run), "waiting");
    home.rewrite_with(&hands_on(), "cellar", &[write, says("Written.")]);
    let ended = home.run(["runs", "resume", &run]).ends_with(0);
    assert_eq!(ended.stdout, "The cellar is dry.\n");
    let below = child(&home, &run);
    assert_eq!(home.status(&below), "succeeded");
    assert_eq!(of_type(&home.events(&run), "child.started").len(), 1);
    home.verified(&run);
    home.verified(&below);
}

#[test]
fn a_run_that_waits_for_its_child_is_not_forked() {
    let ask = calls("ask_user", json!({"question": "Which cellar?"}));
    let home = family(&[ask, says("The left one is dry.")]);
    home.run(GOAL).ends_with(3);
    let run = parent(&home);
    let below = child(&home, &run);
    home.run(["fork", &run]).ends_with(1).says(&["waits here for its child", &below]);
}

/// Whoever answers in a chat wants the answer of the run that they began.
#[test]
fn a_chat_goes_on_with_the_parent_after_a_childs_question_was_answered() {
    let ask = calls("ask_user", json!({"question": "Which cellar?"}));
    let home = family(&[ask, says("The left one is dry.")]).with("AGENT_MODE", "react");
    let said = home.chat(&["is it wet?", "the left one"]).ends_with(0).stdout;
    let (question, answer) = (said.find("Which cellar?"), said.find("The cellar is dry."));
    assert!(question.is_some() && question < answer, "{said}");
}
