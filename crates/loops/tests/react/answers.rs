//! The plain way: tools are called, their results are shown, an answer comes.

use crate::support::{Point, Scenario};
use everloop_types::{CallId, Ending, ItemState, Message, PlanItem, Progress, ToolCall};
use expect_test::expect;
use serde_json::json;

fn missing_file() -> Scenario {
    Scenario::react("what is in notes.txt?")
        .calls("read_file", &json!({"path": "notes.txt"}))
        .observes(Ending::Error, "no such file")
        .calls("write_file", &json!({"path": "notes.txt", "content": "new"}))
        .sees("written")
        .says("There was no notes.txt; I made one.")
}

#[test]
fn failed_tool_is_shown_to_the_model_and_the_run_goes_on() {
    let played = missing_file().play();
    expect![[r#"
        call_model think with 2 messages
        call_tool read_file {"path":"notes.txt"}
        call_model think with 4 messages
        call_tool write_file {"content":"new","path":"notes.txt"}
        call_model think with 6 messages
        finish succeeded "There was no notes.txt; I made one."
    "#]]
    .assert_eq(&played.trace);
    assert_eq!(
        played.prompts[1][2..],
        [
            Message::Assistant {
                text: String::new(),
                calls: vec![ToolCall {
                    id: CallId::new("c1-0"),
                    tool: "read_file".to_owned(),
                    args: "{\"path\":\"notes.txt\"}".to_owned(),
                }],
            },
            Message::Tool { call: CallId::new("c1-0"), text: "error: no such file".to_owned() },
        ]
    );
}

#[test]
fn crash_at_any_point_leaves_the_trace_unchanged() {
    let undisturbed = missing_file().thorough().play();
    for n in 2..undisturbed.journal.len() {
        let folded = missing_file().thorough().crash_after(n).play();
        assert_eq!(folded.trace, undisturbed.trace, "after entry {n}");
        let restored = missing_file().thorough().crash_after(n).by_snapshots().play();
        assert_eq!(restored.trace, undisturbed.trace, "after entry {n}");
    }
}

#[test]
fn calls_of_one_reply_are_planned_together_and_answered_in_order() {
    let scenario = Scenario::react("compare a and b")
        .calls_all(&[("read_file", json!({"path": "a"})), ("read_file", json!({"path": "b"}))])
        .sees("one")
        .sees("two")
        .says("They differ.");
    let played = scenario.clone().play();
    expect![[r#"
        call_model think with 2 messages
        call_tool read_file {"path":"a"}
        call_tool read_file {"path":"b"}
        call_model think with 5 messages
        finish succeeded "They differ."
    "#]]
    .assert_eq(&played.trace);
    let shown: Vec<&str> = played.prompts[1][3..].iter().map(Message::text).collect();
    assert_eq!(shown, ["one", "two"]);
    for seed in 0..4 {
        assert_eq!(scenario.clone().shuffled(seed).play().run, played.run);
    }
}

#[test]
fn how_a_call_ended_is_the_first_word_of_its_result() {
    let call = json!({"path": "a"});
    let scenario = [
        Ending::Ok,
        Ending::Error,
        Ending::Denied,
        Ending::TimedOut,
        Ending::Canceled,
        Ending::Unknown,
    ]
    .into_iter()
    .fold(Scenario::react("go").calls_all(&vec![("read_file", call); 6]), |scenario, ending| {
        scenario.observes(ending, "text")
    });
    let played = scenario.says("done").play();
    let shown: Vec<&str> = played.prompts[1][3..].iter().map(Message::text).collect();
    assert_eq!(
        shown,
        [
            "text",
            "error: text",
            "denied: text",
            "timed out: text",
            "canceled: text",
            "outcome unknown: text"
        ]
    );
}

#[test]
fn unknown_tool_and_unreadable_arguments_are_told_and_nothing_is_performed() {
    let call = |tool: &str, args: &str| (String::new(), tool.to_owned(), args.to_owned());
    let played = Scenario::react("go")
        .calls_raw(vec![
            call("fly", "{}"),
            call("read_file", "{\"path\":"),
            call("read_file", "[\"a\"]"),
        ])
        .says("I cannot.")
        .play();
    expect![[r#"
        call_model think with 2 messages
        refuse fly {}: Error: there is no tool called "fly"; nothing was done; the tools are: read_file, write_file, job_status, deploy, todo, todo_write, ask_user
        refuse read_file {"path":: Error: the arguments do not fit (not JSON: EOF while parsing a value at line 1 column 8); nothing was done
        refuse read_file ["a"]: Error: the arguments do not fit (must be an object, not array); nothing was done
        call_model think with 6 messages
        finish succeeded "I cannot."
    "#]].assert_eq(&played.trace);
    assert_eq!(played.run.counts().tool_failures, 3);
}

#[test]
fn ten_thousand_calls_in_one_reply_are_all_refused_and_the_run_goes_on() {
    let call = ("same".to_owned(), "read_file".to_owned(), "{\"path\":\"a\"}".to_owned());
    let played = Scenario::react("go")
        .limits(|limits| limits.context.repetitions = 0)
        .limits(|limits| limits.steps.max_steps = 1_000)
        .calls_raw(vec![call; 10_000])
        .says("I will be brief.")
        .play();
    let refused = "refuse read_file {\"path\":\"a\"}: Error: too many tool calls in one reply; \
                   at most 64 are allowed; nothing was done\n";
    assert_eq!(
        played.trace,
        format!(
            "call_model think with 2 messages\n{}call_model think with 68 messages\n\
             finish succeeded \"I will be brief.\"\n",
            refused.repeat(65)
        )
    );
}

#[test]
fn as_many_calls_at_once_also_reach_the_limits_and_end_in_words() {
    let call = ("same".to_owned(), "read_file".to_owned(), "{\"path\":\"a\"}".to_owned());
    let scenario = Scenario::react("go").calls_raw(vec![call; 10_000]).says("I asked too much.");
    let played = scenario.play();
    let last = played.trace.lines().last().unwrap_or_default();
    expect![[r#"finish succeeded "I asked too much.""#]].assert_eq(last);
}

#[test]
fn as_many_calls_as_are_allowed_are_all_performed() {
    let scenario = Scenario::react("go")
        .limits(|limits| limits.context.calls_per_reply = 3)
        .calls_all(&["a", "b", "c"].map(|path| ("read_file", json!({"path": path}))))
        .says("done");
    let played = ["1", "2", "3"].iter().fold(scenario, |s, text| s.sees(text)).play();
    assert_eq!(played.run.counts().tool_failures, 0);
}

#[test]
fn repeated_and_missing_call_ids_are_made_unique_within_the_run() {
    let read = |id: &str| (id.to_owned(), "read_file".to_owned(), "{\"path\":\"a\"}".to_owned());
    let mut scenario = Scenario::react("go")
        .limits(|limits| limits.context.repetitions = 0)
        .calls_raw(vec![read("a"), read("a"), read("a~2"), read(""), read("")])
        .calls_raw(vec![read("a"), read("")])
        .says("done");
    for _ in 0..7 {
        scenario = scenario.sees("x");
    }
    assert_eq!(
        call_ids(&scenario.play().prompts[2]),
        ["a", "a~2", "a~2~2", "call", "call~2", "a~3", "call~3"]
    );
}

#[test]
fn call_ids_of_a_carried_transcript_are_not_used_again() {
    let call = ToolCall {
        id: CallId::new("c1-0"),
        tool: "read_file".to_owned(),
        args: "{\"path\":\"a\"}".to_owned(),
    };
    let played = Scenario::react("go on")
        .carried(vec![
            Message::user("go"),
            Message::Assistant { text: String::new(), calls: vec![call] },
            Message::Tool { call: CallId::new("c1-0"), text: "one".to_owned() },
        ])
        .calls("read_file", &json!({"path": "b"}))
        .sees("two")
        .says("done")
        .play();
    assert_eq!(call_ids(&played.prompts[1]), ["c1-0", "c1-0~2"]);
}

fn call_ids(messages: &[Message]) -> Vec<&str> {
    let calls = messages.iter().filter_map(|message| match message {
        Message::Assistant { calls, .. } => Some(calls),
        _ => None,
    });
    calls.flatten().map(|call| call.id.as_str()).collect()
}

#[test]
fn the_list_that_the_model_keeps_is_shown_as_progress() {
    let list = |state: &str| {
        json!({"items": [{"text": "one", "state": state},
        {"text": "two", "state": "in_progress"}]})
    };
    let played = Scenario::react("go")
        .calls("todo_write", &list("in_progress"))
        .sees("noted")
        .calls("todo_write", &list("completed"))
        .sees("noted")
        .calls("todo_write", &json!({"items": []}))
        .observes(Ending::Error, "not now")
        .says("half of it")
        .play();
    let item = |text: &str, state| PlanItem::new(text, state);
    assert_eq!(
        played.run.progress(),
        Progress {
            items: vec![item("one", ItemState::Completed), item("two", ItemState::InProgress)],
            current: Some(1),
            version: 2,
            steps: 4,
            steps_max: 20,
            failed: 1,
            note: None,
            round: None,
        }
    );
}

#[test]
fn of_two_lists_in_one_reply_the_last_call_stands_whatever_comes_back_first() {
    let list = |text: &str| json!({"items": [{"text": text, "state": "pending"}]});
    let scenario = Scenario::react("go")
        .calls_all(&[("todo_write", list("old")), ("todo_write", list("new"))])
        .sees("noted")
        .sees("noted")
        .says("done");
    for seed in 0..8 {
        let items = scenario.clone().shuffled(seed).play().run.progress().items;
        assert_eq!(items, [PlanItem::new("new", ItemState::Pending)]);
    }
}

#[test]
fn a_word_to_the_model_while_it_thinks_is_held_until_it_has_replied() {
    let played = Scenario::react("go")
        .steers(Point::During(1), "only in Europe")
        .calls("read_file", &json!({"path": "a"}))
        .sees("one")
        .says("done")
        .play();
    expect![[r#"
        call_model think with 2 messages
        letter steer "only in Europe"
        call_tool read_file {"path":"a"}
        call_model think with 5 messages
        finish succeeded "done"
    "#]]
    .assert_eq(&played.trace);
    let after = &played.prompts[1][3..];
    assert_eq!(
        after,
        [
            Message::Tool { call: CallId::new("c1-0"), text: "one".to_owned() },
            Message::user("only in Europe"),
        ]
    );
}

#[test]
fn a_word_to_the_model_between_its_calls_and_their_results_waits_too() {
    for point in [Point::After(1), Point::During(2), Point::After(2)] {
        let played = Scenario::react("go")
            .steers(point, "only in Europe")
            .calls_all(&[("read_file", json!({"path": "a"})), ("read_file", json!({"path": "b"}))])
            .sees("one")
            .sees("two")
            .says("done")
            .play();
        assert_eq!(played.prompts[1][5..], [Message::user("only in Europe")], "{point:?}");
    }
}

#[test]
fn a_word_to_the_model_before_it_thinks_is_in_its_first_prompt() {
    let played = Scenario::react("go").steers(Point::After(0), "be brief").says("ok").play();
    assert_eq!(played.prompts[0][1..], [Message::user("go"), Message::user("be brief")]);
}
