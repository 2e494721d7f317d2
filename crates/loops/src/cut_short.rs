//! Replies in words that were cut at their length limit: sent back a few times, never answers.

use everloop_types::{Frame, ModelError, ModelErrorKind, Reply, StopCause};
use serde::{Deserialize, Serialize};

/// What the model is told of a reply that was cut short.
const TOLD: &str = include_str!("prompts/cut_short.md");

/// How many came in a row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct CutShort(u32);

/// What a reply is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Whole {
    /// As long as the model wanted it to be.
    Yes,
    /// Cut short: the model is told this and asked again.
    No(&'static str),
    /// Cut short once too often.
    Never(ModelError),
}

impl CutShort {
    /// Takes in a reply. Calls that were cut short are refused where their arguments are checked.
    pub(crate) fn take(&mut self, reply: &Reply, frame: &Frame) -> Whole {
        if reply.stop != StopCause::Length || !reply.calls.is_empty() {
            self.0 = 0;
            return Whole::Yes;
        }
        self.0 += 1;
        if self.0 <= frame.limits.steps.contract_retries {
            return Whole::No(TOLD.trim_ascii_end());
        }
        let detail = format!("{} replies in a row were cut off at model.max_tokens", self.0);
        // Asked for short last words it may still find some.
        Whole::Never(ModelError::new(ModelErrorKind::Malformed, detail))
    }

    pub(crate) fn is_none(&self) -> bool {
        self.0 == 0
    }
}
