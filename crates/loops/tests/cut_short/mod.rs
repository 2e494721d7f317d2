//! A reply that was cut at its length limit is no answer, and nobody is asked for ever.

use crate::support::{Played, Scenario};
use expect_test::expect;
use serde_json::json;

const TWO: [(&str, &str, &str); 2] = [("a", "write a", "pending"), ("b", "write b", "pending")];

fn told(played: &Played) -> usize {
    let last = played.prompts.last().expect("a prompt");
    last.iter().filter(|message| message.text().contains("cut off at its length limit")).count()
}

#[test]
fn what_was_cut_is_sent_back_and_the_work_goes_on() {
    for name in ["react", "tool-driven"] {
        for text in ["I will now write b to the fi", ""] {
            let played = Scenario::of(name, "write a and b")
                .breaks_off(text)
                .calls("read_file", &json!({"path": "b"}))
                .sees("two")
                .breaks_off(text)
                .says("Both are there.")
                .play();
            assert_eq!(told(&played), 2, "{name}");
            assert!(played.trace.ends_with("finish succeeded \"Both are there.\"\n"), "{name}");
        }
    }
}

#[test]
fn a_model_that_is_cut_again_and_again_is_asked_for_last_words() {
    for name in ["react", "tool-driven"] {
        let scenario = Scenario::of(name, "tell me all")
            .breaks_off("Once upon")
            .breaks_off("Once upon")
            .breaks_off("Once upon")
            .says("It is a long story.");
        expect![[r#"
            call_model think with 2 messages
            call_model think with 4 messages
            call_model think with 6 messages
            call_model close with 8 messages
            finish failed (model) "It is a long story." [reason.model detail=3 replies in a row were cut off at model.max_tokens]
        "#]]
        .assert_eq(&scenario.play().trace);
    }
}

/// Words that were cut close no item, and a report that was cut is no report.
#[test]
fn stages_go_on_only_with_whole_words() {
    for (name, works) in [("staged", 2), ("hybrid", 1)] {
        let mut scenario = Scenario::of(name, "write a and b").lists(false, &TWO);
        for _ in 0..works {
            scenario = scenario.breaks_off("I will now").says("did it");
        }
        let played = scenario.breaks_off("# Rep").says("# Report").play();
        assert_eq!(told(&played), works + 1, "{name}");
        assert!(played.trace.contains("finish succeeded \"# Report\""), "{}", played.trace);
    }
}
