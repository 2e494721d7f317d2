//! Runs as a surface shows them: one run with its numbers, its relatives, its open questions.

use crate::app::App;
use crate::error::{AppError, RunError};
use crate::prices::Cost;
use crate::run_json;
use everloop_engine::{History, OpenUnknown};
use everloop_store::{FactRow, ForkOrigin, OutboxCount, RunRow, Store};
use everloop_types::journal::{
    EffectPlanned, EntryKind, InboxMessage, Input, RunFinished, WaitingOn,
};
use everloop_types::{Counts, Progress, Question, Reason, RunId, Status};
use serde_json::Value;

/// A run with its numbers and words, folded from its journal.
pub struct RunDetails {
    /// Its row in the store.
    pub row: RunRow,
    /// Its whole journal.
    pub history: History,
    /// What it has used.
    pub counts: Counts,
    /// Where its plan is.
    pub progress: Progress,
    /// What it waits for, if it waits.
    pub waiting_on: Option<WaitingOn>,
    /// The open question as the person reads it.
    pub question: Option<String>,
    /// Calls whose outcome the journal does not know.
    pub unknowns: Vec<OpenUnknown>,
    /// Runs that were forked from it, and where.
    pub forks: Vec<ForkOrigin>,
    /// Runs that do it again.
    pub retries: Vec<RunId>,
    /// Messages that it queued for channels outside.
    pub messages: OutboxCount,
    /// What it has cost, where all prices are known.
    pub cost: Option<Cost>,
    /// Facts that it and its helpers proposed.
    pub facts: Vec<FactRow>,
}

impl RunDetails {
    /// Reads a run.
    ///
    /// # Errors
    /// [`RunError::NotFound`], or if the store fails.
    pub async fn read(app: &App, store: &Store, run: &RunId) -> Result<Self, AppError> {
        let row = store.runs().get(run).await?;
        let history = history(store, run).await?;
        let state = history.state_at(i64::MAX)?;
        let row = row.ok_or_else(|| RunError::NotFound(run.to_string()))?;
        let waiting_on = state.waiting_on().cloned();
        let question = match &waiting_on {
            Some(WaitingOn::Person { question }) => question_text(store, run, question).await?,
            _ => None,
        };
        let progress = state.progress();
        let counts = if history.is_whole() { state.counts() } else { history.counts_of_outcomes() };
        let forks = store.runs().forks(run).await?;
        let retries = store.runs().retries(run).await?;
        let settlements = store.journal().settlements(run).await?;
        let unknowns = history.unknowns(&settlements)?;
        let messages = store.outbox().count(run).await?;
        let cost = app.prices().cost(&history);
        let facts = store.facts().of_run(run).await?;
        Ok(Self {
            row,
            history,
            counts,
            progress,
            waiting_on,
            question,
            unknowns,
            forks,
            retries,
            messages,
            cost,
            facts,
        })
    }

    /// Why the run ended as it did.
    #[must_use]
    pub fn reason(&self) -> Option<&Reason> {
        self.history.entries.iter().rev().find_map(|entry| match &entry.kind {
            EntryKind::RunFinished(RunFinished { reason, .. }) => reason.as_ref(),
            _ => None,
        })
    }

    /// The calls whose outcome nobody knows yet.
    pub fn open_unknowns(&self) -> impl Iterator<Item = &OpenUnknown> {
        self.unknowns.iter().filter(|unknown| unknown.settled.is_none())
    }

    /// Whether something is still to be settled.
    #[must_use]
    pub fn has_open_unknown(&self) -> bool {
        self.open_unknowns().next().is_some()
    }

    /// Whether every outcome that was unknown at the end is known now.
    #[must_use]
    pub fn is_settled_since(&self) -> bool {
        self.row.status == Status::Unsettled
            && !self.unknowns.is_empty()
            && !self.has_open_unknown()
    }

    /// The run that continues this one, and its loop.
    #[must_use]
    pub fn successor(&self) -> Option<(&RunId, &str)> {
        let switch = self.history.entries.iter().rev().find_map(|entry| match &entry.kind {
            EntryKind::Input(Input { message: InboxMessage::Switch(switch), .. }) => Some(switch),
            _ => None,
        });
        // It was made with the ending, or never.
        let made = switch.filter(|switch| self.forks.iter().any(|fork| fork.run == switch.to));
        made.map(|switch| (&switch.to, switch.loop_name.as_str()))
    }

