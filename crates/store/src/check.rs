//! Verifying the checksums of runs: whether what is stored is still what was written.

use crate::{db::DbError, error::StoreError, facets::Maintenance, statement::params};
use everloop_types::RunId;
use std::time::{Duration, Instant};

/// Entries that are read at once.
const ENTRIES_PER_PAGE: usize = 500;

/// The newest first: they are needed soonest, and the time may not suffice for all.
const ALL_RUNS: &str = "
    SELECT run_id FROM runs ORDER BY updated_at DESC, run_id
";

const LENGTH: &str = "SELECT next_seq, trimmed_at FROM runs WHERE run_id = $1";

/// What [`crate::Maintenance::check_runs`] found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunCheck {
    /// Runs that were checked.
    pub checked: u64,
    /// Runs that were skipped because the time was up.
    pub left: u64,
    /// Runs whose frame or an entry is missing or altered.
    pub damaged: Vec<RunId>,
}

impl Maintenance<'_> {
    /// Reads the frame and the journal of every run within `time`, and compares the checksums.
    ///
    /// # Errors
    /// See [`StoreError`]. A damaged run is reported in the result, not as an error.
    pub async fn check_runs(self, time: Duration) -> Result<RunCheck, StoreError> {
        let begun = Instant::now();
        let mut seen = RunCheck::default();
        for row in self.store.rows(ALL_RUNS, params![]).await? {
            if begun.elapsed() > time {
                seen.left += 1;
                continue;
            }
            let run = RunId::new(row.cells().text()?);
            seen.checked += 1;
            match self.check_run(&run).await {
                // Only the newer program that wrote it can check it.
                Ok(()) | Err(StoreError::NewerEntry { .. }) => {}
                Err(StoreError::Damaged { .. } | StoreError::Db(DbError::Shape { .. })) => {
                    seen.damaged.push(run);
                }
                Err(other) => return Err(other),
            }
        }
        Ok(seen)
    }

    /// Reads the frame and the journal of one run, and compares the checksums. Only a journal that
    /// was trimmed may have gaps.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] for the first entry that is missing or altered.
    pub async fn check_run(self, run: &RunId) -> Result<(), StoreError> {
        let damaged = |seq| StoreError::Damaged { run: run.clone(), seq };
        // Before the entries: a journal only grows, so it must reach at least that far.
        let Some(row) = self.store.first(LENGTH, params![run.as_str()]).await? else {
            return Ok(());
        };
        let mut cells = row.cells();
        let (next, trimmed) = (cells.int()?, cells.opt_int()?.is_some());
        self.store.journal().frame(run).await?;
        let mut last = 0;
        loop {
            let page = self.store.journal().entries(run, last, ENTRIES_PER_PAGE).await?;
            for entry in &page {
                if !trimmed && entry.seq != last + 1 {
                    return Err(damaged(last + 1));
                }
                last = entry.seq;
            }
            if page.is_empty() {
                // A shorter journal means that entries are missing.
                return if last + 1 < next { Err(damaged(last + 1)) } else { Ok(()) };
            }
        }
    }
}
