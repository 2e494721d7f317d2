//! Which tools there are, in the order in which the model sees them.

use crate::{AnyTool, Tool, erase};
use everloop_types::ToolSpec;
use std::sync::Arc;

/// The tools by name, in a fixed order.
#[derive(Clone, Default)]
pub struct Registry {
    tools: Vec<Arc<dyn AnyTool>>,
}

impl Registry {
    /// Adds a tool after the others; one of the same name is replaced where it stands.
    #[must_use]
    pub fn with(self, tool: impl Tool) -> Self {
        self.with_any(erase(tool))
    }

    /// The same for a tool whose arguments are known only at run time.
    #[must_use]
    pub fn with_any(mut self, tool: Arc<dyn AnyTool>) -> Self {
        match self.tools.iter_mut().find(|known| known.spec().name == tool.spec().name) {
            Some(known) => *known = tool,
            None => self.tools.push(tool),
        }
        self
    }

    /// What the model and the runtime know of each, in order.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|tool| tool.spec().clone()).collect()
    }

    /// The same, but only those that are wanted by their name.
    #[must_use]
    pub fn specs_of(&self, wanted: impl Fn(&str) -> bool) -> Vec<ToolSpec> {
        self.specs().into_iter().filter(|spec| wanted(&spec.name)).collect()
    }

    /// The tool of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<dyn AnyTool>> {
        self.tools.iter().find(|tool| tool.spec().name == name)
    }
}
