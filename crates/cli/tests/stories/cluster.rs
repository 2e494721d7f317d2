//! Many processes on one server: who died is taken over, who stands still does no harm.

use crate::support::{Home, calls, eventually, says};
use everloop_models::testing::{CannedReply, FakeServer};
use everloop_store::testing::PgServer;
use rustix::process::Signal;
use serde_json::json;
use std::time::{Duration, Instant};

const STREAM: [&str; 6] = ["run", "--loop", "react", "--yes", "--output-format", "stream-json"];

/// A home on a server of its own, whose workers count as dead after one second.
fn home(lease: &str) -> Home {
    let database = PgServer::durable().database();
    Home::scripted(&[])
        .with("EVERLOOP_STORE__DATABASE", &database.url)
        .with("EVERLOOP_WORKER__LEASE", lease)
}

fn gate(home: &Home) {
    let made = std::process::Command::new("mkfifo").arg(home.work("gate")).status().unwrap();
    assert!(made.success());
}

#[test]
fn a_neighbour_that_was_killed_is_taken_over_without_waiting_for_its_lease() {
    let home = home("10m");
    home.rewrite(&[json!({"text": "done", "delay_ms": 600_000})]);
    let mut first = home.spawn(STREAM.iter().chain([&"speak"]));
    first.until("step.started");
    first.kill9();
    let killed = Instant::now();
    let run = home.newest();
    assert_eq!(home.status(&run), "running");
    home.rewrite(&[says("done")]);
    let drained = home.run(["worker", "--drain"]).ends_with(0);
    drained.says(&[&format!("Resuming an interrupted run, {run}")]);
    assert!(killed.elapsed() < Duration::from_secs(60), "far less than the lease");
    assert_eq!(home.status(&run), "succeeded");
    home.verified(&run);
}

#[test]
fn row_09_a_worker_that_stands_still_is_taken_over_and_wakes_to_do_no_harm() {
    let home = home("1s").with("EVERLOOP_TOOLS__SHELL_TIMEOUT", "2s");
    gate(&home);
    let command = "echo once >> log; read line < gate";
    home.rewrite(&[calls("shell", json!({ "command": command })), says("seen")]);
    let mut sleeper = home.spawn(["run", "--loop", "react", "--yes", "append a line"]);
    eventually("the line", || (home.read("log") == "once\n").then_some(()));
    sleeper.signal(Signal::STOP);
    let run = home.newest();
    let mut heir = home.spawn(["worker"]);
    heir.until(&format!("Resuming an interrupted run, {run}"));
    heir.until(&format!("{run} ended"));
    sleeper.signal(Signal::CONT);
    sleeper.until("lease");
    let woken = sleeper.ended().ends_with(7);
    assert!(woken.stdout.contains("seen"), "it tells how the run ended: {}", woken.stdout);
    assert_eq!(home.read("log"), "once\n");
    let epochs: Vec<_> = home.events(&run).iter().filter_map(|e| e["epoch"].as_i64()).collect();
    assert!(epochs.is_sorted(), "an older owner wrote after a newer one: {epochs:?}");
    home.verified(&run);
    heir.signal(Signal::TERM);
    heir.ended().ends_with(143);
    home.deserted();
}

#[test]
fn a_worker_that_is_asked_to_stop_hands_its_runs_over_at_once() {
    let home = home("10m");
    gate(&home);
    home.rewrite(&[json!({"text": "x", "delay_ms": 600_000})]);
    let mut first = home.spawn(STREAM.iter().chain([&"speak"]));
    first.until("step.started");
    first.kill9();
    let run = home.newest();
    let mut leaving = home.spawn(["worker"]);
    leaving.until(&format!("Resuming an interrupted run, {run}"));
    home.rewrite(&[says("done")]);
    leaving.signal(Signal::TERM);
    leaving.ended().ends_with(143);
    home.run(["worker", "--drain"]).ends_with(0).says(&[&format!("{run} ended: succeeded")]);
    home.verified(&run);
}

#[test]
fn a_run_whose_worker_was_killed_is_canceled_without_waiting_for_its_lease() {
    let home = home("10m");
    home.rewrite(&[json!({"text": "done", "delay_ms": 600_000})]);
    let mut first = home.spawn(STREAM.iter().chain([&"speak"]));
    first.until("step.started");
    first.kill9();
    let run = home.newest();
    assert_eq!(home.status(&run), "running");
    home.run(["runs", "cancel", &run]).ends_with(0);
    assert_eq!(home.status(&run), "canceled");
    home.verified(&run);
}

/// Nobody took the run over: it is still its own, and nobody but itself can give it back.
#[test]
fn a_foreground_run_that_stood_still_too_long_alone_takes_itself_up_again() {
    let answer = CannedReply::status(200, "connection: close\r\n", "here");
    let server = FakeServer::start(vec![CannedReply::default().stall(), answer]);
    let host = server.url().replace("http://", "");
    let home = home("1s").with("EVERLOOP_TOOLS__HTTP_ALLOW", &host);
    home.rewrite(&[calls("http_get", json!({ "url": server.url() })), says("seen")]);
    let mut sleeper = home.spawn(["run", "--loop", "react", "--yes", "look"]);
    eventually("the request", || (server.seen().len() == 1).then_some(()));
    sleeper.signal(Signal::STOP);
    let stopped = Instant::now();
    let lease = Duration::from_secs(1);
    eventually("the end of the lease", || (stopped.elapsed() > lease).then_some(()));
    sleeper.signal(Signal::CONT);
    sleeper.until("lease");
    let ended = sleeper.ended().ends_with(0);
    assert_eq!(ended.stdout, "seen\n");
    assert_eq!(server.seen().len(), 2, "the request was made once more");
    home.verified(&home.newest());
}
