//! Journal entries as events. The same entries give the same events, live or years later: followers
//! and readers of the past use this one function.

use crate::History;
use crate::events::{EventKind, EventNote, RunEnding, RunEvent, ToolOutcome, WaitingFor};
use crate::piece::{PieceNews, ShownStream};
use everloop_loops::{AnyRun, spoken};
use everloop_types::journal::{
    EffectAttemptFailed, EffectFinished, EffectPlanned, Entry, EntryKind, InboxMessage, Outcome,
    PlannedModelCall, PlannedToolCall, RunFinished, Waiting, WaitingOn,
};
use everloop_types::{
    EffectId, Fragment, Frame, ItemState, Progress, Purpose, Reply, RunId, StreamPiece, ToolCall,
    Words, without_mark,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Makes events of one run's journal. Entries come in order, from the first one on.
#[derive(Debug)]
pub struct Projector {
    run: RunId,
    frame: Arc<Frame>,
    /// The folded run, for its plan and its notes; none if the journal cannot be folded.
    state: Option<AnyRun>,
    /// The last entry that was applied.
    seq: i64,
    /// The epoch of that entry.
    epoch: i64,
    loop_name: String,
    open: BTreeMap<EffectId, OpenEffect>,
    plan: Option<Progress>,
    noted: Option<Words>,
}

/// A call that has no outcome yet.
#[derive(Debug)]
struct OpenEffect {
    /// Where it was planned.
    seq: i64,
    call: OpenCall,
    /// Attempts that failed.
    failed_attempts: u32,
    /// What was shown of it.
    shown: ShownStream,
}

#[derive(Debug)]
enum OpenCall {
    Model(Purpose),
    Tool(ToolCall),
}

impl Projector {
    /// Makes events of a run with this frame.
    #[must_use]
    pub fn new(run: RunId, frame: Arc<Frame>) -> Self {
        Self {
            run,
            frame,
            state: None,
            seq: 0,
            epoch: 0,
            loop_name: String::new(),
            open: BTreeMap::new(),
            plan: None,
            noted: None,
        }
    }

    /// All events of a past. If it cannot be folded, the events of plan and notes are missing.
    #[must_use]
    pub fn past(history: &History) -> Vec<RunEvent> {
        let mut projector = Self::new(history.run.clone(), history.frame().clone());
        history.entries.iter().flat_map(|entry| projector.take_entry(entry)).collect()
    }

    /// The run.
    pub(crate) fn run(&self) -> &RunId {
        &self.run
    }

    /// The last entry that was applied.
    pub(crate) fn seq(&self) -> i64 {
        self.seq
    }

    /// The events of the next entry.
    pub fn take_entry(&mut self, entry: &Entry) -> Vec<RunEvent> {
        let mut kinds = self.recovered(entry);
        let purpose = self.fold(entry);
        match &entry.kind {
            // The ending is the last event of a run.
            EntryKind::RunFinished(finished) => {
                kinds.extend(self.changes(purpose));
                kinds.extend(self.ended(finished));
            }
            _ => {
                kinds.extend(self.kinds(entry));
                kinds.extend(self.changes(purpose));
            }
        }
        let placed =
            |kind| RunEvent { kind, run_id: self.run.clone(), seq: entry.seq, ts: Some(entry.at) };
        kinds.into_iter().map(placed).collect()
    }

    /// The event of a piece of a call under way.
    pub(crate) fn take_piece(&mut self, piece: &StreamPiece) -> PieceNews {
        let stream = &piece.stream;
        let Some(open) = self.open.get_mut(&stream.effect).filter(|_| stream.epoch == self.epoch)
        else {
            return PieceNews::OfAnotherTime;
        };
        if stream.attempt != open.failed_attempts {
            return PieceNews::OfAnotherTime;
        }
        let fragment = match open.shown.take(piece) {
            Ok(Some(fragment)) => fragment,
            Ok(None) => return PieceNews::Nothing,
            Err(gap) => return gap,
        };
        let call_id = open.tool().map(|call| call.id.clone());
        let kind = match fragment {
            Fragment::Text(text) => EventKind::MessageDelta { text },
            Fragment::Reasoning(text) => EventKind::ReasoningDelta { text },
            Fragment::Call(tool) => {
                EventKind::ToolProgress { tool: Some(tool), text: None, call_id }
            }
            Fragment::Output(text) => {
                EventKind::ToolProgress { tool: None, text: Some(text), call_id }
            }
        };
        let (run_id, seq) = (self.run.clone(), open.seq);
        PieceNews::Event(Box::new(RunEvent { kind, run_id, seq, ts: None }))
    }

    /// A run that was not waiting and has a new driver was left by the earlier one.
    fn recovered(&self, entry: &Entry) -> Vec<EventKind> {
        let (EntryKind::EpochStarted(_), Some(state)) = (&entry.kind, &self.state) else {
            return Vec::new();
        };
        if entry.epoch <= 1 || state.waiting_on().is_some() {
            return Vec::new();
        }
        vec![EventKind::RunRecovered { interrupted: state.open_count() }]
    }

    /// Folds the entry; the purpose of the model call that it ends, if it ends one.
    fn fold(&mut self, entry: &Entry) -> Option<Purpose> {
        if let EntryKind::RunCreated(created) = &entry.kind {
            self.loop_name.clone_from(&created.loop_name);
            self.state = AnyRun::new(created, self.frame.clone()).ok();
        }
        if entry.seq != self.seq + 1 {
            // Old journals are trimmed to their outcomes.
            self.state = None;
        }
        self.seq = entry.seq;
        self.epoch = entry.epoch;
        if let Some(state) = &mut self.state {
            state.apply(entry);
        }
        match (&entry.kind, self.open.get(entry.effect.as_ref()?)?) {
            (EntryKind::EffectFinished(_), OpenEffect { call: OpenCall::Model(purpose), .. }) => {
                Some(*purpose)
            }
            _ => None,
        }
    }

    fn kinds(&mut self, entry: &Entry) -> Vec<EventKind> {
        let effect = entry.effect.as_ref();
        let known = effect.and_then(|effect| self.open.get(effect));
        let call = known.and_then(OpenEffect::tool);
        let (call_id, tool) = (call.map(|call| call.id.clone()), call.map(|c| c.tool.clone()));
        let kind = match &entry.kind {
            EntryKind::RunCreated(created) => EventKind::RunStarted {
                goal: created.goal.text.clone(),
                loop_name: created.loop_name.clone(),
            },
            EntryKind::EpochStarted(_) if entry.epoch > 1 => EventKind::RunResumed {},
            EntryKind::EffectPlanned(planned) => self.planned(entry, planned),
            EntryKind::EffectAttemptFailed(failed) => {
                return self.attempt_failed(entry, failed).into_iter().collect();
            }
            EntryKind::EffectProbed(probed) => EventKind::ToolProbed {
                call_id,
                tool,
                found: probed.found,
                detail: probed.detail.clone(),
            },
            EntryKind::EffectFinished(finished) => return self.finished(effect, finished),
            EntryKind::ApprovalGiven(given) => EventKind::ToolApproved {
                call_id,
                tool,
                by: given.by.clone(),
                releases: given.releases.clone(),
                edited_args: given.edited_args.clone(),
            },
            EntryKind::Input(input) => received(&input.message),
            EntryKind::Waiting(waiting) => return waits(waiting),
            EntryKind::Forked(forked) => {
                EventKind::RunForked { from: forked.from.clone(), at: forked.at_seq }
            }
            EntryKind::Spawned(spawned) => EventKind::RunSpawned { parent: spawned.by.run.clone() },
            EntryKind::Delegated(delegated) => {
                EventKind::ChildStarted { child: delegated.to.clone() }
            }
            EntryKind::EpochStarted(_)
            | EntryKind::ApprovalAsked(_)
            | EntryKind::EffectStarted(_)
            | EntryKind::MessageEmitted(_)
            | EntryKind::SnapshotTaken(_)
            | EntryKind::RunFinished(_) => return Vec::new(),
        };
        vec![kind]
    }

    fn planned(&mut self, entry: &Entry, planned: &EffectPlanned) -> EventKind {
        let (call, kind) = match planned {
            EffectPlanned::CallModel(PlannedModelCall { call, .. }) => {
                let purpose = call.purpose;
                let progress = self.state.as_ref().map(|run| run.progress()).unwrap_or_default();
                let Progress { steps: step, steps_max, .. } = progress;
                (OpenCall::Model(purpose), EventKind::StepStarted { purpose, step, steps_max })
            }
            EffectPlanned::CallTool(PlannedToolCall { call, .. }) => {
                let kind = EventKind::ToolStarted {
                    call_id: call.id.clone(),
                    tool: call.tool.clone(),
                    arguments: call.args.clone(),
                };
                (OpenCall::Tool(call.clone()), kind)
            }
        };
        if let Some(effect) = &entry.effect {
            let shown = ShownStream::default();
            let open = OpenEffect { seq: entry.seq, call, failed_attempts: 0, shown };
            self.open.insert(effect.clone(), open);
        }
        kind
    }

    fn attempt_failed(&mut self, entry: &Entry, failed: &EffectAttemptFailed) -> Option<EventKind> {
        let open = self.open.get_mut(entry.effect.as_ref()?)?;
        let error = failed.error.clone();
        let attempt = failed.attempt;
        let wait_ms = u64::try_from(failed.retry_at - entry.at).unwrap_or(0);
        let before = std::mem::replace(&mut open.failed_attempts, attempt);
        Some(match &open.call {
            OpenCall::Tool(call) => EventKind::ToolRetrying {
                call_id: call.id.clone(),
                tool: call.tool.clone(),
                attempt,
                error,
                wait_ms,
            },
            OpenCall::Model(_) => {
                let model = &self.frame.model;
                match (model.fallback_after(before), model.fallback_after(attempt)) {
                    (None, Some(fallback)) => {
                        EventKind::StepFellBack { error, model: fallback.name.clone() }
                    }
                    _ => EventKind::StepRetrying { error, wait_ms, attempt },
                }
            }
        })
    }

    fn finished(&mut self, effect: Option<&EffectId>, finished: &EffectFinished) -> Vec<EventKind> {
        let open = effect.and_then(|effect| self.open.remove(effect));
        let duration_ms = finished.took_ms;
        let call = open.and_then(|open| match open.call {
            OpenCall::Tool(call) => Some(call),
            OpenCall::Model(_) => None,
        });
        match (&finished.outcome, call) {
            (Outcome::Replied(reply), _) => self.replied(reply, duration_ms),
            (Outcome::Observed(seen), Some(call)) => {
                let names = finished.labels.names().map(str::to_owned);
                let outcome = ToolOutcome {
                    call_id: call.id,
                    tool: call.tool,
                    ending: seen.ending,
                    result: seen.text.clone(),
                    duration_ms,
                    labels: if finished.labels.is_empty() { Vec::new() } else { names.to_vec() },
                    change: finished.change.clone(),
                };
                let is_ok = seen.is_ok();
                let kind = if is_ok { EventKind::ToolCompleted } else { EventKind::ToolFailed };
                vec![kind(outcome)]
            }
            (Outcome::ModelFailed(error), _) => {
                vec![EventKind::StepFailed { error: error.detail.clone(), kind: error.kind }]
            }
            (outcome, _) => vec![EventKind::StepSkipped { outcome: outcome.clone() }],
        }
    }

    /// The reasoning and the text of a reply, without what is written for the program.
    fn replied(&self, reply: &Reply, duration_ms: u64) -> Vec<EventKind> {
        let shown = |text: &str| without_mark(text, self.frame.mark());
        let reasoning = shown(&reply.reasoning);
        let completed = EventKind::MessageCompleted {
            text: shown(&spoken(&self.loop_name, &reply.text)),
            usage: reply.usage.into(),
            tool_calls: reply.calls.len(),
            duration_ms,
        };
        let reasoned = EventKind::ReasoningCompleted { text: reasoning.clone() };
        Some(reasoned).filter(|_| !reasoning.is_empty()).into_iter().chain([completed]).collect()
    }

    /// What the loop noted and the whole plan, each time that they change.
    fn changes(&mut self, purpose: Option<Purpose>) -> Vec<EventKind> {
        let Some(state) = &self.state else { return Vec::new() };
        let mut progress = state.progress();
        let note = progress.note.take();
        let before = std::mem::replace(&mut self.noted, note.clone());
        let mut kinds = Vec::new();
        match (note, progress.round, purpose) {
            (note, ..) if note == before => {}
            (Some(Words::Said(text)), Some(round), Some(Purpose::Think)) => {
                let (round, rounds) = (round.number, round.most);
                kinds.push(EventKind::RoundSummarized { round, rounds, text });
            }
            (Some(note), ..) => kinds.extend(self.noted_events(&note)),
            (None, ..) => {}
        }
        if progress.version == 0 || self.plan.as_ref() == Some(&progress) {
            return kinds;
        }
        let plan = progress.clone();
        kinds.push(match self.plan.replace(progress) {
            None => EventKind::PlanCreated { plan },
            Some(_) => EventKind::PlanUpdated { plan },
        });
        kinds
    }

    /// A note by the names of its texts, or in the model's own words. A reply that was used though
    /// it broke its contract has a name of its own.
    fn noted_events(&self, note: &Words) -> Vec<EventKind> {
        let text = everloop_text::render(note, self.frame.language);
        match note {
            Words::Said(_) => {
                vec![EventKind::StepNoted(EventNote { note: None, args: None, text })]
            }
            Words::Key(key, args) => {
                let (note, args) = (Some(key.clone()), Some(args.clone()));
                let said = EventNote { note, args, text };
                vec![match key.as_str().strip_prefix("salvaged.") {
                    Some(how) => EventKind::StepSalvaged { how: how.to_owned(), said },
                    None => EventKind::StepNoted(said),
                }]
            }
            Words::All(all) => all.iter().flat_map(|one| self.noted_events(one)).collect(),
        }
    }

    /// The end closes the plan or list, as an event of its own (TD-3).
    fn ended(&self, finished: &RunFinished) -> Vec<EventKind> {
        let items = self.plan.as_ref().map(|plan| plan.items.as_slice()).unwrap_or_default();
        let count = |state| items.iter().filter(|item| item.state == state).count();
        let closed = (!items.is_empty()).then(|| EventKind::PlanClosed {
            completed: count(ItemState::Completed),
            failed: count(ItemState::Failed),
            cancelled: count(ItemState::Skipped),
            open: count(ItemState::Pending) + count(ItemState::InProgress),
        });
        let RunFinished { status, reason } = finished.clone();
        closed.into_iter().chain([RunEnding { status, reason, note: None }.into()]).collect()
    }
}

impl OpenEffect {
    fn tool(&self) -> Option<&ToolCall> {
        match &self.call {
            OpenCall::Tool(call) => Some(call),
            OpenCall::Model(_) => None,
        }
    }
}

fn received(message: &InboxMessage) -> EventKind {
    match message.clone() {
        InboxMessage::Answer { question, text, by } => {
            EventKind::QuestionAnswered { interrupt_id: question, text, by }
        }
        InboxMessage::Cancel { by } => EventKind::RunCancelRequested { by },
        InboxMessage::Steer { text } => EventKind::RunSteered { text },
        InboxMessage::AnswerNow => EventKind::RunAnswerRequested {},
        InboxMessage::Switch(switch) => {
            EventKind::RunSwitching { loop_name: switch.loop_name, to: switch.to }
        }
        InboxMessage::Child(ended) => EventKind::ChildEnded {
            child: ended.child,
            status: ended.status,
            text: ended.text,
            usage: ended.used.usage.into(),
            model_calls: ended.used.model_calls,
            tool_calls: ended.used.tool_calls,
        },
    }
}

fn waits(waiting: &Waiting) -> Vec<EventKind> {
    match &waiting.on {
        WaitingOn::Person { question } => vec![
            EventKind::RunWaiting(WaitingFor::User),
            EventKind::QuestionOpened {
                interrupt_id: question.id.clone(),
                kind: question.kind,
                message: question.text.clone(),
                request: question.request.clone(),
            },
        ],
        WaitingOn::Model { error } => {
            vec![EventKind::RunWaiting(WaitingFor::Model { error: error.detail.clone() })]
        }
        WaitingOn::Child { run } => {
            vec![EventKind::RunWaiting(WaitingFor::Child { child: run.clone() })]
        }
        WaitingOn::Timer { .. } => {
            let until = waiting.until.unwrap_or_default();
            vec![EventKind::RunWaiting(WaitingFor::Timer { until })]
        }
    }
}
