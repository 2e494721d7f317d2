//! Calls and results as people read them.

use super::{call_command, call_words, result_words};
use everloop_types::{Ending, Lang};

fn english(tool: &str, arguments: &str) -> String {
    call_words(Lang::En, tool, arguments)
}

#[test]
fn each_family_of_tools_has_its_words() {
    let cases = [
        ("shell", r#"{"command": "cargo test --all"}"#, "$ cargo test --all"),
        ("shell", r#"{"command": "cd x\nmake"}"#, "$ cd x ⏎ make"),
        ("read_file", r#"{"path": "poem.txt"}"#, "read poem.txt"),
        ("read_file", r#"{"path": "poem.txt", "from_line": 40}"#, "read poem.txt from line 40"),
        ("list_dir", r#"{"path": "src"}"#, "list src"),
        ("write_file", r#"{"path": "a.txt", "content": "a\nb\n"}"#, "write a.txt (2 lines)"),
        ("write_file", r#"{"path": "a.txt", "content": "a"}"#, "write a.txt (1 line)"),
        (
            "edit_file",
            r#"{"path": "src/x.rs", "old": "a\nb\nc", "new": "a\nB\nBB\nBBB\nc"}"#,
            "edit src/x.rs +3 -1",
        ),
        ("search_code", r#"{"query": "fn main"}"#, "search for “fn main”"),
        (
            "search_code",
            r#"{"query": "x", "path": "src", "glob": "*.rs"}"#,
            "search for “x” in src *.rs",
        ),
        ("git_read", r#"{"view": "status"}"#, "git status"),
        ("git_push", r#"{"remote": "origin", "branch": "main"}"#, "git push origin main"),
        ("http_send", r#"{"method": "post", "url": "http://a/b"}"#, "POST http://a/b"),
        ("todo", r#"{"command": "/todo add milk"}"#, "/todo add milk"),
        (
            "srv__look",
            r#"{"a": "x", "deep": {"n": [1, 2]}}"#,
            "srv__look a: x, deep: {\"n\":[1,2]}",
        ),
    ];
    for (tool, arguments, words) in cases {
        assert_eq!(english(tool, arguments), words, "{tool} {arguments}");
    }
    assert_eq!(call_words(Lang::ZhCn, "read_file", r#"{"path": "诗.txt"}"#), "读取 诗.txt");
}

#[test]
fn arguments_that_are_no_object_are_shown_as_they_are() {
    assert_eq!(english("shell", "{\"command\": "), "shell {\"command\":");
    assert_eq!(english("shell", "{}"), "shell");
}

#[test]
fn what_a_person_would_not_see_is_spelled_out() {
    let line = english("shell", "{\"command\": \"echo \\u202e a\\u001b[2J\"}");
    assert!(!line.contains('\u{202e}') && !line.contains('\u{1b}'), "{line:?}");
    assert!(line.contains("\\u{202e}"), "{line:?}");
}

#[test]
fn the_whole_command_is_there_for_a_question() {
    let command = call_command("shell", r#"{"command": "cd x\nmake"}"#);
    assert_eq!(command.as_deref(), Some("cd x\nmake"));
    assert_eq!(call_command("read_file", r#"{"path": "x"}"#), None);
}

#[test]
fn a_result_is_a_few_real_lines() {
    let long: String = (1..=43).map(|n| format!("line {n}\n")).collect();
    let words = result_words(Lang::En, "shell", Ending::Ok, &long);
    assert_eq!(words.head, "line 1");
    assert_eq!(words.lines, ["line 2", "line 3"]);
    assert_eq!(words.left_out, 40);
    let read = result_words(Lang::En, "read_file", Ending::Ok, &long);
    assert_eq!((read.head.as_str(), read.lines.len()), ("43 lines", 0));
    let nothing = result_words(Lang::En, "shell", Ending::Ok, "\n");
    assert_eq!(nothing.head, "no output");
    let ran = result_words(Lang::En, "shell", Ending::Ok, "one\n[exit code 0]");
    assert_eq!((ran.head.as_str(), ran.lines.len(), ran.left_out), ("one", 0, 0));
    let broken = result_words(Lang::En, "shell", Ending::Error, &format!("{long}[exit code 101]"));
    assert_eq!((broken.head.as_str(), broken.left_out), ("[exit code 101]", 41));
    assert!(broken.is_end);
    assert_eq!(broken.lines, ["line 42", "line 43"]);
    let failed = result_words(Lang::En, "read_file", Ending::Error, "no such file: x");
    assert_eq!(failed.head, "no such file: x");
}
