//! The same small errand under every loop: one call, then an answer.

use super::{Scenario, act, call, goal_done, item_done, lists_one, marks_one, plan, steps, thinks};
use everloop_loops::LOOPS;
use everloop_models::Scripted;
use serde_json::json;

/// Calls `tool` on `what` once, and says that it is done. A new loop has to say how it does so.
///
/// # Panics
/// If there is no such loop.
#[must_use]
pub fn errand(loop_name: &'static str, tool: &str, what: &str) -> Scenario {
    let (acts, says) = (call(tool, what), Scripted::says("done"));
    let script = match loop_name {
        "plan-replan" => {
            vec![plan(&["do it"]), act(tool, what), item_done("did it"), goal_done("done")]
        }
        "react" => vec![acts, says],
        "plan-execute-think" => vec![steps(&[(tool, json!(what))]), thinks("done", true)],
        "tool-driven" | "task-driven" => vec![lists_one(), acts, marks_one("completed"), says],
        "staged" | "hybrid" => vec![lists_one(), acts, Scripted::says("did it"), says],
        "autonomous" => {
            let tag = json!({ "what": what });
            let tag = format!("<think>hm</think><tool name=\"{tool}\">{tag}</tool>");
            vec![Scripted::says(tag), Scripted::says("<final>done</final>")]
        }
        other => panic!("what would {other} do?"),
    };
    Scenario::new("an errand", loop_name, script)
}

/// The loop that takes over from another one in the sweeps: the next, so that each has its turn.
#[must_use]
pub fn heir_of(loop_name: &str) -> &'static str {
    let place = LOOPS.iter().position(|known| *known == loop_name).unwrap_or(0);
    LOOPS[(place + 1) % LOOPS.len()]
}
