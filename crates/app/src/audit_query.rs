//! Every tool call, from the journals alone. One page at a time is in memory.

use crate::error::{AppError, chain};
use crate::show::timestamp;
use everloop_engine::{AuditCall, Auditor};
use everloop_store::{RunRow, Store};
use everloop_types::{RunId, UtcMs};
use serde_json::Value;

const RUNS_PER_PAGE: usize = 100;
const ENTRIES_PER_PAGE: usize = 500;

/// Which calls are wanted.
#[derive(Default)]
pub struct AuditQuery {
    /// Those of one run.
    pub run: Option<RunId>,
    /// Those of one tool.
    pub tool: Option<String>,
    /// Those that failed.
    pub only_failed: bool,
    /// Those since then.
    pub since: UtcMs,
}

/// What comes of a query, one after the other.
pub enum AuditNews<'a> {
    /// A call of a run.
    Call(&'a RunRow, &'a AuditCall),
    /// The journal of a run cannot be read; why.
    Unreadable(&'a RunId, String),
    /// Something is missing in the journal of a run.
    Gaps(&'a RunId),
}

/// What a query came to.
pub struct AuditSummary {
    /// Whether every journal could be read and has no gaps.
    pub is_whole: bool,
    /// How many runs were left out because they came in a file.
    pub left_out: usize,
}

impl AuditQuery {
    /// Reads the journals, the oldest run first.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn read(
        &self,
        store: &Store,
        mut tell: impl FnMut(AuditNews<'_>),
    ) -> Result<AuditSummary, AppError> {
        let mut summary = AuditSummary { is_whole: true, left_out: 0 };
        if let Some(run) = &self.run {
            if let Some(row) = store.runs().get(run).await? {
                summary.is_whole = self.read_run(store, &row, &mut tell).await;
            }
            return Ok(summary);
        }
        let mut after = None::<RunId>;
        loop {
            let page = store.runs().runs_since(self.since, after.as_ref(), RUNS_PER_PAGE).await?;
            for row in &page {
                // What a file says was done is not a call of this machine.
                if row.origin.imported {
                    summary.left_out += 1;
                } else {
                    summary.is_whole &= self.read_run(store, row, &mut tell).await;
                }
            }
            match page.last() {
                Some(last) => after = Some(last.run.clone()),
                None => return Ok(summary),
            }
        }
    }

    /// The calls of one run; whether its journal is whole.
    async fn read_run(
        &self,
        store: &Store,
        row: &RunRow,
        tell: &mut impl FnMut(AuditNews<'_>),
    ) -> bool {
        let mut auditor = Auditor::new(row.origin.forked.as_ref());
        let tell_calls = |calls: Vec<AuditCall>, tell: &mut dyn FnMut(AuditNews<'_>)| {
            let wanted = calls.iter().filter(|call| self.wants(call));
            wanted.for_each(|call| tell(AuditNews::Call(row, call)));
        };
        // A journal that was shortened has gaps.
        let is_short = row.times.trimmed_at.is_some();
        let mut after = 0;
        let mut has_gaps = false;
        loop {
            let page = match store.journal().entries(&row.run, after, ENTRIES_PER_PAGE).await {
                Ok(page) => page,
                Err(error) => {
                    tell(AuditNews::Unreadable(&row.run, chain(&error)));
                    return false;
                }
            };
            let Some(last) = page.last() else { break };
            let (first, count) = (after + 1, i64::try_from(page.len()).unwrap_or(i64::MAX));
            after = last.seq;
            has_gaps |= !is_short && first + count - 1 != after;
            for entry in &page {
                tell_calls(auditor.entry(entry), tell);
            }
        }
        tell_calls(auditor.rest(), tell);
        // More may have come since the row was read; less means that something is gone.
        let is_whole = !has_gaps && after + 1 >= row.lease.next_seq;
        if !is_whole {
            tell(AuditNews::Gaps(&row.run));
        }
        is_whole
    }

    fn wants(&self, call: &AuditCall) -> bool {
        let named = self.tool.is_none() || self.tool == call.tool;
        // A copied call was made, and is told, by the run that it comes from.
        let own = !call.copied || self.run.is_some();
        call.at >= self.since && named && own && (!self.only_failed || call.has_failed())
    }
}

/// One call, for programs.
#[must_use]
pub fn call_json(row: &RunRow, call: &AuditCall) -> Value {
    let mut object = call.json(row);
    object["time"] = timestamp(call.at).into();
    object
}
