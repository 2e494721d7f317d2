//! `everloop audit`: every tool call, told once, from the journal alone.

use crate::support::{Home, calls, says};
use serde_json::{Value, json};

const FIELDS: [&str; 21] = [
    "approved_by",
    "arguments",
    "attempt",
    "copied",
    "duration_ms",
    "effect",
    "ending",
    "event",
    "forked_from",
    "imported",
    "loop",
    "parent_run_id",
    "result",
    "run_id",
    "seq",
    "session_id",
    "time",
    "tool",
    "ts",
    "turn_id",
    "user_message",
];

fn audited(home: &Home, more: &[&str]) -> Vec<Value> {
    home.run(["audit", "--json", "--event", "tool_call"].iter().chain(more)).ends_with(0).lines()
}

fn home() -> Home {
    let home = Home::scripted(&[
        calls("read_file", json!({"path": "none.txt"})),
        calls("shell", json!({"command": "echo done"})),
        says("Done."),
    ]);
    home.run(["run", "--loop", "react", "--yes", "do it"]).ends_with(0);
    home
}

#[test]
fn every_call_is_told_with_all_that_is_known_of_it() {
    let home = home();
    let all = audited(&home, &[]);
    let tools: Vec<&Value> = all.iter().map(|call| &call["tool"]).collect();
    assert_eq!(tools, ["read_file", "shell"]);
    for call in &all {
        let names: Vec<&str> = call.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(names, FIELDS, "stable for scripts");
        assert_eq!(call["user_message"], "do it");
        assert_eq!((&call["run_id"], &call["attempt"]), (&json!(home.newest()), &json!(1)));
        assert!(call["duration_ms"].is_u64() && call["ts"].is_i64(), "{call}");
    }
    let (read, shell) = (&all[0], &all[1]);
    assert_eq!((&read["ending"], &read["approved_by"]), (&json!("error"), &Value::Null));
    assert_eq!(read["arguments"], json!({"path": "none.txt"}));
    assert_eq!((&shell["ending"], &shell["approved_by"]), (&json!("ok"), &json!("--yes")));
    assert!(shell["result"].as_str().unwrap().contains("done"));
    let table = home.run(["audit", "--event", "tool_call"]).ends_with(0).stdout;
    let lines: Vec<&str> = table.lines().collect();
    assert!(
        lines.len() == 3 && lines[2].contains("shell") && lines[2].contains("--yes"),
        "{table}"
    );
}

#[test]
fn calls_are_chosen_by_run_tool_time_and_ending() {
    let home = home();
    let run = home.newest();
    assert_eq!(audited(&home, &["--failed"])[0]["tool"], "read_file");
    for (args, count) in [
        (vec!["--failed"], 1),
        (vec!["--tool", "shell"], 1),
        (vec!["--tool", "none"], 0),
        (vec!["--since", "2d"], 2),
        (vec!["--since", "0s"], 0),
        (vec!["--run", &run, "--tool", "shell"], 1),
    ] {
        assert_eq!(audited(&home, &args).len(), count, "{args:?}");
    }
    home.run(["audit", "--run", "nobody"]).ends_with(2);
    home.run(["audit", "--since", "2 days"]).ends_with(2);
}

#[test]
fn a_fork_tells_its_own_calls_and_names_the_copied_ones() {
    let home = home();
    let run = home.newest();
    let shell = calls("shell", json!({"command": "echo again"}));
    let read = calls("read_file", json!({"path": "none.txt"}));
    home.rewrite(&[read, shell.clone(), says("Done."), shell, says("Again.")]);
    home.run(["fork", &run, "--yes", "once more"]).ends_with(0);
    let fork = home.newest();
    assert_ne!(fork, run);
    let own = |call: &&Value| call["run_id"] == json!(fork);
    let all = audited(&home, &[]);
    assert_eq!(all.iter().filter(|call| call["run_id"] == json!(run)).count(), 2);
    let own: Vec<&Value> = all.iter().filter(own).collect();
    assert_eq!(own.len(), 1, "{all:?}");
    assert_eq!((&own[0]["copied"], &own[0]["user_message"]), (&json!(false), &json!("once more")));
    let of_fork = audited(&home, &["--run", &fork]);
    let copied = of_fork.iter().filter(|call| call["copied"] == json!(true)).count();
    assert_eq!(copied, 2, "{of_fork:?}");
    assert!(of_fork.iter().all(|call| call["forked_from"] == json!(run)));
}

