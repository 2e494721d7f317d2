//! Canceling: from elsewhere, with Ctrl-C, and what a polite end leaves.

use crate::support::{Home, ask, calls, eventually, of_type, plan, says, short};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Generous: a loaded machine must not fail a test, a hanging one must.
const SOON: Duration = Duration::from_secs(5);

fn endless_reply() -> Value {
    json!({"text": "a b c d e f g h", "chunk": 2, "delay_ms": 60_000})
}

fn endless_command() -> Value {
    calls("shell", json!({"command": "echo $$ > begun; setsid sleep 1000 & sleep 1000"}))
}

#[test]
fn a_run_is_canceled_from_elsewhere_while_the_model_speaks() {
    let home = Home::scripted(&[endless_reply()]);
    let mut run = home.spawn(["run", "--loop", "react", "--output-format", "stream-json", "talk"]);
    run.until("step.started");
    let id = home.newest();
    let begun = Instant::now();
    home.run(["runs", "cancel", &id]).ends_with(0).says(&["was canceled"]);
    let ended = run.ended().ends_with(130);
    assert!(begun.elapsed() < SOON);
    assert_eq!(ended.lines().last().unwrap()["status"], "canceled");
    assert_eq!(home.status(&id), "canceled");
    home.verified(&id);
}

#[test]
fn a_run_is_canceled_from_elsewhere_during_a_command_and_its_processes_end() {
    let home = Home::scripted(&[endless_command(), says("never said")]);
    let run = home.spawn(["run", "--loop", "react", "--yes", "wait"]);
    eventually("the command", || home.work("begun").exists().then_some(()));
    let id = home.newest();
    let begun = Instant::now();
    home.run(["runs", "cancel", &id]).ends_with(0).says(&["was canceled"]);
    let ended = run.ended().ends_with(130);
    home.deserted();
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    assert!(ended.stdout.contains("Canceled"), "{}", ended.stdout);
    let events = home.events(&id);
    assert_eq!(of_type(&events, "tool.failed")[0]["ending"], "canceled");
    assert_eq!(of_type(&events, "run.canceled").len(), 1);
    home.verified(&id);
}

#[test]
fn a_waiting_run_is_canceled_without_anyone_driving_it() {
    let home = Home::scripted(&[plan(&["ask"]), ask("Really?")]);
    let id = home.run(["run", "ask"]).ends_with(3).stdout.trim().to_owned();
    home.run(["runs", "cancel", &id]).ends_with(0).says(&["was canceled"]);
    assert_eq!(home.status(&id), "canceled");
    home.run(["runs", "cancel", &id]).ends_with(0).says(&["already ended: canceled"]);
    home.verified(&id);
}

#[test]
fn a_killed_run_is_canceled_without_repeating_its_command() {
    let home = Home::scripted(&[endless_command()]);
    let run = home.spawn(["run", "--loop", "react", "--yes", "wait"]);
    eventually("the command", || home.work("begun").exists().then_some(()));
    run.kill9();
    home.deserted();
    std::fs::remove_file(home.work("begun")).unwrap();
    let id = home.newest();
    home.run(["runs", "cancel", &id]).ends_with(0).says(&["was canceled"]);
    assert!(!home.work("begun").exists());
    let shown = home.show(&id);
    assert_eq!(shown["status"], "canceled");
    assert!(shown["text"].as_str().unwrap().starts_with("Outcome unknown"), "{shown}");
    home.verified(&id);
}

#[test]
fn ctrl_c_cancels_the_run_in_the_foreground() {
    let home = Home::scripted(&[endless_reply()]);
    let mut run = home.spawn(["run", "--loop", "react", "--output-format", "stream-json", "talk"]);
    run.until("step.started");
    run.signal(Signal::INT);
    run.until("Canceling");
    run.ended().ends_with(130);
    let id = home.newest();
    assert_eq!(home.status(&id), "canceled");
    home.verified(&id);
}

