//! Runs of a fixed type: one call of a tool of each class, a wait, and one question to the model.

use super::Scenario;
use everloop_models::ScriptedReply;
use everloop_types::{Status, TaskCall, TaskSpec};
use serde_json::{Value, json};

fn task(
    name: &'static str,
    run_type: &str,
    call: TaskCall,
    script: Vec<ScriptedReply>,
) -> Scenario {
    let (run_type, input) = (run_type.to_owned(), json!({"seconds": 60}));
    Scenario {
        task: Some(TaskSpec { run_type, input, call }),
        ..Scenario::new(name, "task", script)
    }
}

fn calls(name: &'static str, run_type: &str, tool: &str, args: &Value) -> Scenario {
    let call = TaskCall::Tool { tool: tool.to_owned(), args: args.to_string() };
    task(name, run_type, call, Vec::new())
}

/// Every scenario of the loop `task`.
#[must_use]
pub fn tasks() -> Vec<Scenario> {
    let instructions = "Summarize it.".to_owned();
    let what = |what: &str| json!({"what": what});
    vec![
        calls("a wait", "sleep", "sleep", &json!({"seconds": 60})),
        calls("a look", "look", "look", &what("sky")),
        calls("a task that is asked about", "launch", "launch", &what("rocket")),
        calls("a task that must not happen twice", "strike", "strike", &what("anvil")),
        calls("a task that fails", "miss", "miss", &what("unicorn")).ending(Status::Failed),
        task(
            "a summary",
            "summarize_conversation",
            TaskCall::Model { instructions },
            vec![ScriptedReply::says("two lines")],
        ),
    ]
}
