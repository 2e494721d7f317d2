//! The whole database, from a file to a server and back.

use crate::support::{Home, calls, eventually, plan, says, slow, thought};
use everloop_store::testing::PgServer;
use serde_json::{Value, json};

fn filled() -> Home {
    let write = calls("write_file", json!({"path": "a.txt", "content": "once"}));
    let home = Home::scripted(&[write, says("写好了。")]).with("AGENT_MODE", "react");
    home.run(["run", "--yes", "write it down"]).ends_with(0);
    home.chat(&["修一下登录页面的测试"]).ends_with(0);
    home.run(["todo", "add", "buy milk"]).ends_with(0);
    home
}

fn migrate(home: &Home, args: &[&str]) -> Value {
    let args = [&["migrate", "--json"], args].concat();
    home.run(args).ends_with(0).json()
}

#[test]
fn a_database_goes_to_a_server_and_back_with_the_same_hash_and_works_there() {
    let home = filled();
    let run = home.newest();
    let database = PgServer::durable().database();
    let there = migrate(&home, &["--to", &database.url]);
    assert_eq!(there["runs"], 2, "{there}");
    let file = home.path("back.db");
    let file = file.to_str().unwrap();
    let back = migrate(&home, &["--database", &database.url, "--to", file]);
    assert_eq!(there["state_hash"], back["state_hash"]);
    assert_eq!(there["tables"], back["tables"]);
    for at in [database.url.as_str(), file] {
        let on = |args: &[&str]| home.run(args.iter().copied().chain(["--database", at]));
        let verdict = on(&["replay", &run, "--verify", "--json"]).ends_with(0).json();
        assert_eq!(verdict["verdict"], "verified", "{at}: {verdict}");
        let found = on(&["conversations", "search", "登录页面", "--messages", "--json"]);
        assert_eq!(found.ends_with(0).json()["data"].as_array().unwrap().len(), 1, "{at}");
        let todos = on(&["todo", "list"]).ends_with(0).stdout;
        assert!(todos.contains("buy milk"), "{at}: {todos}");
        on(&["run", "--yes", "once more"]).ends_with(0);
    }
}

#[test]
fn a_target_that_is_not_empty_and_a_source_in_use_are_refused_in_words() {
    let home = filled();
    let own = home.database();
    home.run(["migrate", "--to", own.to_str().unwrap()]).ends_with(2).says(&["Name another one"]);
    home.run(["migrate", "--to", "mysql://a/b"]).ends_with(2).says(&["postgres://"]);
    let other = home.path("other.db");
    let other = other.to_str().unwrap();
    let told = home.run(["migrate", "--to", other]).ends_with(0);
    told.says(&["rows copied", "the same on both sides", "config set store.database"]);
    let again = home.run(["migrate", "--to", other]).ends_with(6);
    again.says(&["is not empty", "nothing was changed"]);
    home.run(["migrate", "--to", other, "--lang", "zh-CN"]).ends_with(6).says(&["不是空的"]);
    home.rewrite(&[plan(&["wait"]), slow(thought("x"))]);
    let working = home.spawn(["run", "--loop", "plan-replan", "something long"]);
    eventually("a run that works", || {
        let list = home.run(["runs", "list", "--json"]).ends_with(0).json();
        (list["data"][0]["status"] == "running").then_some(())
    });
    let third = home.path("third.db");
    let told = home.run(["migrate", "--to", third.to_str().unwrap()]).ends_with(6);
    told.says(&["Stop it first"]);
    assert!(!third.exists(), "nothing was made");
    working.kill9();
}
