//! The planted bugs of the drive, which the sweeps must find.
//!
//! Each place has one line. Without the feature `planted` every function here does nothing.

use super::DriveError;
use super::append::JournalWriter;
use super::cancel::interrupted;
use super::inbox::InboxReader;
use super::recover::EffectRecovery;
use super::tool::ToolCaller;
use everloop_store::{Commit, NextStatus};
use everloop_types::journal::Outcome;
use everloop_types::planted::{Bug, is_on};
use everloop_types::{EffectClass, EffectId};

impl JournalWriter<'_> {
    /// Writes the snapshot of a commit before most of the entries that it holds.
    pub(super) async fn plant_snapshot_ahead(
        &mut self,
        commit: &mut Commit,
    ) -> Result<(), DriveError> {
        if is_on(Bug::SnapshotAhead) && commit.snapshot.is_some() {
            let mut ahead = Commit::new(vec![commit.drafts.remove(0)], commit.now);
            ahead.snapshot = commit.snapshot.take();
            self.append(&ahead).await?;
        }
        Ok(())
    }
}

impl InboxReader<'_, '_> {
    /// Whether a cancel is noted and ignored.
    pub(super) fn plant_ignored_cancel(&self) -> bool {
        is_on(Bug::CancelForgotten) && !self.driver.begun_here.is_empty()
    }
}

impl ToolCaller<'_, '_> {
    /// Whether the intent that follows is committed with the outcome only.
    pub(super) async fn plant_late_intent(&mut self) -> Result<bool, DriveError> {
        let late = is_on(Bug::IntentAfterEffect);
        if late {
            self.driver.commit(NextStatus::GoOn).await?;
        }
        Ok(late)
    }

    /// Commits what was noted, unless a planted bug puts it off.
    pub(super) async fn commit_unless(&mut self, late: bool) -> Result<(), DriveError> {
        if late { Ok(()) } else { self.driver.commit(NextStatus::GoOn).await }
    }
}

impl EffectRecovery<'_, '_> {
    /// Writes the outcome of an effect again.
    pub(super) fn plant_second_outcome(&mut self, effect: &EffectId, why: &str) {
        if is_on(Bug::OutcomeNotUnique) {
            self.driver.note_outcome(effect.clone(), Outcome::Observed(interrupted(why)), 0);
        }
    }
}

/// The class by which recovery goes.
pub(super) fn planted_class(class: EffectClass) -> EffectClass {
    match class {
        EffectClass::Dangerous if is_on(Bug::DangerousRepeated) => EffectClass::Transactional,
        class => class,
    }
}
