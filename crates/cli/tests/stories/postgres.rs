//! The same commands on a server: any number of processes, and a password that is shown nowhere.

use crate::support::{Home, calls, says, short};
use everloop_store::testing::PgServer;
use serde_json::json;

const RUN: [&str; 5] = ["run", "--loop", "react", "--yes", "write it down"];

fn script() -> Vec<serde_json::Value> {
    vec![calls("write_file", json!({"path": "a.txt", "content": "once"})), says("written")]
}

#[test]
fn every_command_works_on_a_server() {
    let database = PgServer::durable().database();
    let home = Home::scripted(&script()).with("EVERLOOP_STORE__DATABASE", &database.url);
    let told = home.run(RUN).ends_with(0);
    assert!(told.stdout.contains("written"), "{}", told.stdout);
    assert_eq!(home.read("a.txt"), "once");
    assert!(!home.database().exists(), "nothing is written beside the server");
    let id = home.newest();
    home.run(["replay", &id, "--verify"]).ends_with(0);
    home.run(["runs", "show", &id]).ends_with(0);
    home.run(["worker", "--drain"]).ends_with(0);
    let report = home.run(["doctor", "--json"]).ends_with(0).json();
    assert!(report["engine"].as_str().unwrap().starts_with("PostgreSQL "), "{report}");
    assert_eq!((&report["quick_check"], &report["runs"]), (&json!("ok"), &json!({"succeeded": 1})));
    // Another machine, with nothing in common but the address.
    let other = Home::new();
    let flag = ["--database", &database.url];
    let list = other.run(["runs", "list", "--json", flag[0], flag[1]]).ends_with(0);
    assert!(list.stdout.contains(short(&id)), "{}", list.stdout);
}

#[test]
fn a_password_is_shown_nowhere() {
    let home = Home::new();
    let url = "postgres://someone:hunter2@127.0.0.1:1/none";
    for args in [vec!["doctor"], vec!["doctor", "--json"], vec!["runs", "list"], vec!["run", "x"]] {
        let told = home.run(args.into_iter().chain(["--database", url]));
        let said = format!("{}{}", told.stdout, told.stderr);
        assert!(!said.contains("hunter2"), "{said}");
    }
    let report = home.run(["doctor", "--json", "--database", url]).ends_with(6).json();
    assert_eq!(report["database"], "postgres://someone@127.0.0.1:1/none");
    let told = home.run(["doctor", "--database", "mysql://a:hunter2@b/c"]).ends_with(5);
    let said = format!("{}{}", told.stdout, told.stderr);
    assert!(!said.contains("hunter2"), "{said}");
}

#[test]
fn doctor_leaves_an_empty_database_of_a_server_as_it_is_and_copies_are_its_own_business() {
    let database = PgServer::durable().database();
    let home = Home::scripted(&script()).with("EVERLOOP_STORE__DATABASE", &database.url);
    for _ in 0..2 {
        let report = home.run(["doctor", "--json"]).ends_with(0).json();
        assert_eq!(report["schema"], 0, "{report}");
    }
    for args in [&["backup"][..], &["restore", "x.db", "--yes"]] {
        home.run(args).ends_with(2).says(&["pg_dump"]);
        home.run(args.iter().chain(&["--lang", "zh-CN"])).ends_with(2).says(&["备份用 pg_dump"]);
    }
}

#[test]
fn another_file_has_its_lock_beside_it() {
    let home = Home::scripted(&script());
    let file = home.path("other.db");
    let flag = format!("sqlite:{}", file.display());
    home.run(RUN.into_iter().chain(["--database", &flag])).ends_with(0);
    assert!(file.exists() && home.path("other.db.lock").exists());
    assert!(!home.database().exists());
    let list = home.run(["runs", "list", "--json", "--database", file.to_str().unwrap()]);
    assert!(list.ends_with(0).stdout.contains("succeeded"));
}
