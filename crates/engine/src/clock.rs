//! The clocks of this machine and of a shared database, and how work is measured.

use everloop_ports::{Clock, Pause};
use everloop_types::UtcMs;
use std::future::Future;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The clock of a database that many machines share. In between it goes on by the time since boot,
/// so setting this machine's clock does not move a timer.
#[derive(Debug)]
pub struct SharedClock {
    /// Shown by the database, and the time since boot when it was.
    seen: Mutex<(UtcMs, u64)>,
}

impl SharedClock {
    /// A clock that begins with what the database shows.
    #[must_use]
    pub fn new(shown: UtcMs) -> Self {
        Self { seen: Mutex::new((shown, SystemClock.since_boot_ms())) }
    }
}

impl Clock for SharedClock {
    fn now(&self) -> UtcMs {
        let (shown, at) = *self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        shown.saturating_add_unsigned(SystemClock.since_boot_ms().saturating_sub(at))
    }

    fn since_boot_ms(&self) -> u64 {
        SystemClock.since_boot_ms()
    }

    fn awake_ms(&self) -> u64 {
        SystemClock.awake_ms()
    }

    fn pause(&self, ms: u64) -> Pause<'_> {
        SystemClock.pause(ms)
    }

    fn agree(&self, shown: UtcMs) {
        let seen = (shown, SystemClock.since_boot_ms());
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = seen;
    }
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
        clock_ms(rustix::time::ClockId::Boottime)
    }

    fn awake_ms(&self) -> u64 {
        clock_ms(rustix::time::ClockId::Monotonic)
    }

    fn pause(&self, ms: u64) -> Pause<'_> {
        Box::pin(tokio::time::sleep(Duration::from_millis(ms)))
    }
}

fn clock_ms(clock: rustix::time::ClockId) -> u64 {
    let time = rustix::time::clock_gettime(clock);
    u64::try_from(time.tv_sec * 1000 + time.tv_nsec / 1_000_000).unwrap_or(0)
}

/// How often the clock is read while work is measured.
const BEAT_MS: u64 = 1_000;

/// Does some work and returns how many milliseconds it took. Time is counted beat by beat, and no
/// beat for more than twice its length: a process that was stopped, or whose machine slept, did
/// not work meanwhile, whatever its clocks say.
pub(crate) async fn measured<T>(clock: &dyn Clock, work: impl Future<Output = T>) -> (T, u64) {
    let mut work = std::pin::pin!(work);
    let (mut took_ms, mut since) = (0_u64, clock.awake_ms());
    loop {
        let done = tokio::select! {
            biased;
            done = &mut work => Some(done),
            () = clock.pause(BEAT_MS) => None,
        };
        let now = clock.awake_ms();
        took_ms = took_ms.saturating_add(now.saturating_sub(since).min(2 * BEAT_MS));
        since = now;
        if let Some(done) = done {
            return (done, took_ms);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// A clock that is a day ahead each time it is looked at after a sleep.
    struct Sleepy {
        slept_ms: AtomicU64,
    }

    impl Clock for Sleepy {
        fn now(&self) -> UtcMs {
            0
        }

        fn since_boot_ms(&self) -> u64 {
            self.slept_ms.load(Ordering::SeqCst)
        }

        fn pause(&self, ms: u64) -> Pause<'_> {
            Box::pin(async move {
                tokio::task::yield_now().await;
                self.slept_ms.fetch_add(ms, Ordering::SeqCst);
            })
        }
    }

    #[tokio::test]
    async fn sleep_is_not_work() {
        let clock = Sleepy { slept_ms: AtomicU64::new(0) };
        let work = async {
            for _ in 0..3 {
                clock.pause(900).await;
            }
            clock.slept_ms.fetch_add(86_400_000, Ordering::SeqCst);
        };
        let ((), took_ms) = measured(&clock, work).await;
        assert!((2_000..10_000).contains(&took_ms), "{took_ms}");
    }

    #[test]
    fn a_shared_clock_shows_what_the_database_shows() {
        let clock = SharedClock::new(1_000);
        assert!((1_000..2_000).contains(&clock.now()));
        clock.agree(5_000_000);
        assert!((5_000_000..5_001_000).contains(&clock.now()));
    }
}
