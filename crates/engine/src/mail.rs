//! Who is told that a letter has come. The letters themselves live in the store's inbox.

use crate::Engine;
use everloop_store::StoreError;
use everloop_types::RunId;
use everloop_types::journal::Letter;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

/// The bells of the runs that are driven here.
#[derive(Debug, Default)]
pub(crate) struct Mail {
    bells: Mutex<BTreeMap<RunId, Arc<Notify>>>,
}

impl Mail {
    fn bell(&self, run: &RunId) -> Arc<Notify> {
        let mut bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        bells.entry(run.clone()).or_default().clone()
    }

    pub(crate) fn ring(&self, run: &RunId) {
        let bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bell) = bells.get(run) {
            bell.notify_one();
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
    /// Looks at the inboxes for as long as the process lives, for letters that other processes send.
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
            bell.notified().await;
            let unread = self.store.unread(run).await?;
            if unread.letters.iter().any(|(_, letter)| matches!(letter, Letter::Cancel { .. })) {
                return Ok(());
            }
        }
    }
}
