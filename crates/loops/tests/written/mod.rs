//! Calls that a model writes as text, and markup that says nothing: never an answer, in any loop.

use crate::support::{Played, Scenario};
use everloop_loops::Decision;
use everloop_text as text;
use everloop_types::{Reason, Status, Words};
use expect_test::expect;
use serde_json::json;

const CALL: &str = r#"{"name": "read_file", "arguments": {"path": "a"}}"#;
const NO_ANSWERS: [&str; 4] =
    ["<tools></tools>", CALL, "```json\n```", "<tool_call>{\"name\": \"read_file\""];
const LISTED: [(&str, &str, &str); 1] = [("a", "read a", "pending")];

fn told(played: &Played) -> usize {
    let last = played.prompts.last().expect("a prompt");
    last.iter().filter(|message| message.text().contains("in place of a tool call")).count()
}

fn said(words: &Words) -> String {
    match words {
        Words::Said(text) => text.clone(),
        Words::All(all) => all.iter().map(said).collect::<Vec<_>>().join("\n"),
        Words::Key(key, _) => key.as_str().to_owned(),
    }
}

#[test]
fn it_is_sent_back_with_words_and_the_work_goes_on() {
    for text in NO_ANSWERS {
        for name in ["react", "tool-driven"] {
            let played = Scenario::of(name, "read a")
                .says(text)
                .calls("read_file", &json!({"path": "a"}))
                .sees("one")
                .says(text)
                .says("It says one.")
                .play();
            assert_eq!(told(&played), 2, "{name}: {text}");
            let end = "finish succeeded \"It says one.\"\n";
            assert!(played.trace.ends_with(end), "{name}: {}", played.trace);
        }
        for name in ["staged", "hybrid"] {
            let played = Scenario::of(name, "read a")
                .lists(false, &LISTED)
                .says(text)
                .says("I have read it.")
                .says(text)
                .says("It says one.")
                .play();
            assert_eq!(told(&played), 2, "{name}: {text}");
            assert!(played.trace.contains("finish succeeded \"It says one.\""), "{}", played.trace);
        }
        let played = Scenario::of("task-driven", "read a")
            .lists(false, &LISTED)
            .says(text)
            .marks("a", "completed")
            .says("It says one.")
            .play();
        assert_eq!(told(&played), 1, "{text}");
    }
}

#[test]
fn after_all_tries_it_is_a_broken_contract_and_the_user_is_told_why() {
    for name in ["react", "tool-driven"] {
        let played =
            Scenario::of(name, "read a").says(CALL).says(CALL).says(CALL).says(CALL).play();
        let Decision::Finish { status, reason, words } = &played.ending else { panic!("no end") };
        assert_eq!((*status, reason), (Status::Failed, &Some(Reason::BrokenContract)), "{name}");
        let words = said(words);
        for part in ["closing.from_journal", "broken.why_any", "broken.said", CALL, "broken.next"] {
            assert!(words.contains(part), "{name}: {part} is not in {words}");
        }
    }
}

#[test]
fn people_who_watch_see_that_a_reply_was_sent_back() {
    let played = Scenario::react("read a").says(CALL).says("It says one.").play();
    let note = crate::support::fold(&played.journal[..4], &played.frame).progress().note;
    assert_eq!(note, Some(text::progress::sent_back(&"1".to_owned(), &"2".to_owned()).words()));
    assert_eq!(played.run.progress().note, None);
}

#[test]
fn talk_about_calls_is_an_answer() {
    let text = format!("Such a call is written {CALL} in that format.");
    let played = Scenario::react("explain").says(&text).play();
    assert!(played.trace.contains("finish succeeded"), "{}", played.trace);
}

#[test]
fn last_words_that_are_a_call_or_a_contract_are_not_shown_as_they_are() {
    let limited = |text: &str| {
        let scenario = Scenario::react("read a").limits(|limits| limits.steps.max_steps = 1);
        scenario.calls("read_file", &json!({"path": "a"})).sees("one").says(text).play().trace
    };
    expect![[r#"
        call_model think with 2 messages
        call_tool read_file {"path":"a"}
        call_model close with 5 messages
        finish failed (step_limit) [closing.from_journal] [closing.done] [closing.deed seen=one what=read_file a] [closing.next] [reason.step_limit limit=1]
    "#]].assert_eq(&limited(CALL));
    let spoken = limited("{\"status\":\"done\",\"response\":\"It says one.\"}");
    assert!(spoken.contains("finish failed (step_limit) \"It says one.\""), "{spoken}");
}
