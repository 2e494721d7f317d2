//! Membership of a worker on a shared database: a lease on its clock, renewed by heartbeats.
//!
//! ```text
//!   join ──► beat every 5 s ──► leave
//!              ├─ no answer for 20 s ──► fence: every driver is dropped, nothing is claimed
//!              └─ the lease ran out  ──► fence, then join again
//! ```
//!
//! The fence comes before the lease runs out, so that this process has stopped when others take
//! over. It uses a clock that counts sleep: a process that was paused for longer than its lease is
//! fenced when it resumes. Deliberately absent: safety, which the epoch in the store provides.

use crate::presence;
use crate::quarantine::Quarantine;
use crate::worker::log_orphan;
use crate::{Engine, Signal};
use everloop_store::{Heartbeat, Orphan, Store, StoreError};
use everloop_types::journal::EntryKind;
use everloop_types::{EffectId, WorkerId};
use std::sync::Arc;

/// The times of a lease, all derived from its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseTimes {
    /// How long a worker may be silent before it is presumed dead.
    pub lease_ms: u64,
}

impl Default for LeaseTimes {
    fn default() -> Self {
        Self { lease_ms: 30_000 }
    }
}

impl LeaseTimes {
    /// Between two heartbeats.
    #[must_use]
    pub fn beat_ms(self) -> u64 {
        self.lease_ms / 6
    }

    /// Silence after which a worker fences itself.
    #[must_use]
    pub fn fence_ms(self) -> u64 {
        self.lease_ms / 3 * 2
    }

    fn length(self) -> i64 {
        i64::try_from(self.lease_ms).unwrap_or(i64::MAX)
    }
}

/// Whether this process may drive. Without a cluster it always may.
#[derive(Debug)]
pub(crate) struct LeaseState {
    state: Signal<LeaseFlags>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LeaseFlags {
    /// Raised by every fence: what began before it must end.
    fences: u64,
    may_claim: bool,
}

impl Default for LeaseState {
    fn default() -> Self {
        Self { state: Signal::new(LeaseFlags { fences: 0, may_claim: true }) }
    }
}

impl LeaseState {
    pub(crate) fn may_claim(&self) -> bool {
        self.state.get().may_claim
    }

    pub(crate) fn fences(&self) -> u64 {
        self.state.get().fences
    }

    /// Returns once there was a fence after `fences`.
    pub(crate) async fn fenced_after(&self, fences: u64) {
        self.state.wait_for(|state| state.fences > fences).await;
    }

    fn fence(&self) {
        self.state.change(|state| {
            let was_open = std::mem::replace(&mut state.may_claim, false);
            state.fences += u64::from(was_open);
        });
    }

    fn open(&self) {
        self.state.change(|state| state.may_claim = true);
    }
}

impl Engine {
    /// Registers among the workers of a shared database.
    ///
    /// # Errors
    /// If it could not be written.
    pub async fn join(&self, times: LeaseTimes) -> Result<(), StoreError> {
        let (worker, build) = (&self.identity.worker, &self.identity.build);
        let place = presence::here();
        let shown = self.store.workers().register(worker, build, &place, times.length()).await?;
        self.clock.agree(shown);
        self.lease.open();
        Ok(())
    }

    /// Unregisters, so that no other worker waits for this lease.
    ///
    /// # Errors
    /// If it could not be written; the lease then runs out by itself.
    pub async fn leave(&self) -> Result<(), StoreError> {
        self.lease.fence();
        self.store.workers().leave(&self.identity.worker).await
    }

