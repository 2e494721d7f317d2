//! A run that another process drives, shown as if this one did: from its journal.

use super::run_of;
use everloop_engine::{Engine, History, Update};
use everloop_store::Store;
use everloop_types::{RunId, UtcMs};

/// Entries that are shown at once at most.
const ENTRIES_MAX: usize = 500;

/// A run that began so recently is shown from its beginning.
const FRESH_MS: i64 = 5_000;

/// How much of a run's journal was shown.
pub(crate) struct Afar {
    run: RunId,
    /// The last entry that was shown.
    seen: i64,
    /// Where `seen` stood when entries were found missing.
    stuck_at: Option<i64>,
}

impl Afar {
    /// From now on; of a run that has only just begun, from its beginning.
    pub(crate) async fn of(store: &Store, run: &RunId, now: UtcMs) -> Self {
        let row = store.runs().get(run).await.ok().flatten();
        let is_fresh = |created_at: UtcMs| now.saturating_sub(created_at) < FRESH_MS;
        let seen = match row {
            Some(row) if row.lease.epoch <= 1 && is_fresh(row.times.created_at) => 0,
            Some(row) => row.lease.next_seq - 1,
            None => 0,
        };
        Self { run: run.clone(), seen, stuck_at: None }
    }

    /// The run that is shown.
    pub(crate) fn run(&self) -> &RunId {
        &self.run
    }

    /// Whether an update is still to be shown; it counts as shown then.
    pub(crate) fn is_new(&mut self, update: &Update) -> bool {
        let Update::Entry(_, entry) = update else { return true };
        if run_of(update) != &self.run {
            return true;
        }
        let is_new = entry.seq > self.seen;
        self.seen = self.seen.max(entry.seq);
        is_new
    }

    /// What has happened elsewhere. What this process drives comes by itself within a moment, so
    /// entries count as missed when they are still missing at the next look, and nobody drives the
    /// run here.
    pub(crate) async fn missed(&mut self, engine: &Engine) -> Vec<Update> {
        let store = engine.store();
        let at = store.runs().position(&self.run).await.ok().flatten();
        if at.is_none_or(|at| at.next_seq - 1 <= self.seen) {
            self.stuck_at = None;
            return Vec::new();
        }
        if self.stuck_at.replace(self.seen) != Some(self.seen) {
            return Vec::new();
        }
        match store.queue().held_by(&engine.identity().worker).await {
            Ok(held) if held.iter().all(|claim| claim.run != self.run) => self.rest(store).await,
            _ => Vec::new(),
        }
    }

    /// All that was not shown yet. A store that fails for a moment is looked at again.
    pub(crate) async fn rest(&self, store: &Store) -> Vec<Update> {
        let entries =
            store.journal().entries(&self.run, self.seen, ENTRIES_MAX).await.unwrap_or_default();
        if entries.is_empty() {
            return Vec::new();
        }
        let run = &self.run;
        let told = entries.into_iter().map(|entry| Update::Entry(run.clone(), Box::new(entry)));
        let mut updates: Vec<Update> = told.collect();
        if let Ok(Some(history)) = History::read(store, run).await
            && let Ok(state) = history.state_at(i64::MAX)
        {
            updates.push(Update::Progress(run.clone(), state.progress()));
        }
        updates
    }
}
