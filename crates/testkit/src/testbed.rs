//! A testbed: one store and one world that outlive every process, and processes that come and go.

use crate::clock::VirtualClock;
use crate::invariants::{ObservedRun, check_midway};
use crate::points::{PointDb, PointGate, PointKind, Points};
use crate::scenario::{Scenario, errand, heir_of};
use crate::tasks::{decision_tools, follow_up, terms};
use crate::world::{World, registry};
use everloop_engine::{
    DriveEnd, DriveError, EndedTask, Engine, EngineRules, Environment, History, QuestionAnswer,
    Submission, WorkerIdentity,
};
use everloop_loops::DECISION_LOOP;
use everloop_models::ScriptedModel;
use everloop_ports::{BoxFuture, Model, ModelFuture, OnDelta, Registry, Request, Tool as _};
use everloop_store::{Claim, MemoryDb, Store, StoreError};
use everloop_tools::Sleep;
use everloop_types::journal::{InboxMessage, WaitingOn};
use everloop_types::{
    Frame, Goal, Message, ModelChoice, ModelError, Question, RunId, Status, ToolSpec, WorkerId,
};
use std::sync::Arc;

/// Everything that survives a crash of a process.
pub struct Testbed {
    /// The scenario that is played.
    pub scenario: Scenario,
    /// The outside.
    pub world: Arc<World>,
    /// Where processes may die.
    pub points: Arc<Points>,
    /// The database without points, for the checks of a test.
    pub store: Store,
    /// The limits of the engines.
    pub rules: EngineRules,
    /// The run.
    pub run: RunId,
    model: Arc<PointModel>,
    clock: VirtualClock,
    pointed: Store,
    processes: u32,
}

/// One process: an engine with its own name.
pub struct TestProcess {
    /// The engine.
    pub engine: Arc<Engine>,
}

/// How a process ended.
#[derive(Debug)]
pub enum ProcessEnd {
    /// It ended by itself.
    Well(Result<DriveEnd, DriveError>),
    /// It died at its point.
    Died,
    /// There was nothing to claim.
    Idle,
}

impl Testbed {
    /// A testbed on which the run has been created and nothing else has happened.
    ///
    /// # Panics
    /// If the simulated world cannot be set up.
    pub async fn set(scenario: &Scenario) -> Self {
        let (world, points) = (Arc::new(World::default()), Arc::new(Points::default()));
        let db: Arc<MemoryDb> = Arc::new(MemoryDb::new());
        let store = Store::with_db(db.clone());
        let pointed = Store::with_db(Arc::new(PointDb { inner: db, points: points.clone() }));
        let model = Arc::new(PointModel::new(scenario, points.clone()));
        let mut stage = Self {
            scenario: scenario.clone(),
            world,
            points,
            store,
            rules: EngineRules { snapshot_every: 10, ..EngineRules::default() },
            run: RunId::new(""),
            model,
            clock: VirtualClock::default(),
            pointed,
            processes: 0,
        };
        let submission = stage.submission();
        let creator = stage.process();
        stage.run = creator.engine.submit(submission).await.expect("the run is created");
        stage
    }

    fn submission(&self) -> Submission {
        let tools = registry(&self.world, &self.gate()).specs();
        if self.scenario.loop_name != DECISION_LOOP {
            return submission(&self.scenario, tools);
        }
        let own = decision_tools(&self.gate(), tools).specs();
        let mut submission = submission(&self.scenario, own);
        submission.frame.decision = Some(terms(0));
        submission
    }

    fn gate(&self) -> Arc<dyn PointGate> {
        self.points.clone()
    }

