//! Settings and arguments that do not fit.

use crate::support::{Home, calls, goes_on, plan, says};
use serde_json::{Value, json};

const RUN: [&str; 4] = ["run", "--loop", "react", "go"];

fn with_file(text: &str) -> Home {
    let home = Home::scripted(&[says("done")]);
    std::fs::write(home.data().join("config.toml"), text).unwrap();
    home
}

#[test]
fn an_unknown_key_in_the_file_is_a_warning_with_the_nearest_name() {
    let home = with_file("[loop]\nmax_stepz = 3\n");
    let ran = home.run(RUN).ends_with(0);
    ran.says(&["loop.max_stepz", "config.toml", "Did you mean loop.max_steps?"]);
}

#[test]
fn an_unknown_key_on_the_command_line_is_an_error_with_the_nearest_name() {
    let home = Home::scripted(&[says("done")]);
    let ran = home.run(RUN.iter().chain(&["--set", "loop.max_stepz=3"])).ends_with(2);
    assert!(ran.stdout.is_empty());
    ran.says(&["loop.max_stepz", "--set", "Did you mean loop.max_steps?"]);
    home.run(RUN.iter().chain(&["--set", "loop.max_steps"])).ends_with(2).says(&["equals sign"]);
}

#[test]
fn wrong_types_and_units_are_named_with_a_form_that_fits() {
    let home = Home::scripted(&[says("done")]);
    for (set, words) in [
        ("loop.max_steps=many", "0..1000000"),
        ("loop.max_steps=-1", "0..1000000"),
        ("model.patience=8", "500ms, 8s"),
        ("model.patience=8 parsecs", "500ms, 8s"),
        ("model.reply_max=8m", "64KiB"),
        ("model.temperature=warm", "0..2"),
        ("loop.default=reakt", "react"),
    ] {
        let ran = home.run(RUN.iter().chain(&["--set", set])).ends_with(2);
        ran.says(&[set.split('=').next().unwrap(), words]);
    }
    for file in ["[model]\npatience = 8\n", "[loop]\nmax_steps = \"many\"\n"] {
        with_file(file).run(RUN).ends_with(5).says(&["config.toml", "Invalid value"]);
    }
    let home = home.with("EVERLOOP_LOOP__MAX_STEPS", "lots");
    home.run(RUN).ends_with(5).says(&["EVERLOOP_LOOP__MAX_STEPS"]);
}

#[test]
fn the_step_limit_comes_from_file_environment_and_flag_and_ends_react_in_words() {
    let looking = || Home::scripted(&[calls("list_dir", json!({"path": "."})), says("last words")]);
    let from_file = looking();
    std::fs::write(from_file.data().join("config.toml"), "[loop]\nmax_steps = 1\n").unwrap();
    let from_environment = looking().with("EVERLOOP_LOOP__MAX_STEPS", "1");
    let flag = ["--set", "loop.max_steps=1"];
    for (home, more) in [(from_file, &[][..]), (from_environment, &[][..]), (looking(), &flag[..])]
    {
        let ran = home.run(RUN.iter().chain(more)).ends_with(4);
        assert!(ran.stdout.contains("[Step limit of 1 reached]"), "{}", ran.stdout);
        assert_eq!(home.status(&home.newest()), "failed");
        home.verified(&home.newest());
    }
}

#[test]
fn the_step_limit_ends_a_planned_run_in_words() {
    let home = Home::scripted(&[plan(&["one"]), goes_on("list_dir", json!({"path": "."}))]);
    let ran = home.run(["run", "--set", "loop.max_steps=1", "go"]).ends_with(4);
    for words in ["step limit was reached (1)", "Done so far", "What to do next"] {
        assert!(ran.stdout.contains(words), "{words} is not in {}", ran.stdout);
    }
    home.verified(&home.newest());
}

#[test]
fn a_file_that_is_no_toml_is_named_and_nothing_starts() {
    let home = with_file("[loop\nmax_steps = ");
    let ran = home.run(RUN).ends_with(5);
    assert!(ran.says(&["config.toml", "not valid TOML"]).stdout.is_empty());
    assert!(!home.database().exists());
}

