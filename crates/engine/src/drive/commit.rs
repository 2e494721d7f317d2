//! Commits: what was noted becomes durable.

use super::append::JournalWriter;
use super::{DriveError, Driver};
use crate::Update;
use everloop_store::{Commit, NextStatus};
use everloop_types::digest_bytes;
use everloop_types::journal::{EntryKind, SnapshotTaken};

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
        let mut writer = JournalWriter { engine: self.engine, claim: &mut self.claim };
        writer.plant_snapshot_ahead(&mut commit).await?;
        let entries = writer.append(&commit).await?;
        if !commit.started.is_empty() {
            self.engine.inbox_signals.wake_workers();
        }
        if matches!(commit.then, NextStatus::Finish(_)) && self.run.unaccounted().is_empty() {
            self.engine.environment.forget(&self.claim.run);
        }
        super::log::log_entries(&entries);
        self.kept.audit(&entries);
        let run = &self.claim.run;
        for entry in entries {
            self.engine.watchers.send(Update::Entry(run.clone(), Box::new(entry)));
        }
        self.kept.remember(&self.claim.run, &self.run).await;
        Ok(())
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
