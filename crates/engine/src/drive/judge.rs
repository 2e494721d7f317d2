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
use everloop_loops::Outstanding;
use everloop_tools::Judgement;
use everloop_types::journal::{Input, Kind, Letter};
use everloop_types::{Observation, ToolCall};

/// The last word of the id of a question about a call without walls.
pub(super) const BARE: &str = "approve_bare";

/// Entries that are looked through for an answer; a call has few.
const ENTRIES_MAX: usize = 100_000;

/// Whether a call that was permitted may still be made as it was.
pub(super) enum Footing {
    /// Behind walls, or by a tool that needs none.
    Firm,
    /// Without walls, and a person knew.
    Bare,
    /// Not at all.
    Gone(Observation),
}

impl Driver<'_> {
    /// What its tool says about a call; a tool that is gone says nothing.
    pub(super) async fn judge(&self, call: &ToolCall) -> Judgement {
        match self.tools.get(&call.tool) {
            Some(tool) => tool.judge(&call.args).await,
            None => Judgement::AsSet,
        }
    }

    /// Walls and rules may be others than when the call was permitted.
    pub(super) async fn footing(
        &self,
        open: &Outstanding,
        call: &ToolCall,
    ) -> Result<Footing, DriveError> {
        match self.judge(call).await {
            Judgement::AsSet
            | Judgement::Delicate
            | Judgement::Allow(_)
            | Judgement::Ask(_)
            | Judgement::Insist(_) => Ok(Footing::Firm),
            Judgement::Deny(why) => Ok(Footing::Gone(denied(&why))),
            Judgement::Bare(_) if self.was_told_bare(open).await? => Ok(Footing::Bare),
            Judgement::Bare(_) => {
                let why = "it was allowed behind walls, and none stands any more; call it again";
                Ok(Footing::Gone(denied(why)))
            }
        }
    }

    /// Whether a person answered the question about this call without walls. A refusal has ended
    /// the call, so the answer was a yes.
    async fn was_told_bare(&self, open: &Outstanding) -> Result<bool, DriveError> {
        let id = super::ask::question_id(open, BARE);
        let answers = |kind: &Kind| {
            matches!(kind, Kind::Input(Input { letter: Letter::Answer { question, .. }, .. })
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
