//! How far a run is, as every surface shows it.

use crate::{Words, tool_work};
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
    /// Actions that failed so far.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed: u32,
    /// What just went wrong or changed, for people who watch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<Words>,
    /// The round that the items are of, where a loop works in rounds; its steps are the items, and
    /// `steps` counts rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<RoundPlace>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(n: &u32) -> bool {
    *n == 0
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
    /// Places of the journal entries behind a closed item; none if no tool was used for it and
    /// one was for another item. Noted by `Run`, whatever a model may write here, and absent where
    /// nothing is noted.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Vec<i64>>,
}

impl PlanItem {
    /// An item of which nothing is noted yet.
    #[must_use]
    pub fn new(text: impl Into<String>, state: ItemState) -> Self {
        Self { text: text.into(), state, evidence: None }
    }

    /// Whether it was closed.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.state == ItemState::Completed
    }

    /// Whether its words name work that only a tool can do: a file, a command, a search.
    #[must_use]
    pub fn names_tool_work(&self) -> bool {
        tool_work::is_named(&self.text)
    }

    /// Whether it named a tool's work and was closed without a tool, in a run in which other items
    /// needed one. An item that needed none, such as "sum up", claims nothing.
    #[must_use]
    pub fn used_no_tool(&self) -> bool {
        self.evidence.as_ref().is_some_and(Vec::is_empty) && self.names_tool_work()
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
