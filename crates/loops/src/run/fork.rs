//! A fork: what was folded so far is another run's past; from here on limits start again.

use super::decide::instruction;
use super::family::Family;
use super::fold::RunFold;
use super::{FinalAnswerStage, RunPause};
use crate::AgentLoop;
use everloop_types::journal::Forked;
use everloop_types::{Event, Message, Notice, Purpose};

impl<L: AgentLoop> RunFold<'_, L> {
    /// Nothing is outstanding here: a fork closes what was under way first.
    pub(super) fn fork(&mut self, forked: &Forked) {
        self.reopen();
        let noted = self.run.frame.limits.steps.list.evidence;
        self.run.guards = self.run.guards.of_fork(forked.limits);
        self.run.attach(self.run.frame.clone());
        if !noted && self.run.frame.limits.steps.list.evidence {
            self.run.evidence.adopt(&self.run.inner.progress().items);
        }
        self.run.ledger.unknowns.retain(|open| !forked.settled.contains(&open.effect.place()));
        let word = Some(forked.word.spoken()).filter(|word| !word.is_empty());
        if let Some(text) = word.clone() {
            // Nothing may come between calls and their results.
            match self.run.ledger.is_idle() && !self.wants_tools() {
                true => self.run.inner.transcript_mut().push(Message::user(text)),
                false => self.run.held.push(Notice::Steered { text }),
            }
        }
        self.run.inner.evolve(&Event::Forked { at: self.at, word });
    }

    /// Last words that the other run looked for are not wanted here, nor is its successor. Its
    /// parent waits for it and not for us.
    fn reopen(&mut self) {
        let asked_for = instruction(Purpose::Close);
        if self.run.inner.transcript().messages().last() == asked_for.as_ref() {
            self.run.inner.transcript_mut().retract();
        }
        self.run.held.retain(|notice| *notice != Notice::AnswerNow);
        self.run.closing = FinalAnswerStage::NotYet;
        self.run.parked = RunPause::No;
        self.run.ledger.switch = None;
        // What a person opened they opened for the other run.
        self.run.ledger.holding.released.clear();
        self.run.ledger.family = Family::default();
    }
}
