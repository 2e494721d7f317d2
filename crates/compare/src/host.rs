//! What the calling program provides: how its runs are set up, and which models it reaches.

use crate::policy::POLICIES;
use everloop_engine::EngineRules;
use everloop_ports::Model;
use everloop_types::{Frame, ModelError, ToolSpec, UtcMs};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A model, and its name without the provider.
pub type ContestModel = (Arc<dyn Model>, String);

/// What the calling program provides.
pub trait ContestHost: Send + Sync {
    /// Everything that a run's prompts are built from, as for a usual run. The comparison sets
    /// language, zone and permissions, so that results are comparable. Limits may be fitted to
    /// the goal.
    fn frame(&self, loop_name: &str, goal: &str, workspace: &Path, tools: Vec<ToolSpec>) -> Frame;

    /// The context that a model reads in addition to the goal.
    fn context(&self, workspace: &Path, now: UtcMs) -> String;

    /// A model behind an endpoint.
    ///
    /// # Errors
    /// Why it cannot be asked.
    fn connect(&self, name: &str) -> Result<ContestModel, ModelError>;

    /// The program around each shell command, if there is one.
    fn guard(&self) -> Option<PathBuf>;

    /// The limits of the engine.
    fn rules(&self) -> EngineRules;
}

/// Whether a model's name is that of a simulated policy, which uses no network and costs nothing.
#[must_use]
pub fn is_simulated(name: &str) -> bool {
    POLICIES.contains(&name)
}
