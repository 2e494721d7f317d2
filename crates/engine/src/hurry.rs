//! Somebody does not want to wait for a tool's grace: what it did is then unknown, and said so.

use crate::Engine;
use everloop_types::RunId;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// Whose grace is cut short.
#[derive(Debug, Default)]
pub(crate) struct GraceSkips(Mutex<BTreeMap<RunId, CancellationToken>>);

impl GraceSkips {
    /// Is cancelled when somebody is in a hurry with the run.
    pub(crate) fn of(&self, run: &RunId) -> CancellationToken {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(run.clone()).or_default().clone()
    }

    /// Nobody drives the run any more.
    pub(crate) fn forget(&self, run: &RunId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(run);
    }
}

impl Engine {
    /// Cuts the grace of a canceled run's tool short. A tool that may have acted by then has an
    /// unknown outcome. It lasts until the run is driven no longer.
    pub fn hurry(&self, run: &RunId) {
        self.hurries.of(run).cancel();
    }
}
