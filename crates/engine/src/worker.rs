//! A worker: claims what is ready, drives it, many runs at once.

use crate::drive::log::log_store_retry;
use crate::quarantine::Quarantine;
use crate::{DriveEnd, DriveError, Engine, LeaseTimes};
use everloop_store::{Claim, Orphan, StoreError};
use everloop_types::{RunId, UtcMs};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::task::{Id, JoinError, JoinSet};

const IDLE_MS: u64 = 250;
const STORE_PAUSE_MS: u64 = 1_000;
/// How long a run that needs a newer program is left to newer programs.
const NEWER_PAUSE_MS: u64 = 60_000;

/// Drives every run that is ready. The caller holds the right to claim runs.
pub struct Worker {
    engine: Arc<Engine>,
    most: usize,
    driving: JoinSet<Result<DriveEnd, DriveError>>,
    claims: BTreeMap<Id, Claim>,
    /// Claims that are not driven any more and could not be released yet.
    loose: Vec<(Claim, FailureCause)>,
    /// When the last run that was released is ready again.
    ready_at: UtcMs,
    /// Whether runs may have been claimed though the reply was lost.
    unsure: bool,
    reaping: Option<ReapSchedule>,
}

/// When a worker looks for dead workers. On a database of its own there are none.
#[derive(Debug, Clone, Copy)]
struct ReapSchedule {
    every_ms: u64,
    due_at: u64,
}

/// Why a run was not driven further.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FailureCause {
    /// The run itself: after five times in a row it is quarantined.
    Run,
    /// The store: the run waits a moment.
    Store,
    /// This program, which is too old for the run: another one may take it.
    Program,
}

/// What a worker reports.
#[derive(Debug)]
pub enum WorkerReport {
    /// A run was claimed.
    Claimed(RunId),
    /// A run ended or waits.
    Driven(RunId, DriveEnd),
    /// A run could not be driven now.
    Failed(RunId, DriveError),
    /// A run made its driver crash, and was put back.
    Stalled(RunId),
    /// A run did so too often, and was quarantined.
    PutAside(RunId),
    /// The worker of a run is dead or silent; the run is ready again, or quarantined.
    TookUp(Orphan),
}

impl Worker {
    /// A worker that drives at most `most` runs at once.
    #[must_use]
    pub fn new(engine: Arc<Engine>, most: usize) -> Self {
        let (driving, claims) = (JoinSet::new(), BTreeMap::new());
        let (most, loose) = (most.max(1), Vec::new());
        Self { engine, most, driving, claims, loose, ready_at: 0, unsure: false, reaping: None }
    }

    /// A worker among others: it puts back the runs of dead ones.
    #[must_use]
    pub fn reaping(mut self, times: LeaseTimes) -> Self {
        self.reaping = Some(ReapSchedule { every_ms: times.beat_ms(), due_at: 0 });
        self
    }

    /// Works until the engine is to stop, then lets every driver reach its durable point.
    ///
    /// A store that fails for a moment is waited for.
    ///
    /// # Errors
    /// If the store cannot be used any more.
    pub async fn work(&mut self, mut report: impl FnMut(WorkerReport)) -> Result<(), StoreError> {
        let stopping = self.engine.stopping.clone();
        while !stopping.is_cancelled() {
            let woken = self.engine.inbox_signals.ready.get();
            self.look(&mut report).await?;
            tokio::select! {
                biased;
                () = stopping.cancelled() => {}
                Some(ended) = self.driving.join_next_with_id() => self.ended(ended, &mut report),
                () = idle_until_woken(&self.engine, woken) => {}
            }
        }
        while let Some(ended) = self.driving.join_next_with_id().await {
            self.ended(ended, &mut report);
        }
        self.settle_loose(&mut report).await
    }

    /// Works until nothing is ready and nothing is under way.
    ///
    /// # Errors
    /// If the store cannot be used any more.
    pub async fn drain(&mut self, mut report: impl FnMut(WorkerReport)) -> Result<(), StoreError> {
        loop {
            let claimed = self.look(&mut report).await?;
            match self.driving.join_next_with_id().await {
                Some(ended) => self.ended(ended, &mut report),
                None if claimed == ClaimResult::Nothing && !self.expects_more() => return Ok(()),
                None => idle(&self.engine).await,
            }
        }
    }

