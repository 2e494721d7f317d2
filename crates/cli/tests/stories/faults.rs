//! Machines that sleep, outputs that cannot be written, damaged files, servers that go away.

use crate::support::{Home, calls, eventually, says};
use everloop_models::testing::{CannedReply, FakeServer};
use everloop_store::testing::PgServer;
use rusqlite::Connection;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Longer than the work that a run may take here.
const NAP: Duration = Duration::from_secs(12);

const REACT: [&str; 3] = ["run", "--loop", "react"];

fn with<'a>(args: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    args.iter().chain(more).copied().collect()
}

fn fifo(home: &Home, name: &str) {
    let made = std::process::Command::new("mkfifo").arg(home.work(name)).status().unwrap();
    assert!(made.success());
}

/// Stops the process for longer than its run may work.
fn nap(process: &crate::support::Spawned) {
    process.signal(Signal::STOP);
    let begun = Instant::now();
    eventually("the end of the nap", || (begun.elapsed() > NAP).then_some(()));
    process.signal(Signal::CONT);
}

#[test]
fn a_machine_that_sleeps_while_the_model_speaks_has_not_worked() {
    let home = Home::scripted(&[json!({"text": "done", "delay_ms": 500})]);
    let short = ["--set", "budget.work_time=10s", "--output-format", "stream-json", "go"];
    let mut run = home.spawn(with(&REACT, &short));
    run.until("step.started");
    nap(&run);
    run.ended().ends_with(0);
    assert_eq!(home.status(&home.newest()), "succeeded");
}

#[test]
fn a_machine_that_sleeps_while_a_command_runs_has_not_worked() {
    let command = "echo begun >> log; read line < gate";
    let home = Home::scripted(&[calls("shell", json!({"command": command})), says("one")]);
    fifo(&home, "gate");
    let mut run = home.spawn(with(&REACT, &["--yes", "--set", "budget.work_time=10s", "go"]));
    eventually("the command", || (home.read("log") == "begun\n").then_some(()));
    nap(&run);
    std::fs::write(home.work("gate"), "on\n").unwrap();
    run.until("one");
    run.ended().ends_with(0);
    assert_eq!(home.status(&home.newest()), "succeeded");
}

#[test]
fn output_that_a_full_disk_does_not_take_is_an_error() {
    let home = Home::scripted(&[says("done")]);
    home.run(with(&REACT, &["go"])).ends_with(0);
    home.run(["todo", "add", "milk"]).ends_with(0);
    let id = home.newest();
    let show = format!("runs show {id}");
    let export = format!("export {id}");
    for command in [
        "export --all",
        &export,
        "run --loop react go",
        "run --loop react --output-format json go",
        "-p go",
        "todo list",
        "todo list --json",
        "schedule list",
        "runs list",
        "runs list --json",
        &show,
        "audit",
        "config show",
        "doctor",
        "loops",
        "tools",
        "todo export",
        "man",
        "completion bash",
        "help",
        "--help",
        "--version",
    ] {
        let full = home.shell(&format!("everloop {command} > /dev/full"));
        assert!(full.code.is_some_and(|code| code != 0), "{command}: {full:?}");
        assert!(!full.stderr.contains("Exported"), "{}", full.stderr);
    }
    home.shell("everloop export --all > /dev/full || exit 9").ends_with(9);
}

#[test]
fn damage_of_an_import_is_one_exit_code_whatever_it_is() {
    let home = Home::scripted(&[says("done")]);
    home.run(with(&REACT, &["go"])).ends_with(0);
    let file = home.path("runs.jsonl");
    home.run(["export", "--all", "--out", file.to_str().unwrap()]).ends_with(0);
    let whole = std::fs::read(&file).unwrap();
    let other = Home::new();
    for (at, byte) in [(10, 0xff), (whole.len() / 2, 0xff), (whole.len() / 2, b'~')] {
        let mut bytes = whole.clone();
        bytes[at] = byte;
        std::fs::write(&file, bytes).unwrap();
        other.run(["import", file.to_str().unwrap()]).ends_with(6);
    }
    let none = other.run(["runs", "list", "--json"]).ends_with(0).json();
    assert_eq!(none["data"], json!([]));
}

#[test]
fn a_schema_that_says_nothing_clear_about_itself_is_refused_and_noticed_by_doctor() {
    for sql in [
        "UPDATE schema_meta SET v = 'soon' WHERE k = 'min_reader'",
        "UPDATE schema_meta SET v = '' WHERE k = 'schema_version'",
        "DELETE FROM schema_meta",
    ] {
        let home = Home::scripted(&[says("done")]);
        home.run(with(&REACT, &["go"])).ends_with(0);
        Connection::open(home.database()).unwrap().execute(sql, []).unwrap();
        for args in [&["runs", "list"][..], &["todo", "add", "x"], &["doctor"], &["backup"]] {
            home.run(args).ends_with(6);
        }
    }
}

#[test]
fn none_of_the_wanted_runs_is_not_no_run_at_all() {
    let home = Home::scripted(&[says("done")]);
    assert!(home.run(["runs", "list"]).ends_with(0).stdout.contains("No runs yet"));
    home.run(with(&REACT, &["go"])).ends_with(0);
    let none = home.run(["runs", "list", "--status", "waiting"]).ends_with(0);
    assert!(none.stdout.contains("No matching runs"), "{}", none.stdout);
}

