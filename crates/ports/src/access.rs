//! What the run's rules say about something that a call comes upon: a redirect, a file below a
//! folder. The arguments do not name it, so the rules could not be asked beforehand.

use everloop_types::{Approval, CallId, Policy, ToolCall};
use serde_json::json;

/// The rules that a call of one tool meets.
#[derive(Debug, Clone, Default)]
pub struct AccessRules {
    policy: Policy,
    tool: String,
    workspace: String,
}

impl AccessRules {
    /// Of a run's policy, for calls of a tool.
    #[must_use]
    pub fn new(policy: &Policy, tool: &str, workspace: &str) -> Self {
        let policy = Policy {
            rules: policy.rules.clone(),
            approve_all: policy.approve_all,
            ..Policy::default()
        };
        Self { policy, tool: tool.to_owned(), workspace: workspace.to_owned() }
    }

    /// What the rules say about a value of one of the tool's arguments, and which rule says it.
    #[must_use]
    pub fn about(&self, arg: &str, value: &str) -> Option<(Approval, String)> {
        self.about_call_of(&self.tool, arg, value)
    }

    /// The same for another tool that would do the same.
    #[must_use]
    pub fn about_call_of(&self, tool: &str, arg: &str, value: &str) -> Option<(Approval, String)> {
        if self.policy.rules.is_empty() {
            return None;
        }
        let args = json!({ arg: value }).to_string();
        let call = ToolCall { id: CallId::new(""), tool: tool.to_owned(), args };
        self.policy.says(&call, &self.workspace)
    }

    /// Whether nobody is asked in this run.
    #[must_use]
    pub fn approves_all(&self) -> bool {
        self.policy.approve_all
    }
}
