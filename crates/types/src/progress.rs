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
    /// The round that the items are of, where a loop works in rounds; its steps are the items, and
    /// `steps` counts rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<RoundPlace>,
}

/// Where a loop that works in rounds is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundPlace {
    /// Which round, from 1.
    pub number: u32,
    /// Rounds allowed.
    pub most: u32,
    /// Steps that were run so far, in all rounds.
    pub steps_run: u32,
}

/// One intention.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanItem {
    /// What is to be done.
    pub text: String,
    /// How far it is.
    pub state: ItemState,
    /// Places of the journal entries behind a closed item; none if it was only claimed. Noted by
    /// `Run`, whatever a model may write here, and absent where nothing is noted.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Vec<i64>>,
}

impl PlanItem {
    /// An item of which nothing is noted yet.
    #[must_use]
    pub fn new(text: impl Into<String>, state: ItemState) -> Self {
        Self { text: text.into(), state, evidence: None }
    }

    /// Whether it was closed, and not only claimed.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.state == ItemState::Completed && !self.is_only_claimed()
    }

    /// Whether it was called done with nothing behind it.
    #[must_use]
    pub fn is_only_claimed(&self) -> bool {
        self.evidence.as_ref().is_some_and(Vec::is_empty)
    }
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