    /// Drops every driver at once, as a crash does, and waits until all of them are gone. Their
    /// runs are orphans then.
    pub async fn abort(mut self) {
        self.driving.shutdown().await;
    }

    fn expects_more(&self) -> bool {
        !self.loose.is_empty() || self.engine.clock.now() <= self.ready_at
    }

    /// Releases loose claims and claims ready runs; waits a moment if the store fails.
    async fn look(
        &mut self,
        report: &mut impl FnMut(WorkerReport),
    ) -> Result<ClaimResult, StoreError> {
        match self.reconcile_then_claim(report).await {
            Err(error) if error.is_transient() => {
                log_store_retry(&error);
                self.engine.clock.pause(STORE_PAUSE_MS).await;
                Ok(ClaimResult::Unknown)
            }
            looked => looked,
        }
    }

    async fn reconcile_then_claim(
        &mut self,
        report: &mut impl FnMut(WorkerReport),
    ) -> Result<ClaimResult, StoreError> {
        self.settle_loose(report).await?;
        self.reap(report).await?;
        self.claim(report).await
    }

    async fn reap(&mut self, report: &mut impl FnMut(WorkerReport)) -> Result<(), StoreError> {
        let now = self.engine.clock.since_boot_ms();
        let Some(reaping) = self.reaping.as_mut().filter(|reaping| reaping.due_at <= now) else {
            return Ok(());
        };
        reaping.due_at = now + reaping.every_ms;
        // A claim may also take effect after the query that followed its error.
        self.unsure = true;
        for orphan in self.engine.reap().await? {
            report(WorkerReport::TookUp(orphan));
        }
        Ok(())
    }

    async fn claim(
        &mut self,
        report: &mut impl FnMut(WorkerReport),
    ) -> Result<ClaimResult, StoreError> {
        let free = self.most.saturating_sub(self.driving.len());
        if free == 0 || !self.engine.lease.may_claim() {
            return Ok(ClaimResult::Nothing);
        }
        let mut claimed = ClaimResult::Nothing;
        if self.unsure {
            let claims = self.orphaned_claims().await?;
            claimed = self.take_on(claims, report).or(claimed);
        }
        let (engine, now) = (self.engine.clone(), self.engine.clock.now());
        let claims = match engine.store.queue().claim(&engine.identity.worker, now, free).await {
            Err(StoreError::Unknown { .. }) => self.orphaned_claims().await?,
            claims => claims?,
        };
        Ok(self.take_on(claims, report).or(claimed))
    }

    fn take_on(
        &mut self,
        claims: Vec<Claim>,
        report: &mut impl FnMut(WorkerReport),
    ) -> ClaimResult {
        let claimed = if claims.is_empty() { ClaimResult::Nothing } else { ClaimResult::Something };
        for claim in claims {
            report(WorkerReport::Claimed(claim.run.clone()));
            let (engine, held) = (self.engine.clone(), claim.clone());
            let task = self.driving.spawn(async move { engine.drive(claim).await });
            self.claims.insert(task.id(), held);
        }
        claimed
    }

    /// Claims that may have been made in spite of an error: those of this worker that are not
    /// driven. Until they can be read, nothing else is claimed.
    async fn orphaned_claims(&mut self) -> Result<Vec<Claim>, StoreError> {
        self.unsure = true;
        let held = self.engine.store.queue().held_by(&self.engine.identity.worker).await?;
        self.unsure = false;
        Ok(held.into_iter().filter(|claim| !self.is_driven(claim)).collect())
    }

    fn is_driven(&self, claim: &Claim) -> bool {
        let loose = self.loose.iter().map(|(loose, _)| loose);
        self.claims.values().chain(loose).any(|known| known.run == claim.run)
    }

