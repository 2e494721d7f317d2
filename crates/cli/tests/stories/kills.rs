//! `kill -9` at the worst moments.

use crate::support::{
    Home, calls, done, eventually, goes_on, of_type, plan, says, short, slow, thought,
};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::path::PathBuf;

#[test]
fn a_run_killed_while_the_model_speaks_goes_on_where_it_was() {
    let write = calls("write_file", json!({"path": "a.txt", "content": "one"}));
    let home = Home::scripted(&[write.clone(), slow(says("It is written."))]);
    let args = ["run", "--loop", "react", "--output-format", "stream-json", "write one"];
    let mut first = home.spawn(args);
    first.until("tool.completed");
    first.until("step.started");
    first.kill9();
    let run = home.newest();
    assert_eq!(home.status(&run), "running");
    home.rewrite(&[write, says("It is written.")]);
    let resumed = home.run(["runs", "resume", &run]).ends_with(0).says(&["Recovered", short(&run)]);
    assert_eq!(resumed.stdout, "It is written.\n");
    assert_eq!(home.newest(), run);
    let shown = home.show(&run);
    assert_eq!(shown["status"], "succeeded");
    assert_eq!((&shown["model_calls"], &shown["tool_calls"]), (&json!(2), &json!(1)));
    assert_eq!(of_type(&home.events(&run), "run.resumed").len(), 1);
    home.verified(&run);
}

#[test]
fn a_command_that_was_killed_half_way_is_never_repeated_and_its_outcome_is_unknown() {
    let command = "echo once >> log; setsid sleep 1000 & cat gate";
    let home = Home::scripted(&[
        calls("shell", json!({ "command": command })),
        says("I looked: the line is there."),
    ]);
    let made = std::process::Command::new("mkfifo").arg(home.work("gate")).status().unwrap();
    assert!(made.success());
    let mut first = home.spawn(["run", "--loop", "react", "--yes", "append a line"]);
    first.until("shell");
    eventually("the line", || (home.read("log") == "once\n").then_some(()));
    assert!(home.processes().len() > 1);
    first.kill9();
    home.deserted();
    let run = home.newest();
    let resumed = home.run(["runs", "resume", &run]).ends_with(7);
    let first_line = resumed.stdout.lines().next().unwrap();
    assert!(first_line.starts_with("Outcome unknown, not repeated: shell"), "{first_line}");
    assert!(first_line.contains("echo once"), "{first_line}");
    assert!(resumed.stdout.contains("I looked: the line is there."));
    assert_eq!(home.read("log"), "once\n");
    assert_eq!(home.status(&run), "unsettled");
    let events = home.events(&run);
    let outcomes = of_type(&events, "tool.failed");
    assert_eq!((outcomes.len(), &outcomes[0]["ending"]), (1, &json!("unknown")));
    let result = outcomes[0]["result"].as_str().unwrap();
    assert!(result.contains("may or may not") && result.contains("cut short after it started"));
    let probes = of_type(&events, "tool.probed");
    assert_eq!((probes.len(), &probes[0]["found"]), (1, &json!("unknown")));
    home.verified(&run);
}

/// Everything that guards wrote down.
fn records(home: &Home) -> Vec<PathBuf> {
    let folder = |path: PathBuf| std::fs::read_dir(path).into_iter().flatten().flatten();
    let runs = folder(home.data().join("effects")).filter(|run| run.path().is_dir());
    runs.flat_map(|run| folder(run.path())).map(|record| record.path()).collect()
}

/// A clock that is wrong for a moment makes every record look old.
#[test]
fn a_command_that_was_cut_short_is_not_repeated_however_old_its_record_looks() {
    let command = "echo paid >> log; while true; do sleep 0.01; done";
    let pays = [calls("shell", json!({ "command": command })), says("It may have been paid.")];
    let home = Home::scripted(&pays);
    let first = home.spawn(["run", "--loop", "react", "--yes", "pay"]);
    eventually("its effect", || (home.read("log") == "paid\n").then_some(()));
    first.kill9();
    let run = home.newest();
    let left = || (!records(&home).is_empty()).then_some(());
    eventually("its record", left);
    for record in records(&home) {
        let file = std::fs::File::options().write(true).open(record).unwrap();
        file.set_modified(std::time::UNIX_EPOCH).unwrap();
    }
    home.rewrite(&[calls("shell", json!({"command": "echo other"})), says("Other.")]);
    home.run(["run", "--loop", "react", "--yes", "something else"]).ends_with(0);
    home.rewrite(&pays);
    home.run(["runs", "resume", &run]).ends_with(7);
    assert_eq!(home.read("log"), "paid\n");
    assert_eq!(home.status(&run), "unsettled");
}

