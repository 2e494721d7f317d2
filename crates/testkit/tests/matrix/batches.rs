//! Row 22: eight calls in one reply that finish in any order, and a crash between any two of them.
//!
//! Calls that change nothing run together, and their outcomes are one commit when the last is back:
//! a crash before that runs all of them again. Calls that may change something run one by one, and
//! each outcome is durable before the next call begins.

use everloop_engine::{
    Engine, EngineRules, Environment, History, ReplayVerdict, Submission, WorkerIdentity,
};
use everloop_models::{ScriptedModel, ScriptedReply};
use everloop_ports::{CallContext, Clock, Model, Registry, Tool, ToolReturn};
use everloop_store::Store;
use everloop_testkit::VirtualClock;
use everloop_types::journal::EntryKind;
use everloop_types::{
    Approval, EffectClass, Frame, Goal, Handling, ModelChoice, ModelError, Observation, OnUnknown,
    RunId, WorkerId, digest_bytes,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const CALLS: usize = 8;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Which {
    /// The call.
    n: usize,
}

/// Takes as many seconds as the order says, and counts.
struct Wait {
    class: EffectClass,
    seconds: Vec<u64>,
    counts: Arc<Mutex<Vec<usize>>>,
}

impl Tool for Wait {
    const NAME: &'static str = "wait";
    type Args = Which;

    fn description(&self) -> &'static str {
        "waits"
    }

    fn handling(&self) -> Handling {
        let (class, approval) = (self.class, Approval::Allow);
        let on_unknown = OnUnknown::TellModel;
        Handling { class, approval, on_unknown, timeout_ms: 60_000, ..Handling::default() }
    }

    async fn call(&self, args: Which, _: &CallContext) -> ToolReturn {
        self.counts.lock().unwrap()[args.n] += 1;
        tokio::time::sleep(Duration::from_secs(self.seconds[args.n])).await;
        ToolReturn::Seen(Observation::ok(format!("waited {}", args.n)))
    }
}

struct Props(Arc<ScriptedModel>, Arc<Registry>);

impl Environment for Props {
    fn model(&self, _: &ModelChoice) -> Result<(Arc<dyn Model>, String), ModelError> {
        Ok((self.0.clone(), "x".to_owned()))
    }

    fn tools(&self, _: &Frame) -> Arc<Registry> {
        self.1.clone()
    }
}

/// An order of 1 to 8 that the seed decides.
fn order(seed: usize) -> Vec<u64> {
    let mut order: Vec<u64> = (1..=CALLS as u64).collect();
    order.sort_by_key(|n| digest_bytes(format!("{seed} {n}").as_bytes()));
    order
}

struct Batch {
    store: Store,
    means: Arc<Props>,
    counts: Arc<Mutex<Vec<usize>>>,
    clock: VirtualClock,
    run: RunId,
}

impl Batch {
    async fn new(class: EffectClass, seconds: Vec<u64>) -> Self {
        let counts = Arc::new(Mutex::new(vec![0; CALLS]));
        let tools = Registry::default().with(Wait { class, seconds, counts: counts.clone() });
        let first = ScriptedReply::calls("wait", json!({"n": 0}));
        let all = (1..CALLS).fold(first, |reply, n| reply.and_calls("wait", json!({"n": n})));
        let model = Arc::new(ScriptedModel::new(vec![all, ScriptedReply::says("done")]));
        let means = Arc::new(Props(model, Arc::new(tools)));
        let (store, clock, run) = (Store::memory(), VirtualClock::default(), RunId::new(""));
        let mut batch = Self { store, means, counts, clock, run };
        let model = ModelChoice { name: "scripted/x".to_owned(), ..ModelChoice::default() };
        let (tools, time_zone) = (batch.means.1.specs(), "UTC".to_owned());
        let frame = Frame { model, tools, time_zone, ..Frame::default() };
        let goal = Goal { text: "goal".to_owned(), ..Goal::default() };
        let submission = Submission {
            loop_name: "react".to_owned(),
            goal,
            frame,
            idem_key: None,
            profile: Default::default(),
        };
        batch.run = batch.engine("maker").submit(submission).await.unwrap();
        batch
    }

    fn engine(&self, name: &str) -> Arc<Engine> {
        let identity = WorkerIdentity { worker: WorkerId::new(name), build: "test".to_owned() };
        let (store, clock) = (self.store.clone(), Arc::new(self.clock));
        Engine::new(store, self.means.clone(), clock, identity, EngineRules::default())
    }

    /// Drives for at most this long, and dies then.
    async fn drive(&self, name: &str, most: Duration) {
        let engine = self.engine(name);
        self.store.queue().requeue_orphans(self.clock.now()).await.unwrap();
        let claim =
            self.store.queue().claim_run(&engine.identity().worker, &self.run, self.clock.now());
        let claim = claim.await.unwrap().unwrap();
        let _ = tokio::time::timeout(most, engine.drive(claim)).await;
    }

    async fn outcomes(&self) -> usize {
        let entries = self.store.journal().entries(&self.run, 0, usize::MAX).await.unwrap();
        let finished = |kind: &EntryKind| matches!(kind, EntryKind::EffectFinished(_));
        entries.iter().filter(|entry| finished(&entry.kind)).count()
    }

    /// What the model saw and said in the end, independent of the order of outcomes.
    async fn state(&self) -> String {
        let history = History::read(&self.store, &self.run).await.unwrap().unwrap();
        let verdict = history.verify();
        assert!(matches!(verdict, ReplayVerdict::Verified { .. }), "{verdict:?}");
        let prompt = history.state_at(i64::MAX).unwrap().messages().to_vec();
        format!("{:?} {prompt:?}", history.final_text())
    }
}

#[tokio::test(start_paused = true)]
async fn row_22_eight_calls_at_once_in_any_order_with_a_crash_between_any_two_end_the_same() {
    let calm = Batch::new(EffectClass::Pure, (1..=8).collect()).await;
    calm.drive("first", Duration::from_secs(3_600)).await;
    let wanted = calm.state().await;
    for seed in 0..40 {
        for seconds in 0..CALLS as u64 {
            let batch = Batch::new(EffectClass::Pure, order(seed)).await;
            batch.drive("first", Duration::from_millis(seconds * 1_000 + 500)).await;
            batch.drive("second", Duration::from_secs(3_600)).await;
            assert_eq!(batch.state().await, wanted, "order {seed}, crash after {seconds} s");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn row_22_a_call_that_may_change_something_is_not_made_again_after_a_crash() {
    let (mut crashes, mut kept) = (0, 0);
    for seed in 0..10 {
        // One after the other they take 36 s.
        for seconds in 0..36 {
            let batch = Batch::new(EffectClass::Dangerous, order(seed)).await;
            batch.drive("first", Duration::from_millis(seconds * 1_000 + 500)).await;
            kept += batch.outcomes().await.saturating_sub(1);
            batch.drive("second", Duration::from_secs(3_600)).await;
            batch.state().await;
            let counts = batch.counts.lock().unwrap().clone();
            assert_eq!(counts, [1; CALLS], "order {seed}, crash after {seconds} s");
            crashes += 1;
        }
    }
    println!("8 calls in one reply: {crashes} crashes, {kept} outcomes kept, none made twice");
    assert!(kept > crashes, "the crashes came before any outcome");
}
