//! Time travel: forks, where two runs part, and runs that move between data folders.

use crate::support::{Home, calls, done, eventually, goes_on, plan, says, script, short, thought};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

const RUN: [&str; 4] = ["run", "--loop", "react", "go"];

fn write(name: &str) -> Value {
    calls("write_file", json!({"path": name, "content": "one"}))
}

/// A home in which one file was written and the run has ended.
fn with_run() -> (Home, String) {
    let home = Home::scripted(&[write("a.txt"), says("It is written.")]);
    home.run(RUN).ends_with(0);
    let run = home.newest();
    (home, run)
}

/// All that the database says about a run.
fn rows(home: &Home, run: &str) -> Vec<String> {
    let db = Connection::open(home.database()).unwrap();
    let mut all = Vec::new();
    for table in ["runs", "journal", "messages", "snapshots", "inbox"] {
        let sql = format!("SELECT * FROM {table} WHERE run_id = ?1 ORDER BY rowid");
        let mut statement = db.prepare(&sql).unwrap();
        let width = statement.column_count();
        let mut found = statement.query([run]).unwrap();
        while let Some(row) = found.next().unwrap() {
            let cells: Vec<_> = (0..width).map(|n| row.get_ref(n).unwrap()).collect();
            all.push(format!("{table} {cells:?}"));
        }
    }
    all
}

fn journal(home: &Home, run: &str) -> Vec<String> {
    rows(home, run).into_iter().filter(|row| row.starts_with("journal")).collect()
}

/// The entry after which the model has spoken for the first time.
fn after_first_reply(home: &Home, run: &str) -> String {
    let events = home.events(run);
    let spoke = events.iter().find(|event| event["type"] == "message.completed").unwrap();
    spoke["seq"].to_string()
}

#[test]
fn a_fork_goes_on_from_its_entry_and_both_runs_know_each_other() {
    let (home, parent) = with_run();
    let before = rows(&home, &parent);
    std::fs::remove_file(home.work("a.txt")).unwrap();
    let at = after_first_reply(&home, &parent);
    home.rewrite(&[write("a.txt"), says("It is written again.")]);
    let forked = home.run(["fork", &parent, "--at", &at, "--output-format", "json"]).ends_with(0);
    let result = forked.says(&["forked from", short(&parent), "not rolled back"]).json();
    assert_eq!(
        (&result["status"], &result["text"]),
        (&json!("succeeded"), &json!("It is written again."))
    );
    assert_eq!((&result["model_calls"], &result["tool_calls"]), (&json!(1), &json!(1)), "its own");
    assert_eq!(home.read("a.txt"), "one", "what came after the entry is done by the fork");
    let child = result["run_id"].as_str().unwrap().to_owned();
    assert_eq!(rows(&home, &parent), before, "the parent is as it was");
    home.verified(&child);
    home.verified(&parent);
    let shown = home.show(&child);
    assert_eq!(shown["forked_from"], json!(parent));
    assert_eq!(shown["forked_at"].to_string(), at);
    let forks = &home.show(&parent)["forks"];
    assert_eq!((&forks[0]["run_id"], forks[0]["at"].to_string()), (&json!(child), at));
    let words = home.run(["runs", "show", &parent]).ends_with(0).stdout;
    assert!(words.contains("forks") && words.contains(short(&child)), "{words}");
    let words = home.run(["runs", "show", &child, "--lang", "zh-CN"]).ends_with(0).stdout;
    assert!(words.contains("来自") && words.contains(short(&parent)), "{words}");
    let story = home.run(["replay", &child]).ends_with(0).stdout;
    assert!(story.contains("forked here"), "{story}");
}

#[test]
fn a_fork_at_the_tip_does_nothing_again_and_a_word_makes_it_go_on() {
    let (home, parent) = with_run();
    std::fs::remove_file(home.work("a.txt")).unwrap();
    let same = home.run(["fork", &parent]).ends_with(0);
    assert_eq!(same.stdout, "It is written.\n");
    home.rewrite(&[write("a.txt"), says("no"), says("Shorter now.")]);
    let word = home.run(["fork", &parent, "make it shorter", "--lang", "zh-CN"]).ends_with(0);
    assert_eq!(word.stdout, "Shorter now.\n");
    assert!(word.stderr.contains("没有恢复"), "{}", word.stderr);
    assert!(!home.work("a.txt").exists(), "nothing of the past is done again");
    let child = home.newest();
    home.verified(&child);
    let state = home.run(["replay", &child, "--at", "999"]);
    state.ends_with(2);
    let last = home.show(&child)["events"].to_string();
    let state = home.run(["replay", &child, "--at", &last]).ends_with(0).stdout;
    assert!(state.contains("make it shorter"), "{state}");
}

