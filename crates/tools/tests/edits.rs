//! `edit_file` on real files.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::support::{Place, intent, unknown};
use everloop_ports::{CallContext, Probe};
use everloop_types::Observation;
use serde_json::{Value, json};
use std::os::unix::fs::{PermissionsExt, symlink};

const ARGS: &str = r#"{"path":"file","old":"two","new":"2"}"#;

fn editing(path: &str, old: &str, new: &str) -> Value {
    json!({ "path": path, "old": old, "new": new })
}

fn hash(content: &str) -> String {
    everloop_types::digest_bytes(content.as_bytes())[..12].to_owned()
}

fn edited(path: &str, line: usize, content: &str) -> Observation {
    let hash = hash(content);
    Observation::ok(format!("edited {path} at line {line}; its hash is now {hash}"))
}

#[tokio::test]
async fn one_passage_is_replaced_and_mode_and_rest_stay() {
    let place = Place::new();
    place.write("run.sh", "one\ntwo\nthree\n");
    std::fs::set_permissions(place.path("run.sh"), PermissionsExt::from_mode(0o750)).unwrap();
    symlink("run.sh", place.path("link")).unwrap();
    let seen = place.call("edit_file", editing("link", "two\n", "2\n")).await;
    assert_eq!(seen, edited("link", 2, "one\n2\nthree\n"));
    assert_eq!(place.content("run.sh"), "one\n2\nthree\n");
    assert!(std::fs::symlink_metadata(place.path("link")).unwrap().is_symlink());
    let mode = std::fs::metadata(place.path("run.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o750);
    assert_eq!(place.names("."), ["link", "run.sh"]);
}

#[tokio::test]
async fn a_passage_that_is_not_there_once_changes_nothing_and_is_told() {
    let place = Place::new();
    place.write("file", "a\nb\na\n");
    let twice = place.call("edit_file", editing("file", "a", "x")).await;
    let words = "file: old stands there 2 times, at lines 1, 3; take in more lines around it, or \
                 set all to true to replace each";
    assert_eq!(twice, Observation::error(words));
    let all = json!({"path": "file", "old": "a", "new": "x", "all": true});
    let both = place.call("edit_file", all).await;
    assert!(both.text.starts_with("edited file at 2 places, the first at line 1;"), "{both:?}");
    assert_eq!(place.content("file"), "x\nb\nx\n");
    place.write("file", "a\nb\na\n");
    let never = place.call("edit_file", editing("file", "c", "x")).await;
    let words = "file: the old text is not in the file; read the file and copy the passage";
    assert_eq!(never, Observation::error(words));
    let missing = place.call("edit_file", editing("none", "c", "x")).await;
    assert_eq!(missing, Observation::error("none does not exist"));
    assert_eq!(place.content("file"), "a\nb\na\n");
}

#[tokio::test]
async fn a_file_that_changed_since_it_was_read_is_not_edited() {
    let place = Place::new();
    place.write("file", "one two");
    let mut args = editing("file", "two", "2");
    args["expect_hash"] = json!(hash("one"));
    let seen = place.call("edit_file", args.clone()).await;
    assert!(seen.text.starts_with("file has changed: its hash is now "), "{}", seen.text);
    assert_eq!(place.content("file"), "one two");
    args["expect_hash"] = json!(hash("one two"));
    assert_eq!(place.call("edit_file", args).await, edited("file", 1, "one 2"));
}

/// What a probe says when `now` is found after an edit of "one two" was cut short.
async fn verdict(now: Option<&str>) -> Probe {
    let place = Place::new();
    place.write("file", "one two");
    let tool = place.tool("edit_file");
    let before = tool.before(ARGS).await;
    std::fs::remove_file(place.path("file")).unwrap();
    if let Some(content) = now {
        place.write("file", content);
    }
    tool.probe(ARGS, &intent(&before)).await
}

#[tokio::test]
async fn content_tells_whether_an_edit_happened() {
    let done = Probe::Happened(edited("file", 1, "one 2"));
    assert_eq!(verdict(Some("one 2")).await, done);
    assert_eq!(verdict(Some("one two")).await, Probe::DidNot);
    assert!(unknown(&verdict(Some("one 2 and more")).await));
    assert!(unknown(&verdict(None).await));
}

#[tokio::test]
async fn an_edit_that_could_not_be_made_did_not_happen() {
    let place = Place::new();
    place.write("file", "nothing to replace");
    let tool = place.tool("edit_file");
    let before = tool.before(ARGS).await;
    assert_eq!(before["will"], Value::Null);
    assert_eq!(tool.probe(ARGS, &intent(&before)).await, Probe::DidNot);
    std::fs::remove_file(place.path("file")).unwrap();
    assert!(unknown(&tool.probe(ARGS, &intent(&before)).await), "null is not what was to be");
}

#[tokio::test]
async fn a_finished_edit_probes_as_happened_and_is_not_repeated() {
    let place = Place::new();
    place.write("file", "two");
    let tool = place.tool("edit_file");
    let before = tool.before(ARGS).await;
    tool.call(ARGS, &CallContext::new("key")).await;
    let found = tool.probe(ARGS, &intent(&before)).await;
    assert_eq!(found, Probe::Happened(edited("file", 1, "2")));
}

/// Small models fill in every argument that they know of.
#[tokio::test]
async fn a_hash_that_was_made_up_is_told_as_that_and_changes_nothing() {
    let place = Place::new();
    place.write("file", "a\n");
    let write = |hash: &str| json!({"path": "file", "content": "b\n", "expect_hash": hash});
    for made_up in ["0", "abc", "0123456789abcdef", "not a hash!!"] {
        let mut edit = editing("file", "a", "x");
        edit["expect_hash"] = json!(made_up);
        for seen in
            [place.call("edit_file", edit).await, place.call("write_file", write(made_up)).await]
        {
            assert!(seen.text.starts_with("expect_hash: is not a hash"), "{made_up}: {seen:?}");
        }
    }
    assert_eq!(place.content("file"), "a\n");
    place.call("write_file", write(" ")).await;
    assert_eq!(place.content("file"), "b\n");
}
