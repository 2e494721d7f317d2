//! `everloop backup` and `everloop restore`.

use crate::support::{Home, Spawned, calls, says};
use rusqlite::Connection;
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const RUN: [&str; 4] = ["run", "--loop", "react", "go"];

/// A home with one finished run.
fn with_run() -> (Home, String) {
    let home = Home::scripted(&[says("done")]);
    home.run(RUN).ends_with(0);
    let id = home.newest();
    (home, id)
}

fn runs(home: &Home) -> Vec<String> {
    let list = home.run(["runs", "list", "--json"]).ends_with(0).json();
    let all = list["data"].as_array().unwrap();
    all.iter().map(|run| run["run_id"].as_str().unwrap().to_owned()).collect()
}

fn back_up(home: &Home, name: &str) -> PathBuf {
    let file = home.path(name);
    home.run(["backup", file.to_str().unwrap()]).ends_with(0);
    file
}

fn restore<'a>(file: &'a Path, more: &[&'a str]) -> Vec<&'a str> {
    ["restore", file.to_str().unwrap()].into_iter().chain(more.iter().copied()).collect()
}

#[test]
fn what_was_backed_up_comes_back_and_can_be_undone() {
    let (home, first) = with_run();
    let told = home.run(["backup"]).ends_with(0).says(&["Runs: 1,", "everloop restore"]);
    let copy = PathBuf::from(told.stdout.trim_end());
    assert_eq!(copy.parent().unwrap(), home.data().join("backups"));
    assert_eq!(std::fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    home.run(RUN).ends_with(0);
    let second = home.newest();
    let restored = home.run(restore(&copy, &["--yes"])).ends_with(0);
    assert_eq!(runs(&home), [first.as_str()]);
    home.verified(&first);
    let kept = restored.stderr.split("everloop restore ").nth(1).unwrap().trim_end().to_owned();
    home.run(["restore", &kept, "--yes"]).ends_with(0);
    assert_eq!(runs(&home), [second.as_str(), first.as_str()]);
    home.verified(&second);
    home.run(RUN).ends_with(0);
}

#[test]
fn a_backup_is_whole_while_a_worker_runs_and_a_restore_has_to_wait() {
    let slow =
        [calls("list_dir", json!({"path": "."})), json!({"text": "done", "delay_ms": 600_000})];
    let home = Home::scripted(&slow);
    let mut run: Spawned = home.spawn(RUN);
    run.until("list_dir");
    let copy = back_up(&home, "copy.db");
    let refused = home.run(restore(&copy, &["--yes"])).ends_with(6);
    refused.says(&[&run.pid().to_string(), "Nothing was changed"]);
    let zh = home.run(restore(&copy, &["--yes", "--lang", "zh-CN"])).ends_with(6);
    zh.says(&["正在驱动运行"]);
    run.kill9();
    home.rewrite(&[slow[0].clone(), says("done")]);
    let id = home.newest();
    let restored = home.run(restore(&copy, &["--yes"])).ends_with(0);
    restored.says(&["in the backup that had not ended: 1"]);
    assert_eq!(home.status(&id), "quarantined");
    home.run(["fork", &id, "go on"]).ends_with(0);
    home.verified(&home.newest());
}

/// What the run did after the backup is not in it.
#[test]
fn a_run_that_had_not_ended_in_a_backup_repeats_nothing_after_a_restore() {
    let pay = |n: u32| calls("shell", json!({"command": format!("echo {n} >> log")}));
    let mut slow = pay(2);
    slow["delay_ms"] = json!(600_000);
    let home = Home::scripted(&[pay(1), slow]);
    let mut first = home.spawn(["run", "--loop", "react", "--yes", "pay twice"]);
    first.until("exit code 0");
    let id = home.newest();
    let copy = back_up(&home, "copy.db");
    first.kill9();
    let all = [pay(1), pay(2), says("Paid twice.")];
    home.rewrite(&all);
    home.run(["runs", "resume", &id]).ends_with(0);
    assert_eq!(home.read("log"), "1\n2\n");
    home.run(restore(&copy, &["--yes"])).ends_with(0).says(&["kept as history"]);
    assert_eq!(home.status(&id), "quarantined");
    home.run(["worker", "--drain"]).ends_with(0);
    home.rewrite(&[says("hi")]);
    home.run(RUN).ends_with(0);
    home.run(["runs", "resume", &id]);
    assert_eq!((home.read("log").as_str(), home.status(&id).as_str()), ("1\n2\n", "quarantined"));
    let left = std::fs::read_dir(home.data()).unwrap().flatten();
    assert!(
        !left.map(|file| file.file_name()).any(|name| name.to_string_lossy().contains("restoring"))
    );
}

#[test]
fn a_copy_that_is_cut_short_foreign_or_newer_is_refused_and_nothing_changes() {
    let (home, id) = with_run();
    let copy = back_up(&home, "copy.db");
    let whole = std::fs::read(&copy).unwrap();
    let before = std::fs::read(home.database()).unwrap();
    let cut = home.path("cut.db");
    std::fs::write(&cut, &whole[..whole.len() / 2]).unwrap();
    home.run(restore(&cut, &["--yes"])).ends_with(6).says(&["cut.db", "incomplete or damaged"]);
    let zh = home.run(restore(&cut, &["--yes", "--lang", "zh-CN"])).ends_with(6);
    zh.says(&["备份不完整或已损坏"]);
    let letter = home.path("letter.db");
    std::fs::write(&letter, "a letter").unwrap();
    home.run(restore(&letter, &["--yes"])).ends_with(6).says(&["letter.db"]);
    let recipes = home.path("recipes.db");
    let conn = Connection::open(&recipes).unwrap();
    conn.execute_batch("CREATE TABLE recipes (name TEXT)").unwrap();
    drop(conn);
    home.run(restore(&recipes, &["--yes"])).ends_with(6).says(&["no database of everloop"]);
    let conn = Connection::open(&copy).unwrap();
    conn.execute_batch("UPDATE schema_meta SET v = '99'").unwrap();
    drop(conn);
    home.run(restore(&copy, &["--yes"])).ends_with(6).says(&["a newer everloop wrote it"]);
    home.run(restore(&home.path("none.db"), &["--yes"])).ends_with(2).says(&["none.db"]);
    home.run(restore(&home.database(), &["--yes"])).ends_with(2);
    assert_eq!(std::fs::read(home.database()).unwrap(), before);
    assert_eq!(runs(&home), [id]);
}

#[test]
fn nothing_is_replaced_without_a_yes_and_no_file_is_written_over() {
    let (home, first) = with_run();
    let copy = back_up(&home, "copy.db");
    home.run(RUN).ends_with(0);
    let second = home.newest();
    home.run(restore(&copy, &[])).ends_with(3).says(&["--yes", "Nothing was changed"]);
    assert_eq!(runs(&home), [second, first]);
    let again = ["backup", copy.to_str().unwrap()];
    home.run(again).ends_with(2).says(&["copy.db", "not written over"]);
    std::fs::write(home.path("file"), "x").unwrap();
    let below = home.path("file").join("copy.db");
    home.run(["backup", below.to_str().unwrap()]).ends_with(6).says(&["file/copy.db"]);
    Home::new().run(["backup"]).ends_with(6).says(&["nothing to back up yet"]);
}

#[test]
fn a_restore_works_where_the_database_is_gone_or_ruined() {
    let (home, id) = with_run();
    let copy = back_up(&home, "copy.db");
    std::fs::remove_file(home.database()).unwrap();
    home.run(restore(&copy, &["--yes"])).ends_with(0).says(&["There was no data before"]);
    assert_eq!(runs(&home), [id.as_str()]);
    std::fs::write(home.database(), "a letter, and no database at all").unwrap();
    let restored = home.run(restore(&copy, &["--yes"])).ends_with(0);
    let kept = restored.stderr.split("everloop restore ").nth(1).unwrap().trim_end().to_owned();
    assert_eq!(std::fs::read_to_string(kept).unwrap(), "a letter, and no database at all");
    assert_eq!(runs(&home), [id.as_str()]);
    home.verified(&id);
}
