//! Decisions, branch by branch: whatever happens, the person gets a reply.

use crate::support::Scenario;
use everloop_loops::{LOOPS, LoopAudience, LoopSpec};
use everloop_types::{DecisionTerms, Ending, Message, ModelErrorKind};
use expect_test::{Expect, expect};

fn check(scenario: Scenario, trace: &Expect) {
    trace.assert_eq(&scenario.play().trace);
}

fn started() -> &'static str {
    "{\"started\":\"run_2\"}"
}

#[test]
fn a_reply_is_the_answer_and_nothing_is_started() {
    check(
        Scenario::decision("hi").decides(Some("Hello!"), None),
        &expect![[r#"
            call_model think with 2 messages
            finish succeeded "Hello!"
        "#]],
    );
}

#[test]
fn a_run_is_started_and_the_person_is_told_so() {
    check(
        Scenario::decision("tidy up").decides(None, Some(("agent", "Tidy"))).sees(started()),
        &expect![[r#"
            call_model think with 2 messages
            call_tool start_run {"input":{"goal":"tidy up"},"title":"Tidy","type":"agent"}
            finish succeeded [decision.started title=Tidy]
        "#]],
    );
}

#[test]
fn with_a_reply_and_a_run_the_reply_is_the_answer() {
    let both = Scenario::decision("tidy up").decides(Some("At once."), Some(("agent", "Tidy")));
    check(
        both.sees(started()),
        &expect![[r#"
            call_model think with 2 messages
            call_tool start_run {"input":{"goal":"tidy up"},"title":"Tidy","type":"agent"}
            finish succeeded "At once."
        "#]],
    );
}

#[test]
fn a_type_off_the_list_is_explained_and_nothing_is_started() {
    check(
        Scenario::decision("deploy").decides(Some("Sure."), Some(("deploy", "Deploy"))),
        &expect![[r#"
            call_model think with 2 messages
            finish succeeded "Sure." [decision.off_list kind=deploy known=agent, sleep]
        "#]],
    );
    let mut nothing = Scenario::decision("deploy").decides(None, Some(("agent", "Tidy")));
    nothing.frame.decision = Some(Box::new(DecisionTerms::default()));
    check(
        nothing,
        &expect![[r#"
            call_model think with 2 messages
            finish succeeded [decision.nothing_allowed kind=agent]
        "#]],
    );
}

#[test]
fn a_task_that_runs_already_is_not_said_to_have_begun() {
    let again = Scenario::decision("tidy up").decides(None, Some(("agent", "Tidy")));
    check(
        again.sees("{\"already_running\":\"run_1\"}"),
        &expect![[r#"
            call_model think with 2 messages
            call_tool start_run {"input":{"goal":"tidy up"},"title":"Tidy","type":"agent"}
            finish succeeded [decision.already_running title=Tidy]
        "#]],
    );
}

#[test]
fn a_run_that_cannot_be_started_is_said_after_the_reply() {
    let both = Scenario::decision("tidy up").decides(Some("At once."), Some(("agent", "Tidy")));
    check(
        both.observes(Ending::Error, "no model"),
        &expect![[r#"
            call_model think with 2 messages
            call_tool start_run {"input":{"goal":"tidy up"},"title":"Tidy","type":"agent"}
            finish succeeded "At once." [decision.not_started title=Tidy why=no model]
        "#]],
    );
}

#[test]
fn a_reply_that_is_no_decision_is_sent_back_and_then_apologized_for() {
    let broken = |retries| {
        Scenario::decision("hi")
            .limits(|limits| limits.steps.contract_retries = retries)
            .says("Hello!")
            .says("{\"decision\":\"reply\"}")
    };
    check(
        broken(2).decides(Some("Hello!"), None),
        &expect![[r#"
            call_model think with 2 messages
            call_model think with 4 messages
            call_model think with 6 messages
            finish succeeded "Hello!"
        "#]],
    );
    check(
        broken(1),
        &expect![[r#"
            call_model think with 2 messages
            call_model think with 4 messages
            finish failed (broken_contract) [decision.apology]
        "#]],
    );
}

#[test]
fn a_reply_that_is_sent_back_is_not_a_step() {
    let steps = |scenario: Scenario| scenario.play().run.counts().steps;
    let broken = Scenario::decision("hi").says("Hello!").says("Hello?");
    assert_eq!(steps(broken.clone().decides(Some("Hello!"), None)), 1);
    assert_eq!(steps(broken.says("Hello.")), 0);
}

#[test]
fn a_model_that_fails_is_apologized_for_and_not_asked_for_last_words() {
    check(
        Scenario::decision("hi").fails(ModelErrorKind::TimedOut, "too long"),
        &expect![[r#"
            call_model think with 2 messages
            finish failed (model) [decision.apology]
        "#]],
    );
}

#[test]
fn the_model_reads_which_types_may_be_started_and_when_it_follows_up() {
    let system = |scenario: Scenario| {
        let played = scenario.decides(Some("Hello!"), None).play();
        let Message::System { text } = &played.prompts[0][0] else { panic!("instructions") };
        text.clone()
    };
    let first = system(Scenario::decision("hi"));
    assert!(first.contains("- `agent`: does agent\n- `sleep`: does sleep\n"), "{first}");
    assert!(!first.contains("has ended; its result is below"), "{first}");
    let mut follows = Scenario::decision("hi");
    follows.frame.decision.as_mut().expect("terms").depth = 1;
    assert!(system(follows).contains("has ended; its result is below"));
}

#[test]
fn loops_of_the_program_are_registered_and_offered_to_nobody() {
    let own = LoopSpec::registered().filter(|spec| spec.audience == LoopAudience::Program);
    let own: Vec<&str> = own.map(|spec| spec.name).collect();
    assert!(own.contains(&"decision"));
    for name in own {
        assert!(!LOOPS.contains(&name) && LoopSpec::offered(name).is_none(), "{name}");
        assert!(LoopSpec::all().all(|spec| spec.name != name), "{name}");
        assert!(LoopSpec::named(name).is_some_and(|spec| spec.texts().is_some()), "{name}");
    }
}
