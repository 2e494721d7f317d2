//! The step limit and its three parts; the guards around the loop.

use super::check;
use crate::support::Scenario;
use everloop_loops::Decision;
use everloop_text as text;
use everloop_types::{Answer, Reason, Status, Words};
use expect_test::expect;
use serde_json::json;

/// Reads one file after the other, without end.
fn reads_on(max_steps: u32, reads: usize) -> Scenario {
    let scenario = Scenario::plan_replan("read all")
        .limits(|limits| limits.steps.max_steps = max_steps)
        .plans(&["read", "tell"]);
    (0..reads).fold(scenario, |scenario, n| {
        scenario.acts("read_file", &json!({"path": n.to_string()})).sees(&format!("text {n}"))
    })
}

#[test]
fn the_limit_is_looked_at_before_a_thought_so_the_last_action_still_runs() {
    let even = reads_on(20, 10).play();
    assert_eq!(even.run.counts().steps, 20);
    // A thought without an action makes the count odd: the action of the 20th step is the 21st.
    let odd = Scenario::plan_replan("read all").plans(&["read"]).says("{\"status\":\"ask_user\"}");
    let odd = (0..10).fold(odd, |scenario, n| {
        scenario.acts("read_file", &json!({"path": n.to_string()})).sees(&format!("text {n}"))
    });
    let odd = odd.play();
    assert_eq!(odd.run.counts().steps, 21);
    assert!(odd.trace.contains("finish failed (step_limit)"), "{}", odd.trace);
}

#[test]
fn the_limit_s_words_say_what_was_done_why_not_more_and_what_to_do_next() {
    let scenario = reads_on(4, 1).closes_item(Some("text 0 is read"));
    let scenario = scenario.replans(&[("read", true), ("tell", false)]);
    let Decision::Finish { status, reason, words } = scenario.play().ending else {
        panic!("not an ending")
    };
    let words_expected = Words::All(vec![
        text::limit::reached(&4).words(),
        text::limit::done().words(),
        Words::All(vec![
            Words::Said("- read".to_owned()),
            text::closing::deed(&"read_file 0", &"text 0").words(),
            Words::Said("text 0 is read".to_owned()),
        ]),
        text::limit::why().words(),
        text::limit::why_text(&4).words(),
        text::limit::left(&"tell").words(),
        text::limit::next().words(),
        text::limit::next_text().words(),
    ]);
    let expected = Answer { words: words_expected, trouble: Some(Reason::StepLimit { limit: 4 }) };
    assert_eq!(status, Status::Failed);
    assert_eq!(Answer { words, trouble: reason }, expected);
}

#[test]
fn a_limit_before_anything_was_done_says_so() {
    let scenario = Scenario::plan_replan("go")
        .limits(|limits| limits.steps.max_steps = 1)
        .plans(&["try"])
        .acts("fly", &json!({}));
    check(
        scenario,
        &expect![[r#"
            call_model plan with 3 messages
            call_model think with 5 messages
            finish failed (step_limit) [limit.reached limit=1] [limit.done] [limit.nothing_done] [limit.why] [limit.why_text limit=1] [limit.left item=try] [limit.next] [limit.next_text]
        "#]],
    );
}

#[test]
fn the_limit_is_looked_at_before_a_replan_too() {
    check(
        reads_on(3, 1).closes_item(None),
        &expect![[r#"
            call_model plan with 3 messages
            call_model think with 5 messages
            call_tool read_file {"path":"0"}
            call_model think with 8 messages
            finish failed (step_limit) [limit.reached limit=3] [limit.done] "- read" [closing.deed seen=text 0 what=read_file 0] [limit.why] [limit.why_text limit=3] [limit.left item=tell] [limit.next] [limit.next_text]
        "#]],
    );
}

#[test]
fn failed_rounds_count_against_the_limit() {
    let scenario = reads_on(1, 0).says("1").says("2").says("3");
    check(
        scenario,
        &expect![[r#"
            call_model plan with 3 messages
            call_model think with 5 messages
            call_model think with 7 messages
            call_model think with 9 messages
            finish failed (step_limit) [limit.reached limit=1] [limit.done] [limit.nothing_done] [limit.why] [limit.why_text limit=1] [limit.left item=read] [limit.left item=tell] [limit.next] [limit.next_text]
        "#]],
    );
}

#[test]
fn a_budget_ends_the_run_with_the_closing() {
    let scenario = reads_on(20, 2).limits(|limits| limits.budget.model_calls = 3);
    check(
        scenario.says("I read two files."),
        &expect![[r#"
            call_model plan with 3 messages
            call_model think with 5 messages
            call_tool read_file {"path":"0"}
            call_model think with 8 messages
            call_tool read_file {"path":"1"}
            call_model close with 12 messages
            finish failed (budget) "I read two files." [closing.open] "- read\n- tell" [reason.budget_model_calls limit=3]
        "#]],
    );
}

#[test]
fn the_same_action_with_the_same_result_is_pointed_out_and_then_stopped() {
    let scenario = (0..6).fold(Scenario::plan_replan("go").plans(&["try"]), |scenario, _| {
        scenario.acts("read_file", &json!({"path": "a"})).sees("the same")
    });
    check(
        scenario.says("It stays the same."),
        &expect![[r#"
            call_model plan with 3 messages
            call_model think with 5 messages
            call_tool read_file {"path":"a"}
            call_model think with 8 messages
            call_tool read_file {"path":"a"}
            call_model think with 11 messages
            call_tool read_file {"path":"a"}
            call_model think with 15 messages
            call_tool read_file {"path":"a"}
            call_model think with 18 messages
            call_tool read_file {"path":"a"}
            call_model think with 21 messages
            call_tool read_file {"path":"a"}
            call_model close with 25 messages
            finish failed (repetition) "It stays the same." [closing.open] "- try" [reason.repetition tool=read_file]
        "#]],
    );
}