    /// The run as the invariants see it.
    #[must_use]
    pub fn watched(&self) -> ObservedRun<'_> {
        ObservedRun {
            store: &self.store,
            run: &self.run,
            world: &self.world,
            loop_name: self.scenario.loop_name,
            violations: self.violations(),
        }
    }

    /// A new process. It treats the previous one as dead unless told otherwise.
    pub fn process(&mut self) -> TestProcess {
        self.processes += 1;
        let worker = WorkerId::new(format!("worker_{}", self.processes));
        let identity = WorkerIdentity { worker, build: "test".to_owned() };
        let tools = Arc::new(registry(&self.world, &self.gate()));
        let deciding = Arc::new(decision_tools(&self.gate(), tools.specs()));
        let means = Arc::new(TestbedEnvironment { model: self.model.clone(), tools, deciding });
        let clock = Arc::new(self.clock);
        let engine = Engine::new(self.pointed.clone(), means, clock, identity, self.rules);
        TestProcess { engine }
    }

    /// Another run takes over, under another loop, with its own part of the world, so that the
    /// changes of the first run do not count for it.
    pub fn take_over(&mut self, run: RunId, loop_name: &'static str) {
        (self.run, self.scenario.loop_name) = (run, loop_name);
        self.world = Arc::new(World::default());
    }

    /// The frame of a run on this testbed.
    #[must_use]
    pub fn frame(&self) -> Frame {
        self.submission().frame
    }

    /// Rows that a unique index kept out, of all processes: each is a bug above the index.
    #[must_use]
    pub fn violations(&self) -> u64 {
        self.store.violations() + self.pointed.violations()
    }

    /// Starts a process that claims the run and drives it until it ends, waits, or dies at its
    /// point.
    pub async fn play_once(&mut self) -> ProcessEnd {
        let process = self.process();
        let points = self.points.clone();
        let run = self.run.clone();
        tokio::select! {
            biased;
            () = points.reached() => ProcessEnd::Died,
            went = process.claim_and_drive(&run) => went,
        }
    }

    /// Starts a process that claims any run that is ready and drives it; whether there was one.
    pub async fn play_any(&mut self) -> bool {
        let process = self.process();
        let points = self.points.clone();
        let went = tokio::select! {
            biased;
            () = points.reached() => ProcessEnd::Died,
            went = process.drive_any() => went,
        };
        match went {
            ProcessEnd::Died => {
                self.points.stop_disturbing();
                true
            }
            ProcessEnd::Well(_) => true,
            ProcessEnd::Idle => false,
        }
    }

    /// Goes on, process after process, answering every question, until the run is over.
    ///
    /// # Errors
    /// If it does not come to an end, or an invariant breaks after one of the processes.
    pub async fn play_on(&mut self) -> Result<(), String> {
        for _ in 0..100 {
            if self.is_over().await {
                return Ok(());
            }
            self.answer_open_question().await;
            self.await_timer().await;
            match self.play_once().await {
                ProcessEnd::Died => self.points.stop_disturbing(),
                ProcessEnd::Well(Ok(_)) | ProcessEnd::Idle => {}
                ProcessEnd::Well(Err(error)) => return Err(error_chain(&error)),
            }
            // More must hold at the end; the caller checks that.
            if !self.is_over().await {
                check_midway(&self.watched()).await?;
            }
        }
        Err("it does not end".to_owned())
    }

    /// Lets the time pass for which the run sleeps.
    ///
    /// # Panics
    /// If there is no run.
    pub async fn await_timer(&self) {
        let row = self.store.runs().get(&self.run).await.expect("readable").expect("exists");
        let now = everloop_ports::Clock::now(&self.clock);
        let wake_at = row.times.wake_at.filter(|_| row.note.as_deref() == Some("timer"));
        if let Some(wait) = wake_at.and_then(|at| u64::try_from(at - now).ok()) {
            everloop_ports::Clock::pause(&self.clock, wait).await;
        }
    }

    /// Whether the run has its ending, and all runs below it.
    ///
    /// # Panics
    /// If there is no run.
    pub async fn is_over(&self) -> bool {
        let row = self.store.runs().get(&self.run).await.expect("readable").expect("exists");
        let below = self.store.runs().descendants(&self.run).await.expect("readable");
        row.status.is_final() && below.is_empty()
    }

    /// The run and all that were ever below it, from the top down.
    ///
    /// # Panics
    /// If a run cannot be read.
    pub async fn tree(&self) -> Vec<RunId> {
        tree(&self.store, &self.run).await.expect("readable")
    }

    /// The run with an open question, of this one and all below it.
    ///
    /// # Panics
    /// If a run cannot be read.
    pub async fn asking(&self) -> Option<(RunId, Question)> {
        let below = self.store.runs().descendants(&self.run).await.expect("readable");
        for run in below.into_iter().rev().chain([self.run.clone()]) {
            if let Some(question) = open_question(&self.store, &run).await.expect("readable") {
                return Some((run, question));
            }
        }
        None
    }

    /// The question that the run waits for.
    ///
    /// # Panics
    /// If the run cannot be read.
    pub async fn open_question(&self) -> Option<Question> {
        open_question(&self.store, &self.run).await.expect("readable")
    }

    /// The person's answer to a question.
    #[must_use]
    pub fn answer_to(&self, question: &Question) -> InboxMessage {
        let (text, by) = (self.scenario.answer.to_owned(), "person".to_owned());
        InboxMessage::Answer { question: question.id.clone(), text, by }
    }

    /// Puts the person's answer into the inbox without passing a point.
    ///
    /// # Panics
    /// If it cannot be written.
    pub async fn answer_open_question(&mut self) {
        let Some((run, question)) = self.asking().await else { return };
        let now = everloop_ports::Clock::now(&self.clock);
        let message = self.answer_to(&question);
        let sent = self.store.inbox().send(&run, &question.id, &message, now).await;
        sent.expect("the message is written");
    }
}

