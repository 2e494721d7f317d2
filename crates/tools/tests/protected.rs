//! The program's own files in the workspace: no tool opens, replaces or makes them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::support::{Place, intent, unknown};
use everloop_tools::{Channel, Setting};
use everloop_types::Observation;
use rustix::fs::{FlockOperation, fcntl_lock};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::PathBuf;

const THERE: [&str; 3] = ["own.db", "own.db-shm", "config.toml"];
const MISSING: &str = "own.db-wal";

/// A workspace with the program's files in `data`, one of which does not exist yet.
fn place() -> Place {
    let place = Place::with(|setting| {
        let file = |name: &str| setting.workspace.join("data").join(name);
        let protected: Vec<PathBuf> = THERE.iter().copied().chain([MISSING]).map(file).collect();
        Setting { protected, ..setting }
    });
    for name in THERE {
        place.write(&format!("data/{name}"), "ours");
    }
    fs::create_dir(place.path("sub")).unwrap();
    symlink("data", place.path("folder")).unwrap();
    place
}

fn refusal(path: &str) -> Observation {
    Observation::error(format!("{path} belongs to everloop itself; nothing was done"))
}

fn writing(path: &str) -> Value {
    json!({ "path": path, "content": "theirs" })
}

/// Every way that leads to a file that exists.
fn ways(place: &Place, name: &str) -> Vec<String> {
    let (link, hard) = (format!("link-{name}"), format!("hard-{name}"));
    symlink(format!("data/{name}"), place.path(&link)).unwrap();
    symlink(&link, place.path(&format!("link-{link}"))).unwrap();
    fs::hard_link(place.path(&format!("data/{name}")), place.path(&hard)).unwrap();
    vec![
        format!("data/{name}"),
        format!("sub/../data/./{name}"),
        format!("folder/{name}"),
        place.path(&format!("data/{name}")).display().to_string(),
        format!("link-{link}"),
        link,
        hard,
    ]
}

/// The locks of this process on a file.
#[cfg(target_os = "linux")]
fn locks(file: &File) -> usize {
    let (pid, inode) = (std::process::id().to_string(), file.metadata().unwrap().ino());
    let inode = format!(":{inode}");
    let all = fs::read_to_string("/proc/locks").unwrap();
    let fields = all.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    fields.filter(|fields| fields.contains(&pid.as_str()) && fields[5].ends_with(&inode)).count()
}

#[tokio::test]
async fn no_way_leads_to_a_protected_file_and_its_locks_stay() {
    let place = place();
    let tool = place.tool("write_file");
    for name in THERE {
        let held = File::options().write(true).open(place.path(&format!("data/{name}"))).unwrap();
        fcntl_lock(&held, FlockOperation::NonBlockingLockExclusive).unwrap();
        for path in ways(&place, name) {
            assert_eq!(place.read(&path).await, refusal(&path));
            assert_eq!(place.call("write_file", writing(&path)).await, refusal(&path));
            let args = writing(&path).to_string();
            let before = tool.before(&args).await;
            assert_eq!(before["was"], Value::Bool(false), "{path}");
            assert!(unknown(&tool.probe(&args, &intent(&before)).await), "{path}");
            let ours = json!({ "path": path, "content": "ours" }).to_string();
            assert!(unknown(&tool.probe(&ours, &intent(&before)).await), "{path}");
        }
        #[cfg(target_os = "linux")]
        assert_eq!(locks(&held), 1, "{name}");
        assert_eq!(place.content(&format!("data/{name}")), "ours");
    }
    assert_eq!(place.names("data"), ["config.toml", "own.db", "own.db-shm"]);
}

