//! Settings that change while the server is open: saved on a page, by the command line, or in the
//! file itself.
//!
//! Deliberately absent: what is bound when the server begins, see [`needs_restart`].

use everloop_app::App;
use everloop_app::serving::ServiceSession;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};
use tokio::sync::Mutex;

/// How often the file is looked at.
pub(crate) const LOOK: Duration = Duration::from_secs(1);

/// Sections that are read once, when the server begins.
const BOUND_SECTIONS: [&str; 3] = ["worker", "log", "audit"];

/// Single settings that are read once, when the server begins.
const BOUND: [&str; 6] = [
    "server.listen",
    "server.tls_cert",
    "server.tls_key",
    "server.connections",
    "server.drain",
    "store.database",
];

/// Whether a setting counts only after a restart of the server.
pub(crate) fn needs_restart(key: &str) -> bool {
    let section = key.split_once('.').map_or(key, |(section, _)| section);
    BOUND_SECTIONS.contains(&section) || BOUND.contains(&key)
}

/// The settings in force.
pub(crate) struct LiveSettings {
    now: RwLock<Arc<App>>,
    /// How often they were replaced.
    revision: AtomicU64,
    /// One change after the other.
    changing: Mutex<()>,
}

/// When a file was written last, and how long it is: both stay while nobody writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WriteStamp {
    written_at: SystemTime,
    bytes: u64,
}

impl WriteStamp {
    /// None if there is no such file.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let facts = std::fs::metadata(path).ok()?;
        Some(Self { written_at: facts.modified().ok()?, bytes: facts.len() })
    }
}

impl LiveSettings {
    /// Those that the server begins with.
    pub(crate) fn new(app: Arc<App>) -> Self {
        Self { now: RwLock::new(app), revision: AtomicU64::new(0), changing: Mutex::default() }
    }

    /// Differs whenever other settings are in force.
    pub(crate) fn revision(&self) -> u64 {
        self.revision.load(Ordering::Acquire)
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
        self.revision.fetch_add(1, Ordering::Release);
    }

    /// Reads them again whenever their file has changed.
    pub(crate) async fn watch(&self, session: &ServiceSession) {
        let path = self.now().sources.path.clone();
        let mut seen = WriteStamp::of(&path);
        loop {
            tokio::time::sleep(LOOK).await;
            let now = WriteStamp::of(&path);
            if now != seen {
                seen = now;
                self.reread(session).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use everloop_app::settings::SETTINGS;

    #[test]
    fn what_is_bound_at_the_beginning_exists_and_limits_of_requests_are_not() {
        let is_known = |key: &&str| SETTINGS.iter().any(|spec| spec.key.as_str() == *key);
        assert!(BOUND.iter().all(is_known));
        let sections: Vec<_> = SETTINGS.iter().map(|spec| spec.key.section()).collect();
        assert!(BOUND_SECTIONS.iter().all(|section| sections.contains(section)));
        assert!(needs_restart("server.listen") && needs_restart("worker.runs"));
        for now in ["server.requests_per_minute", "server.hosts", "server.body_max", "store.keep"] {
            assert!(!needs_restart(now), "{now}");
        }
    }
}
