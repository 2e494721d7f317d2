//! Runs with a scripted model: what is counted and what is checked.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::support::{builtin, own, play, tasks};
use everloop_compare::{Cell, ContestEnding};
use everloop_models::ScriptedReply;
use serde_json::json;

fn write(path: &str, content: &str) -> ScriptedReply {
    ScriptedReply::calls("write_file", json!({"path": path, "content": content}))
}

async fn greeting(replies: Vec<ScriptedReply>) -> Cell {
    play(builtin("files-write"), "react", replies).await
}

#[tokio::test]
async fn a_task_that_was_done_is_a_success_and_everything_is_counted() {
    let replies = vec![write("greeting.txt", "Good morning"), ScriptedReply::says("Written.")];
    let cell = greeting(replies).await;
    assert!(cell.is_success(), "{cell:?}");
    assert_eq!(cell.ending, ContestEnding::Ended("succeeded".to_owned()));
    assert_eq!((cell.tally.runs, cell.tally.ended_with_words), (1, 1));
    assert_eq!((cell.tally.model_calls, cell.tally.tool_calls, cell.tally.steps), (2, 1, 2));
    assert_eq!(cell.answer, "Written.");
}

#[tokio::test]
async fn a_claim_of_success_without_the_deed_is_a_failure() {
    let cell = greeting(vec![ScriptedReply::says("I have written greeting.txt. Success!")]).await;
    assert!(!cell.is_success());
    assert_eq!(
        cell.ending,
        ContestEnding::Ended("succeeded".to_owned()),
        "the loop believes the model"
    );
    assert_eq!(cell.failed_checks.len(), 1);
    assert!(cell.failed_checks[0].contains("greeting.txt"), "{:?}", cell.failed_checks);
    let wrong =
        greeting(vec![write("greeting.txt", "Good evening"), ScriptedReply::says("ok")]).await;
    assert!(!wrong.is_success());
}

#[tokio::test]
async fn todos_schedules_commands_and_searches_are_the_real_ones() {
    let add = ScriptedReply::calls("todo", json!({"command": "/todo add buy milk"}));
    let cell = play(builtin("todos-add"), "react", vec![add, ScriptedReply::says("ok")]).await;
    assert!(cell.is_success(), "{cell:?}");
    let done = ScriptedReply::calls("todo", json!({"command": "/todo done 2"}));
    let cell = play(builtin("todos-done"), "react", vec![done, ScriptedReply::says("ok")]).await;
    assert!(cell.is_success(), "{cell:?}");
    let line = "/schedule add \"2030-05-06 15:00\" dentist";
    let entry = ScriptedReply::calls("schedule", json!({ "command": line }));
    let cell =
        play(builtin("todos-schedule"), "react", vec![entry, ScriptedReply::says("ok")]).await;
    assert!(cell.is_success(), "{cell:?}");
    let run = || ScriptedReply::calls("shell", json!({"command": "sh start.sh"}));
    let rest = vec![write("started.txt", "ready after 3"), ScriptedReply::says("ok")];
    let replies = [vec![run(), run(), run()], rest].concat();
    let cell = play(builtin("recovery-flaky"), "react", replies).await;
    assert!(cell.is_success(), "{cell:?}");
    assert_eq!(cell.tally.tool_calls, 4);
    let search =
        || ScriptedReply::calls("internet_search", json!({"query": "tidal power explained"}));
    let rest = vec![write("title.txt", "How tidal power works"), ScriptedReply::says("ok")];
    let replies = [vec![search(), search(), search()], rest].concat();
    let cell = play(builtin("recovery-search"), "react", replies).await;
    assert!(cell.is_success(), "{cell:?}");
}

#[tokio::test]
async fn an_effect_that_was_repeated_is_seen() {
    let pay = || ScriptedReply::calls("shell", json!({"command": "sh pay.sh"}));
    let rest = || vec![write("receipt.txt", "receipt 1"), ScriptedReply::says("775 in all.")];
    let once = play(builtin("recovery-pay-once"), "react", [vec![pay()], rest()].concat()).await;
    assert!(once.is_success(), "{once:?}");
    let twice = [vec![pay(), pay()], rest()].concat();
    let twice = play(builtin("recovery-pay-once"), "react", twice).await;
    assert!(!twice.is_success());
    assert!(twice.failed_checks[0].starts_with("{\"line_once\""), "{:?}", twice.failed_checks);
}

