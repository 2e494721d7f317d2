//! What goes on while a chat or a server is open: runs are driven, reminders fire, messages leave.

use crate::app::App;
use crate::conversations::keep_titling;
use crate::delivery;
use crate::error::{AppError, chain};
use crate::heartbeat;
use crate::scheduling;
use crate::upkeep;
use everloop_agenda::kept::reminders;
use everloop_engine::{Engine, Membership, Worker};
use everloop_store::{ClaimLockError, Orphan};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::task::JoinHandle;

/// How often a chat that may not drive runs looks whether it may.
const LOOK_AGAIN: Duration = Duration::from_millis(300);

/// How long a process waits after an error of its store before it drives runs again.
const RESTART_PAUSE: Duration = Duration::from_secs(5);

/// How long a chat that is left waits for what it drives.
const END_WITHIN: Duration = Duration::from_secs(8);

/// The right to drive, if it was free, before anything is driven.
pub(crate) struct DriveRight {
    membership: Option<Membership>,
    /// Runs that an earlier process had left in the middle.
    pub(crate) orphans: Vec<Orphan>,
}

/// Whether this process has the right to drive by now.
#[derive(Debug, Clone)]
pub(crate) struct DriveFlag(Arc<AtomicBool>);

impl DriveFlag {
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    fn set(&self, drives: bool) {
        self.0.store(drives, Ordering::Release);
    }
}

/// Ends with the chat or the server.
pub(crate) struct BackgroundTasks {
    driving: Option<JoinHandle<()>>,
    /// Whether this process has the right to drive by now.
    drives: DriveFlag,
    tasks: Vec<JoinHandle<()>>,
    /// What is begun anew when the settings change.
    by_settings: Vec<JoinHandle<()>>,
}

impl DriveRight {
    /// Takes the right to drive if it is free.
    pub(crate) async fn take(app: &App, engine: &Arc<Engine>) -> Result<Self, AppError> {
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
    pub(crate) fn drives(&self) -> bool {
        self.membership.is_some()
    }

    /// Looks after everything from now on.
    pub(crate) fn begin(self, app: &App, engine: &Arc<Engine>) -> BackgroundTasks {
        let policy = app.membership();
        let drives = DriveFlag(Arc::new(AtomicBool::new(self.drives())));
        let driving = drive_all(app.clone(), engine.clone(), self.membership, drives.clone());
        let driving = Some(tokio::spawn(driving));
        let mut tasks = vec![tokio::spawn(engine.clone().poll_inboxes())];
        let keeper = engine.clone();
        tasks.push(tokio::spawn(async move { policy.keep(keeper).await }));
        let by_settings = begin_by_settings(app, engine);
        BackgroundTasks { driving, drives, tasks, by_settings }
    }
}

impl BackgroundTasks {
    /// Tells whether this process has the right to drive by now.
    pub(crate) fn drive_flag(&self) -> DriveFlag {
        self.drives.clone()
    }

    /// Goes on with other settings. Each of these tasks may be ended at any moment: what it had
    /// begun is in the database, or it has not happened.
    pub(crate) fn follow_settings(&mut self, app: &App, engine: &Arc<Engine>) {
        self.by_settings.iter().for_each(JoinHandle::abort);
        self.by_settings = begin_by_settings(app, engine);
    }

    /// Stops what is driven within its grace, and gives it back.
    pub(crate) async fn end(mut self, engine: &Engine) {
        engine.stop();
        // Whoever waits for the right to drive has nothing to bring to an end.
        if self.drives.is_set()
            && let Some(driving) = self.driving.take()
        {
            let _ = tokio::time::timeout(END_WITHIN, driving).await;
        }
        // On a server a lease that is not given back runs out by itself.
        let _ = engine.leave().await;
    }
}

impl Drop for BackgroundTasks {
    fn drop(&mut self) {
        let all = self.tasks.iter().chain(&self.by_settings).chain(&self.driving);
        all.for_each(JoinHandle::abort);
    }
}

/// Messages to channels, reminders, schedules, reports, upkeep and titles, as these settings have
/// them.
fn begin_by_settings(app: &App, engine: &Arc<Engine>) -> Vec<JoinHandle<()>> {
    let (store, clock) = (engine.store().clone(), engine.shared_clock());
    let titling = keep_titling(app.clone(), engine.clone(), engine.watch());
    vec![
        tokio::spawn(delivery::keep_delivering(app.clone(), engine.clone())),
        tokio::spawn(reminders::keep_reminding(store, app.agenda_config(), clock)),
        tokio::spawn(scheduling::keep_starting(app.clone(), engine.clone())),
        tokio::spawn(heartbeat::keep_telling(app.clone(), engine.clone())),
        tokio::spawn(upkeep::keep_tidy(app.clone(), engine.clone())),
        tokio::spawn(titling),
    ]
}

/// Drives every run that is ready, as soon as no other process has the right to.
///
/// A store that cannot be used any more may be repaired while the process lives. Until then it
/// does not have the right: another process may be able to drive.
async fn drive_all(app: App, engine: Arc<Engine>, held: Option<Membership>, drives: DriveFlag) {
    let mut next = held;
    loop {
        let membership = match next.take() {
            Some(membership) => membership,
            None => await_membership(&app, &engine, &drives).await,
        };
        let most = app.settings.worker.runs;
        let mut worker = Worker::new(engine.clone(), most).with_membership(&membership);
        let Err(error) = worker.work(|_| ()).await else { return };
        drives.set(false);
        let error = chain(&error);
        tracing::error!(%error, "this process drives no runs until its store works again");
        worker.abort().await;
        drop(membership);
        tokio::time::sleep(RESTART_PAUSE).await;
    }
}

/// Waits until no other process drives runs, and puts back what that process left behind.
async fn await_membership(app: &App, engine: &Engine, drives: &DriveFlag) -> Membership {
    let policy = app.membership();
    let membership = loop {
        tokio::time::sleep(LOOK_AGAIN).await;
        if let Ok(membership) = policy.acquire(&engine.identity().worker) {
            break membership;
        }
    };
    while let Err(error) = membership.recover_orphans(engine).await {
        tracing::debug!(%error, "the runs of an earlier process could not be taken up");
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    drives.set(true);
    membership
}
