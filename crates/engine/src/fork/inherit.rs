//! What a fork inherits beside its journal: labels, never permission.

use everloop_types::{Frame, Labels, Policy, RunId, Taint, ToolSpec};

/// Where a run was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Provenance {
    /// In this database.
    Here,
    /// In another one: it was imported, so every value comes from the author of the file.
    Elsewhere,
}

/// The policy of a run that continues another: its own rules and the other run's taint. What people
/// allowed the other run does not extend to it.
pub(super) fn policy(
    parent: (&RunId, Provenance),
    old: &Frame,
    held: &Taint,
    new: &Frame,
) -> Policy {
    let (parent, provenance) = parent;
    let mut inherited = new.policy.inherited.clone();
    if new.policy.label_guard.is_some() {
        inherited.join(held);
        // A run from before labels has no record of what it read, and a file is not trusted.
        if old.policy.label_guard.is_none() || provenance == Provenance::Elsewhere {
            inherited.take(Labels::ALL, parent.as_str());
        }
    }
    Policy { inherited, ..new.policy.clone() }
}

/// The tools that the transcript refers to, with today's data flow.
pub(super) fn tools(old: &Frame, new: &Frame) -> Vec<ToolSpec> {
    let mut tools = old.tools.clone();
    if new.policy.label_guard.is_some() {
        for tool in tools.iter_mut().filter(|tool| tool.handling.flow.is_none()) {
            let known = new.tool(&tool.name).and_then(|tool| tool.handling.flow.clone());
            tool.handling.flow = known;
        }
    }
    tools
}
