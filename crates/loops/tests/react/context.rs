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
    let long = "x".repeat(3_800);
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

/// Limits under which a compaction has to free a fifth.
fn strict(limits: &mut everloop_types::Limits) {
    limits.context.tokens = 1_200;
    limits.context.least_freed = 20;
}

/// The history is long, and its summary is as long: what was found is said, and nothing is lost.
#[test]
fn a_summary_as_long_as_the_history_ends_the_run_with_what_was_found() {
    let long = "x".repeat(900);
    let scenario = (0..5).fold(Scenario::react("read on").limits(strict), |scenario, n| {
        scenario.costs(0, 0).calls("read_file", &json!({"path": n.to_string()})).sees(&long)
    });
    let played = scenario.says(&"y".repeat(5_000)).says("I read some.").play();
    let end = r#"call_model compact with 13 messages
call_model close with 13 messages
finish failed (context_full) "I read some." [reason.context_full]
"#;
    assert!(played.trace.ends_with(end), "{}", played.trace);
    let last = played.prompts.last().expect("a prompt");
    assert!(last.iter().all(|message| !message.text().contains("yyy")), "the summary is not used");
    assert_eq!(played.run.summary(), None);
}

#[test]
fn one_huge_observation_that_cannot_leave_ends_the_run_with_what_was_found() {
    let scenario = reads(Scenario::react("read on").limits(strict), 0, 2)
        .costs(0, 0)
        .calls("read_file", &json!({"path": "huge"}))
        .sees(&"x".repeat(9_000))
        .says("summary of two small files")
        .says("It is huge.");
    let played = scenario.play();
    let end = r#"call_model compact with 9 messages
call_model close with 9 messages
finish failed (context_full) "It is huge." [reason.context_full]
"#;
    assert!(played.trace.ends_with(end), "{}", played.trace);
}

#[test]
fn a_compaction_that_frees_enough_is_numbered_and_its_summary_is_there_for_the_memory() {
    let long = "x".repeat(900);
    let scenario = (0..5).fold(Scenario::react("read on").limits(strict), |scenario, n| {
        scenario.costs(0, 0).calls("read_file", &json!({"path": n.to_string()})).sees(&long)
    });
    let played = scenario.says("summary").says("All.").play();
    assert!(played.trace.ends_with("finish succeeded \"All.\"\n"), "{}", played.trace);
    assert_eq!(played.run.summary(), Some((1, "summary".to_owned())));
}

#[test]
fn messages_are_a_second_limit() {
    let scenario = Scenario::react("read on").limits(|limits| limits.context.messages = 12);
    let played =
        reads(reads(scenario, 0, 5).says("summary: 0 and 1 in short"), 5, 6).says("All.").play();
    assert!(played.trace.contains("call_model compact with 13 messages\ncall_model think with 9"));
    expect![[r#"
        read on
        {"summary_of_earlier_work":"summary: 0 and 1 in short"}

        text 2

        text 3

        text 4"#]]
    .assert_eq(&texts(&played.prompts[6][1..]).join("\n"));
}

/// One reply may hold more calls than the limit has messages: there is nothing that could leave.
#[test]
fn messages_that_cannot_leave_do_not_end_a_run() {
    let all: Vec<_> = (0..8).map(|n| ("read_file", json!({"path": n.to_string()}))).collect();
    let scenario = Scenario::react("read on").limits(|limits| limits.context.messages = 5);
    let scenario =
        (0..8).fold(scenario.calls_all(&all), |scenario, n| scenario.sees(&n.to_string()));
    let played = scenario.says("All.").play();
    assert!(played.trace.ends_with("finish succeeded \"All.\"\n"), "{}", played.trace);
}
