//! Whether a permitted call may still be made, and whether a person allowed it without a sandbox.
//!
//! The journal says what was asked. The question about a call without a sandbox has an id of its
//! own, so the answer to any other question never covers it.

use super::DriveError;
use super::permit::PermissionGate;
use crate::permission::{Sandboxing, decide_sandboxing};
use everloop_loops::OpenToolCall;
use everloop_ports::CallPolicy;
use everloop_types::journal::{EntryKind, InboxMessage, Input};
use everloop_types::{Observation, ToolCall};

/// The last word of the id of a question about a call without a sandbox.
pub(super) const BARE: &str = "approve_bare";

/// Entries that are searched for an answer; a call has few.
const ENTRIES_MAX: usize = 100_000;

impl PermissionGate<'_, '_> {
    /// Whether a permitted call may still be made, and how.
    pub(super) async fn sandboxing(
        &self,
        open: &OpenToolCall,
        call: &ToolCall,
    ) -> Result<Sandboxing, DriveError> {
        let policy = self.driver.review().call_policy(call).await;
        let approved = match policy {
            CallPolicy::Unsandboxed(_) => self.approved_unsandboxed(open).await?,
            _ => false,
        };
        Ok(decide_sandboxing(&policy, approved))
    }

    /// Whether a person answered the question about this call without a sandbox. A refusal would
    /// have ended the call, so the answer was yes.
    async fn approved_unsandboxed(&self, open: &OpenToolCall) -> Result<bool, DriveError> {
        let id = super::ask::question_id(open, BARE);
        let answers = |kind: &EntryKind| {
            matches!(kind, EntryKind::Input(Input {
                message: InboxMessage::Answer { question, .. }, ..
            })
                if super::permit::is_about(question, &id))
        };
        if self.driver.pending.drafts.iter().any(|draft| answers(&draft.kind)) {
            return Ok(true);
        }
        let after = open.effect.cause;
        let journal = self.driver.engine.store.journal();
        let entries = journal.entries(&self.driver.claim.run, after, ENTRIES_MAX).await;
        let entries = entries.map_err(|source| self.driver.failed(source))?;
        Ok(entries.iter().any(|entry| answers(&entry.kind)))
    }
}

/// A refusal, with the reason for the model.
pub(super) fn denied(why: &str) -> Observation {
    Observation::denied(format!("this call may not be made: {why}; nothing was done"))
}
