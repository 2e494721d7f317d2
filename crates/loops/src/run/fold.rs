//! Folding: one journal entry into the state.

use super::decide::instruction;
use super::evidence::ListOwner;
use super::ledger::{CallStage, OpenToolCall};
use super::prompt_room::PromptRoom;
use super::{FinalAnswerStage, JournalPlace, Run, RunPause};
use crate::AgentLoop;
use crate::contract::plain;
use crate::truncation::is_not_an_answer;
use everloop_types::journal::{
    EffectFinished, EffectPlanned, Entry, EntryKind, EpochStarted, InboxMessage, Input, Outcome,
    PlannedModelCall, PlannedToolCall, RunCreated, Waiting, WaitingOn,
};
use everloop_types::planted::{self, Bug};
use everloop_types::{
    CallId, EffectId, Ending, Event, Message, ModelError, ModelErrorKind, Next, Notice,
    Observation, Purpose, Reason, Reply, TODO_WRITE, ToolCall, UtcMs, only_markup, source_of,
};

/// What may have been work besides calls: between two entries, deciding and writing.
const BETWEEN_MS_MAX: u64 = 1_000;

/// The most that a run can have worked since the entry before this one. Calls are measured by
/// their caller, on a clock that does not count sleep.
fn work_ms_max(kind: &EntryKind) -> u64 {
    match kind {
        EntryKind::EffectFinished(finished) => finished.took_ms.saturating_add(BETWEEN_MS_MAX),
        _ => BETWEEN_MS_MAX,
    }
}

impl<L: AgentLoop> Run<L> {
    /// Folds one entry. Total: an entry that does not fit changes nothing but the place.
    pub fn apply(&mut self, entry: &Entry) {
        RunFold { run: self, at: entry.at }.fold(entry);
    }
}

/// The fold of one entry: the run that it changes, and when the entry was written.
pub(super) struct RunFold<'r, L: AgentLoop> {
    pub(super) run: &'r mut Run<L>,
    pub(super) at: UtcMs,
}

