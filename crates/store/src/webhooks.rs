//! Webhooks that were received: each id counts once, until it is too old to be accepted anyway.

use crate::{
    db::Urgency,
    error::StoreError,
    facets::Conversations,
    statement::{any, params},
};
use everloop_types::{RunId, Statement, UtcMs};

const SEEN: &str = "SELECT run_id FROM webhooks_seen WHERE channel = $1 AND webhook_id = $2";

const NOTE: Statement = Statement::screened(
    "
    INSERT INTO webhooks_seen (channel, webhook_id, run_id, expires_at) VALUES ($1, $2, $3, $4)
    ON CONFLICT DO NOTHING
",
);

const FORGET: Statement = Statement::screened("DELETE FROM webhooks_seen WHERE expires_at < $1");

impl Conversations<'_> {
    /// The run that a webhook led to when it was received first.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn seen_webhook(self, channel: &str, id: &str) -> Result<Option<RunId>, StoreError> {
        let found = self.store.first(SEEN, params![channel, id]).await?;
        Ok(found.map(|row| row.cells().text()).transpose()?.map(RunId::new))
    }

    /// Notes that a webhook was received, and forgets those that expired before `now`.
    ///
    /// # Errors
    /// See [`StoreError`]. It may be repeated.
    pub async fn note_webhook(
        self,
        channel: &str,
        id: &str,
        run: &RunId,
        now: UtcMs,
        expires_at: UtcMs,
    ) -> Result<(), StoreError> {
        let note = any(NOTE, params![channel, id, run.as_str(), expires_at]);
        let forget = any(FORGET, params![now]);
        self.store.db.commit(vec![note, forget], Urgency::Critical).await?;
        Ok(())
    }
}