#[test]
fn a_fork_may_have_another_loop_model_and_workspace_and_does_not_inherit_yes() {
    let home = Home::scripted(&[calls("shell", json!({"command": "echo x >> log"})), says("ran")]);
    home.run(["run", "--loop", "react", "--yes", "go"]).ends_with(0);
    let parent = home.newest();
    assert_eq!(home.read("log"), "x\n");
    let at = after_first_reply(&home, &parent);
    let asks = home.run(["fork", &parent, "--at", &at]).ends_with(3);
    assert!(asks.says(&["Run this command?"]).stdout.contains("run_"));
    assert_eq!(home.read("log"), "x\n");
    std::fs::create_dir(home.path("elsewhere")).unwrap();
    let other = home.path("elsewhere");
    let place = other.to_str().unwrap();
    let moved = ["fork", &parent, "--at", &at, "--yes", "--workspace", place];
    home.run(moved).ends_with(0);
    assert_eq!(std::fs::read_to_string(other.join("log")).unwrap(), "x\n");
    assert_eq!(home.read("log"), "x\n");
    home.verified(&home.newest());
    let replies = [says("-"), says("-"), plan(&["look"]), thought("seen"), done("Planned.")];
    std::fs::write(home.path("other.json"), script(&replies)).unwrap();
    let model = format!("scripted/{}", home.path("other.json").display());
    let planned =
        home.run(["fork", &parent, "--loop", "plan-replan", "--model", &model]).ends_with(0);
    assert_eq!(planned.stdout, "Planned.\n");
    let shown = home.show(&home.newest());
    assert_eq!((&shown["loop"], &shown["model"]), (&json!("plan-replan"), &json!(model)));
    assert_eq!(shown["forked_from"], json!(parent));
    home.verified(&home.newest());
}

#[test]
fn a_fork_that_was_killed_at_once_is_a_run_like_any_other() {
    let (home, parent) = with_run();
    let mut slow = says("It goes on.");
    slow["delay_ms"] = json!(600_000);
    home.rewrite(&[write("a.txt"), says("-"), slow]);
    let mut forked = home.spawn(["fork", &parent, "go on"]);
    forked.until("started");
    forked.kill9();
    let child = home.newest();
    assert_ne!(child, parent);
    home.rewrite(&[write("a.txt"), says("-"), says("It goes on.")]);
    assert_eq!(home.run(["runs", "resume", &child]).ends_with(0).stdout, "It goes on.\n");
    home.verified(&child);
}

#[test]
fn a_fork_over_an_effect_that_may_have_happened_is_refused_until_it_is_settled() {
    let command = "echo once >> log; cat gate";
    let acts = calls("shell", json!({ "command": command }));
    let home = Home::scripted(&[acts, says("I looked."), says("So it happened.")]);
    let made = std::process::Command::new("mkfifo").arg(home.work("gate")).status().unwrap();
    assert!(made.success());
    let mut first = home.spawn(["run", "--loop", "react", "--yes", "append a line"]);
    first.until("shell");
    eventually("the line", || (home.read("log") == "once\n").then_some(()));
    first.kill9();
    home.deserted();
    let parent = home.newest();
    home.run(["fork", &parent, "--yes"]).ends_with(7).says(&["shell", "runs settle"]);
    home.run(["runs", "resume", &parent]).ends_with(7);
    let refused = home.run(["fork", &parent, "--yes", "--lang", "zh-CN"]).ends_with(7);
    assert!(refused.stderr.contains("可能已经发生"), "{}", refused.stderr);
    assert_eq!(home.newest(), parent, "nothing was written");
    home.run(["runs", "settle", &parent, "happened"]).ends_with(0);
    assert_eq!(home.run(["fork", &parent, "--yes"]).ends_with(0).stdout, "So it happened.\n");
    assert_eq!(home.read("log"), "once\n", "it was not done again");
    assert_eq!(home.status(&home.newest()), "succeeded");
}

