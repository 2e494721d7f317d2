//! The three contracts, and every way to break them.

use super::{check, talk};
use crate::support::Scenario;
use everloop_types::journal::{EffectPlanned, EntryKind, PlannedModelCall};
use everloop_types::{Contract, Words};
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
        status must be planned or done, not "ok". Reply again with the JSON object only.
        plan must have at least one item and no empty one. Reply again with the JSON object only.
        the object breaks the contract: invalid type: string "a", expected a sequence. Reply again with the JSON object only.
        status "planned" needs a plan. Reply again with the JSON object only.
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

#[test]
fn what_needs_no_plan_is_answered_after_one_call() {
    let scenario = Scenario::plan_replan("hello").concludes("Hello! How can I help?");
    let played = scenario.clone().play();
    assert_eq!(played.run.progress().version, 0, "no plan is shown");
    assert!(played.run.progress().items.is_empty());
    check(
        scenario,
        &expect![[r#"
        call_model plan with 3 messages
        finish succeeded "Hello! How can I help?"
    "#]],
    );
}

#[test]
fn every_call_names_its_contract_and_no_schema_is_journaled() {
    let played = planned().closes_item(None).concludes("done").play();
    let calls = played.journal.iter().filter_map(|entry| match &entry.kind {
        EntryKind::EffectPlanned(EffectPlanned::CallModel(PlannedModelCall { call, .. })) => {
            Some(call.output)
        }
        _ => None,
    });
    let named = [Contract::Plan, Contract::Thought, Contract::Replan].map(Some);
    assert_eq!(calls.collect::<Vec<_>>(), named);
    for entry in &played.journal {
        assert!(!entry.kind.body().contains("anyOf"), "{}", entry.kind.body());
    }
}

/// A reply that has exactly one reading is taken on its last try, and not before.
#[test]
fn on_the_last_try_what_has_one_reading_is_taken_and_noted() {
    let prose = "Here is the plan:\n{\"status\":\"planned\",\"plan\":[\"read it\"]}";
    let both = "{\"status\":\"continue\",\"current_step\":\"x\",\"question\":\"ok?\",\
                \"next_action\":{\"tool\":\"read_file\",\"input\":{\"path\":\"a\"}}}";
    let strings = "{\"status\":\"replanned\",\"plan\":[\"tell\"]}";
    let thrice = |scenario: Scenario, text: &str| scenario.says(text).says(text).says(text);
    let mut scenario = thrice(Scenario::plan_replan("go"), prose);
    scenario = thrice(scenario, both).sees("one").closes_item(None);
    let scenario = thrice(scenario, strings).closes_item(None).concludes("done");
    let played = scenario.clone().play();
    let items = &played.run.progress().items;
    assert_eq!(items.iter().map(|item| item.text.as_str()).collect::<Vec<_>>(), ["tell"]);
    check(
        scenario,
        &expect![[r#"
        call_model plan with 3 messages
        call_model plan with 5 messages
        call_model plan with 7 messages
        call_model think with 9 messages
        call_model think with 11 messages
        call_model think with 13 messages
        call_tool read_file {"path":"a"}
        call_model think with 16 messages
        call_model replan with 18 messages
        call_model replan with 20 messages
        call_model replan with 22 messages
        call_model think with 24 messages
        call_model replan with 26 messages
        finish succeeded "done"
    "#]],
    );
    let mut notes = Vec::new();
    for n in 1..played.journal.len() {
        let note = crate::support::fold(&played.journal[..n], &played.frame).progress().note;
        if notes.last() != Some(&note) {
            notes.push(note);
        }
    }
    let notes: Vec<String> = notes.into_iter().flatten().flat_map(|note| keys(&note)).collect();
    expect![[r#"
        progress.sent_back
        progress.sent_back
        salvaged.prose
        progress.planned
        progress.sent_back
        progress.sent_back
        salvaged.superfluous
        progress.sent_back
        progress.sent_back
        salvaged.items
        progress.replanned_now"#]]
    .assert_eq(&notes.join("\n"));
}

fn keys(words: &Words) -> Vec<String> {
    match words {
        Words::Key(key, _) => vec![key.as_str().to_owned()],
        Words::All(all) => all.iter().flat_map(keys).collect(),
        Words::Said(text) => vec![text.clone()],
    }
}

/// The fixed text, the reason, the model's own words, what to try.
#[test]
fn a_good_answer_in_prose_is_shown_when_the_contract_is_broken_to_the_end() {
    let hello = "Hello! How can I help you today?";
    let scenario = Scenario::plan_replan("hello").says(hello).says(hello).says(hello);
    check(
        scenario,
        &expect![[r#"
        call_model plan with 3 messages
        call_model plan with 5 messages
        call_model plan with 7 messages
        finish failed (broken_contract) [plan.unavailable] [broken.why contract=plan loop=plan-replan tries=3] [broken.said] "Hello! How can I help you today?" [broken.next loop=react model=scripted/model]
    "#]],
    );
    let long = "x".repeat(5_000);
    let trace = planned().says(&long).says(&long).says(&long).forever().play().trace;
    assert!(trace.len() < 2_500, "{}", trace.len());
}

fn lenient(goal: &str) -> Scenario {
    Scenario::plan_replan(goal).limits(|limits| limits.steps.is_lenient = true)
}

#[test]
fn words_instead_of_a_plan_are_the_answer_when_they_come_again() {
    let hello = "你好！我是助手。";
    let played = lenient("hello").says(hello).says(hello).play();
    expect![[r#"
        call_model plan with 3 messages
        call_model plan with 5 messages
        finish succeeded "你好！我是助手。"
    "#]]
    .assert_eq(&played.trace);
}

#[test]
fn words_after_a_broken_object_or_with_a_trace_of_one_are_no_answer() {
    let broken = "{\"status\":\"planned\"}";
    for second in ["I am sorry, here is the plan.", "The plan is {status: planned}"] {
        let scenario = lenient("go").says(broken).says(second).plans(&["try"]);
        let trace = scenario.closes_item(None).concludes("done").play().trace;
        assert!(trace.ends_with("finish succeeded \"done\"\n"), "{trace}");
        assert!(trace.contains("call_model plan with 7 messages"), "{trace}");
    }
}

#[test]
fn what_has_one_reading_is_taken_at_once_and_without_a_note() {
    let prose = "Here is the plan:\n```json\n{\"status\":\"planned\",\"plan\":[\"read it\"]}\n```";
    let args = "{\"status\":\"continue\",\"current_step\":\"x\",\
                \"next_action\":{\"tool\":\"read_file\",\"args\":{\"path\":\"a\"}}}";
    let strings = "{\"status\":\"replanned\",\"plan\":[\"tell\"]}";
    let scenario = lenient("go").says(prose).says(args).sees("one").closes_item(None);
    let played = scenario.says(strings).closes_item(None).concludes("done").play();
    expect![[r#"
        call_model plan with 3 messages
        call_model think with 5 messages
        call_tool read_file {"path":"a"}
        call_model think with 8 messages
        call_model replan with 10 messages
        call_model think with 12 messages
        call_model replan with 14 messages
        finish succeeded "done"
    "#]]
    .assert_eq(&played.trace);
    for n in 1..played.journal.len() {
        let note = crate::support::fold(&played.journal[..n], &played.frame).progress().note;
        let keys = note.iter().flat_map(keys).collect::<Vec<_>>().join(" ");
        assert!(!keys.contains("salvaged") && !keys.contains("sent_back"), "{keys}");
    }
}
