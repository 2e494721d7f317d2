//! Which simulated policies there are, as models for a run.

use crate::Counter;
use everloop_models::Model;
use std::sync::Arc;

/// The policies, by name.
pub const SIMULATED: [&str; 4] = ["competent", "format", "forgets", "repeats"];

/// Whether a model's name is that of a policy: it asks nobody and costs nothing.
#[must_use]
pub fn is_simulated(name: &str) -> bool {
    SIMULATED.contains(&name)
}

/// A policy for one run.
pub(crate) fn simulated(name: &str, _seed: u64, _count: Counter) -> Option<Arc<dyn Model>> {
    let _ = name;
    None
}
