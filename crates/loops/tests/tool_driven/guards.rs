//! Answers that come too early, lists that are forgotten, limits.

use super::{check, path, start, told};
use crate::support::Scenario;
use everloop_types::ModelErrorKind;
use expect_test::expect;

fn marked(mut scenario: Scenario) -> Scenario {
    scenario.frame.completion_mark = "[DONE]".to_owned();
    scenario
}

#[test]
fn an_answer_while_items_are_open_is_sent_back_with_them() {
    let scenario = start("go")
        .lists(false, &[("1", "one", "in_progress"), ("2", "two", "pending")])
        .says("All done! [ANALYSIS_COMPLETE]")
        .lists(true, &[("1", "one", "completed"), ("2", "two", "cancelled")])
        .says("One is done. [ANALYSIS_COMPLETE]");
    check(
        scenario.clone(),
        &expect![[r#"
        call_model think with 2 messages
        settle todo_write {"merge":false,"todos":[{"content":"one","id":"1","status":"in_progress"},{"content":"two","id":"2","status":"pending"}]}: 2 items: 1 pending, 1 in_progress
        call_model think with 4 messages
        call_model think with 6 messages
        settle todo_write {"merge":true,"todos":[{"content":"one","id":"1","status":"completed"},{"content":"two","id":"2","status":"cancelled"}]}: 2 items: 1 completed, 1 cancelled
        call_model think with 8 messages
        finish succeeded "One is done."
    "#]],
    );
    expect![[r#"
        Notice from the runtime: your list still has open items: / - 1: one / - 2: two / Go on with them, or close each with `todo_write` (completed if it is done, cancelled if it is not wanted). Give your final answer after that.
    "#]].assert_eq(&told(scenario));
}

#[test]
fn after_three_reminders_the_answer_stands_and_says_what_stayed_open() {
    let scenario = start("go")
        .lists(false, &[("1", "one", "pending")])
        .says("Done.")
        .says("Done.")
        .says("Done.")
        .says("Done, really.");
    check(
        scenario,
        &expect![[r#"
        call_model think with 2 messages
        settle todo_write {"merge":false,"todos":[{"content":"one","id":"1","status":"pending"}]}: 1 items: 1 pending
        call_model think with 4 messages
        call_model think with 6 messages
        call_model think with 8 messages
        call_model think with 10 messages
        finish succeeded "Done, really." [list.left_open] "- 1: one"
    "#]],
    );
}

#[test]
fn where_a_mark_is_wanted_an_answer_without_it_is_not_the_last() {
    let scenario = marked(start("go")).says("I think...").says("It is so. [DONE]");
    check(
        scenario.clone(),
        &expect![[r#"
        call_model think with 2 messages
        call_model think with 4 messages
        finish succeeded "It is so."
    "#]],
    );
    expect![[r#"
        Notice from the runtime: your answer does not carry the mark [DONE]. If you are finished, give your final answer again, complete in itself, with the mark at its end; if not, go on.
    "#]].assert_eq(&told(scenario));
}

#[test]
fn a_mark_alone_is_no_answer() {
    let scenario = marked(start("go")).says("[DONE]").says("It is so.");
    check(
        scenario,
        &expect![[r#"
        call_model think with 2 messages
        call_model close with 4 messages
        finish succeeded "It is so."
    "#]],
    );
}

#[test]
fn work_without_an_item_in_progress_is_pointed_out() {
    let scenario = start("go")
        .calls("read_file", &path("a"))
        .sees("one")
        .calls("read_file", &path("b"))
        .sees("two")
        .lists(false, &[("1", "tell", "completed")])
        .says("One and two.");
    expect![[r#"
        Notice from the runtime: you are working and no item of your list is in progress. Write or update the list with `todo_write`, so that it shows what you are doing.
    "#]].assert_eq(&told(scenario.clone()));
    let off = scenario.limits(|limits| limits.steps.list.unlisted = 0);
    assert_eq!(told(off.clone()), "");
    assert_eq!(told(off.without_tool("todo_write")), "");
}

#[test]
fn a_list_that_does_not_change_is_pointed_out() {
    let mut scenario = start("go").lists(false, &[("1", "read", "in_progress")]);
    for n in 0..6 {
        scenario = scenario.calls("read_file", &path(&n.to_string())).sees("text");
    }
    let scenario = scenario.marks("1", "completed").says("Read.");
    expect![[r#"
        Notice from the runtime: your list has not changed for 5 turns. Open items: / - 1: read / If something is done, mark it; if you are stuck, change the list.
    "#]].assert_eq(&told(scenario.clone()));
    assert_eq!(told(scenario.limits(|limits| limits.steps.list.idle = 0)), "");
}

#[test]
fn at_the_limit_the_model_sums_up_and_without_it_the_list_and_the_journal_do() {
    let scenario = start("go")
        .limits(|limits| limits.steps.max_steps = 3)
        .lists(false, &[("1", "read", "in_progress"), ("2", "tell", "pending")])
        .calls("read_file", &path("a"))
        .sees("one")
        .marks("1", "completed");
    check(
        scenario.clone().says("I read a; telling is open."),
        &expect![[r#"
            call_model think with 2 messages
            settle todo_write {"merge":false,"todos":[{"content":"read","id":"1","status":"in_progress"},{"content":"tell","id":"2","status":"pending"}]}: 2 items: 1 pending, 1 in_progress
            call_model think with 4 messages
            call_tool read_file {"path":"a"}
            call_model think with 6 messages
            settle todo_write {"merge":true,"todos":[{"id":"1","status":"completed"}]}: 2 items: 1 pending, 1 completed
            call_model close with 9 messages
            finish failed (step_limit) "I read a; telling is open." [closing.open] "- tell" [reason.step_limit limit=3]
        "#]],
    );
    check(
        scenario.fails(ModelErrorKind::Unreachable, "gone"),
        &expect![[r#"
            call_model think with 2 messages
            settle todo_write {"merge":false,"todos":[{"content":"read","id":"1","status":"in_progress"},{"content":"tell","id":"2","status":"pending"}]}: 2 items: 1 pending, 1 in_progress
            call_model think with 4 messages
            call_tool read_file {"path":"a"}
            call_model think with 6 messages
            settle todo_write {"merge":true,"todos":[{"id":"1","status":"completed"}]}: 2 items: 1 pending, 1 completed
            call_model close with 9 messages
            finish failed (step_limit) [closing.from_journal] [closing.done] [closing.deed seen=one what=read_file a] [closing.open] "- tell" [closing.next] [reason.step_limit limit=3]
        "#]],
    );
}

#[test]
fn a_model_that_is_gone_leaves_a_text_from_list_and_journal() {
    let scenario = start("go")
        .lists(false, &[("1", "read", "in_progress")])
        .fails(ModelErrorKind::Unreachable, "gone");
    check(
        scenario,
        &expect![[r#"
            call_model think with 2 messages
            settle todo_write {"merge":false,"todos":[{"content":"read","id":"1","status":"in_progress"}]}: 1 items: 1 in_progress
            call_model think with 4 messages
            finish failed (model) [closing.from_journal] [closing.open] "- read" [closing.next] [reason.model detail=gone]
        "#]],
    );
}