    /// Keeps the lease for as long as the process lives.
    ///
    /// A beat that fails is tried again soon; a silence that lasts too long fences this process
    /// until the database can be reached again.
    pub async fn keep_lease(self: Arc<Self>, times: LeaseTimes) {
        let mut answered_at = self.clock.since_boot_ms();
        let mut pause_ms = times.beat_ms();
        loop {
            self.clock.pause(pause_ms).await;
            let sent_at = self.clock.since_boot_ms();
            if sent_at.saturating_sub(answered_at) >= times.fence_ms() {
                self.lease.fence();
            }
            pause_ms = match self.beat(times, answered_at).await {
                Some(Heartbeat::Kept(shown)) => {
                    answered_at = sent_at;
                    self.clock.agree(shown);
                    self.lease.open();
                    times.beat_ms()
                }
                Some(Heartbeat::Lost) => {
                    tracing::warn!(worker = %self.identity.worker, "lease of this worker lost");
                    self.lease.fence();
                    // If this fails, the next beat finds no lease either and tries again.
                    if self.join(times).await.is_ok() {
                        answered_at = sent_at;
                    }
                    times.beat_ms() / 5
                }
                None => {
                    tracing::warn!(worker = %self.identity.worker, "heartbeat not answered");
                    times.beat_ms() / 5
                }
            };
        }
    }

    /// One heartbeat, abandoned when the fence is due: a database may also never answer.
    async fn beat(&self, times: LeaseTimes, answered_at: u64) -> Option<Heartbeat> {
        let silent_ms = self.clock.since_boot_ms().saturating_sub(answered_at);
        let left_ms = times.fence_ms().saturating_sub(silent_ms).max(times.beat_ms());
        let workers = self.store.workers();
        let heartbeat = workers.heartbeat(&self.identity.worker, times.length());
        tokio::select! {
            biased;
            beat = heartbeat => beat.ok(),
            () = self.clock.pause(left_ms) => None,
        }
    }

    /// Puts back the runs of workers that are proved dead or whose lease has run out, and gives
    /// those that are quarantined their last message.
    ///
    /// # Errors
    /// If it could not be written.
    pub async fn reap(&self) -> Result<Vec<Orphan>, StoreError> {
        let mut orphans = Vec::new();
        for row in self.store.workers().all().await? {
            let now = self.clock.now();
            if row.expires_at > now && presence::is_proved_dead(&row.place) {
                orphans.extend(self.store.workers().bury(&row.worker, now).await?);
            }
        }
        orphans.extend(self.store.workers().reap(self.clock.now()).await?);
        for orphan in &orphans {
            log_orphan(orphan);
            Quarantine { engine: self }.write_last_message(&orphan.run).await?;
        }
        Ok(orphans)
    }
}

/// The process that began an effect.
pub(crate) struct EffectOwner<'e> {
    pub(crate) store: &'e Store,
    pub(crate) effect: &'e EffectId,
}

impl EffectOwner<'_> {
    /// Whether it is proved dead: a process of this machine that is gone.
    pub(crate) async fn is_proved_dead(&self) -> bool {
        let Some(worker) = self.worker().await else { return false };
        let workers = self.store.workers().all().await.unwrap_or_default();
        let place = workers.iter().find(|row| row.worker == worker).map(|row| &row.place);
        place.is_some_and(|place| presence::is_proved_dead(place))
    }

    /// The worker in whose epoch the effect was begun last.
    async fn worker(&self) -> Option<WorkerId> {
        let journal = self.store.journal();
        let entries = journal.entries(&self.effect.run, 0, usize::MAX).await.ok()?;
        let begun = entries.iter().rev().find(|entry| {
            matches!(entry.kind, EntryKind::EffectStarted(_))
                && entry.effect.as_ref() == Some(self.effect)
        })?;
        entries.iter().rev().find_map(|entry| match &entry.kind {
            EntryKind::EpochStarted(started) if entry.epoch == begun.epoch => {
                Some(started.worker.clone())
            }
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_gives_up_before_others_take_over() {
        let times = LeaseTimes::default();
        assert_eq!((times.beat_ms(), times.fence_ms()), (5_000, 20_000));
        assert!(times.fence_ms() < times.lease_ms);
    }

    #[tokio::test]
    async fn a_fence_that_was_missed_still_counts() {
        let standing = LeaseState::default();
        let begun = standing.fences();
        standing.fence();
        standing.fence();
        standing.open();
        assert!(standing.may_claim());
        assert_eq!(standing.fences(), begun + 1);
        standing.fenced_after(begun).await;
    }
}
