//! A switch: the run ends at a step border, and another run goes on under another loop.
//!
//! ```text
//!   message ─► wanted ──nothing may have acted without its outcome──► ended, and the other begins
//!                 └──canceled, or it has its answer──► ended as ever
//! ```
//!
//! Deliberately absent: the other run (the engine makes it in the transaction of the ending).

use super::ledger::Ledger;
use super::{Decision, Run};
use crate::AgentLoop;
use everloop_text as text;
use everloop_types::journal::Switch;
use everloop_types::{Frame, RunId, Status, Words};

impl<L: AgentLoop> Run<L> {
    /// The switch that is wanted, once nothing stands in its way: every call that was begun has its
    /// outcome, and there is no answer yet.
    #[must_use]
    pub fn switches_here(&self) -> Option<&Switch> {
        let switch = self.ledger.switch.as_deref()?;
        let begun = self.ledger.tool_calls().iter().any(|open| open.may_have_acted);
        (!begun && !self.has_its_answer()).then_some(switch)
    }

    /// Whether its model has answered: also if something beside the answer is unknown.
    fn has_its_answer(&self) -> bool {
        let answers = |decision| matches!(decision, Decision::Finish { reason: None, .. });
        self.ledger.is_idle() && answers(self.decide())
    }

    /// The run that goes on in place of this one, once this one has ended for it.
    #[must_use]
    pub fn successor(&self) -> Option<&RunId> {
        self.ledger.chosen_successor().filter(|_| self.ended() == Some(Status::Canceled))
    }
}

impl Ledger {
    /// The last request counts. One with an unreadable frame is ignored.
    pub(super) fn wish_to_switch(&mut self, switch: &Switch) {
        if serde_json::from_value::<Frame>(switch.frame.clone()).is_ok() {
            self.switch = Some(Box::new(switch.clone()));
        }
    }

    /// The run that is to go on in place of this one. There is none while something may have
    /// happened of which nobody knows: that is settled first, and then the run can be forked.
    fn chosen_successor(&self) -> Option<&RunId> {
        let switch = self.switch.as_deref().filter(|_| self.unknowns.is_empty());
        switch.map(|switch| &switch.to)
    }

    /// Only asked where an effect is unknown, and effects are named by their run.
    fn own_id(&self) -> String {
        self.unknowns.first().map(|open| open.effect.run.to_string()).unwrap_or_default()
    }

    /// What is said of a run that ends for another.
    pub(super) fn switched(&self) -> Option<Words> {
        let switch = self.switch.as_deref()?;
        let name = &switch.loop_name;
        Some(match self.chosen_successor() {
            Some(to) => text::run::switched(name, &to).words(),
            None => text::run::not_switched(name, &self.own_id()).words(),
        })
    }
}
