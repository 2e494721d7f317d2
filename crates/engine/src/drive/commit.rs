//! Commits: what was noted becomes durable, and a reply that was lost is read back.

use super::{DriveError, Driver};
use crate::{Auditor, Summary, Update};
use everloop_store::{Commit, NextStatus, Position, StoreError};
use everloop_types::journal::{Entry, EntryKind, SnapshotTaken};
use everloop_types::planted::{self, Bug};
use everloop_types::{RunId, Status, digest_bytes};

/// Tries at a store that fails for a moment.
const STORE_TRIES_MAX: u32 = 5;

impl Driver<'_> {
    /// Makes everything noted so far durable, and only then shows it to watchers.
    pub(super) async fn commit(&mut self, then: NextStatus) -> Result<(), DriveError> {
        let now = self.engine.clock.now();
        if self.pending.drafts.is_empty() && matches!(then, NextStatus::GoOn) {
            return Ok(());
        }
        let mut commit = std::mem::replace(&mut self.pending, Commit::new(Vec::new(), now));
        commit.then = then;
        commit.now = now;
        self.add_snapshot(&mut commit);
        self.plant_snapshot_ahead(&mut commit).await?;
        let entries = self.append(&commit).await?;
        if matches!(commit.then, NextStatus::Finish(_)) && self.run.unaccounted().is_empty() {
            self.engine.environment.forget(&self.claim.run);
        }
        super::log::log_entries(&entries);
        self.audit(&entries);
        let run = &self.claim.run;
        for entry in entries {
            self.engine.watchers.send(|| Update::Entry(run.clone(), Box::new(entry)));
        }
        self.remember();
        Ok(())
    }

    /// Reads the journal, so that the outcome of a call that was planned earlier is logged with its
    /// arguments. What was logged earlier is not logged again.
    pub(super) async fn open_audit(&mut self) -> Result<(), DriveError> {
        if self.engine.environment.audit_log().is_none() {
            return Ok(());
        }
        let run = self.claim.run.clone();
        let failed = |source| DriveError::Store { run: run.clone(), source };
        let Some(row) = self.engine.store.runs().get(&run).await.map_err(failed)? else {
            return Ok(());
        };
        let mut auditor = Auditor::new(row.origin.forked.as_ref());
        for entry in
            self.engine.store.journal().entries(&run, 0, usize::MAX).await.map_err(failed)?
        {
            auditor.entry(&entry);
        }
        self.kept.audit = Some(Box::new((auditor, row)));
        Ok(())
    }

    /// Logs the calls that ended with these durable entries.
    fn audit(&mut self, entries: &[Entry]) {
        let (Some(log), Some(audit)) = (self.engine.environment.audit_log(), &mut self.kept.audit)
        else {
            return;
        };
        let (auditor, row) = audit.as_mut();
        for call in entries.iter().flat_map(|entry| auditor.entry(entry)) {
            log.write(&call, row);
        }
    }

    /// Passes a summary on once it is durable. Nothing happens in between, so after a crash only
    /// the newest one can be missing.
    pub(super) fn remember(&mut self) {
        let Some((number, text)) = self.run.summary().filter(|(n, _)| *n > self.kept.summary)
        else {
            return;
        };
        let (run, at) = (&self.claim.run, self.run.last_at());
        let untrusted = !self.run.holding().untrusted.is_empty();
        let summary = Summary { run, number, text: &text, at, untrusted };
        self.engine.environment.remember(self.run.frame(), &summary);
        self.kept.summary = number;
    }

    /// A commit with an unknown result is read back before anything else happens (W3).
    pub(super) async fn append(&mut self, commit: &Commit) -> Result<Vec<Entry>, DriveError> {
        let run = self.claim.run.clone();
        let expected = self.claim.next_seq + commit.drafts.len() as i64;
        let mut tries = 0;
        loop {
            let error =
                match self.engine.store.journal().append(&mut self.claim, commit.clone()).await {
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

    /// Snapshots come at growing distances, so that all of them together cost no more than the
    /// journal.
    fn add_snapshot(&mut self, commit: &mut Commit) {
        let seq = self.run.last_seq();
        let due = self.engine.rules.snapshot_every.max(self.kept.snapshot_at);
        if seq - self.kept.snapshot_at < due || self.run.ended().is_some() {
            return;
        }
        let state_hash = digest_bytes(self.run.state().as_bytes());
        self.pending.drafts = std::mem::take(&mut commit.drafts);
        self.note(None, EntryKind::SnapshotTaken(SnapshotTaken { state_hash }));
        commit.drafts = std::mem::take(&mut self.pending.drafts);
        let state = self.run.state();
        commit.snapshot = Some((digest_bytes(state.as_bytes()), state));
        self.kept.snapshot_at = seq;
    }
}

/// Whether a commit was applied. One without entries does not move the position; then the status
/// decides.
fn was_applied(commit: &Commit, place: &Position) -> bool {
    let still_ours = place.status == Status::Running;
    !commit.drafts.is_empty() || still_ours == (commit.then == NextStatus::GoOn)
}