#[test]
fn a_run_that_is_told_to_stop_while_it_sends_says_so_by_its_exit_code() {
    let server = FakeServer::start(vec![CannedReply::default().stall()]);
    let url = format!("{}/orders", server.url());
    let send = calls("http_send", json!({"method": "POST", "url": url, "body": "{}"}));
    let home = Home::scripted(&[send, says("sent")])
        .with("EVERLOOP_TOOLS__HTTP_ALLOW", &server.url().replace("http://", ""));
    let run = home.spawn(with(&REACT, &["--yes", "go"]));
    eventually("the request", || (server.seen().len() == 1).then_some(()));
    run.signal(Signal::TERM);
    run.ended().ends_with(143);
}

/// Bytes that would move the cursor, ring, or end in a log as they are.
#[test]
fn a_reply_that_is_no_text_is_quoted_without_its_controls() {
    let garbage = "\u{1b}[2J\u{7}\u{8}half a\u{9b}1m reply";
    let packed: Vec<u8> = [&b"\x1f\x8b\x08\x00\x1b[31m\x07"[..], &[0x85; 20]].concat();
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                 content-encoding: gzip\r\nconnection: close\r\n\r\n";
    for reply in [
        CannedReply::status(400, "", garbage),
        CannedReply::json(garbage),
        CannedReply::raw([&head[..], &packed].concat()).cut(),
    ] {
        let server = FakeServer::start(vec![reply.clone(), reply.clone(), reply]);
        let home = Home::new().endpoint(&server.url());
        let few = ["--set", "model.attempts=1", "--set", "model.patience=100ms", "go"];
        let ran = home.run(with(&REACT, &few));
        assert_ne!(ran.code, Some(0));
        let id = home.newest();
        let shown = home.run(["runs", "show", &id]).ends_with(0);
        let told = home.run(["replay", &id]).ends_with(0);
        for text in [ran.stdout, ran.stderr, shown.stdout, told.stdout] {
            let is_odd = |c: char| c.is_control() && c != '\n' && c != '\t';
            assert!(!text.contains(is_odd), "{text:?}");
        }
    }
}

#[test]
fn the_audit_file_is_written_as_calls_end_and_a_full_disk_stops_no_run() {
    let replies = [
        calls("shell", json!({"command": "echo hi"})),
        calls("shell", json!({"command": "read line < gate"})),
        says("done"),
    ];
    let home = Home::scripted(&replies);
    fifo(&home, "gate");
    let file = home.path("audit.jsonl");
    let set = format!("audit.file={}", file.display());
    let run = home.spawn(with(&REACT, &["--yes", "--set", &set, "go"]));
    let first: Value = eventually("the first line", || {
        let text = std::fs::read_to_string(&file).ok()?;
        serde_json::from_str(text.lines().next()?).ok()
    });
    assert_eq!(first["tool"], "shell");
    std::fs::write(home.work("gate"), "on\n").unwrap();
    run.ended().ends_with(0);
    assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), 2);
    home.rewrite(&[calls("shell", json!({"command": "echo hi"})), says("done")]);
    let full = home.run(with(&REACT, &["--yes", "--set", "audit.file=/dev/full", "go"]));
    full.ends_with(0).says(&["/dev/full", "everloop audit"]);
}

/// A home on a server of its own that can be stopped.
fn served() -> (PgServer, Home) {
    let server = PgServer::own_durable();
    let url = server.database().url;
    (server, Home::scripted(&[says("done")]).with("EVERLOOP_STORE__DATABASE", &url))
}

#[test]
fn a_foreground_run_waits_until_its_server_is_back() {
    let (server, home) = served();
    home.rewrite(&[calls("shell", json!({"command": "read line < gate"})), says("done")]);
    fifo(&home, "gate");
    let mut run = home.spawn(with(&REACT, &["--yes", "go"]));
    eventually("the command", || home.processes().iter().any(|p| p.contains("gate")).then_some(()));
    server.stop();
    std::fs::write(home.work("gate"), "on\n").unwrap();
    run.until("does not answer");
    server.start();
    let ran = run.ended();
    assert!(matches!(ran.code, Some(0 | 7)), "{ran:?}");
    home.verified(&home.newest());
}

#[test]
fn a_worker_that_starts_while_its_server_is_away_waits_for_it() {
    let (server, home) = served();
    let queued = home.run(with(&REACT, &["--background", "go"])).ends_with(0);
    let id = queued.stdout.trim_end().to_owned();
    server.stop();
    let mut worker = home.spawn(["worker", "--drain"]);
    worker.until("does not answer");
    server.start();
    worker.ended().ends_with(0).says(&[&format!("{id} ended: succeeded")]);
}

/// The call may be anywhere between its intent and its end: wherever it was cut short, its owner is
/// proved dead here, so nobody waits until it must be over.
#[test]
fn a_call_of_a_dead_process_of_this_machine_is_not_waited_for() {
    let database = PgServer::durable().database();
    let home = Home::scripted(&[]).with("EVERLOOP_STORE__DATABASE", &database.url);
    for _ in 0..3 {
        home.rewrite(&[calls("shell", json!({"command": "true"})), says("done")]);
        let stream = ["--yes", "--output-format", "stream-json", "--set", "tools.shell_timeout=1h"];
        let mut run = home.spawn(with(&with(&REACT, &stream), &["go"]));
        run.until("tool.started");
        run.kill9();
        let id = home.newest();
        home.run(["worker", "--drain"]).ends_with(0);
        let status = home.status(&id);
        assert!(["succeeded", "unsettled"].contains(&status.as_str()), "{status}");
    }
}
