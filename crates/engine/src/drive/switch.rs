//! A switch: a run ends at a step boundary and another one continues it.
//!
//! ```text
//!   message ─► inbox ─► Input ─► (what was begun has its outcome) ─► one commit:
//!                    the rest is not performed, last words, the ending, the other run
//! ```
//!
//! After a crash the message is still unread or already folded: the next driver comes to the same
//! boundary and creates the same successor. So the two never act at once.

use super::{DriveEnd, DriveError, Driver};
use crate::fork::{ForkSource, Forker, Provenance};
use everloop_store::ForkOrigin;
use everloop_types::journal::{EntryKind, RunCreated, Switch};

impl Driver<'_> {
    /// Ends the run in favour of another. No call is running, and every begun effect has its
    /// outcome.
    pub(super) async fn hand_over(&mut self, switch: Switch) -> Result<DriveEnd, DriveError> {
        self.settle_outstanding("the run goes on under another loop");
        // While an effect is unknown there is no successor, and the last message says what to do.
        if self.run.unknowns().is_empty() {
            let created = self.created().await?;
            let (run, conversation) = (self.claim.run.clone(), self.claim.conversation.clone());
            let origin = ForkOrigin { run, at_seq: self.run.last_seq() };
            let provenance = Provenance::Here;
            let ended = ForkSource { origin, created: &created, state: &self.run, provenance };
            let now = self.engine.clock.now().max(self.run.last_at());
            let successor =
                Forker { engine: self.engine }.succession(ended, conversation, switch, now);
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
