//! What a run may use in all; money is counted at the prices that held when it was created.

use crate::Usage;
use serde::{Deserialize, Serialize};

/// Budgets over the whole run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Model calls.
    pub model_calls: u32,
    /// Tool calls.
    pub tool_calls: u32,
    /// Tokens read and written.
    pub tokens: u64,
    /// Milliseconds of work; waiting does not count.
    pub work_ms: u64,
    /// Money.
    #[serde(default, skip_serializing_if = "Money::is_none")]
    pub money: Money,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            model_calls: 500,
            tool_calls: 1_000,
            tokens: 5_000_000,
            work_ms: 6 * 3_600_000,
            money: Money::default(),
        }
    }
}

/// A budget in money. Whole numbers, so that every fold of a journal counts the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Money {
    /// What the run may cost, in millionths of the currency; 0 for no limit.
    pub limit: u64,
    /// Millionths for a million tokens that are read.
    pub input: u64,
    /// The same for those that came from the provider's cache.
    pub cached: u64,
    /// The same for tokens that are written.
    pub output: u64,
}

impl Money {
    fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// What this much use costs, in millionths; a part of one counts as one.
    #[must_use]
    pub fn cost(&self, usage: Usage) -> u64 {
        let cached = usage.cached_tokens.min(usage.input_tokens);
        let fresh = usage.input_tokens - cached;
        let parts =
            [(fresh, self.input), (cached, self.cached), (usage.output_tokens, self.output)];
        let costs = parts.iter().map(|(n, price)| u128::from(*n) * u128::from(*price));
        let sum = costs.fold(0, u128::saturating_add);
        u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }

    /// An amount in millionths as people write it.
    #[must_use]
    pub fn written(millionths: u64) -> String {
        let text = format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000);
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::Money;
    use crate::Usage;

    #[test]
    fn cost_follows_prices_and_a_part_counts_as_a_whole() {
        let money = Money { limit: 0, input: 2_000_000, cached: 500_000, output: 10_000_000 };
        let usage = |input_tokens, cached_tokens, output_tokens| Usage {
            input_tokens,
            cached_tokens,
            output_tokens,
        };
        assert_eq!(money.cost(usage(1_000_000, 0, 0)), 2_000_000);
        assert_eq!(money.cost(usage(1_000_000, 400_000, 100_000)), 1_200_000 + 200_000 + 1_000_000);
        assert_eq!(money.cost(usage(1, 1, 0)), 1);
        assert_eq!(money.cost(usage(0, 5, 0)), 0, "no more is cached than was read");
        let dear = Money { input: u64::MAX, ..money };
        assert_eq!(dear.cost(usage(u64::MAX, 0, 0)), u64::MAX);
    }

    #[test]
    fn amounts_are_written_short() {
        for (millionths, text) in [(0, "0"), (1_500_000, "1.5"), (2_000_000, "2"), (1, "0.000001")]
        {
            assert_eq!(Money::written(millionths), text);
        }
    }
}
