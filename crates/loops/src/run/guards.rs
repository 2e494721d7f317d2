//! Budgets and repetition, counted in the fold so that no replay and no restart counts twice.

use everloop_types::{
    Budget, BudgetKind, Counts, Frame, Limits, Observation, Reason, ToolCall, Usage, UtcMs,
    digest_json,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Guards {
    pub(super) counts: Counts,
    pub(super) context: Context,
    repetition: Repetition,
    /// The last moment at which the run was known to work; `None` while it waits or nobody drives
    /// it.
    working_since: Option<UtcMs>,
    /// What bounds a fork in place of its frame's limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    limits: Option<Limits>,
}

/// How large the prompt was when the provider last counted it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Context {
    tokens: u64,
    at_bytes: usize,
    /// Model calls made since the last compaction.
    calls_since_compaction: u32,
    compactions: u32,
    /// Summaries that took the place of what they summarise. Counted under limits that say how much
    /// a compaction has to free.
    #[serde(default, skip_serializing_if = "is_zero")]
    summaries: u32,
    /// Whether a compaction has freed too little.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    stuck: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

impl Context {
    pub(super) fn measured(&mut self, usage: Usage, bytes: usize) {
        if usage.input_tokens > 0 {
            (self.tokens, self.at_bytes) = (usage.input_tokens, bytes);
        }
        self.calls_since_compaction += 1;
    }

    pub(super) fn compacted(&mut self) {
        let (compactions, summaries) = (self.compactions + 1, self.summaries);
        *self = Self { compactions, summaries, ..Self::default() };
    }

    /// A summary took the place of what it summarises.
    pub(super) fn summarised(&mut self) {
        self.summaries += 1;
    }

    /// A summary would have freed too little: everything stays as it is, and the run ends.
    pub(super) fn freed_too_little(&mut self) {
        self.compactions += 1;
        self.stuck = true;
    }

    pub(super) fn is_stuck(&self) -> bool {
        self.stuck
    }

    /// How many summaries there were.
    pub(super) fn summaries(&self) -> u32 {
        self.summaries
    }

    /// The model gave no summary: the prompt is as large as before.
    pub(super) fn not_compacted(&mut self) {
        self.compactions += 1;
        self.calls_since_compaction = 0;
    }

    /// Whether the last compaction was just now: another one at once would free nothing.
    pub(super) fn spirals(&self) -> bool {
        self.compactions > 0 && self.calls_since_compaction < 2
    }

    /// Tokens that the prompt would have now: the last count, plus the bytes added since at four a
    /// token.
    pub(super) fn estimate(&self, bytes: usize) -> u64 {
        self.tokens.saturating_add((bytes.saturating_sub(self.at_bytes) / 4) as u64)
    }
}

/// The same call with the same result, how often in a row (RA-8).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Repetition {
    last: String,
    tool: String,
    times: u32,
    /// Of a tool whose purpose it is to be called again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    polls: bool,
}

/// How much more patience a poll gets: its result may well stay the same for a while.
const POLL_PATIENCE: u32 = 4;

impl Repetition {
    /// How often is pointed out; twice as often ends the run. `None` for no limit.
    fn limit(&self, frame: &Frame) -> Option<u32> {
        let patience = if self.polls { POLL_PATIENCE } else { 1 };
        let limit = frame.limits.context.repetitions.saturating_mul(patience);
        (limit > 0).then_some(limit)
    }
}

impl Guards {
    /// Those of a fork: nothing is used up. The prompt is as long as it was.
    pub(super) fn of_fork(&self, limits: Limits) -> Self {
        let Context { tokens, at_bytes, .. } = self.context;
        let context = Context { tokens, at_bytes, ..Context::default() };
        Self { context, limits: Some(limits), ..Self::default() }
    }

    /// The frame with the limits that hold now.
    pub(super) fn bounding(&self, frame: Arc<Frame>) -> Arc<Frame> {
        match self.limits {
            Some(limits) => Arc::new(Frame { limits, ..frame.as_ref().clone() }),
            None => frame,
        }
    }

    /// Time passes while the run works; waiting and lying unowned cost nothing. No more than
    /// `most_ms` of it was work: the machine may have slept, or its clock may have been set.
    pub(super) fn tick(&mut self, at: UtcMs, most_ms: u64) {
        if let Some(since) = self.working_since {
            let passed_ms = u64::try_from(at.saturating_sub(since)).unwrap_or(0);
            self.counts.work_ms = self.counts.work_ms.saturating_add(passed_ms.min(most_ms));
            self.working_since = Some(at.max(since));
        }
    }

    pub(super) fn begin_work(&mut self, at: UtcMs) {
        self.working_since = Some(at);
    }

    pub(super) fn stop_work(&mut self) {
        self.working_since = None;
    }

    /// Takes in one call of a finished batch. Returns whether the repetition is to be pointed out.
    pub(super) fn observe(
        &mut self,
        call: &ToolCall,
        seen: &Observation,
        polls: bool,
        frame: &Frame,
    ) -> Option<(String, u32)> {
        let same = digest_json(&(&call.tool, &call.args, seen));
        let repetition = &mut self.repetition;
        if repetition.last == same {
            repetition.times += 1;
        } else {
            *repetition = Repetition { last: same, tool: call.tool.clone(), times: 1, polls };
        }
        let limit = repetition.limit(frame)?;
        (repetition.times == limit).then(|| (call.tool.clone(), limit))
    }

    /// The guard that ends the run, if one does.
    pub(super) fn reached(&self, frame: &Frame) -> Option<Reason> {
        if self.context.is_stuck() {
            return Some(Reason::ContextFull);
        }
        let limit = self.repetition.limit(frame);
        if limit.is_some_and(|limit| self.repetition.times >= limit.saturating_mul(2)) {
            return Some(Reason::Repetition { tool: self.repetition.tool.clone() });
        }
        spent(&self.counts, &frame.limits.budget)
    }
}

/// The budget that is used up, if one is. A budget of 0 means no limit.
fn spent(counts: &Counts, budget: &Budget) -> Option<Reason> {
    [
        (BudgetKind::ModelCalls, u64::from(counts.model_calls), u64::from(budget.model_calls)),
        (BudgetKind::ToolCalls, u64::from(counts.tool_calls), u64::from(budget.tool_calls)),
        (BudgetKind::Tokens, counts.usage.total(), budget.tokens),
        (BudgetKind::WorkMs, counts.work_ms, budget.work_ms),
        (BudgetKind::Money, budget.money.cost(counts.usage), budget.money.limit),
    ]
    .into_iter()
    .find(|(_, used, limit)| *limit > 0 && used >= limit)
    .map(|(what, _, limit)| Reason::Budget { what, limit })
}

#[cfg(test)]
mod tests {
    use super::Guards;

    #[test]
    fn the_time_between_two_entries_is_work_only_as_far_as_somebody_measured_it() {
        let mut guards = Guards::default();
        guards.begin_work(1_000);
        guards.tick(1_500, 1_000);
        guards.tick(259_200_000, 2_000);
        guards.tick(259_200_010, 2_000);
        assert_eq!(guards.counts.work_ms, 500 + 2_000 + 10);
        guards.tick(5, 2_000);
        assert_eq!(guards.counts.work_ms, 2_510, "a clock that goes back takes nothing back");
    }
}
