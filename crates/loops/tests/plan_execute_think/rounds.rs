//! Rounds that go well: forced calls, references, steps together, the presets.

use super::{check, read, talk};
use crate::support::{Scenario, fold};
use everloop_types::journal::{EffectPlanned, EntryKind, PlannedModelCall};
use everloop_types::{ItemState, RoundLimits, ToolChoice, ToolOffer, Words};
use expect_test::expect;
use serde_json::json;

fn two_rounds() -> Scenario {
    Scenario::plan_execute_think("copy the note")
        .plans_steps(&[read("a"), read("b")])
        .sees("one")
        .sees("two")
        .thinks("Both were read.", false)
        .plans_steps(&[("write_file", json!({"path": "c", "content": "one two"}))])
        .sees("written")
        .thinks("The note is copied.", true)
}

#[test]
fn rounds_of_plan_execute_think_lead_to_the_last_summary() {
    check(
        two_rounds(),
        &expect![[r#"
        call_model plan with 3 messages
        call_tool read_file {"path":"a"}
        call_tool read_file {"path":"b"}
        call_model think with 6 messages
        call_model plan with 9 messages
        call_tool write_file {"content":"one two","path":"c"}
        call_model think with 12 messages
        finish succeeded "The note is copied."
    "#]],
    );
}

#[test]
fn all_results_of_a_round_answer_the_plan_in_one_message() {
    expect![[r#"
        > phase: plan / round 1 of 5: about 6 to 8 steps, fewer if fewer are enough, never more than 8
        < plan_tool_call(c1-0)
        c1-0> {"ended":"all steps were run","steps":[{"ok":true,"result":"one","step":0,"tool":"read_file"},{"ok":true,"result":"two","step":1,"tool":"read_file"}]}
        > phase: think
        < think(c2-0)
        c2-0> noted
        > phase: plan / round 2 of 5: about 6 to 8 steps, fewer if fewer are enough, never more than 8
        < plan_tool_call(c3-0)
        c3-0> {"ended":"all steps were run","steps":[{"ok":true,"result":"written","step":0,"tool":"write_file"}]}
        > phase: think
    "#]].assert_eq(&talk(two_rounds()));
}

#[test]
fn in_plan_and_think_only_the_forced_tool_is_offered() {
    let played = two_rounds().play();
    let calls = played.journal.iter().filter_map(|entry| match &entry.kind {
        EntryKind::EffectPlanned(EffectPlanned::CallModel(PlannedModelCall { call, .. })) => {
            Some(call)
        }
        _ => None,
    });
    for (n, call) in calls.enumerate() {
        let tool = ["plan_tool_call", "think"][n % 2].to_owned();
        assert_eq!(call.offer, ToolOffer::Only(vec![tool.clone()]));
        assert_eq!(call.choice, ToolChoice::Named(tool));
        let own = everloop_loops::own_tools(&call.offer, &everloop_types::Frame::default());
        assert_eq!(own.len(), 1);
    }
}

#[test]
fn a_task_may_be_completed_in_the_first_round() {
    let scenario = Scenario::plan_execute_think("read a")
        .plans_steps(&[read("a")])
        .sees("one")
        .thinks("It says one.", true);
    check(
        scenario,
        &expect![[r#"
        call_model plan with 3 messages
        call_tool read_file {"path":"a"}
        call_model think with 6 messages
        finish succeeded "It says one."
    "#]],
    );
}

#[test]
fn a_step_uses_results_of_earlier_steps_of_its_round() {
    let scenario = Scenario::plan_execute_think("copy a")
        .plans_steps(&[
            read("a"),
            (
                "write_file",
                json!({"path": {"$ref": "steps[0].result.files[1]"},
                "content": {"$ref": "steps[0].result"}}),
            ),
        ])
        .sees(r#"{"files":["x","y"]}"#)
        .sees("written")
        .thinks("Copied.", true);
    check(
        scenario,
        &expect![[r#"
        call_model plan with 3 messages
        call_tool read_file {"path":"a"}
        call_tool write_file {"content":"{\"files\":[\"x\",\"y\"]}","path":"y"}
        call_model think with 6 messages
        finish succeeded "Copied."
    "#]],
    );
}

#[test]
fn a_reference_to_what_is_not_there_fails_its_step_and_nothing_is_run() {
    let scenario = Scenario::plan_execute_think("copy a")
        .plans_steps(&[
            read("a"),
            ("read_file", json!({"path": {"$ref": "steps[0].result.next"}})),
            read("c"),
        ])
        .sees("no JSON at all")
        .thinks("There is no next file.", true);
    check(
        scenario.clone(),
        &expect![[r#"
        call_model plan with 3 messages
        call_tool read_file {"path":"a"}
        call_model think with 6 messages
        finish succeeded "There is no next file."
    "#]],
    );
    expect![[r#"
        > phase: plan / round 1 of 5: about 6 to 8 steps, fewer if fewer are enough, never more than 8
        < plan_tool_call(c1-0)
        c1-0> {"ended":"step 1 failed","steps":[{"ok":true,"result":"no JSON at all","step":0,"tool":"read_file"},{"ok":false,"result":"error: {\"$ref\":\"steps[0].result.next\"} points to nothing in that result; nothing was done","step":1,"tool":"read_file"},{"ok":null,"result":"not run","step":2,"tool":"read_file"}]}
        > phase: think
    "#]].assert_eq(&talk(scenario));
}

#[test]
fn independent_steps_that_only_read_run_together() {
    let step = |path: &str| {
        json!({"tool": "read_file", "arguments": {"path": path},
        "independent": true})
    };
    let write = json!({"tool": "write_file", "arguments": {"path": "c", "content": "x"},
        "independent": true});
    let plan = json!({"steps": [step("a"), step("b"), write, step("d")], "reasoning": ""});
    let scenario = Scenario::plan_execute_think("read")
        .calls("plan_tool_call", &plan)
        .sees("one")
        .sees("two")
        .sees("written")
        .sees("four")
        .thinks("All done.", true);
    let played = scenario.play();
    let causes: Vec<i64> = played
        .journal
        .iter()
        .filter_map(|entry| match &entry.kind {
            EntryKind::EffectPlanned(EffectPlanned::CallTool(_)) => {
                entry.effect.as_ref().map(|effect| effect.cause)
            }
            _ => None,
        })
        .collect();
    assert_eq!(causes[0], causes[1]);
    assert!(causes[1] < causes[2] && causes[2] < causes[3], "{causes:?}");
}

#[test]
fn progress_shows_the_steps_of_the_round_and_what_the_user_is_told() {
    let played = two_rounds().play();
    let progress = |entries: usize| fold(&played.journal[..entries], &played.frame).progress();
    let states = |entries: usize| -> Vec<ItemState> {
        progress(entries).items.iter().map(|item| item.state).collect()
    };
    use ItemState::{Completed, InProgress, Pending};
    assert_eq!(progress(2).steps_max, 5);
    assert_eq!(states(4), [InProgress, Pending]);
    assert_eq!(progress(4).note, Some(Words::Said("one after the other".to_owned())));
    assert_eq!(states(7), [Completed, InProgress]);
    assert_eq!(progress(7).current, Some(1));
    assert_eq!(states(8), [Completed, Completed]);
    let after = progress(10);
    assert_eq!((after.steps, after.version), (1, 1));
    assert_eq!(after.note, Some(Words::Said("Both were read.".to_owned())));
    assert_eq!(progress(2).round, None);
    let place =
        |entries: usize| progress(entries).round.map(|it| (it.number, it.most, it.steps_run));
    assert_eq!((place(4), place(7)), (Some((1, 5, 0)), Some((1, 5, 1))));
    assert_eq!(place(10), Some((1, 5, 2)), "the items are still those of the first round");
    let last = played.run.progress();
    assert_eq!(last.round.map(|it| (it.number, it.most)), Some((2, 5)));
    assert_eq!(last.note, None, "the last summary is the answer");
}

#[test]
fn no_mark_is_shown_while_the_loop_goes_on() {
    let scenario = Scenario::plan_execute_think("read")
        .plans_steps(&[read("a")])
        .sees("one")
        .thinks("It says [ANALYSIS_COMPLETE] one.", false);
    let played = scenario.plans_steps(&[read("b")]).sees("two").thinks("Done.", true).play();
    let notes: Vec<Option<Words>> = (1..played.journal.len())
        .map(|n| fold(&played.journal[..n], &played.frame).progress().note)
        .collect();
    assert!(notes.contains(&Some(Words::Said("It says one.".to_owned()))), "{notes:?}");
    assert!(!format!("{notes:?}").contains("ANALYSIS_COMPLETE"));
}

#[test]
fn what_the_model_keeps_to_itself_is_in_no_answer_and_no_progress() {
    let played = two_rounds().play();
    assert!(!format!("{:?}", played.ending).contains("between us"));
    for n in 1..played.journal.len() {
        let progress = fold(&played.journal[..n], &played.frame).progress();
        assert!(!format!("{progress:?}").contains("between us"));
    }
}

#[test]
fn a_preset_bounds_rounds_and_steps_and_tells_the_model() {
    let scenario = Scenario::plan_execute_think("read all")
        .limits(|limits| limits.steps.rounds = RoundLimits::SIMPLE)
        .plans_steps(&["1", "2", "3", "4", "5", "6"].map(read))
        .plans_steps(&[read("1")])
        .sees("one")
        .thinks("One was read.", false)
        .plans_steps(&[read("2")])
        .sees("two")
        .thinks("Two were read.", false);
    check(
        scenario.clone(),
        &expect![[r#"
        call_model plan with 3 messages
        call_model plan with 5 messages
        call_tool read_file {"path":"1"}
        call_model think with 8 messages
        call_model plan with 11 messages
        call_tool read_file {"path":"2"}
        call_model think with 14 messages
        finish failed (step_limit) "Two were read." [limit.rounds limit=2]
    "#]],
    );
    expect![[r#"
        > phase: plan / round 1 of 2: about 3 to 5 steps, fewer if fewer are enough, never more than 5
        < plan_tool_call(c1-0)
        c1-0> error: steps: at most 5 steps may be planned a round, not 6; nothing was run; call `plan_tool_call` again
        < plan_tool_call(c2-0)
        c2-0> {"ended":"all steps were run","steps":[{"ok":true,"result":"one","step":0,"tool":"read_file"}]}
        > phase: think
        < think(c3-0)
        c3-0> noted
        > phase: plan / round 2 of 2: about 3 to 5 steps, fewer if fewer are enough, never more than 5
        < plan_tool_call(c4-0)
        c4-0> {"ended":"all steps were run","steps":[{"ok":true,"result":"two","step":0,"tool":"read_file"}]}
        > phase: think
    "#]].assert_eq(&talk(scenario));
}

#[test]
fn a_crash_at_any_point_leaves_the_trace_unchanged() {
    let undisturbed = two_rounds().play();
    for n in 2..undisturbed.journal.len() {
        assert_eq!(two_rounds().crash_after(n).play().trace, undisturbed.trace, "after entry {n}");
        let restored = two_rounds().crash_after(n).by_snapshots().play();
        assert_eq!(restored.trace, undisturbed.trace, "after entry {n}");
    }
}
