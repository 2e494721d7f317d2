//! Calls that a tool judges by their arguments, and calls that would run without walls.
//!
//! ```text
//!   judge ──► as set ──────────► the run's policy
//!         ──► allow, ask, deny ─► a rule's word
//!         ──► bare ────────────► a question of its own, whatever else is allowed
//! ```
//!
//! Who was asked is read from the journal: the question about a call without walls has an id of its
//! own, so an answer to any other question never covers one.

use super::{DriveError, Driver};
use everloop_loops::OpenToolCall;
use everloop_tools::CallPolicy;
use everloop_types::journal::{InboxMessage, Input, Kind};
use everloop_types::{Observation, ToolCall};

/// The last word of the id of a question about a call without walls.
pub(super) const BARE: &str = "approve_bare";

/// Entries that are looked through for an answer; a call has few.
const ENTRIES_MAX: usize = 100_000;

/// Whether a call that was permitted may still be made as it was.
pub(super) enum Sandboxing {
    /// Behind walls, or by a tool that needs none.
    Sandboxed,
    /// Without walls, and a person knew.
    ApprovedUnsandboxed,
    /// Not at all.
    Refused(Observation),
}

impl Driver<'_> {
    /// What its tool says about a call; a tool that is gone says nothing.
    pub(super) async fn judge(&self, call: &ToolCall) -> CallPolicy {
        match self.tools.get(&call.tool) {
            Some(tool) => tool.judge(&call.args).await,
            None => CallPolicy::Default,
        }
    }

    /// Walls and rules may be others than when the call was permitted.
    pub(super) async fn footing(
        &self,
        open: &OpenToolCall,
        call: &ToolCall,
    ) -> Result<Sandboxing, DriveError> {
        match self.judge(call).await {
            CallPolicy::Default
            | CallPolicy::Sensitive
            | CallPolicy::Allow(_)
            | CallPolicy::Ask(_)
            | CallPolicy::AlwaysAsk(_) => Ok(Sandboxing::Sandboxed),
            CallPolicy::Deny(why) => Ok(Sandboxing::Refused(denied(&why))),
            CallPolicy::Unsandboxed(_) if self.approved_unsandboxed(open).await? => {
                Ok(Sandboxing::ApprovedUnsandboxed)
            }
            CallPolicy::Unsandboxed(_) => {
                let why = "it was allowed behind walls, and none stands any more; call it again";
                Ok(Sandboxing::Refused(denied(why)))
            }
        }
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
        let entries = self.engine.store.journal(&self.claim.run, after, ENTRIES_MAX).await;
        let entries = entries.map_err(|source| self.failed(source))?;
        Ok(entries.iter().any(|entry| answers(&entry.kind)))
    }
}

/// A refusal, with the reason for the model.
pub(super) fn denied(why: &str) -> Observation {
    Observation::denied(format!("this call may not be made: {why}; nothing was done"))
}
