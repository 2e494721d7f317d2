//! Settings that change while the server is open: saved on a page, by the command line, or in the
//! file itself.
//!
//! Deliberately absent: what is bound when the server begins (address, certificate, number of
//! connections, time for headers, drain, database, worker). The pages say of such settings that
//! they need a restart.

use everloop_app::App;
use everloop_app::serving::ServiceSession;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};
use tokio::sync::Mutex;

/// How often the file is looked at.
pub(crate) const LOOK: Duration = Duration::from_secs(1);

/// The settings in force.
pub(crate) struct LiveSettings {
    now: RwLock<Arc<App>>,
    /// One change after the other.
    changing: Mutex<()>,
}

/// When a file was written last, and how long it is: both stay while nobody writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileStamp {
    written_at: SystemTime,
    bytes: u64,
}

impl FileStamp {
    /// None if there is no such file.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let facts = std::fs::metadata(path).ok()?;
        Some(Self { written_at: facts.modified().ok()?, bytes: facts.len() })
    }
}

impl LiveSettings {
    /// Those that the server begins with.
    pub(crate) fn new(app: Arc<App>) -> Self {
        Self { now: RwLock::new(app), changing: Mutex::default() }
    }

    /// The settings in force.
    pub(crate) fn now(&self) -> Arc<App> {
        self.now.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads them again. Where one cannot be used, all stay as they were.
    pub(crate) async fn reread(&self, session: &ServiceSession) {
        let _one_at_a_time = self.changing.lock().await;
        let before = self.now();
        let sources = before.sources.again();
        if sources.text == before.sources.text && sources.trouble == before.sources.trouble {
            return;
        }
        let mut app = before.reread(sources);
        if let Some(fault) = app.faults.first() {
            tracing::warn!(key = fault.key, "a setting cannot be used; the former ones stay");
            return;
        }
        // The engine and its journal stay where they are until the next start.
        app.database = before.database.clone();
        session.follow_settings(&app).await;
        *self.now.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(app);
    }

    /// Reads them again whenever their file has changed.
    pub(crate) async fn watch(&self, session: &ServiceSession) {
        let path = self.now().sources.path.clone();
        let mut seen = FileStamp::of(&path);
        loop {
            tokio::time::sleep(LOOK).await;
            let now = FileStamp::of(&path);
            if now != seen {
                seen = now;
                self.reread(session).await;
            }
        }
    }
}
