//! Settling: recording later what became of an effect with an unknown outcome.
//!
//! ```text
//!   a run that waits with the question ──► the answer goes into its inbox
//!   any other run ──► a row beside the journal, which stays as it is
//! ```
//!
//! Deliberately absent: a change of the run's status. It ended `unsettled`, whatever is known now.

use crate::fork::Provenance;
use crate::{Engine, History, QuestionAnswer};
use everloop_loops::{CallStage, OpenToolCall, UnknownEffect};
use everloop_ports::Probe;
use everloop_store::{InboxSendResult, Settlement, StoreError};
use everloop_types::journal::{EffectStarted, Entry, EntryKind, Outcome, Waiting, WaitingOn};
use everloop_types::{
    EffectId, Ending, Question, QuestionKind, RunId, SettledOutcome, ToolCall, UtcMs,
};

/// An effect whose outcome is unknown in the journal, and what is known of it since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenUnknown {
    /// Its name.
    pub effect: EffectId,
    /// The call.
    pub call: ToolCall,
    /// What it acted on.
    pub resource: String,
    /// When its outcome was found to be unknown.
    pub at: UtcMs,
    /// The question that the run waits with, where a person is to say what happened.
    pub question: Option<Question>,
    /// What was found out since.
    pub settled: Option<Settlement>,
}

/// What became of a settlement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettleResult {
    /// It is recorded.
    Written,
    /// It is in the run's inbox, as the answer to its question; the run goes on with it.
    Answered,
    /// It was settled before, and this changed nothing; the earlier settlement, if known.
    Already(Option<Settlement>),
    /// No effect of that name has an unknown outcome.
    NotOpen,
}

impl History {
    /// The effects whose outcome is unknown, with what was found out since.
    ///
    /// # Errors
    /// If the journal cannot be folded. One that was shortened has none.
    pub fn unknowns(&self, settlements: &[Settlement]) -> Result<Vec<OpenUnknown>, StoreError> {
        if !self.is_whole() {
            return Ok(Vec::new());
        }
        let state = self.state_at(i64::MAX)?;
        let asked = state.open_tool_calls().iter().filter_map(asked_to_settle);
        let unaccounted = state.unaccounted();
        let asked: Vec<Question> = asked.cloned().collect();
        let question = |unknown: &UnknownEffect| {
            asked.iter().find(|question| question.call == unknown.call.id).cloned()
        };
        let in_ledger = |unknown: &UnknownEffect| {
            state.unknowns().iter().any(|known| known.effect == unknown.effect)
        };
        let settled = |effect: &EffectId| settlements.iter().find(|one| one.effect == *effect);
        Ok(unaccounted
            .into_iter()
            .map(|unknown| (question(&unknown), unknown))
            .filter(|(question, unknown)| question.is_some() || in_ledger(unknown))
            .map(|(question, unknown)| OpenUnknown {
                at: self.unknown_since(&unknown),
                settled: settled(&unknown.effect).cloned(),
                effect: unknown.effect,
                call: unknown.call,
                resource: unknown.resource,
                question,
            })
            .collect())
    }

    fn unknown_since(&self, unknown: &UnknownEffect) -> UtcMs {
        let found = self.entries.iter().rev().find(|entry| says_unknown(entry, unknown));
        found.map_or(0, |entry| entry.at)
    }

    /// The last intent of an effect.
    fn intent(&self, effect: &EffectId) -> Option<&EffectStarted> {
        self.entries.iter().rev().find_map(|entry| match &entry.kind {
            EntryKind::EffectStarted(started) if entry.effect.as_ref() == Some(effect) => {
                Some(started)
            }
            _ => None,
        })
    }
}

/// The question of an effect that a person is to settle.
fn asked_to_settle(open: &OpenToolCall) -> Option<&Question> {
    match &open.stage {
        CallStage::Asked(question) if question.kind == QuestionKind::Settle => Some(question),
        _ => None,
    }
}

fn says_unknown(entry: &Entry, unknown: &UnknownEffect) -> bool {
    match &entry.kind {
        EntryKind::EffectFinished(finished) => {
            entry.effect.as_ref() == Some(&unknown.effect)
                && matches!(&finished.outcome, Outcome::Observed(seen)
                    if seen.ending == Ending::Unknown)
        }
        EntryKind::Waiting(Waiting { on: WaitingOn::Person { question }, .. }) => {
            question.kind == QuestionKind::Settle && question.call == unknown.call.id
        }
        _ => false,
    }
}

impl Engine {
    /// The effects of a run whose outcome is unknown, settled ones included.
    ///
    /// # Errors
    /// If the run cannot be read. A run that does not exist has none.
    pub async fn open_unknowns(&self, run: &RunId) -> Result<Vec<OpenUnknown>, StoreError> {
        let Some(history) = History::read(&self.store, run).await? else { return Ok(Vec::new()) };
        history.unknowns(&self.store.journal().settlements(run).await?)
    }

    /// Records what happened to an effect with an unknown outcome. The first settlement counts.
    ///
    /// # Errors
    /// If it could not be written.
    pub async fn settle(
        &self,
        effect: &EffectId,
        settled: SettledOutcome,
        by: &str,
    ) -> Result<SettleResult, StoreError> {
        let open = self.open_unknowns(&effect.run).await?;
        let Some(open) = open.into_iter().find(|open| open.effect == *effect) else {
            return Ok(SettleResult::NotOpen);
        };
        let by = by.to_owned();
        if let Some(question) = open.question {
            let text = settled.as_str().to_owned();
            let sent = self
                .answer(&effect.run, QuestionAnswer { question: question.id, text, by })
                .await?;
            return Ok(match sent {
                InboxSendResult::Accepted => SettleResult::Answered,
                InboxSendResult::AlreadySent
                | InboxSendResult::Finished(_)
                | InboxSendResult::NoSuchRun => SettleResult::Already(None),
            });
        }
        let settlement = Settlement { effect: effect.clone(), settled, by, at: self.clock.now() };
        match self.store.journal().settle(&settlement).await? {
            true => Ok(SettleResult::Written),
            false => {
                let all = self.store.journal().settlements(&effect.run).await?;
                Ok(SettleResult::Already(all.into_iter().find(|one| one.effect == *effect)))
            }
        }
    }

    /// Runs the probe of an effect again. Changes nothing; `settle` records what it found.
    ///
    /// # Errors
    /// If the run cannot be read.
    pub async fn probe_again(&self, open: &OpenUnknown) -> Result<Probe, StoreError> {
        let Some(history) = History::read(&self.store, &open.effect.run).await? else {
            return Ok(Probe::unknown("there is no such run"));
        };
        if self.provenance(&open.effect.run).await? == Provenance::Elsewhere {
            return Ok(Probe::unknown("the run came in a file; what it did, it did elsewhere"));
        }
        let (frame, started) = (history.frame(), history.intent(&open.effect));
        let tools = self.environment.tools(frame);
        let found = self.look(&tools, frame, &open.effect, &open.call, started).await;
        let over =
            |started: &EffectStarted| started.over_by.is_some_and(|at| at <= self.clock.now());
        let may_act = self.rules.owners_may_live && !started.is_some_and(over);
        Ok(match found {
            Probe::DidNot if may_act => Probe::unknown("its owner may still be about to do it"),
            found => found,
        })
    }
}
