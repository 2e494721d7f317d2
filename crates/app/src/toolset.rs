//! Which of the tools a loop has: a long list makes models choose badly, and costs tokens with
//! every call.
//!
//! ```text
//!   there is one (settings, workspace) ──► tools.enabled ──► the persona's `tools:` ──► the loop's
//! ```
//!
//! Everything that a person may want done stays; what is left out here is what a loop cannot use.

use everloop_tools::{Delegate, Tool as _};
use everloop_types::{Limits, TODO_WRITE, ToolSpec};

/// Loops in which the model keeps its own list. Where the loop keeps a plan, a second one confuses;
/// react decides from one turn to the next.
const WITH_LIST: [&str; 4] = ["tool-driven", "task-driven", "staged", "hybrid"];

/// Loops that do not hand work on: a round has a time of its own, which a helper would take up.
const WITHOUT_HELPERS: [&str; 1] = ["plan-execute-think"];

/// Whether a loop has a tool, as far as the loop is concerned.
pub fn has(loop_name: &str, tool: &str) -> bool {
    match tool {
        TODO_WRITE => WITH_LIST.contains(&loop_name),
        Delegate::NAME => !WITHOUT_HELPERS.contains(&loop_name),
        _ => true,
    }
}

/// The tools of a loop, out of those that there are.
pub fn of(loop_name: &str, limits: &Limits, mut tools: Vec<ToolSpec>) -> Vec<ToolSpec> {
    let helpers = limits.delegate.max_depth > 0 && limits.delegate.max_children > 0;
    tools.retain(|tool| has(loop_name, &tool.name) && (helpers || tool.name != Delegate::NAME));
    tools
}
