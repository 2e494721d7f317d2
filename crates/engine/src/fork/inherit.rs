//! What a fork inherits beside its past: labels, never permission.

use everloop_types::{Frame, Labels, Policy, RunId, Taint, ToolSpec};

/// Where a run was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Provenance {
    /// In this database.
    Here,
    /// In another one: it came in a file, and whoever made the file chose every word of it.
    Elsewhere,
}

/// The policy of a run that goes on from another: its own rules, and what the other one held. What
/// people opened for the other run stays there.
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
        // Nobody noted what a run from before labels has read, and nobody believes a file.
        if old.policy.label_guard.is_none() || provenance == Provenance::Elsewhere {
            inherited.take(Labels::ALL, parent.as_str());
        }
    }
    Policy { inherited, ..new.policy.clone() }
}

/// The tools that the past was told in, with what is known nowadays about what they carry.
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