#[test]
fn a_run_that_is_over_leaves_no_record_of_its_commands() {
    let home = Home::scripted(&[calls("shell", json!({"command": "echo hi"})), says("Done.")]);
    home.run(["run", "--loop", "react", "--yes", "say hi"]).ends_with(0);
    assert_eq!(records(&home), Vec::<PathBuf>::new());
}

/// The command stops everloop and ends, so that its end is on record and in no journal.
#[test]
fn a_command_whose_end_nobody_heard_is_read_from_its_record() {
    let command = "echo once | tee -a log; while [ ! -e go ]; do sleep 0.01; done";
    let home =
        Home::scripted(&[calls("shell", json!({ "command": command })), says("It is there.")]);
    let mut first = home.spawn(["run", "--loop", "react", "--yes", "append a line"]);
    first.until("shell");
    eventually("its output", || (home.read("log") == "once\n").then_some(()));
    // From here on nobody hears of its end.
    first.signal(Signal::STOP);
    std::fs::write(home.work("go"), "").unwrap();
    let ended = || {
        let mut texts = records(&home).into_iter().filter_map(|r| std::fs::read_to_string(r).ok());
        texts.any(|text| text.contains("\"exit\"")).then_some(())
    };
    eventually("the record of its end", ended);
    first.kill9();
    let run = home.newest();
    home.run(["runs", "resume", &run]).ends_with(0);
    assert_eq!(home.read("log"), "once\n");
    let events = home.events(&run);
    let outcomes = of_type(&events, "tool.completed");
    let result = outcomes[0]["result"].as_str().unwrap();
    assert!(result.starts_with("once\n[exit code 0; read from the record"), "{result}");
    assert_eq!(of_type(&events, "tool.probed")[0]["found"], "happened");
    let story = home.run(["replay", &run, "--lang", "zh-CN"]).ends_with(0).stdout;
    assert!(story.contains("已核实 shell：执行了"), "{story}");
    home.verified(&run);
}

/// More files than there are kills: every process gets through at most one of them.
const FILES: usize = 25;

/// Many files, one a step.
fn many_files() -> Vec<Value> {
    let mut replies = vec![plan(&["write the files"])];
    for n in 0..FILES {
        let input = json!({"path": format!("{n}.txt"), "content": format!("file {n}\n")});
        replies.push(goes_on("write_file", input));
    }
    replies.extend([thought("written"), done("The files are written.")]);
    // Slow enough that each kill comes while there is something to kill.
    replies.iter_mut().for_each(|reply| reply["delay_ms"] = json!(100));
    replies
}

#[test]
fn a_run_killed_twenty_times_writes_every_file_and_succeeds() {
    let home = Home::scripted(&many_files());
    let mut first = home.spawn(["run", "--set", "loop.max_steps=100", "many files"]);
    first.until("started");
    first.lines(2);
    first.kill9();
    let run = home.newest();
    let mut kills = 1;
    let mut lines = 1;
    while kills < 20 {
        let mut next = home.spawn(["runs", "resume", &run]);
        next.until("Recovered");
        // Each process gets a little further; one line more whenever the run is not ahead.
        next.lines(lines);
        if !next.kill9_if_alive() {
            break;
        }
        kills += 1;
        lines = 1 + kills % 2;
    }
    assert_eq!(kills, 20, "the run ended before it was killed twenty times");
    // The last process may have finished the run in the moment before it was killed.
    let was_over = home.show(&run)["status"] == "succeeded";
    let ended = home.run(["runs", "resume", &run]).ends_with(0);
    assert_eq!(ended.stdout, "The files are written.\n");
    for n in 0..FILES {
        assert_eq!(home.read(&format!("{n}.txt")), format!("file {n}\n"));
    }
    let files = std::fs::read_dir(home.work("")).unwrap().count();
    assert_eq!(files, FILES, "no temporary file is left");
    let shown = home.show(&run);
    assert_eq!((&shown["status"], &shown["tool_calls"]), (&json!("succeeded"), &json!(FILES)));
    let resumed = of_type(&home.events(&run), "run.resumed").len();
    assert_eq!(resumed, if was_over { 19 } else { 20 });
    home.verified(&run);
}

#[test]
fn a_run_killed_again_and_again_in_the_same_place_still_goes_on() {
    let home = Home::scripted(&[slow(says("At last."))]);
    let args = ["run", "--loop", "react", "--output-format", "stream-json", "wait"];
    let mut first = home.spawn(args);
    first.until("step.started");
    first.kill9();
    let run = home.newest();
    for _ in 0..7 {
        let mut next = home.spawn(["runs", "resume", &run]);
        next.until("Recovered");
        next.kill9();
    }
    home.rewrite(&[says("At last.")]);
    assert_eq!(home.run(["runs", "resume", &run]).ends_with(0).stdout, "At last.\n");
    home.verified(&run);
}
