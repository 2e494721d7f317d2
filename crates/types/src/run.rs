//! A run from outside: its status, its ending, its numbers.

use crate::{ModelError, Usage};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Ready for a worker.
    Queued,
    /// A worker drives it, or did when it was killed.
    Running,
    /// Waits for a person or a time; holds no worker.
    Waiting,
    /// Ended well.
    Succeeded,
    /// Ended, but the outcome of an effect is unknown.
    Unsettled,
    /// Ended without reaching its goal.
    Failed,
    /// Ended by the user.
    Canceled,
    /// Taken out of service because it cannot be driven.
    Quarantined,
}

impl Status {
    /// All of them, in the order of a run's life.
    pub const ALL: [Self; 8] = [
        Self::Queued,
        Self::Running,
        Self::Waiting,
        Self::Succeeded,
        Self::Unsettled,
        Self::Failed,
        Self::Canceled,
        Self::Quarantined,
    ];

    /// The word used in SQL, JSON and pages.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Succeeded => "succeeded",
            Self::Unsettled => "unsettled",
            Self::Failed => "failed",
            Self::Canceled => "canceled",
            Self::Quarantined => "quarantined",
        }
    }

    /// Reads the word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }

    /// Whether nothing more will happen.
    #[must_use]
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Queued | Self::Running | Self::Waiting)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What was found out about an effect with an unknown outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettledOutcome {
    /// It happened.
    Happened,
    /// It did not happen.
    Not,
}

impl SettledOutcome {
    /// The word used in SQL, JSON and on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Happened => "happened",
            Self::Not => "not",
        }
    }

    /// Reads the word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Happened, Self::Not].into_iter().find(|settled| settled.as_str() == word)
    }
}

/// Why a run could not go on, or ended other than well.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Reason {
    /// The loop's own step or iteration limit.
    StepLimit {
        /// The limit.
        limit: u32,
    },
    /// A budget is spent.
    Budget {
        /// Which one.
        what: BudgetKind,
        /// How much there was.
        limit: u64,
    },
    /// The same call gave the same result too often.
    Repetition {
        /// The tool.
        tool: String,
    },
    /// The conversation no longer fits and could not be shortened enough.
    ContextFull,
    /// The journal has no room for more.
    JournalFull,
    /// The model failed permanently.
    Model(ModelError),
    /// The model broke its contract too often in a row.
    BrokenContract,
    /// The model asked the same question again after it was answered.
    RepeatedQuestion,
    /// Too many questions.
    TooManyQuestions {
        /// The limit.
        limit: u32,
    },
    /// The one call of a task did not do what was asked.
    TaskFailed {
        /// What came back in place of a result.
        detail: String,
    },
    /// The user canceled it.
    Canceled,
}

impl Reason {
    /// Whether a limit that the user can raise was reached.
    #[must_use]
    pub fn is_limit(&self) -> bool {
        matches!(
            self,
            Self::StepLimit { .. }
                | Self::Budget { .. }
                | Self::ContextFull
                | Self::JournalFull
                | Self::Repetition { .. }
                | Self::TooManyQuestions { .. }
        )
    }
}

/// The budgets of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetKind {
    /// Number of model calls.
    ModelCalls,
    /// Number of tool calls.
    ToolCalls,
    /// Tokens read and written.
    Tokens,
    /// Milliseconds of work; waiting for a person does not count.
    WorkMs,
    /// Money, in millionths of the currency of the prices.
    Money,
}

/// What a run has used so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Steps by the loop's own count.
    pub steps: u32,
    /// Model calls that were planned.
    pub model_calls: u32,
    /// Tool calls that were planned.
    pub tool_calls: u32,
    /// Of those, the ones that failed.
    pub tool_failures: u32,
    /// Attempts that a crash or a passing error made useless.
    pub wasted_attempts: u32,
    /// Tokens.
    pub usage: Usage,
    /// Milliseconds of work.
    pub work_ms: u64,
}
