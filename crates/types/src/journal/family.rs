//! Parents and children: a run that hands a task to another run, and the report that it gets.

use crate::{Counts, EffectId, Labels, RunId, Status, Usage};
use serde::{Deserialize, Serialize};

/// The effect is another run's task now. Written with that run, in one transaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delegated {
    /// The child.
    pub to: RunId,
}

/// The run exists because another one wanted it. The second entry of every child.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spawned {
    /// The parent's effect, whose outcome is this run's end.
    pub by: EffectId,
}

/// The report to a parent when its child has ended, whatever the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildEnded {
    /// The child.
    pub child: RunId,
    /// How it ended.
    pub status: Status,
    /// Its last words, bounded.
    pub text: String,
    /// What it used, its own children included: it is charged to the parent.
    pub used: BudgetUse,
    /// What it had read, its own children included.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
}

/// What counts against budgets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetUse {
    /// Model calls that were planned.
    pub model_calls: u32,
    /// Tool calls that were planned.
    pub tool_calls: u32,
    /// Tokens.
    pub usage: Usage,
    /// Milliseconds of work.
    pub work_ms: u64,
}

impl From<Counts> for BudgetUse {
    fn from(counts: Counts) -> Self {
        let Counts { model_calls, tool_calls, usage, work_ms, .. } = counts;
        Self { model_calls, tool_calls, usage, work_ms }
    }
}