    /// A driver that panicked must not end the worker, nor be retried for ever.
    fn ended(
        &mut self,
        ended: Result<(Id, Result<DriveEnd, DriveError>), JoinError>,
        report: &mut impl FnMut(WorkerReport),
    ) {
        let id = match &ended {
            Ok((id, _)) => *id,
            Err(error) => error.id(),
        };
        let Some(claim) = self.claims.remove(&id) else { return };
        let run = claim.run.clone();
        match ended {
            Ok((_, Ok(driven))) => report(WorkerReport::Driven(run, driven)),
            Ok((_, Err(error))) => {
                match &error {
                    DriveError::Store { source, .. } if !source.is_transient() => {
                        self.loose.push((claim, FailureCause::Run));
                    }
                    // Releasing does nothing if the lease is really lost.
                    DriveError::Store { .. } | DriveError::LeaseLost(_) => {
                        self.loose.push((claim, FailureCause::Store));
                    }
                    // Another worker may be a newer program; a single worker has no other.
                    DriveError::Newer { .. } if self.reaping.is_some() => {
                        self.loose.push((claim, FailureCause::Program));
                    }
                    DriveError::Quarantined { .. } | DriveError::Newer { .. } => {}
                }
                report(WorkerReport::Failed(run, error));
            }
            Err(_) => {
                tracing::error!(run = %run, "driver panicked");
                self.loose.push((claim, FailureCause::Run));
                report(WorkerReport::Stalled(run));
            }
        }
    }

    async fn settle_loose(
        &mut self,
        report: &mut impl FnMut(WorkerReport),
    ) -> Result<(), StoreError> {
        while let Some((claim, blame)) = self.loose.first().cloned() {
            let (engine, now) = (&self.engine, self.engine.clock.now());
            match blame {
                FailureCause::Store => {
                    let wake_at = now.saturating_add_unsigned(STORE_PAUSE_MS);
                    engine.store.queue().release(&claim, wake_at).await?;
                    self.ready_at = self.ready_at.max(wake_at);
                }
                FailureCause::Program => {
                    let wake_at = now.saturating_add_unsigned(NEWER_PAUSE_MS);
                    engine.store.queue().release(&claim, wake_at).await?;
                }
                FailureCause::Run => {
                    engine.store.queue().stalled(&claim, now).await?;
                    let quarantine = Quarantine { engine };
                    if quarantine.write_last_message(&claim.run).await? {
                        report(WorkerReport::PutAside(claim.run.clone()));
                    }
                }
            }
            self.loose.remove(0);
        }
        Ok(())
    }
}

/// A run whose worker is gone.
pub(crate) fn log_orphan(orphan: &Orphan) {
    let status = orphan.status_now.as_str();
    let goal = &orphan.goal;
    tracing::info!(
        run = %orphan.run, status, content.goal = %goal, "run of a dead worker taken up"
    );
}

/// A random pause, so that not all workers poll at the same time.
async fn idle(engine: &Engine) {
    let jitter = engine.clock.since_boot_ms() % (IDLE_MS / 4);
    engine.clock.pause(IDLE_MS + jitter).await;
}

/// Other processes make runs ready as well, so a worker also polls without a signal.
async fn idle_until_woken(engine: &Engine, woken: u64) {
    tokio::select! {
        biased;
        _ = engine.inbox_signals.ready.wait_for(|times| *times > woken) => {}
        () = idle(engine) => {}
    }
}

/// Whether anything was claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClaimResult {
    Something,
    Nothing,
    /// The store failed.
    Unknown,
}

impl ClaimResult {
    fn or(self, other: Self) -> Self {
        if self == Self::Something { self } else { other }
    }
}

impl Engine {
    /// Puts the runs of dead processes back, and gives those that are quarantined their last
    /// message.
    ///
    /// # Errors
    /// If it could not be written.
    pub async fn take_up(&self) -> Result<Vec<Orphan>, StoreError> {
        self.store.live().into_iter().for_each(|live| live.clear());
        let orphans = self.store.queue().requeue_orphans(self.clock.now()).await?;
        for orphan in &orphans {
            log_orphan(orphan);
            Quarantine { engine: self }.write_last_message(&orphan.run).await?;
        }
        Ok(orphans)
    }
}
