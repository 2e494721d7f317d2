//! Version, help, doctor, and a key that is never shown.

use crate::support::{Home, calls, says};
use everloop_models::ScriptedReply;
use everloop_models::testing::FakeServer;
use serde_json::json;
use std::path::Path;

const SECRET: &str = "sk-secret-value";

#[test]
fn the_version_is_one_line() {
    let told = Home::new().run(["--version"]).ends_with(0);
    assert_eq!(told.stdout.lines().count(), 1);
    assert!(told.stdout.starts_with("everloop 0."), "{}", told.stdout);
    assert!(told.stderr.is_empty());
    let short = Home::new().run(["-V"]).ends_with(0).stdout;
    assert_eq!(short.split_whitespace().count(), 2, "{short}");
    assert!(told.stdout.starts_with(short.trim_end()));
    for args in [["--version", "--json"], ["--json", "-V"]] {
        let json = Home::new().run(args).ends_with(0).json();
        assert_eq!(format!("everloop {}", json["version"].as_str().unwrap()), short.trim_end());
        let (commit, date) = (json["commit"].as_str().unwrap(), json["date"].as_str().unwrap());
        assert!(told.stdout.contains(commit) && told.stdout.contains(date), "{json}");
    }
}

#[test]
fn help_names_every_command_and_hides_the_guard() {
    let home = Home::new();
    let help = home.run(["--help"]).ends_with(0).stdout;
    for command in ["chat", "run", "runs", "todo", "schedule", "worker", "tour", "doctor"] {
        assert!(help.contains(&format!("\n  {command}")), "{command} is not in {help}");
    }
    assert!(!help.contains("__guard"));
    let help = home.run(["runs", "--help"]).ends_with(0).stdout;
    for command in ["list", "show", "events", "cancel", "resume"] {
        assert!(help.contains(&format!("\n  {command}")), "{command} is not in {help}");
    }
    home.run(["no-such-command"]).ends_with(2);
}

#[test]
fn doctor_looks_and_changes_nothing() {
    let home = Home::new();
    home.run(["doctor"]).ends_with(0);
    assert_eq!(std::fs::read_dir(home.data()).unwrap().count(), 0);
    let home = Home::scripted(&[says("done")]);
    home.run(["run", "--loop", "react", "x"]).ends_with(0);
    let report = home.run(["doctor", "--json"]).ends_with(0).json();
    assert_eq!(
        (&report["quick_check"], &report["schema"]),
        (&json!("ok"), &json!(everloop_store::SCHEMA_VERSION))
    );
    let loops = report["loops"].as_array().unwrap();
    let known = |it: &serde_json::Value| it["version"] == 1 && it["fingerprint"].is_string();
    assert!(loops.len() == everloop_loops::LOOPS.len() && loops.iter().all(known), "{loops:?}");
    assert_eq!(report["runs"], json!({"succeeded": 1}));
    assert_eq!(report["key_is_set"], false);
    let text = home.run(["doctor"]).ends_with(0).stdout;
    assert!(text.contains("quick_check"), "{text}");
}

#[test]
fn a_key_is_sent_to_the_model_and_shown_nowhere() {
    let server = FakeServer::openai(vec![
        ScriptedReply::calls("shell", json!({"command": "env; echo $OPENAI_API_KEY"})),
        ScriptedReply::says("done"),
    ]);
    let home = Home::new().endpoint(&server.url()).with("OPENAI_API_KEY", SECRET);
    let mut said = Vec::new();
    let args = ["run", "--loop", "react", "--yes", "--output-format", "stream-json", "show it"];
    said.push(home.run(args).ends_with(0));
    let id = home.newest();
    said.push(home.run(["doctor"]).ends_with(0));
    said.push(home.run(["doctor", "--json"]).ends_with(0));
    said.push(home.run(["runs", "events", &id]));
    said.push(home.run(["replay", &id]));
    said.push(home.run(["runs", "show", &id, "--json"]));
    assert_eq!(said[2].json()["key_is_set"], true);
    for said in said {
        assert!(!said.stdout.contains(SECRET) && !said.stderr.contains(SECRET), "{said:?}");
    }
    let sent = server.seen();
    assert!(sent[0].head.contains(SECRET));
    assert!(sent.iter().all(|seen| !String::from_utf8_lossy(&seen.body).contains(SECRET)));
    let leaks = files_with(&home.data(), SECRET.as_bytes());
    assert!(leaks.is_empty(), "{leaks:?}");
}

fn files_with(folder: &Path, needle: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_with(&path, needle));
        } else if std::fs::read(&path).unwrap().windows(needle.len()).any(|bytes| bytes == needle) {
            found.push(path.display().to_string());
        }
    }
    found
}

#[test]
fn a_variable_that_is_no_text_disturbs_nothing() {
    use std::os::unix::ffi::OsStrExt;
    let home = Home::scripted(&[calls("list_dir", json!({"path": "."})), says("done")]);
    let odd = std::ffi::OsStr::from_bytes(b"\xff\xfe");
    let ran = home.run_with(["run", "--loop", "react", "look"], "ODD", odd).ends_with(0);
    assert_eq!(ran.stdout, "done\n");
}
