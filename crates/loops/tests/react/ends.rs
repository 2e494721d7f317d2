//! Every way in which a run under react can end, each with words.

use crate::support::{Point, Reply, Scenario};
use everloop_types::{Ending, ModelErrorKind};
use expect_test::{Expect, expect};
use serde_json::json;

fn check(scenario: Scenario, trace: &Expect) {
    trace.assert_eq(&scenario.play().trace);
}

/// Reads one file after the other, without end.
fn reads_on(max_steps: u32, reads: usize) -> Scenario {
    let scenario = Scenario::react("read all").limits(|l| l.steps.max_steps = max_steps);
    (0..reads).fold(scenario, |scenario, n| {
        scenario.calls("read_file", &json!({"path": n.to_string()})).sees(&format!("text {n}"))
    })
}

#[test]
fn a_reply_without_calls_is_the_answer() {
    check(
        Scenario::react("hello").says("Hello!"),
        &expect![[r#"
        call_model think with 2 messages
        finish succeeded "Hello!"
    "#]],
    );
}

#[test]
fn at_the_iteration_limit_a_summary_and_the_reason_are_the_answer() {
    check(
        reads_on(3, 3).says("I read three files."),
        &expect![[r#"
        call_model think with 2 messages
        call_tool read_file {"path":"0"}
        call_model think with 4 messages
        call_tool read_file {"path":"1"}
        call_model think with 6 messages
        call_tool read_file {"path":"2"}
        call_model close with 9 messages
        finish failed (step_limit) "I read three files." [reason.step_limit limit=3]
    "#]],
    );
}

#[test]
fn as_many_tool_calls_as_iterations_are_allowed_end_the_run_too() {
    let paths = ["a", "b", "c"].map(|path| ("read_file", json!({"path": path})));
    let scenario = Scenario::react("read all")
        .limits(|limits| limits.steps.max_steps = 3)
        .calls_all(&paths)
        .sees("1")
        .sees("2")
        .sees("3")
        .says("I read three files.");
    check(
        scenario,
        &expect![[r#"
        call_model think with 2 messages
        call_tool read_file {"path":"a"}
        call_tool read_file {"path":"b"}
        call_tool read_file {"path":"c"}
        call_model close with 7 messages
        finish failed (step_limit) "I read three files." [reason.step_limit limit=3]
    "#]],
    );
}

#[test]
fn a_model_that_refuses_is_not_asked_for_last_words() {
    let scenario = reads_on(9, 1).fails(ModelErrorKind::Refused, "invalid key");
    check(
        scenario,
        &expect![[r#"
            call_model think with 2 messages
            call_tool read_file {"path":"0"}
            call_model think with 4 messages
            finish failed (model) [closing.from_journal] [closing.done] [closing.deed seen=text 0 what=read_file 0] [closing.next] [reason.model detail=invalid key]
        "#]],
    );
}

#[test]
fn a_model_that_gave_too_much_is_asked_for_last_words() {
    let scenario = reads_on(9, 1).fails(ModelErrorKind::TooLarge, "too large").says("I read one.");
    check(
        scenario,
        &expect![[r#"
        call_model think with 2 messages
        call_tool read_file {"path":"0"}
        call_model think with 4 messages
        call_model close with 5 messages
        finish failed (model) "I read one." [reason.model detail=too large]
    "#]],
    );
}

#[test]
fn last_words_that_fail_are_replaced_by_an_account_from_the_journal() {
    let scenario = reads_on(2, 1)
        .calls("write_file", &json!({"path": "out", "content": "x"}))
        .observes(Ending::Denied, "not allowed\nby policy")
        .fails(ModelErrorKind::Server, "500");
    check(
        scenario,
        &expect![[r#"
            call_model think with 2 messages
            call_tool read_file {"path":"0"}
            call_model think with 4 messages
            call_tool write_file {"content":"x","path":"out"}
            call_model close with 7 messages
            finish failed (step_limit) [closing.from_journal] [closing.done] [closing.deed seen=text 0 what=read_file 0] [closing.failed] [closing.deed seen=not allowed what=write_file out] [closing.next] [reason.step_limit limit=2]
        "#]],
    );
}

#[test]
fn an_empty_answer_leads_to_the_closing() {
    check(
        reads_on(9, 1).says(" \n").says("I read one file."),
        &expect![[r#"
        call_model think with 2 messages
        call_tool read_file {"path":"0"}
        call_model think with 4 messages
        call_model close with 6 messages
        finish succeeded "I read one file."
    "#]],
    );
}

#[test]
fn a_run_without_any_words_of_its_model_fails_with_an_account() {
    check(
        reads_on(9, 1).says("").says(""),
        &expect![[r#"
            call_model think with 2 messages
            call_tool read_file {"path":"0"}
            call_model think with 4 messages
            call_model close with 6 messages
            finish failed (model) [closing.from_journal] [closing.done] [closing.deed seen=text 0 what=read_file 0] [closing.next] [reason.model detail=the reply had no text]
        "#]],
    );
    check(
        Scenario::react("go").says("").fails(ModelErrorKind::Unreachable, "no route"),
        &expect![[r#"
            call_model think with 2 messages
            call_model close with 4 messages
            finish failed (model) [closing.from_journal] [closing.nothing] [closing.next] [reason.model detail=no route]
        "#]],
    );
}

#[test]
fn calls_in_the_last_words_are_not_made() {
    let scenario = reads_on(1, 1).calls("write_file", &json!({"path": "a", "content": "b"}));
    check(
        scenario,
        &expect![[r#"
            call_model think with 2 messages
            call_tool read_file {"path":"0"}
            call_model close with 5 messages
            finish failed (step_limit) [closing.from_journal] [closing.done] [closing.deed seen=text 0 what=read_file 0] [closing.next] [reason.step_limit limit=1]
        "#]],
    );
}

#[test]
fn a_cancel_ends_the_run_in_words_of_its_own() {
    let list = json!({"items": [{"text": "one", "state": "completed"},
        {"text": "two", "state": "pending"}]});
    let scenario = Scenario::react("go")
        .calls("todo_write", &list)
        .sees("noted")
        .calls("read_file", &json!({"path": "a"}))
        .sees("never seen");
    check(
        scenario.clone().cancels(Point::During(3)),
        &expect![[r#"
        call_model think with 2 messages
        call_tool todo_write {"items":[{"state":"completed","text":"one"},{"state":"pending","text":"two"}]}
        call_model think with 4 messages
        letter cancel
        finish canceled (canceled) [run.canceled done=1 total=2]
    "#]],
    );
    check(
        scenario.clone().cancels(Point::During(4)),
        &expect![[r#"
        call_model think with 2 messages
        call_tool todo_write {"items":[{"state":"completed","text":"one"},{"state":"pending","text":"two"}]}
        call_model think with 4 messages
        call_tool read_file {"path":"a"}
        letter cancel
        finish canceled (canceled) [run.canceled done=1 total=2]
    "#]],
    );
    check(
        scenario.cancels(Point::After(0)),
        &expect![[r#"
            letter cancel
            finish canceled (canceled) [run.canceled_early]
        "#]],
    );
}

#[test]
fn the_user_may_have_the_answer_now() {
    let scenario = reads_on(9, 1).says("So far: text 0.");
    for point in [Point::After(1), Point::During(2), Point::After(2)] {
        let played = scenario.clone().wants_answer(point).play();
        assert_eq!(
            played.trace.replace("letter answer_now\n", ""),
            "call_model think with 2 messages\n\
             call_tool read_file {\"path\":\"0\"}\n\
             call_model close with 5 messages\n\
             finish succeeded \"So far: text 0.\"\n",
            "{point:?}"
        );
    }
    check(
        Scenario::react("go").wants_answer(Point::During(1)).says("Done anyway."),
        &expect![[r#"
            call_model think with 2 messages
            letter answer_now
            finish succeeded "Done anyway."
        "#]],
    );
}

#[test]
fn an_answer_now_does_not_hide_that_the_model_failed() {
    let scenario = Scenario::react("go").wants_answer(Point::During(1));
    check(
        scenario.fails(ModelErrorKind::Refused, "invalid key"),
        &expect![[r#"
        call_model think with 2 messages
        letter answer_now
        finish failed (model) [closing.from_journal] [closing.nothing] [closing.next] [reason.model detail=invalid key]
    "#]],
    );
    let scenario = Scenario::react("go").wants_answer(Point::After(0));
    check(
        scenario.fails(ModelErrorKind::Server, "500"),
        &expect![[r#"
        letter answer_now
        call_model close with 3 messages
        finish failed (model) [closing.from_journal] [closing.nothing] [closing.next] [reason.model detail=500]
    "#]],
    );
}

#[test]
fn a_superseded_closing_is_asked_again_with_the_same_prompt() {
    let scenario = reads_on(1, 1).replies(Reply::Superseded).says("I read one file.");
    let played = scenario.play();
    expect![[r#"
        call_model think with 2 messages
        call_tool read_file {"path":"0"}
        call_model close with 5 messages
        call_model close with 5 messages
        finish failed (step_limit) "I read one file." [reason.step_limit limit=1]
    "#]]
    .assert_eq(&played.trace);
    assert_eq!(played.prompts[1], played.prompts[2]);
    let wanted = reads_on(9, 1)
        .wants_answer(Point::After(2))
        .replies(Reply::Superseded)
        .says("So far: text 0.");
    check(
        wanted,
        &expect![[r#"
        call_model think with 2 messages
        call_tool read_file {"path":"0"}
        letter answer_now
        call_model close with 5 messages
        call_model close with 5 messages
        finish succeeded "So far: text 0."
    "#]],
    );
}

#[test]
fn a_superseded_thought_is_asked_again() {
    check(
        Scenario::react("go").replies(Reply::Superseded).says("Done."),
        &expect![[r#"
        call_model think with 2 messages
        call_model think with 2 messages
        finish succeeded "Done."
    "#]],
    );
}
