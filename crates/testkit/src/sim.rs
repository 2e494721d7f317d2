//! A simulator: the shipped engine, store and workers, on virtual time, with injected faults.
//!
//! ```text
//!   seed ──► workload, people, faults ──► some workers on one database ──► invariants
//!              crash · hold · cut off · clock jump · polite stop · refused commit · lost reply
//! ```
//!
//! Everything happens on one thread and all randomness comes from the seed, so a seed reproduces a
//! failure.
//! Deliberately absent: points. A sweep visits every point of one run; this visits the overlaps
//! of many.

mod faults;
mod parts;
mod process;
mod random;
mod trace;
mod users;
mod workload;

use crate::clock::VirtualClock;
use crate::invariants::{ObservedRun, check, check_midway};
use crate::points::Points;
use crate::scenario::Scenario;
use crate::world::{World, registry};
use everloop_engine::{EngineRules, LeaseTimes};
use everloop_loops::AnyRun;
use everloop_ports::Clock;
use everloop_store::{MemoryDb, NewRun, Store};
use everloop_types::journal::RunCreated;
use everloop_types::{
    ConversationId, Frame, Goal, ModelChoice, RunId, Status, ToolSpec, digest_json,
};
use random::SimRandom;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use trace::SimTrace;

/// A tenth of the default, so that more happens in the same time.
const LEASE: LeaseTimes = LeaseTimes { lease_ms: 3_000 };

/// The result of one seed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SimReport {
    /// Runs that came to their end.
    pub runs: u64,
    /// Processes that were killed.
    pub crashes: u64,
    /// Processes that were suspended for a while.
    pub holds: u64,
    /// Processes that could not reach the database for a while.
    pub cuts: u64,
    /// Clocks that were set.
    pub jumps: u64,
    /// Processes that were asked to stop.
    pub stops: u64,
    /// Times that a run had another owner than before.
    pub takeovers: u64,
    /// Runs that ended canceled.
    pub canceled: u64,
    /// Runs that ended with an unknown outcome.
    pub unsettled: u64,
    /// Runs that were quarantined.
    pub quarantined: u64,
}

impl SimReport {
    /// Adds another seed's numbers.
    pub fn add(&mut self, other: &Self) {
        self.runs += other.runs;
        self.crashes += other.crashes;
        self.holds += other.holds;
        self.cuts += other.cuts;
        self.jumps += other.jumps;
        self.stops += other.stops;
        self.takeovers += other.takeovers;
        self.canceled += other.canceled;
        self.unsettled += other.unsettled;
        self.quarantined += other.quarantined;
    }
}

/// Everything that outlives the processes.
struct SimWorld {
    /// The store without gates, for simulated users and checks.
    store: Store,
    db: Arc<MemoryDb>,
    time: VirtualClock,
    story: Arc<SimTrace>,
    /// Whether several workers share the database; otherwise a lock lets in one at a time.
    cluster: bool,
    roles: BTreeMap<String, SimRun>,
    /// The stores of all processes, which count the rows that a unique index kept out.
    stores: Mutex<Vec<Store>>,
    processes: AtomicU64,
}

/// A run with its script and its part of the world.
struct SimRun {
    run: RunId,
    scenario: Scenario,
    world: Arc<World>,
}

thread_local! {
    static TIME: Cell<Option<VirtualClock>> = const { Cell::new(None) };
    static DATABASE: Arc<MemoryDb> =
        Arc::new(MemoryDb::with_clock(|| TIME.get().map_or(0, |time| time.now())));
}

/// Each thread has one database, emptied for every seed and set to its time.
fn database(time: VirtualClock) -> Arc<MemoryDb> {
    TIME.set(Some(time));
    DATABASE.with(|db| {
        db.clear();
        db.clone()
    })
}

/// Plays one seed.
///
/// # Errors
/// The seed, the first invariant that does not hold, and what had happened until then.
///
/// # Panics
/// If the simulated world cannot be set up.
pub fn simulate(seed: u64) -> Result<SimReport, String> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build().expect("a runtime");
    runtime.block_on(async {
        let mut chance = SimRandom::new(seed);
        let cast = SimWorld::new(&mut chance).await;
        let fate = faults::play(&cast, &mut chance).await;
        let judged = match fate {
            Ok(happened) => cast.judge(happened).await,
            Err(why) => Err(why),
        };
        match judged {
            Ok(simulated) => Ok(simulated),
            Err(why) => Err(cast.report(seed, &why).await),
        }
    })
}

impl SimWorld {
    async fn new(chance: &mut SimRandom) -> Arc<Self> {
        let time = VirtualClock::default();
        let db = database(time);
        let store = Store::with_db(db.clone());
        let mut roles = BTreeMap::new();
        for n in 0..chance.between(1, 2) {
            let (run, workspace) = (RunId::new(format!("run_{n}")), format!("place_{n}"));
            let (scenario, world) = (workload::scenario(chance), Arc::new(World::default()));
            let role = SimRun { run, scenario, world };
            let new = role.new_run(&workspace, time.now());
            store.queue().create_run(&new).await.expect("the run is created");
            roles.insert(workspace, role);
        }
        let cluster = !chance.one_in(3);
        let (story, stores) = (Arc::new(SimTrace::new()), Mutex::default());
        let processes = AtomicU64::new(0);
        Arc::new(Self { store, db, time, story, cluster, roles, stores, processes })
    }

