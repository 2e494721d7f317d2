//! `everloop doctor`: looks at everything, changes nothing, and says what to do.

use crate::support::{Home, says};
use everloop_models::testing::FakeServer;
use serde_json::{Value, json};
use std::path::Path;
use std::time::SystemTime;

const RUN: [&str; 4] = ["run", "--loop", "react", "go"];

/// Every file below a folder, with its bytes and the time of its last change.
fn all(folder: &Path) -> Vec<(String, Vec<u8>, SystemTime)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => found.extend(all(&path)),
            false => {
                let changed = entry.metadata().unwrap().modified().unwrap();
                found.push((path.display().to_string(), std::fs::read(&path).unwrap(), changed));
            }
        }
    }
    found.sort();
    found
}

fn check<'a>(report: &'a Value, name: &str) -> &'a Value {
    let checks = report["checks"].as_array().unwrap();
    checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("{name}: {report}"))
}

#[test]
fn a_look_at_a_database_leaves_every_byte_as_it_is() {
    let home = Home::scripted(&[says("done")]);
    home.run(RUN).ends_with(0);
    let before = all(&home.data());
    home.run(["doctor"]).ends_with(0);
    let report = home.run(["doctor", "--json"]).ends_with(0).json();
    assert!(all(&home.data()) == before, "doctor changed a file");
    assert_eq!(
        (&report["schema"], &report["quick_check"]),
        (&json!(everloop_store::SCHEMA_VERSION), &json!("ok"))
    );
    assert_eq!((&report["open_runs"], &report["ok"]), (&json!(0), &json!(true)));
    assert!(report["free_bytes"].is_u64() && report["bytes_on_disk"].is_u64(), "{report}");
}

#[test]
fn a_database_of_an_earlier_release_is_told_of_and_not_brought_up_to_date() {
    let home = Home::new();
    std::fs::write(home.database(), include_bytes!("../fixtures/v0.1.db")).unwrap();
    let before = all(&home.data());
    let report = home.run(["doctor", "--json"]).ends_with(0).json();
    assert!(all(&home.data()) == before, "doctor changed a file");
    assert_eq!((&report["schema"], &report["open_runs"]), (&json!(1), &json!(3)));
    assert_eq!(check(&report, "database")["state"], "note");
}

#[test]
fn who_drives_runs_is_seen_while_it_does() {
    let home = Home::scripted(&[says("done")]);
    let mut worker = home.spawn(["worker"]);
    worker.until("Ready");
    let report = home.run(["doctor", "--json"]).ends_with(0).json();
    assert_eq!(report["driven_by_pid"], worker.pid());
}

#[test]
fn each_line_has_a_mark_and_advice_stands_below_in_both_languages() {
    let home = Home::new();
    let text = home.run(["doctor"]).ends_with(0).stdout;
    for words in ["✔ version", "○ model", "    → Choose a model: everloop config setup", "✔ clock"]
    {
        assert!(text.contains(words), "{words:?} is not in {text}");
    }
    let text = home.run(["doctor", "--lang", "zh-CN"]).ends_with(0).stdout;
    for words in ["✔ 版本", "○ 模型", "    → 选择模型：everloop config setup", "✔ 时钟"]
    {
        assert!(text.contains(words), "{words:?} is not in {text}");
    }
    assert_eq!(std::fs::read_dir(home.data()).unwrap().count(), 0);
}

#[test]
fn faults_of_the_settings_are_named_with_their_line() {
    let home = Home::new();
    std::fs::write(home.data().join("config.toml"), "[loop]\nmax_steps = \"many\"\n").unwrap();
    let report = home.run(["doctor", "--json"]).ends_with(5).json();
    let fault = check(&report, "config_file");
    assert_eq!(fault["state"], "wrong");
    assert!(fault["detail"].as_str().unwrap().contains("Line 2: "), "{fault}");
    let text = home.run(["doctor", "--lang", "zh-CN"]).ends_with(5).stdout;
    assert!(text.contains("第 2 行") && text.contains("everloop config edit"), "{text}");
    let home = Home::new().with("EVERLOOP_UI__TIME_ZONE", "Mars/Olympus");
    let report = home.run(["doctor", "--json"]).ends_with(5).json();
    let wrong = report["checks"].as_array().unwrap().iter().find(|it| it["state"] == "wrong");
    assert!(wrong.unwrap()["detail"].as_str().unwrap().contains("ui.time_zone"), "{report}");
}

#[test]
fn a_model_is_tried_by_a_connection_and_never_asked() {
    let server = FakeServer::openai(vec![]);
    let home = Home::new().endpoint(&server.url());
    let report = home.run(["doctor", "--json"]).ends_with(0).json();
    assert_eq!(report["model_reachable"], true);
    assert!(server.seen().is_empty());
    let home = home.with("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
    let report = home.run(["doctor", "--json"]).ends_with(5).json();
    assert_eq!(report["model_reachable"], false);
    assert_eq!(check(&report, "model")["state"], "wrong");
}

#[test]
fn a_damaged_database_is_named_with_a_way_out() {
    let home = Home::scripted(&[says("done")]);
    home.run(RUN).ends_with(0);
    let conn = rusqlite::Connection::open(home.database()).unwrap();
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop(conn);
    let mut bytes = std::fs::read(home.database()).unwrap();
    // Inside the second page, where a tree of the database begins.
    bytes[4096..4160].fill(0xff);
    std::fs::write(home.database(), bytes).unwrap();
    let report = home.run(["doctor", "--json"]).ends_with(6).json();
    let found = check(&report, "database");
    assert_eq!(found["state"], "wrong");
    assert!(found["advice"].as_str().unwrap().contains("everloop restore"), "{found}");
}

#[test]
fn what_stands_in_this_folder_is_told_and_a_home_is_called_one() {
    let mut home = Home::scripted(&[says("done")]);
    home.shell("git init -q");
    let report = home.run(["doctor", "--json"]).ends_with(0).json();
    // Where the machine has the whole sandbox, a repository is no reason to go without.
    if report["sandbox"] == "full" {
        assert_eq!(check(&report, "workspace")["state"], "ok");
        assert_eq!(report["sandbox_here"], true);
    }
    home.shell("mv .git elsewhere; ln -s elsewhere .git");
    let report = home.run(["doctor", "--json"]).ends_with(0).json();
    assert_eq!(report["sandbox_here"], false, "{report}");
    let told = check(&report, "workspace")["detail"].as_str().unwrap().to_owned();
    assert!(told.contains(".git is a link"), "{told}");
    home.shell("rm .git");
    home.set("HOME", &home.work("").display().to_string());
    let text = home.run(["doctor"]).ends_with(0).stdout;
    assert!(text.contains("This is your home"), "{text}");
    let run = home.run(RUN).ends_with(0).stderr;
    assert!(run.contains("the workspace is your home"), "{run}");
}
