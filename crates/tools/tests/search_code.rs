//! `search_code` on real folders.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::support::Place;
use everloop_ports::{AccessRules, CallContext};
use everloop_types::{Approval, ApprovalRule, ArgPattern, Ending, Observation, Policy};
use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use std::time::Instant;

async fn search(place: &Place, args: Value) -> String {
    let seen = place.call("search_code", args).await;
    assert!(seen.is_ok(), "{}", seen.text);
    seen.text
}

fn place() -> Place {
    let place = Place::new();
    place.write("src/a.rs", "fn main() {\n    needle(1);\n}\n");
    place.write("src/deep/b.ts", "const Needle = 2;\nneedle.x\n");
    place.write("notes.txt", "a needle (1)\r\n");
    place
}

#[tokio::test]
async fn lines_are_found_in_the_order_of_their_paths() {
    let expected = "notes.txt:1:a needle (1)\nsrc/a.rs:2:    needle(1);\nsrc/deep/b.ts:2:needle.x";
    assert_eq!(search(&place(), json!({"query": "needle"})).await, expected);
}

#[tokio::test]
async fn a_query_is_literal_unless_it_is_said_to_be_an_expression() {
    let place = place();
    let literal = search(&place, json!({"query": "needle."})).await;
    assert_eq!(literal, "src/deep/b.ts:2:needle.x");
    let expression = search(&place, json!({"query": "^\\s+needle.1", "regex": true})).await;
    assert_eq!(expression, "src/a.rs:2:    needle(1);");
    let any_case = search(&place, json!({"query": "NEEDLE =", "ignore_case": true})).await;
    assert_eq!(any_case, "src/deep/b.ts:1:const Needle = 2;");
    for (query, words) in
        [("(", "not a regular expression"), ("  ", "empty"), ("a\nb", "line break")]
    {
        let args = json!({"query": query, "regex": true});
        let seen = place.call("search_code", args).await;
        assert!(!seen.is_ok() && seen.text.contains(words), "{query}: {}", seen.text);
    }
}

#[tokio::test]
async fn a_folder_a_file_and_a_glob_narrow_it() {
    let place = place();
    let needle = |more: Value| {
        let mut args = json!({"query": "needle"});
        args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        args
    };
    let in_folder = search(&place, needle(json!({"path": "src/deep"}))).await;
    assert_eq!(in_folder, "src/deep/b.ts:2:needle.x");
    let in_file = search(&place, needle(json!({"path": "notes.txt"}))).await;
    assert_eq!(in_file, "notes.txt:1:a needle (1)");
    for glob in ["*.rs", "src/*.rs", "**/*.rs", "./src/*.rs"] {
        let found = search(&place, needle(json!({"glob": glob}))).await;
        assert_eq!(found, "src/a.rs:2:    needle(1);", "{glob}");
    }
    let none = search(&place, needle(json!({"glob": "*.py"}))).await;
    assert_eq!(none, "nothing was found in 0 files");
    let wrong = place.call("search_code", needle(json!({"glob": "{"}))).await;
    assert!(wrong.text.starts_with("not a glob"), "{}", wrong.text);
}

#[tokio::test]
async fn what_git_ignores_is_hidden_or_binary_is_left_out() {
    let place = Place::with(|setting| {
        let protected = vec![setting.workspace.join("own.toml")];
        everloop_tools::Setting { protected, ..setting }
    });
    for path in ["target/x", "a.log", ".env", ".git/config", ".Git/x", "own.toml", "shown"] {
        place.write(path, "needle");
    }
    place.write("binary", b"needle\0");
    place.write(".gitignore", "target/\n*.log\n");
    symlink(place.secret(), place.path("link")).unwrap();
    symlink(place.root().parent().unwrap(), place.path("up")).unwrap();
    assert_eq!(search(&place, json!({"query": "needle"})).await, "shown:1:needle");
    assert_eq!(
        search(&place, json!({"query": "the secret"})).await,
        "nothing was found in 2 files"
    );
    // A glob does not bring back what is ignored.
    let log = search(&place, json!({"query": "needle", "glob": "*.log"})).await;
    assert_eq!(log, "nothing was found in 0 files");
    for path in [".git", ".git/config", "own.toml", "../secret", "link", "up", "/etc"] {
        let seen = place.call("search_code", json!({"query": "needle", "path": path})).await;
        assert!(!seen.text.contains(":1:"), "{path}: {}", seen.text);
    }
}

