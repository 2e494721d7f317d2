//! What a run waits for, for programs.

use everloop_types::{RunId, UtcMs};
use serde::{Deserialize, Serialize};

/// What a run waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "waiting_for", rename_all = "snake_case")]
pub enum WaitingFor {
    /// A person's answer; `interrupt.opened` follows.
    User,
    /// The model's endpoint.
    Model {
        /// What went wrong last.
        error: String,
    },
    /// The end of a child.
    Child {
        /// The child.
        child: RunId,
    },
    /// A moment.
    Timer {
        /// When it goes on, in UTC milliseconds.
        until: UtcMs,
    },
}
