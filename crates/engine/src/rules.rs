//! The limits of the engine, each with a default.

/// The longest wait that a provider may ask for: a day.
pub(crate) const ASKED_MS_MAX: u64 = 86_400_000;

/// Numbers that bound the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineRules {
    /// Attempts at one model call before it counts as failed.
    pub model_attempts: u32,
    /// First back-off; it doubles up to `backoff_max_ms`.
    pub backoff_ms: u64,
    /// Longest back-off.
    pub backoff_max_ms: u64,
    /// How long one drive waits for a model in place before it parks the run.
    pub patience_ms: u64,
    /// Wait between two attempts at a tool.
    pub tool_retry_ms: u64,
    /// An effect is not begun later than this after its intent was written.
    pub start_within_ms: u64,
    /// Journal entries between two snapshots, at least.
    pub snapshot_every: i64,
    /// How often the inboxes are polled.
    pub mail_every_ms: u64,
    /// Whether an earlier owner of a run may still live. If a lock proves it dead, a probe that
    /// finds nothing counts at once; else only when its call must be over.
    pub owners_may_live: bool,
}

impl Default for EngineRules {
    fn default() -> Self {
        Self {
            model_attempts: 12,
            backoff_ms: 500,
            backoff_max_ms: 300_000,
            patience_ms: 8_000,
            tool_retry_ms: 1_000,
            start_within_ms: 5_000,
            snapshot_every: 1_000,
            mail_every_ms: 150,
            owners_may_live: false,
        }
    }
}

impl EngineRules {
    /// The wait before the attempt after `failed`, at least as long as the provider asked for, and
    /// never longer than a day.
    #[must_use]
    pub fn backoff(&self, failed: u32, asked_ms: Option<u64>) -> u64 {
        let doubled = self.backoff_ms.saturating_mul(1 << failed.saturating_sub(1).min(20));
        doubled.min(self.backoff_max_ms).max(asked_ms.unwrap_or(0).min(ASKED_MS_MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_provider_makes_a_run_wait_for_longer_than_a_day() {
        let rules = EngineRules::default();
        for asked in [ASKED_MS_MAX + 1, 31_536_000_000, u64::MAX - 1, u64::MAX] {
            assert_eq!(rules.backoff(1, Some(asked)), ASKED_MS_MAX);
        }
        assert_eq!(rules.backoff(1, Some(7_000)), 7_000);
    }
}