/// A list of what to leave out is opened by its name: a link could lead to a device without an end.
#[tokio::test]
async fn a_list_of_what_to_leave_out_that_is_no_plain_file_is_not_read() {
    let place = place();
    symlink("/dev/zero", place.path("src/deep/.ignore")).unwrap();
    let found = search(&place, json!({"query": "needle"})).await;
    assert_eq!(found, "notes.txt:1:a needle (1)\nsrc/a.rs:2:    needle(1);");
    for name in [".ignore", ".gitignore"] {
        symlink("/dev/zero", place.path(name)).unwrap();
        let seen = place.call("search_code", json!({"query": "needle"})).await;
        assert!(!seen.is_ok() && seen.text.contains("not a plain file"), "{}", seen.text);
        std::fs::remove_file(place.path(name)).unwrap();
    }
}

#[tokio::test]
async fn results_are_bounded_in_number_and_length_and_say_so() {
    let place = Place::new();
    place.write("many", "needle\n".repeat(500));
    place.write("wide", format!("needle {}", "x".repeat(100_000)));
    let seen = search(&place, json!({"query": "needle"})).await;
    assert_eq!(seen.lines().count(), 101);
    assert!(seen.ends_with("[more than 100 lines: there may be more; narrow it]"), "{seen}");
    let wide = search(&place, json!({"query": "needle", "path": "wide"})).await;
    assert!(wide.chars().count() < 400, "{}", wide.len());
    place.write("huge", "needle\n".repeat(1_000_000));
    let huge = search(&place, json!({"query": "needle", "path": "huge"})).await;
    assert!(huge.contains("[1 file too large, not searched]"), "{huge}");
    let context = CallContext { observation_chars: 200, ..CallContext::new("key") };
    let short = place.call_in("search_code", json!({"query": "needle"}), &context).await;
    assert!(short.text.chars().count() <= 200 && short.text.contains("more than 100 lines"));
}

#[tokio::test]
async fn a_search_stops_when_it_is_canceled_or_out_of_time() {
    let place = place();
    let canceled = CallContext::new("key");
    canceled.cancel.cancel();
    let seen = place.call_in("search_code", json!({"query": "needle"}), &canceled).await;
    assert_eq!(
        seen,
        Observation { ending: Ending::Canceled, text: "stopped: canceled".to_owned() }
    );
    let late = CallContext { deadline: Some(Instant::now()), ..CallContext::new("key") };
    let seen = place.call_in("search_code", json!({"query": "needle"}), &late).await;
    assert!(seen.text.contains("[out of time: there may be more"), "{}", seen.text);
}

#[tokio::test]
async fn what_a_rule_denies_is_not_found_by_a_search_of_the_folder_above() {
    let place = place();
    for tool in ["search_code", "read_file", "*"] {
        let when = Some(ArgPattern { arg: "path".into(), matches: "src/deep/**".into() });
        let rule = ApprovalRule { tool: tool.into(), decision: Approval::Deny, when };
        let policy = Policy { rules: vec![rule], ..Policy::default() };
        let bars = AccessRules::new(&policy, "search_code", "/work");
        let context = CallContext { bars, ..CallContext::new("key") };
        let found = place.call_in("search_code", json!({"query": "needle"}), &context).await.text;
        let expected = "notes.txt:1:a needle (1)\nsrc/a.rs:2:    needle(1);\n\
                        [1 file denied by a rule, not searched]";
        assert_eq!(found, expected, "{tool}");
    }
}

#[tokio::test]
async fn words_with_a_bar_between_them_mean_either_and_the_result_says_so() {
    let place = Place::new();
    place.write("ui.css", "color: red;\nbackground: blue;\nmargin: 0;\na || b\nls | wc\n");
    let found = search(&place, json!({"query": "color|background"})).await;
    let expected = "ui.css:1:color: red;\nui.css:2:background: blue;\n\
                    [lines with any of: color, background]";
    assert_eq!(found, expected);
    // A bar that is code is looked for as it stands.
    assert_eq!(search(&place, json!({"query": "a || b"})).await, "ui.css:4:a || b");
    assert_eq!(search(&place, json!({"query": "ls | wc"})).await, "ui.css:5:ls | wc");
    let expression = search(&place, json!({"query": "col|^mar", "regex": true})).await;
    assert_eq!(expression, "ui.css:1:color: red;\nui.css:3:margin: 0;");
    let none = search(&place, json!({"query": "x1|x2"})).await;
    assert_eq!(none, "nothing was found in 1 file\n[lines with any of: x1, x2]");
}
