//! One rule for every command: a bare group lists, `--json` prints JSON, short names are the same
//! as in the chat, an empty list is an answer.

use crate::support::{Home, done, plan, says, thought};
use serde_json::json;

#[test]
fn a_bare_group_lists_and_ends_well() {
    let home = Home::new();
    home.run(["todo", "add", "milk"]).ends_with(0);
    for (args, words) in [
        (&["runs"][..], "No runs"),
        (&["todo"], "milk"),
        (&["schedule"], "schedule"),
        (&["config"], "model.default"),
        (&["secrets"], "secrets"),
        (&["view"], "today"),
        (&["approvals"], ""),
        (&["todo", "ls"], "milk"),
        (&["config", "list"], "model.default"),
        (&["runs", "ls"], "No runs"),
    ] {
        let said = home.run(args).ends_with(0);
        assert!(said.stdout.to_lowercase().contains(&words.to_lowercase()), "{args:?}: {said:?}");
        assert!(!said.stdout.trim().is_empty(), "{args:?}: an empty list is an answer: {said:?}");
    }
    home.run(["todo", "rm", "1"]).ends_with(0);
    for args in [&["runs", "--json"][..], &["config", "--json"], &["todo", "--json"]] {
        home.run(args).ends_with(0).json();
    }
}

#[test]
fn json_is_there_wherever_something_is_printed() {
    let home = Home::scripted(&[says("Hello.")]);
    let result = home.run(["run", "hi", "--loop", "react", "--json"]).ends_with(0).json();
    assert_eq!(result["status"], "succeeded");
    home.rewrite(&[says("Hello.")]);
    let result = home.run(["-p", "hi", "--loop", "react", "--json"]).ends_with(0).json();
    assert_eq!(result["text"], "Hello.", "{result}");
    let run = result["run_id"].as_str().unwrap();
    let canceled = home.run(["runs", "cancel", run, "--json"]).ends_with(0).json();
    assert_eq!(canceled, json!({"run_id": run, "result": "already_over", "status": "succeeded"}));
    let got = home.run(["config", "get", "loop.max_steps", "--json"]).ends_with(0).json();
    assert_eq!((&got["key"], &got["layer"]), (&json!("loop.max_steps"), &json!("default")));
    let set = home.run(["config", "set", "loop.max_steps", "7", "--json"]).ends_with(0).json();
    assert_eq!((&set["value"], &set["layer"]), (&json!("7"), &json!("file")));
    let memory = home.run(["memory", "--json"]).ends_with(0).json();
    assert!(memory["file"].as_str().unwrap().ends_with("MEMORY.md"), "{memory}");
    let copy = home.run(["backup", "--json"]).ends_with(0).json();
    assert_eq!(copy["runs"], 2, "{copy}");
    let file = copy["file"].as_str().unwrap();
    let restored = home.run(["restore", file, "--yes", "--json"]).ends_with(0).json();
    assert_eq!(restored["file"], file);
    let out = home.work("runs.jsonl");
    let args = ["export", "--all", "--out", out.to_str().unwrap(), "--json"];
    assert_eq!(home.run(args).ends_with(0).json()["runs"], 2);
    home.rewrite(&[plan(&["x"]), thought("x"), done("Worked.")]);
    home.run(["run", "later", "--background", "--loop", "plan-replan"]).ends_with(0);
    let worked = home.run(["worker", "--drain", "--json"]).ends_with(0).lines();
    assert!(worked.iter().any(|one| one["event"] == "finished"), "{worked:?}");
}

#[test]
fn a_run_is_named_by_the_end_of_its_id_and_json_has_all_of_it() {
    let home = Home::scripted(&[says("Hello.")]);
    home.run(["run", "hi", "--loop", "react"]).ends_with(0);
    let id = home.newest();
    let short = &id[id.len() - 8..];
    let list = home.run(["runs"]).ends_with(0).stdout;
    let row = list.lines().nth(1).unwrap();
    assert!(row.starts_with(short) && !list.contains("run_"), "{list}");
    let said = home.run(["runs", "cancel", short]).ends_with(0);
    assert!(said.stderr.contains(short) && !said.stderr.contains("run_"), "{}", said.stderr);
    assert_eq!(home.show(short)["run_id"], json!(id));
}

#[test]
fn a_model_can_be_named_wherever_a_goal_is_and_the_real_mistake_is_said() {
    let home = Home::scripted(&[says("Hello.")]);
    let model = format!("scripted/{}", home.path("script.json").display());
    let home = home.with("EVERLOOP_MODEL", "scripted/nowhere.json");
    for args in [
        &["run", "hi", "-m", &model, "--loop", "react"][..],
        &["-p", "hi", "-m", &model, "--loop", "react"],
        &["-m", &model, "--loop", "react", "-p", "hi"],
        &["--loop", "react", "--model", &model, "run", "hi"],
    ] {
        let said = home.run(args).ends_with(0);
        assert!(said.stdout.contains("Hello."), "{args:?}: {said:?}");
    }
    home.run(["--foo"]).ends_with(2).says(&["Unknown option --foo"]);
    home.run(["run", "hi", "--modle", "x"]).ends_with(2).says(&["Unknown option --modle"]);
    let question = home.work("question.txt");
    std::fs::write(&question, "hi\n").unwrap();
    let said = home.run_from(["-p", "-m", &model, "--loop", "react"], &question).ends_with(0);
    assert_eq!(said.stdout.trim(), "Hello.");
    let help = home.run(["help", "todo"]).ends_with(0);
    assert!(help.stdout.contains("everloop todo") && help.stderr.is_empty(), "{help:?}");
}