#[tokio::test]
async fn a_protected_file_that_is_missing_is_not_made() {
    let place = place();
    symlink(format!("data/{MISSING}"), place.path("dangling")).unwrap();
    let below = format!("data/{MISSING}/deep/file");
    let plain = format!("data/{MISSING}");
    let (around, linked) = (format!("sub/../data/{MISSING}"), format!("folder/{MISSING}"));
    for path in [plain.as_str(), &around, &linked, "dangling", &below] {
        assert_eq!(place.call("write_file", writing(path)).await, refusal(path));
    }
    assert_eq!(place.read(&plain).await, refusal(&plain));
    assert_eq!(place.names("data"), ["config.toml", "own.db", "own.db-shm"]);
}

#[tokio::test]
async fn a_protected_file_in_a_folder_that_is_missing_is_not_made() {
    let place = Place::with(|setting| {
        let protected = vec![setting.workspace.join("none/yet/config.toml")];
        Setting { protected, ..setting }
    });
    let path = "none/../none/yet/config.toml";
    assert_eq!(place.call("write_file", writing(path)).await, refusal(path));
    assert!(place.names(".").is_empty());
}

#[tokio::test]
async fn what_lies_beside_protected_files_is_free_and_all_are_listed() {
    let place = place();
    let seen = place.call("write_file", writing("data/notes.txt")).await;
    assert_eq!(seen, Observation::ok("wrote 6 bytes to data/notes.txt"));
    assert!(place.call("write_file", writing("sub/own.db")).await.is_ok());
    assert_eq!(place.read("data/notes.txt").await, Observation::ok("theirs"));
    let rows = place.call("list_dir", json!({"path": "data"})).await;
    assert!(rows.is_ok() && rows.text.contains("own.db-shm (4 bytes)"), "{rows:?}");
    assert!(!place.call("list_dir", json!({"path": "data/own.db"})).await.is_ok());
}

/// A record decides what a probe believes, and a channel's file is what somebody was told.
#[tokio::test]
async fn records_of_effects_and_the_files_of_channels_are_protected_too() {
    let place = Place::with(|setting| {
        let records = Some(setting.workspace.join("data/effects"));
        let file = setting.workspace.join("out.jsonl").display().to_string();
        let channels = Channel::parse(&format!("ops=file:{file}")).into_iter().collect();
        Setting { records, channels, ..setting }
    });
    place.write("data/effects/key.1", "ours");
    place.write("out.jsonl", "ours");
    symlink("data/effects", place.path("folder")).unwrap();
    let paths = [
        "data/effects/key.1",
        "data/effects/new/key.2",
        "folder/key.2",
        "out.jsonl",
        "./out.jsonl",
    ];
    for path in paths {
        assert_eq!(place.call("write_file", writing(path)).await, refusal(path));
    }
    assert_eq!(place.content("data/effects/key.1"), "ours");
    assert_eq!(place.content("out.jsonl"), "ours");
    assert!(place.call("write_file", writing("data/notes.txt")).await.is_ok());
}

/// Skills are believed by later runs, and start-up files run when somebody comes to the folder.
#[tokio::test]
async fn what_is_believed_or_run_later_is_not_written() {
    let place = Place::new();
    place.write(".agents/skills/known", "ours");
    symlink(".agents", place.path("link")).unwrap();
    let paths = [
        ".agents/skills/known",
        ".Agents/new",
        "link/new",
        "sub/.agents/new",
        "sub/../.agents/new",
        ".bashrc",
        ".ssh/authorized_keys",
    ];
    for path in paths {
        let why = format!("{path} is protected in a workspace; nothing was done");
        assert_eq!(place.call("write_file", writing(path)).await, Observation::error(why));
    }
    assert_eq!(place.content(".agents/skills/known"), "ours");
    assert!(place.call("write_file", writing("sub/.bashrc")).await.is_ok());
}

#[tokio::test]
async fn a_workspace_within_a_protected_folder_is_not_shut_as_a_whole() {
    let place = Place::with(|setting| {
        let around = setting.workspace.parent().unwrap().to_owned();
        Setting { protected: vec![around, setting.workspace.join("own")], ..setting }
    });
    assert!(place.call("write_file", writing("free")).await.is_ok());
    assert_eq!(place.call("write_file", writing("own")).await, refusal("own"));
}
