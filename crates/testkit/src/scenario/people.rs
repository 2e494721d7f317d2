//! Scenarios in which a person is asked.

use super::{Scenario, call};
use everloop_models::ScriptedReply;
use serde_json::json;

pub(super) fn react() -> Vec<Scenario> {
    vec![
        Scenario::react(
            "needs permission",
            vec![call("launch", "rocket"), ScriptedReply::says("launched")],
        ),
        Scenario::react(
            "needs permission twice",
            vec![
                call("launch", "rocket").and_calls("launch", json!({"what": "balloon"})),
                ScriptedReply::says("both launched"),
            ],
        ),
        Scenario::react(
            "asks a person",
            vec![
                ScriptedReply::calls("ask_user", json!({"question": "which colour?"})),
                call("strike", "blue"),
                ScriptedReply::says("blue it is"),
            ],
        ),
        Scenario::react(
            "allowed for good",
            vec![
                call("launch", "rocket"),
                call("launch", "rocket"),
                call("launch", "balloon"),
                ScriptedReply::says("all launched"),
            ],
        )
        .answering("always"),
        Scenario::react(
            "labels hold it back",
            vec![
                call("look", "sky"),
                call("strike", "anvil"),
                call("look", "sea").and_calls("launch", json!({"what": "rocket"})),
                ScriptedReply::says("done after each was asked about"),
            ],
        )
        .guarded(),
        Scenario::react(
            "a place is opened for the run",
            vec![
                call("look", "sky"),
                call("strike", "anvil"),
                call("strike", "anvil"),
                ScriptedReply::says("struck twice"),
            ],
        )
        .guarded()
        .answering("always"),
        Scenario::react(
            "a person settles",
            vec![call("mail", "invoice"), ScriptedReply::says("sent")],
        ),
    ]
}
