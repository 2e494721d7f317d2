//! Skipping the grace period of a tool that was asked to stop. Its outcome is then unknown.

use crate::Engine;
use everloop_types::RunId;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// The runs whose grace period is skipped.
#[derive(Debug, Default)]
pub(crate) struct GraceSkips(Mutex<BTreeMap<RunId, CancellationToken>>);

impl GraceSkips {
    /// A token that is cancelled when the grace period of the run is skipped.
    pub(crate) fn of(&self, run: &RunId) -> CancellationToken {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(run.clone()).or_default().clone()
    }

    /// Drops the token of a run that is no longer driven.
    pub(crate) fn forget(&self, run: &RunId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(run);
    }
}

impl Engine {
    /// Skips the grace period of a canceled run's tools. A tool that may have acted by then has an
    /// unknown outcome. This holds until the run is no longer driven.
    pub fn skip_grace(&self, run: &RunId) {
        self.grace_skips.of(run).cancel();
    }
}
