//! What the file tools keep of a file before they change it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::support::Place;
use everloop_ports::{CallContext, ToolReturn};
use everloop_tools::{Checkpoints, Setting};
use everloop_types::{EffectId, RunId, digest_bytes};
use serde_json::{Value, json};
use tempfile::TempDir;

fn run() -> RunId {
    RunId::new("run_1")
}

fn keeping(copies: &Checkpoints) -> Place {
    Place::with(|setting| Setting { checkpoints: Some(copies.clone()), ..setting })
}

fn copies(folder: &TempDir) -> Checkpoints {
    Checkpoints::new(folder.path().join("checkpoints"), 1_000, 10_000)
}

/// A call as the engine makes it for a run.
fn context() -> CallContext {
    let effect = Some(EffectId { run: run(), cause: 1, index: 0 });
    CallContext { effect, ..CallContext::new("key") }
}

fn edit() -> (&'static str, Value) {
    ("edit_file", json!({"path": "link", "old": "old", "new": "new"}))
}

/// A kill after this leaves a file that is unchanged.
#[tokio::test]
async fn the_copy_is_there_before_the_intent_and_nothing_is_changed_yet() {
    let folder = TempDir::new().unwrap();
    let copies = copies(&folder);
    let place = keeping(&copies);
    place.write("sub/a", "old");
    std::os::unix::fs::symlink("sub/a", place.path("link")).unwrap();
    for (name, args) in [edit(), ("write_file", json!({"path": "link", "content": "new"}))] {
        let before = place.tool(name).before_call(&args.to_string(), &run()).await;
        assert_eq!(before["was"], digest_bytes(b"old"), "{name}");
        assert_eq!(before["will"], digest_bytes(b"new"), "{name}");
        assert_eq!((&before["target"], &before["kept"]), (&json!("sub/a"), &json!(true)));
        assert_eq!(copies.read(&run(), &digest_bytes(b"old")).unwrap().unwrap(), b"old");
        assert_eq!(place.content("sub/a"), "old");
    }
    let args = json!({"path": "x/y/b", "content": ""}).to_string();
    let before = place.tool("write_file").before_call(&args, &run()).await;
    assert_eq!((&before["was"], &before["made"]), (&Value::Null, &json!("x")));
}

#[tokio::test]
async fn a_change_is_reported_with_a_diff_beside_what_the_model_sees() {
    let folder = TempDir::new().unwrap();
    let place = keeping(&copies(&folder));
    place.write("a", "one\nold\n");
    let args = json!({"path": "a", "old": "old", "new": "new"}).to_string();
    let ToolReturn::Changed(seen, change) = place.tool("edit_file").call(&args, &context()).await
    else {
        panic!()
    };
    assert!(seen.text.starts_with("edited a at line 2") && !seen.text.contains("-old"));
    assert_eq!(change.diff, ["@@ -1,2 +1,2 @@", " one", "-old", "+new"]);
    assert_eq!((change.added, change.removed, change.kept), (1, 1, true));
    assert_eq!(change.was, Some(digest_bytes(b"one\nold\n")));
    assert_eq!(change.now, digest_bytes(b"one\nnew\n"));
}

#[tokio::test]
async fn where_no_copy_can_be_written_nothing_is_changed() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("checkpoints"), "in the way").unwrap();
    let place = keeping(&copies(&folder));
    place.write("a", "old");
    for (name, args) in [
        ("edit_file", json!({"path": "a", "old": "old", "new": "new"})),
        ("write_file", json!({"path": "a", "content": "new"})),
    ] {
        let seen = place.call_in(name, args, &context()).await;
        assert!(!seen.is_ok() && seen.text.contains("nothing was done"), "{name}: {seen:?}");
        assert_eq!(place.content("a"), "old", "{name}");
    }
}

#[tokio::test]
async fn a_file_beyond_the_bounds_is_changed_and_said_not_to_be_kept() {
    let folder = TempDir::new().unwrap();
    let place = keeping(&copies(&folder));
    place.write("a", "x".repeat(1_001));
    let args = json!({"path": "a", "content": "new"}).to_string();
    let ToolReturn::Changed(_, change) = place.tool("write_file").call(&args, &context()).await
    else {
        panic!()
    };
    assert!(!change.kept);
    assert_eq!(place.content("a"), "new");
}
