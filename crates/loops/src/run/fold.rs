//! Folding: one journal entry into the state.

use super::evidence::ListOwner;
use super::ledger::{CallStage, OpenToolCall};
use super::{FinalAnswerStage, JournalPlace, Run, RunPause};
use crate::AgentLoop;
use crate::contract::plain;
use crate::truncation::is_not_an_answer;
use everloop_types::journal::{
    ApprovalGiven, EffectFinished, EffectPlanned, EffectStarted, Entry, EntryKind, EpochStarted,
    InboxMessage, Input, Outcome, PlannedModelCall, PlannedToolCall, RunCreated, Waiting,
    WaitingOn,
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
        let at = entry.at;
        if !matches!(entry.kind, EntryKind::EpochStarted(_)) {
            self.guards.tick(at, work_ms_max(&entry.kind));
        }
        match (&entry.kind, &entry.effect) {
            (EntryKind::RunCreated(created), _) => self.create(at, created),
            (EntryKind::EpochStarted(started), _) => self.begin_epoch(at, started),
            (EntryKind::Input(input), _) => self.take_input(at, input),
            (EntryKind::EffectPlanned(planned), Some(effect)) => self.plan(effect, planned),
            (EntryKind::ApprovalAsked(asked), Some(effect)) => {
                if let Some(open) = self.ledger.tool_call_mut(effect) {
                    open.policy_hash.clone_from(&asked.policy_hash);
                }
            }
            (EntryKind::ApprovalGiven(given), Some(effect)) => self.permit(effect, given),
            (EntryKind::EffectStarted(started), Some(effect)) => {
                self.start(effect, started);
            }
            (EntryKind::EffectAttemptFailed(failed), Some(effect)) => {
                self.guards.counts.wasted_attempts += 1;
                self.ledger.fail_attempt(effect, failed);
            }
            (EntryKind::EffectFinished(finished), Some(effect)) => {
                self.finish(entry, effect, finished)
            }
            (EntryKind::Waiting(waiting), _) => {
                self.wait(waiting);
            }
            (EntryKind::Forked(forked), _) => self.fork(at, forked),
            (EntryKind::Spawned(spawned), _) => self.set_parent(spawned),
            (EntryKind::Delegated(delegated), Some(effect)) => self.delegate(effect, delegated),
            (EntryKind::RunFinished(finished), _) => self.parked = RunPause::Ended(finished.status),
            _ => {}
        }
        self.place = JournalPlace { seq: entry.seq, at };
    }

    fn create(&mut self, at: UtcMs, created: &RunCreated) {
        self.ledger.take_ids(&self.frame.carried);
        self.ledger.holding = self.frame.policy.inherited.clone();
        let (goal, frame) = (created.goal.clone(), self.frame.clone());
        self.inner.evolve(&Event::Started { at, goal, frame });
    }

    /// The worker before is gone: its open calls are lost, unless they had acted.
    fn begin_epoch(&mut self, at: UtcMs, _: &EpochStarted) {
        let cut_short = !matches!(self.parked, RunPause::Waiting(_));
        if cut_short {
            let lost = u32::from(self.ledger.model_call().is_some());
            self.guards.counts.wasted_attempts += lost;
            self.guards.counts.model_calls += planted::if_on(Bug::BudgetCountedTwice, lost);
        }
        self.parked = RunPause::No;
        self.guards.begin_work(at);
    }

    fn take_input(&mut self, at: UtcMs, input: &Input) {
        match &input.message {
            InboxMessage::Steer { text } => self.held.push(Notice::Steered { text: text.clone() }),
            InboxMessage::AnswerNow => self.held.push(Notice::AnswerNow),
            InboxMessage::Switch(switch) => return self.wish_to_switch(switch),
            // A cancel also cancels the switch.
            InboxMessage::Cancel { .. } => return self.ledger.switch = None,
            // An answer becomes an outcome: an entry of its own.
            InboxMessage::Answer { .. } => return,
            InboxMessage::Child(ended) => return self.charge(ended),
        }
        self.fold_held(at);
    }

    fn plan(&mut self, effect: &EffectId, planned: &EffectPlanned) {
        match planned {
            EffectPlanned::CallModel(PlannedModelCall { call, .. }) => {
                if call.purpose == Purpose::Close {
                    self.closing = FinalAnswerStage::Asked(self.trouble());
                }
                self.guards.counts.model_calls += 1;
                if let Some(message) = self.instruction(call.purpose) {
                    self.inner.transcript_mut().push(message);
                }
                self.inner.transcript_mut().seal();
            }
            EffectPlanned::CallTool(PlannedToolCall { call, .. }) => {
                self.guards.counts.tool_calls += 1;
                self.inner.transcript_mut().reserve(call);
            }
        }
        self.ledger.plan(effect, planned);
    }

    fn wait(&mut self, waiting: &Waiting) {
        if let WaitingOn::Person { question } = &waiting.on {
            let asks = |open: &&mut OpenToolCall| open.planned.call.id == question.call;
            if let Some(open) = self.ledger.tool_calls_mut().iter_mut().find(asks) {
                open.stage = CallStage::Asked(question.clone());
            }
        }
        self.parked = RunPause::Waiting(waiting.clone());
        self.guards.stop_work();
    }

    fn start(&mut self, effect: &EffectId, started: &EffectStarted) {
        if let Some(open) = self.ledger.tool_call_mut(effect) {
            open.stage = CallStage::Started(started.clone());
            open.may_have_acted = true;
        }
    }

    fn permit(&mut self, effect: &EffectId, given: &ApprovalGiven) {
        if let Some(open) = self.ledger.tool_call_mut(effect) {
            open.stage = CallStage::Approved;
            open.policy_hash.clone_from(&given.policy_hash);
        }
        if let Some(place) = &given.releases {
            self.ledger.holding.release(place);
        }
    }

    fn finish(&mut self, entry: &Entry, effect: &EffectId, finished: &EffectFinished) {
        if let Some(open) = self.ledger.close_tool_call(effect) {
            self.finish_tool_call(entry, &open, finished);
        } else if let Some(open) = self.ledger.close_model_call(effect) {
            let purpose = open.planned.call.purpose;
            match &finished.outcome {
                Outcome::Replied(reply) => self.replied(entry.at, purpose, reply.clone()),
                Outcome::ModelFailed(error) => self.model_failed(entry.at, purpose, error.clone()),
                Outcome::Observed(_) | Outcome::Superseded | Outcome::Canceled => {
                    self.unplan(purpose);
                }
            }
        } else {
            return;
        }
        self.look_at_claims();
        if self.ledger.is_idle() {
            self.close_batch();
            self.fold_held(entry.at);
        }
    }

    fn finish_tool_call(&mut self, entry: &Entry, open: &OpenToolCall, finished: &EffectFinished) {
        let Outcome::Observed(seen) = &finished.outcome else { return };
        let call = &open.planned.call;
        if !seen.is_ok() {
            self.guards.counts.tool_failures += 1;
        }
        if seen.ending == Ending::Unknown {
            self.ledger.remember_unknown(open, &self.frame);
        }
        self.ledger.holding.take(finished.labels, &source_of(call));
        self.note(entry.seq, &open.effect, call, seen);
        self.ledger.seen.push((open.effect.clone(), call.clone(), seen.clone()));
        self.observed(entry.at, call.id.clone(), seen.clone());
    }

    /// Notes an outcome that worked, and whether it was asked for after the list was written.
    fn note(&mut self, seq: i64, effect: &EffectId, call: &ToolCall, seen: &Observation) {
        if !seen.is_ok() || call.tool == TODO_WRITE || !self.frame.limits.steps.list.evidence {
            return;
        }
        let out = self.ledger.tool_calls().iter().map(|open| (&open.effect, &open.planned.call));
        let over = self.ledger.seen.iter().map(|(effect, call, _)| (effect, call));
        let lists = out.chain(over).filter(|(_, call)| call.tool == TODO_WRITE);
        let last = lists.map(|(effect, _)| effect).max();
        let after = self.whose() == ListOwner::List && last.is_some_and(|list| effect > list);
        self.evidence.worked(seq, after, &self.inner.progress().items);
    }

    fn whose(&self) -> ListOwner {
        match self.inner.progress().items == self.inner.list().items() {
            true => ListOwner::List,
            false => ListOwner::Plan,
        }
    }

    /// Notes what is behind the items that were closed just now.
    fn look_at_claims(&mut self) {
        if !self.frame.limits.steps.list.evidence {
            return;
        }
        let plan = self.inner.progress().items;
        // The effects of the earlier run are recorded in its own journal.
        if self.evidence.is_new() && !self.frame.carried.is_empty() {
            self.evidence.adopt(&plan);
        }
        let items = self.evidence.look(&plan, self.whose());
        if self.ledger.is_idle() {
            self.evidence.end_batch(&plan);
        }
        // The answer is there, so the loop needs no notice.
        if !items.is_empty() && !matches!(self.inner.decide(), Next::Finish(_)) {
            self.held.push(Notice::Unbacked { items });
        }
    }

    /// A model call that was superseded or canceled: as if it had never been planned.
    fn unplan(&mut self, purpose: Purpose) {
        if self.instruction(purpose).is_some() {
            self.inner.transcript_mut().retract();
        }
        if purpose == Purpose::Close {
            // Without a reason of its own it was the user who wanted the answer, and still does.
            self.closing = match self.trouble() {
                Some(_) => FinalAnswerStage::NotYet,
                None => FinalAnswerStage::Wanted,
            };
        }
    }

    fn observed(&mut self, at: UtcMs, call: CallId, seen: Observation) {
        self.inner.transcript_mut().fill(&call, &seen);
        self.inner.evolve(&Event::Observed { at, call, seen });
    }

    fn replied(&mut self, at: UtcMs, purpose: Purpose, mut reply: Reply) {
        self.guards.counts.usage.add(reply.usage);
        if purpose != Purpose::Compact {
            let bytes = self.inner.transcript().bytes();
            self.guards.context.measured(reply.usage, bytes);
        }
        let says_nothing = match purpose {
            Purpose::Compact => reply.text.trim().is_empty() || only_markup(&reply.text),
            Purpose::Close => {
                reply.text.trim().is_empty() || is_not_an_answer(&reply.text, &self.frame)
            }
            Purpose::Plan | Purpose::Think | Purpose::Replan => false,
        };
        if says_nothing {
            let error = ModelError::new(ModelErrorKind::Empty, "the reply had no text");
            return self.model_failed(at, purpose, error);
        }
        match purpose {
            Purpose::Compact => self.compact(at, &reply.text),
            Purpose::Close => {
                let trouble = self.trouble();
                self.closing = FinalAnswerStage::Answered(trouble, plain(&reply.text));
            }
            Purpose::Plan | Purpose::Think | Purpose::Replan => {
                let most = self.frame.limits.context.calls_per_reply;
                self.ledger.rename_calls(&mut reply, most.saturating_add(1));
                self.inner.evolve(&Event::Replied { at, reply });
            }
        }
    }

    fn model_failed(&mut self, at: UtcMs, purpose: Purpose, error: ModelError) {
        match purpose {
            // A run that has no words of its model did not end well, whatever began the closing.
            Purpose::Close => {
                let trouble = self.trouble().unwrap_or(Reason::Model(error));
                self.closing = FinalAnswerStage::Answered(Some(trouble), String::new());
            }
            Purpose::Compact => self.guards.context.not_compacted(),
            Purpose::Plan | Purpose::Think | Purpose::Replan => {
                self.inner.evolve(&Event::ModelFailed { at, error });
            }
        }
    }

    fn compact(&mut self, at: UtcMs, summary: &str) {
        // Left in place it would be the last word, and the next reply one more summary.
        self.inner.transcript_mut().retract();
        let upto = self.compaction_cut();
        if upto.is_some_and(|upto| self.frees_too_little(upto, summary)) {
            return self.guards.context.freed_too_little();
        }
        self.guards.context.compacted();
        let Some(upto) = upto else { return };
        if self.frame.limits.context.least_freed > 0 {
            self.guards.context.summarised();
        }
        let summary = summary.to_owned();
        self.inner.transcript_mut().compact(upto, &summary);
        self.inner.evolve(&Event::Compacted { at, upto, summary });
    }

    /// All outcomes of a batch are there: look at them in plan order, whatever order they came in.
    fn close_batch(&mut self) {
        let mut seen = std::mem::take(&mut self.ledger.seen);
        seen.sort_by(|a, b| a.0.cmp(&b.0));
        for (place, (_, call, observation)) in seen.iter().enumerate() {
            self.account.take(call, observation, &self.frame);
            let polls = self.frame.tool(&call.tool).is_some_and(|tool| tool.handling.polls);
            // Twice in one reply does not count: the model has not seen the result.
            let again = seen[..place].iter().any(|(_, earlier, result)| {
                (&earlier.tool, &earlier.args, result) == (&call.tool, &call.args, observation)
            });
            if again {
                continue;
            }
            let frame = &self.frame;
            if let Some((tool, times)) = self.guards.observe(call, observation, polls, frame) {
                self.held.push(Notice::Repeating { tool, times });
            }
        }
    }

    /// Passes on what was held back, now that no model call is under way.
    fn fold_held(&mut self, at: UtcMs) {
        if self.held.is_empty() || !self.ledger.is_idle() || self.wants_tools() {
            return;
        }
        for notice in std::mem::take(&mut self.held) {
            if notice == Notice::AnswerNow && self.closing == FinalAnswerStage::NotYet {
                self.closing = FinalAnswerStage::Wanted;
            }
            if let Some(text) = told(&notice) {
                self.inner.transcript_mut().push(Message::user(text));
            }
            self.inner.evolve(&Event::Noticed { at, notice });
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