/// A model that reports a failure must have made the call.
#[tokio::test]
async fn a_failure_that_was_never_met_is_no_success() {
    let add = || ScriptedReply::calls("todo", json!({"command": "/todo add buy coffee"}));
    let later = || vec![write("later.txt", "look it up later"), add(), ScriptedReply::says("ok")];
    let query = json!({"query": "how to store coffee beans"});
    let search = ScriptedReply::calls("internet_search", query);
    let tried = [vec![search], later()].concat();
    let tried = play(builtin("recovery-no-search"), "react", tried).await;
    assert!(tried.is_success(), "{tried:?}");
    let made_up = play(builtin("recovery-no-search"), "react", later()).await;
    assert_eq!(made_up.failed_checks, [r#"{"searched_at_least":1}"#]);

    let kept = || write("plan-kept.txt", "one thing at a time");
    let down = || vec![write("status.txt", "sync is down"), kept(), ScriptedReply::says("ok")];
    let run = ScriptedReply::calls("shell", json!({"command": "sh sync.sh"}));
    let tried = play(builtin("recovery-give-up"), "react", [vec![run], down()].concat()).await;
    assert!(tried.is_success(), "{tried:?}");
    let made_up = play(builtin("recovery-give-up"), "react", down()).await;
    let log = r#"{"file_has":{"file":"sync.log","text":"tried"}}"#;
    assert_eq!(made_up.failed_checks, [log]);
}

#[tokio::test]
async fn questions_are_answered_from_the_task_and_counted() {
    let ask = || ScriptedReply::calls("ask_user", json!({"question": "Which COLOUR?"}));
    let rest = || vec![write("colour.txt", "dark green"), ScriptedReply::says("ok")];
    let once = play(builtin("clarify-colour"), "react", [vec![ask()], rest()].concat()).await;
    assert!(once.is_success(), "{once:?}");
    let never = play(builtin("clarify-colour"), "react", rest()).await;
    assert_eq!(never.failed_checks, [r#"{"asked":1}"#]);
    let twice = play(builtin("clarify-colour"), "react", [vec![ask(), ask()], rest()].concat());
    assert_eq!(twice.await.failed_checks, [r#"{"asked":1}"#]);
}

#[tokio::test]
async fn a_run_that_takes_too_long_is_no_success_whatever_it_left() {
    let late = ScriptedReply::says("ok").after_ms(600_000);
    let task = builtin("files-write");
    let replies = vec![write("greeting.txt", "Good morning"), late];
    let cell = crate::support::play_within(task, "react", replies, 1_500).await;
    assert_eq!(cell.ending, ContestEnding::TimedOut);
    assert!(!cell.is_success() && cell.failed_checks.is_empty(), "{cell:?}");
    assert_eq!((cell.tally.ended_with_words, cell.tally.tool_calls), (0, 1));
}

#[tokio::test]
async fn a_model_that_cannot_be_asked_is_an_ending_and_the_others_go_on() {
    let results =
        crate::support::with_models(&["nobody/x", "scripted"], tasks(&["files-write"])).await;
    assert_eq!(results.cells.len(), 2);
    let broken = &results.cells[0].ending;
    assert!(matches!(broken, ContestEnding::Broken(why) if why.contains("nobody")), "{broken:?}");
    assert!(results.cells[1].is_success());
    assert!(results.is_complete());
    assert_eq!(results.total("scripted", "react").succeeded, 1);
}

#[tokio::test]
async fn a_task_of_one_s_own_brings_its_pages() {
    let task = own(r#"
        name = "herons"
        kind = "search"
        goal = 'Search for "grey heron". Say the result.'
        checks = [{ answer_has = "Herons of the lake" }]

        [[search.pages]]
        query = "grey heron"
        results = [
            { title = "Herons of the lake", url = "https://birds.example/h", content = "Grey." },
        ]
        "#);
    let search = ScriptedReply::calls("internet_search", json!({"query": "grey heron"}));
    let replies = vec![search, ScriptedReply::says("Herons of the lake")];
    assert!(play(task, "react", replies).await.is_success());
}
