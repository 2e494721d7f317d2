//! A process that serves others: it drives runs as soon as no other process does, and shows them.

use crate::app::App;
use crate::background::{BackgroundTasks, DriveFlag, DriveRight};
use crate::environment::LiveEnvironment;
use crate::error::AppError;
use crate::worker;
use everloop_engine::Engine;
use everloop_store::{Orphan, Store};
use std::sync::Arc;
use tokio::sync::Mutex;

/// An open engine with everything that goes on beside it.
pub struct ServiceSession {
    engine: Arc<Engine>,
    environment: Arc<LiveEnvironment>,
    background: Mutex<Option<BackgroundTasks>>,
    drives: DriveFlag,
    /// Runs that an earlier process had left in the middle, and that go on now.
    pub orphans: Vec<Orphan>,
}

impl ServiceSession {
    /// Opens the engine on a store and begins to drive if no other process does.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn open(app: &App, store: Store) -> Result<Self, AppError> {
        let (engine, environment) = app.live_engine(store).await?;
        let mut right = DriveRight::take(app, &engine).await?;
        let orphans = std::mem::take(&mut right.orphans);
        let background = right.begin(app, &engine);
        let drives = background.drive_flag();
        let background = Mutex::new(Some(background));
        Ok(Self { engine, environment, background, drives, orphans })
    }

    /// What drives the runs.
    #[must_use]
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Whether this process drives runs.
    #[must_use]
    pub fn drives(&self) -> bool {
        self.drives.is_set()
    }

    /// Whether this process drives runs, or another one does.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn has_driver(&self, app: &App) -> Result<bool, AppError> {
        let own = &self.engine.identity().worker;
        Ok(self.drives() || worker::has_worker(app, self.engine.store(), Some(own)).await?)
    }

    /// Goes on with the settings of `app`, which is over the same database.
    pub async fn follow_settings(&self, app: &App) {
        app.learn_secrets();
        self.environment.replace(app.environment_of(self.engine.store()));
        if let Some(background) = self.background.lock().await.as_mut() {
            background.follow_settings(app, &self.engine);
        }
    }

    /// Lets what is under way come to a durable point. Every run is kept.
    pub async fn end(&self) {
        if let Some(background) = self.background.lock().await.take() {
            background.end(&self.engine).await;
        }
    }
}
