//! `index_repo`, and `search_code` with the index that it made.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::support::Place;
use everloop_tools::{IndexSetting, Setting};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;

fn place_with(max_files: u64, max_bytes: u64) -> Place {
    Place::with(|setting| {
        let folder = setting.workspace.parent().unwrap().join("index");
        let index = IndexSetting { folder, max_files, max_bytes, timeout_ms: 60_000 };
        Setting { index: Some(index), ..setting }
    })
}

fn place() -> Place {
    let place = place_with(1_000, 1_000_000);
    place.write("src/a.rs", "fn main() {\n    needle(1);\n}\n");
    place.write("src/b.rs", "// 这里建立全文索引\nlet hay = 1;\n");
    place.write("notes.txt", "nothing here\n");
    place
}

async fn index(place: &Place, args: Value) -> Value {
    let seen = place.call("index_repo", args).await;
    assert!(seen.is_ok(), "{}", seen.text);
    serde_json::from_str(&seen.text).unwrap()
}

async fn search(place: &Place, query: &str) -> String {
    let seen = place.call("search_code", json!({ "query": query })).await;
    assert!(seen.is_ok(), "{}", seen.text);
    seen.text
}

fn counts(index: &Value) -> [u64; 4] {
    ["files", "added", "changed", "removed"].map(|name| index[name].as_u64().unwrap())
}

#[tokio::test]
async fn a_search_says_that_the_index_ruled_files_out_and_finds_the_same() {
    let place = place();
    let before = search(&place, "needle").await;
    assert_eq!(before, "src/a.rs:2:    needle(1);");
    assert_eq!(counts(&index(&place, json!({})).await), [3, 3, 0, 0]);
    let found = search(&place, "needle").await;
    assert_eq!(found, format!("{before}\n[the index ruled out 2 of 3 files]"));
    let none = search(&place, "nowhere").await;
    assert!(none.starts_with("nothing was found in 3 files"), "{none}");
    assert!(none.ends_with("[the index ruled out 3 of 3 files]"), "{none}");
}

#[tokio::test]
async fn chinese_text_is_found_with_two_characters_and_with_more() {
    let place = place();
    index(&place, json!({})).await;
    for query in ["索引", "全文索引", "这里建立"] {
        let found = search(&place, query).await;
        assert!(found.starts_with("src/b.rs:1:// 这里建立全文索引"), "{query}: {found}");
        assert!(found.ends_with("[the index ruled out 2 of 3 files]"), "{query}: {found}");
    }
    let found = search(&place, "引擎").await;
    assert!(found.ends_with("[the index ruled out 3 of 3 files]"), "{found}");
}

#[tokio::test]
async fn a_second_pass_reads_only_what_changed() {
    let place = place();
    index(&place, json!({})).await;
    let again = index(&place, json!({})).await;
    assert_eq!((counts(&again), &again["unchanged"]), ([3, 0, 0, 0], &json!(3)));
    assert_eq!(again["bytes"], json!(0), "nothing was taken in again");
    place.write("src/a.rs", "fn main() {}\n");
    place.write("src/c.rs", "needle\n");
    fs::remove_file(place.path("notes.txt")).unwrap();
    assert_eq!(counts(&index(&place, json!({})).await), [3, 1, 1, 1]);
    // Written again with the same content: nothing to take in.
    place.write("src/c.rs", "needle\n");
    assert_eq!(counts(&index(&place, json!({})).await), [3, 0, 0, 0]);
}

#[tokio::test]
async fn a_file_that_changed_since_is_read_anew_also_with_its_old_size_and_time() {
    let place = place();
    index(&place, json!({})).await;
    let path = place.path("notes.txt");
    let old = fs::metadata(&path).unwrap();
    place.write("notes.txt", "needle  here\n");
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(old.modified().unwrap()).unwrap();
    let now = fs::metadata(&path).unwrap();
    assert_eq!((now.len(), now.modified().unwrap()), (old.len(), old.modified().unwrap()));
    let found = search(&place, "needle").await;
    assert!(found.starts_with("notes.txt:1:needle  here\nsrc/a.rs:2:"), "{found}");
    place.write("src/new.rs", "needle\n");
    assert!(search(&place, "needle").await.contains("src/new.rs:1:needle"));
}

#[tokio::test]
async fn what_the_index_cannot_answer_is_searched_without_it() {
    let place = place();
    index(&place, json!({})).await;
    for args in [
        json!({"query": "ne.dle", "regex": true}),
        json!({"query": "ha"}),
        json!({"query": "索引在", "ignore_case": true}),
    ] {
        let seen = place.call("search_code", args).await;
        assert!(seen.is_ok() && !seen.text.contains("the index"), "{}", seen.text);
    }
    let either = search(&place, "needle|hay").await;
    assert!(either.contains("src/a.rs:2:") && either.contains("src/b.rs:2:"), "{either}");
    let any_case = place.call("search_code", json!({"query": "NEEDLE", "ignore_case": true})).await;
    assert!(any_case.text.contains("src/a.rs:2:"), "{}", any_case.text);
}

#[tokio::test]
async fn what_git_ignores_and_what_lies_outside_is_not_indexed() {
    let place = place();
    place.write(".gitignore", "out/\n");
    place.write("out/big.txt", "needle\n");
    symlink(place.secret(), place.path("link.txt")).unwrap();
    assert_eq!(counts(&index(&place, json!({})).await)[0], 3);
    let outside = place.call("index_repo", json!({"path": ".."})).await;
    assert!(!outside.is_ok() && outside.text.contains("outside"), "{}", outside.text);
    assert_eq!(counts(&index(&place, json!({"path": "src"})).await), [2, 0, 0, 0]);
}

#[tokio::test]
async fn a_full_index_says_so_and_the_rest_is_searched_all_the_same() {
    for place in [place_with(1, 1_000_000), place_with(1_000, 10)] {
        place.write("a.txt", "first needle of them\n");
        place.write("b.txt", "second needle of them\n");
        place.write("c.txt", "third\n");
        let made = index(&place, json!({})).await;
        assert_eq!((&made["complete"], &made["files"]), (&json!(false), &json!(1)));
        let found = search(&place, "needle").await;
        assert!(found.contains("a.txt:1:") && found.contains("b.txt:1:"), "{found}");
    }
}

#[tokio::test]
async fn a_damaged_index_is_not_used_and_made_anew() {
    let place = place();
    index(&place, json!({})).await;
    let folder = place.root().parent().unwrap().join("index");
    for file in fs::read_dir(&folder).unwrap() {
        fs::write(file.unwrap().path(), "this is no database, and long enough to be read").unwrap();
    }
    assert_eq!(search(&place, "needle").await, "src/a.rs:2:    needle(1);");
    assert_eq!(counts(&index(&place, json!({})).await), [3, 3, 0, 0]);
    assert!(search(&place, "needle").await.contains("the index ruled out"));
}