    fn rules(&self) -> EngineRules {
        EngineRules {
            start_within_ms: 500,
            snapshot_every: 10,
            mail_every_ms: 300,
            owners_may_live: self.cluster,
            ..EngineRules::default()
        }
    }

    async fn all_over(&self) -> bool {
        for role in self.roles.values() {
            let row = self.store.runs().get(&role.run).await.expect("readable").expect("exists");
            let spoken = row.status != Status::Quarantined || self.has_last_words(role).await;
            let below = self.store.runs().descendants(&role.run).await.expect("readable");
            if !row.status.is_final() || !spoken || !below.is_empty() {
                return false;
            }
        }
        true
    }

    /// The process that finds a run quarantined writes its final message.
    async fn has_last_words(&self, role: &SimRun) -> bool {
        let messages = self.store.runs().messages(&role.run).await.expect("readable");
        messages.iter().any(|message| message.slot == "final")
    }

    fn violations(&self) -> u64 {
        let stores = self.stores.lock().unwrap_or_else(PoisonError::into_inner);
        stores.iter().map(Store::violations).sum()
    }

    fn watched<'a>(&'a self, role: &'a SimRun) -> ObservedRun<'a> {
        ObservedRun {
            store: &self.store,
            run: &role.run,
            world: &role.world,
            loop_name: role.scenario.loop_name,
            violations: self.violations(),
        }
    }

    async fn judge(&self, mut simulated: SimReport) -> Result<SimReport, String> {
        for role in self.roles.values() {
            let watched = self.watched(role);
            let broken = |why| format!("{}: {why}", role.run);
            let row = self.store.runs().get(&role.run).await.expect("readable").expect("exists");
            simulated.takeovers += row.lease.epoch.saturating_sub(1).unsigned_abs();
            match row.status {
                Status::Quarantined => {
                    simulated.quarantined += 1;
                    check_midway(&watched).await.map_err(broken)?;
                }
                status => {
                    check(&watched).await.map_err(broken)?;
                    simulated.canceled += u64::from(status == Status::Canceled);
                    simulated.unsettled += u64::from(status == Status::Unsettled);
                }
            }
            simulated.runs += 1;
        }
        Ok(simulated)
    }

    /// Everything that is needed to understand a failure.
    async fn report(&self, seed: u64, why: &str) -> String {
        let mut report = format!("seed {seed}: {why}\n\n{}\n", self.story.text());
        for role in self.roles.values() {
            report.push_str(&format!("\n{} ({}):\n", role.run, role.scenario.name));
            let entries =
                self.store.journal().entries(&role.run, 0, usize::MAX).await.unwrap_or_default();
            for entry in entries {
                let (seq, epoch, kind) = (entry.seq, entry.epoch, format!("{:?}", entry.kind));
                let kind: String = kind.chars().take(160).collect();
                report.push_str(&format!("  {seq:>3} epoch {epoch}  {kind}\n"));
            }
            for act in role.world.acts() {
                report.push_str(&format!("  done to the world: {act:?}\n"));
            }
        }
        report
    }

    fn next_name(&self) -> String {
        format!("worker_{}", self.processes.fetch_add(1, Ordering::SeqCst) + 1)
    }
}

impl SimRun {
    fn new_run(&self, workspace: &str, now: i64) -> NewRun {
        let frame = self.frame(workspace);
        let loop_name = self.scenario.loop_name.to_owned();
        let goal = Goal { text: self.scenario.name.to_owned(), ..Goal::default() };
        let created = RunCreated {
            goal,
            loop_ver: AnyRun::version(&loop_name).unwrap_or_default(),
            loop_name,
            frame: digest_json(&frame),
            build: "simulated".to_owned(),
            policy_hash: String::new(),
            turn: None,
        };
        let conversation = ConversationId::new(format!("conv_{}", self.run));
        let (run, idem_key) = (self.run.clone(), None);
        NewRun {
            run,
            conversation,
            created,
            frame,
            idem_key,
            profile: Default::default(),
            opens: None,
            now,
            link: everloop_store::RunLink::default(),
        }
    }

    fn frame(&self, workspace: &str) -> Frame {
        let gate: Arc<dyn crate::points::PointGate> = Arc::new(Points::default());
        let tools = registry(&self.world, &gate).specs();
        Frame {
            system: "You act on things.".to_owned(),
            tools: tools.into_iter().map(quick).collect(),
            limits: self.scenario.limits,
            policy: self.scenario.policy.clone(),
            model: ModelChoice { name: format!("scripted/{workspace}"), ..ModelChoice::default() },
            time_zone: "UTC".to_owned(),
            workspace: workspace.to_owned(),
            ..Frame::default()
        }
    }
}

/// A tool whose time is over as soon as its gate says so.
fn quick(mut spec: ToolSpec) -> ToolSpec {
    spec.handling.timeout_ms = parts::TOOL_MS;
    spec
}
