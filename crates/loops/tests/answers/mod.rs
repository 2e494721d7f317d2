//! A run never ends without words, whichever loop it is under (PET-8 for all): the model's own,
//! else those of a last call without tools, else those of the journal.

use crate::support::{Played, Reply, Scenario};
use everloop_loops::{Decision, LOOPS};
use everloop_types::journal::{EffectPlanned, EntryKind, PlannedModelCall};
use everloop_types::{ModelCall, ModelErrorKind, Purpose, Status, ToolChoice, ToolOffer, Words};

/// A model that works and never comes to an end.
fn tireless(name: &str) -> Scenario {
    Scenario::of(name, "go").replies(Reply::Fitting(2)).sees("1").forever().limits(|limits| {
        // No other guard comes first.
        limits.context.repetitions = 0;
        limits.steps.list.idle = 0;
        limits.steps.list.unlisted = 0;
    })
}

fn last_call(played: &Played) -> &ModelCall {
    let mut calls = played.journal.iter().filter_map(|entry| match &entry.kind {
        EntryKind::EffectPlanned(EffectPlanned::CallModel(PlannedModelCall { call, .. })) => {
            Some(call)
        }
        _ => None,
    });
    calls.next_back().expect("a model call")
}

fn words(played: &Played) -> &Words {
    let Decision::Finish { words, status, .. } = &played.ending else { panic!("it does not end") };
    assert_eq!(*status, Status::Failed);
    assert!(!words.is_empty());
    words
}

fn keys(words: &Words) -> Vec<&str> {
    match words {
        Words::Key(key, _) => vec![key.as_str()],
        Words::All(all) => all.iter().flat_map(keys).collect(),
        Words::Said(_) => Vec::new(),
    }
}

fn said(words: &Words) -> String {
    match words {
        Words::Said(text) => text.clone(),
        Words::All(all) => all.iter().map(said).collect::<Vec<_>>().join("\n"),
        Words::Key(..) => String::new(),
    }
}

#[test]
fn at_its_limit_each_loop_ends_with_words_of_the_model() {
    for name in LOOPS {
        let played = tireless(name).limits(|limits| limits.steps.max_steps = 3).play();
        let words = words(&played);
        let own = match name {
            // What was done and why it stopped, in words that are fixed (PR-7).
            "plan-replan" => keys(words).contains(&"limit.reached"),
            // The last round's summary (PET-8).
            "plan-execute-think" => said(words).contains("so far"),
            _ => said(words).contains("an honest account"),
        };
        assert!(own, "{name}: {words:?}");
        let asks = !["plan-replan", "plan-execute-think"].contains(&name);
        let last = last_call(&played);
        assert_eq!(last.purpose == Purpose::Close, asks, "{name}");
        if asks {
            assert_eq!(
                (&last.offer, &last.choice),
                (&ToolOffer::None, &ToolChoice::None),
                "{name}"
            );
        }
    }
}

#[test]
fn where_the_last_call_fails_the_words_come_from_the_journal() {
    for name in LOOPS {
        let working =
            (0..4).fold(tireless(name), |scenario, _| scenario.replies(Reply::Fitting(2)));
        let failing = working.fails(ModelErrorKind::Empty, "no text");
        let played = failing.limits(|limits| limits.budget.model_calls = 5).play();
        assert_eq!(last_call(&played).purpose, Purpose::Close, "{name}");
        let words = words(&played);
        assert!(keys(words).contains(&"closing.from_journal"), "{name}: {words:?}");
        let deed = if name == "plan-replan" { "closing.deed_said" } else { "closing.deed" };
        assert!(keys(words).contains(&deed), "{name}: {words:?}");
    }
}

#[test]
fn where_the_model_is_gone_nobody_asks_it_for_last_words() {
    for name in LOOPS {
        let gone = Scenario::of(name, "go").fails(ModelErrorKind::Refused, "no such key");
        let played = gone.forever().play();
        assert_ne!(last_call(&played).purpose, Purpose::Close, "{name}");
        let calls = played.trace.lines().filter(|line| line.starts_with("call_model")).count();
        // A plan is tried in as many rounds as may fail (PR-8).
        assert!(calls <= if name == "plan-execute-think" { 2 } else { 1 }, "{name}: {calls}");
        words(&played);
    }
}
