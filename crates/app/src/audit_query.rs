//! The audit (DR-19): every tool call, every decision on a message, every transition of a run and
//! every permission, from the journals alone, every change of a fact, and what was deleted. One
//! page at a time is in memory.

mod steps;

pub use steps::AuditStep;

use crate::error::{AppError, chain};
use crate::show::timestamp;
use everloop_engine::{AuditCall, Auditor};
use everloop_store::{DeletionRow, FactChange, RunRow, Store};
use everloop_types::journal::Entry;
use everloop_types::{RunId, UtcMs};
use serde_json::{Value, json};
use steps::AuditStepReader;

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
    /// Those before this moment.
    pub until: Option<UtcMs>,
    /// Those of one kind.
    pub event: Option<AuditEvent>,
}

/// What an event of the audit is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditEvent {
    /// An attempt at a tool call.
    ToolCall,
    /// A decision on a message.
    Decision,
    /// A run was created, claimed, waits, has ended, is done again or goes on as another one.
    Run,
    /// Permission was asked for, given or denied.
    Approval,
    /// A change of a fact.
    Memory,
    /// A run or a conversation was deleted.
    Deleted,
}

impl AuditEvent {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::ToolCall, Self::Decision, Self::Run, Self::Approval, Self::Memory, Self::Deleted];

    /// For programs, and as people write it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ToolCall => "tool_call",
            Self::Decision => "decision",
            Self::Run => "run",
            Self::Approval => "approval",
            Self::Memory => "memory",
            Self::Deleted => "deleted",
        }
    }

    /// Reads what [`Self::as_str`] writes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.as_str() == text)
    }
}

