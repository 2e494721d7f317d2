//! Hybrid: phases by code, freedom within the work.

use super::{TWO, check, offers, path, told};
use crate::support::Scenario;
use everloop_types::ModelErrorKind;
use expect_test::expect;

fn start() -> Scenario {
    Scenario::of("hybrid", "read both")
}

fn free() -> Scenario {
    start()
        .lists(false, &TWO)
        .calls_all(&[("read_file", path("b")), ("read_file", path("a"))])
        .sees("two")
        .sees("one")
        .marks("a", "completed")
        .says("finished")
        .says("One and two.")
}

#[test]
fn the_model_is_free_within_the_work_and_reports_what_stayed_open() {
    check(
        free(),
        &expect![[r#"
        call_model plan with 3 messages
        settle todo_write {"merge":false,"todos":[{"content":"read a","id":"a","status":"pending"},{"content":"read b","id":"b","status":"pending"}]}: 2 items: 2 pending
        call_model think with 6 messages
        call_tool read_file {"path":"b"}
        call_tool read_file {"path":"a"}
        call_model think with 9 messages
        settle todo_write {"merge":true,"todos":[{"id":"a","status":"completed"}]}: 2 items: 1 pending, 1 completed
        call_model think with 11 messages
        call_model think with 13 messages
        finish succeeded "One and two." [list.left_open] "- b: read b"
    "#]],
    );
    expect![[r#"
        phase: planning
        phase: execution
        phase: reporting / still open: / - b: read b
    "#]]
    .assert_eq(&told(free()));
}

#[test]
fn each_phase_has_its_own_tools() {
    expect![[r#"
        Only(["todo_write"]) Named("todo_write")
        All Auto
        All Auto
        All Auto
        None None
    "#]]
    .assert_eq(&offers(&free().play()));
}

#[test]
fn an_empty_report_is_asked_for_once_more_by_the_closing() {
    let scenario = start().lists(false, &TWO).says("finished").says(" ").says("Nothing was done.");
    check(
        scenario,
        &expect![[r#"
            call_model plan with 3 messages
            settle todo_write {"merge":false,"todos":[{"content":"read a","id":"a","status":"pending"},{"content":"read b","id":"b","status":"pending"}]}: 2 items: 2 pending
            call_model think with 6 messages
            call_model think with 8 messages
            call_model close with 10 messages
            finish succeeded "Nothing was done."
        "#]],
    );
}

#[test]
fn a_model_that_is_gone_leaves_a_text_from_list_and_journal() {
    let scenario = start().lists(false, &TWO).fails(ModelErrorKind::Unreachable, "gone");
    check(
        scenario,
        &expect![[r#"
            call_model plan with 3 messages
            settle todo_write {"merge":false,"todos":[{"content":"read a","id":"a","status":"pending"},{"content":"read b","id":"b","status":"pending"}]}: 2 items: 2 pending
            call_model think with 6 messages
            finish failed (model) [closing.from_journal] [closing.open] "- read a\n- read b" [closing.next] [reason.model detail=gone]
        "#]],
    );
}
