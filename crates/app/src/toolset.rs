//! Which of the tools a loop has: a long list makes models choose badly, and costs tokens with
//! every call.
//!
//! ```text
//!   there is one (settings, workspace) ──► tools.enabled ──► the persona's `tools:` ──► the loop's
//! ```
//!
//! Everything that a person may want done stays; what is left out here is what a loop cannot use.

use everloop_loops::LoopSpec;
use everloop_ports::Tool as _;
use everloop_tools::Delegate;
use everloop_types::{Limits, TODO_WRITE, ToolSpec};

/// Whether a loop has a tool, as far as the loop is concerned.
pub(crate) fn has(loop_name: &str, tool: &str) -> bool {
    LoopSpec::named(loop_name).is_some_and(|spec| match tool {
        TODO_WRITE => spec.keeps_list,
        Delegate::NAME => spec.delegates,
        _ => true,
    })
}

/// The tools of a loop, out of those that there are.
pub(crate) fn of(loop_name: &str, limits: &Limits, mut tools: Vec<ToolSpec>) -> Vec<ToolSpec> {
    let helpers = limits.delegate.max_depth > 0 && limits.delegate.max_children > 0;
    tools.retain(|tool| has(loop_name, &tool.name) && (helpers || tool.name != Delegate::NAME));
    tools
}
