//! What a new run is made of, whether a person or another run wants it.

use everloop_types::{Frame, Goal, RunProfile};

/// What a new run is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Submission {
    /// The loop that decides.
    pub loop_name: String,
    /// What the user wants.
    pub goal: Goal,
    /// Frozen for the run.
    pub frame: Frame,
    /// The same key twice is the same run.
    pub idem_key: Option<String>,
    /// What kind of work it is.
    pub profile: RunProfile,
}

/// A run that a tool call starts. It begins in the commit of the call's outcome, in the same
/// conversation and turn.
#[derive(Debug, Clone, PartialEq)]
pub struct RunStart {
    /// What it is made of. Its key is not used: the call itself makes it one run.
    pub submission: Submission,
    /// What it works on. Nothing is started while another run of the conversation works on it.
    pub task_key: String,
}
