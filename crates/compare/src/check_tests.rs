use super::{Check, SavedTodo, Scene, says};
use std::collections::BTreeMap;

fn check(text: &str) -> Check {
    serde_json::from_str(text).unwrap()
}

fn scene() -> Scene {
    let kept = |text: &str, done, due: Option<&str>| SavedTodo {
        text: text.into(),
        done,
        due: due.map(str::to_owned),
    };
    let files = [("a.txt", "one\ntwo\none\n"), ("b.txt", "three")];
    Scene {
        files: files.map(|(name, text)| (name.to_owned(), text.to_owned())).into(),
        todos: vec![
            kept("milk", false, Some("2030-05-06")),
            kept("bread", true, None),
            kept("salt", false, None),
            kept("salt", false, None),
        ],
        entries: vec![
            ("dentist".into(), "2030-05-06 15:00".into()),
            ("lunch".into(), "2030-05-06 12:00".into()),
            ("lunch".into(), "2030-05-07 12:00".into()),
        ],
        answer: "It is 1,234.5 in all, Brenn has 7.".into(),
        asked: 1,
        searched: 2,
    }
}

#[test]
fn every_check_holds_where_it_should_and_not_elsewhere() {
    let scene = scene();
    for (text, holds) in [
        (r#"{"file_equals":{"file":"b.txt","text":"three\n"}}"#, true),
        (r#"{"file_equals":{"file":"b.txt","text":"thre"}}"#, false),
        (r#"{"file_equals":{"file":"c.txt","text":""}}"#, false),
        (r#"{"file_has":{"file":"a.txt","text":"two"}}"#, true),
        (r#"{"file_has":{"file":"a.txt","text":"three"}}"#, false),
        (r#"{"file_lacks":{"file":"a.txt","text":"three"}}"#, true),
        (r#"{"file_lacks":{"file":"a.txt","text":"two"}}"#, false),
        (r#"{"file_lacks":{"file":"c.txt","text":"two"}}"#, false),
        (r#"{"file_absent":"c.txt"}"#, true),
        (r#"{"file_absent":"a.txt"}"#, false),
        (r#"{"line_once":{"file":"a.txt","text":"two"}}"#, true),
        (r#"{"line_once":{"file":"a.txt","text":"one"}}"#, false),
        (r#"{"line_once":{"file":"a.txt","text":"tw"}}"#, false),
        (r#"{"todo_open":"milk"}"#, true),
        (r#"{"todo_open":"bread"}"#, false),
        (r#"{"todo_open":"salt"}"#, false),
        (r#"{"todo_open":"oil"}"#, false),
        (r#"{"todo_done":"bread"}"#, true),
        (r#"{"todo_done":"milk"}"#, false),
        (r#"{"todo_absent":"oil"}"#, true),
        (r#"{"todo_absent":"milk"}"#, false),
        (r#"{"todo_due":{"text":"milk","at":"2030-05-06"}}"#, true),
        (r#"{"todo_due":{"text":"milk","at":"2030-05-07"}}"#, false),
        (r#"{"todo_due":{"text":"bread","at":"2030-05-06"}}"#, false),
        (r#"{"todos":4}"#, true),
        (r#"{"todos":3}"#, false),
        (r#"{"scheduled":{"text":"dentist","at":"2030-05-06 15:00"}}"#, true),
        (r#"{"scheduled":{"text":"dentist","at":"2030-05-06 16:00"}}"#, false),
        (r#"{"scheduled":{"text":"lunch","at":"2030-05-06 12:00"}}"#, false),
        (r#"{"entries":3}"#, true),
        (r#"{"entries":2}"#, false),
        (r#"{"answer_has":"1234.5"}"#, true),
        (r#"{"answer_has":"brenn"}"#, true),
        (r#"{"answer_has":"8"}"#, false),
        (r#"{"answer_lacks":"8"}"#, true),
        (r#"{"answer_lacks":"7"}"#, false),
        (r#"{"asked":1}"#, true),
        (r#"{"asked":0}"#, false),
        (r#"{"searched_at_least":1}"#, true),
        (r#"{"searched_at_least":2}"#, true),
        (r#"{"searched_at_least":3}"#, false),
    ] {
        assert_eq!(check(text).holds(&scene), holds, "{text}");
        assert_eq!(check(text).shown(), text);
    }
}

#[test]
fn a_number_is_found_as_a_number_and_not_within_another() {
    for (text, words, found) in [
        ("There are 12.", "12", true),
        ("There are 312.", "12", false),
        ("There are 12.5.", "12", false),
        ("There are 12.5 of them", "12.5", true),
        ("3.12 it is", "12", false),
        ("12,345", "12345", true),
        ("1,2 and 3", "12", false),
        ("共12个", "12", true),
        ("A \"12\" b", "12", true),
        ("", "12", false),
        ("Brennan", "Brenn", false),
    ] {
        assert_eq!(says(text, words), found, "{words} in {text}");
    }
}

/// Only checks of the answer look at what the model says.
#[test]
fn a_claim_of_success_changes_nothing() {
    let claim = Scene { answer: "Done! a.txt was written.".into(), ..Scene::default() };
    assert!(!check(r#"{"file_has":{"file":"a.txt","text":"a"}}"#).holds(&claim));
    assert!(!check(r#"{"todo_done":"milk"}"#).holds(&claim));
    let before = Scene::before(&BTreeMap::new(), &["milk".to_owned()]);
    assert!(check(r#"{"todo_open":"milk"}"#).holds(&before));
}
