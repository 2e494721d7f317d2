//! Replies that break the contract, models that fail, actions that cannot be made.

use super::{check, talk};
use crate::support::Scenario;
use everloop_text as text;
use everloop_types::{Ending, ModelErrorKind};
use expect_test::expect;
use serde_json::json;

fn planned() -> Scenario {
    Scenario::plan_replan("go").plans(&["try"])
}

#[test]
fn a_broken_plan_is_asked_for_again_with_a_word_on_what_was_wrong() {
    let scenario = Scenario::plan_replan("go")
        .says("Sure, here is the plan!")
        .says("{\"status\":\"planned\",\"plan\":[]}")
        .plans(&["try"])
        .closes_item(None)
        .concludes("done");
    check(
        scenario.clone(),
        &expect![[r#"
        call_model plan with 3 messages
        call_model plan with 5 messages
        call_model plan with 7 messages
        call_model think with 9 messages
        call_model replan with 11 messages
        finish succeeded "done"
    "#]],
    );
    expect![[r#"
        > phase: plan
        < Sure, here is the plan!
        > contract error: the reply is not one valid JSON object: expected value at line 1 column 1. Reply again with the JSON object only.
        < {"status":"planned","plan":[]}
        > contract error: plan must have at least one item and no empty one. Reply again with the JSON object only.
        < {"plan":["try"],"status":"planned"}
        > phase: thought / current item 1 of 1: try
        < {"current_step":"","next_action":null,"question":null,"response":null,"status":"done"}
        > phase: replan / every item is done: answer the goal from the observations
    "#]].assert_eq(&talk(scenario));
}

#[test]
fn no_plan_after_all_tries_is_the_end() {
    let scenario = Scenario::plan_replan("go").says("").says("[]").says("{\"status\":\"done\"}");
    check(
        scenario,
        &expect![[r#"
            call_model plan with 3 messages
            call_model plan with 5 messages
            call_model plan with 7 messages
            finish failed (broken_contract) [plan.unavailable] [broken.why contract=plan loop=plan-replan tries=3] [broken.said] "{\"status\":\"done\"}" [broken.next loop=react model=scripted/model]
        "#]],
    );
}

#[test]
fn a_model_that_fails_while_planning_is_the_end_with_its_own_reason() {
    check(
        Scenario::plan_replan("go").fails(ModelErrorKind::Refused, "invalid key"),
        &expect![[r#"
            call_model plan with 3 messages
            finish failed (model) [plan.unavailable] [reason.model detail=invalid key]
        "#]],
    );
}

#[test]
fn tries_are_not_steps_and_a_failure_round_is_one() {
    let scenario = planned()
        .says("1")
        .says("2")
        .says("3")
        .closes_item(None)
        .says("4")
        .says("5")
        .says("6")
        .concludes("done");
    let played = scenario.clone().play();
    assert_eq!(played.run.counts().steps, 4);
    assert_eq!(played.run.counts().model_calls, 9);
    check(
        scenario.clone(),
        &expect![[r#"
        call_model plan with 3 messages
        call_model think with 5 messages
        call_model think with 7 messages
        call_model think with 9 messages
        call_model think with 12 messages
        call_model replan with 14 messages
        call_model replan with 16 messages
        call_model replan with 18 messages
        call_model replan with 21 messages
        finish succeeded "done"
    "#]],
    );
    expect![[r#"
        > phase: plan
        < {"plan":["try"],"status":"planned"}
        > phase: thought / current item 1 of 1: try
        < 1
        > contract error: the reply is valid JSON but not an object. Reply again with the JSON object only.
        < 2
        > contract error: the reply is valid JSON but not an object. Reply again with the JSON object only.
        < 3
        > {"observation":{"input":"","ok":false,"result":"the reply is valid JSON but not an object","tool":"thought"}}
        > phase: thought / current item 1 of 1: try
        < {"current_step":"","next_action":null,"question":null,"response":null,"status":"done"}
        > phase: replan / every item is done: answer the goal from the observations
        < 4
        > contract error: the reply is valid JSON but not an object. Reply again with the JSON object only.
        < 5
        > contract error: the reply is valid JSON but not an object. Reply again with the JSON object only.
        < 6
        > {"observation":{"input":"","ok":false,"result":"the reply is valid JSON but not an object","tool":"replan"}}
        > phase: replan / every item is done: answer the goal from the observations
    "#]].assert_eq(&talk(scenario));
}

#[test]
fn two_failure_rounds_in_a_row_are_the_end() {
    let scenario = planned().says("1").says("2").says("3").says("4").says("5").says("6");
    check(
        scenario,
        &expect![[r#"
            call_model plan with 3 messages
            call_model think with 5 messages
            call_model think with 7 messages
            call_model think with 9 messages
            call_model think with 12 messages
            call_model think with 14 messages
            call_model think with 16 messages
            finish failed (broken_contract) [plan.unavailable] [broken.why contract=thought loop=plan-replan tries=3] [broken.said] "6" [broken.next loop=react model=scripted/model]
        "#]],
    );
    let mixed = planned().says("1").says("2").says("3").fails(ModelErrorKind::Server, "500");
    check(
        mixed,
        &expect![[r#"
            call_model plan with 3 messages
            call_model think with 5 messages
            call_model think with 7 messages
            call_model think with 9 messages
            call_model think with 12 messages
            finish failed (model) [plan.unavailable] [reason.model detail=500]
        "#]],
    );
}

#[test]
fn a_failure_round_is_shown_to_people_until_the_next_success() {
    let note = |scenario: Scenario, entries: usize| {
        let played = scenario.play();
        crate::support::fold(&played.journal[..entries], &played.frame).progress().note
    };
    let scenario = planned()
        .limits(|limits| limits.steps.contract_retries = 0)
        .says("broken")
        .closes_item(None)
        .fails(ModelErrorKind::Server, "500")
        .concludes("done");
    assert_eq!(note(scenario.clone(), 4), Some(text::progress::planned().words()));
    assert_eq!(note(scenario.clone(), 6), Some(text::progress::thought_failed().words()));
    assert_eq!(note(scenario.clone(), 8), None);
    assert_eq!(note(scenario.clone(), 10), Some(text::progress::replan_failed().words()));
    assert_eq!(note(scenario, 12), None);
}

#[test]
fn a_model_failure_is_a_failure_round_and_a_success_resets_the_count() {
    let scenario = planned()
        .fails(ModelErrorKind::Server, "500")
        .acts("read_file", &json!({"path": "a"}))
        .sees("one")
        .fails(ModelErrorKind::Server, "500")
        .closes_item(None)
        .fails(ModelErrorKind::Server, "500")
        .concludes("done");
    let played = scenario.clone().play();
    assert_eq!(played.run.counts().steps, 7);
    check(
        scenario,
        &expect![[r#"
        call_model plan with 3 messages
        call_model think with 5 messages
        call_model think with 7 messages
        call_tool read_file {"path":"a"}
        call_model think with 10 messages
        call_model think with 12 messages
        call_model replan with 14 messages
        call_model replan with 16 messages
        finish succeeded "done"
    "#]],
    );
}

#[test]
fn a_tool_that_fails_never_ends_the_run() {
    let mut scenario = planned();
    for (n, ending) in
        [Ending::Error, Ending::Denied, Ending::TimedOut, Ending::Canceled].into_iter().enumerate()
    {
        scenario =
            scenario.acts("read_file", &json!({"path": n.to_string()})).observes(ending, "no");
    }
    let played = scenario.closes_item(None).concludes("Nothing worked.").play();
    assert!(played.trace.ends_with("finish succeeded \"Nothing worked.\"\n"), "{}", played.trace);
    assert_eq!((played.run.counts().steps, played.run.counts().tool_failures), (10, 4));
}

#[test]
fn an_action_that_cannot_be_made_is_a_failed_observation_and_no_act_step() {
    let scenario = planned()
        .acts("fly", &json!({"to": "moon"}))
        .acts("ask_user", &json!({"question": "why?"}))
        .acts("read_file", &json!("[1]"))
        .closes_item(None)
        .concludes("done");
    let played = scenario.clone().play();
    assert_eq!((played.run.counts().steps, played.run.counts().tool_calls), (5, 0));
    check(
        scenario.clone(),
        &expect![[r#"
        call_model plan with 3 messages
        call_model think with 5 messages
        call_model think with 8 messages
        call_model think with 11 messages
        call_model think with 14 messages
        call_model replan with 16 messages
        finish succeeded "done"
    "#]],
    );
    expect![[r#"
        > phase: plan
        < {"plan":["try"],"status":"planned"}
        > phase: thought / current item 1 of 1: try
        < {"current_step":"go","next_action":{"input":{"to":"moon"},"tool":"fly"},"status":"continue"}
        > {"observation":{"input":{"to":"moon"},"ok":false,"result":"there is no tool called \"fly\"; the tools are: read_file, write_file, job_status, deploy, todo, todo_write","tool":"fly"}}
        > phase: thought / current item 1 of 1: try
        < {"current_step":"go","next_action":{"input":{"question":"why?"},"tool":"ask_user"},"status":"continue"}
        > {"observation":{"input":{"question":"why?"},"ok":false,"result":"ask_user is a status, not a tool","tool":"ask_user"}}
        > phase: thought / current item 1 of 1: try
        < {"current_step":"go","next_action":{"input":"[1]","tool":"read_file"},"status":"continue"}
        > {"observation":{"input":"[1]","ok":false,"result":"input must be a JSON object with the arguments","tool":"read_file"}}
        > phase: thought / current item 1 of 1: try
        < {"current_step":"","next_action":null,"question":null,"response":null,"status":"done"}
        > phase: replan / every item is done: answer the goal from the observations
    "#]].assert_eq(&talk(scenario));
}

#[test]
fn calls_that_the_provider_makes_up_are_not_made() {
    let call = ("1".to_owned(), "todo".to_owned(), "{\"command\":\"/todo list\"}".to_owned());
    let scenario = Scenario::plan_replan("go").calls_raw(vec![call]).plans(&["try"]);
    check(
        scenario.closes_item(None).concludes("done"),
        &expect![[r#"
        call_model plan with 3 messages
        call_model plan with 5 messages
        call_model think with 7 messages
        call_model replan with 9 messages
        finish succeeded "done"
    "#]],
    );
}

#[test]
fn an_unknown_outcome_leaves_the_run_unsettled() {
    let scenario = planned()
        .acts("write_file", &json!({"path": "a", "content": "x"}))
        .observes(Ending::Unknown, "the worker died")
        .acts("write_file", &json!({"path": "a", "content": "y"}))
        .closes_item(None)
        .concludes("Please look at a.");
    check(
        scenario,
        &expect![[r#"
        call_model plan with 3 messages
        call_model think with 5 messages
        call_tool write_file {"content":"x","path":"a"}
        call_model think with 8 messages
        refuse write_file {"content":"y","path":"a"}: Denied: the outcome of an earlier call on the same resource is unknown (write_file {"content":"x","path":"a"}); nothing was done; inspect the state of things, do something else, or leave it for the user to settle
        call_model think with 11 messages
        call_model replan with 13 messages
        finish unsettled [run.unsettled calls=write_file content: x, path: a] "Please look at a."
    "#]],
    );
}
