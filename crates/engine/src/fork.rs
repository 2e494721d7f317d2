//! Forks: a new run that starts from another one's journal up to one entry.
//!
//! ```text
//!   parent   1 2 3 … N N+1 …           untouched
//!   fork     1 2 3 … N │ what was under way is closed │ Forked │ its own entries
//!            1 (carries the transcript) │ Forked │ its own entries     under another loop
//! ```
//!
//! The entries are copied, so a fork is folded from its own rows alone, at the same places; its
//! effects have ids of their own because an effect is named by its run. Files are not rolled back.
//! An imported run is never copied like this: its fork begins with its messages alone, in a frame
//! of this machine.
//!
//! Deliberately absent: driving (a fork is a queued run like any other), texts for people.

mod analysis;
mod close;
mod inherit;
mod unsettled;

use crate::drive::fold_from_start;
use crate::submit::policy_hash;
use crate::{Engine, History, fresh_id};
use everloop_loops::{AnyRun, UnknownEffect, carried};
use everloop_store::{ForkOrigin, NewFork, NewRun, RunCreation, StoreError};
use everloop_types::journal::{Entry, EntryKind, Forked, InboxMessage, RunCreated, Switch};
use everloop_types::{
    ConversationId, EffectId, Frame, Goal, RunId, RunProfile, SettledOutcome, UtcMs, digest_json,
};
pub(crate) use inherit::Provenance;
use std::collections::BTreeMap;
use unsettled::UnsettledEffects;

/// Tries at a store that fails for a moment.
const FORK_TRIES_MAX: u32 = 3;

/// A fork that is wanted.
#[derive(Debug, Clone)]
pub struct Fork {
    /// The run that it comes from.
    pub parent: RunId,
    /// The last entry that counts; the last of all if there is none.
    pub at: Option<i64>,
    /// The loop that decides from there on.
    pub loop_name: String,
    /// What a new run would have. Under the same loop the fork keeps the parent's system text and
    /// tools, because its transcript refers to them.
    pub frame: Frame,
    /// What the user adds, and what has changed since.
    pub word: Goal,
    /// What a person says about effects with an unknown outcome.
    pub settled: BTreeMap<EffectId, SettledOutcome>,
    /// A message that is in its inbox before it can be driven.
    pub message: Option<InboxMessage>,
    /// The same key twice is the same fork.
    pub idem_key: Option<String>,
}

/// Why there is no fork. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum ForkError {
    /// There is no such run.
    #[error("there is no run {0}")]
    NoRun(RunId),
    /// There is no such entry.
    #[error("there is no entry {at}; the last one is {last}")]
    NoEntry {
        /// The one that was wanted.
        at: i64,
        /// The last one.
        last: i64,
    },
    /// The journal was shortened after its time.
    #[error("the journal of {0} was shortened and cannot be forked")]
    NotWhole(RunId),
    /// Effects with an unknown outcome may have happened.
    #[error("{} effects have an unknown outcome; settle them first", .0.len())]
    Unsettled(Vec<UnknownEffect>),
    /// A child of the run is working, and reports to that run alone.
    #[error("the child {0} is still at work; wait for its end, or cancel it, or fork earlier")]
    ChildAtWork(RunId),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The fork that was created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForkResult {
    /// The new run.
    pub run: RunId,
    /// The last entry of the parent that counts; an ending never does.
    pub at: i64,
}

/// The past that a fork takes over.
struct ParentHistory {
    history: History,
    /// The first N entries, without an ending.
    entries: Vec<Entry>,
    state: AnyRun,
    created: RunCreated,
    provenance: Provenance,
}

impl Engine {
    /// Makes a fork. When this returns, it is durable and will be finished like any other run.
    ///
    /// # Errors
    /// [`ForkError::Unsettled`] if an effect of the past may have happened: ask a person, and come
    /// back with what they say.
    pub async fn fork(&self, fork: Fork) -> Result<ForkResult, ForkError> {
        Forker { engine: self }.create(fork).await
    }

    /// Where a run was written.
    pub(crate) async fn provenance(&self, run: &RunId) -> Result<Provenance, StoreError> {
        Ok(match self.store.runs().is_foreign(run).await? {
            true => Provenance::Elsewhere,
            false => Provenance::Here,
        })
    }
}

/// Makes forks from the journals of other runs.
pub(crate) struct Forker<'e> {
    pub(crate) engine: &'e Engine,
}

