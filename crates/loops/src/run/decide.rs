//! Deciding: the guards first, then the loop; every ending in words.

use super::call_planner::CallPlanner;
use super::fold::is_hopeless;
use super::last_words::EndingWords;
use super::prompt_room::PromptRoom;
use super::{FinalAnswerStage, Run};
use crate::{AgentLoop, ReplyForm};
use everloop_types::journal::{EffectPlanned, PlannedModelCall};
use everloop_types::{
    Answer, Message, ModelCall, Next, Observation, Purpose, Reason, Status, ToolCall, ToolChoice,
    ToolOffer, Words,
};

/// What a run does next.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// Perform these effects, in order: one model call, or one or more tool calls.
    Do(Vec<PlannedEffect>),
    /// End the run.
    Finish {
        /// How.
        status: Status,
        /// Why, where it did not end well.
        reason: Option<Reason>,
        /// In these words.
        words: Words,
    },
}

/// An effect as it will be journaled.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedEffect {
    /// What is planned.
    pub planned: EffectPlanned,
    /// The outcome, where the call cannot be performed at all, or is known without performing
    /// anything: planned and finished in one transaction.
    pub refused: Option<Observation>,
}

impl<L: AgentLoop> Run<L> {
    /// Says what comes next. Asked only when nothing is outstanding.
    #[must_use]
    pub fn decide(&self) -> Decision {
        if let FinalAnswerStage::Answered(reason, text) = &self.closing {
            return EndingWords::of(self).last_words(reason.clone(), text);
        }
        match self.next() {
            // Calls that the model made are always answered: a transcript must pair up.
            Next::CallTools(batch) => CallPlanner::of(self).plan(&batch),
            Next::Finish(answer) if !answer.words.is_empty() => EndingWords::of(self).end(answer),
            Next::AskModel(_) if self.closing == FinalAnswerStage::Wanted => self.close(None),
            next => match (self.stopped(), next) {
                (Some(reason), _) | (None, Next::GiveUp(reason)) => self.close(Some(reason)),
                (None, Next::Finish(answer)) => self.close(answer.trouble),
                (None, Next::AskModel(_)) if PromptRoom::of(self).needs_compaction() => {
                    self.shorten()
                }
                (None, Next::AskModel(call)) => self.ask(call),
                (None, Next::CallTools(batch)) => CallPlanner::of(self).plan(&batch),
            },
        }
    }

    /// What the loop wants. A mark that ends an answer is not for people (TD-4), nor are tags; the
    /// loop that speaks in tags has read its own, and its answer may speak of them.
    fn next(&self) -> Next {
        match self.inner.decide() {
            Next::Finish(Answer { words, trouble }) => {
                let reads_tags = L::SPEC.reply_form == ReplyForm::Tags;
                let words = if reads_tags { words } else { words.untagged() };
                Next::Finish(Answer { words: words.without(self.frame.mark()), trouble })
            }
            next => next,
        }
    }

    /// Why a guard ends the run, if one does.
    pub(super) fn stopped(&self) -> Option<Reason> {
        self.guards.reached(&self.frame)
    }

    /// The ending that the user asked for, with the run that goes on if there is one.
    #[must_use]
    pub fn canceled(&self) -> Decision {
        EndingWords::of(self).canceled()
    }

    /// The ending of a run whose journal has no room for more.
    #[must_use]
    pub fn journal_full(&self) -> Decision {
        EndingWords::of(self).last_words(Some(Reason::JournalFull), "")
    }

    /// Asks the model for last words, unless it is the model that has failed.
    fn close(&self, reason: Option<Reason>) -> Decision {
        if let Some(Reason::Model(error)) = &reason
            && is_hopeless(error)
        {
            return EndingWords::of(self).last_words(reason, "");
        }
        self.ask(ModelCall {
            purpose: Purpose::Close,
            offer: ToolOffer::None,
            choice: ToolChoice::None,
            output: None,
        })
    }

    /// Refuses an effect on a resource whose state is unknown until that is settled.
    #[must_use]
    pub fn held_back(&self, call: &ToolCall) -> Option<Observation> {
        CallPlanner::of(self).held_back(call)
    }

    fn ask(&self, call: ModelCall) -> Decision {
        let instruction = instruction(call.purpose);
        let transcript = self.inner.transcript();
        let messages = transcript.messages().len() + usize::from(instruction.is_some());
        let prompt = transcript.digest_with(instruction.as_ref());
        let planned = EffectPlanned::CallModel(PlannedModelCall { call, messages, prompt });
        Decision::Do(vec![PlannedEffect { planned, refused: None }])
    }

    /// Plans a compaction, or ends the run where one would free nothing: compactions cannot spiral.
    fn shorten(&self) -> Decision {
        if self.guards.context.spirals() || PromptRoom::of(self).compaction_cut().is_none() {
            return self.close(Some(Reason::ContextFull));
        }
        self.ask(ModelCall {
            purpose: Purpose::Compact,
            offer: ToolOffer::None,
            choice: ToolChoice::None,
            output: None,
        })
    }
}

/// The message of `Run` before a model call of its own.
pub(super) fn instruction(purpose: Purpose) -> Option<Message> {
    match purpose {
        Purpose::Close => Some(Message::user(include_str!("../prompts/closing.md"))),
        Purpose::Compact => Some(Message::user(include_str!("../prompts/compact.md"))),
        Purpose::Plan | Purpose::Think | Purpose::Replan => None,
    }
}
