//! Compaction: when, what leaves, and that it cannot spiral.

use crate::support::{Reply, Scenario};
use everloop_types::{Message, ModelErrorKind};
use expect_test::expect;
use serde_json::json;

fn reads(scenario: Scenario, from: usize, to: usize) -> Scenario {
    (from..to).fold(scenario, |scenario, n| {
        scenario.calls("read_file", &json!({"path": n.to_string()})).sees(&format!("text {n}"))
    })
}

fn texts(messages: &[Message]) -> Vec<&str> {
    messages.iter().map(Message::text).collect()
}

/// The prompt reaches its limit of 1,200 tokens with the third reply.
fn full_at_third_reply() -> Scenario {
    let scenario = Scenario::react("read on").limits(|limits| limits.context.tokens = 1_200);
    reads(reads(scenario, 0, 2).costs(1_300, 5), 2, 3).costs(50, 5)
}

#[test]
fn a_prompt_that_has_grown_too_long_is_summarised_and_the_run_goes_on() {
    let scenario = Scenario::react("read on").limits(|limits| limits.context.observations = 4);
    let played = reads(reads(scenario, 0, 6).says("summary: 0 and 1"), 6, 7).says("All.").play();
    expect![[r#"
        call_model think with 2 messages
        call_tool read_file {"path":"0"}
        call_model think with 4 messages
        call_tool read_file {"path":"1"}
        call_model think with 6 messages
        call_tool read_file {"path":"2"}
        call_model think with 8 messages
        call_tool read_file {"path":"3"}
        call_model think with 10 messages
        call_tool read_file {"path":"4"}
        call_model think with 12 messages
        call_tool read_file {"path":"5"}
        call_model compact with 15 messages
        call_model think with 11 messages
        call_tool read_file {"path":"6"}
        call_model think with 13 messages
        finish succeeded "All."
    "#]]
    .assert_eq(&played.trace);
    let after = &played.prompts[7];
    expect![[r#"
        read on
        {"summary_of_earlier_work":"summary: 0 and 1"}

        text 2

        text 3

        text 4

        text 5"#]]
    .assert_eq(&texts(&after[1..]).join("\n"));
}

#[test]
fn the_provider_s_own_count_decides_about_tokens() {
    let played = full_at_third_reply().says("summary").says("All.").play();
    expect![[r#"
        call_model think with 2 messages
        call_tool read_file {"path":"0"}
        call_model think with 4 messages
        call_tool read_file {"path":"1"}
        call_model think with 6 messages
        call_tool read_file {"path":"2"}
        call_model compact with 9 messages
        call_model think with 5 messages
        finish succeeded "All."
    "#]]
    .assert_eq(&played.trace);
    let after = played.prompts.last().expect("a prompt");
    expect![[r#"
        read on
        {"summary_of_earlier_work":"summary"}

        text 2"#]]
    .assert_eq(&texts(&after[1..]).join("\n"));
}

#[test]
fn bytes_count_where_the_provider_counts_nothing() {
    let long = "x".repeat(3_500);
    let scenario = Scenario::react("read on")
        .limits(|limits| limits.context.tokens = 2_000)
        .costs(0, 0)
        .calls("read_file", &json!({"path": "a"}))
        .sees(&long)
        .calls("read_file", &json!({"path": "b"}))
        .sees(&long)
        .says("summary")
        .says("All.");
    expect![[r#"
        call_model think with 2 messages
        call_tool read_file {"path":"a"}
        call_model think with 4 messages
        call_tool read_file {"path":"b"}
        call_model compact with 7 messages
        call_model think with 5 messages
        finish succeeded "All."
    "#]]
    .assert_eq(&scenario.play().trace);
}

#[test]
fn a_call_and_its_results_are_never_separated() {
    let both = [("read_file", json!({"path": "a"})), ("read_file", json!({"path": "b"}))];
    let scenario = Scenario::react("read on").limits(|limits| limits.context.observations = 3);
    let scenario = (0..3).fold(scenario, |scenario, n| {
        scenario.calls_all(&both).sees(&format!("a{n}")).sees(&format!("b{n}"))
    });
    let played = scenario.says("summary").says("All.").play();
    expect![[r#"
        call_model think with 2 messages
        call_tool read_file {"path":"a"}
        call_tool read_file {"path":"b"}
        call_model think with 5 messages
        call_tool read_file {"path":"a"}
        call_tool read_file {"path":"b"}
        call_model think with 8 messages
        call_tool read_file {"path":"a"}
        call_tool read_file {"path":"b"}
        call_model compact with 12 messages
        call_model think with 6 messages
        finish succeeded "All."
    "#]]
    .assert_eq(&played.trace);
    expect![[r#"
        read on
        {"summary_of_earlier_work":"summary"}

        a2
        b2"#]]
    .assert_eq(&texts(&played.prompts[4][1..]).join("\n"));
}

#[test]
fn where_nothing_can_leave_the_context_is_full() {
    let scenario = Scenario::react("read on").limits(|limits| limits.context.tokens = 1_200);
    let scenario = reads(scenario.costs(1_300, 5), 0, 1).says("I read one.");
    expect![[r#"
        call_model think with 2 messages
        call_tool read_file {"path":"0"}
        call_model close with 5 messages
        finish failed (context_full) "I read one." [reason.context_full]
    "#]]
    .assert_eq(&scenario.play().trace);
}

#[test]
fn a_second_compaction_at_once_is_a_full_context() {
    let scenario = full_at_third_reply();
    let scenario = reads(scenario.says("summary").costs(1_300, 5), 3, 4);
    expect![[r#"
        call_model think with 2 messages
        call_tool read_file {"path":"0"}
        call_model think with 4 messages
        call_tool read_file {"path":"1"}
        call_model think with 6 messages
        call_tool read_file {"path":"2"}
        call_model compact with 9 messages
        call_model think with 5 messages
        call_tool read_file {"path":"3"}
        call_model close with 8 messages
        finish failed (context_full) "I read some." [reason.context_full]
    "#]]
    .assert_eq(&scenario.says("I read some.").play().trace);
}

#[test]
fn a_compaction_that_fails_or_says_nothing_is_a_full_context() {
    let failed = full_at_third_reply().fails(ModelErrorKind::TooLarge, "too long");
    expect![[r#"
        call_model think with 2 messages
        call_tool read_file {"path":"0"}
        call_model think with 4 messages
        call_tool read_file {"path":"1"}
        call_model think with 6 messages
        call_tool read_file {"path":"2"}
        call_model compact with 9 messages
        call_model close with 10 messages
        finish failed (context_full) "I read some." [reason.context_full]
    "#]]
    .assert_eq(&failed.says("I read some.").play().trace);
    let empty = full_at_third_reply().says(" ");
    let played = empty.says("I read some.").play();
    assert!(played.trace.ends_with("[reason.context_full]\n"), "{}", played.trace);
}

#[test]
fn a_superseded_compaction_leaves_nothing_behind() {
    let played =
        full_at_third_reply().replies(Reply::Superseded).says("summary").says("All.").play();
    expect![[r#"
        call_model think with 2 messages
        call_tool read_file {"path":"0"}
        call_model think with 4 messages
        call_tool read_file {"path":"1"}
        call_model think with 6 messages
        call_tool read_file {"path":"2"}
        call_model compact with 9 messages
        call_model compact with 9 messages
        call_model think with 5 messages
        finish succeeded "All."
    "#]]
    .assert_eq(&played.trace);
    let told = played.prompts[5].iter().filter(|m| m.text().starts_with("Notice")).count();
    assert_eq!(told, 0);
}