impl<L: AgentLoop> RunFold<'_, L> {
    /// An entry that does not fit changes nothing but the place.
    fn fold(&mut self, entry: &Entry) {
        if !matches!(entry.kind, EntryKind::EpochStarted(_)) {
            self.run.guards.tick(self.at, work_ms_max(&entry.kind));
        }
        match (&entry.kind, &entry.effect) {
            (EntryKind::RunCreated(created), _) => self.create(created),
            (EntryKind::EpochStarted(started), _) => self.begin_epoch(started),
            (EntryKind::Input(input), _) => self.take_input(input),
            (EntryKind::EffectPlanned(planned), Some(effect)) => self.plan(effect, planned),
            (EntryKind::ApprovalAsked(asked), Some(effect)) => {
                if let Some(open) = self.run.ledger.tool_call_mut(effect) {
                    open.policy_hash.clone_from(&asked.policy_hash);
                }
            }
            (EntryKind::ApprovalGiven(given), Some(effect)) => {
                self.run.ledger.permit(effect, given);
            }
            (EntryKind::EffectStarted(started), Some(effect)) => {
                self.run.ledger.start(effect, started);
            }
            (EntryKind::EffectAttemptFailed(failed), Some(effect)) => {
                self.run.guards.counts.wasted_attempts += 1;
                self.run.ledger.fail_attempt(effect, failed);
            }
            (EntryKind::EffectFinished(finished), Some(effect)) => {
                self.finish(entry, effect, finished);
            }
            (EntryKind::Waiting(waiting), _) => {
                self.wait(waiting);
            }
            (EntryKind::Forked(forked), _) => self.fork(forked),
            (EntryKind::Spawned(spawned), _) => self.run.ledger.family.set_parent(spawned),
            (EntryKind::Delegated(delegated), Some(effect)) => {
                self.run.ledger.delegate(effect, delegated);
            }
            (EntryKind::RunFinished(finished), _) => {
                self.run.parked = RunPause::Ended(finished.status);
            }
            _ => {}
        }
        self.run.place = JournalPlace { seq: entry.seq, at: self.at };
    }

    fn create(&mut self, created: &RunCreated) {
        self.run.ledger.take_ids(&self.run.frame.carried);
        self.run.ledger.holding = self.run.frame.policy.inherited.clone();
        let (goal, frame) = (created.goal.clone(), self.run.frame.clone());
        self.run.inner.evolve(&Event::Started { at: self.at, goal, frame });
    }

    /// The worker before is gone: its open calls are lost, unless they had acted.
    fn begin_epoch(&mut self, _: &EpochStarted) {
        let cut_short = !matches!(self.run.parked, RunPause::Waiting(_));
        if cut_short {
            let lost = u32::from(self.run.ledger.model_call().is_some());
            self.run.guards.counts.wasted_attempts += lost;
            self.run.guards.counts.model_calls += planted::if_on(Bug::BudgetCountedTwice, lost);
        }
        self.run.parked = RunPause::No;
        self.run.guards.begin_work(self.at);
    }

    fn take_input(&mut self, input: &Input) {
        match &input.message {
            InboxMessage::Steer { text } => {
                self.run.held.push(Notice::Steered { text: text.clone() })
            }
            InboxMessage::AnswerNow => self.run.held.push(Notice::AnswerNow),
            InboxMessage::Switch(switch) => return self.run.ledger.wish_to_switch(switch),
            // A cancel also cancels the switch.
            InboxMessage::Cancel { .. } => return self.run.ledger.switch = None,
            // An answer becomes an outcome: an entry of its own.
            InboxMessage::Answer { .. } => return,
            InboxMessage::Child(ended) => return self.run.guards.charge(&ended.used),
        }
        self.fold_held();
    }

    fn plan(&mut self, effect: &EffectId, planned: &EffectPlanned) {
        match planned {
            EffectPlanned::CallModel(PlannedModelCall { call, .. }) => {
                if call.purpose == Purpose::Close {
                    self.run.closing = FinalAnswerStage::Asked(self.trouble());
                }
                self.run.guards.counts.model_calls += 1;
                if let Some(message) = instruction(call.purpose) {
                    self.run.inner.transcript_mut().push(message);
                }
                self.run.inner.transcript_mut().seal();
            }
            EffectPlanned::CallTool(PlannedToolCall { call, .. }) => {
                self.run.guards.counts.tool_calls += 1;
                self.run.inner.transcript_mut().reserve(call);
            }
        }
        self.run.ledger.plan(effect, planned);
    }

    fn wait(&mut self, waiting: &Waiting) {
        if let WaitingOn::Person { question } = &waiting.on {
            let asks = |open: &&mut OpenToolCall| open.planned.call.id == question.call;
            if let Some(open) = self.run.ledger.tool_calls_mut().iter_mut().find(asks) {
                open.stage = CallStage::Asked(question.clone());
            }
        }
        if let (WaitingOn::Timer { call }, Some(until)) = (&waiting.on, waiting.until) {
            let sleeps = |open: &&mut OpenToolCall| open.planned.call.id == *call;
            if let Some(open) = self.run.ledger.tool_calls_mut().iter_mut().find(sleeps) {
                open.stage = CallStage::Sleeping(until);
            }
        }
        self.run.parked = RunPause::Waiting(waiting.clone());
        self.run.guards.stop_work();
    }

    fn finish(&mut self, entry: &Entry, effect: &EffectId, finished: &EffectFinished) {
        if let Some(open) = self.run.ledger.close_tool_call(effect) {
            self.finish_tool_call(entry, &open, finished);
        } else if let Some(open) = self.run.ledger.close_model_call(effect) {
            let purpose = open.planned.call.purpose;
            match &finished.outcome {
                Outcome::Replied(reply) => self.replied(purpose, reply.clone()),
                Outcome::ModelFailed(error) => self.model_failed(purpose, error.clone()),
                Outcome::Observed(_) | Outcome::Superseded | Outcome::Canceled => {
                    self.unplan(purpose);
                }
            }
        } else {
            return;
        }
        self.look_at_claims();
        if self.run.ledger.is_idle() {
            self.close_batch();
            self.fold_held();
        }
    }

    fn finish_tool_call(&mut self, entry: &Entry, open: &OpenToolCall, finished: &EffectFinished) {
        let Outcome::Observed(seen) = &finished.outcome else { return };
        let call = &open.planned.call;
        if !seen.is_ok() {
            self.run.guards.counts.tool_failures += 1;
        }
        if seen.ending == Ending::Unknown {
            self.run.ledger.remember_unknown(open, &self.run.frame);
        }
        self.run.ledger.holding.take(finished.labels, &source_of(call));
        self.note(entry.seq, &open.effect, call, seen);
        self.run.ledger.seen.push((open.effect.clone(), call.clone(), seen.clone()));
        self.observed(call.id.clone(), seen.clone());
    }

    /// Notes an outcome that worked, and whether it was asked for after the list was written.
    fn note(&mut self, seq: i64, effect: &EffectId, call: &ToolCall, seen: &Observation) {
        if !seen.is_ok() || call.tool == TODO_WRITE || !self.run.frame.limits.steps.list.evidence {
            return;
        }
        let out =
            self.run.ledger.tool_calls().iter().map(|open| (&open.effect, &open.planned.call));
        let over = self.run.ledger.seen.iter().map(|(effect, call, _)| (effect, call));
        let lists = out.chain(over).filter(|(_, call)| call.tool == TODO_WRITE);
        let last = lists.map(|(effect, _)| effect).max();
        let after = self.whose() == ListOwner::List && last.is_some_and(|list| effect > list);
        self.run.evidence.worked(seq, after, &self.run.inner.progress().items);
    }

    fn whose(&self) -> ListOwner {
        match self.run.inner.progress().items == self.run.inner.list().items() {
            true => ListOwner::List,
            false => ListOwner::Plan,
        }
    }

    /// Notes what is behind the items that were closed just now.
    fn look_at_claims(&mut self) {
        if !self.run.frame.limits.steps.list.evidence {
            return;
        }
        let plan = self.run.inner.progress().items;
        // The effects of the earlier run are recorded in its own journal.
        if self.run.evidence.is_new() && !self.run.frame.carried.is_empty() {
            self.run.evidence.adopt(&plan);
        }
        let items = self.run.evidence.look(&plan, self.whose());
        if self.run.ledger.is_idle() {
            self.run.evidence.end_batch(&plan);
        }
        // The answer is there, so the loop needs no notice.
        if !items.is_empty() && !matches!(self.run.inner.decide(), Next::Finish(_)) {
            self.run.held.push(Notice::Unbacked { items });
        }
    }

    /// A model call that was superseded or canceled: as if it had never been planned.
    fn unplan(&mut self, purpose: Purpose) {
        if instruction(purpose).is_some() {
            self.run.inner.transcript_mut().retract();
        }
        if purpose == Purpose::Close {
            // Without a reason of its own it was the user who wanted the answer, and still does.
            self.run.closing = match self.trouble() {
                Some(_) => FinalAnswerStage::NotYet,
                None => FinalAnswerStage::Wanted,
            };
        }
    }

    fn observed(&mut self, call: CallId, seen: Observation) {
        self.run.inner.transcript_mut().fill(&call, &seen);
        self.run.inner.evolve(&Event::Observed { at: self.at, call, seen });
    }

    fn replied(&mut self, purpose: Purpose, mut reply: Reply) {
        self.run.guards.counts.usage.add(reply.usage);
        if purpose != Purpose::Compact {
            let bytes = self.run.inner.transcript().bytes();
            self.run.guards.context.measured(reply.usage, bytes);
        }
        let says_nothing = match purpose {
            Purpose::Compact => reply.text.trim().is_empty() || only_markup(&reply.text),
            Purpose::Close => {
                reply.text.trim().is_empty() || is_not_an_answer(&reply.text, &self.run.frame)
            }
            Purpose::Plan | Purpose::Think | Purpose::Replan => false,
        };
        if says_nothing {
            let error = ModelError::new(ModelErrorKind::Empty, "the reply had no text");
            return self.model_failed(purpose, error);
        }
        match purpose {
            Purpose::Compact => self.compact(&reply.text),
            Purpose::Close => {
                let trouble = self.trouble();
                self.run.closing = FinalAnswerStage::Answered(trouble, plain(&reply.text));
            }
            Purpose::Plan | Purpose::Think | Purpose::Replan => {
                let most = self.run.frame.limits.context.calls_per_reply;
                self.run.ledger.rename_calls(&mut reply, most.saturating_add(1));
                self.run.inner.evolve(&Event::Replied { at: self.at, reply });
            }
        }
    }

    fn model_failed(&mut self, purpose: Purpose, error: ModelError) {
        match purpose {
            // A run that has no words of its model did not end well, whatever began the closing.
            Purpose::Close => {
                let trouble = self.trouble().unwrap_or(Reason::Model(error));
                self.run.closing = FinalAnswerStage::Answered(Some(trouble), String::new());
            }
            Purpose::Compact => self.run.guards.context.not_compacted(),
            Purpose::Plan | Purpose::Think | Purpose::Replan => {
                self.run.inner.evolve(&Event::ModelFailed { at: self.at, error });
            }
        }
    }

    fn compact(&mut self, summary: &str) {
        // Left in place it would be the last word, and the next reply one more summary.
        self.run.inner.transcript_mut().retract();
        let room = PromptRoom::of(self.run);
        let upto = room.compaction_cut();
        if upto.is_some_and(|upto| room.frees_too_little(upto, summary)) {
            return self.run.guards.context.freed_too_little();
        }
        self.run.guards.context.compacted();
        let Some(upto) = upto else { return };
        if self.run.frame.limits.context.least_freed > 0 {
            self.run.guards.context.summarised();
        }
        let summary = summary.to_owned();
        self.run.inner.transcript_mut().compact(upto, &summary);
        self.run.inner.evolve(&Event::Compacted { at: self.at, upto, summary });
    }

    /// All outcomes of a batch are there: look at them in plan order, whatever order they came in.
    fn close_batch(&mut self) {
        let mut seen = std::mem::take(&mut self.run.ledger.seen);
        seen.sort_by(|a, b| a.0.cmp(&b.0));
        for (place, (_, call, observation)) in seen.iter().enumerate() {
            self.run.account.take(call, observation, &self.run.frame);
            let polls = self.run.frame.tool(&call.tool).is_some_and(|tool| tool.handling.polls);
            // Twice in one reply does not count: the model has not seen the result.
            let again = seen[..place].iter().any(|(_, earlier, result)| {
                (&earlier.tool, &earlier.args, result) == (&call.tool, &call.args, observation)
            });
            if again {
                continue;
            }
            let frame = &self.run.frame;
            if let Some((tool, times)) = self.run.guards.observe(call, observation, polls, frame) {
                self.run.held.push(Notice::Repeating { tool, times });
            }
        }
    }

    /// Passes on what was held back, now that no model call is under way.
    fn fold_held(&mut self) {
        if self.run.held.is_empty() || !self.run.ledger.is_idle() || self.wants_tools() {
            return;
        }
        for notice in std::mem::take(&mut self.run.held) {
            if notice == Notice::AnswerNow && self.run.closing == FinalAnswerStage::NotYet {
                self.run.closing = FinalAnswerStage::Wanted;
            }
            if let Some(text) = told(&notice) {
                self.run.inner.transcript_mut().push(Message::user(text));
            }
            self.run.inner.evolve(&Event::Noticed { at: self.at, notice });
        }
    }

    /// Whether the loop is about to run tools: nothing may come between calls and their results.
    pub(super) fn wants_tools(&self) -> bool {
        matches!(self.run.inner.decide(), Next::CallTools(_))
    }

    /// Why the closing was begun: recomputed, because it is not part of the planned call.
    fn trouble(&self) -> Option<Reason> {
        match &self.run.closing {
            FinalAnswerStage::Asked(reason) | FinalAnswerStage::Answered(reason, _) => {
                return reason.clone();
            }
            FinalAnswerStage::Wanted | FinalAnswerStage::NotYet => {}
        }
        match (self.run.stopped(), self.run.inner.decide()) {
            (_, Next::AskModel(_) | Next::CallTools(_))
                if self.run.closing == FinalAnswerStage::Wanted =>
            {
                None
            }
            (Some(reason), _) | (None, Next::GiveUp(reason)) => Some(reason),
            (None, Next::Finish(answer)) => answer.trouble,
            (None, Next::AskModel(_) | Next::CallTools(_)) => Some(Reason::ContextFull),
        }
    }
}

/// The message to the model about a notice; the text is beside the other prompts.
fn told(notice: &Notice) -> Option<String> {
    match notice {
        Notice::Repeating { tool, times } => {
            let text = include_str!("../prompts/repeating.md");
            Some(text.replace("{tool}", tool).replace("{times}", &times.to_string()))
        }
        Notice::Unbacked { items } => {
            let lines: Vec<String> = items.iter().map(|item| format!("- {item}")).collect();
            Some(include_str!("../prompts/unbacked.md").replace("{items}", &lines.join("\n")))
        }
        Notice::Steered { text } => Some(text.clone()),
        Notice::AnswerNow => None,
    }
}

/// Whether asking the same model for last words makes no sense.
pub(super) fn is_hopeless(error: &ModelError) -> bool {
    use ModelErrorKind as K;
    !matches!(error.kind, K::TooLarge | K::IgnoredToolChoice | K::Empty | K::Malformed)
}
