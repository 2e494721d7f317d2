//! Plan, thought, act, replan: the plain way.

use super::{check, talk};
use crate::support::{Point, Scenario};
use everloop_text as text;
use everloop_types::{Ending, ItemState, PlanItem, Progress};
use expect_test::expect;
use serde_json::{Value, json};

fn two_items() -> Scenario {
    Scenario::plan_replan("plan my day")
        .plans(&["look", "note it"])
        .acts("read_file", &json!({"path": "day.txt"}))
        .sees("dentist at 9")
        .closes_item(Some("dentist at 9"))
        .replans(&[("look", true), ("note it", false), ("tell", false)])
        .acts("todo", &json!("/todo add dentist"))
        .observes(Ending::Error, "no such list")
        .acts("todo", &json!({"command": "/todo add dentist --tag day"}))
        .sees("added 1")
        .closes_item(None)
        .concludes("The dentist at 9 is noted.")
}

#[test]
fn a_goal_is_reached_item_by_item_and_a_failed_action_is_corrected() {
    check(
        two_items(),
        &expect![[r#"
        call_model plan with 3 messages
        call_model think with 5 messages
        call_tool read_file {"path":"day.txt"}
        call_model think with 8 messages
        call_model replan with 10 messages
        call_model think with 12 messages
        call_tool todo {"command":"/todo add dentist"}
        call_model think with 15 messages
        call_tool todo {"command":"/todo add dentist --tag day"}
        call_model think with 18 messages
        call_model replan with 20 messages
        finish succeeded "The dentist at 9 is noted."
    "#]],
    );
}

#[test]
fn each_phase_is_a_short_message_and_nothing_is_repeated() {
    expect![[r#"
        > phase: plan
        < {"plan":["look","note it"],"status":"planned"}
        > phase: thought / current item 1 of 2: look
        < {"current_step":"go","next_action":{"input":{"path":"day.txt"},"tool":"read_file"},"status":"continue"}
        > {"observation":{"input":{"path":"day.txt"},"ok":true,"result":"dentist at 9","tool":"read_file"}}
        > phase: thought / current item 1 of 2: look / last action: ok
        < {"current_step":"","next_action":null,"question":null,"response":"dentist at 9","status":"done"}
        > phase: replan / 1 of 2 items left
        < {"plan":[{"completed":true,"task":"look"},{"completed":false,"task":"note it"},{"completed":false,"task":"tell"}],"status":"replanned"}
        > phase: thought / current item 2 of 3: note it
        < {"current_step":"go","next_action":{"input":"/todo add dentist","tool":"todo"},"status":"continue"}
        > {"observation":{"input":{"command":"/todo add dentist"},"ok":false,"result":"no such list","tool":"todo"}}
        > phase: thought / current item 2 of 3: note it
        < {"current_step":"go","next_action":{"input":{"command":"/todo add dentist --tag day"},"tool":"todo"},"status":"continue"}
        > {"observation":{"input":{"command":"/todo add dentist --tag day"},"ok":true,"result":"added 1","tool":"todo"}}
        > phase: thought / current item 2 of 3: note it / last action: ok
        < {"current_step":"","next_action":null,"question":null,"response":null,"status":"done"}
        > phase: replan / 1 of 3 items left
    "#]].assert_eq(&talk(two_items()));
}

#[test]
fn a_crash_at_any_point_leaves_the_trace_unchanged() {
    let undisturbed = two_items().play();
    for n in 2..undisturbed.journal.len() {
        assert_eq!(two_items().crash_after(n).play().trace, undisturbed.trace, "after entry {n}");
        let restored = two_items().crash_after(n).by_snapshots().play();
        assert_eq!(restored.trace, undisturbed.trace, "after entry {n}");
    }
}

#[test]
fn plain_chat_goes_through_the_same_loop() {
    let scenario = Scenario::plan_replan("hello")
        .plans(&["greet"])
        .closes_item(Some("Hello!"))
        .concludes("Hello! What can I do for you?");
    check(
        scenario,
        &expect![[r#"
        call_model plan with 3 messages
        call_model think with 5 messages
        call_model replan with 7 messages
        finish succeeded "Hello! What can I do for you?"
    "#]],
    );
}

#[test]
fn progress_shows_the_plan_the_place_in_it_and_the_steps() {
    let progress = |entries: usize| {
        let played = two_items().play();
        crate::support::fold(&played.journal[..entries], &played.frame).progress()
    };
    let item = |text: &str, state| PlanItem::new(text, state);
    let at = |entries, items, current, version, steps| {
        let note = match entries {
            4 => Some(text::progress::planned().words()),
            12 => Some(text::progress::replanned_now().words()),
            _ => None,
        };
        let (steps_max, failed) = (20, u32::from(entries >= 22));
        let expected =
            Progress { items, current, version, steps, steps_max, failed, note, round: None };
        assert_eq!(progress(entries), expected, "after entry {entries}");
    };
    use ItemState::{Completed, InProgress, Pending};
    at(2, vec![], None, 0, 0);
    at(4, vec![item("look", InProgress), item("note it", Pending)], Some(0), 1, 0);
    at(6, vec![item("look", InProgress), item("note it", Pending)], Some(0), 1, 1);
    at(8, vec![item("look", InProgress), item("note it", Pending)], Some(0), 1, 2);
    at(10, vec![item("look", Completed), item("note it", InProgress)], Some(1), 1, 3);
    let replanned =
        |second, third| vec![item("look", Completed), item("note it", second), item("tell", third)];
    at(12, replanned(InProgress, Pending), Some(1), 2, 4);
    at(22, replanned(Completed, InProgress), Some(2), 2, 9);
    at(24, replanned(Completed, Completed), Some(2), 2, 10);
}

#[test]
fn a_replan_replaces_the_plan_and_begins_at_its_first_open_item() {
    let scenario = Scenario::plan_replan("go")
        .plans(&["a", "b"])
        .closes_item(None)
        .replans(&[("x", true), ("y", false), ("z", true), ("last", false)])
        .closes_item(None)
        .concludes("done");
    let talk = talk(scenario);
    assert!(talk.contains("> phase: thought / current item 1 of 2: a\n"), "{talk}");
    assert!(talk.contains("> phase: thought / current item 2 of 4: y\n"), "{talk}");
}

#[test]
fn after_the_last_item_none_is_current_until_a_replan_names_one() {
    let scenario = Scenario::plan_replan("go")
        .plans(&["only"])
        .closes_item(None)
        .says("broken")
        .says("broken")
        .says("broken")
        .concludes("done");
    let played = scenario.play();
    assert_eq!(played.run.progress().current, None);
    assert!(played.trace.ends_with("finish succeeded \"done\"\n"), "{}", played.trace);
}

#[test]
fn input_is_an_object_a_string_that_holds_one_or_the_text_argument() {
    let scenario = Scenario::plan_replan("go")
        .plans(&["try"])
        .acts("todo", &json!({"command": "/todo list"}))
        .sees("1")
        .acts("todo", &json!("{\"command\":\"/todo list\"}"))
        .sees("2")
        .acts("todo", &json!("/todo list"))
        .sees("3")
        .acts("todo", &json!("[1, 2]"))
        .sees("4")
        .acts("read_file", &json!("{\"path\":\"a\"}"))
        .sees("5")
        .acts("read_file", &json!("a"))
        .closes_item(None)
        .concludes("done");
    check(
        scenario.clone(),
        &expect![[r#"
        call_model plan with 3 messages
        call_model think with 5 messages
        call_tool todo {"command":"/todo list"}
        call_model think with 8 messages
        call_tool todo {"command":"/todo list"}
        call_model think with 11 messages
        call_tool todo {"command":"/todo list"}
        call_model think with 14 messages
        call_tool todo {"command":"[1, 2]"}
        call_model think with 17 messages
        call_tool read_file {"path":"a"}
        call_model think with 20 messages
        call_model think with 23 messages
        call_model replan with 25 messages
        finish succeeded "done"
    "#]],
    );
    let talk = talk(scenario);
    let told = talk.lines().rfind(|line| line.contains("observation")).unwrap_or_default();
    expect!["> phase: replan / every item is done: answer the goal from the observations"]
        .assert_eq(told);
}

#[test]
fn an_observation_is_tool_input_ok_and_result_as_json() {
    let scenario = Scenario::plan_replan("go")
        .plans(&["try"])
        .acts("todo", &json!("/todo list"))
        .observes(Ending::Error, "no \"list\"\n1\t一")
        .closes_item(None)
        .concludes("done");
    let played = scenario.play();
    let observation: Value = serde_json::from_str(played.prompts[2][6].text()).unwrap();
    assert_eq!(
        observation,
        json!({"observation": {
            "tool": "todo",
            "input": {"command": "/todo list"},
            "ok": false,
            "result": "no \"list\"\n1\t一",
        }})
    );
}

#[test]
fn an_observation_says_more_than_failure_where_there_is_more_to_know() {
    let result = |ending| {
        let scenario = Scenario::plan_replan("go")
            .plans(&["try"])
            .acts("todo", &json!("/todo list"))
            .observes(ending, "text");
        let played = scenario.closes_item(None).concludes("done").play();
        let shown: Value = serde_json::from_str(played.prompts[2][6].text()).unwrap();
        shown["observation"]["result"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(result(Ending::Ok), "text");
    assert_eq!(result(Ending::Error), "text");
    assert_eq!(result(Ending::Denied), "denied: text");
    assert_eq!(result(Ending::TimedOut), "timed out: text");
    assert_eq!(result(Ending::Canceled), "canceled: text");
    assert_eq!(result(Ending::Unknown), "outcome unknown: text");
}

#[test]
fn old_observations_leave_by_compaction_and_the_goal_stays() {
    let mut scenario = Scenario::plan_replan("count")
        .limits(|limits| limits.context.observations = 2)
        .plans(&["count"]);
    for n in 0..3 {
        scenario =
            scenario.acts("read_file", &json!({"path": n.to_string()})).sees(&format!("text {n}"));
    }
    let scenario = scenario.says("0 was read").closes_item(None).concludes("done");
    check(
        scenario.clone(),
        &expect![[r#"
        call_model plan with 3 messages
        call_model think with 5 messages
        call_tool read_file {"path":"0"}
        call_model think with 8 messages
        call_tool read_file {"path":"1"}
        call_model think with 11 messages
        call_tool read_file {"path":"2"}
        call_model compact with 15 messages
        call_model think with 9 messages
        call_model replan with 11 messages
        finish succeeded "done"
    "#]],
    );
    expect![[r#"
        > {"summary_of_earlier_work":"0 was read"}
        < {"current_step":"go","next_action":{"input":{"path":"1"},"tool":"read_file"},"status":"continue"}
        > {"observation":{"input":{"path":"1"},"ok":true,"result":"text 1","tool":"read_file"}}
        > phase: thought / current item 1 of 1: count / last action: ok
        < {"current_step":"go","next_action":{"input":{"path":"2"},"tool":"read_file"},"status":"continue"}
        > {"observation":{"input":{"path":"2"},"ok":true,"result":"text 2","tool":"read_file"}}
        > phase: thought / current item 1 of 1: count / last action: ok
        < {"current_step":"","next_action":null,"question":null,"response":null,"status":"done"}
        > phase: replan / every item is done: answer the goal from the observations
    "#]].assert_eq(&talk(scenario));
}

#[test]
fn steering_is_one_more_message() {
    let scenario = Scenario::plan_replan("go")
        .steers(Point::During(1), "only in Europe")
        .plans(&["try"])
        .closes_item(None)
        .concludes("done");
    expect![[r#"
        > phase: plan
        < {"plan":["try"],"status":"planned"}
        > phase: thought / current item 1 of 1: try
        > only in Europe
        < {"current_step":"","next_action":null,"question":null,"response":null,"status":"done"}
        > phase: replan / every item is done: answer the goal from the observations
    "#]]
    .assert_eq(&talk(scenario));
}

#[test]
fn the_user_may_have_the_answer_now() {
    let scenario = Scenario::plan_replan("go")
        .wants_answer(Point::During(2))
        .plans(&["try"])
        .acts("read_file", &json!({"path": "a"}))
        .sees("one")
        .says("So far: one.");
    check(
        scenario,
        &expect![[r#"
            call_model plan with 3 messages
            call_model think with 5 messages
            letter answer_now
            call_tool read_file {"path":"a"}
            call_model close with 9 messages
            finish succeeded "So far: one."
        "#]],
    );
}
