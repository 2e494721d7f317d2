//! The end that the user asks for, and calls that are no longer wanted.

use super::{DriveError, Driven, Driver};
use everloop_loops::{Decision, Outstanding, Stage};
use everloop_store::StoreError;
use everloop_types::journal::{EffectPlanned, Outcome};
use everloop_types::{Ending, Observation, OnError};

impl Driver<'_> {
    /// Every outstanding effect gets its outcome, then the run ends. Nothing runs any more here.
    pub(super) async fn end_canceled(&mut self) -> Result<Driven, DriveError> {
        self.settle_outstanding("the run was canceled");
        self.end(self.run.canceled()).await
    }

    /// The journal has no room for more: the run ends with an account of what it holds.
    pub(super) async fn end_full(mut self) -> Result<Driven, DriveError> {
        self.settle_outstanding("the journal is full");
        self.end(self.run.journal_full()).await
    }

    pub(super) fn settle_outstanding(&mut self, why: &str) {
        self.pending.relations.stops_children |= self.run.living_child().is_some();
        for open in self.run.outstanding().to_vec() {
            let outcome = match &open.planned {
                EffectPlanned::CallModel { .. } => Outcome::Canceled,
                EffectPlanned::CallTool { .. } if matches!(open.stage, Stage::Delegated(_)) => {
                    Outcome::Observed(not_awaited(why))
                }
                EffectPlanned::CallTool { .. } if open.may_have_acted => {
                    Outcome::Observed(interrupted(""))
                }
                EffectPlanned::CallTool { .. } => Outcome::Observed(not_wanted(why)),
            };
            self.note_outcome(open.effect, outcome, 0);
        }
    }

    pub(super) async fn end(&mut self, decision: Decision) -> Result<Driven, DriveError> {
        match decision {
            Decision::Finish { status, reason, words } => self.finish(status, reason, &words).await,
            Decision::Do(_) => unreachable!("an ending asks for nothing more"),
        }
    }

    /// After a failure in a batch that stops on errors, the unstarted rest is not performed.
    pub(super) fn cancel_the_rest(&mut self, failed: &Outstanding) {
        let EffectPlanned::CallTool { on_error: OnError::Stop, .. } = &failed.planned else {
            return;
        };
        let cause = failed.effect.cause;
        let rest: Vec<Outstanding> = self
            .run
            .outstanding()
            .iter()
            .filter(|open| open.effect.cause == cause && open.stage == Stage::Planned)
            .cloned()
            .collect();
        for open in rest {
            let seen = not_wanted("an earlier call of the same batch failed");
            self.note_outcome(open.effect, Outcome::Observed(seen), 0);
        }
    }

    pub(super) fn failed(&self, source: StoreError) -> DriveError {
        DriveError::Store { run: self.claim.run.clone(), source }
    }
}

fn not_wanted(why: &str) -> Observation {
    Observation { ending: Ending::Canceled, text: format!("not performed: {why}") }
}

/// The child is told to end in the same transaction, and its own journal says how it did.
fn not_awaited(why: &str) -> Observation {
    Observation {
        ending: Ending::Canceled,
        text: format!("not waited for: {why}; the child run was told to end, too"),
    }
}

/// The third outcome. The model is told to look before it leaps, and what a probe saw.
pub(super) fn interrupted(seen: &str) -> Observation {
    let mut text = "interrupted; whether it happened is unknown and it was not repeated; \
                    inspect the state of things before you do it again"
        .to_owned();
    if !seen.is_empty() {
        text = format!("{text}\n{seen}");
    }
    Observation { ending: Ending::Unknown, text }
}
