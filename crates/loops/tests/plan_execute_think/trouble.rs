//! Plans that cannot be run, steps that fail, rounds that take too long, models that do not obey.

use super::{check, read, talk};
use crate::support::{Point, Scenario};
use everloop_types::journal::{EffectPlanned, EntryKind, PlannedToolCall};
use everloop_types::{Approval, ApprovalRule, Ending, ModelErrorKind};
use expect_test::expect;
use serde_json::json;

#[test]
fn nine_steps_or_none_an_unknown_tool_and_bad_arguments_are_refused_and_nothing_is_run() {
    let nine: Vec<_> = (0..9).map(|n| read(&n.to_string())).collect();
    let scenario = Scenario::plan_execute_think("read")
        .limits(|limits| limits.steps.contract_retries = 4)
        .plans_steps(&nine)
        .plans_steps(&[])
        .plans_steps(&[("fly", json!({})), ("read_file", json!({"file": 1}))])
        .plans_steps(&[("read_file", json!({"path": {"$ref": "steps[0].result"}}))])
        .plans_steps(&[read("a")])
        .sees("one")
        .thinks("Read.", true);
    check(
        scenario.clone(),
        &expect![[r#"
        call_model plan with 3 messages
        call_model plan with 5 messages
        call_model plan with 7 messages
        call_model plan with 9 messages
        call_model plan with 11 messages
        call_tool read_file {"path":"a"}
        call_model think with 14 messages
        finish succeeded "Read."
    "#]],
    );
    expect![[r#"
        > phase: plan / round 1 of 5: about 6 to 8 steps, fewer if fewer are enough, never more than 8
        < plan_tool_call(c1-0)
        c1-0> error: steps: at most 8 steps may be planned a round, not 9; nothing was run; call `plan_tool_call` again
        < plan_tool_call(c2-0)
        c2-0> error: steps: must be at least 1 items; nothing was run; call `plan_tool_call` again
        < plan_tool_call(c3-0)
        c3-0> error: steps[0]: there is no tool called "fly"; the tools are: read_file, write_file, job_status, deploy, todo, todo_write, ask_user; steps[1]: the arguments of read_file do not fit (path: is missing; file: is not an argument); nothing was run; call `plan_tool_call` again
        < plan_tool_call(c4-0)
        c4-0> error: steps[0]: {"$ref":"steps[0].result"} does not point to an earlier step of this round; nothing was run; call `plan_tool_call` again
        < plan_tool_call(c5-0)
        c5-0> {"ended":"all steps were run","steps":[{"ok":true,"result":"one","step":0,"tool":"read_file"}]}
        > phase: think
    "#]].assert_eq(&talk(scenario));
}

#[test]
fn words_other_tools_and_several_calls_in_place_of_the_forced_one_are_refused() {
    let plan = json!({"steps": [{"tool": "read_file", "arguments": {"path": "a"}}],
        "reasoning": ""});
    let scenario = Scenario::plan_execute_think("read")
        .limits(|limits| limits.steps.contract_retries = 3)
        .says("I will read a.")
        .calls("read_file", &json!({"path": "a"}))
        .calls_all(&[("plan_tool_call", plan.clone()), ("plan_tool_call", plan.clone())])
        .calls("plan_tool_call", &plan)
        .sees("one")
        .thinks("Read.", true);
    check(
        scenario.clone(),
        &expect![[r#"
        call_model plan with 3 messages
        call_model plan with 5 messages
        call_model plan with 7 messages
        call_model plan with 10 messages
        call_tool read_file {"path":"a"}
        call_model think with 13 messages
        finish succeeded "Read."
    "#]],
    );
    expect![[r#"
        > phase: plan / round 1 of 5: about 6 to 8 steps, fewer if fewer are enough, never more than 8
        < I will read a.
        > contract error: `plan_tool_call` has to be called; words alone are not read.
        < read_file(c2-0)
        c2-0> error: only `plan_tool_call` can be called in this phase, not "read_file"; nothing was run; call `plan_tool_call` again
        < plan_tool_call(c3-0) plan_tool_call(c3-1)
        c3-0> error: `plan_tool_call` has to be called once, not 2 times; nothing was run; call `plan_tool_call` again
        c3-1> error: `plan_tool_call` has to be called once, not 2 times; nothing was run; call `plan_tool_call` again
        < plan_tool_call(c4-0)
        c4-0> {"ended":"all steps were run","steps":[{"ok":true,"result":"one","step":0,"tool":"read_file"}]}
        > phase: think
    "#]].assert_eq(&talk(scenario));
}

#[test]
fn a_failure_in_step_two_of_five_goes_to_think_and_the_rest_is_not_run() {
    let scenario = Scenario::plan_execute_think("read five")
        .plans_steps(&["1", "2", "3", "4", "5"].map(read))
        .sees("one")
        .observes(Ending::Error, "no such file")
        .thinks("The second is missing.", true);
    check(
        scenario.clone(),
        &expect![[r#"
        call_model plan with 3 messages
        call_tool read_file {"path":"1"}
        call_tool read_file {"path":"2"}
        call_model think with 6 messages
        finish succeeded "The second is missing."
    "#]],
    );
    expect![[r#"
        > phase: plan / round 1 of 5: about 6 to 8 steps, fewer if fewer are enough, never more than 8
        < plan_tool_call(c1-0)
        c1-0> {"ended":"step 1 failed","steps":[{"ok":true,"result":"one","step":0,"tool":"read_file"},{"ok":false,"result":"error: no such file","step":1,"tool":"read_file"},{"ok":null,"result":"not run","step":2,"tool":"read_file"},{"ok":null,"result":"not run","step":3,"tool":"read_file"},{"ok":null,"result":"not run","step":4,"tool":"read_file"}]}
        > phase: think
    "#]].assert_eq(&talk(scenario));
}

#[test]
fn a_slow_round_goes_to_think_with_what_there_is() {
    let scenario = Scenario::plan_execute_think("read five")
        .limits(|limits| limits.steps.rounds.round_ms = 300)
        .plans_steps(&["1", "2", "3"].map(read))
        .sees("one")
        .sees("two")
        .thinks("Only two in time.", true);
    check(
        scenario.clone(),
        &expect![[r#"
        call_model plan with 3 messages
        call_tool read_file {"path":"1"}
        call_tool read_file {"path":"2"}
        call_model think with 6 messages
        finish succeeded "Only two in time."
    "#]],
    );
    let played = scenario.play();
    let deadlines: Vec<_> = played
        .journal
        .iter()
        .filter_map(|entry| match &entry.kind {
            EntryKind::EffectPlanned(EffectPlanned::CallTool(PlannedToolCall {
                deadline, ..
            })) => Some(*deadline),
            _ => None,
        })
        .collect();
    let replied = played.journal[3].at;
    assert_eq!(deadlines, [Some(replied + 300); 2]);
}

#[test]
fn a_step_that_was_stopped_at_the_end_of_its_round_is_told_as_that() {
    let ended = |round_ms| {
        let scenario = Scenario::plan_execute_think("read two")
            .limits(|limits| limits.steps.rounds.round_ms = round_ms)
            .plans_steps(&["1", "2"].map(read))
            .observes(Ending::TimedOut, "stopped")
            .thinks("None in time.", true);
        talk(scenario)
    };
    let late = ended(100);
    assert!(late.contains(r#"{"ended":"the round ran out of time in step 0","steps""#), "{late}");
    let failed = ended(60_000);
    assert!(failed.contains(r#"{"ended":"step 0 failed","steps""#), "{failed}");
}

#[test]
fn the_time_that_a_person_takes_is_not_the_rounds() {
    let mut scenario = Scenario::plan_execute_think("ask")
        .plans_steps(&[("ask_user", json!({"question": "which?"})), read("a")])
        .sees("the red one")
        .sees("one")
        .thinks("Red.", true);
    for tool in &mut scenario.frame.tools {
        if tool.name == "ask_user" {
            tool.handling.approval = Approval::Ask;
        }
    }
    check(
        scenario,
        &expect![[r#"
        call_model plan with 3 messages
        call_tool ask_user {"question":"which?"}
        call_tool read_file {"path":"a"}
        call_model think with 6 messages
        finish succeeded "Red."
    "#]],
    );
}

/// PET-5: a call that somebody would be asked about has no deadline, unless a rule lets it run.
#[test]
fn the_time_of_a_call_that_a_rule_lets_run_is_the_rounds() {
    let deadlines = |rules: Vec<ApprovalRule>| {
        let write = ("write_file", json!({"path": "a", "content": "x"}));
        let mut scenario = Scenario::plan_execute_think("write two")
            .limits(|limits| limits.steps.rounds.round_ms = 100)
            .plans_steps(&[write, read("a")])
            .sees("written")
            .sees("x")
            .thinks("Written.", true);
        for tool in scenario.frame.tools.iter_mut().filter(|tool| tool.name == "write_file") {
            tool.handling.approval = Approval::Ask;
        }
        scenario.frame.policy.rules = rules;
        let played = scenario.play();
        let planned = played.journal.iter().filter_map(|entry| match &entry.kind {
            EntryKind::EffectPlanned(EffectPlanned::CallTool(PlannedToolCall {
                deadline, ..
            })) => Some(*deadline),
            _ => None,
        });
        planned.map(|deadline| deadline.is_some()).collect::<Vec<bool>>()
    };
    let asked = deadlines(Vec::new());
    assert_eq!(asked, [false, true], "a person may take their time, and then there is time left");
    let decision = Approval::Allow;
    let rule = ApprovalRule { tool: "write_file".to_owned(), decision, when: None };
    assert_eq!(deadlines(vec![rule]), [true], "its time was the round's, which is over");
}

/// PET-8: what the user was told last is the answer, whatever comes after it.
#[test]
fn the_last_summary_survives_rounds_that_fail() {
    let half = || {
        Scenario::plan_execute_think("read")
            .plans_steps(&[read("a")])
            .sees("one")
            .thinks("Half is read.", false)
            .fails(ModelErrorKind::Server, "500")
    };
    let last = |scenario: Scenario| {
        let trace = scenario.play().trace;
        trace.lines().last().unwrap_or_default().to_owned()
    };
    expect![[r#"finish failed (step_limit) "Half is read." [limit.rounds limit=2]"#]]
        .assert_eq(&last(half().limits(|limits| limits.steps.rounds.max_rounds = 2)));
    expect![[r#"finish failed (model) "Half is read." [reason.model detail=500]"#]]
        .assert_eq(&last(half().fails(ModelErrorKind::Server, "500")));
    let breaks = (0..6).fold(half(), |scenario, _| scenario.says("no plan"));
    let broken = last(breaks);
    assert!(broken.starts_with("finish failed (broken_contract) \"Half is read.\" ["), "{broken}");
}

/// The source writes `args` as well as `arguments`.
#[test]
fn args_are_taken_for_arguments() {
    let step = json!({"tool": "read_file", "args": {"path": "a"}});
    let both = json!({"tool": "read_file", "args": {"path": "a"}, "arguments": {"path": "b"}});
    let scenario = Scenario::plan_execute_think("read")
        .calls("plan_tool_call", &json!({"steps": [both], "reasoning": ""}))
        .calls("plan_tool_call", &json!({"steps": [step], "reasoning": ""}))
        .sees("one")
        .thinks("Read.", true);
    check(
        scenario,
        &expect![[r#"
        call_model plan with 3 messages
        call_model plan with 5 messages
        call_tool read_file {"path":"a"}
        call_model think with 8 messages
        finish succeeded "Read."
    "#]],
    );
}

#[test]
fn a_missing_summary_is_asked_for_and_then_forced_without_tools() {
    let blank = json!({"user_summary": " ", "task_completed": true});
    let scenario = Scenario::plan_execute_think("read")
        .limits(|limits| limits.steps.rounds.max_rounds = 1)
        .plans_steps(&[read("a")])
        .sees("one")
        .calls("think", &blank)
        .calls("think", &json!({"task_completed": true}))
        .says("done")
        .says("I read a; it says one.");
    check(
        scenario,
        &expect![[r#"
            call_model plan with 3 messages
            call_tool read_file {"path":"a"}
            call_model think with 6 messages
            call_model think with 8 messages
            call_model think with 10 messages
            call_model close with 13 messages
            finish failed (step_limit) "I read a; it says one." [limit.rounds limit=1]
        "#]],
    );
}

#[test]
fn a_model_that_never_plans_is_given_up_after_two_failure_rounds() {
    let mut scenario = Scenario::plan_execute_think("read");
    for _ in 0..6 {
        scenario = scenario.says("no");
    }
    check(
        scenario.says("I could not plan."),
        &expect![[r#"
            call_model plan with 3 messages
            call_model plan with 5 messages
            call_model plan with 7 messages
            call_model plan with 10 messages
            call_model plan with 12 messages
            call_model plan with 14 messages
            call_model close with 17 messages
            finish failed (broken_contract) "I could not plan." [broken.why_any loop=plan-execute-think tries=3] [broken.next loop=react model=scripted/model]
        "#]],
    );
}

#[test]
fn a_model_that_is_gone_leaves_a_text_from_the_journal() {
    let scenario = Scenario::plan_execute_think("read")
        .plans_steps(&[read("a"), read("b")])
        .sees("one")
        .observes(Ending::Error, "no such file")
        .fails(ModelErrorKind::Unreachable, "connection refused")
        .fails(ModelErrorKind::Unreachable, "connection refused");
    check(
        scenario,
        &expect![[r#"
            call_model plan with 3 messages
            call_tool read_file {"path":"a"}
            call_tool read_file {"path":"b"}
            call_model think with 6 messages
            call_model plan with 7 messages
            finish failed (model) [closing.from_journal] [closing.done] [closing.deed seen=one what=read_file a] [closing.failed] [closing.deed seen=no such file what=read_file b] [closing.open] "- read_file {\"path\":\"b\"}" [closing.next] [reason.model detail=connection refused]
        "#]],
    );
}

#[test]
fn a_think_that_fails_once_costs_its_round_and_no_more() {
    let scenario = Scenario::plan_execute_think("read")
        .plans_steps(&[read("a")])
        .sees("one")
        .fails(ModelErrorKind::Server, "500")
        .plans_steps(&[read("b")])
        .sees("two")
        .thinks("Both.", true);
    check(
        scenario,
        &expect![[r#"
        call_model plan with 3 messages
        call_tool read_file {"path":"a"}
        call_model think with 6 messages
        call_model plan with 7 messages
        call_tool read_file {"path":"b"}
        call_model think with 10 messages
        finish succeeded "Both."
    "#]],
    );
}

#[test]
fn words_of_the_user_while_steps_run_come_after_the_results() {
    let scenario = Scenario::plan_execute_think("read")
        .steers(Point::During(2), "be brief")
        .plans_steps(&[read("a"), read("b")])
        .sees("one")
        .sees("two")
        .thinks("One, two.", true);
    expect![[r#"
        > phase: plan / round 1 of 5: about 6 to 8 steps, fewer if fewer are enough, never more than 8
        < plan_tool_call(c1-0)
        c1-0> {"ended":"all steps were run","steps":[{"ok":true,"result":"one","step":0,"tool":"read_file"},{"ok":true,"result":"two","step":1,"tool":"read_file"}]}
        > phase: think
        > be brief
    "#]].assert_eq(&talk(scenario));
}

#[test]
fn words_instead_of_a_plan_of_a_round_are_the_answer_when_they_come_again() {
    let scenario = Scenario::plan_execute_think("hello")
        .limits(|limits| limits.steps.is_lenient = true)
        .says("Hello! How can I help?")
        .says("Hello! How can I help?");
    check(
        scenario,
        &expect![[r#"
        call_model plan with 3 messages
        call_model plan with 5 messages
        finish succeeded "Hello! How can I help?"
    "#]],
    );
}
