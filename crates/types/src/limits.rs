//! What bounds a run: part of its frame.

use crate::Budget;
use serde::{Deserialize, Serialize};

/// What bounds a run. Every limit is a setting with a default that is on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Limits that loops count by themselves.
    pub steps: StepLimits,
    /// Budgets over the whole run.
    pub budget: Budget,
    /// Limits of what the model is shown and may ask at once.
    pub context: ContextLimits,
    /// How many children it may have, and how deep.
    #[serde(default, skip_serializing_if = "DelegateLimits::is_default")]
    pub delegate: DelegateLimits,
}

/// Limits of the tree below a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DelegateLimits {
    /// Generations below this run; a run with 0 has no children.
    pub max_depth: u32,
    /// Children of this run.
    pub max_children: u32,
}

impl DelegateLimits {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Those of a child.
    #[must_use]
    pub fn below(self) -> Self {
        Self { max_depth: self.max_depth.saturating_sub(1), ..self }
    }
}

impl Default for DelegateLimits {
    fn default() -> Self {
        Self { max_depth: 2, max_children: 8 }
    }
}

/// Limits that loops count by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepLimits {
    /// Steps (plan-replan), rounds (plan-execute-think) or iterations (all others).
    pub max_steps: u32,
    /// Further tries after a reply that breaks its contract.
    pub contract_retries: u32,
    /// Failure rounds in a row that end the run.
    pub failure_rounds: u32,
    /// How often the same question may come again after it was answered.
    pub repeated_questions: u32,
    /// Questions in all; 0 for no limit.
    pub max_clarifications: u32,
    /// Limits of plan-execute-think.
    #[serde(default, skip_serializing_if = "RoundLimits::is_default")]
    pub rounds: RoundLimits,
    /// Limits of the loops in which the model keeps a list.
    #[serde(default, skip_serializing_if = "ListLimits::is_default")]
    pub list: ListLimits,
    /// Whether a reply that breaks its contract and has one reading is taken at once, and words
    /// instead of a plan are an answer. Runs of older programs were strict, and fold as they were.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_lenient: bool,
}

impl Default for StepLimits {
    fn default() -> Self {
        Self {
            max_steps: 20,
            contract_retries: 2,
            failure_rounds: 2,
            repeated_questions: 2,
            max_clarifications: 0,
            rounds: RoundLimits::default(),
            list: ListLimits::default(),
            is_lenient: false,
        }
    }
}

/// Limits of rounds of plan, execute, think (PET-5, PET-7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RoundLimits {
    /// Rounds.
    pub max_rounds: u32,
    /// Steps that a round should have at least; advice to the model, nothing more.
    pub steps_least: u32,
    /// Steps that a round may have at most.
    pub steps_most: u32,
    /// Milliseconds that the steps of a round may take together; 0 for no limit.
    pub round_ms: u64,
}

impl RoundLimits {
    /// For a task of one or two things to do.
    pub const SIMPLE: Self =
        Self { max_rounds: 2, steps_least: 3, steps_most: 5, round_ms: 60_000 };
    /// For a task in between.
    pub const MEDIUM: Self =
        Self { max_rounds: 3, steps_least: 5, steps_most: 8, round_ms: 60_000 };
    /// For a task of many parts.
    pub const COMPLEX: Self =
        Self { max_rounds: 5, steps_least: 6, steps_most: 8, round_ms: 60_000 };

    /// What a goal seems to need, by the number of things it asks for: sentences, lines, and what
    /// "and", "then" or a comma joins.
    #[must_use]
    pub fn suggested(goal: &str) -> Self {
        let ends = ['\n', '。', '；', '！', '？'];
        // A dot ends a part only where nothing follows it: names of files have dots, too.
        let stops = [". ", "; ", "! ", "? "];
        let joins = [" and ", " then ", ", ", "，", "、"];
        let goal = joins
            .iter()
            .chain(&stops)
            .fold(goal.to_lowercase(), |goal, join| goal.replace(join, "\n"));
        let has_words = |part: &&str| part.chars().any(char::is_alphabetic);
        match goal.split(ends).filter(has_words).count() {
            0..=2 => Self::SIMPLE,
            3..=5 => Self::MEDIUM,
            _ => Self::COMPLEX,
        }
    }

    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for RoundLimits {
    fn default() -> Self {
        Self::COMPLEX
    }
}

/// Limits of the loops in which the model keeps a list (TD-4 to TD-6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ListLimits {
    /// How often an answer that comes too early is sent back; then it stands.
    pub reminders: u32,
    /// Iterations of work without an item in progress after which the model is reminded; 0 for
    /// never.
    pub unlisted: u32,
    /// Iterations without a change of an open list after which the model is reminded; 0 for never.
    pub idle: u32,
    /// Further tries at an item that was not closed (task-driven).
    pub item_retries: u32,
    /// Whether what is behind a closed item of a plan or list is noted, and a mere claim pointed
    /// out to the model.
    pub evidence: bool,
}

impl ListLimits {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for ListLimits {
    fn default() -> Self {
        Self { reminders: 3, unlisted: 2, idle: 5, item_retries: 2, evidence: false }
    }
}

/// Limits of what the model is shown and may ask at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextLimits {
    /// Tokens of the prompt at which it is compacted.
    pub tokens: u64,
    /// Characters of one observation.
    pub observation_chars: usize,
    /// Observations kept in the prompt; older ones leave by compaction.
    pub observations: usize,
    /// Messages of the prompt at which it is compacted; 0 for no limit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub messages: usize,
    /// Percent that a compaction has to free; one that frees less ends the run. 0 for any.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub least_freed: usize,
    /// Tool calls in one reply; beyond it none is performed.
    pub calls_per_reply: usize,
    /// The same call with the same result this often is pointed out; twice as often ends the run.
    pub repetitions: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(n: &usize) -> bool {
    *n == 0
}

impl Default for ContextLimits {
    fn default() -> Self {
        Self {
            tokens: 100_000,
            observation_chars: 10_000,
            observations: 100,
            messages: 0,
            least_freed: 0,
            calls_per_reply: 64,
            repetitions: 3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RoundLimits;

    #[test]
    fn rounds_grow_with_what_a_goal_asks_for() {
        let simple = [
            "hello",
            "Read a.txt",
            "读一下文件",
            "Read notes.txt and save it to out.csv.",
            "summarise https://www.example.com/docs/index.html?lang=en",
        ];
        let medium =
            ["read a, read b, then add up", "读 a，读 b，然后相加", "compare a.py, b.py and c.py"];
        let complex = ["1. read a\n2. read b\n3. add up\n4. write it\n5. mail it\n6. tell me"];
        for (goals, expected) in [
            (&simple[..], RoundLimits::SIMPLE),
            (&medium[..], RoundLimits::MEDIUM),
            (&complex[..], RoundLimits::COMPLEX),
        ] {
            for goal in goals {
                assert_eq!(RoundLimits::suggested(goal), expected, "{goal}");
            }
        }
    }
}
