//! Real processes that play one scenario on a real database and are killed at a named point.
//!
//! ```text
//!   test ──spawns──► everloop-doomed ──kill -9 at its n-th point──► the next generation … ──► over
//!                        └── acts are lines of a file that outlives them all
//! ```
//!
//! The engine, the worker, the loops and the store are the shipped ones, and so is the way in: the
//! claim lock on a file, a lease and a proof of death on a server. Deliberately absent: virtual
//! time. A test that has to wait for a minute uses the [`crate::Testbed`].

mod group;

pub use group::{GroupReport, ProcessExit, ProcessGroup, ended};

use crate::points::{PointDb, PointGate, Points};
use crate::scenario::{Scenario, families, scenarios};
use crate::testbed::{PointModel, error_chain, open_question, submission};
use crate::world::{World, registry};
use everloop_engine::{
    Clock, Engine, EngineRules, Environment, LeaseTimes, Membership, MembershipPolicy,
    QuestionAnswer, SystemClock, Worker, WorkerIdentity, fresh_id,
};
use everloop_models::ScriptedReply;
use everloop_ports::{Model, Registry, Tool};
use everloop_store::{OpenError, PgOptions, Store, StoreError};
use everloop_tools::{Shell, ShellSetting, Workspace};
use everloop_types::{Frame, ModelChoice, ModelError, RunId, Status, ToolSpec, WorkerId};
use rustix::process::Signal;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A run that is not over by then never will be.
const LIFE_MAX: Duration = Duration::from_secs(60);

/// On a server an older owner may still be alive, so the next one waits until its call must be
/// over.
const CALL_MS_MAX: u64 = 300;

/// The arguments of a process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ProcessSpec {
    /// Where the run is.
    pub database: SharedDatabase,
    /// The file of acts.
    pub acts: PathBuf,
    /// The index of the scenario in [`parts`].
    pub scenario: usize,
    /// The same key is the same run.
    pub key: String,
    /// The point at which it dies, from 0.
    pub dies_at: Option<usize>,
    /// The point at which it halts until it is told to continue.
    pub stops_at: Option<usize>,
    /// How long it may be silent among other workers.
    pub lease_ms: u64,
}

/// A database of many processes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum SharedDatabase {
    /// In a folder that has one owner at a time.
    Folder(PathBuf),
    /// On a server, by its address.
    Server(String),
}

impl ProcessSpec {
    fn fate(&self) -> Option<(usize, Signal)> {
        let dies = self.dies_at.map(|n| (n, Signal::KILL));
        dies.or(self.stops_at.map(|n| (n, Signal::STOP)))
    }

    fn membership(&self) -> MembershipPolicy {
        match &self.database {
            SharedDatabase::Folder(folder) => {
                MembershipPolicy::Exclusive { lock: folder.join("everloop.lock") }
            }
            SharedDatabase::Server(_) => {
                MembershipPolicy::Leased(LeaseTimes { lease_ms: self.lease_ms })
            }
        }
    }
}

impl SharedDatabase {
    /// Opens it without the right to drive runs.
    ///
    /// # Errors
    /// What is wrong with it.
    pub async fn open(&self) -> Result<Store, StoreError> {
        match self {
            Self::Folder(folder) => Store::open(&folder.join("everloop.db")),
            Self::Server(url) => {
                let options = PgOptions { fsync_may_be_off: true, ..PgOptions::default() };
                Store::connect(url, options).await
            }
        }
    }
}

/// Drives the run to its end, or to the death of this process. Returns the run, how many points it
/// passed, and how many commits the database refused temporarily or left with an unknown outcome.
///
/// # Errors
/// A text that says why it could not continue.
pub async fn play(part: &ProcessSpec) -> Result<(RunId, usize, usize), String> {
    let worker = WorkerId::new(fresh_id("worker_", SystemClock.now()));
    let policy = part.membership();
    let membership = policy.acquire(&worker).map_err(|error| error_chain(&error))?;
    let points = Arc::new(Points::default());
    if let Some((n, signal)) = part.fate() {
        points.signal_at(n, signal);
    }
    let life = async {
        let store = retry_while_unavailable(|| part.database.open()).await?;
        live(part, &store, &points, worker, &policy, &membership).await
    };
    let played = tokio::time::timeout(LIFE_MAX, life).await;
    let run = played.map_err(|_| "it does not end".to_owned())?.map_err(|e| error_chain(&e))?;
    Ok((run, points.passed(), points.troubles()))
}

/// Tries again for as long as the database is away.
async fn retry_while_unavailable<T, F>(mut ask: impl FnMut() -> F) -> Result<T, StoreError>
where
    F: Future<Output = Result<T, StoreError>>,
{
    loop {
        match ask().await {
            Err(error) if error.is_transient() => SystemClock.pause(20).await,
            // A server that is just starting refuses in many ways.
            Err(StoreError::Open(OpenError::Db(_))) => SystemClock.pause(20).await,
            answer => return answer,
        }
    }
}