impl Forker<'_> {
    async fn create(&self, fork: Fork) -> Result<ForkResult, ForkError> {
        let past = self.past(&fork).await?;
        let known = self.account_for(&fork, &past).await?;
        let now = self.engine.clock.now().max(past.state.last_at());
        let parent = self.engine.store.runs().get(&fork.parent).await?;
        let conversation = parent.map(|row| row.conversation);
        let conversation = conversation.ok_or_else(|| ForkError::NoRun(fork.parent.clone()))?;
        let new = self.new_fork(fork, conversation, &past, &known, now);
        let (run, at) = (new.new.run.clone(), new.origin.at_seq);
        // A lost reply must not lead to a second fork: the same id is written again.
        let mut tries = 0;
        loop {
            match self.engine.store.queue().create_fork(&new).await {
                Ok(RunCreation::New) => {
                    self.engine.inbox_signals.wake_workers();
                    return Ok(ForkResult { run, at });
                }
                Ok(RunCreation::Existing(run)) => return Ok(ForkResult { run, at }),
                Err(error) if tries >= FORK_TRIES_MAX || !error.is_transient() => {
                    return Err(error.into());
                }
                Err(_) => tries += 1,
            }
            self.engine.clock.pause(self.engine.rules.backoff(tries, None)).await;
        }
    }

    async fn past(&self, fork: &Fork) -> Result<ParentHistory, ForkError> {
        let parent = &fork.parent;
        let history = History::read(&self.engine.store, parent).await?;
        let history = history.ok_or_else(|| ForkError::NoRun(parent.clone()))?;
        let last = history.entries.last().map_or(0, |entry| entry.seq);
        let at = fork.at.unwrap_or(last);
        if !history.is_whole() {
            return Err(ForkError::NotWhole(parent.clone()));
        }
        if !(1..=last).contains(&at) {
            return Err(ForkError::NoEntry { at, last });
        }
        let upto = history.entries.iter().take_while(|entry| entry.seq <= at);
        let mut entries: Vec<Entry> = upto.cloned().collect();
        while entries.last().is_some_and(is_ending) {
            entries.pop();
        }
        let state = fold_from_start(parent, &entries, history.frame().clone())?.run;
        match entries.first().map(|entry| entry.kind.clone()) {
            Some(EntryKind::RunCreated(created)) => {
                let provenance = self.engine.provenance(parent).await?;
                Ok(ParentHistory { history, entries, state, created, provenance })
            }
            _ => Err(ForkError::NotWhole(parent.clone())),
        }
    }

    fn new_fork(
        &self,
        fork: Fork,
        conversation: ConversationId,
        past: &ParentHistory,
        known: &UnsettledEffects,
        now: UtcMs,
    ) -> NewFork {
        let at_seq = past.entries.last().map_or(0, |entry| entry.seq);
        let origin = ForkOrigin { run: fork.parent.clone(), at_seq };
        let run = RunId::new(fresh_id("run_", now));
        let version = AnyRun::version(&fork.loop_name);
        let same_loop = fork.loop_name == past.created.loop_name
            && version == Some(past.created.loop_ver)
            && past.provenance == Provenance::Here;
        let said = Some(fork.word.text.clone()).filter(|text| !text.is_empty());
        let (inbox_message, idem_key) = (fork.message.clone(), fork.idem_key.clone());
        let made = match same_loop {
            true => past.go_on(&run, fork, known, now),
            false => past.begin_again(fork, known, now),
        };
        let (new, entries) = self.as_new(run, conversation, made, now);
        let new = NewRun { idem_key, ..new };
        NewFork { new, origin, entries, word: said, inbox_message }
    }

    /// The run that goes on in place of another, which ends in the same transaction.
    pub(crate) fn succession(
        &self,
        from: ForkSource<'_>,
        conversation: ConversationId,
        switch: Switch,
        now: UtcMs,
    ) -> NewFork {
        // A switch always has a readable frame.
        let frame = serde_json::from_value(switch.frame).unwrap_or_default();
        let goal = Goal { context: switch.context, ..Goal::default() };
        let made = begin_again(&from, switch.loop_name, frame, goal, now);
        let (new, entries) = self.as_new(switch.to, conversation, made, now);
        NewFork { new, origin: from.origin, entries, word: None, inbox_message: None }
    }

    fn as_new(
        &self,
        run: RunId,
        conversation: ConversationId,
        made: ForkedRun,
        now: UtcMs,
    ) -> (NewRun, Vec<Entry>) {
        let redactor = self.engine.store.redactor();
        let frame = redactor.value(made.frame);
        let created = RunCreated {
            goal: redactor.value(made.created.goal),
            loop_ver: AnyRun::version(&made.created.loop_name).unwrap_or_default(),
            frame: digest_json(&frame),
            build: self.engine.identity.build.clone(),
            policy_hash: policy_hash(&frame),
            turn: None,
            ..made.created
        };
        let run_type = frame.task.as_ref().map(|task| task.run_type.clone());
        let agent = RunProfile::default();
        let profile = RunProfile { run_type: run_type.unwrap_or(agent.run_type), ..agent };
        let (idem_key, opens) = (None, None);
        let link = everloop_store::RunLink::default();
        let new = NewRun { run, conversation, created, frame, idem_key, profile, opens, now, link };
        let clean = |entry: Entry| Entry { kind: redactor.kind(entry.kind), ..entry };
        (new, made.entries.into_iter().map(clean).collect())
    }
}

