//! Time that passes only while every task waits: tokio's paused clock behind the engine's trait.

use everloop_ports::{Clock, Pause};
use everloop_types::UtcMs;
use std::time::Duration;
use tokio::time::Instant;

/// 2026-01-01T00:00:00Z.
const BEGINNING: UtcMs = 1_767_225_600_000;

/// A clock for a runtime whose time is paused.
#[derive(Debug, Clone, Copy)]
pub struct VirtualClock {
    start: Instant,
}

impl Default for VirtualClock {
    fn default() -> Self {
        Self { start: Instant::now() }
    }
}

impl VirtualClock {
    fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> UtcMs {
        BEGINNING.saturating_add_unsigned(self.elapsed_ms())
    }

    fn since_boot_ms(&self) -> u64 {
        self.elapsed_ms()
    }

    fn pause(&self, ms: u64) -> Pause<'_> {
        Box::pin(tokio::time::sleep(Duration::from_millis(ms)))
    }
}
