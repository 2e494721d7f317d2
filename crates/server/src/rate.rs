//! How many requests a client may make.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Clients that are remembered; the table is emptied when there are more.
const CLIENTS_MAX: usize = 10_000;

const MINUTE: Duration = Duration::from_secs(60);

/// Counts the requests of each address in windows of a minute.
#[derive(Default)]
pub(crate) struct RateLimiter {
    windows: Mutex<BTreeMap<IpAddr, (Instant, u32)>>,
}

impl RateLimiter {
    /// Counts a request; `most` may come in a minute, any number if it is 0. If it is one too many,
    /// the seconds until the next may come.
    pub(crate) fn take(&self, client: IpAddr, most: u32, now: Instant) -> Result<(), u64> {
        if most == 0 {
            return Ok(());
        }
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() > CLIENTS_MAX {
            windows.clear();
        }
        let window = windows.entry(client).or_insert((now, 0));
        if now.saturating_duration_since(window.0) >= MINUTE {
            *window = (now, 0);
        }
        if window.1 >= most {
            let passed = now.saturating_duration_since(window.0);
            return Err(MINUTE.saturating_sub(passed).as_secs().max(1));
        }
        window.1 += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    #[test]
    fn a_client_gets_so_many_requests_a_minute_and_others_keep_theirs() {
        let limiter = RateLimiter::default();
        let [one, other] = [1, 2].map(|last| IpAddr::from(Ipv4Addr::new(127, 0, 0, last)));
        let begin = Instant::now();
        assert_eq!(limiter.take(one, 2, begin), Ok(()));
        assert_eq!(limiter.take(one, 2, begin), Ok(()));
        assert_eq!(limiter.take(one, 2, begin + Duration::from_secs(50)), Err(10));
        assert_eq!(limiter.take(other, 2, begin), Ok(()));
        assert_eq!(limiter.take(one, 2, begin + MINUTE), Ok(()));
    }

    #[test]
    fn no_limit_is_no_limit() {
        let limiter = RateLimiter::default();
        let one = IpAddr::from(Ipv4Addr::LOCALHOST);
        assert!((0..100).all(|_| limiter.take(one, 0, Instant::now()).is_ok()));
    }
}
