//! A process that drives every run that is ready, and keeps the data tidy meanwhile.

use crate::app::App;
use crate::conversations::keep_titling;
use crate::error::AppError;
use crate::{delivery, heartbeat, scheduling, upkeep};
use everloop_agenda::kept::reminders;
use everloop_engine::{Engine, Membership, MembershipPolicy, Worker, WorkerReport};
use everloop_store::{ClaimLock, ClaimLockError, Store};
use everloop_types::WorkerId;
use std::sync::Arc;

/// Whether a process that drives runs is alive. A process that does not drive, or no longer,
/// names itself in `beside`: what it left in the list of workers does not count.
///
/// # Errors
/// If the store fails.
pub async fn has_worker(
    app: &App,
    store: &Store,
    beside: Option<&WorkerId>,
) -> Result<bool, AppError> {
    let is_other = |worker: &WorkerId| beside != Some(worker);
    if let Some(lock) = app.database.lock_file() {
        return Ok(ClaimLock::signed_by(lock).is_some_and(|holder| is_other(&holder.worker)));
    }
    let now = store.workers().time().await?;
    let all = store.workers().all().await?;
    Ok(all.iter().any(|worker| worker.expires_at > now && is_other(&worker.worker)))
}

/// A worker that has the right to claim runs.
pub struct WorkerSession {
    app: App,
    engine: Arc<Engine>,
    policy: MembershipPolicy,
    membership: Membership,
}

impl WorkerSession {
    /// Acquires the right to claim runs.
    ///
    /// # Errors
    /// [`ClaimLockError::Held`] if another process has it, or if the store fails.
    pub fn acquire(app: &App, engine: &Arc<Engine>) -> Result<Self, ClaimLockError> {
        let policy = app.membership();
        let membership = policy.acquire(&engine.identity().worker)?;
        Ok(Self { app: app.clone(), engine: engine.clone(), policy, membership })
    }

    /// Registers the worker, takes up the runs of those who died, and begins with what a worker
    /// does beside its runs.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn start(&self, report: impl Fn(WorkerReport)) -> Result<(), AppError> {
        self.policy.register(&self.engine).await?;
        // On a server the worker's own loop looks for them, and again and again.
        if let Membership::Exclusive(_) = &self.membership {
            let orphans = self.membership.recover_orphans(&self.engine).await?;
            orphans.into_iter().map(WorkerReport::TookUp).for_each(report);
        }
        let (policy, engine) = (self.policy.clone(), self.engine.clone());
        tokio::spawn(async move { policy.keep(engine).await });
        tokio::spawn(self.engine.clone().poll_inboxes());
        let clock = self.engine.shared_clock();
        let store = self.engine.store().clone();
        tokio::spawn(reminders::keep_reminding(store, self.app.agenda_config(), clock));
        tokio::spawn(scheduling::keep_starting(self.app.clone(), self.engine.clone()));
        tokio::spawn(heartbeat::keep_telling(self.app.clone(), self.engine.clone()));
        Ok(())
    }

    /// Drives what is ready, then comes back.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn drain(&self, report: impl FnMut(WorkerReport)) -> Result<(), AppError> {
        self.worker().drain(report).await?;
        delivery::deliver_now(&self.app, &self.engine).await;
        upkeep::tidy(&self.app, &self.engine).await?;
        Ok(())
    }

    /// Begins to send messages, to make titles and to keep the data tidy, for as long as the
    /// process lives.
    pub fn serve(&self) {
        delivery::deliver(&self.app, &self.engine);
        let (app, engine) = (self.app.clone(), self.engine.clone());
        tokio::spawn(keep_titling(app.clone(), engine.clone(), engine.watch()));
        tokio::spawn(upkeep::keep_tidy(app, engine));
    }

    /// Drives what is ready until the worker is told to stop.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn work(&self, report: impl FnMut(WorkerReport)) -> Result<(), AppError> {
        Ok(self.worker().work(report).await?)
    }

    /// Tells the worker to stop: what runs is stopped and written down, then given back.
    pub fn stop(&self) {
        self.engine.stop();
    }

    /// Gives the right to claim runs back.
    pub async fn end(self) {
        // If this fails the lease expires by itself.
        let _ = self.policy.unregister(&self.engine).await;
    }

    fn worker(&self) -> Worker {
        let most = self.app.settings.worker.runs;
        Worker::new(self.engine.clone(), most).with_membership(&self.membership)
    }
}