async fn live(
    part: &ProcessSpec,
    store: &Store,
    points: &Arc<Points>,
    worker: WorkerId,
    policy: &MembershipPolicy,
    membership: &Membership,
) -> Result<RunId, StoreError> {
    let scenario = parts().swap_remove(part.scenario);
    let shared = policy.owners_may_live();
    let pointed =
        Store::with_db(Arc::new(PointDb { inner: store.db().clone(), points: points.clone() }));
    let gate: Arc<dyn PointGate> = points.clone();
    let means = Arc::new(ProcessEnvironment { gate });
    let mut submission = submission(&scenario, means.tools_at(&part.acts).specs());
    submission.idem_key = Some(part.key.clone());
    submission.frame.model.name = format!("scripted/{}", part.scenario);
    submission.frame.workspace = part.acts.display().to_string();
    let clock = retry_while_unavailable(|| policy.clock(store)).await?;
    if shared {
        submission.frame.tools = submission.frame.tools.into_iter().map(quick).collect();
    }
    let identity = WorkerIdentity { worker, build: "doomed".to_owned() };
    let engine = Engine::new(pointed, means, clock, identity, rules(shared));
    let run = retry_while_unavailable(|| engine.submit(submission.clone())).await?;
    let mut worker = Worker::new(engine.clone(), 1).with_membership(membership);
    retry_while_unavailable(|| policy.register(&engine)).await?;
    if !shared {
        membership.recover_orphans(&engine).await?;
    }
    tokio::select! {
        biased;
        worked = work(&engine, &mut worker, &scenario, &run) => worked?,
        () = policy.keep(engine.clone()) => {}
        () = engine.clone().poll_inboxes() => {}
    }
    retry_while_unavailable(|| policy.unregister(&engine)).await?;
    assert_eq!(engine.store().violations(), 0, "a unique index had to keep something out");
    Ok(run)
}

/// Drives the run and answers its questions until it is over.
async fn work(
    engine: &Arc<Engine>,
    worker: &mut Worker,
    scenario: &Scenario,
    run: &RunId,
) -> Result<(), StoreError> {
    loop {
        let row = retry_while_unavailable(|| engine.store().runs().get(run)).await?;
        let status = row.map(|row| row.status);
        if status.is_none_or(Status::is_final) {
            return Ok(());
        }
        if status == Some(Status::Waiting) {
            retry_while_unavailable(|| answer(engine, scenario, run)).await?;
        }
        worker.drain(|_| {}).await?;
        // If it does not wait for a person, it is ready again soon.
        engine.clock().pause(2).await;
    }
}

async fn answer(engine: &Engine, scenario: &Scenario, run: &RunId) -> Result<(), StoreError> {
    let below = engine.store().runs().descendants(run).await?;
    let run = below.last().unwrap_or(run);
    if let Some(question) = open_question(engine.store(), run).await? {
        let (text, by) = (scenario.answer.to_owned(), "person".to_owned());
        engine.answer(run, QuestionAnswer { question: question.id, text, by }).await?;
    }
    Ok(())
}

/// The scenarios for processes: the common ones, one that starts its own process, and those with
/// children.
#[must_use]
pub fn parts() -> Vec<Scenario> {
    let mut parts = scenarios();
    let command = json!({"command": "exec sleep 1000"});
    let strike = |what: &str| ScriptedReply::calls("strike", json!({"what": what}));
    let script = vec![
        strike("before"),
        ScriptedReply::calls("shell", command),
        strike("after"),
        ScriptedReply::says("struck"),
    ];
    parts.push(Scenario::react("a long command", script));
    parts.extend(families());
    parts
}

/// The model and the tools of any run in the database: its frame names scenario and acts.
struct ProcessEnvironment {
    gate: Arc<dyn PointGate>,
}

impl ProcessEnvironment {
    fn tools_at(&self, acts: &Path) -> Registry {
        let world = Arc::new(World::in_file(acts.to_owned()));
        let folder = acts.parent().expect("the acts are in a folder");
        let workspace = Workspace::open(folder).expect("the folder can be opened");
        let shell = Shell {
            workspace: Arc::new(workspace),
            guard: std::env::current_exe().ok(),
            setting: ShellSetting::default(),
            records: None,
            own: Vec::new(),
        };
        registry(&world, &self.gate).with(shell)
    }
}

impl Environment for ProcessEnvironment {
    fn model(&self, choice: &ModelChoice) -> Result<(Arc<dyn Model>, String), ModelError> {
        let (_, place) = choice.name.split_once('/').expect("a provider and a place");
        let scenario = parts().swap_remove(place.parse().expect("a place"));
        Ok((Arc::new(PointModel::new(&scenario, self.gate.clone())), "x".to_owned()))
    }

    fn tools(&self, frame: &Frame) -> Arc<Registry> {
        Arc::new(self.tools_at(Path::new(&frame.workspace)))
    }
}

fn rules(shared: bool) -> EngineRules {
    EngineRules {
        snapshot_every: 10,
        backoff_ms: 1,
        start_within_ms: if shared { CALL_MS_MAX } else { EngineRules::default().start_within_ms },
        owners_may_live: shared,
        ..EngineRules::default()
    }
}

fn quick(mut spec: ToolSpec) -> ToolSpec {
    if spec.name != Shell::NAME {
        spec.handling.timeout_ms = CALL_MS_MAX;
    }
    spec
}
