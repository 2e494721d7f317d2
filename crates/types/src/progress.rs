//! How far a run is, as every surface shows it.

use crate::Words;
use serde::{Deserialize, Serialize};

/// A loop's plan and its place in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The plan or list, in order.
    pub items: Vec<PlanItem>,
    /// The item that is worked on.
    pub current: Option<usize>,
    /// How often the plan was written; 0 before the first.
    pub version: u32,
    /// Steps used.
    pub steps: u32,
    /// Steps allowed.
    pub steps_max: u32,
    /// What just went wrong or changed, for people who watch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<Words>,
}

/// One intention.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanItem {
    /// What is to be done.
    pub text: String,
    /// How far it is.
    pub state: ItemState,
}

/// How far a plan item is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemState {
    /// Not begun.
    #[default]
    Pending,
    /// Worked on.
    InProgress,
    /// Done.
    Completed,
    /// Tried without success.
    Failed,
    /// Left out.
    Skipped,
}