/// A run that is continued by another: its last state, in which nothing is outstanding.
pub(crate) struct ForkSource<'a> {
    pub(crate) origin: ForkOrigin,
    pub(crate) created: &'a RunCreated,
    pub(crate) state: &'a AnyRun,
    pub(crate) provenance: Provenance,
}

/// A fork before it has a row.
struct ForkedRun {
    created: RunCreated,
    frame: Frame,
    /// After the first.
    entries: Vec<Entry>,
}

impl ParentHistory {
    /// The same loop: the same entries at the same places, then a clean cut.
    fn go_on(&self, run: &RunId, fork: Fork, known: &UnsettledEffects, now: UtcMs) -> ForkedRun {
        let old = self.history.frame();
        let limits = fork.frame.limits;
        let frame = Frame {
            system: old.system.clone(),
            tools: inherit::tools(old, &fork.frame),
            policy: inherit::policy(
                (&fork.parent, self.provenance),
                old,
                &old.policy.inherited,
                &fork.frame,
            ),
            limits: old.limits,
            carried: old.carried.clone(),
            completion_mark: old.completion_mark.clone(),
            task: old.task.clone(),
            analysis: analysis::terms(old, run, &self.entries),
            ..fork.frame
        };
        let mut word = fork.word;
        let moved = old.workspace != frame.workspace;
        if word.text.is_empty() && !moved {
            word.context.clear();
        }
        known.describe_in(&mut word);
        let forked = Forked {
            from: fork.parent,
            at_seq: self.state.last_seq(),
            limits,
            settled: known.settled(),
            word,
        };
        let closing = self.closing(known);
        let mut entries: Vec<Entry> =
            self.entries[1..].iter().map(|entry| taken_over(run, entry)).collect();
        let cut = closing.into_iter().map(|(effect, kind)| (Some(effect), kind));
        for (effect, kind) in cut.chain([(None, EntryKind::Forked(forked))]) {
            let seq = i64::try_from(entries.len()).unwrap_or(i64::MAX) + 2;
            let effect = effect.map(|effect| EffectId { run: run.clone(), ..effect });
            entries.push(Entry { seq, epoch: 0, at: now, effect, kind });
        }
        ForkedRun { created: self.created.clone(), frame, entries }
    }

    /// Another loop: a run of its own that begins with what this one knew.
    fn begin_again(&self, fork: Fork, known: &UnsettledEffects, now: UtcMs) -> ForkedRun {
        let mut state = self.state.clone();
        for (effect, kind) in self.closing(known) {
            let seq = state.last_seq() + 1;
            state.apply(&Entry { seq, epoch: 0, at: now, effect: Some(effect), kind });
        }
        let mut goal = fork.word;
        known.describe_in(&mut goal);
        let origin = ForkOrigin { run: fork.parent, at_seq: self.state.last_seq() };
        let provenance = self.provenance;
        let ended = ForkSource { origin, created: &self.created, state: &state, provenance };
        begin_again(&ended, fork.loop_name, fork.frame, goal, now)
    }
}

/// A run of its own that begins with what another one knew.
fn begin_again(
    from: &ForkSource<'_>,
    loop_name: String,
    frame: Frame,
    mut goal: Goal,
    now: UtcMs,
) -> ForkedRun {
    let limits = frame.limits;
    let old = from.state.frame();
    let parent = (&from.origin.run, from.provenance);
    let policy = inherit::policy(parent, old, from.state.holding(), &frame);
    let frame = Frame { carried: carried(from.state), policy, ..frame };
    let wanted = [from.created.goal.text.as_str(), goal.text.as_str()];
    let wanted: Vec<&str> = wanted.into_iter().filter(|text| !text.is_empty()).collect();
    goal.text = wanted.join("\n\n");
    goal.images.splice(0..0, from.created.goal.images.iter().cloned());
    let created = RunCreated { goal, loop_name, ..from.created.clone() };
    let forked = Forked {
        from: from.origin.run.clone(),
        at_seq: from.origin.at_seq,
        limits,
        settled: Vec::new(),
        word: Goal::default(),
    };
    let kind = EntryKind::Forked(forked);
    let entries = vec![Entry { seq: 2, epoch: 0, at: now, effect: None, kind }];
    ForkedRun { created, frame, entries }
}

/// An entry as the fork has it. No worker of the fork wrote it, so it has no epoch.
fn taken_over(run: &RunId, entry: &Entry) -> Entry {
    let effect = entry.effect.clone().map(|effect| EffectId { run: run.clone(), ..effect });
    Entry { epoch: 0, effect, ..entry.clone() }
}

/// Nothing may follow an ending, so a fork never has that of its parent.
fn is_ending(entry: &Entry) -> bool {
    match &entry.kind {
        EntryKind::RunFinished(_) => true,
        EntryKind::MessageEmitted(message) => message.slot == "final",
        _ => false,
    }
}
