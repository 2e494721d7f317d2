//! Ending a run early: on cancel, or when its journal is full.

use super::{DriveEnd, DriveError, Driver};
use everloop_loops::{CallStage, Decision};
use everloop_store::StoreError;
use everloop_types::journal::Outcome;
use everloop_types::{Ending, Observation, Words};

/// The slot of a reply that was stopped in the middle.
const STOPPED: &str = "stopped";

impl Driver<'_> {
    /// Gives every outstanding effect its outcome and ends the run. No call is running any more.
    pub(super) async fn end_canceled(&mut self) -> Result<DriveEnd, DriveError> {
        self.keep_what_was_read();
        self.settle_outstanding("the run was canceled");
        self.end(self.run.canceled()).await
    }

    /// What people had read of a reply stays readable: it becomes a message of the run.
    fn keep_what_was_read(&mut self) {
        let Some((effect, text)) = self.read.take() else { return };
        let is_open = self.run.open_model_call().is_some_and(|open| open.effect == effect);
        if is_open && !text.trim().is_empty() {
            self.emit(STOPPED.to_owned(), &Words::Said(text));
        }
    }

    /// Ends a run whose journal is full, with a summary of what it contains.
    pub(super) async fn end_full(mut self) -> Result<DriveEnd, DriveError> {
        self.settle_outstanding("the journal is full");
        self.end(self.run.journal_full()).await
    }

    pub(super) fn settle_outstanding(&mut self, why: &str) {
        self.pending.relations.stops_children |= self.run.living_child().is_some();
        if let Some(open) = self.run.open_model_call().cloned() {
            self.note_outcome(open.effect, Outcome::Canceled, 0);
        }
        for open in self.run.open_tool_calls().to_vec() {
            let seen = match open.stage {
                CallStage::Delegated(_) => not_awaited(why),
                _ if open.may_have_acted => interrupted(""),
                _ => not_wanted(why),
            };
            self.note_outcome(open.effect, Outcome::Observed(seen), 0);
        }
    }

    pub(super) async fn end(&mut self, decision: Decision) -> Result<DriveEnd, DriveError> {
        match decision {
            Decision::Finish { status, reason, words } => self.finish(status, reason, &words).await,
            Decision::Do(_) => unreachable!("an ending asks for nothing more"),
        }
    }

    pub(super) fn failed(&self, source: StoreError) -> DriveError {
        DriveError::Store { run: self.claim.run.clone(), source }
    }
}

fn not_wanted(why: &str) -> Observation {
    Observation { ending: Ending::Canceled, text: format!("not performed: {why}") }
}

/// The child is canceled in the same transaction; its own journal records how it ended.
fn not_awaited(why: &str) -> Observation {
    Observation {
        ending: Ending::Canceled,
        text: format!("not waited for: {why}; the child run was told to end, too"),
    }
}

/// The unknown outcome. It asks the model to inspect the state first, and has what a probe saw.
pub(super) fn interrupted(seen: &str) -> Observation {
    let mut text = "interrupted; it may or may not have happened, and it was not repeated; \
                    check before you do it again"
        .to_owned();
    if !seen.is_empty() {
        text = format!("{text}\n{seen}");
    }
    Observation { ending: Ending::Unknown, text }
}
