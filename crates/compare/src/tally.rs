//! The counts of one run and the sums of many.

use everloop_types::Counts;
use serde::Serialize;

/// Counts of one run or the sum of many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Runs.
    pub runs: u64,
    /// Of those, the ones whose checks all hold.
    pub succeeded: u64,
    /// Of those, the ones that ended with words for the user.
    pub ended_with_words: u64,
    /// Model calls.
    pub model_calls: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Tokens that models read.
    pub input_tokens: u64,
    /// Of those, the ones that an earlier call of the same run had shown already.
    pub cached_tokens: u64,
    /// Tokens that models wrote.
    pub output_tokens: u64,
    /// Steps, by the loop's own count.
    pub steps: u64,
    /// Milliseconds; simulated ones where a latency is given for policies.
    pub wall_ms: u64,
}

impl Tally {
    pub(crate) fn of(counts: &Counts, wall_ms: u64) -> Self {
        Self {
            runs: 1,
            model_calls: counts.model_calls.into(),
            tool_calls: counts.tool_calls.into(),
            input_tokens: counts.usage.input_tokens,
            cached_tokens: counts.usage.cached_tokens,
            output_tokens: counts.usage.output_tokens,
            steps: counts.steps.into(),
            wall_ms,
            ..Self::default()
        }
    }

    /// Adds another.
    pub fn add(&mut self, other: &Self) {
        self.runs += other.runs;
        self.succeeded += other.succeeded;
        self.ended_with_words += other.ended_with_words;
        self.model_calls += other.model_calls;
        self.tool_calls += other.tool_calls;
        self.input_tokens += other.input_tokens;
        self.cached_tokens += other.cached_tokens;
        self.output_tokens += other.output_tokens;
        self.steps += other.steps;
        self.wall_ms += other.wall_ms;
    }

    /// The sum of many.
    pub fn sum<'a>(all: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut sum = Self::default();
        all.into_iter().for_each(|one| sum.add(one));
        sum
    }

    /// Tokens read and written together.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.input_tokens + self.output_tokens
    }

    /// Tokens per success, with the tokens of failed runs included; `None` if no run succeeded.
    #[must_use]
    pub fn tokens_per_success(&self) -> Option<u64> {
        self.tokens().checked_div(self.succeeded)
    }

    /// The percentage of runs that succeeded, rounded down: 100 means all.
    #[must_use]
    pub fn success_percent(&self) -> u64 {
        (self.succeeded * 100).checked_div(self.runs).unwrap_or(0)
    }
}

/// How a run ended, from the view of the comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ContestEnding {
    /// The engine's own word: `succeeded`, `failed`, `unsettled`, …
    Ended(String),
    /// It took too long.
    TimedOut,
    /// It could not be driven; why.
    Broken(String),
}

/// One run: a task under a loop with a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// The model or policy.
    pub model: String,
    /// The loop.
    #[serde(rename = "loop")]
    pub loop_name: String,
    /// The task.
    pub task: String,
    /// The seed.
    pub seed: u64,
    /// How it ended.
    pub ending: ContestEnding,
    /// The checks that do not hold.
    pub failed_checks: Vec<String>,
    /// The final message.
    pub answer: String,
    /// Its counts.
    #[serde(flatten)]
    pub tally: Tally,
}

impl Cell {
    pub(crate) fn is_of(&self, model: &str, loop_name: &str) -> bool {
        self.model == model && self.loop_name == loop_name
    }

    /// Whether the task was done.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.tally.succeeded > 0
    }
}
