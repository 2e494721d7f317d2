//! Runs that are set aside because they cannot be driven, and their last message.

use crate::ending_title::ending_title;
use crate::{DriveError, Engine};
use everloop_store::{ChildReport, Claim, FinalMessage, StoreError};
use everloop_text as text;
use everloop_types::journal::{BudgetUse, ChildEnded};
use everloop_types::{Labels, RunId, Status, Usage};

/// Sets runs aside, each with a message that says why.
pub(crate) struct Quarantine<'e> {
    pub(crate) engine: &'e Engine,
}

impl Quarantine<'_> {
    /// Quarantines a run that cannot be read, with a message; one that is too new is left as it is.
    pub(crate) async fn handle_unreadable(&self, claim: &Claim, source: StoreError) -> DriveError {
        let run = claim.run.clone();
        let store = &self.engine.store;
        match &source {
            StoreError::NewerEntry { .. } => {
                // However often an old program tries, a newer one must still find the run in the
                // queue.
                match store.queue().reset_stall_count(&run).await {
                    Ok(()) => DriveError::Newer { run, what: source.to_string() },
                    Err(source) => DriveError::Store { run, source },
                }
            }
            StoreError::Damaged { .. } => {
                let note = source.to_string();
                let frame = store.journal().frame(&run).await.ok().flatten().unwrap_or_default();
                let words = text::run::quarantined(&note).in_lang(frame.language);
                let word = match self.last_message(&run, words).await {
                    Ok(word) => word,
                    Err(source) => return DriveError::Store { run, source },
                };
                let now = self.engine.clock.now();
                let queue = store.queue();
                match queue.quarantine(&run, Some(claim.epoch), &note, now, Some(word)).await {
                    Ok(()) => DriveError::Quarantined { run, note },
                    Err(source) => DriveError::Store { run, source },
                }
            }
            _ => DriveError::Store { run, source },
        }
    }

    /// The last message of a run that cannot write its own. What a child used cannot be read then,
    /// so its parent is charged the child's whole budget.
    async fn last_message(&self, run: &RunId, message: String) -> Result<FinalMessage, StoreError> {
        let frame = self.engine.store.journal().frame(run).await.ok().flatten();
        let Some(to) = self.engine.store.runs().parent(run).await? else {
            let lang = frame.map(|frame| frame.language).unwrap_or_default();
            let row = self.engine.store.runs().get(run).await?;
            let called = row.map(|row| row.profile.title.unwrap_or(row.goal));
            let title = called.map(|name| ending_title(Status::Quarantined, &name, lang));
            return Ok(FinalMessage { message, report: None, title });
        };
        let had = frame.map(|frame| frame.limits.budget);
        let used = had.map_or_else(BudgetUse::default, |had| BudgetUse {
            model_calls: had.model_calls,
            tool_calls: had.tool_calls,
            usage: Usage { input_tokens: had.tokens, ..Usage::default() },
            work_ms: had.work_ms,
        });
        let (child, text) = (run.clone(), message.clone());
        let (status, labels) = (Status::Quarantined, Labels::ALL);
        let ended = ChildEnded { child, status, text, used, labels };
        Ok(FinalMessage { message, report: Some(ChildReport { to, ended }), title: None })
    }

    /// Gives a quarantined run its last message. Returns whether the run is quarantined.
    pub(crate) async fn write_last_message(&self, run: &RunId) -> Result<bool, StoreError> {
        let store = &self.engine.store;
        let Some(row) = store.runs().get(run).await? else { return Ok(false) };
        if row.status != Status::Quarantined {
            return Ok(false);
        }
        let note = row.note.unwrap_or_default();
        let frame = store.journal().frame(run).await?;
        let language = frame.map(|frame| frame.language).unwrap_or_default();
        let words = text::run::quarantined(&note).in_lang(language);
        let word = self.last_message(run, words).await?;
        let now = self.engine.clock.now();
        store.queue().quarantine(run, None, &note, now, Some(word)).await?;
        Ok(true)
    }
}
