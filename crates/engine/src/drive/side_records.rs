//! The records beside the journal: snapshots, summaries and the audit log.

use crate::{Auditor, Engine, Summary};
use everloop_loops::AnyRun;
use everloop_store::{RunRow, StoreError};
use everloop_types::RunId;
use everloop_types::journal::Entry;

/// How far the records beside the journal have come.
pub(super) struct SideRecords<'e> {
    engine: &'e Engine,
    /// Position of the newest snapshot.
    pub(super) snapshot_at: i64,
    /// Number of the newest summary that was passed on.
    summary: u32,
    /// Writes the audit log, if there is one.
    audit: Option<Box<(Auditor, RunRow)>>,
}

impl<'e> SideRecords<'e> {
    pub(super) fn new(engine: &'e Engine, snapshot_at: i64) -> Self {
        Self { engine, snapshot_at, summary: 0, audit: None }
    }

    /// Reads the journal, so that the outcome of a call that was planned earlier is logged with its
    /// arguments. What was logged earlier is not logged again.
    pub(super) async fn open_audit(&mut self, run: &RunId) -> Result<(), StoreError> {
        if self.engine.environment.audit_log().is_none() {
            return Ok(());
        }
        let Some(row) = self.engine.store.runs().get(run).await? else {
            return Ok(());
        };
        let mut auditor = Auditor::new(row.origin.forked.as_ref());
        for entry in self.engine.store.journal().entries(run, 0, usize::MAX).await? {
            auditor.entry(&entry);
        }
        self.audit = Some(Box::new((auditor, row)));
        Ok(())
    }

    /// Logs the calls that ended with these durable entries.
    pub(super) fn audit(&mut self, entries: &[Entry]) {
        let (Some(log), Some(audit)) = (self.engine.environment.audit_log(), &mut self.audit)
        else {
            return;
        };
        let (auditor, row) = audit.as_mut();
        for call in entries.iter().flat_map(|entry| auditor.entry(entry)) {
            log.write(&call, row);
        }
    }

    /// Passes a summary on once it is durable. Nothing happens in between, so after a crash only
    /// the newest one can be missing. A conversation that is kept out of memory leaves none; while
    /// that cannot be read, the summary waits for the next commit.
    pub(super) async fn remember(&mut self, run: &RunId, state: &AnyRun) {
        let Some((number, text)) = state.summary().filter(|(n, _)| *n > self.summary) else {
            return;
        };
        let Ok(is_kept_out) = self.engine.store.facts().is_kept_out(run).await else { return };
        if is_kept_out {
            self.summary = number;
            return;
        }
        let at = state.last_at();
        let untrusted = !state.holding().untrusted.is_empty();
        let summary = Summary { run, number, text: &text, at, untrusted };
        self.engine.environment.remember(state.frame(), &summary);
        self.summary = number;
    }
}
