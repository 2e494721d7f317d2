//! Task-driven: the code walks the list, checks, retries, moves on.

use super::{TWO, check, offers, path, told};
use crate::support::Scenario;
use everloop_types::ItemState;
use expect_test::expect;
use serde_json::json;

fn start() -> Scenario {
    Scenario::of("task-driven", "read both")
}

fn walked() -> Scenario {
    start()
        .calls("read_file", &path("index"))
        .sees("a and b")
        .lists(false, &TWO)
        .calls("read_file", &path("a"))
        .sees("one")
        .marks("a", "completed")
        .marks("b", "cancelled")
        .says("a holds one.")
}

#[test]
fn the_model_gets_one_item_at_a_time_and_marks_it() {
    check(
        walked(),
        &expect![[r#"
        call_model plan with 3 messages
        call_tool read_file {"path":"index"}
        call_model plan with 5 messages
        settle todo_write {"merge":false,"todos":[{"content":"read a","id":"a","status":"pending"},{"content":"read b","id":"b","status":"pending"}]}: 2 items: 2 pending
        call_model think with 8 messages
        call_tool read_file {"path":"a"}
        call_model think with 10 messages
        settle todo_write {"merge":true,"todos":[{"id":"a","status":"completed"}]}: 2 items: 1 pending, 1 completed
        call_model think with 13 messages
        settle todo_write {"merge":true,"todos":[{"id":"b","status":"cancelled"}]}: 2 items: 1 completed, 1 cancelled
        call_model think with 16 messages
        finish succeeded "a holds one."
    "#]],
    );
    expect![[r#"
        phase: planning
        phase: execution / item 1 of 2, id a: read a
        phase: execution / item 2 of 2, id b: read b
        phase: reporting
    "#]]
    .assert_eq(&told(walked()));
}

#[test]
fn the_code_marks_what_is_begun_and_the_list_that_comes_back_shows_it() {
    let played = walked().play();
    let shown = played.prompts.last().expect("a prompt").iter().map(|message| message.text());
    let shown: Vec<&str> = shown.filter(|text| text.contains(" items: ")).collect();
    assert_eq!(
        shown[1..],
        [
            "2 items: 1 pending, 1 completed\n- a [completed] read a\n- b [pending] read b",
            "2 items: 1 completed, 1 cancelled\n- a [completed] read a\n- b [cancelled] read b",
        ]
    );
}

#[test]
fn the_report_is_asked_for_without_tools() {
    expect![[r#"
        All Auto
        All Auto
        All Auto
        All Auto
        All Auto
        None None
    "#]]
    .assert_eq(&offers(&walked().play()));
}

#[test]
fn an_item_that_is_left_open_is_tried_twice_more_and_then_failed() {
    let scenario = start()
        .lists(false, &TWO)
        .says("done")
        .says("done")
        .says("done")
        .marks("b", "completed")
        .says("a could not be read.");
    check(
        scenario.clone(),
        &expect![[r#"
            call_model plan with 3 messages
            settle todo_write {"merge":false,"todos":[{"content":"read a","id":"a","status":"pending"},{"content":"read b","id":"b","status":"pending"}]}: 2 items: 2 pending
            call_model think with 6 messages
            call_model think with 8 messages
            call_model think with 10 messages
            call_model think with 12 messages
            settle todo_write {"merge":true,"todos":[{"id":"b","status":"completed"}]}: 2 items: 1 completed, 1 failed
            call_model think with 15 messages
            finish failed (broken_contract) "a could not be read." [list.failed] "- a: read a"
        "#]],
    );
    expect![[r#"
        phase: planning
        phase: execution / item 1 of 2, id a: read a
        Notice from the runtime: item a is still open. Go on with it; mark it completed with `todo_write` (merge true) when it is done, or cancelled when it cannot be done.
        Notice from the runtime: item a is still open. Go on with it; mark it completed with `todo_write` (merge true) when it is done, or cancelled when it cannot be done.
        phase: execution / item 2 of 2, id b: read b
        phase: reporting / failed: / - a: read a
    "#]].assert_eq(&told(scenario.clone()));
    let states: Vec<ItemState> =
        scenario.play().run.progress().items.iter().map(|item| item.state).collect();
    assert_eq!(states, [ItemState::Failed, ItemState::Completed]);
}

/// Whatever the report says.
#[test]
fn a_run_of_which_every_item_failed_does_not_succeed() {
    let mut scenario = start().lists(false, &TWO);
    for _ in 0..6 {
        scenario = scenario.says("I did it, honest.");
    }
    let scenario = scenario.says("Everything was done.");
    let trace = scenario.clone().play().trace;
    let last = trace.lines().last().expect("an end");
    assert_eq!(
        last,
        r#"finish failed (broken_contract) "Everything was done." [list.failed] "- a: read a\n- b: read b""#
    );
    let told = told(scenario);
    assert!(told.ends_with("phase: reporting / failed: / - a: read a / - b: read b\n"), "{told}");
}

#[test]
fn a_model_that_makes_no_list_is_given_up() {
    let scenario = start().says("hi").says("hi").says("hi").says("I made no list.");
    check(
        scenario,
        &expect![[r#"
            call_model plan with 3 messages
            call_model plan with 5 messages
            call_model plan with 7 messages
            call_model close with 10 messages
            finish failed (broken_contract) "I made no list." [broken.why_any loop=task-driven tries=3] [broken.next loop=react model=scripted/model]
        "#]],
    );
}

#[test]
fn a_list_without_ids_is_walked_by_its_numbers() {
    let items = json!({"items": [{"text": "one", "state": "pending"}]});
    let scenario = start()
        .calls("todo_write", &items)
        .sees("1. [pending] one")
        .marks("1", "completed")
        .says("Done.");
    check(
        scenario,
        &expect![[r#"
        call_model plan with 3 messages
        call_tool todo_write {"items":[{"state":"pending","text":"one"}]}
        call_model think with 6 messages
        settle todo_write {"merge":true,"todos":[{"id":"1","status":"completed"}]}: 1 items: 1 completed
        call_model think with 9 messages
        finish succeeded "Done."
    "#]],
    );
}

#[test]
fn without_a_tool_for_the_list_the_whole_request_is_the_work() {
    for name in ["task-driven", "staged", "hybrid"] {
        let scenario = Scenario::of(name, "read a")
            .without_tool("todo_write")
            .calls("read_file", &path("a"))
            .sees("one")
            .says("read")
            .says("It says one.");
        check(
            scenario,
            &expect![[r#"
                call_model think with 3 messages
                call_tool read_file {"path":"a"}
                call_model think with 5 messages
                call_model think with 7 messages
                finish succeeded "It says one."
            "#]],
        );
    }
}
