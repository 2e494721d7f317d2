//! Upgrades: what an earlier everloop began, this one finishes; what this one began, an earlier one
//! goes on with or refuses in words.

use crate::support::{Home, calls, eventually, of_type, says};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::path::PathBuf;

/// A database that the first release wrote; `fixtures/README.md` says how.
const GOLDEN: &[u8] = include_bytes!("../fixtures/v0.1.db");

/// One row of the journal, as it lies there.
type Row = (String, i64, String, i64, i64, String);

fn rows(home: &Home) -> Vec<Row> {
    let conn = Connection::open(home.database()).unwrap();
    let sql = "SELECT run_id, seq, kind, fmt, crc, body FROM journal ORDER BY run_id, seq";
    let mut all = conn.prepare(sql).unwrap();
    let read = |row: &rusqlite::Row<'_>| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?))
    };
    all.query_map([], read).unwrap().map(Result::unwrap).collect()
}

/// Checks that every row that was there is there, to the last byte.
#[track_caller]
fn all_kept(home: &Home, before: &[Row]) {
    let now = rows(home);
    for row in before {
        assert!(now.contains(row), "this row was changed: {row:?}");
    }
}

/// The runs of the golden database, by their status.
fn by_status(home: &Home, status: &str) -> String {
    let list = home.run(["runs", "list", "--json"]).ends_with(0).json();
    let runs = list["data"].as_array().unwrap();
    let found = runs.iter().find(|run| run["status"] == status);
    found.unwrap_or_else(|| panic!("none is {status}: {list}"))["run_id"].as_str().unwrap().into()
}

/// A home with the golden database. Its scripts have names relative to the workspace.
fn golden() -> Home {
    let home = Home::new();
    std::fs::write(home.database(), GOLDEN).unwrap();
    let script = |name: &str, replies: &[Value]| {
        std::fs::write(home.work(name), json!({ "replies": replies }).to_string()).unwrap();
    };
    let question = calls("ask_user", json!({"question": "Which colour?"}));
    script("waiting.json", &[question, says("It will be red.")]);
    let command = calls("shell", json!({"command": "echo once >> log; cat gate"}));
    script("killed.json", &[command, says("I looked: the line is there.")]);
    script("queued.json", &[says("Begun by nobody, ended at last.")]);
    home
}

#[test]
fn row_24_a_database_of_the_first_release_is_migrated_and_every_run_in_it_is_finished() {
    let home = golden();
    let before = rows(&home);
    let [finished, waiting, killed, queued] =
        ["succeeded", "waiting", "running", "queued"].map(|status| by_status(&home, status));
    let copies = std::fs::read_dir(home.data()).unwrap().flatten();
    let mut names = copies.map(|file| file.file_name().to_string_lossy().into_owned());
    assert!(names.any(|name| name.contains(".before-v")), "a copy of the old file is kept");

    let worked = home.run(["worker", "--drain"]).ends_with(0);
    worked.says(&[&format!("{killed} ended: unsettled"), &format!("{queued} ended: succeeded")]);
    let answered = home.run(["runs", "resume", &waiting, "--answer", "red"]).ends_with(0);
    assert_eq!(answered.stdout, "It will be red.\n");

    assert_eq!(home.show(&finished)["text"], "The note says milk.");
    assert_eq!(home.show(&queued)["text"], "Begun by nobody, ended at last.");
    let shown = home.show(&killed);
    let first_line = shown["text"].as_str().unwrap().lines().next().unwrap();
    assert!(first_line.starts_with("Outcome unknown, not repeated: shell"), "{first_line}");
    assert!(!home.work("log").exists(), "the command was not run again");
    let events = home.events(&killed);
    assert_eq!(of_type(&events, "tool.failed")[0]["ending"], "unknown");
    // Prompts and contracts were worded anew since: their decisions are not recomputed.
    all_kept(&home, &before);
}

/// The everloop of the commit before, which `./check` builds. Without it there is nothing to play.
fn previous() -> Option<PathBuf> {
    let path = std::env::var_os("EVERLOOP_PREVIOUS_BINARY").map(PathBuf::from);
    match &path {
        Some(path) => assert!(path.is_file(), "{} is not there", path.display()),
        None => eprintln!("EVERLOOP_PREVIOUS_BINARY is not set: ./check says why"),
    }
    path
}

/// Work that is cut short twice: after a file was written, and inside a command.
fn script() -> [Value; 3] {
    [
        calls("write_file", json!({"path": "a.txt", "content": "one"})),
        calls("shell", json!({"command": "echo once >> log; cat gate"})),
        says("The line is there."),
    ]
}

/// A home in which a run was killed inside its command, by this program or another.
fn killed_inside(program: &std::path::Path) -> (Home, String) {
    let home = Home::scripted(&script());
    let made = std::process::Command::new("mkfifo").arg(home.work("gate")).status().unwrap();
    assert!(made.success());
    let args = ["run", "--loop", "react", "--yes", "append a line"];
    let mut first = home.spawn_by(program, args);
    first.until("shell");
    eventually("the line", || (home.read("log") == "once\n").then_some(()));
    first.kill9();
    home.deserted();
    let run = home.newest();
    (home, run)
}

/// What must hold at the end, whoever drove it there.
#[track_caller]
fn ended_unsettled(home: &Home, run: &str, before: &[Row]) {
    assert_eq!(home.status(run), "unsettled");
    assert_eq!(home.read("log"), "once\n", "the command was not run again");
    assert_eq!(home.read("a.txt"), "one");
    home.verified(run);
    all_kept(home, before);
}

#[test]
fn row_24_a_run_that_the_previous_build_began_is_finished_by_this_one() {
    let Some(previous) = previous() else { return };
    let (home, run) = killed_inside(&previous);
    let before = rows(&home);
    let resumed = home.run(["runs", "resume", &run]).ends_with(7);
    assert!(resumed.stdout.starts_with("Outcome unknown, not repeated: shell"));
    ended_unsettled(&home, &run, &before);
}

#[test]
fn row_24_a_run_of_this_build_is_refused_in_words_or_finished_by_the_previous_one() {
    let Some(previous) = previous() else { return };
    let (home, run) = killed_inside(std::path::Path::new(env!("CARGO_BIN_EXE_everloop")));
    let before = rows(&home);
    let old = home.spawn_by(&previous, ["runs", "resume", &run]).ended();
    match old.code {
        // It may know less than this one, but not pretend: the reason names what it cannot read.
        Some(6) => {
            let named = old.stderr.contains("format") || old.stderr.contains("schema");
            assert!(named && old.stderr.contains("newer"), "{}", old.stderr);
            assert_eq!(rows(&home), before, "a run that was refused is left as it is");
            home.run(["runs", "resume", &run]).ends_with(7);
        }
        code => assert_eq!(code, Some(7), "{} {}", old.stdout, old.stderr),
    }
    ended_unsettled(&home, &run, &before);
}
