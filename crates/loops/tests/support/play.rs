//! Plays a scenario as the engine would: decide, journal, answer, fold, again.

use super::scenario::{Point, Reply, Scenario};
use super::{trace, watch::Watch};
use everloop_loops::{AnyRun, Decision, OpenToolCall, PlannedEffect};
use everloop_types::journal::{
    ApprovalAsked, ApprovalGiven, EffectAttemptFailed, EffectFinished, EffectPlanned,
    EffectStarted, Entry, EntryKind, EpochStarted, InboxMessage, Input, MessageEmitted, Outcome,
    PlannedModelCall, PlannedToolCall, RunCreated, RunFinished, SnapshotTaken, Waiting, WaitingOn,
};
use everloop_types::{
    CallId, EffectId, Ending, Frame, Goal, Message, Observation, Question, QuestionKind, RunId,
    ToolCall, WorkerId, digest_bytes, digest_json,
};
use serde_json::Value;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

/// Milliseconds between two entries.
const PACE_MS: i64 = 100;
/// A journal that is longer than this belongs to a run that does not end.
const ENTRIES_MAX: usize = 20_000;
/// How long a person takes.
const WAIT_MS: i64 = 3_600_000;

/// A run that has come to its end.
#[derive(Debug)]
pub(crate) struct Played {
    pub(crate) trace: String,
    pub(crate) journal: Vec<Entry>,
    pub(crate) run: AnyRun,
    pub(crate) frame: Arc<Frame>,
    pub(crate) ending: Decision,
    /// What the model was shown, call by call.
    pub(crate) prompts: Vec<Vec<Message>>,
}

/// Folds a journal from its first entry.
pub(crate) fn fold(journal: &[Entry], frame: &Arc<Frame>) -> AnyRun {
    let EntryKind::RunCreated(created) = &journal[0].kind else { panic!("the first entry") };
    let mut run = AnyRun::new(created, frame.clone()).expect("a loop of that name");
    journal.iter().for_each(|entry| run.apply(entry));
    run
}

/// Folds a journal with a snapshot after every entry, each restored from the one before.
pub(crate) fn relay(journal: &[Entry], frame: &Arc<Frame>) -> AnyRun {
    let EntryKind::RunCreated(created) = &journal[0].kind else { panic!("the first entry") };
    let mut run = AnyRun::new(created, frame.clone()).expect("a loop of that name");
    for entry in journal {
        run.apply(entry);
        let (name, version) = (&created.loop_name, created.loop_ver);
        let copy = AnyRun::restore(name, version, &run.state(), frame.clone());
        assert_eq!(copy.as_ref(), Ok(&run), "round trip after entry {}", entry.seq);
        run = copy.expect("our own state");
    }
    run
}

pub(crate) struct Player {
    script: Scenario,
    frame: Arc<Frame>,
    created: RunCreated,
    run: AnyRun,
    journal: Vec<Entry>,
    at: i64,
    epoch: i64,
    batch: usize,
    answers: HashMap<EffectId, Outcome>,
    asked: (usize, usize),
    trace: String,
    watch: Watch,
}

impl Player {
    pub(crate) fn new(script: Scenario) -> Self {
        let frame = Arc::new(script.frame.clone());
        let created = RunCreated {
            goal: Goal { text: script.goal.clone(), ..Goal::default() },
            loop_name: script.loop_name.clone(),
            loop_ver: AnyRun::version(&script.loop_name).expect("a loop of that name"),
            frame: digest_json(&script.frame),
            build: "test".to_owned(),
            policy_hash: String::new(),
            turn: None,
        };
        let run = AnyRun::new(&created, frame.clone()).expect("a loop of that name");
        Self {
            frame,
            created,
            run,
            journal: Vec::new(),
            at: 1_000_000,
            epoch: 0,
            batch: 0,
            answers: HashMap::new(),
            asked: (0, 0),
            trace: String::new(),
            watch: Watch::default(),
            script,
        }
    }

    pub(crate) fn play(mut self) -> Played {
        self.append(None, EntryKind::RunCreated(self.created.clone()));
        self.begin_epoch();
        let ending = loop {
            if let Some(ending) = self.deliver(Point::After(self.batch)) {
                break ending;
            }
            match self.run.decide() {
                Decision::Do(effects) => self.plan(&effects),
                ending @ Decision::Finish { .. } => break ending,
            }
            self.maybe_crash();
            if let Some(ending) = self.deliver(Point::During(self.batch)) {
                break ending;
            }
            self.answer_all();
        };
        self.finish(ending)
    }

    fn finish(mut self, ending: Decision) -> Played {
        self.say(&trace::finish(&ending));
        let Decision::Finish { status, reason, words } = &ending else { unreachable!("an ending") };
        assert!(!words.is_empty(), "a run must end with words");
        assert!(status.is_final(), "{status} is no ending");
        let finished = RunFinished { status: *status, reason: reason.clone() };
        self.append(None, EntryKind::MessageEmitted(MessageEmitted { slot: "final".to_owned() }));
        self.append(None, EntryKind::RunFinished(finished));
        assert_eq!(self.run.ended(), Some(*status));
        Played {
            trace: self.trace,
            journal: self.journal,
            run: self.run,
            frame: self.frame,
            ending,
            prompts: self.watch.prompts,
        }
    }

