//! Delivers queued messages to their channels: at least once, in order, under one id.
//!
//! ```text
//!   due ──hold──► deliver ──► sent
//!    ▲              └── failed: due again after a back-off; those behind it wait
//!    └── its holder died: due again when the hold is over
//! ```
//!
//! Channels that this process does not have are left to processes that have them.
//!
//! Deliberately absent: giving up. A message stays due until it is sent.

use crate::Engine;
use everloop_ports::{Deliver, Delivery};
use everloop_store::{OutboxRow, StoreError};
use futures_util::future::join_all;
use std::sync::Arc;

/// How often the outbox is polled.
const LOOK_EVERY_MS: u64 = 250;

/// Messages that are delivered at once, each of another conversation or channel.
const AT_ONCE_MAX: usize = 16;

/// Messages that are read at once to find those: any number may be for channels of other processes,
/// or for channels that nobody has any more.
const LOOKED_AT: usize = 256;

/// How long a process holds a message that it delivers; no delivery takes longer.
const HOLD_MS: u64 = 20_000;

/// The share of the delivery itself, so that its result can be written before the hold is over.
const DELIVERY_MS: u64 = 15_000;

impl Engine {
    /// Delivers due messages as long as the process lives.
    pub async fn deliver_outbox(self: Arc<Self>, sender: Arc<dyn Deliver>) {
        while !self.stopping.is_cancelled() {
            // A failing store does not end this task: the next poll comes in a moment.
            if self.deliver_due(sender.as_ref()).await.unwrap_or(0) == 0 {
                self.clock.pause(LOOK_EVERY_MS).await;
            }
        }
    }

    /// Delivers what is due now; returns how many messages arrived.
    ///
    /// # Errors
    /// If the store fails; a message that arrived may then be delivered again, under the same id.
    pub async fn deliver_due(&self, sender: &dyn Deliver) -> Result<usize, StoreError> {
        let ours = due_for(self, sender).await?.into_iter();
        let results = join_all(ours.map(|row| self.deliver_one(row, sender))).await;
        let mut arrived = 0;
        for result in results {
            arrived += usize::from(result?);
        }
        Ok(arrived)
    }

    /// Delivers one message, unless another process holds it. Returns whether it arrived.
    async fn deliver_one(&self, row: OutboxRow, sender: &dyn Deliver) -> Result<bool, StoreError> {
        let until = self.clock.now().saturating_add_unsigned(HOLD_MS);
        if !self.store.outbox().hold(&row, until).await? {
            return Ok(false);
        }
        let (id, at) = (row.outbox_id.clone(), self.clock.now());
        let delivery = Delivery { id, channel: row.channel, text: row.body, at };
        let delivered = tokio::select! {
            biased;
            delivered = sender.deliver(&delivery) => delivered.is_ok(),
            () = self.clock.pause(DELIVERY_MS) => false,
        };
        let now = self.clock.now();
        if delivered {
            self.store.outbox().mark_sent(&row.outbox_id, now).await?;
        } else {
            let failed = u32::try_from(row.tries).unwrap_or(u32::MAX).saturating_add(1);
            let wait_ms = self.rules.backoff(failed, None);
            let again_at = now.saturating_add_unsigned(wait_ms);
            self.store.outbox().mark_failed(&row.outbox_id, again_at).await?;
        }
        Ok(delivered)
    }
}

/// What is due for channels that `sender` has.
async fn due_for(engine: &Engine, sender: &dyn Deliver) -> Result<Vec<OutboxRow>, StoreError> {
    let now = engine.clock.now();
    let (mut ours, mut last) = (Vec::new(), None);
    loop {
        let page = engine.store.outbox().due(now, last.as_ref(), LOOKED_AT).await?;
        last = page.last().cloned();
        let is_last = page.len() < LOOKED_AT;
        ours.extend(page.into_iter().filter(|row| sender.has(&row.channel)));
        if is_last || ours.len() >= AT_ONCE_MAX {
            ours.truncate(AT_ONCE_MAX);
            return Ok(ours);
        }
    }
}
