//! Workers: what they pick up by themselves, and that there is one of them.

use crate::support::{Home, calls, says};
use rustix::process::Signal;
use serde_json::json;

const STREAM: [&str; 5] = ["run", "--loop", "react", "--output-format", "stream-json"];

/// A run whose process was killed while the model spoke.
fn interrupted(home: &Home, goal: &str) -> String {
    home.rewrite(&[json!({"text": "done", "delay_ms": 600_000})]);
    let mut run = home.spawn(STREAM.iter().chain([&goal]));
    run.until("step.started");
    run.kill9();
    home.newest()
}

#[test]
fn a_draining_worker_finishes_interrupted_and_queued_runs_and_says_so() {
    let home = Home::scripted(&[]);
    let first = interrupted(&home, "first");
    // The second one is killed while another process drives, so it is only queued.
    let mut busy = home.spawn(["runs", "resume", &first]);
    busy.until("Recovered");
    let mut waits = home.spawn(["run", "--loop", "react", "second"]);
    waits.until("is saved and waits");
    waits.kill9();
    let second = home.newest();
    assert_eq!(home.status(&second), "queued");
    busy.kill9();
    home.rewrite(&[says("done")]);
    let drained = home.run(["worker", "--drain"]).ends_with(0);
    assert!(drained.stdout.is_empty());
    drained.says(&[
        &format!("Taking up an interrupted run, {first}: first"),
        &format!("{first} ended: succeeded"),
        &format!("{second} ended: succeeded"),
    ]);
    for run in [first, second] {
        assert_eq!(home.show(&run)["text"], "done");
        home.verified(&run);
    }
}

#[test]
fn row_08_a_worker_drives_what_comes_and_a_second_one_names_it_and_leaves() {
    let home = Home::scripted(&[]);
    let first = interrupted(&home, "first");
    home.rewrite(&[says("done")]);
    let mut worker = home.spawn(["worker"]);
    worker.until("Taking up an interrupted run");
    worker.until(&format!("{first} ended: succeeded"));
    let pid = worker.pid().to_string();
    home.run(["worker"]).ends_with(6).says(&[&pid]);
    home.run(["worker", "--drain"]).ends_with(6).says(&[&pid]);
    // A run that another process starts is driven by the worker and followed by its own process.
    let ran = home.run(["run", "--loop", "react", "second"]).ends_with(0);
    assert_eq!(ran.stdout, "done\n");
    ran.says(&[&format!("pid {pid}")]);
    worker.until("ended: succeeded");
    worker.signal(Signal::TERM);
    worker.ended().ends_with(143);
}

#[test]
fn a_second_run_waits_for_the_first_and_then_finishes() {
    let home =
        Home::scripted(&[calls("shell", json!({"command": "read line < gate"})), says("one")]);
    let made = std::process::Command::new("mkfifo").arg(home.work("gate")).status().unwrap();
    assert!(made.success());
    let mut first = home.spawn(["run", "--loop", "react", "--yes", "first"]);
    first.until("shell");
    home.rewrite(&[says("two")]);
    let mut second = home.spawn(["run", "--loop", "react", "second"]);
    let told = second.until("is saved and waits");
    assert!(told.contains(&format!("pid {}", first.pid())), "{told}");
    std::fs::write(home.work("gate"), "go\n").unwrap();
    assert_eq!(first.ended().ends_with(0).stdout, "one\n");
    assert_eq!(second.ended().ends_with(0).stdout, "two\n");
}

#[test]
fn a_worker_ends_runs_that_another_process_cancels() {
    let home = Home::scripted(&[]);
    let id = interrupted(&home, "first");
    let mut worker = home.spawn(["worker"]);
    worker.until("begins");
    home.run(["runs", "cancel", &id]).ends_with(0).says(&["is canceled"]);
    worker.until(&format!("{id} ended: canceled"));
    home.verified(&id);
}

#[test]
fn a_run_tells_of_others_that_were_interrupted() {
    let home = Home::scripted(&[]);
    let id = interrupted(&home, "the first goal");
    home.rewrite(&[says("done")]);
    let ran = home.run(["run", "--loop", "react", "second"]).ends_with(0);
    ran.says(&[&id, "the first goal", &format!("everloop runs resume {id}")]);
}

#[test]
fn a_run_that_workers_never_get_further_with_is_put_aside_in_words_and_only_once() {
    let home = Home::scripted(&[]);
    let id = interrupted(&home, "first");
    for _ in 0..4 {
        let mut worker = home.spawn(["worker"]);
        worker.until(&format!("{id} begins"));
        worker.kill9();
    }
    home.run(["worker", "--drain"]).ends_with(0).says(&["put aside", &id]);
    let shown = home.show(&id);
    assert_eq!(shown["status"], "quarantined");
    assert!(shown["text"].as_str().unwrap_or_default().contains("put aside"), "{shown}");
    home.rewrite(&[says("done")]);
    let ran = home.run(["run", "--loop", "react", "second"]).ends_with(0);
    assert!(!ran.stderr.contains(&id), "{}", ran.stderr);
    let again = home.run(["runs", "resume", &id]).ends_with(1);
    assert!(again.stdout.contains("put aside"), "{}", again.stdout);
}

#[test]
fn a_worker_that_is_stopped_politely_gives_its_runs_back_and_never_puts_them_aside() {
    let home = Home::scripted(&[]);
    let id = interrupted(&home, "first");
    for _ in 0..7 {
        let mut worker = home.spawn(["worker"]);
        worker.until(&format!("{id} begins"));
        worker.signal(Signal::TERM);
        worker.ended().ends_with(143);
        assert_eq!(home.status(&id), "queued");
    }
    home.rewrite(&[says("done")]);
    home.run(["worker", "--drain"]).ends_with(0).says(&[&format!("{id} ended: succeeded")]);
    home.verified(&id);
}

#[test]
fn an_old_run_keeps_its_words_and_numbers_when_its_journal_is_trimmed() {
    let home = Home::scripted(&[calls("list_dir", json!({"path": "."})), says("Nothing there.")]);
    home.run(["run", "--loop", "react", "look"]).ends_with(0);
    let run = home.newest();
    let before = home.show(&run);
    home.run(["worker", "--drain", "--set", "store.keep=0ms"]).ends_with(0);
    let after = home.show(&run);
    for field in ["status", "text", "model_calls", "tool_calls", "usage"] {
        assert_eq!(before[field], after[field], "{field}");
    }
    let verdict = home.run(["replay", "--verify", &run]).ends_with(1);
    assert!(verdict.stdout.starts_with("Cannot be verified"), "{}", verdict.stdout);
}
