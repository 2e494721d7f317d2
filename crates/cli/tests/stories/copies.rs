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
    zh.says(&["正在执行任务"]);
    run.kill9();
    home.rewrite(&[slow[0].clone(), says("done")]);
    let id = home.newest();
    let restored = home.run(restore(&copy, &["--yes"])).ends_with(0);
    restored.says(&["1 run in the backup had not ended"]);
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
    home.run(restore(&recipes, &["--yes"])).ends_with(6).says(&["not an everloop database"]);
    let conn = Connection::open(&copy).unwrap();
    conn.execute_batch("UPDATE schema_meta SET v = '99'").unwrap();
    drop(conn);
    home.run(restore(&copy, &["--yes"])).ends_with(6).says(&["was written by a newer everloop"]);
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
    home.run(again).ends_with(2).says(&["copy.db", "was not overwritten"]);
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

/// Writes into a database behind the program's back.
fn tamper(file: &Path, sql: &str) {
    Connection::open(file).unwrap().execute_batch(sql).unwrap();
}

/// Allows `touch PROOF` for good in a home's workspace.
fn allow_for_good(home: &Home, file: &Path) {
    let workspace = home.work("").canonicalize().unwrap().display().to_string();
    let resource = r#"args:{"command":"touch PROOF"}"#;
    let id = everloop_types::digest_json(&(&workspace, "shell", resource))[..12].to_owned();
    let sql = "INSERT INTO standing_approvals VALUES (?1, ?2, 'shell', ?3, 'user', 1)";
    let db = Connection::open(file).unwrap();
    db.execute(sql, [id, workspace, resource.to_owned()]).unwrap();
}

fn touches() -> Home {
    Home::scripted(&[calls("shell", json!({"command": "touch PROOF"})), says("done")])
}

#[test]
fn what_another_home_allowed_for_good_is_not_allowed_here() {
    let (theirs, run) = with_run();
    let copy = back_up(&theirs, "copy.db");
    let home = touches();
    home.run(["runs", "list"]).ends_with(0);
    allow_for_good(&home, &copy);
    home.run(restore(&copy, &[])).ends_with(3).says(&["not written by this data folder"]);
    let told = home.run(restore(&copy, &["--yes"])).ends_with(0);
    told.says(&["not written by this data folder", "1 standing approval was not restored"]);
    let none = home.run(["approvals"]).ends_with(0).stdout;
    assert!(none.contains("No standing approvals"), "{none}");
    home.run(RUN).ends_with(3).says(&["Run this command?"]);
    assert!(!home.work("PROOF").exists());
    assert_eq!(home.show(&run)["imported"], json!(true));
    home.rewrite(&[says("the parent's reply"), says("hi")]);
    home.run(["fork", &run, "go on"]).ends_with(0).says(&["was imported from a file"]);
    let zh = home.run(restore(&copy, &["--yes", "--lang", "zh-CN"])).ends_with(0);
    zh.says(&["不是由这个数据目录写成的", "没有保留的长期批准：1"]);
}

#[test]
fn what_this_home_allowed_for_good_comes_back_with_its_backup() {
    let home = touches();
    home.run(["runs", "list"]).ends_with(0);
    allow_for_good(&home, &home.database());
    let copy = back_up(&home, "copy.db");
    let mode = std::fs::metadata(home.data().join("home.id")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    for gone in [false, true] {
        if gone {
            std::fs::remove_file(home.database()).unwrap();
        }
        let told = home.run(restore(&copy, &["--yes"])).ends_with(0);
        assert!(!told.stderr.contains("not written by"), "{}", told.stderr);
        home.run(RUN).ends_with(0);
        assert!(home.work("PROOF").exists(), "it is allowed for good");
        assert_eq!(home.show(&home.newest())["imported"], json!(false));
        std::fs::remove_file(home.work("PROOF")).unwrap();
        home.rewrite(&[calls("shell", json!({"command": "touch PROOF"})), says("done")]);
    }
}

#[test]
fn a_data_folder_that_moves_as_a_whole_keeps_what_it_allows() {
    let home = touches();
    home.run(["runs", "list"]).ends_with(0);
    allow_for_good(&home, &home.database());
    let copy = back_up(&home, "copy.db");
    let moved = home.path("moved");
    std::fs::create_dir(&moved).unwrap();
    for name in ["everloop.db", "home.id"] {
        std::fs::copy(home.data().join(name), moved.join(name)).unwrap();
    }
    let home = home.with("EVERLOOP_HOME", moved.to_str().unwrap());
    let told = home.run(restore(&copy, &["--yes"])).ends_with(0);
    assert!(!told.stderr.contains("not written by"), "{}", told.stderr);
    home.run(RUN).ends_with(0);
    assert!(home.work("PROOF").exists());
}

#[test]
fn a_file_with_triggers_or_views_is_neither_restored_nor_opened() {
    let (home, id) = with_run();
    let good = back_up(&home, "good.db");
    for (sql, name) in [
        (
            "CREATE TRIGGER evil AFTER INSERT ON journal BEGIN DELETE FROM inbox; END",
            "trigger evil",
        ),
        ("CREATE VIEW evil AS SELECT * FROM runs", "view evil"),
        ("DROP INDEX journal_outcome", "index journal_outcome"),
    ] {
        let copy = home.path("evil.db");
        std::fs::copy(&good, &copy).unwrap();
        tamper(&copy, sql);
        let before = std::fs::read(home.database()).unwrap();
        let refused = home.run(restore(&copy, &["--yes"])).ends_with(6);
        refused.says(&[name, "did not write", "Nothing was changed"]);
        let zh = home.run(restore(&copy, &["--yes", "--lang", "zh-CN"])).ends_with(6);
        zh.says(&[name, "不是 everloop 写的内容"]);
        assert_eq!(std::fs::read(home.database()).unwrap(), before);
        tamper(&home.database(), sql);
        home.run(RUN).ends_with(6).says(&[name]);
        assert!(home.run(["doctor"]).ends_with(6).stdout.contains(name));
        home.run(restore(&good, &["--yes"])).ends_with(0);
        assert_eq!(runs(&home), [id.as_str()], "a backup is the way out");
        home.run(["runs", "list"]).ends_with(0);
    }
}

/// Released places belong to the talk in which the person released them.
#[test]
fn what_was_opened_in_another_homes_talk_stays_shut_here() {
    let theirs = Home::scripted(&[says("hello")]);
    theirs.chat(&["hi"]).ends_with(0);
    let copy = back_up(&theirs, "copy.db");
    let home = Home::scripted(&[says("hi")]);
    home.run(restore(&copy, &["--yes"])).ends_with(0);
    let ours = home.run(["conversations", "--json"]).ends_with(0).json();
    let id = ours["data"][0]["conversation_id"].as_str().unwrap().to_owned();
    home.chat(&[&format!("/resume {id}"), "go on"]).ends_with(0);
    let held = &home.show(&home.newest())["labels"];
    assert_eq!(
        (&held["privacy"], &held["trust"]),
        (&json!("private"), &json!("untrusted")),
        "{held}"
    );
    assert_eq!(held["released"], json!([]));
}