    /// One decision, in one transaction: the plans, and the outcomes of what cannot be performed.
    fn plan(&mut self, effects: &[PlannedEffect]) {
        self.batch += 1;
        let cause = self.journal.last().expect("a journal that has begun").seq;
        let ids: Vec<EffectId> = (0..effects.len())
            .map(|index| EffectId {
                run: RunId::new("run_1"),
                cause,
                index: u32::try_from(index).expect("a small batch"),
            })
            .collect();
        for (id, effect) in ids.iter().zip(effects) {
            self.say(&trace::planned(effect));
            self.watch.planned(id);
            self.append(Some(id), EntryKind::EffectPlanned(effect.planned.clone()));
            if let EffectPlanned::CallModel(PlannedModelCall { messages, prompt, .. }) =
                &effect.planned
            {
                assert_eq!(self.run.messages().len(), *messages);
                assert_eq!(self.run.prompt_digest(), *prompt);
                self.watch.prompt(self.run.messages());
            }
        }
        for (id, effect) in ids.iter().zip(effects) {
            match &effect.refused {
                Some(seen) => self.append_outcome(id, Outcome::Observed(seen.clone())),
                None => self.assign(id, &effect.planned),
            }
        }
    }

    /// What the world will answer. Chosen when the effect is planned, so that no order matters.
    fn assign(&mut self, id: &EffectId, planned: &EffectPlanned) {
        let outcome = match planned {
            EffectPlanned::CallModel(PlannedModelCall { call, .. }) => {
                self.asked.0 += 1;
                match self.script.reply(self.asked.0 - 1, call.purpose) {
                    Reply::Whole(reply) => Outcome::Replied(reply),
                    Reply::Fails(error) => Outcome::ModelFailed(error),
                    Reply::Superseded => Outcome::Superseded,
                    Reply::Fitting(_) => unreachable!("already rendered"),
                }
            }
            EffectPlanned::CallTool(PlannedToolCall { call, .. }) => {
                self.asked.1 += 1;
                Outcome::Observed(self.script.outcome(self.asked.1 - 1, &call.tool))
            }
        };
        self.answers.insert(id.clone(), outcome);
    }

    fn answer_all(&mut self) {
        for place in self.order() {
            let outcome = self.answers.remove(&place).expect("an outcome for what was planned");
            if let Some(open) = self.run.open_model_call() {
                let PlannedModelCall { call, prompt, .. } = &open.planned;
                assert_eq!(self.run.prompt_digest(), *prompt, "the prompt that is out");
                self.watch.replied(call.purpose, &outcome);
            } else {
                let open = self.run.open_tool_calls().iter().find(|open| open.effect == place);
                let open = open.unwrap_or_else(|| panic!("{place} is not open")).clone();
                self.perform(&open);
            }
            self.append_outcome(&place, outcome);
            self.maybe_crash();
        }
        assert!(self.run.is_idle());
    }

    /// The effects that are out, in the order in which their outcomes come.
    fn order(&self) -> Vec<EffectId> {
        let asked = self.run.open_model_call().map(|open| open.effect.clone());
        let called = self.run.open_tool_calls().iter().map(|open| open.effect.clone());
        let mut ids: Vec<EffectId> = asked.into_iter().chain(called).collect();
        if let Some(seed) = self.script.upsets.shuffle {
            ids.sort_by_key(|id| digest_bytes(format!("{seed}:{}", id.index).as_bytes()));
        }
        ids
    }

    /// What the engine journals between a plan and its outcome.
    fn perform(&mut self, open: &OpenToolCall) {
        let id = open.effect.clone();
        let PlannedToolCall { call, class, .. } = &open.planned;
        if call.tool == "ask_user" {
            self.wait_for_person(&id, QuestionKind::Ask, call);
        }
        if !self.script.upsets.thorough || !class.needs_intent() {
            return;
        }
        let args_hash = digest_bytes(call.args.as_bytes());
        let asked = ApprovalAsked { args_hash: args_hash.clone(), policy_hash: String::new() };
        self.append(Some(&id), EntryKind::ApprovalAsked(asked));
        self.wait_for_person(&id, QuestionKind::Approve, call);
        let given = ApprovalGiven {
            args_hash,
            by: "user".to_owned(),
            policy_hash: String::new(),
            releases: None,
            edited_args: None,
        };
        self.append(Some(&id), EntryKind::ApprovalGiven(given));
        let start_by = self.at + 10_000;
        let started =
            |attempt| EffectStarted { attempt, start_by, over_by: None, before: Value::Null };
        self.append(Some(&id), EntryKind::EffectStarted(started(1)));
        self.append(
            Some(&id),
            EntryKind::EffectAttemptFailed(EffectAttemptFailed {
                attempt: 1,
                error: "connection refused".to_owned(),
                retry_at: self.at + 1_000,
                may_have_acted: false,
            }),
        );
        self.append(Some(&id), EntryKind::EffectStarted(started(2)));
    }

