//! What a tool says about a call, and whether a person was told that it runs without a sandbox.
//!
//! Who was asked is read from the journal: the question about a call without walls has an id of its
//! own, so an answer to any other question never covers one.

use super::{DriveError, Driver};
use crate::permission::{Sandboxing, decide_sandboxing};
use everloop_loops::OpenToolCall;
use everloop_ports::CallPolicy;
use everloop_types::journal::{InboxMessage, Input, Kind};
use everloop_types::{Observation, ToolCall};

/// The last word of the id of a question about a call without walls.
pub(super) const BARE: &str = "approve_bare";

/// Entries that are looked through for an answer; a call has few.
const ENTRIES_MAX: usize = 100_000;

impl Driver<'_> {
    /// What its tool says about a call; a tool that is gone says nothing.
    pub(super) async fn judge(&self, call: &ToolCall) -> CallPolicy {
        match self.tools.get(&call.tool) {
            Some(tool) => tool.judge(&call.args).await,
            None => CallPolicy::Default,
        }
    }

    /// Whether a permitted call may still be made, and how.
    pub(super) async fn sandboxing(
        &self,
        open: &OpenToolCall,
        call: &ToolCall,
    ) -> Result<Sandboxing, DriveError> {
        let policy = self.judge(call).await;
        let was_told = match policy {
            CallPolicy::Unsandboxed(_) => self.approved_unsandboxed(open).await?,
            _ => false,
        };
        Ok(decide_sandboxing(&policy, was_told))
    }

    /// Whether a person answered the question about this call without walls. A refusal has ended
    /// the call, so the answer was a yes.
    async fn approved_unsandboxed(&self, open: &OpenToolCall) -> Result<bool, DriveError> {
        let id = super::ask::question_id(open, BARE);
        let answers = |kind: &Kind| {
            matches!(kind, Kind::Input(Input { letter: InboxMessage::Answer { question, .. }, .. })
                if super::permit::is_about(question, &id))
        };
        if self.pending.drafts.iter().any(|draft| answers(&draft.kind)) {
            return Ok(true);
        }
        let after = open.effect.cause;
        let entries =
            self.engine.store.journal().entries(&self.claim.run, after, ENTRIES_MAX).await;
        let entries = entries.map_err(|source| self.failed(source))?;
        Ok(entries.iter().any(|entry| answers(&entry.kind)))
    }
}

/// A refusal, with the reason for the model.
pub(super) fn denied(why: &str) -> Observation {
    Observation::denied(format!("this call may not be made: {why}; nothing was done"))
}
