//! The one clock, so that tests can hold it.

use everloop_types::UtcMs;
use std::future::Future;
use std::pin::Pin;

/// A wait that ends by itself.
pub type Pause<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Time as the engine knows it.
pub trait Clock: Send + Sync {
    /// Wall time, for the journal and for timers.
    fn now(&self) -> UtcMs;
    /// Milliseconds since boot, those spent asleep included: what bounds the start of an effect.
    fn since_boot_ms(&self) -> u64;
    /// Milliseconds on a clock that nobody sets and that stands still while the machine sleeps:
    /// what the length of work is measured by.
    fn awake_ms(&self) -> u64 {
        self.since_boot_ms()
    }
    /// Waits.
    fn pause(&self, ms: u64) -> Pause<'_>;
    /// The database's clock shows this now. Only a clock that is shared with others minds.
    fn agree(&self, _shown: UtcMs) {}
}
