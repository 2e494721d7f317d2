//! A run that stops at a step border because another one goes on in its place.
//!
//! ```text
//!   letter ─► inbox ─► Input ─► (what was begun has its outcome) ─► one commit:
//!                    the rest is not performed, last words, the ending, the other run
//! ```
//!
//! A kill leaves the run as it was, with the letter unread or folded: whoever claims it next comes
//! to the same border and makes the same other run. So the two never act at once.

use super::{DriveEnd, DriveError, Driver};
use crate::fork::{ForkSource, Provenance};
use everloop_store::ForkOrigin;
use everloop_types::journal::{EntryKind, RunCreated, Switch};

impl Driver<'_> {
    /// Ends the run for another. Nothing runs any more here, and nothing that was begun is open.
    pub(super) async fn hand_over(&mut self, switch: Switch) -> Result<DriveEnd, DriveError> {
        self.settle_outstanding("the run goes on under another loop");
        // Where an effect is unknown there is no other run, and the last words say what to do.
        if self.run.unknowns().is_empty() {
            let created = self.created().await?;
            let (run, conversation) = (self.claim.run.clone(), self.claim.conversation.clone());
            let origin = ForkOrigin { run, at_seq: self.run.last_seq() };
            let provenance = Provenance::Here;
            let ended = ForkSource { origin, created: &created, state: &self.run, provenance };
            let now = self.engine.clock.now().max(self.run.last_at());
            let successor = self.engine.succession(ended, conversation, switch, now);
            self.pending.successor = Some(Box::new(successor));
        }
        self.end(self.run.canceled()).await
    }

    pub(super) async fn created(&self) -> Result<RunCreated, DriveError> {
        let first = self.engine.store.journal().entries(&self.claim.run, 0, 1).await;
        let first = first.map_err(|source| self.failed(source))?.into_iter().next();
        match first.map(|entry| entry.kind) {
            Some(EntryKind::RunCreated(created)) => Ok(created),
            _ => unreachable!("a run that is driven was folded from its first entry"),
        }
    }
}