    /// What the person said while it worked, as far as a model was asked afterwards.
    #[must_use]
    pub fn heeded(&self) -> Vec<&str> {
        let mut said = Vec::new();
        let mut heeded = Vec::new();
        for entry in &self.history.entries {
            match &entry.kind {
                EntryKind::Input(Input { message: InboxMessage::Steer { text }, .. }) => {
                    said.push(text.as_str());
                }
                EntryKind::EffectPlanned(EffectPlanned::CallModel { .. }) => {
                    heeded.append(&mut said)
                }
                _ => {}
            }
        }
        heeded
    }

    /// The last words, or what the run waits for.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        match (self.history.final_text(), &self.waiting_on) {
            (Some(text), _) => Some(text.to_owned()),
            (None, Some(WaitingOn::Person { .. })) => self.question.clone(),
            (None, Some(WaitingOn::Model { error })) => Some(error.detail.clone()),
            (None, Some(WaitingOn::Child { .. } | WaitingOn::Timer { .. }) | None) => None,
        }
    }

    /// From its creation to its last entry.
    #[must_use]
    pub fn duration_ms(&self) -> i64 {
        let last = self.history.entries.last().map_or(0, |entry| entry.at);
        last.saturating_sub(self.row.times.created_at).max(0)
    }

    /// The object that `run --output-format json` prints.
    #[must_use]
    pub fn result(&self) -> Value {
        run_json::result(self)
    }

    /// The object that `runs show --json` prints: the list's fields, the numbers, the plan.
    #[must_use]
    pub fn whole(&self) -> Value {
        run_json::whole(self)
    }
}

/// A run's whole journal.
///
/// # Errors
/// [`RunError::NotFound`], or if the store fails.
pub async fn history(store: &Store, run: &RunId) -> Result<History, AppError> {
    let read = History::read(store, run).await?;
    read.ok_or_else(|| RunError::NotFound(run.to_string()).into())
}

/// The question as it was put into the run's conversation.
///
/// # Errors
/// If the store fails.
pub async fn question_text(
    store: &Store,
    run: &RunId,
    question: &Question,
) -> Result<Option<String>, AppError> {
    let slot = format!("ask:{}", question.id);
    let messages = store.runs().messages(run).await?;
    Ok(messages.into_iter().find(|message| message.slot == slot).map(|message| message.body))
}

/// The run that goes on next: the deepest below that has not ended, or the run itself.
///
/// # Errors
/// If the store fails.
pub async fn front(store: &Store, run: &RunId) -> Result<RunId, AppError> {
    let below = store.runs().descendants(run).await?;
    Ok(below.into_iter().next_back().unwrap_or_else(|| run.clone()))
}

/// The run at the top of the tree: the one that a person began.
///
/// # Errors
/// If the store fails.
pub async fn top(store: &Store, run: &RunId) -> Result<RunId, AppError> {
    let mut path = vec![run.clone()];
    loop {
        let last = path.last().unwrap_or(run);
        match store.runs().parent(last).await? {
            // A file may say that a run is above itself.
            Some(parent) if !path.contains(&parent) => path.push(parent),
            _ => return Ok(last.clone()),
        }
    }
}

/// Whether the run and all below it have ended.
///
/// # Errors
/// If the store fails.
pub async fn is_over(store: &Store, run: &RunId) -> Result<bool, AppError> {
    let below = store.runs().descendants(run).await?;
    let at = store.runs().position(run).await?;
    Ok(below.is_empty() && at.is_none_or(|at| at.status.is_final()))
}

/// Each run of a tree with its depth, every parent before its children.
///
/// # Errors
/// If the store fails.
pub async fn tree(store: &Store, run: &RunId) -> Result<Vec<(usize, RunRow)>, AppError> {
    let mut rows = Vec::new();
    let mut next = vec![(0, run.clone())];
    while let Some((depth, run)) = next.pop() {
        let children = store.runs().children(&run).await?;
        next.extend(children.into_iter().rev().map(|child| (depth + 1, child.run)));
        if let Some(row) = store.runs().get(&run).await? {
            rows.push((depth, row));
        }
        // A file may say that a run is below itself.
        next.retain(|(_, run)| rows.iter().all(|(_, row)| row.run != *run));
    }
    Ok(rows)
}
