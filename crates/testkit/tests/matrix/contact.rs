//! Row 11: the database is out of reach for one worker while its effects run.

use everloop_engine::{
    Engine, EngineRules, Environment, LeaseTimes, Submission, Worker, WorkerIdentity, WorkerReport,
};
use everloop_models::{ScriptedModel, ScriptedReply};
use everloop_ports::{CallContext, Clock, Model, Registry, Tool, ToolReturn};
use everloop_store::{Db, DbFuture, MemoryDb, SqlRow, Store, Urgency, WriteResult as Wrote};
use everloop_testkit::VirtualClock;
use everloop_types::{
    Approval, EffectClass, Frame, Goal, Handling, ModelChoice, ModelError, Observation, OnUnknown,
    SqlValue, Status, WorkerId, Write,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::watch;

/// A connection that can be cut: queries then wait until it is restored.
struct Line {
    inner: Arc<MemoryDb>,
    up: watch::Receiver<bool>,
}

impl Line {
    async fn reaches(&self) {
        let _ = self.up.clone().wait_for(|up| *up).await;
    }
}

impl Db for Line {
    fn commit(&self, writes: Vec<Write>, urgency: Urgency) -> DbFuture<'_, Vec<Wrote>> {
        Box::pin(async move {
            self.reaches().await;
            self.inner.commit(writes, urgency).await
        })
    }

    fn query(&self, sql: &'static str, params: Vec<SqlValue>) -> DbFuture<'_, Vec<SqlRow>> {
        Box::pin(async move {
            self.reaches().await;
            self.inner.query(sql, params).await
        })
    }
}

/// When a call began, and when it was dropped, in milliseconds.
#[derive(Debug, Default)]
struct Calls {
    begun: Vec<u64>,
    dropped: Vec<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// Runs for an hour unless it is dropped.
struct Endless(VirtualClock, Arc<Mutex<Calls>>);

struct Dropped(VirtualClock, Arc<Mutex<Calls>>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.1.lock().unwrap().dropped.push(self.0.since_boot_ms());
    }
}

impl Tool for Endless {
    const NAME: &'static str = "endless";
    type Args = Nothing;

    fn description(&self) -> &'static str {
        "runs for an hour"
    }

    fn handling(&self) -> Handling {
        Handling {
            class: EffectClass::Dangerous,
            approval: Approval::Allow,
            on_unknown: OnUnknown::TellModel,
            timeout_ms: 3_600_000,
            grace_ms: 1_000,
            ..Handling::default()
        }
    }

    async fn call(&self, _: Nothing, _: &CallContext) -> ToolReturn {
        self.1.lock().unwrap().begun.push(self.0.since_boot_ms());
        let _dropped = Dropped(self.0, self.1.clone());
        self.0.pause(3_600_000).await;
        ToolReturn::Seen(Observation::ok("an hour later"))
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

/// A worker among others, until its task is dropped.
async fn live(engine: Arc<Engine>, claimed: Arc<Mutex<Vec<u64>>>) {
    let times = LeaseTimes::default();
    engine.join(times).await.unwrap();
    let mut worker = Worker::new(engine.clone(), 4).reaping(times);
    let report = |report: WorkerReport| {
        if let WorkerReport::Claimed(_) = report {
            claimed.lock().unwrap().push(engine.clock().since_boot_ms());
        }
    };
    tokio::select! {
        worked = worker.work(report) => worked.unwrap(),
        () = engine.clone().keep_lease(times) => {}
    }
}

#[tokio::test(start_paused = true)]
async fn row_11_a_worker_that_cannot_reach_the_database_stops_before_another_takes_over() {
    let (clock, calls) = (VirtualClock::default(), Arc::<Mutex<Calls>>::default());
    let db = Arc::new(MemoryDb::with_clock(move || clock.now()));
    let store = Store::with_db(db.clone());
    let tools = Arc::new(Registry::default().with(Endless(clock, calls.clone())));
    let script = vec![ScriptedReply::calls("endless", json!({})), ScriptedReply::says("gave up")];
    let model = Arc::new(ScriptedModel::new(script));
    let engine = |name: &str, store: Store| {
        let identity = WorkerIdentity { worker: WorkerId::new(name), build: "test".to_owned() };
        let means = Arc::new(Props(model.clone(), tools.clone()));
        let rules = EngineRules { owners_may_live: true, ..EngineRules::default() };
        Engine::new(store, means, Arc::new(clock), identity, rules)
    };
    let (cut, up) = watch::channel(true);
    let remote = engine("remote", Store::with_db(Arc::new(Line { inner: db, up })));
    let near = engine("near", store.clone());
    let model = ModelChoice { name: "scripted/x".to_owned(), ..ModelChoice::default() };
    let specs = tools.specs();
    let frame = Frame { model, tools: specs, time_zone: "UTC".to_owned(), ..Frame::default() };
    let goal = Goal { text: "goal".to_owned(), ..Goal::default() };
    let submission = Submission {
        loop_name: "react".to_owned(),
        goal,
        frame,
        idem_key: None,
        profile: Default::default(),
    };
    let run = near.submit(submission).await.unwrap();

    let (mine, theirs) = (Arc::<Mutex<Vec<u64>>>::default(), Arc::<Mutex<Vec<u64>>>::default());
    let first = tokio::spawn(live(remote, mine.clone()));
    while calls.lock().unwrap().begun.is_empty() {
        clock.pause(100).await;
    }
    let second = tokio::spawn(live(near, theirs.clone()));
    clock.pause(12_000).await;
    let cut_at = clock.since_boot_ms();
    cut.send(false).unwrap();
    clock.pause(45_000).await;
    let row = store.runs().get(&run).await.unwrap().unwrap();
    assert_eq!(row.status, Status::Unsettled, "the other drove it to its end");
    let dropped = calls.lock().unwrap().dropped[0] - cut_at;
    let taken = theirs.lock().unwrap()[0] - cut_at;
    println!("cut off: calls dropped after {dropped} ms, run taken over after {taken} ms");
    assert!(dropped <= 20_000 && dropped < taken, "dropped {dropped}, taken {taken}");
    assert!((20_000..=40_000).contains(&taken), "taken over after {taken} ms");
    assert_eq!(calls.lock().unwrap().begun.len(), 1, "nobody made the call again");
    let at = store.runs().position(&run).await.unwrap();
    cut.send(true).unwrap();
    clock.pause(60_000).await;
    assert_eq!(store.runs().position(&run).await.unwrap(), at, "it is back and wrote nothing");
    assert_eq!((calls.lock().unwrap().begun.len(), mine.lock().unwrap().len()), (1, 1));
    assert_eq!(store.workers().all().await.unwrap().len(), 2, "it has its place again");
    assert!(!first.is_finished() && !second.is_finished());
    tokio::time::timeout(Duration::from_secs(1), async {
        first.abort();
        second.abort();
    })
    .await
    .unwrap();
}
