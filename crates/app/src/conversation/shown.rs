//! Which events of a conversation's runs were shown, so that none is shown twice or missed.

use crate::following::Following;
use everloop_engine::Engine;
use everloop_types::{RunId, UtcMs};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How far each run was shown.
pub struct ShownRuns {
    engine: Arc<Engine>,
    /// When the conversation was opened.
    opened_at: UtcMs,
    /// The last event of each run that was shown, or that does not need to be.
    last_seq: BTreeMap<RunId, i64>,
}

impl ShownRuns {
    pub(super) fn new(engine: Arc<Engine>) -> Self {
        let opened_at = engine.clock().now();
        Self { engine, opened_at, last_seq: BTreeMap::new() }
    }

    /// Follows a run from what was shown of it last. One that was begun since the conversation was
    /// opened is followed from its beginning, an older one from now on.
    pub async fn follow(&self, run: &RunId) -> Following {
        match self.last_seq.get(run) {
            Some(seq) => Following::after(&self.engine, run, *seq).await,
            None if self.is_new(run).await => Following::after(&self.engine, run, 0).await,
            None => Following::from_now_on(&self.engine, run).await,
        }
    }

    /// Remembers how far a run was shown.
    pub fn note(&mut self, following: &Following) {
        self.last_seq.insert(following.run().clone(), following.last_seq());
    }

    /// What has happened to a run so far is not shown, unless a part of it was.
    pub(super) async fn pass_over_past(&mut self, run: &RunId) {
        if self.last_seq.contains_key(run) {
            return;
        }
        // A run whose position cannot be read now is followed from where it is then.
        if let Ok(Some(at)) = self.engine.store().runs().position(run).await {
            self.last_seq.insert(run.clone(), at.next_seq - 1);
        }
    }

    async fn is_new(&self, run: &RunId) -> bool {
        let row = self.engine.store().runs().get(run).await.ok().flatten();
        row.is_some_and(|row| row.times.created_at >= self.opened_at)
    }
}
