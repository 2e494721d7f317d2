//! A value that can be waited for.
//!
//! Waiters are woken in the order of waiting. The watch channel of `tokio` wakes them in a random
//! order, and a simulation with the same seed would not repeat.

use std::sync::{Mutex, PoisonError};
use tokio::sync::Notify;

/// A shared value and those who wait for it to change.
#[derive(Debug, Default)]
pub struct Signal<T> {
    value: Mutex<T>,
    changed: Notify,
}

impl<T: Copy> Signal<T> {
    /// A signal with an initial value.
    pub fn new(value: T) -> Self {
        Self { value: Mutex::new(value), changed: Notify::new() }
    }

    /// The current value.
    pub fn get(&self) -> T {
        *self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes it and wakes all waiters.
    pub fn change(&self, change: impl FnOnce(&mut T)) {
        change(&mut self.value.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_waiters();
    }

    /// Returns the value once it is as wanted.
    pub async fn wait_for(&self, wanted: impl Fn(&T) -> bool) -> T {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            // From here on no change is missed.
            changed.as_mut().enable();
            let value = self.get();
            if wanted(&value) {
                return value;
            }
            changed.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[tokio::test]
    async fn who_waits_first_is_woken_first() {
        let (signal, woken) = (Arc::new(Signal::new(0)), Arc::new(Mutex::new(Vec::new())));
        let mut waiting = tokio::task::JoinSet::new();
        for n in 0..20 {
            let (signal, woken) = (signal.clone(), woken.clone());
            waiting.spawn(async move {
                signal.wait_for(|value| *value > 0).await;
                woken.lock().expect("whole").push(n);
            });
        }
        tokio::task::yield_now().await;
        signal.change(|value| *value = 1);
        waiting.join_all().await;
        let woken = woken.lock().expect("whole").clone();
        assert_eq!(woken, (0..20).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn what_is_there_already_is_not_waited_for() {
        let signal = Signal::new(7);
        assert_eq!(signal.wait_for(|value| *value == 7).await, 7);
    }
}
