//! What is taken on the last try, and what stays refused.

use super::*;
use proptest::prelude::*;

fn reply(text: &str) -> Reply {
    Reply { text: text.to_owned(), ..Reply::default() }
}

fn how(contract: Contract, text: &str) -> Option<Vec<Salvage>> {
    assert!(read(contract, text).is_err(), "the strict reading takes it: {text}");
    salvage(contract, &reply(text)).map(|(_, how)| how)
}

#[test]
fn what_has_one_reading_is_taken() {
    use Contract::{Plan, Replan, Thought};
    use Salvage::{Items, Prose, Renamed, Superfluous};
    let act = r#"{"status":"continue","next_action":{"tool":"todo","input":"x"},"question":"?"}"#;
    for (contract, text, expected) in [
        (
            Plan,
            "Here is the plan:\n```json\n{\"status\":\"planned\",\"plan\":[\"a\"]}\n```",
            vec![Prose],
        ),
        (Plan, r#"{"status":"planned","plan":[{"task":"a","completed":false}]}"#, vec![Items]),
        (Plan, "So: {\"status\":\"done\",\"response\":\"hi\"}", vec![Prose]),
        (Thought, act, vec![Superfluous]),
        (Thought, &act.replace("question", "response"), vec![Superfluous]),
        (Thought, &format!("I go on. {act}"), vec![Prose, Superfluous]),
        (
            Thought,
            r#"{"status":"continue","next_action":{"tool":"todo","arguments":{"a":1}}}"#,
            vec![Renamed],
        ),
        (Replan, r#"{"status":"replanned","plan":["a","b"]}"#, vec![Items]),
    ] {
        assert_eq!(how(contract, text), Some(expected), "{text}");
    }
}

#[test]
fn what_has_two_readings_or_none_stays_refused() {
    use Contract::{Plan, Replan, Thought};
    let plan = r#"{"status":"planned","plan":["a"]}"#;
    for (contract, text) in [
        (Plan, format!("{plan} {plan}")),
        (Plan, "Hello! How can I help?".to_owned()),
        (Plan, r#"{"status":"done","response":"hi","plan":["a"]}"#.to_owned()),
        (Plan, r#"{"status":"planned","plan":[{"task":"a","completed":true}]}"#.to_owned()),
        (Plan, r#"{"plan":["a"]}"#.to_owned()),
        (Thought, r#"{"status":"done","next_action":{"tool":"a","input":{}}}"#.to_owned()),
        (Thought, r#"{"status":"continue","question":"which?"}"#.to_owned()),
        (
            Thought,
            r#"{"status":"continue","next_action":{"tool":"a","args":{},"parameters":{}}}"#
                .to_owned(),
        ),
        (Replan, r#"{"status":"replanned","plan":["a",{"task":"b"}]}"#.to_owned()),
        (Replan, r#"{"status":"replanned","plan":[]}"#.to_owned()),
    ] {
        assert_eq!(how(contract, &text), None, "{text}");
    }
    let cut = Reply { stop: StopCause::Length, ..reply(&format!("so {plan}")) };
    assert_eq!(salvage(Plan, &cut), None, "a reply that was cut short may have said more");
}

/// Objects near the contracts.
fn near() -> impl Strategy<Value = Value> {
    let action = prop_oneof![
        Just(Value::Null),
        Just(serde_json::json!({"tool": "todo", "input": {}})),
        Just(serde_json::json!({"tool": "todo", "args": {}})),
    ];
    let words = prop_oneof![Just(Value::Null), Just(Value::from("x")), Just(Value::from(7))];
    let plan = prop_oneof![
        Just(serde_json::json!(["a"])),
        Just(serde_json::json!([{"task": "a", "completed": false}])),
        Just(serde_json::json!([])),
        Just(Value::Null),
    ];
    let status =
        proptest::sample::select(vec!["planned", "continue", "done", "replanned", "ask_user"]);
    (status, action, words.clone(), words, plan).prop_map(
        |(status, action, question, response, plan)| {
            serde_json::json!({"status": status, "next_action": action, "question": question,
            "response": response, "plan": plan})
        },
    )
}

fn any_contract() -> impl Strategy<Value = Contract> {
    proptest::sample::select(vec![Contract::Plan, Contract::Thought, Contract::Replan])
}

proptest! {
    /// What the strict reading takes, salvage reads in the same way and calls it whole.
    #[test]
    fn salvage_changes_nothing_where_the_strict_reading_succeeds(
        object in near(),
        contract in any_contract(),
    ) {
        let text = object.to_string();
        if let Ok(said) = read(contract, &text) {
            prop_assert_eq!(salvage(contract, &reply(&text)), Some((said, Vec::new())));
        }
    }

    #[test]
    fn two_objects_are_never_taken(
        one in near(),
        other in near(),
        between in "[a-z \n]{0,8}",
        contract in any_contract(),
    ) {
        let text = format!("{one}{between}{other}");
        prop_assert!(read(contract, &text).is_err());
        prop_assert_eq!(salvage(contract, &reply(&text)), None);
    }

    #[test]
    fn no_text_makes_it_panic(text in any::<String>(), contract in any_contract()) {
        let _ = salvage(contract, &reply(&text));
    }
}
