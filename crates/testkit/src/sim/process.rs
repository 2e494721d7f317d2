//! A simulated process: an engine, a worker and their background tasks.

use super::parts::{SimClock, SimDb, SimProcess};
use super::random::SimRandom;
use super::{LEASE, SimWorld};
use crate::points::PointGate;
use crate::testbed::PointModel;
use crate::world::registry;
use everloop_engine::{Engine, Environment, Worker, WorkerIdentity, WorkerReport};
use everloop_ports::{Model, Registry};
use everloop_store::Store;
use everloop_types::{Frame, ModelChoice, ModelError, WorkerId};
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};
use tokio::task::JoinHandle;

/// A process that is running.
pub(super) struct RunningProcess {
    pub(super) body: Arc<SimProcess>,
    pub(super) clock: Arc<SimClock>,
    pub(super) engine: Arc<Engine>,
    pub(super) task: JoinHandle<()>,
}

impl RunningProcess {
    pub(super) fn start(cast: &Arc<SimWorld>, chance: &mut SimRandom) -> Self {
        let name = cast.next_name();
        let body = SimProcess::new(name.clone(), chance.split(), cast.story.clone(), cast.cluster);
        let clock = SimClock::new(cast.time, body.clone(), cast.cluster);
        let db = SimDb { inner: cast.db.clone(), body: body.clone() };
        let store = Store::with_db(Arc::new(db));
        cast.stores.lock().unwrap_or_else(PoisonError::into_inner).push(store.clone());
        let means = Arc::new(SimEnvironment::new(cast, &body));
        let identity =
            WorkerIdentity { worker: WorkerId::new(name), build: "simulated".to_owned() };
        let engine = Engine::new(store, means, clock.clone(), identity, cast.rules());
        cast.story.tell(|| format!("{}: starts", body.name));
        let task = tokio::spawn(live(engine.clone(), body.clone(), cast.cluster));
        Self { body, clock, engine, task }
    }

    /// Kills the process at once.
    pub(super) async fn die(self) {
        self.task.abort();
        let _ = self.task.await;
        // Its drivers were dropped with it; they are gone once every task was polled.
        for _ in 0..8 {
            tokio::task::yield_now().await;
        }
    }
}

async fn live(engine: Arc<Engine>, body: Arc<SimProcess>, cluster: bool) {
    let joined = async {
        match cluster {
            true => engine.join(LEASE).await.is_ok(),
            false => engine.take_up().await.is_ok(),
        }
    };
    if !joined.await {
        body.story.tell(|| format!("{}: gives up at its start", body.name));
        return;
    }
    let mut worker = Worker::new(engine.clone(), 4);
    if cluster {
        worker = worker.reaping(LEASE);
    }
    let report = |report: WorkerReport| body.story.tell(|| format!("{}: {report:?}", body.name));
    tokio::select! {
        biased;
        worked = worker.work(report) => {
            body.story.tell(|| format!("{}: ends, {worked:?}", body.name));
            if cluster && worked.is_ok() {
                // A lease that is not given back runs out by itself.
                let _ = engine.leave().await;
            }
        }
        () = engine.clone().keep_lease(LEASE), if cluster => {}
        () = engine.clone().poll_inboxes() => {}
    }
}

/// The models and tools of every run, each behind this process's gate.
struct SimEnvironment {
    models: BTreeMap<String, Arc<PointModel>>,
    tools: BTreeMap<String, Arc<Registry>>,
}

impl SimEnvironment {
    fn new(cast: &SimWorld, body: &Arc<SimProcess>) -> Self {
        let gate: Arc<dyn PointGate> = body.clone();
        let (mut models, mut tools) = (BTreeMap::new(), BTreeMap::new());
        for (workspace, role) in &cast.roles {
            let model = Arc::new(PointModel::new(&role.scenario, gate.clone()));
            models.insert(format!("scripted/{workspace}"), model);
            tools.insert(workspace.clone(), Arc::new(registry(&role.world, &gate)));
        }
        Self { models, tools }
    }
}

impl Environment for SimEnvironment {
    fn model(&self, choice: &ModelChoice) -> Result<(Arc<dyn Model>, String), ModelError> {
        let model = self.models.get(&choice.name).expect("every run has a model");
        Ok((model.clone(), "x".to_owned()))
    }

    fn tools(&self, frame: &Frame) -> Arc<Registry> {
        self.tools.get(&frame.workspace).expect("every run has tools").clone()
    }
}
