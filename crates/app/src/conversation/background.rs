//! What goes on while a conversation is open: runs are driven, reminders fire, messages leave.

use crate::app::App;
use crate::delivery;
use crate::error::AppError;
use crate::upkeep;
use everloop_agenda::kept::reminders;
use everloop_engine::{Engine, Worker};
use everloop_store::{ClaimLock, Orphan};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;

/// How often a chat that may not drive runs looks whether it may.
const LOOK_AGAIN: Duration = Duration::from_millis(300);

/// How long a chat that is left waits for what it drives.
const END_WITHIN: Duration = Duration::from_secs(8);

/// The right to drive, if it was free, before anything is driven.
pub(super) struct DriveRight {
    lock: Option<Option<ClaimLock>>,
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
        let lock = app.database.take_lock(&worker)?.ok();
        let orphans = match (&lock, app.is_cluster()) {
            (_, true) => {
                engine.join(app.lease()).await?;
                engine.reap().await?
            }
            (Some(_), false) => engine.take_up().await?,
            (None, false) => Vec::new(),
        };
        Ok(Self { lock, orphans })
    }

    /// Whether this process has the right to drive.
    pub(super) fn drives(&self) -> bool {
        self.lock.is_some()
    }

    /// Looks after everything from now on.
    pub(super) fn begin(self, app: &App, engine: &Arc<Engine>) -> BackgroundTasks {
        delivery::deliver(app, engine);
        let lock = self.lock;
        let driving = Some(tokio::spawn(drive_all(app.clone(), engine.clone(), lock)));
        let mut tasks = vec![tokio::spawn(engine.clone().deliver_mail())];
        if app.is_cluster() {
            tasks.push(tokio::spawn(engine.clone().keep_lease(app.lease())));
        }
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
async fn drive_all(app: App, engine: Arc<Engine>, mut lock: Option<Option<ClaimLock>>) {
    let worker = engine.identity().worker.clone();
    while lock.is_none() {
        tokio::time::sleep(LOOK_AGAIN).await;
        lock = app.database.take_lock(&worker).ok().and_then(Result::ok);
        if lock.is_some() && !app.is_cluster() {
            // What another process left behind is ready again.
            while engine.take_up().await.is_err() {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        }
    }
    let most = app.settings.worker.runs;
    let mut worker = Worker::new(engine.clone(), most);
    if app.is_cluster() {
        worker = worker.reaping(app.lease());
    }
    // Whoever watches sees what happens to runs; a store that is gone is met by the next line.
    let _ = worker.work(|_| ()).await;
    drop(lock);
}