    fn wait_for_person(&mut self, id: &EffectId, kind: QuestionKind, call: &ToolCall) {
        let question = Question {
            id: format!("{id}:{kind:?}"),
            kind,
            call: CallId::new(call.id.as_str()),
            text: call.args.clone(),
            request: None,
        };
        let slot = format!("ask:{}", question.id);
        self.append(None, EntryKind::MessageEmitted(MessageEmitted { slot }));
        let on = WaitingOn::Person { question: question.clone() };
        self.append(None, EntryKind::Waiting(Waiting { on: on.clone(), until: None }));
        assert_eq!(self.run.waiting_on(), Some(&on));
        self.at += WAIT_MS;
        self.begin_epoch();
        let letter = InboxMessage::Answer {
            question: question.id,
            text: "yes".to_owned(),
            by: "user".to_owned(),
        };
        self.append(None, EntryKind::Input(Input { dedupe: slot_of(&letter), message: letter }));
    }

    /// Letters that come at this point; a cancel ends the run, and so does a switch.
    fn deliver(&mut self, point: Point) -> Option<Decision> {
        let letters: Vec<InboxMessage> = self
            .script
            .letters
            .iter()
            .filter(|(when, _)| *when == point)
            .map(|(_, letter)| letter.clone())
            .collect();
        for (n, letter) in letters.into_iter().enumerate() {
            self.say(&trace::letter(&letter));
            let cancel = matches!(letter, InboxMessage::Cancel { .. });
            let dedupe = format!("{point:?}:{n}");
            self.append(None, EntryKind::Input(Input { dedupe, message: letter }));
            if cancel || self.run.switches_here().is_some() {
                return Some(self.cancel());
            }
        }
        None
    }

    fn cancel(&mut self) -> Decision {
        if let Some(open) = self.run.open_model_call().cloned() {
            self.append_outcome(&open.effect, Outcome::Canceled);
        }
        for open in self.run.open_tool_calls().to_vec() {
            let text = "the run was canceled".to_owned();
            let seen = Observation { ending: Ending::Canceled, text };
            self.append_outcome(&open.effect, Outcome::Observed(seen));
        }
        self.run.canceled()
    }

    /// The worker dies and another one takes the run over from what was journaled.
    fn maybe_crash(&mut self) {
        let due = |at: &usize| self.journal.len() >= *at;
        let Some(place) = self.script.upsets.crashes.iter().position(due) else { return };
        self.script.upsets.crashes.remove(place);
        let folded = match self.script.upsets.from_snapshot {
            false => fold(&self.journal, &self.frame),
            true => self.fold_from_snapshot(),
        };
        assert_eq!(folded, self.run, "a fold must give the state that was lost");
        self.run = folded;
        self.begin_epoch();
    }

    fn fold_from_snapshot(&self) -> AnyRun {
        let (head, tail) = self.journal.split_at(self.journal.len() / 2 + 1);
        let snapshot = fold(head, &self.frame).state();
        let RunCreated { loop_name, loop_ver, .. } = &self.created;
        let run = AnyRun::restore(loop_name, *loop_ver, &snapshot, self.frame.clone());
        let mut run = run.expect("our own state");
        tail.iter().for_each(|entry| run.apply(entry));
        run
    }

    fn begin_epoch(&mut self) {
        self.epoch += 1;
        let worker = WorkerId::new(format!("worker-{}", self.epoch));
        self.append(
            None,
            EntryKind::EpochStarted(EpochStarted { worker, build: "test".to_owned() }),
        );
    }

    fn append_outcome(&mut self, id: &EffectId, outcome: Outcome) {
        self.watch.finished(id);
        self.append(Some(id), EntryKind::EffectFinished(EffectFinished::unlabeled(outcome, 20)));
        if self.script.upsets.thorough && self.run.is_idle() {
            let state_hash = digest_bytes(self.run.state().as_bytes());
            self.append(None, EntryKind::SnapshotTaken(SnapshotTaken { state_hash }));
        }
    }

    fn append(&mut self, effect: Option<&EffectId>, kind: EntryKind) {
        assert!(self.journal.len() < ENTRIES_MAX, "the run does not end");
        self.at += PACE_MS;
        let seq = i64::try_from(self.journal.len()).expect("a short journal") + 1;
        let entry = Entry { seq, epoch: self.epoch, at: self.at, effect: effect.cloned(), kind };
        self.run.apply(&entry);
        assert_eq!(self.run.last_seq(), seq);
        self.journal.push(entry);
    }

    fn say(&mut self, line: &str) {
        writeln!(self.trace, "{line}").expect("a string takes every line");
    }
}

fn slot_of(letter: &InboxMessage) -> String {
    digest_json(letter)
}