/// What comes of a query, one after the other.
pub enum AuditNews<'a> {
    /// A call of a run, or a decision.
    Call(&'a RunRow, &'a AuditCall),
    /// A transition of a run, or a permission.
    Step(&'a RunRow, &'a AuditStep),
    /// A change of a fact.
    Fact(&'a FactChange),
    /// What was deleted.
    Deleted(&'a DeletionRow),
    /// The journal of a run cannot be read; why.
    Unreadable(&'a RunId, String),
    /// Something is missing in the journal of a run.
    Gaps(&'a RunId),
}

impl AuditNews<'_> {
    /// For programs. Nothing for what is no event.
    #[must_use]
    pub fn json(&self) -> Option<Value> {
        match self {
            Self::Call(row, call) => Some(call_json(row, call)),
            Self::Step(row, step) => Some(step.json(row)),
            Self::Fact(change) => Some(fact_json(change)),
            Self::Deleted(row) => Some(deletion_json(row)),
            Self::Unreadable(..) | Self::Gaps(_) => None,
        }
    }
}

/// Who is told what comes of a query, and may be slow.
pub trait AuditSink: Send {
    /// Takes one thing in.
    fn tell(&mut self, news: AuditNews<'_>);

    /// Passes on what it was told so far; comes after every page. Returns whether it wants more.
    fn pass_on(&mut self) -> impl Future<Output = bool> + Send {
        std::future::ready(true)
    }
}

/// A function that is told everything at once.
struct ToldFunction<F>(F);

impl<F: FnMut(AuditNews<'_>) + Send> AuditSink for ToldFunction<F> {
    fn tell(&mut self, news: AuditNews<'_>) {
        (self.0)(news);
    }
}

/// What a query came to.
pub struct AuditSummary {
    /// Whether every journal could be read and has no gaps.
    pub is_whole: bool,
    /// How many runs were left out because they came in a file.
    pub left_out: usize,
}

impl AuditQuery {
    /// Reads the journals, the oldest run first, then the changes of facts and what was deleted.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn read(
        &self,
        store: &Store,
        tell: impl FnMut(AuditNews<'_>) + Send,
    ) -> Result<AuditSummary, AppError> {
        self.read_into(store, ToldFunction(tell)).await
    }

    /// The same, page by page.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub async fn read_into(
        &self,
        store: &Store,
        mut sink: impl AuditSink,
    ) -> Result<AuditSummary, AppError> {
        let mut summary = AuditSummary { is_whole: true, left_out: 0 };
        if !matches!(self.event, Some(AuditEvent::Memory | AuditEvent::Deleted)) {
            self.read_runs(store, &mut summary, &mut sink).await?;
        }
        // A change of a fact neither calls a tool nor fails.
        if self.wants_event(AuditEvent::Memory) {
            self.read_facts(store, &mut sink).await?;
        }
        if self.wants_event(AuditEvent::Deleted) {
            self.read_deletions(store, &mut sink).await?;
        }
        sink.pass_on().await;
        Ok(summary)
    }

    /// Only calls have a tool, and fail.
    fn wants_event(&self, event: AuditEvent) -> bool {
        let is_call = matches!(event, AuditEvent::ToolCall | AuditEvent::Decision);
        let is_about_calls = self.tool.is_some() || self.only_failed;
        self.event.is_none_or(|wanted| wanted == event) && (is_call || !is_about_calls)
    }

    /// The changes of facts, the oldest first; those of one run after each other.
    async fn read_facts(&self, store: &Store, sink: &mut impl AuditSink) -> Result<(), AppError> {
        if let Some(run) = &self.run {
            for fact in store.facts().of_run(run).await? {
                let changes = store.facts().history(&fact.id).await?;
                let wanted = changes.iter().filter(|change| self.covers(change.at));
                wanted.for_each(|change| sink.tell(AuditNews::Fact(change)));
            }
            return Ok(());
        }
        let mut last = None;
        loop {
            let page = store.facts().changes(self.since, last.as_ref(), ENTRIES_PER_PAGE).await?;
            let wanted = page.iter().filter(|change| self.covers(change.at));
            wanted.for_each(|change| sink.tell(AuditNews::Fact(change)));
            match page.into_iter().next_back() {
                Some(end) if sink.pass_on().await => last = Some(end),
                _ => return Ok(()),
            }
        }
    }

    /// What was deleted, the oldest first.
    async fn read_deletions(
        &self,
        store: &Store,
        sink: &mut impl AuditSink,
    ) -> Result<(), AppError> {
        let mut last = None;
        loop {
            let all = store.maintenance();
            let page = all.deletions(self.since, last.as_ref(), ENTRIES_PER_PAGE).await?;
            let is_of_run = |row: &DeletionRow| self.run.is_none() || self.run == row.run_id;
            let fits = |row: &&DeletionRow| is_of_run(row) && self.covers(row.at);
            page.iter().filter(fits).for_each(|row| sink.tell(AuditNews::Deleted(row)));
            match page.into_iter().next_back() {
                Some(end) if sink.pass_on().await => last = Some(end),
                _ => return Ok(()),
            }
        }
    }

    async fn read_runs(
        &self,
        store: &Store,
        summary: &mut AuditSummary,
        sink: &mut impl AuditSink,
    ) -> Result<(), AppError> {
        if let Some(run) = &self.run {
            if let Some(row) = store.runs().get(run).await? {
                summary.is_whole = self.read_run(store, &row, sink).await;
            }
            return Ok(());
        }
        let mut after = None::<RunId>;
        loop {
            let page = store.runs().runs_since(self.since, after.as_ref(), RUNS_PER_PAGE).await?;
            for row in &page {
                // What a file says was done is not a call of this machine.
                if row.origin.imported {
                    summary.left_out += 1;
                } else {
                    summary.is_whole &= self.read_run(store, row, sink).await;
                }
            }
            match page.last() {
                Some(last) if sink.pass_on().await => after = Some(last.run.clone()),
                _ => return Ok(()),
            }
        }
    }

    /// What one run did; whether its journal is whole.
    async fn read_run(&self, store: &Store, row: &RunRow, sink: &mut impl AuditSink) -> bool {
        let mut reader = RunReader::new(self, row);
        // A journal that was shortened has gaps.
        let is_short = row.times.trimmed_at.is_some();
        let mut after = 0;
        let mut has_gaps = false;
        loop {
            let page = match store.journal().entries(&row.run, after, ENTRIES_PER_PAGE).await {
                Ok(page) => page,
                Err(error) => {
                    sink.tell(AuditNews::Unreadable(&row.run, chain(&error)));
                    return false;
                }
            };
            let Some(last) = page.last() else { break };
            let (first, count) = (after + 1, i64::try_from(page.len()).unwrap_or(i64::MAX));
            after = last.seq;
            has_gaps |= !is_short && first + count - 1 != after;
            page.iter().for_each(|entry| reader.entry(entry, sink));
            if !sink.pass_on().await {
                return true;
            }
        }
        reader.end(sink);
        // More may have come since the row was read; less means that something is gone.
        let is_whole = !has_gaps && after + 1 >= row.lease.next_seq;
        if !is_whole {
            sink.tell(AuditNews::Gaps(&row.run));
        }
        is_whole
    }

    fn wants(&self, call: &AuditCall) -> bool {
        let named = self.tool.is_none() || self.tool == call.tool;
        // A copied call was made, and is told, by the run that it comes from.
        let own = !call.copied || self.run.is_some();
        let event = if call.is_decision() { AuditEvent::Decision } else { AuditEvent::ToolCall };
        let fits = named && own && (!self.only_failed || call.has_failed());
        self.covers(call.at) && fits && self.wants_event(event)
    }

    /// Whether a moment is within the time that is wanted.
    fn covers(&self, at: UtcMs) -> bool {
        at >= self.since && self.until.is_none_or(|until| at < until)
    }
}

/// Reads the journal of one run for a query.
struct RunReader<'a> {
    query: &'a AuditQuery,
    row: &'a RunRow,
    auditor: Auditor,
    steps: AuditStepReader<'a>,
}

impl<'a> RunReader<'a> {
    fn new(query: &'a AuditQuery, row: &'a RunRow) -> Self {
        let auditor = Auditor::new(row.origin.forked.as_ref());
        Self { query, row, auditor, steps: AuditStepReader::new(row) }
    }

    fn entry(&mut self, entry: &Entry, sink: &mut impl AuditSink) {
        let query = self.query;
        let step = self.steps.entry(entry).filter(|step| query.covers(step.at));
        if let Some(step) = step.filter(|step| query.wants_event(step.event)) {
            sink.tell(AuditNews::Step(self.row, &step));
        }
        let calls = self.auditor.entry(entry);
        self.tell_calls(&calls, sink);
    }

    fn end(self, sink: &mut impl AuditSink) {
        let Self { query, row, auditor, .. } = self;
        let calls = auditor.rest();
        let wanted = calls.iter().filter(|call| query.wants(call));
        wanted.for_each(|call| sink.tell(AuditNews::Call(row, call)));
    }

    fn tell_calls(&self, calls: &[AuditCall], sink: &mut impl AuditSink) {
        let wanted = calls.iter().filter(|call| self.query.wants(call));
        wanted.for_each(|call| sink.tell(AuditNews::Call(self.row, call)));
    }
}

/// One change of a fact, for programs.
#[must_use]
pub fn fact_json(change: &FactChange) -> Value {
    let mut object = json!(change);
    object["event"] = AuditEvent::Memory.as_str().into();
    object["ts"] = change.at.into();
    object["time"] = timestamp(change.at).into();
    object
}

fn deletion_json(row: &DeletionRow) -> Value {
    let mut object = json!(row);
    object["event"] = AuditEvent::Deleted.as_str().into();
    object["ts"] = row.at.into();
    object["time"] = timestamp(row.at).into();
    object
}

/// One call, for programs.
#[must_use]
pub fn call_json(row: &RunRow, call: &AuditCall) -> Value {
    let mut object = call.json(row);
    object["time"] = timestamp(call.at).into();
    object
}
