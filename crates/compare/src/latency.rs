//! The simulated latency of policies: they reply at once, and no real model does.

use everloop_types::Counts;
use serde::Serialize;

/// A fixed time for each model call, and one for each token that it writes. Reading and tools take
/// no time, so the sum is how long a person waits for the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Latency {
    /// Milliseconds of a call until its first token.
    pub call_ms: u64,
    /// Milliseconds of each token.
    pub token_ms: u64,
}

impl Latency {
    /// The milliseconds that the calls of a run take, one after the other.
    pub(crate) fn of(self, counts: &Counts) -> u64 {
        let calls = self.call_ms.saturating_mul(counts.model_calls.into());
        calls.saturating_add(self.token_ms.saturating_mul(counts.usage.output_tokens))
    }
}

#[cfg(test)]
mod tests {
    use super::Latency;
    use everloop_types::{Counts, Usage};

    #[test]
    fn time_grows_with_calls_and_with_what_they_write() {
        let usage = Usage { input_tokens: 9_000, cached_tokens: 5, output_tokens: 70 };
        let counts = Counts { model_calls: 3, usage, ..Counts::default() };
        assert_eq!(Latency { call_ms: 1_000, token_ms: 20 }.of(&counts), 4_400);
        assert_eq!(Latency { call_ms: u64::MAX, token_ms: 1 }.of(&counts), u64::MAX);
    }
}
