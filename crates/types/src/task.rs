//! Work of a fixed kind: one call that is known before the run begins, and nothing to decide.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The type of a run that pursues a goal under a loop.
pub const AGENT: &str = "agent";

/// What the loop `task` does: its one call, and what it was made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskSpec {
    /// The run's type: `sleep`, `fetch_web`, ….
    pub run_type: String,
    /// The input as it was given; a retry begins with it.
    pub input: Value,
    /// The call.
    pub call: TaskCall,
}

/// The one call of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum TaskCall {
    /// A tool of the frame, with these arguments as JSON text.
    Tool {
        /// The tool.
        tool: String,
        /// The arguments.
        args: String,
    },
    /// One question to the model: its answer is the result.
    Model {
        /// What the model has to do with the goal.
        instructions: String,
    },
}

/// What kind of work a run is, beside its loop and its goal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunProfile {
    /// `agent`, or the type of a task.
    pub run_type: String,
    /// What people call it; without one its goal is shown.
    pub title: Option<String>,
    /// The run that it does again.
    pub retry_of: Option<crate::RunId>,
}

impl Default for RunProfile {
    fn default() -> Self {
        Self { run_type: AGENT.to_owned(), title: None, retry_of: None }
    }
}

impl RunProfile {
    /// Whether it is a goal under a loop, without anything special.
    #[must_use]
    pub fn is_agent(&self) -> bool {
        self.run_type == AGENT
    }
}