/// A run and all that were ever below it, from the top down.
pub(crate) async fn tree(store: &Store, run: &RunId) -> Result<Vec<RunId>, StoreError> {
    let mut all = vec![run.clone()];
    let mut at = 0;
    while let Some(run) = all.get(at).cloned() {
        all.extend(store.runs().children(&run).await?.into_iter().map(|child| child.run));
        at += 1;
    }
    Ok(all)
}

/// The first run from the top that does not wait, or else the deepest, which all others wait for.
async fn front(store: &Store, run: &RunId) -> Result<RunId, StoreError> {
    let mut deepest = run.clone();
    for run in [vec![run.clone()], store.runs().descendants(run).await?].concat() {
        let at = store.runs().position(&run).await?;
        if at.is_some_and(|at| at.status == Status::Queued) {
            return Ok(run);
        }
        deepest = run;
    }
    Ok(deepest)
}

/// The question that a run waits for.
pub(crate) async fn open_question(
    store: &Store,
    run: &RunId,
) -> Result<Option<Question>, StoreError> {
    let Some(history) = History::read(store, run).await? else { return Ok(None) };
    Ok(match history.state_at(i64::MAX)?.waiting_on() {
        Some(WaitingOn::Person { question }) => Some(question.clone()),
        _ => None,
    })
}

/// The submission that creates the run of a scenario.
pub(crate) fn submission(scenario: &Scenario, mut tools: Vec<ToolSpec>) -> Submission {
    // Only a task waits: the model is offered what it was offered before.
    tools.retain(|tool| tool.name != Sleep::NAME || scenario.task.is_some());
    let frame = Frame {
        system: "You act on things.".to_owned(),
        tools,
        limits: scenario.limits,
        policy: scenario.policy.clone(),
        model: ModelChoice { name: "scripted/x".to_owned(), ..ModelChoice::default() },
        time_zone: "UTC".to_owned(),
        task: scenario.task.clone(),
        ..Frame::default()
    };
    let goal = Goal { text: scenario.name.to_owned(), ..Goal::default() };
    let loop_name = scenario.loop_name.to_owned();
    Submission { loop_name, goal, frame, idem_key: None, profile: Default::default() }
}

/// An error with all its causes.
pub(crate) fn error_chain(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        words = format!("{words}: {error}");
        source = error.source();
    }
    words
}

impl TestProcess {
    /// Treats the other processes as dead, claims the run, and drives it.
    pub async fn claim_and_drive(&self, run: &RunId) -> ProcessEnd {
        match self.claim(run).await {
            Some(claim) => ProcessEnd::Well(self.engine.drive(claim).await),
            None => ProcessEnd::Idle,
        }
    }

