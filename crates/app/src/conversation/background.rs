//! What goes on while a conversation is open: runs are driven, reminders fire, messages leave.

use crate::app::App;
use crate::delivery;
use crate::error::AppError;
use crate::upkeep;
use everloop_agenda::kept::reminders;
use everloop_engine::{Engine, Membership, Worker};
use everloop_store::{ClaimLockError, Orphan};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;

/// How often a chat that may not drive runs looks whether it may.
const LOOK_AGAIN: Duration = Duration::from_millis(300);

/// How long a chat that is left waits for what it drives.
const END_WITHIN: Duration = Duration::from_secs(8);

/// The right to drive, if it was free, before anything is driven.
pub(super) struct DriveRight {
    membership: Option<Membership>,
    /// Runs that an earlier process had left in the middle.
    pub(super) orphans: Vec<Orphan>,
}

/// Ends with the chat.
pub(super) struct BackgroundTasks {
    driving: Option<JoinHandle<()>>,
    tasks: Vec<JoinHandle<()>>,
}

impl DriveRight {
    /// Takes the right to drive if it is free.
    pub(super) async fn take(app: &App, engine: &Arc<Engine>) -> Result<Self, AppError> {
        let worker = engine.identity().worker.clone();
        let policy = app.membership();
        let membership = match policy.acquire(&worker) {
            Ok(membership) => Some(membership),
            Err(ClaimLockError::Held(_)) => None,
            Err(ClaimLockError::Store(error)) => return Err(error.into()),
        };
        policy.register(engine).await?;
        let orphans = match &membership {
            Some(membership) => membership.recover_orphans(engine).await?,
            None => Vec::new(),
        };
        Ok(Self { membership, orphans })
    }

    /// Whether this process has the right to drive.
    pub(super) fn drives(&self) -> bool {
        self.membership.is_some()
    }

    /// Looks after everything from now on.
    pub(super) fn begin(self, app: &App, engine: &Arc<Engine>) -> BackgroundTasks {
        delivery::deliver(app, engine);
        let policy = app.membership();
        let driving = drive_all(app.clone(), engine.clone(), self.membership);
        let driving = Some(tokio::spawn(driving));
        let mut tasks = vec![tokio::spawn(engine.clone().poll_inboxes())];
        let keeper = engine.clone();
        tasks.push(tokio::spawn(async move { policy.keep(keeper).await }));
        let (store, customs) = (engine.store().clone(), app.customs());
        let clock = engine.shared_clock();
        tasks.push(tokio::spawn(reminders::keep_reminding(store, customs, clock)));
        tasks.push(tokio::spawn(upkeep::keep_tidy(app.clone(), engine.clone())));
        BackgroundTasks { driving, tasks }
    }
}

impl BackgroundTasks {
    /// Stops what is driven within its grace, and gives it back.
    pub(super) async fn end(mut self, engine: &Engine) {
        engine.stop();
        if let Some(driving) = self.driving.take() {
            let _ = tokio::time::timeout(END_WITHIN, driving).await;
        }
        // On a server a lease that is not given back runs out by itself.
        let _ = engine.leave().await;
    }
}

impl Drop for BackgroundTasks {
    fn drop(&mut self) {
        self.tasks.iter().chain(&self.driving).for_each(JoinHandle::abort);
    }
}

/// Drives every run that is ready, as soon as no other process has the right to.
async fn drive_all(app: App, engine: Arc<Engine>, held: Option<Membership>) {
    let membership = match held {
        Some(membership) => membership,
        None => await_membership(&app, &engine).await,
    };
    let most = app.settings.worker.runs;
    let mut worker = Worker::new(engine.clone(), most).with_membership(&membership);
    // Whoever watches sees what happens to runs; a store that is gone is met by the next line.
    let _ = worker.work(|_| ()).await;
    drop(membership);
}

/// Waits until no other process drives runs, and puts back what that process left behind.
async fn await_membership(app: &App, engine: &Engine) -> Membership {
    let policy = app.membership();
    let membership = loop {
        tokio::time::sleep(LOOK_AGAIN).await;
        if let Ok(membership) = policy.acquire(&engine.identity().worker) {
            break membership;
        }
    };
    while membership.recover_orphans(engine).await.is_err() {
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    membership
}
