//! Questions to the user.

use super::{check, talk};
use crate::support::Scenario;
use everloop_types::Ending;
use expect_test::expect;
use serde_json::json;

fn planned() -> Scenario {
    Scenario::plan_replan("book a table").plans(&["ask", "book"])
}

#[test]
fn an_answer_leads_to_a_replan_and_several_questions_may_follow_each_other() {
    let scenario = planned()
        .asks("when?")
        .sees("at 8")
        .replans(&[("ask", false), ("book", false)])
        .asks("how many?")
        .sees("four")
        .replans(&[("ask", true), ("book", false)])
        .closes_item(None)
        .concludes("A table for four at 8.");
    let played = scenario.clone().play();
    assert_eq!(played.run.counts().steps, 6, "waiting costs no step");
    check(
        scenario.clone(),
        &expect![[r#"
        call_model plan with 3 messages
        call_model think with 5 messages
        call_tool ask_user {"question":"when?"}
        call_model replan with 8 messages
        call_model think with 10 messages
        call_tool ask_user {"question":"how many?"}
        call_model replan with 13 messages
        call_model think with 15 messages
        call_model replan with 17 messages
        finish succeeded "A table for four at 8."
    "#]],
    );
    expect![[r#"
        > phase: plan
        < {"plan":["ask","book"],"status":"planned"}
        > phase: thought / current item 1 of 2: ask
        < {"question":"when?","status":"ask_user"}
        > {"observation":{"input":{"question":"when?"},"ok":true,"result":"at 8","tool":"ask_user"}}
        > phase: replan / 2 of 2 items left
        < {"plan":[{"completed":false,"task":"ask"},{"completed":false,"task":"book"}],"status":"replanned"}
        > phase: thought / current item 1 of 2: ask
        < {"question":"how many?","status":"ask_user"}
        > {"observation":{"input":{"question":"how many?"},"ok":true,"result":"four","tool":"ask_user"}}
        > phase: replan / 2 of 2 items left
        < {"plan":[{"completed":true,"task":"ask"},{"completed":false,"task":"book"}],"status":"replanned"}
        > phase: thought / current item 2 of 2: book
        < {"current_step":"","next_action":null,"question":null,"response":null,"status":"done"}
        > phase: replan / every item is done: answer the goal from the observations
    "#]].assert_eq(&talk(scenario));
}

#[test]
fn a_restart_while_the_question_waits_changes_nothing() {
    let scenario = planned().asks("when?").sees("at 8").concludes("At 8.");
    let undisturbed = scenario.clone().play();
    for n in 2..undisturbed.journal.len() {
        let played = scenario.clone().crash_after(n).by_snapshots().play();
        assert_eq!(played.trace, undisturbed.trace, "after entry {n}");
        assert_eq!(played.run.counts().work_ms, undisturbed.run.counts().work_ms);
    }
}

#[test]
fn a_missing_question_is_pointed_out_and_the_run_goes_on() {
    let scenario =
        planned().says("{\"status\":\"ask_user\"}").asks("  ").closes_item(None).concludes("done");
    let played = scenario.clone().play();
    assert_eq!(played.run.counts().steps, 4);
    check(
        scenario.clone(),
        &expect![[r#"
        call_model plan with 3 messages
        call_model think with 5 messages
        call_model think with 8 messages
        call_model think with 11 messages
        call_model replan with 13 messages
        finish succeeded "done"
    "#]],
    );
    expect![[r#"
        > phase: plan
        < {"plan":["ask","book"],"status":"planned"}
        > phase: thought / current item 1 of 2: ask
        < {"status":"ask_user"}
        > {"observation":{"input":"","ok":false,"result":"the question is missing","tool":"ask_user"}}
        > phase: thought / current item 1 of 2: ask
        < {"question":"  ","status":"ask_user"}
        > {"observation":{"input":"","ok":false,"result":"the question is missing","tool":"ask_user"}}
        > phase: thought / current item 1 of 2: ask
        < {"current_step":"","next_action":null,"question":null,"response":null,"status":"done"}
        > phase: replan / 1 of 2 items left
    "#]].assert_eq(&talk(scenario));
}

#[test]
fn the_same_question_again_is_pointed_out_once_and_then_is_the_end() {
    let scenario = planned()
        .asks("when?")
        .sees("at 8")
        .replans(&[("book", false)])
        .asks(" when? ")
        .acts("read_file", &json!({"path": "a"}))
        .sees("one")
        .asks("when?");
    check(
        scenario.clone(),
        &expect![[r#"
        call_model plan with 3 messages
        call_model think with 5 messages
        call_tool ask_user {"question":"when?"}
        call_model replan with 8 messages
        call_model think with 10 messages
        call_model think with 13 messages
        call_tool read_file {"path":"a"}
        call_model think with 16 messages
        finish failed (repeated_question) [plan.repeated_question]
    "#]],
    );
    let played = scenario.play();
    let told = &played.prompts[4][played.prompts[4].len() - 2];
    expect![[r#"{"observation":{"input":" when? ","ok":false,"result":"the user has already answered this question; use the answer","tool":"ask_user"}}"#]].assert_eq(told.text());
}

#[test]
fn too_many_questions_are_the_end_where_a_limit_is_set() {
    let scenario = planned()
        .limits(|limits| limits.steps.max_clarifications = 1)
        .asks("when?")
        .sees("at 8")
        .replans(&[("book", false)])
        .asks("how many?");
    check(
        scenario,
        &expect![[r#"
        call_model plan with 3 messages
        call_model think with 5 messages
        call_tool ask_user {"question":"when?"}
        call_model replan with 8 messages
        call_model think with 10 messages
        finish failed (too_many_questions) [plan.too_many_questions]
    "#]],
    );
}

#[test]
fn a_question_that_nobody_answers_is_an_observation_and_may_be_asked_again() {
    let scenario = planned()
        .asks("when?")
        .observes(Ending::TimedOut, "nobody answered")
        .asks("when?")
        .sees("at 8")
        .concludes("At 8.");
    check(
        scenario,
        &expect![[r#"
        call_model plan with 3 messages
        call_model think with 5 messages
        call_tool ask_user {"question":"when?"}
        call_model think with 8 messages
        call_tool ask_user {"question":"when?"}
        call_model replan with 11 messages
        finish succeeded "At 8."
    "#]],
    );
}

#[test]
fn without_the_tool_a_question_is_refused_and_the_run_goes_on() {
    let scenario = planned()
        .without_tool("ask_user")
        .asks("when?")
        .closes_item(None)
        .concludes("I could not ask when.");
    check(
        scenario,
        &expect![[r#"
        call_model plan with 3 messages
        call_model think with 5 messages
        refuse ask_user {"question":"when?"}: Error: there is no tool called "ask_user"; nothing was done; the tools are: read_file, write_file, job_status, deploy, todo, todo_write
        call_model think with 8 messages
        call_model replan with 10 messages
        finish succeeded "I could not ask when."
    "#]],
    );
}
