//! Who is told that a letter has come. The letters themselves live in the store's inbox.

use crate::Engine;
use everloop_store::StoreError;
use everloop_types::RunId;
use everloop_types::journal::Letter;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

/// The bells of the runs that are driven here.
#[derive(Debug, Default)]
pub(crate) struct Mail {
    bells: Mutex<BTreeMap<RunId, Arc<Bell>>>,
}

/// Rings when a letter has come. Saves a look into the inbox before every decision.
#[derive(Debug)]
pub(crate) struct Bell {
    rung: AtomicBool,
    notify: Notify,
}

impl Default for Bell {
    /// A new bell counts as rung: what came before there was a bell must be looked for.
    fn default() -> Self {
        Self { rung: AtomicBool::new(true), notify: Notify::new() }
    }
}

impl Bell {
    /// Whether it rang since the last time this was asked.
    pub(crate) fn was_rung(&self) -> bool {
        self.rung.swap(false, Ordering::AcqRel)
    }
}

impl Mail {
    pub(crate) fn bell(&self, run: &RunId) -> Arc<Bell> {
        let mut bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        bells.entry(run.clone()).or_default().clone()
    }

    pub(crate) fn ring(&self, run: &RunId) {
        let bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bell) = bells.get(run) {
            bell.rung.store(true, Ordering::Release);
            bell.notify.notify_one();
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
            for run in self.store.runs_with_mail().await.unwrap_or_default() {
                self.mail.ring(&run);
            }
        }
    }

    /// Comes back when a cancel has arrived for the run; never otherwise.
    pub(crate) async fn cancel_arrived(&self, run: &RunId) -> Result<(), StoreError> {
        let bell = self.mail.bell(run);
        loop {
            bell.notify.notified().await;
            let unread = self.store.unread(run).await?;
            if unread.letters.iter().any(|(_, letter)| matches!(letter, Letter::Cancel { .. })) {
                return Ok(());
            }
        }
    }
}
