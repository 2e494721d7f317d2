//! Replies that break the contract, and rounds that come to nothing.

use super::replies::{PLAN, THINK, TOO_MANY, steps_most};
use super::{PlanExecuteThink, RoundPhase};
use crate::run::why;
use crate::{AgentLoop, contract};
use everloop_text as text;
use everloop_types::{Answer, Message, Reason, Reply, Words};

impl PlanExecuteThink {
    pub(super) fn answer_all(&mut self, reply: &Reply, text: &str) {
        for call in &reply.calls {
            self.transcript.answer(&call.id, text);
        }
    }

    /// Words instead of a call: the second time they are the answer. The model was sure enough to
    /// say them twice, and there is nothing else to run.
    pub(super) fn take_words(&mut self, reply: &Reply) -> bool {
        let (RoundPhase::Planning { tries } | RoundPhase::Thinking { tries }) = self.phase else {
            return false;
        };
        let said = contract::said_again(reply, &self.transcript, tries, &self.frame);
        let Some(words) = said else { return false };
        self.note = None;
        self.phase = RoundPhase::Finished(Answer { words: Words::Said(words), trouble: None });
        true
    }

    /// A reply that breaks the contract: try again with a word on what was wrong.
    pub(super) fn take_broken(&mut self, reply: &Reply, wrong: &str) {
        let name = if matches!(self.phase, RoundPhase::Planning { .. }) { PLAN } else { THINK };
        match reply.calls.is_empty() {
            true => self.transcript.push(Message::user(format!("contract error: {wrong}."))),
            false => {
                let text = format!("error: {wrong}; nothing was run; call `{name}` again");
                self.answer_all(reply, &text);
            }
        }
        if wrong.starts_with(TOO_MANY) {
            let most = steps_most(self.frame.limits.steps.rounds).to_string();
            self.note = Some(text::progress::too_many_steps(&most).words());
        }
        let allowed = self.frame.limits.steps.contract_retries;
        match &mut self.phase {
            RoundPhase::Planning { tries } | RoundPhase::Thinking { tries } if *tries < allowed => {
                *tries += 1;
            }
            _ => self.take_failure(Reason::BrokenContract),
        }
    }

    /// A failure round: no usable reply after all tries, or the model failed permanently.
    pub(super) fn take_failure(&mut self, reason: Reason) {
        let note = match self.phase {
            RoundPhase::Planning { .. } => text::progress::plan_failed(),
            RoundPhase::Thinking { .. } => text::progress::thought_failed(),
            RoundPhase::Executing(_) | RoundPhase::Stuck(_) | RoundPhase::Finished(_) => return,
        };
        self.note = Some(note.words());
        self.tally.rounds += 1;
        self.tally.failure_rounds += 1;
        if self.tally.failure_rounds >= self.frame.limits.steps.failure_rounds {
            self.phase = self.stuck(reason);
        } else {
            self.ask_plan();
        }
    }

    /// The end without a usable reply: the words of the last round stay (PET-8), and without them
    /// the closing finds some.
    fn stuck(&self, reason: Reason) -> RoundPhase {
        let Some(summary) = &self.summary else { return RoundPhase::Stuck(reason) };
        let mut words = vec![Words::Said(summary.clone())];
        words.extend(why(&reason, &Self::SPEC, &self.frame));
        RoundPhase::Finished(Answer { words: Words::All(words), trouble: Some(reason) })
    }
}
