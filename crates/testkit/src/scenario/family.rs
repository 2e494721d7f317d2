//! Runs that hand a task to others.

use super::{Scenario, call};
use everloop_models::ScriptedReply;
use everloop_types::{Budget, Status};
use serde_json::json;

fn delegates(task: &str) -> ScriptedReply {
    ScriptedReply::calls("delegate", json!({ "task": task }))
}

fn helped(name: &'static str, script: Vec<ScriptedReply>, helper: Vec<ScriptedReply>) -> Scenario {
    Scenario { helpers: vec![("forge", helper)], ..Scenario::react(name, script) }
}

/// Every scenario in which a run has children.
#[must_use]
pub fn families() -> Vec<Scenario> {
    vec![
        helped(
            "a child acts",
            vec![
                delegates("go to the forge"),
                call("put", "sword"),
                ScriptedReply::says("all forged"),
            ],
            vec![call("strike", "iron"), ScriptedReply::says("struck in the forge")],
        ),
        helped(
            "a child asks and needs permission",
            vec![delegates("go to the forge"), ScriptedReply::says("it flew")],
            vec![
                ScriptedReply::calls("ask_user", json!({"question": "which one?"})),
                call("launch", "rocket"),
                ScriptedReply::says("launched from the forge"),
            ],
        ),
        helped(
            "two children after each other, beside another call",
            vec![
                delegates("go to the forge")
                    .and_calls("strike", json!({"what": "bell"}))
                    .and_calls("delegate", json!({"task": "go to the forge again"})),
                ScriptedReply::says("both are back"),
            ],
            vec![call("strike", "iron"), ScriptedReply::says("struck in the forge")],
        ),
        Scenario {
            helpers: vec![
                ("mine", vec![call("strike", "rock"), ScriptedReply::says("dug")]),
                ("forge", vec![delegates("go to the mine"), ScriptedReply::says("dug and struck")]),
            ],
            ..Scenario::react(
                "a grandchild acts",
                vec![delegates("go to the forge"), ScriptedReply::says("all three are done")],
            )
        },
        failing(),
        refused(),
    ]
}

/// What a child used is its parent's use.
fn failing() -> Scenario {
    let mut scenario = helped(
        "a child uses up the budget",
        vec![delegates("go to the forge"), ScriptedReply::says("never said: nothing is left")],
        vec![call("look", "1"), call("look", "2"), call("look", "3"), call("strike", "4")],
    )
    .ending(Status::Failed);
    scenario.limits.budget = Budget { model_calls: 4, ..Budget::default() };
    scenario
}

fn refused() -> Scenario {
    let mut scenario = helped(
        "children that cannot be",
        vec![
            ScriptedReply::calls("delegate", json!({"task": "forge", "loop": "figure-of-eight"}))
                .and_calls("delegate", json!({"task": "forge", "tools": ["wand"]})),
            delegates("go to the forge").and_calls("delegate", json!({"task": "forge again"})),
            ScriptedReply::says("one of four"),
        ],
        vec![ScriptedReply::says("nothing to strike")],
    );
    scenario.limits.delegate.max_children = 1;
    scenario
}
