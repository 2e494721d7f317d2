//! Tools as instructions list them, and the tools that loops bring themselves.

use crate::plan_execute_think::own;
use everloop_types::{Offer, ToolSpec};
use serde_json::Value;

/// The tools, one a line, for loops that do not offer them to the provider.
pub(crate) fn listed<'t>(tools: impl Iterator<Item = &'t ToolSpec>) -> String {
    let lines = tools.map(|tool| {
        let properties = tool.schema.get("properties").cloned().unwrap_or(Value::Null);
        format!("- {}: {} Arguments: {properties}", tool.name, tool.description)
    });
    format!("Tools\n{}\n", lines.collect::<Vec<_>>().join("\n"))
}

/// The tools of an offer that no frame has: a loop brings them, and answers their calls itself.
#[must_use]
pub fn own_tools(offer: &Offer) -> Vec<ToolSpec> {
    match offer {
        Offer::Only(names) => names.iter().filter_map(|name| own(name)).collect(),
        Offer::None | Offer::All => Vec::new(),
    }
}