#[test]
fn what_cannot_be_forked_or_compared_is_refused_by_name() {
    let (home, parent) = with_run();
    home.run(["fork", "run_nobody"]).ends_with(2).says(&["run_nobody"]);
    home.run(["fork", &parent, "--at", "0"]).ends_with(2).says(&["Event 0 does not exist"]);
    home.run(["fork", &parent, "--at", "99"]).ends_with(2).says(&["Event 99 does not exist"]);
    home.run(["fork", &parent, "--loop", "recat"]).ends_with(2).says(&["react"]);
    home.run(["fork", &parent, "--model", "nobody/x"]).ends_with(5).says(&["provider nobody"]);
    home.run(["fork", &parent, "--workspace", "nowhere"]).ends_with(2).says(&["nowhere"]);
    home.run(["diff", &parent, "run_nobody"]).ends_with(2).says(&["run_nobody"]);
    home.run(["export", "run_nobody"]).ends_with(2).says(&["run_nobody"]);
    home.run(["export"]).ends_with(2);
    home.run(["import", "nothing.jsonl"]).ends_with(2).says(&["nothing.jsonl"]);
    assert_eq!(home.newest(), parent);
}

#[test]
fn two_runs_part_where_the_model_first_said_something_else() {
    let (home, one) = with_run();
    home.run(RUN).ends_with(0);
    let same = home.newest();
    let equal = home.run(["diff", &one, &same, "--json"]).ends_with(0).json();
    assert_eq!(equal["equal"], json!(true));
    home.run(["diff", &one, &same]).ends_with(0);
    home.rewrite(&[write("b.txt"), says("Other.")]);
    home.run(RUN).ends_with(0);
    let other = home.newest();
    let found = home.run(["diff", &one, &other, "--json"]).ends_with(1).json();
    assert_eq!(found["differs"], "reply");
    assert_eq!(found["runs"][0]["at"].to_string(), after_first_reply(&home, &one));
    assert_eq!(found["runs"][1]["text"], "Other.");
    assert_eq!(found["runs"][1]["tools_after"], json!(["write_file"]));
    let words = home.run(["diff", &one, &other]).ends_with(1).stdout;
    assert!(words.contains("The model replied") && words.contains("b.txt"), "{words}");
    assert!(words.contains("It is written.") && words.contains("Other."), "{words}");
    let words = home.run(["diff", &one, &other, "--lang", "zh-CN"]).ends_with(1).stdout;
    assert!(words.contains("模型的回复不同"), "{words}");
}

#[test]
fn a_fork_and_its_parent_part_at_the_entry_where_it_goes_another_way() {
    let (home, parent) = with_run();
    let at = after_first_reply(&home, &parent);
    home.rewrite(&[write("a.txt"), says("Something else.")]);
    std::fs::remove_file(home.work("a.txt")).unwrap();
    home.run(["fork", &parent, "--at", &at]).ends_with(0);
    let found = home.run(["diff", &parent, &home.newest(), "--json"]).ends_with(1).json();
    assert_eq!(found["differs"], "reply");
    assert_eq!(found["runs"][0]["says"], "It is written.");
    assert_eq!(found["runs"][1]["says"], "Something else.");
}

#[test]
fn runs_move_whole_to_another_data_folder_and_arrive_byte_for_byte() {
    let (home, run) = with_run();
    let file = home.path("runs.jsonl");
    let name = file.to_str().unwrap();
    home.run(["export", &run, "--out", name]).ends_with(0).says(&["Exported 1 run"]);
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    home.run(["export", &run, "--out", name]).ends_with(1).says(&[name]);
    let there = Home::scripted(&[write("a.txt"), says("no"), says("And on.")]);
    let taken = there.run(["import", name, "--json"]).ends_with(0).json();
    assert_eq!(taken, json!({"run_id": run, "result": "imported"}));
    assert_eq!(journal(&there, &run), journal(&home, &run));
    assert_eq!(there.show(&run)["text"], "It is written.");
    there.verified(&run);
    let again = there.run(["import", name, "--lang", "zh-CN"]).ends_with(0);
    assert!(again.stdout.contains("已经在这里"), "{}", again.stdout);
    let all = home.run(["export", "--all"]).ends_with(0).stdout;
    assert!(all.lines().count() > 5 && all.contains("everloop_export"));
    let db = Connection::open(there.database()).unwrap();
    db.execute("DELETE FROM journal WHERE seq = 3", []).unwrap();
    drop(db);
    let refused = there.run(["import", name, "--json"]).ends_with(1).json();
    assert_eq!(refused["result"], "refused");
}

