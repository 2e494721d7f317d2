//! A fork: what was folded so far is another run's past; from here on limits start again.

use super::family::Family;
use super::{FinalAnswerStage, Run, RunPause};
use crate::AgentLoop;
use everloop_types::journal::Forked;
use everloop_types::{Event, Message, Notice, Purpose, UtcMs};

impl<L: AgentLoop> Run<L> {
    /// Nothing is outstanding here: a fork closes what was under way first.
    pub(super) fn fork(&mut self, at: UtcMs, forked: &Forked) {
        self.reopen();
        let noted = self.frame.limits.steps.list.evidence;
        self.guards = self.guards.of_fork(forked.limits);
        self.attach(self.frame.clone());
        if !noted && self.frame.limits.steps.list.evidence {
            self.evidence.adopt(&self.inner.progress().items);
        }
        self.ledger.unknowns.retain(|open| !forked.settled.contains(&open.effect.place()));
        let word = Some(forked.word.spoken()).filter(|word| !word.is_empty());
        if let Some(text) = word.clone() {
            // Nothing may come between calls and their results.
            match self.ledger.is_idle() && !self.wants_tools() {
                true => self.inner.transcript_mut().push(Message::user(text)),
                false => self.held.push(Notice::Steered { text }),
            }
        }
        self.inner.evolve(&Event::Forked { at, word });
    }

    /// Last words that the other run looked for are not wanted here, nor is its successor. Its
    /// parent waits for it and not for us.
    fn reopen(&mut self) {
        let asked_for = self.instruction(Purpose::Close);
        if self.inner.transcript().messages().last() == asked_for.as_ref() {
            self.inner.transcript_mut().retract();
        }
        self.held.retain(|notice| *notice != Notice::AnswerNow);
        self.closing = FinalAnswerStage::NotYet;
        self.parked = RunPause::No;
        self.ledger.switch = None;
        // What a person opened they opened for the other run.
        self.ledger.holding.released.clear();
        self.ledger.family = Family::default();
    }
}
