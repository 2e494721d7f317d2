//! The one clock, so that tests can hold it.

use everloop_types::UtcMs;
use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A wait that ends by itself.
pub type Pause<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Time as the engine knows it.
pub trait Clock: Send + Sync {
    /// Wall time, for the journal and for timers.
    fn now(&self) -> UtcMs;
    /// Milliseconds since boot, those spent asleep included: what bounds the start of an effect.
    fn since_boot_ms(&self) -> u64;
    /// Waits.
    fn pause(&self, ms: u64) -> Pause<'_>;
}

/// The machine's clocks.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> UtcMs {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        UtcMs::try_from(since.as_millis()).unwrap_or(UtcMs::MAX)
    }

    fn since_boot_ms(&self) -> u64 {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        u64::try_from(time.tv_sec * 1000 + time.tv_nsec / 1_000_000).unwrap_or(0)
    }

    fn pause(&self, ms: u64) -> Pause<'_> {
        Box::pin(tokio::time::sleep(Duration::from_millis(ms)))
    }
}
