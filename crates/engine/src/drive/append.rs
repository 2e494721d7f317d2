//! Appending to the journal. A reply that was lost is read back.

use super::DriveError;
use crate::Engine;
use everloop_store::{Claim, Commit, NextStatus, Position, StoreError};
use everloop_types::journal::Entry;
use everloop_types::planted::{self, Bug};
use everloop_types::{RunId, Status};

/// Tries at a store that fails for a moment.
const STORE_TRIES_MAX: u32 = 5;

/// Writes to the journal of a claimed run.
pub(super) struct JournalWriter<'d> {
    pub(super) engine: &'d Engine,
    /// Moves with every append.
    pub(super) claim: &'d mut Claim,
}

impl JournalWriter<'_> {
    /// A commit with an unknown result is read back before anything else happens (W3).
    pub(super) async fn append(&mut self, commit: &Commit) -> Result<Vec<Entry>, DriveError> {
        let run = self.claim.run.clone();
        let expected = self.claim.next_seq + commit.drafts.len() as i64;
        let mut tries = 0;
        loop {
            let error = match self.engine.store.journal().append(self.claim, commit.clone()).await {
                Ok(entries) => return Ok(entries),
                Err(StoreError::LeaseLost { .. }) => return Err(DriveError::LeaseLost(run)),
                Err(error) => error,
            };
            tries += 1;
            super::log::log_store_retry(&error);
            let place = self.confirmed_position(&run).await?;
            match place.filter(|_| !planted::is_on(Bug::LostReplyNotReadBack)) {
                Some(place) if place.epoch != self.claim.epoch => {
                    return Err(DriveError::LeaseLost(run));
                }
                Some(place) if place.next_seq == expected && was_applied(commit, &place) => {
                    self.claim.next_seq = expected;
                    let from = expected - commit.drafts.len() as i64 - 1;
                    let entries =
                        self.engine.store.journal().entries(&run, from, commit.drafts.len()).await;
                    return entries.map_err(|source| DriveError::Store { run, source });
                }
                _ if error.is_transient() && tries < STORE_TRIES_MAX => {
                    self.engine.clock.pause(self.engine.rules.backoff(tries, None)).await;
                }
                _ => return Err(DriveError::Store { run, source: error }),
            }
        }
    }

    /// After a failed commit nothing may happen before the run's position is known.
    async fn confirmed_position(&self, run: &RunId) -> Result<Option<Position>, DriveError> {
        let mut tries = 0;
        loop {
            match self.engine.store.runs().position(run).await {
                Ok(place) => return Ok(place),
                Err(source) if tries >= STORE_TRIES_MAX => {
                    return Err(DriveError::Store { run: run.clone(), source });
                }
                Err(_) => tries += 1,
            }
            self.engine.clock.pause(self.engine.rules.backoff(tries, None)).await;
        }
    }
}

/// Whether a commit was applied. One without entries does not move the position; then the status
/// decides.
fn was_applied(commit: &Commit, place: &Position) -> bool {
    let still_ours = place.status == Status::Running;
    !commit.drafts.is_empty() || still_ours == (commit.then == NextStatus::GoOn)
}