#[test]
fn without_a_model_one_line_says_how_to_configure_one() {
    let home = Home::new();
    let ran = home.run(["run", "go"]).ends_with(5);
    let ran = ran.says(&["EVERLOOP_MODEL", "OPENAI_API_KEY", "everloop config setup"]);
    assert_eq!(ran.stderr.lines().count(), 1);
    assert!(!home.database().exists());
}

#[test]
fn a_model_that_cannot_be_used_is_named() {
    for (model, words) in [
        ("gpt", "has no provider"),
        ("hub", "has no provider"),
        ("scripted/none.json", "none.json"),
    ] {
        let home = Home::new().with("EVERLOOP_MODEL", model);
        home.run(["run", "go"]).ends_with(5).says(&[model, words]);
    }
    let home = Home::new().with("EVERLOOP_MODEL", "openai/x").with("OPENAI_BASE_URL", "ftp://x");
    home.run(["run", "go"]).ends_with(5).says(&["ftp://x"]);
}

#[test]
fn a_loop_that_does_not_exist_is_named_with_the_nearest() {
    let home = Home::scripted(&[says("done")]);
    let ran = home.run(["run", "--loop", "reakt", "go"]).ends_with(2);
    ran.says(&["reakt", "Did you mean react?", "plan-replan"]);
}

#[test]
fn an_empty_goal_and_a_workspace_that_is_not_there_are_named() {
    let home = Home::scripted(&[says("done")]);
    home.run(["run", "  "]).ends_with(2).says(&["The goal is empty"]);
    home.run(["run"]).ends_with(2);
    let missing = ["run", "--workspace", "no/such/folder", "go"];
    home.run(missing).ends_with(2).says(&["no/such/folder"]);
    std::fs::write(home.work("file"), "x").unwrap();
    home.run(["run", "--workspace", "file", "go"]).ends_with(2).says(&["not a folder"]);
    assert!(!home.database().exists());
}

#[test]
fn tools_work_in_the_workspace_that_was_chosen() {
    let write = calls("write_file", json!({"path": "a.txt", "content": "x"}));
    let home = Home::scripted(&[write, says("done")]);
    std::fs::create_dir(home.work("deep")).unwrap();
    home.run(["run", "--loop", "react", "--workspace", "deep", "go"]).ends_with(0);
    assert_eq!((home.read("deep/a.txt").as_str(), home.work("a.txt").exists()), ("x", false));
}

#[test]
fn a_workspace_that_is_gone_is_news_for_the_model_of_a_resumed_run() {
    let shell = calls("shell", json!({"command": "true"}));
    let home = Home::scripted(&[shell, says("The folder is gone.")]);
    std::fs::create_dir(home.work("deep")).unwrap();
    let args = ["run", "--loop", "react", "--workspace", "deep", "go"];
    let id = home.run(args).ends_with(3).stdout.trim().to_owned();
    std::fs::remove_dir(home.work("deep")).unwrap();
    let ended = home.run(["runs", "resume", &id, "--answer", "y"]).ends_with(0);
    assert_eq!(ended.stdout, "The folder is gone.\n");
    home.verified(&id);
}

#[test]
fn rounds_are_fitted_to_the_goal_where_the_settings_leave_them_to_it() {
    let thought = json!({"internal_analysis": "", "user_summary": "Done.",
        "task_completed": false, "next_steps_preview": ""});
    let step = json!({"steps": [{"tool": "list_dir", "arguments": {"path": "."}}],
        "reasoning": "look", "estimated_steps": 1});
    let round = || [calls("plan_tool_call", step.clone()), calls("think", thought.clone())];
    let replies: Vec<Value> = std::iter::repeat_with(round).take(6).flatten().collect();
    for (goal, rounds) in [("look", 2), ("look here, look there, then look again", 3)] {
        let home = Home::scripted(&replies).with("EVERLOOP_LOOP__PRESET", "auto");
        home.run(["run", "--loop", "plan-execute-think", goal]).ends_with(4);
        assert_eq!(home.show(&home.newest())["steps"], json!(rounds), "{goal}");
        home.rewrite(&[&[says("Hm.")], replies.as_slice()].concat());
        home.run(["run", "--loop", "react", goal]).ends_with(0);
        let parent = home.newest();
        home.run(["fork", &parent, "--loop", "plan-execute-think"]).ends_with(4);
        assert_eq!(home.show(&home.newest())["steps"], json!(rounds), "a fork of {goal}");
    }
}