#[test]
fn a_run_that_has_not_ended_is_history_elsewhere_and_a_fork_of_it_goes_on() {
    let home = Home::scripted(&[
        calls("ask_user", json!({"question": "which colour?"})),
        says("Blue it is."),
    ]);
    home.run(RUN).ends_with(3);
    let run = home.newest();
    let file = home.path("runs.jsonl");
    let name = file.to_str().unwrap();
    home.run(["export", &run, "--out", name]).ends_with(0);
    let there = Home::scripted(&[says("-"), says("I chose blue.")]);
    there.run(["import", name]).ends_with(0);
    assert_eq!(there.status(&run), "quarantined");
    assert!(there.show(&run)["text"].as_str().unwrap().contains("fork it to go on"));
    there.run(["worker", "--drain"]).ends_with(0);
    assert_eq!(there.status(&run), "quarantined", "nobody drives it");
    let model = format!("scripted/{}", there.path("script.json").display());
    let work = there.path("work");
    let args = ["fork", &run, "--model", &model, "--workspace", work.to_str().unwrap()];
    assert_eq!(there.run(args).ends_with(0).stdout, "I chose blue.\n");
    assert_eq!(home.status(&run), "waiting", "where it comes from it goes on as it was");
    home.run(["runs", "resume", &run, "--answer", "blue"]).ends_with(0);
}

#[test]
fn a_run_under_way_is_not_exported() {
    let mut slow = says("done");
    slow["delay_ms"] = json!(600_000);
    let home = Home::scripted(&[slow]);
    let mut running =
        home.spawn(["run", "--loop", "react", "--output-format", "stream-json", "go"]);
    running.until("step.started");
    let run = home.newest();
    let refused = home.run(["export", &run]).ends_with(1).says(&["in progress"]);
    assert_eq!(refused.stdout, "");
    home.run(["export", "--all"]).ends_with(0).says(&["Skipped"]);
    running.kill9();
}

#[test]
fn a_file_that_is_damaged_cut_or_too_new_is_refused_by_its_line_and_nothing_is_written() {
    let home = Home::scripted(&[goes_on("list_dir", json!({"path": "."}))]);
    home.rewrite(&[
        plan(&["look"]),
        goes_on("list_dir", json!({"path": "."})),
        thought("seen"),
        done("Looked."),
    ]);
    home.run(["run", "look"]).ends_with(0);
    let text = home.run(["export", "--all"]).ends_with(0).stdout;
    let lines: Vec<&str> = text.lines().collect();
    let there = Home::scripted(&[says("done")]);
    let import = |text: &str| {
        std::fs::write(there.path("in.jsonl"), text).unwrap();
        there.run(["import", there.path("in.jsonl").to_str().unwrap()])
    };
    for (at, line) in lines.iter().enumerate() {
        let digit = line.bytes().rposition(|byte| byte.is_ascii_digit()).unwrap();
        let other = if line.as_bytes()[digit] == b'7' { "8" } else { "7" };
        let mut flipped = lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        flipped[at].replace_range(digit..=digit, other);
        let refused = import(&flipped.join("\n"));
        // The header's last digit is part of a moment or a version, which nothing rests on.
        if at > 0 {
            refused.ends_with(6).says(&["nothing was written"]);
        }
    }
    let entry = lines.iter().position(|line| line.contains("\"table\":\"journal\"")).unwrap();
    let damaged =
        text.replacen(lines[entry], &lines[entry].replace("\"epoch\":0", "\"epoch\":1"), 1);
    import(&damaged).ends_with(6).says(&[&format!("line {}", entry + 1)]);
    import(&damaged.replace("\"epoch\":1", "\"epoch\":,")).ends_with(6).says(&["line"]);
    import(&lines[..lines.len() - 1].join("\n")).ends_with(6).says(&["is truncated"]);
    import(&text.replacen("\"everloop_export\":1", "\"everloop_export\":2", 1))
        .ends_with(6)
        .says(&["format 2", "newer everloop"]);
    import("hello").ends_with(6).says(&["not written by everloop export"]);
    import("").ends_with(6);
}
