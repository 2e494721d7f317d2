//! The three contracts, and every way to break them.

use super::{check, talk};
use crate::support::Scenario;
use expect_test::expect;

fn planned() -> Scenario {
    Scenario::plan_replan("go").plans(&["try"])
}

#[test]
fn every_way_to_break_the_plan_contract_is_named() {
    let broken = |reply: &str| {
        let scenario = Scenario::plan_replan("go").says(reply).plans(&["try"]);
        told(scenario.closes_item(None).concludes("done"))
    };
    expect![[r#"
        status must be "planned", not "ok". Reply again with the JSON object only.
        plan must have at least one item and no empty one. Reply again with the JSON object only.
        the object breaks the contract: invalid type: string "a", expected a sequence. Reply again with the JSON object only.
        the object breaks the contract: missing field `plan`. Reply again with the JSON object only.
        the object breaks the contract: missing field `status`. Reply again with the JSON object only.
        the reply is not one valid JSON object: trailing characters at line 1 column 35. Reply again with the JSON object only.
        the reply is valid JSON but not an object. Reply again with the JSON object only.
    "#]].assert_eq(
        &[
            "{\"status\":\"ok\",\"plan\":[\"a\"]}",
            "{\"status\":\"planned\",\"plan\":[\"a\",\" \"]}",
            "{\"status\":\"planned\",\"plan\":\"a\"}",
            "{\"status\":\"planned\"}",
            "{\"plan\":[\"a\"]}",
            "{\"status\":\"planned\",\"plan\":[\"a\"]} trailing",
            "null",
        ]
        .map(broken)
        .concat(),
    );
}

#[test]
fn every_way_to_break_the_thought_contract_is_named() {
    let broken = |reply: &str| told(planned().says(reply).closes_item(None).concludes("done"));
    expect![[r#"
        next_action must be {"tool":"name","input":…}. Reply again with the JSON object only.
        next_action must be {"tool":"name","input":…}. Reply again with the JSON object only.
        next_action must be {"tool":"name","input":…}; tool is missing or not a name. Reply again with the JSON object only.
        next_action must be {"tool":"name","input":…}; tool is missing or not a name. Reply again with the JSON object only.
        next_action must be {"tool":"name","input":…}; input must be an object or a string. Reply again with the JSON object only.
        next_action must be {"tool":"name","input":…}; input must be an object or a string. Reply again with the JSON object only.
        status "continue" must have neither question nor response. Reply again with the JSON object only.
        status "continue" must have neither question nor response. Reply again with the JSON object only.
        status "done" must have next_action null. Reply again with the JSON object only.
        the object breaks the contract: invalid type: integer `7`, expected a string. Reply again with the JSON object only.
        status must be continue, done or ask_user, not "planned". Reply again with the JSON object only.
    "#]].assert_eq(
        &[
            "{\"status\":\"continue\"}",
            "{\"status\":\"continue\",\"next_action\":\"todo\"}",
            "{\"status\":\"continue\",\"next_action\":{\"input\":\"x\"}}",
            "{\"status\":\"continue\",\"next_action\":{\"tool\":\" \",\"input\":\"x\"}}",
            "{\"status\":\"continue\",\"next_action\":{\"tool\":\"todo\"}}",
            "{\"status\":\"continue\",\"next_action\":{\"tool\":\"todo\",\"input\":7}}",
            "{\"status\":\"continue\",\"next_action\":{\"tool\":\"todo\",\"input\":\"x\"},\"question\":\"?\"}",
            "{\"status\":\"continue\",\"next_action\":{\"tool\":\"todo\",\"input\":\"x\"},\"response\":\"!\"}",
            "{\"status\":\"done\",\"next_action\":{\"tool\":\"todo\",\"input\":\"x\"}}",
            "{\"status\":\"ask_user\",\"question\":7}",
            "{\"status\":\"planned\",\"plan\":[\"a\"]}",
        ]
        .map(broken)
        .concat(),
    );
}

#[test]
fn every_way_to_break_the_replan_contract_is_named() {
    let broken = |reply: &str| told(planned().closes_item(None).says(reply).concludes("done"));
    expect![[r#"
        status "done" needs a response that is not empty. Reply again with the JSON object only.
        status "done" needs a response that is not empty. Reply again with the JSON object only.
        status "replanned" needs a plan. Reply again with the JSON object only.
        status "replanned" needs at least one item that is not completed; if nothing is left, reply with status "done". Reply again with the JSON object only.
        status "replanned" needs at least one item that is not completed; if nothing is left, reply with status "done". Reply again with the JSON object only.
        a task must not be empty. Reply again with the JSON object only.
        the object breaks the contract: missing field `completed`. Reply again with the JSON object only.
        the object breaks the contract: invalid type: string "a", expected struct Task. Reply again with the JSON object only.
        status must be replanned or done, not "continue". Reply again with the JSON object only.
    "#]].assert_eq(
        &[
            "{\"status\":\"done\"}",
            "{\"status\":\"done\",\"response\":\" \"}",
            "{\"status\":\"replanned\"}",
            "{\"status\":\"replanned\",\"plan\":[]}",
            "{\"status\":\"replanned\",\"plan\":[{\"task\":\"a\",\"completed\":true}]}",
            "{\"status\":\"replanned\",\"plan\":[{\"task\":\" \",\"completed\":false}]}",
            "{\"status\":\"replanned\",\"plan\":[{\"task\":\"a\"}]}",
            "{\"status\":\"replanned\",\"plan\":[\"a\"]}",
            "{\"status\":\"continue\"}",
        ]
        .map(broken)
        .concat(),
    );
}

/// What the model was told of its broken reply, as a line.
fn told(scenario: Scenario) -> String {
    let talk = talk(scenario);
    let told = talk.lines().find_map(|line| line.strip_prefix("> contract error: "));
    format!("{}\n", told.unwrap_or("nothing"))
}

#[test]
fn reasoning_and_code_fences_around_the_object_are_tolerated() {
    let scenario = Scenario::plan_replan("go")
        .says("<think>a plan {</think>\n{\"status\":\"planned\",\"plan\":[\"try\"]}")
        .says("```json\n{\"status\":\"done\",\"response\":null}\n```")
        .says("<think>so</think>```\n{\"status\":\"done\",\"response\":\"done\"}\n```");
    check(
        scenario,
        &expect![[r#"
        call_model plan with 3 messages
        call_model think with 5 messages
        call_model replan with 7 messages
        finish succeeded "done"
    "#]],
    );
}