#[test]
fn ctrl_c_ends_a_command_and_all_its_processes() {
    let home = Home::scripted(&[endless_command()]);
    let run = home.spawn(["run", "--loop", "react", "--yes", "wait"]);
    eventually("the command", || home.work("begun").exists().then_some(()));
    run.signal(Signal::INT);
    run.ended().ends_with(130);
    home.deserted();
    assert_eq!(home.status(&home.newest()), "canceled");
}

#[test]
fn ctrl_c_cancels_a_run_that_waits_for_another_process() {
    let home = Home::scripted(&[endless_reply()]);
    let mut busy = home.spawn(["run", "--loop", "react", "--output-format", "stream-json", "talk"]);
    busy.until("step.started");
    let mut second = home.spawn(["run", "--loop", "react", "second"]);
    let told = second.until("is saved and waits");
    let id = home.newest();
    assert!(told.contains(&id[id.len() - 8..]), "{told}");
    second.signal(Signal::INT);
    second.ended().ends_with(130);
    busy.kill9();
    home.rewrite(&[says("done")]);
    let after = home.run(["runs", "resume", &id]);
    assert_eq!((after.code, home.status(&id).as_str()), (Some(130), "canceled"));
}

#[test]
fn a_polite_end_leaves_the_run_to_be_resumed() {
    let home = Home::scripted(&[endless_reply()]);
    let mut run = home.spawn(["run", "--loop", "react", "--output-format", "stream-json", "talk"]);
    run.until("step.started");
    run.signal(Signal::TERM);
    let id = home.newest();
    run.ended().ends_with(143).says(&[&format!("everloop runs resume {}", short(&id))]);
    home.rewrite(&[says("a b c d e f g h")]);
    let ended = home.run(["runs", "resume", &id]).ends_with(0);
    assert_eq!(ended.stdout, "a b c d e f g h\n");
    home.verified(&id);
}

#[test]
fn a_polite_end_stops_a_command_and_writes_down_that_it_was_stopped() {
    let home = Home::scripted(&[endless_command(), says("I will look first.")]);
    let run = home.spawn(["run", "--loop", "react", "--yes", "wait"]);
    eventually("the command", || home.work("begun").exists().then_some(()));
    run.signal(Signal::TERM);
    run.ended().ends_with(143);
    home.deserted();
    let id = home.newest();
    let stopped = home.events(&id);
    assert_eq!(of_type(&stopped, "tool.failed")[0]["ending"], "canceled");
    let ended = home.run(["runs", "resume", &id]).ends_with(0);
    assert_eq!(ended.stdout, "I will look first.\n");
    home.verified(&id);
}

#[test]
fn ctrl_c_ends_code_that_would_run_for_ever() {
    if !std::path::Path::new("/usr/bin/python3").exists() {
        eprintln!("there is no Python of the system: nothing to stop");
        return;
    }
    let code = json!({"code": "open('begun', 'w').close()\nwhile True: pass"});
    let home = Home::scripted(&[calls("run_code", code)]);
    std::fs::write(home.work("sales.csv"), "region,amount\nEast,20\n").unwrap();
    let run = home.spawn(["analyze", "--yes", "sales.csv", "which region?"]);
    eventually("the code", || home.work("begun").exists().then_some(()));
    let begun = Instant::now();
    run.signal(Signal::INT);
    run.ended().ends_with(130);
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    home.deserted();
    assert_eq!(home.status(&home.newest()), "canceled");
}

#[test]
fn ctrl_c_ends_a_profile_while_its_file_is_loaded() {
    let home = Home::new();
    let rows = "East,Q2,4812.6\n".repeat(2_000_000);
    std::fs::write(home.work("sales.csv"), format!("region,quarter,amount\n{rows}")).unwrap();
    let folders = || {
        let found = std::fs::read_dir(home.data().join("analysis")).into_iter().flatten().flatten();
        found.filter(|entry| entry.path().is_dir()).count()
    };
    let profile = home.spawn(["analyze", "--profile", "sales.csv"]);
    eventually("the folder of the data", || (folders() > 0).then_some(()));
    let begun = Instant::now();
    profile.signal(Signal::INT);
    profile.ended().ends_with(130);
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    assert_eq!(folders(), 0, "nothing of the data is left behind");
}
