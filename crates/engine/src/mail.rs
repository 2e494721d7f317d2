//! Who is told that a letter or a run has come. They themselves live in the store.

use crate::{Engine, Signal};
use everloop_types::RunId;
use everloop_types::journal::InboxMessage;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The bells of the runs that are driven here, and the one of those who look for runs.
#[derive(Debug, Default)]
pub(crate) struct InboxSignals {
    bells: Mutex<BTreeMap<RunId, Arc<InboxSignal>>>,
    /// Counts how often this process has made a run ready.
    pub(crate) ready: Signal<u64>,
}

/// Counts how often a letter may have come. Saves a look into the inbox before every decision, and
/// wakes everybody who listens: a batch of calls is canceled as one.
#[derive(Debug)]
struct InboxSignal {
    rings: Signal<u64>,
}

impl Default for InboxSignal {
    /// A new bell has rung once: what came before there was a bell must be looked for.
    fn default() -> Self {
        Self { rings: Signal::new(1) }
    }
}

/// A driver's ear: how much of its bell it has heard.
#[derive(Debug)]
pub(crate) struct InboxCursor {
    bell: Arc<InboxSignal>,
    /// Rings after which the inbox was looked into.
    pub(crate) heard: u64,
}

impl InboxCursor {
    /// The count of rings, if it rang since the inbox was looked into.
    pub(crate) fn news(&self) -> Option<u64> {
        let rings = self.bell.rings.get();
        (rings > self.heard).then_some(rings)
    }
}

impl InboxSignal {
    /// Comes back once it rang more often than `heard`, with the new count.
    async fn version_after(&self, heard: u64) -> u64 {
        self.rings.wait_for(|rings| *rings > heard).await
    }
}

impl InboxSignals {
    /// A new driver has a new bell: an old one may have rung for somebody who is gone.
    pub(crate) fn ear(&self, run: &RunId) -> InboxCursor {
        let bell = Arc::new(InboxSignal::default());
        let mut bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        bells.insert(run.clone(), bell.clone());
        InboxCursor { bell, heard: 0 }
    }

    fn bell(&self, run: &RunId) -> Arc<InboxSignal> {
        let mut bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        bells.entry(run.clone()).or_default().clone()
    }

    /// Wakes the worker of this process: some run may be ready.
    pub(crate) fn call_workers(&self) {
        self.ready.change(|times| *times += 1);
    }

    pub(crate) fn ring(&self, run: &RunId) {
        let bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bell) = bells.get(run) {
            bell.rings.change(|rings| *rings += 1);
        }
    }

    pub(crate) fn forget(&self, run: &RunId) {
        self.bells.lock().unwrap_or_else(PoisonError::into_inner).remove(run);
    }

    fn is_idle(&self) -> bool {
        self.bells.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

impl Engine {
    /// Looks at the inboxes for as long as the process lives, for letters that other processes
    /// send.
    pub async fn deliver_mail(self: Arc<Self>) {
        loop {
            self.clock.pause(self.rules.mail_every_ms).await;
            if self.mail.is_idle() {
                continue;
            }
            // A failing look is no reason to stop: the next one comes in a moment.
            for run in self.store.inbox().runs_with_mail().await.unwrap_or_default() {
                self.mail.ring(&run);
            }
        }
    }

    /// Comes back when the run is canceled, or when this process is to stop.
    pub(crate) async fn interrupted(&self, run: &RunId, heard: u64) {
        let cancels = |letter: &InboxMessage| matches!(letter, InboxMessage::Cancel { .. });
        self.unless_stopping(self.arrived(run, heard, cancels)).await;
    }

    /// The same while nothing is performed: then a switch need not wait either.
    pub(crate) async fn interrupted_in_a_pause(&self, run: &RunId, heard: u64) {
        let ends = |letter: &InboxMessage| {
            matches!(letter, InboxMessage::Cancel { .. } | InboxMessage::Switch(_))
        };
        self.unless_stopping(self.arrived(run, heard, ends)).await;
    }

    async fn unless_stopping(&self, arrived: impl Future<Output = ()>) {
        tokio::select! {
            biased;
            () = arrived => {}
            () = self.stopping.cancelled() => {}
        }
    }

    /// Comes back when such a letter has arrived for the run after `heard` rings; never otherwise.
    ///
    /// A look that fails finds nothing: the bell rings again while the letter lies unread.
    async fn arrived(&self, run: &RunId, mut heard: u64, wanted: impl Fn(&InboxMessage) -> bool) {
        let bell = self.mail.bell(run);
        loop {
            heard = bell.version_after(heard).await;
            let unread = self.store.inbox().unread(run).await.map(|unread| unread.messages);
            if unread.unwrap_or_default().iter().any(|(_, letter)| wanted(letter)) {
                return;
            }
        }
    }
}
