//! What a conversation and a day have used: calls, tokens and, where prices are known, money.

use crate::app::App;
use crate::error::AppError;
use crate::prices::Cost;
use crate::runs::RunDetails;
use everloop_store::Store;
use everloop_types::{ConversationId, RunId, Usage, UtcMs};
use jiff::Zoned;

/// Runs that are looked at for a report.
const RUNS_MAX: usize = 500;

/// What some runs have used.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UsageTotals {
    /// How many runs.
    pub runs: usize,
    /// Model calls.
    pub model_calls: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Tokens.
    pub usage: Usage,
    /// What those with a price have cost.
    pub cost: Option<Cost>,
    /// Runs that used a model without a price.
    pub unpriced: usize,
}

/// The two that people ask for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UsageReport {
    /// Of the conversation.
    pub conversation: UsageTotals,
    /// Of all runs that changed today.
    pub today: UsageTotals,
}

impl UsageReport {
    /// Reads both. `now` is the person's.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn read(
        app: &App,
        store: &Store,
        conversation: &ConversationId,
        now: &Zoned,
    ) -> Result<Self, AppError> {
        let own = store.conversations().runs_of(conversation, RUNS_MAX).await?;
        let midnight: UtcMs = now.start_of_day().map_or(0, |day| day.timestamp().as_millisecond());
        let today = store.runs().runs_since(midnight, None, RUNS_MAX).await?;
        let today: Vec<RunId> = today.into_iter().map(|row| row.run).collect();
        Ok(Self {
            conversation: UsageTotals::of(app, store, &own).await?,
            today: UsageTotals::of(app, store, &today).await?,
        })
    }
}

impl UsageTotals {
    /// What these runs have used; one that cannot be read is left out.
    async fn of(app: &App, store: &Store, runs: &[RunId]) -> Result<Self, AppError> {
        let mut totals = Self::default();
        for run in runs {
            match RunDetails::read(app, store, run).await {
                Ok(details) => totals.add(&details),
                Err(AppError::Store(error)) if error.is_transient() => return Err(error.into()),
                Err(_) => {}
            }
        }
        Ok(totals)
    }

    fn add(&mut self, run: &RunDetails) {
        let counts = &run.counts;
        self.runs += 1;
        self.model_calls += u64::from(counts.model_calls);
        self.tool_calls += u64::from(counts.tool_calls);
        self.usage.input_tokens += counts.usage.input_tokens;
        self.usage.output_tokens += counts.usage.output_tokens;
        self.usage.cached_tokens += counts.usage.cached_tokens;
        match (&mut self.cost, &run.cost) {
            (Some(all), Some(one)) => all.amount += one.amount,
            (all @ None, Some(one)) => *all = Some(one.clone()),
            (_, None) if counts.model_calls > 0 => self.unpriced += 1,
            (_, None) => {}
        }
    }
}
