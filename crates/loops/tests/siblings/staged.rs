//! Staged: three phases, each with its own tools.

use super::{TWO, check, offers, path, told};
use crate::support::{Point, Scenario};
use everloop_types::{Ending, ModelErrorKind};
use expect_test::expect;

fn start() -> Scenario {
    Scenario::of("staged", "read both")
}

fn three_phases() -> Scenario {
    start()
        .lists(false, &TWO)
        .calls("read_file", &path("a"))
        .sees("one")
        .says("a holds one.")
        .calls("read_file", &path("b"))
        .observes(Ending::Error, "no such file")
        .says("b is not there.")
        .says("One; b is missing.")
}

#[test]
fn planning_execution_and_reporting_follow_each_other() {
    check(
        three_phases(),
        &expect![[r#"
        call_model plan with 3 messages
        settle todo_write {"merge":false,"todos":[{"content":"read a","id":"a","status":"pending"},{"content":"read b","id":"b","status":"pending"}]}: 2 items: 2 pending
        call_model think with 6 messages
        call_tool read_file {"path":"a"}
        call_model think with 8 messages
        call_model think with 10 messages
        call_tool read_file {"path":"b"}
        call_model think with 12 messages
        call_model think with 14 messages
        finish succeeded "One; b is missing."
    "#]],
    );
    expect![[r#"
        phase: planning
        phase: execution / item 1 of 2: read a
        phase: execution / item 2 of 2: read b
        phase: reporting
    "#]]
    .assert_eq(&told(three_phases()));
}

/// A reply that ran into its output limit before its first word has neither text nor calls.
#[test]
fn an_empty_reply_closes_no_item() {
    let script = start()
        .lists(false, &TWO)
        .says("")
        .calls("read_file", &path("a"))
        .sees("one")
        .says("a holds one.")
        .says("b was not wanted.")
        .says("One.");
    expect![[r#"
        phase: planning
        phase: execution / item 1 of 2: read a
        contract error: the reply was empty. Call a tool, or say in plain text what came of the work.
        phase: execution / item 2 of 2: read b
        phase: reporting
    "#]]
    .assert_eq(&told(script));
}

#[test]
fn each_phase_has_its_own_tools() {
    expect![[r#"
        Only(["todo_write"]) Named("todo_write")
        Only(["read_file", "write_file", "job_status", "deploy", "todo", "ask_user"]) Auto
        Only(["read_file", "write_file", "job_status", "deploy", "todo", "ask_user"]) Auto
        Only(["read_file", "write_file", "job_status", "deploy", "todo", "ask_user"]) Auto
        Only(["read_file", "write_file", "job_status", "deploy", "todo", "ask_user"]) Auto
        None None
    "#]]
    .assert_eq(&offers(&three_phases().play()));
}

#[test]
fn what_is_not_on_offer_is_refused_and_nothing_is_done() {
    let scenario = start()
        .calls("write_file", &path("a"))
        .lists(false, &TWO[..1])
        .marks("a", "completed")
        .says("nothing to do")
        .calls("read_file", &path("a"))
        .says("Read nothing.");
    check(
        scenario.clone(),
        &expect![[r#"
        call_model plan with 3 messages
        call_model plan with 5 messages
        settle todo_write {"merge":false,"todos":[{"content":"read a","id":"a","status":"pending"}]}: 1 items: 1 pending
        call_model think with 8 messages
        call_model think with 10 messages
        call_model think with 12 messages
        call_model think with 14 messages
        finish succeeded "Read nothing."
    "#]],
    );
    let played = scenario.play();
    let last = played.prompts.last().expect("a prompt");
    let refused = last.iter().filter(|message| message.text().contains("is not on offer"));
    assert_eq!(refused.count(), 3);
}

#[test]
fn a_list_that_cannot_be_written_three_times_ends_the_run() {
    let scenario =
        start().lists(true, &[]).lists(true, &[]).lists(true, &[]).says("I could not plan.");
    check(
        scenario,
        &expect![[r#"
            call_model plan with 3 messages
            refuse todo_write {"merge":true,"todos":[]}: Error: todos: there is nothing to update; the list stays as it is
            call_model plan with 5 messages
            refuse todo_write {"merge":true,"todos":[]}: Error: todos: there is nothing to update; the list stays as it is
            call_model plan with 7 messages
            refuse todo_write {"merge":true,"todos":[]}: Error: todos: there is nothing to update; the list stays as it is
            call_model close with 11 messages
            finish failed (broken_contract) "I could not plan." [broken.why_any loop=staged tries=3] [broken.next loop=react model=scripted/model]
        "#]],
    );
}

#[test]
fn at_the_limit_the_closing_finds_the_words() {
    let scenario = start()
        .limits(|limits| limits.steps.max_steps = 2)
        .lists(false, &TWO)
        .calls("read_file", &path("a"))
        .sees("one")
        .fails(ModelErrorKind::Unreachable, "gone");
    check(
        scenario,
        &expect![[r#"
            call_model plan with 3 messages
            settle todo_write {"merge":false,"todos":[{"content":"read a","id":"a","status":"pending"},{"content":"read b","id":"b","status":"pending"}]}: 2 items: 2 pending
            call_model think with 6 messages
            call_tool read_file {"path":"a"}
            call_model close with 9 messages
            finish failed (step_limit) [closing.from_journal] [closing.done] [closing.deed seen=one what=read_file a] [closing.open] "- read a\n- read b" [closing.next] [reason.step_limit limit=2]
        "#]],
    );
}

#[test]
fn words_of_the_user_come_between_phases() {
    let scenario = three_phases().steers(Point::During(2), "be brief");
    expect![[r#"
        phase: planning
        phase: execution / item 1 of 2: read a
        be brief
        phase: execution / item 2 of 2: read b
        phase: reporting
    "#]]
    .assert_eq(&told(scenario));
}
