//! The list: made, worked through, closed; and every way to write it wrongly.

use super::{check, path, start};
use crate::support::{Scenario, fold};
use everloop_types::ItemState;
use expect_test::expect;
use serde_json::json;

/// The expected order of the source: look, list, then start, work, complete for each, then report.
fn analysis() -> Scenario {
    let list = [("1", "explore", "pending"), ("2", "trend", "pending"), ("3", "chart", "pending")];
    let mut scenario = start("analyse sales")
        .calls("read_file", &path("sales.csv"))
        .sees("a,b")
        .lists(false, &list);
    for (id, ..) in list {
        scenario = scenario
            .marks(id, "in_progress")
            .calls("read_file", &path(id))
            .sees("numbers")
            .marks(id, "completed");
    }
    scenario.says("# Report\nSales grow.\n[ANALYSIS_COMPLETE]")
}

#[test]
fn the_model_makes_its_list_works_through_it_and_reports() {
    check(
        analysis(),
        &expect![[r##"
        call_model think with 2 messages
        call_tool read_file {"path":"sales.csv"}
        call_model think with 4 messages
        settle todo_write {"merge":false,"todos":[{"content":"explore","id":"1","status":"pending"},{"content":"trend","id":"2","status":"pending"},{"content":"chart","id":"3","status":"pending"}]}: 3 items: 3 pending
        call_model think with 6 messages
        settle todo_write {"merge":true,"todos":[{"id":"1","status":"in_progress"}]}: 3 items: 2 pending, 1 in_progress
        call_model think with 8 messages
        call_tool read_file {"path":"1"}
        call_model think with 10 messages
        settle todo_write {"merge":true,"todos":[{"id":"1","status":"completed"}]}: 3 items: 2 pending, 1 completed
        call_model think with 12 messages
        settle todo_write {"merge":true,"todos":[{"id":"2","status":"in_progress"}]}: 3 items: 1 pending, 1 in_progress, 1 completed
        call_model think with 14 messages
        call_tool read_file {"path":"2"}
        call_model think with 16 messages
        settle todo_write {"merge":true,"todos":[{"id":"2","status":"completed"}]}: 3 items: 1 pending, 2 completed
        call_model think with 18 messages
        settle todo_write {"merge":true,"todos":[{"id":"3","status":"in_progress"}]}: 3 items: 1 in_progress, 2 completed
        call_model think with 20 messages
        call_tool read_file {"path":"3"}
        call_model think with 22 messages
        settle todo_write {"merge":true,"todos":[{"id":"3","status":"completed"}]}: 3 items: 3 completed
        call_model think with 24 messages
        finish succeeded "# Report\nSales grow."
    "##]],
    );
}

#[test]
fn every_change_of_the_list_can_be_seen() {
    let played = analysis().play();
    let mut seen = Vec::new();
    for n in 1..=played.journal.len() {
        let progress = fold(&played.journal[..n], &played.frame).progress();
        let states: Vec<ItemState> = progress.items.iter().map(|item| item.state).collect();
        let now = (progress.version, progress.current, states);
        if seen.last() != Some(&now) {
            seen.push(now);
        }
    }
    use ItemState::{Completed as C, InProgress as I, Pending as P};
    assert_eq!(
        seen,
        [
            (0, None, vec![]),
            (1, None, vec![P, P, P]),
            (2, Some(0), vec![I, P, P]),
            (3, None, vec![C, P, P]),
            (4, Some(1), vec![C, I, P]),
            (5, None, vec![C, C, P]),
            (6, Some(2), vec![C, C, I]),
            (7, None, vec![C, C, C]),
        ]
    );
}

#[test]
fn bad_lists_are_refused_with_the_reason_and_the_list_stays() {
    let scenario = start("go")
        .lists(false, &[("1", "one", "pending")])
        .lists(true, &[("1", "x", "completed"), ("1", "y", "pending")])
        .lists(true, &[("1", "one", "done")])
        .lists(true, &[("1", " ", "completed")])
        .lists(true, &[])
        .lists(true, &[("", "x", "completed")])
        .lists(true, &[("1", "one", "cancelled")])
        .says("Nothing to do.");
    check(
        scenario,
        &expect![[r#"
        call_model think with 2 messages
        settle todo_write {"merge":false,"todos":[{"content":"one","id":"1","status":"pending"}]}: 1 items: 1 pending
        call_model think with 4 messages
        refuse todo_write {"merge":true,"todos":[{"content":"x","id":"1","status":"completed"},{"content":"y","id":"1","status":"pending"}]}: Error: todos[1].id: "1" comes twice; the list stays as it is
        call_model think with 6 messages
        refuse todo_write {"merge":true,"todos":[{"content":"one","id":"1","status":"done"}]}: Error: the arguments do not fit (todos[0].status: must be one of "pending", "in_progress", "completed", "cancelled"); nothing was done
        call_model think with 8 messages
        refuse todo_write {"merge":true,"todos":[{"content":" ","id":"1","status":"completed"}]}: Error: todos[0].content: is empty; the list stays as it is
        call_model think with 10 messages
        refuse todo_write {"merge":true,"todos":[]}: Error: todos: there is nothing to update; the list stays as it is
        call_model think with 12 messages
        refuse todo_write {"merge":true,"todos":[{"content":"x","id":"","status":"completed"}]}: Error: todos[0].id: is empty; the list stays as it is
        call_model think with 15 messages
        settle todo_write {"merge":true,"todos":[{"content":"one","id":"1","status":"cancelled"}]}: 1 items: 1 cancelled
        call_model think with 17 messages
        finish succeeded "Nothing to do."
    "#]],
    );
}

#[test]
fn two_writes_in_one_reply_build_on_each_other() {
    let one = json!({"todos": [{"id": "1", "content": "one", "status": "pending"}]});
    let two = json!({"todos": [{"id": "1", "status": "completed"}], "merge": true});
    let scenario = start("go").calls_all(&[("todo_write", one), ("todo_write", two)]).says("Done.");
    check(
        scenario,
        &expect![[r#"
        call_model think with 2 messages
        settle todo_write {"todos":[{"content":"one","id":"1","status":"pending"}]}: 1 items: 1 pending
        settle todo_write {"merge":true,"todos":[{"id":"1","status":"completed"}]}: 1 items: 1 completed
        call_model think with 5 messages
        finish succeeded "Done."
    "#]],
    );
}

#[test]
fn the_form_without_ids_is_performed_as_ever() {
    let items = json!({"items": [{"text": "one", "state": "completed"}]});
    let scenario = start("go").calls("todo_write", &items).sees("noted").says("Done.");
    check(
        scenario,
        &expect![[r#"
        call_model think with 2 messages
        call_tool todo_write {"items":[{"state":"completed","text":"one"}]}
        call_model think with 4 messages
        finish succeeded "Done."
    "#]],
    );
}

#[test]
fn a_plain_question_needs_no_list() {
    check(
        start("hello").says("Hello!"),
        &expect![[r#"
        call_model think with 2 messages
        finish succeeded "Hello!"
    "#]],
    );
}

#[test]
fn a_crash_at_any_point_leaves_the_trace_unchanged() {
    let undisturbed = analysis().play();
    for n in 2..undisturbed.journal.len() {
        assert_eq!(analysis().crash_after(n).play().trace, undisturbed.trace, "after entry {n}");
    }
}