#[test]
fn each_call_is_appended_to_a_file_as_it_ends() {
    let home = Home::scripted(&[calls("shell", json!({"command": "echo hi"})), says("Said.")]);
    let file = home.path("audit.jsonl");
    let set = format!("audit.file={}", file.display());
    let args = ["run", "--loop", "react", "--yes", "--set", &set, "say hi"];
    home.run(args).ends_with(0);
    home.run(args).ends_with(0);
    let text = std::fs::read_to_string(&file).unwrap();
    let told: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let all = audited(&home, &[]);
    assert_eq!((told.len(), &told), (2, &all), "the same as the audit tells");
    let mode = std::os::unix::fs::PermissionsExt::mode(&file.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let nowhere = "audit.file=/nowhere/at/all";
    home.run(["run", "--set", nowhere, "x"]).ends_with(5).says(&["/nowhere/at/all"]);
}

#[test]
fn calls_of_a_run_that_came_in_a_file_are_no_calls_of_this_machine() {
    let theirs = home();
    let run = theirs.newest();
    let file = theirs.path("run.jsonl");
    let file = file.to_str().unwrap();
    theirs.run(["export", &run, "--out", file]).ends_with(0);
    let mine = Home::scripted(&[calls("shell", json!({"command": "echo mine"})), says("Done.")]);
    mine.run(["run", "--loop", "react", "--yes", "do it"]).ends_with(0);
    mine.run(["import", file]).ends_with(0);
    let all = audited(&mine, &[]);
    let told: Vec<_> = all.iter().map(|call| (&call["tool"], &call["imported"])).collect();
    assert_eq!(told, [(&json!("shell"), &json!(false))], "only what this machine did");
    mine.run(["audit"]).ends_with(0).says(&["1 imported run is left out", "audit --run"]);
    mine.run(["audit", "--lang", "zh-CN"]).ends_with(0).says(&["没有列出导入的任务：1"]);
    let named = audited(&mine, &["--run", &run]);
    assert_eq!(named.len(), 2);
    assert!(named.iter().all(|call| call["imported"] == json!(true)), "{named:?}");
    for (lang, word) in [("en", "[imported]"), ("zh-CN", "[导入]")] {
        let table = mine.run(["audit", "--run", &run, "--lang", lang]).ends_with(0).stdout;
        assert_eq!(table.lines().filter(|line| line.contains(word)).count(), 2, "{table}");
    }
    let own = all[0]["run_id"].as_str().unwrap();
    assert!(!mine.run(["audit", "--run", own]).ends_with(0).stdout.contains("[imported]"));
}

#[test]
fn the_file_of_the_audit_is_none_that_tools_write_and_no_pipe_that_waits() {
    let home = Home::scripted(&[
        calls("read_file", json!({"path": "none.txt"})),
        calls("write_file", json!({"path": "logs/audit.jsonl", "content": "forged"})),
        calls("read_file", json!({"path": "logs/audit.jsonl"})),
        says("Done."),
    ]);
    std::fs::create_dir(home.work("logs")).unwrap();
    let file = home.work("logs/audit.jsonl");
    let set = format!("audit.file={}", file.display());
    home.run(["run", "--loop", "react", "--yes", "--set", &set, "go"]).ends_with(0);
    let text = std::fs::read_to_string(&file).unwrap();
    let told: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("a line of ours")).collect();
    let tools: Vec<&Value> = told.iter().map(|call| &call["tool"]).collect();
    assert_eq!(tools, ["read_file", "write_file", "read_file"], "{text}");
    assert!(told.iter().all(|call| call["ending"] != json!("ok")), "{text}");
    let pipe = home.work("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let set = format!("audit.file={}", pipe.display());
    home.rewrite(&[says("Done.")]);
    let refused = home.run(["run", "--loop", "react", "--set", &set, "go"]);
    assert_ne!(refused.code, Some(0), "{}", refused.stderr);
    assert!(refused.stderr.contains("audit.file"), "{}", refused.stderr);
}

#[test]
fn runs_and_permissions_are_events_of_the_audit() {
    let shell = calls("shell", json!({"command": "echo hi"}));
    let home = Home::scripted(&[shell, says("Done.")]);
    home.run(["run", "--loop", "react", "do it"]).ends_with(3);
    let run = home.newest();
    home.run(["runs", "resume", &run, "--answer", "yes"]).ends_with(0);
    let of = |event: &str| -> Vec<String> {
        let lines = home.run(["audit", "--json", "--event", event]).ends_with(0).lines();
        assert!(lines.iter().all(|line| line["event"] == event && line["run_id"] == json!(run)));
        lines.iter().map(|line| line["what"].as_str().unwrap_or("call").to_owned()).collect()
    };
    assert_eq!(of("run"), ["created", "claimed", "waiting", "claimed", "ended"]);
    assert_eq!(of("approval"), ["asked", "given"]);
    assert_eq!(of("tool_call"), ["call"]);
    let all = home.run(["audit", "--json"]).ends_with(0).lines();
    assert_eq!(all.len(), 8, "without a filter there is everything");
    let told = home.run(["audit"]).ends_with(0).stdout;
    for words in ["run created", "approval given", "succeeded"] {
        assert!(told.contains(words), "{words} is not in {told}");
    }
}