    /// Treats the other processes as dead and claims the run, or the one below it that can
    /// continue.
    pub async fn claim(&self, run: &RunId) -> Option<Claim> {
        let (store, now) = (self.engine.store(), self.engine.clock().now());
        // A reply that is lost here leaves the run to the next process, as a crash would.
        store.queue().requeue_orphans(now).await.ok()?;
        let run = front(store, run).await.ok()?;
        store.queue().claim_run(&self.engine.identity().worker, &run, now).await.ok().flatten()
    }

    /// Treats the other processes as dead, claims the first run that is ready, and drives it.
    async fn drive_any(&self) -> ProcessEnd {
        let (store, now) = (self.engine.store(), self.engine.clock().now());
        if store.queue().requeue_orphans(now).await.is_err() {
            return ProcessEnd::Died;
        }
        let claimed = store.queue().claim(&self.engine.identity().worker, now, 1).await;
        match claimed.unwrap_or_default().pop() {
            Some(claim) => ProcessEnd::Well(self.engine.drive(claim).await),
            None => ProcessEnd::Idle,
        }
    }

    /// Answers through the engine, as a user interface does.
    pub async fn answer(&self, run: &RunId, question: &str, text: &str) {
        let answer = QuestionAnswer {
            question: question.to_owned(),
            text: text.to_owned(),
            by: "person".to_owned(),
        };
        self.engine.answer(run, answer).await.expect("the message is written");
    }
}

/// The scripted model, with a point before and after each reply.
pub(crate) struct PointModel {
    script: ScriptedModel,
    /// Replies after the transcript was compacted: a script counts replies, and those are gone
    /// then.
    after: ScriptedModel,
    /// Replies after another loop has taken over.
    heir: ScriptedModel,
    gate: Arc<dyn PointGate>,
}

impl PointModel {
    pub(crate) fn new(scenario: &Scenario, gate: Arc<dyn PointGate>) -> Self {
        let script = ScriptedModel::new(scenario.script.clone()).closing("in the end");
        let after = ScriptedModel::new(Vec::new()).closing("the end");
        let errand = errand(heir_of(scenario.loop_name), "strike", "the heir's anvil");
        let heir = ScriptedModel::new(errand.script);
        let script = scenario
            .helpers
            .iter()
            .fold(script, |script, (word, replies)| script.speaking_of(*word, replies.clone()));
        Self { script, after, heir, gate }
    }
}

impl Model for PointModel {
    fn ask<'a>(&'a self, request: Request<'a>, on_delta: OnDelta<'a>) -> ModelFuture<'a> {
        Box::pin(async move {
            self.gate.pass(PointKind::BeforeEffect).await;
            let shortens = request.messages.last().is_some_and(asks_for_summary);
            let shortened = |message: &Message| message.text().contains("summary_of_earlier_work");
            let carried = request.messages.iter().rposition(is_carried);
            if let Some(carried) = carried {
                let request = Request { messages: &request.messages[carried..], ..request };
                let replied = self.heir.ask(request, on_delta).await;
                self.gate.pass(PointKind::AfterEffect).await;
                return replied;
            }
            let replied = match shortens || request.messages.iter().any(shortened) {
                true => self.after.ask(request, on_delta).await,
                false => self.script.ask(request, on_delta).await,
            };
            self.gate.pass(PointKind::AfterEffect).await;
            replied
        })
    }
}

/// The messages above were carried over from another loop.
fn is_carried(message: &Message) -> bool {
    message.text().contains("under other instructions")
}

fn asks_for_summary(message: &Message) -> bool {
    message.text().contains("replaced by your summary")
}

struct TestbedEnvironment {
    model: Arc<PointModel>,
    tools: Arc<Registry>,
    /// Those of decisions.
    deciding: Arc<Registry>,
}

impl Environment for TestbedEnvironment {
    fn model(&self, _: &ModelChoice) -> Result<(Arc<dyn Model>, String), ModelError> {
        Ok((self.model.clone(), "x".to_owned()))
    }

    fn tools(&self, frame: &Frame) -> Arc<Registry> {
        if frame.decision.is_some() { self.deciding.clone() } else { self.tools.clone() }
    }

    fn follow_up<'a>(&'a self, ended: EndedTask<'a>) -> BoxFuture<'a, Option<Submission>> {
        Box::pin(async move { follow_up(ended, self.deciding.specs()) })
    }
}
