//! Wakes drivers and workers when a message or a run is ready. Both are stored in the database.

use crate::{Engine, Signal};
use everloop_types::RunId;
use everloop_types::journal::InboxMessage;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The signals of the runs that are driven here, and the one for workers.
#[derive(Debug, Default)]
pub(crate) struct InboxSignals {
    by_run: Mutex<BTreeMap<RunId, Arc<InboxSignal>>>,
    /// Counts how often this process has made a run ready.
    pub(crate) ready: Signal<u64>,
}

/// A version that rises when a message may have arrived. It saves a query before every decision and
/// wakes all waiters: a batch of calls is canceled as one.
#[derive(Debug)]
struct InboxSignal {
    version: Signal<u64>,
}

impl Default for InboxSignal {
    /// A new signal starts at 1, so that earlier messages are looked for.
    fn default() -> Self {
        Self { version: Signal::new(1) }
    }
}

/// How much of a run's signal its driver has seen.
#[derive(Debug)]
pub(crate) struct InboxCursor {
    signal: Arc<InboxSignal>,
    /// The version at which the inbox was last read.
    pub(crate) seen: u64,
}

impl InboxCursor {
    /// The current version, if it has changed since the inbox was read.
    pub(crate) fn unseen_version(&self) -> Option<u64> {
        let version = self.signal.version.get();
        (version > self.seen).then_some(version)
    }
}

impl InboxSignal {
    /// Returns the first version after `seen`.
    async fn version_after(&self, seen: u64) -> u64 {
        self.version.wait_for(|version| *version > seen).await
    }
}

impl InboxSignals {
    /// Opens a cursor for a new driver, with a new signal: the old one may have woken an earlier
    /// driver.
    pub(crate) fn open_cursor(&self, run: &RunId) -> InboxCursor {
        let signal = Arc::new(InboxSignal::default());
        let mut signals = self.by_run.lock().unwrap_or_else(PoisonError::into_inner);
        signals.insert(run.clone(), signal.clone());
        InboxCursor { signal, seen: 0 }
    }

    fn signal_of(&self, run: &RunId) -> Arc<InboxSignal> {
        let mut signals = self.by_run.lock().unwrap_or_else(PoisonError::into_inner);
        signals.entry(run.clone()).or_default().clone()
    }

    /// Wakes the worker of this process: some run may be ready.
    pub(crate) fn wake_workers(&self) {
        self.ready.change(|times| *times += 1);
    }

    pub(crate) fn raise(&self, run: &RunId) {
        let signals = self.by_run.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(signal) = signals.get(run) {
            signal.version.change(|version| *version += 1);
        }
    }

    pub(crate) fn forget(&self, run: &RunId) {
        self.by_run.lock().unwrap_or_else(PoisonError::into_inner).remove(run);
    }

    fn is_idle(&self) -> bool {
        self.by_run.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

impl Engine {
    /// Polls the inboxes for messages that other processes send, as long as this process lives.
    pub async fn poll_inboxes(self: Arc<Self>) {
        loop {
            self.clock.pause(self.rules.mail_every_ms).await;
            if self.inbox_signals.is_idle() {
                continue;
            }
            // A failing store does not end this task: the next poll comes in a moment.
            for run in self.store.inbox().runs_with_mail().await.unwrap_or_default() {
                self.inbox_signals.raise(&run);
            }
        }
    }
}

/// Ends the waits of one driven run: a cancel in its inbox, or the stop of this process.
#[derive(Clone, Copy)]
pub(crate) struct RunInterrupts<'e> {
    pub(crate) engine: &'e Engine,
    pub(crate) run: &'e RunId,
    /// The version of the signal at which the inbox was last read.
    pub(crate) seen: u64,
}

impl RunInterrupts<'_> {
    /// Returns when the run is canceled, or when this process is to stop.
    pub(crate) async fn during_call(self) {
        let cancels = |message: &InboxMessage| matches!(message, InboxMessage::Cancel { .. });
        self.unless_stopping(self.arrived(cancels)).await;
    }

    /// The same while no call is running: then a switch ends the wait, too.
    pub(crate) async fn during_wait(self) {
        let ends = |message: &InboxMessage| {
            matches!(message, InboxMessage::Cancel { .. } | InboxMessage::Switch(_))
        };
        self.unless_stopping(self.arrived(ends)).await;
    }

    async fn unless_stopping(&self, arrived: impl Future<Output = ()>) {
        tokio::select! {
            biased;
            () = arrived => {}
            () = self.engine.stopping.cancelled() => {}
        }
    }

    /// Returns when such a message has arrived after version `seen`; never otherwise.
    ///
    /// A query that fails finds nothing: the signal rises again while the message is unread.
    async fn arrived(&self, wanted: impl Fn(&InboxMessage) -> bool) {
        let signal = self.engine.inbox_signals.signal_of(self.run);
        let mut seen = self.seen;
        loop {
            seen = signal.version_after(seen).await;
            let unread = self.engine.store.inbox().unread(self.run).await;
            let unread = unread.map(|unread| unread.messages);
            if unread.unwrap_or_default().iter().any(|(_, message)| wanted(message)) {
                return;
            }
        }
    }
}
