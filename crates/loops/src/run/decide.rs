//! Deciding: the guards first, then the loop; every ending in words.

use super::fold::is_hopeless;
use super::ledger::resource;
use super::{FinalAnswerStage, Run};
use crate::transcript::Keep;
use crate::{AgentLoop, ReplyForm};
use everloop_text as text;
use everloop_types::journal::{EffectPlanned, PlannedModelCall, PlannedToolCall};
use everloop_types::planted::{self, Bug};
use everloop_types::{
    Answer, Message, ModelCall, Next, Observation, Purpose, Reason, Status, TODO_WRITE, TodoList,
    ToolBatch, ToolCall, ToolChoice, ToolOffer, UtcMs, Words, check_args,
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
            return self.last_words(reason.clone(), text);
        }
        match self.next() {
            // Calls that the model made are always answered: a transcript must pair up.
            Next::CallTools(batch) => self.perform(&batch),
            Next::Finish(answer) if !answer.words.is_empty() => self.end(answer),
            Next::AskModel(_) if self.closing == FinalAnswerStage::Wanted => self.close(None),
            next => match (self.stopped(), next) {
                (Some(reason), _) | (None, Next::GiveUp(reason)) => self.close(Some(reason)),
                (None, Next::Finish(answer)) => self.close(answer.trouble),
                (None, Next::AskModel(_)) if self.needs_compaction() => self.shorten(),
                (None, Next::AskModel(call)) => self.ask(call),
                (None, Next::CallTools(batch)) => self.perform(&batch),
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
    fn stopped(&self) -> Option<Reason> {
        self.guards.reached(&self.frame)
    }

    /// Whether the loop is about to run tools: nothing may come between calls and their results.
    pub(super) fn wants_tools(&self) -> bool {
        matches!(self.inner.decide(), Next::CallTools(_))
    }

    /// The ending that the user asked for, with the run that goes on if there is one.
    #[must_use]
    pub fn canceled(&self) -> Decision {
        let progress = self.progress();
        let done = progress.items.iter().filter(|item| item.is_done());
        let words = match (self.switched(), progress.items.len()) {
            (Some(words), _) => words,
            (None, 0) => text::run::canceled_early().words(),
            (None, total) => text::run::canceled(&done.count(), &total).words(),
        };
        let words = self.with_unknowns(words);
        Decision::Finish { status: Status::Canceled, reason: Some(Reason::Canceled), words }
    }

    /// The ending of a run whose journal has no room for more.
    #[must_use]
    pub fn journal_full(&self) -> Decision {
        self.last_words(Some(Reason::JournalFull), "")
    }

    /// Why the closing was begun: recomputed, because it is not part of the planned call.
    pub(super) fn trouble(&self) -> Option<Reason> {
        match &self.closing {
            FinalAnswerStage::Asked(reason) | FinalAnswerStage::Answered(reason, _) => {
                return reason.clone();
            }
            FinalAnswerStage::Wanted | FinalAnswerStage::NotYet => {}
        }
        match (self.stopped(), self.inner.decide()) {
            (_, Next::AskModel(_) | Next::CallTools(_))
                if self.closing == FinalAnswerStage::Wanted =>
            {
                None
            }
            (Some(reason), _) | (None, Next::GiveUp(reason)) => Some(reason),
            (None, Next::Finish(answer)) => answer.trouble,
            (None, Next::AskModel(_) | Next::CallTools(_)) => Some(Reason::ContextFull),
        }
    }

    /// Asks the model for last words, unless it is the model that has failed.
    fn close(&self, reason: Option<Reason>) -> Decision {
        if let Some(Reason::Model(error)) = &reason
            && is_hopeless(error)
        {
            return self.last_words(reason, "");
        }
        self.ask(ModelCall {
            purpose: Purpose::Close,
            offer: ToolOffer::None,
            choice: ToolChoice::None,
            output: None,
        })
    }

    pub(super) fn end(&self, answer: Answer) -> Decision {
        let open = !self.ledger.unknowns.is_empty() && !planted::is_on(Bug::UnknownHidden);
        let status = match (&answer.trouble, open) {
            (_, true) => Status::Unsettled,
            (None, false) => Status::Succeeded,
            (Some(_), false) => Status::Failed,
        };
        let words = self.with_unknowns(answer.words);
        Decision::Finish { status, reason: answer.trouble, words }
    }

    /// An unknown cannot hide: the first line of the answer says which effect.
    fn with_unknowns(&self, words: Words) -> Words {
        if self.ledger.unknowns.is_empty() {
            return words;
        }
        let calls: Vec<String> = self.ledger.unknowns.iter().map(|u| shown(&u.call)).collect();
        let line = text::run::unsettled(&calls.join("; ")).words();
        Words::All(vec![line, words])
    }

    fn perform(&self, batch: &ToolBatch) -> Decision {
        let most = self.frame.limits.context.calls_per_reply;
        // Each call of a batch sees the list as those before it leave it.
        let mut list = self.inner.list().clone();
        let over = batch.calls.len().saturating_sub(most);
        let effects = batch.calls.iter().map(|call| {
            let mut planned = self.plan_call(call, over, batch.deadline);
            if planned.refused.is_none() {
                let most = self.frame.limits.context.observation_chars;
                planned.refused = written(call, &mut list, most);
            }
            planned
        });
        Decision::Do(effects.collect())
    }

    fn plan_call(&self, call: &ToolCall, over: usize, deadline: Option<UtcMs>) -> PlannedEffect {
        let spec = self.frame.tool(&call.tool);
        let handling = spec.map(|spec| spec.handling.clone()).unwrap_or_default();
        let planned = PlannedToolCall::new(call.clone(), &handling, self.place.at, deadline);
        let refused = match spec {
            _ if over > 0 => Some(self.too_many()),
            None => Some(self.no_such_tool(&call.tool)),
            Some(spec) => match check_args(spec, &call.args) {
                Err(wrong) => Some(bad_arguments(&wrong)),
                Ok(_) if handling.class.needs_intent() => self.held_back(call),
                Ok(_) => None,
            },
        };
        PlannedEffect { planned: EffectPlanned::CallTool(planned), refused }
    }

    fn too_many(&self) -> Observation {
        let most = self.frame.limits.context.calls_per_reply;
        Observation::error(format!(
            "too many tool calls in one reply; at most {most} are allowed; nothing was done"
        ))
    }

    fn no_such_tool(&self, name: &str) -> Observation {
        let known: Vec<&str> = self.frame.tools.iter().map(|tool| tool.name.as_str()).collect();
        let name: String = name.chars().take(64).collect();
        Observation::error(format!(
            "there is no tool called {name:?}; nothing was done; the tools are: {}",
            known.join(", ")
        ))
    }

    /// Refuses an effect on a resource whose state is unknown until that is settled.
    #[must_use]
    pub fn held_back(&self, call: &ToolCall) -> Option<Observation> {
        let wanted = resource(call, self.frame.tool(&call.tool));
        let open = self.ledger.unknowns.iter().find(|unknown| unknown.resource == wanted)?;
        Some(Observation::denied(format!(
            "the outcome of an earlier call on the same resource is unknown ({}); nothing was \
             done; \
             inspect the state of things, do something else, or leave it for the user to settle",
            shown(&open.call)
        )))
    }

    fn ask(&self, call: ModelCall) -> Decision {
        let instruction = self.instruction(call.purpose);
        let transcript = self.inner.transcript();
        let messages = transcript.messages().len() + usize::from(instruction.is_some());
        let prompt = transcript.digest_with(instruction.as_ref());
        let planned = EffectPlanned::CallModel(PlannedModelCall { call, messages, prompt });
        Decision::Do(vec![PlannedEffect { planned, refused: None }])
    }

    /// The message of `Run` before a model call of its own.
    pub(super) fn instruction(&self, purpose: Purpose) -> Option<Message> {
        match purpose {
            Purpose::Close => Some(Message::user(include_str!("../prompts/closing.md"))),
            Purpose::Compact => Some(Message::user(include_str!("../prompts/compact.md"))),
            Purpose::Plan | Purpose::Think | Purpose::Replan => None,
        }
    }

    fn needs_compaction(&self) -> bool {
        let limits = &self.frame.limits.context;
        let observations = limits.observations.saturating_add(limits.observations.div_ceil(2));
        self.is_long()
            || self.inner.transcript().observation_count() >= observations
            || self.has_many_messages()
    }

    fn has_many_messages(&self) -> bool {
        let most = self.frame.limits.context.messages;
        most > 0
            && self.inner.transcript().messages().len() >= most
            && self.compaction_cut().is_some()
    }

    /// Whether a summary would leave nearly as much as there is, by the measure that called for it.
    pub(super) fn frees_too_little(&self, upto: usize, summary: &str) -> bool {
        let transcript = self.inner.transcript();
        let (bytes, messages) = transcript.left_by(upto, summary);
        let (left, there) = match self.is_long() {
            true => (bytes, transcript.bytes()),
            false => (messages, transcript.messages().len()),
        };
        let least = self.frame.limits.context.least_freed.min(100);
        least > 0 && left.saturating_mul(100) > there.saturating_mul(100 - least)
    }

    fn is_long(&self) -> bool {
        let tokens = self.guards.context.estimate(self.inner.transcript().bytes());
        tokens >= self.frame.limits.context.tokens
    }

    /// Plans a compaction, or ends the run where one would free nothing: compactions cannot spiral.
    fn shorten(&self) -> Decision {
        if self.guards.context.spirals() || self.compaction_cut().is_none() {
            return self.close(Some(Reason::ContextFull));
        }
        self.ask(ModelCall {
            purpose: Purpose::Compact,
            offer: ToolOffer::None,
            choice: ToolChoice::None,
            output: None,
        })
    }

    /// Keeps about a third of the room, and the newest observations. Where instructions and tools
    /// take most of the room, a third of what could leave.
    pub(super) fn compaction_cut(&self) -> Option<usize> {
        let limits = &self.frame.limits.context;
        let transcript = self.inner.transcript();
        let room = (usize::try_from(limits.tokens).unwrap_or(usize::MAX) / 3).saturating_mul(4);
        let keep_bytes = match self.is_long() {
            true => room.min(transcript.movable_bytes() / 3),
            false => room,
        };
        let messages = match limits.messages {
            0 => usize::MAX,
            most => most / 2,
        };
        transcript.cut(Keep { bytes: keep_bytes, observations: limits.observations, messages })
    }
}

/// The outcome of a call that writes the list: the list is the run's own, so nothing is performed.
fn written(call: &ToolCall, list: &mut TodoList, most: usize) -> Option<Observation> {
    if call.tool != TODO_WRITE || !TodoList::is_named(&call.args) {
        return None;
    }
    Some(match list.after(&call.args) {
        Ok(after) => {
            *list = after;
            Observation::ok(list.shown().chars().take(most).collect::<String>())
        }
        Err(wrong) => Observation::error(format!("{wrong}; the list stays as it is")),
    })
}

fn bad_arguments(wrong: &str) -> Observation {
    Observation::error(format!("the arguments do not fit ({wrong}); nothing was done"))
}

fn shown(call: &ToolCall) -> String {
    let args: String = call.args.chars().take(120).collect();
    format!("{} {args}", call.tool)
}
