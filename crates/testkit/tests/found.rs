//! Regressions found by a review: temporary faults of the store, panics, clocks that jump.

use everloop_engine::{
    DriveEnd, DriveError, Engine, EngineRules, Environment, LeaseTimes, Submission, Update, Worker,
    WorkerIdentity,
};
use everloop_models::{ScriptedModel, ScriptedReply};
use everloop_ports::{CallContext, Clock, Model, Registry, Tool, ToolReturn};
use everloop_store::{
    Claim, Db, DbError, DbFuture, MemoryDb, RunFilter, SqlRow, Store, Urgency, WriteResult as Rows,
};
use everloop_testkit::{PointKind, ProcessEnd, Scenario, Testbed, VirtualClock};
use everloop_types::journal::{EntryKind, InboxMessage, Outcome, WaitingOn};
use everloop_types::{
    Approval, EffectClass, Ending, Frame, Goal, Handling, ModelChoice, ModelError, Observation,
    OnUnknown, QuestionKind, RunId, SqlValue, Status, UtcMs, WorkerId, Write,
};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

/// A database that loses the reply of the n-th commit from now and fails some reads after it.
#[derive(Default)]
struct Flaky {
    lose_commit_in: AtomicI64,
    then_fail_reads: AtomicUsize,
    fail_reads: AtomicUsize,
    fail_commits: AtomicUsize,
}
struct FlakyDb(Arc<dyn Db>, Arc<Flaky>);
impl Db for FlakyDb {
    fn commit(&self, writes: Vec<Write>, urgency: Urgency) -> DbFuture<'_, Vec<Rows>> {
        let left = self.1.fail_commits.load(SeqCst);
        if left > 0 {
            self.1.fail_commits.store(left - 1, SeqCst);
            let file = std::path::Path::new("x").into();
            return Box::pin(async { Err(DbError::Locked { file }) });
        }
        Box::pin(async move {
            let done = self.0.commit(writes, urgency).await;
            if self.1.lose_commit_in.fetch_sub(1, SeqCst) == 1 {
                self.1.fail_reads.store(self.1.then_fail_reads.load(SeqCst), SeqCst);
                return Err(DbError::CommitUnknown {
                    source: Arc::new(std::io::Error::other("lost")),
                });
            }
            done
        })
    }
    fn query(&self, sql: &'static str, params: Vec<SqlValue>) -> DbFuture<'_, Vec<SqlRow>> {
        let left = self.1.fail_reads.load(SeqCst);
        if left > 0 {
            self.1.fail_reads.store(left - 1, SeqCst);
            return Box::pin(async {
                Err(DbError::Locked { file: std::path::Path::new("x").into() })
            });
        }
        self.0.query(sql, params)
    }
}

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

fn handling(class: EffectClass) -> Handling {
    Handling {
        class,
        approval: Approval::Allow,
        on_unknown: OnUnknown::TellModel,
        timeout_ms: 60_000,
        grace_ms: 1_000,
        ..Handling::default()
    }
}

macro_rules! tool {
    ($name:ident, $word:literal, $handling:expr, |$this:ident, $context:ident| $call:expr) => {
        #[derive(Default)]
        struct $name {
            calls: AtomicUsize,
        }
        impl Tool for $name {
            const NAME: &'static str = $word;
            type Args = Nothing;
            fn description(&self) -> &'static str {
                "x"
            }
            fn handling(&self) -> Handling {
                $handling
            }
            async fn call(&self, _: Nothing, $context: &CallContext) -> ToolReturn {
                let $this = self.calls.fetch_add(1, SeqCst);
                $call
            }
        }
    };
}
tool!(
    Wire,
    "wire",
    Handling {
        approval: Approval::Ask,
        on_unknown: OnUnknown::AskUser,
        ..handling(EffectClass::Dangerous)
    },
    |_call, _context| std::future::pending().await
);
tool!(Boom, "boom", handling(EffectClass::Pure), |call, _context| {
    assert!(call > 0, "the first call panics");
    ToolReturn::Seen(Observation::ok("fine"))
});
tool!(Slow, "slow", handling(EffectClass::Dangerous), |_call, context| tokio::select! {
    () = context.cancel.cancelled() =>
        ToolReturn::Seen(Observation { ending: Ending::Canceled, text: "stopped".to_owned() }),
    () = tokio::time::sleep(Duration::from_secs(10)) => ToolReturn::Seen(Observation::ok("done")),
});
tool!(Lazy, "lazy", handling(EffectClass::Pure), |_call, context| {
    context.cancel.cancelled().await;
    ToolReturn::Seen(Observation { ending: Ending::Canceled, text: "stopped".to_owned() })
});

/// Says on another thread when it is asked to stop, and never comes back by itself.
#[derive(Clone)]
struct Burrow(Arc<tokio::sync::Semaphore>);
impl Tool for Burrow {
    const NAME: &'static str = "burrow";
    type Args = Nothing;
    fn description(&self) -> &'static str {
        "x"
    }
    fn handling(&self) -> Handling {
        handling(EffectClass::Pure)
    }
    async fn call(&self, _: Nothing, context: &CallContext) -> ToolReturn {
        let (cancel, signs) = (context.cancel.clone(), self.0.clone());
        tokio::spawn(async move {
            signs.add_permits(1);
            cancel.cancelled().await;
            signs.add_permits(1);
        });
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_driver_that_is_dropped_stops_what_its_calls_do_elsewhere() {
    let signs = Arc::new(tokio::sync::Semaphore::new(0));
    let mut house = House::new(vec![ScriptedReply::calls("burrow", json!({}))]).await;
    house.tools = Arc::new(Registry::default().with(Burrow(signs.clone())));
    house.run = house.engine("w0").submit(house.submission()).await.expect("works");
    let engine = house.engine("w1");
    let claim = house.claim(&engine).await;
    let sign = || async { signs.acquire().await.expect("open").forget() };
    tokio::select! {
        driven = engine.drive(claim) => panic!("{driven:?}"),
        () = sign() => {}
    }
    let stopped = tokio::time::timeout(Duration::from_secs(60), sign()).await;
    assert!(stopped.is_ok(), "the call was not asked to stop");
}

/// Never finishes its check before the intent is written.
struct Gaze;
impl Tool for Gaze {
    const NAME: &'static str = "gaze";
    type Args = Nothing;
    fn description(&self) -> &'static str {
        "x"
    }
    fn handling(&self) -> Handling {
        handling(EffectClass::Dangerous)
    }
    async fn before(&self, _: &Nothing, _: Option<&everloop_types::RunId>) -> serde_json::Value {
        std::future::pending().await
    }
    async fn call(&self, _: Nothing, _: &CallContext) -> ToolReturn {
        ToolReturn::Seen(Observation::ok("done"))
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

struct House {
    store: Store,
    flaky: Arc<Flaky>,
    model: Arc<ScriptedModel>,
    tools: Arc<Registry>,
    clock: Arc<dyn Clock>,
    run: RunId,
}
impl House {
    async fn new(script: Vec<ScriptedReply>) -> Self {
        Self::with(script, Arc::new(VirtualClock::default())).await
    }
    async fn with(script: Vec<ScriptedReply>, clock: Arc<dyn Clock>) -> Self {
        let flaky = Arc::new(Flaky::default());
        let store = Store::with_db(Arc::new(FlakyDb(Arc::new(MemoryDb::new()), flaky.clone())));
        let tools = Registry::default()
            .with(Wire::default())
            .with(Boom::default())
            .with(Slow::default())
            .with(Lazy::default())
            .with(Gaze)
            .with(everloop_tools::AskUser);
        let model = Arc::new(ScriptedModel::new(script).closing("in the end"));
        let mut house =
            Self { store, flaky, model, tools: Arc::new(tools), clock, run: RunId::new("") };
        house.run = house.engine("w0").submit(house.submission()).await.expect("works");
        house
    }
    fn submission(&self) -> Submission {
        let frame = Frame {
            tools: self.tools.specs(),
            model: ModelChoice { name: "scripted/x".to_owned(), ..ModelChoice::default() },
            time_zone: "UTC".to_owned(),
            ..Frame::default()
        };
        let goal = Goal { text: "goal".to_owned(), ..Goal::default() };
        Submission {
            loop_name: "react".to_owned(),
            goal,
            frame,
            idem_key: None,
            profile: Default::default(),
        }
    }
    fn engine(&self, name: &str) -> Arc<Engine> {
        let identity = WorkerIdentity { worker: WorkerId::new(name), build: "test".to_owned() };
        let means = Arc::new(Props(self.model.clone(), self.tools.clone()));
        Engine::new(self.store.clone(), means, self.clock.clone(), identity, EngineRules::default())
    }
    async fn claim(&self, engine: &Engine) -> Claim {
        let claimed = self
            .store
            .queue()
            .claim_run(&engine.identity().worker, &self.run, self.clock.now())
            .await;
        claimed.expect("works").expect("claimable")
    }
    async fn status(&self) -> Status {
        self.store.runs().get(&self.run).await.expect("works").expect("works").status
    }
    async fn endings(&self) -> Vec<Ending> {
        endings(&self.store, &self.run).await
    }
}

async fn endings(store: &Store, run: &RunId) -> Vec<Ending> {
    let entries = store.journal().entries(run, 0, usize::MAX).await.expect("works");
    entries
        .into_iter()
        .filter_map(|entry| match entry.kind {
            EntryKind::EffectFinished(finished) => match finished.outcome {
                Outcome::Observed(seen) => Some(seen.ending),
                _ => None,
            },
            _ => None,
        })
        .collect()
}

fn calls(tool: &str) -> ScriptedReply {
    ScriptedReply::calls(tool, json!({}))
}

/// Plays until right after the n-th act outside (replies count), and dies there.
async fn die_after_act(script: Vec<ScriptedReply>, n: usize) -> Testbed {
    let scenario = Scenario::react("review", script);
    let mut calm = Testbed::set(&scenario).await;
    let before = calm.points.passed();
    calm.play_on().await.expect("ends");
    let points = calm.points.seen().split_off(before);
    let at =
        (0..points.len()).filter(|n| points[*n] == PointKind::AfterEffect).nth(n).expect("works");
    let mut stage = Testbed::set(&scenario).await;
    stage.points.halt_at(at);
    assert!(matches!(stage.play_once().await, ProcessEnd::Died));
    stage.points.stop_disturbing();
    stage
}

#[tokio::test(start_paused = true)]
async fn a_cancel_does_not_hide_an_unknown_that_waits_to_be_settled() {
    let script =
        vec![ScriptedReply::calls("mail", json!({"what": "invoice"})), ScriptedReply::says("sent")];
    let mut stage = die_after_act(script, 1).await;
    let went = stage.play_once().await;
    assert!(
        matches!(&went, ProcessEnd::Well(Ok(DriveEnd::Parked(WaitingOn::Person { question })))
        if question.kind == QuestionKind::Settle),
        "{went:?}"
    );
    assert_eq!(stage.world.acts().len(), 1, "the mail was sent");
    let process = stage.process();
    process.engine.cancel(&stage.run, "person").await.expect("works");
    let went = stage.play_once().await;
    assert!(matches!(went, ProcessEnd::Well(Ok(DriveEnd::Finished(Status::Canceled)))), "{went:?}");
    assert_eq!(endings(&stage.store, &stage.run).await, [Ending::Unknown]);
}

/// It ends with an unknown outcome: a user who cancels does not want to be asked first.
#[tokio::test(start_paused = true)]
async fn a_cancel_during_a_call_that_a_person_would_settle_ends_the_run() {
    let house = House::new(vec![calls("wire"), ScriptedReply::says("done")]).await;
    let engine = house.engine("w1");
    let driven = engine.drive(house.claim(&engine).await).await.expect("works");
    let DriveEnd::Parked(WaitingOn::Person { question }) = driven else { panic!("{driven:?}") };
    let message =
        InboxMessage::Answer { question: question.id.clone(), text: "yes".into(), by: "p".into() };
    house
        .store
        .inbox()
        .send(&house.run, &question.id, &message, house.clock.now())
        .await
        .expect("works");
    let claim = house.claim(&engine).await;
    let driving = engine.drive(claim);
    let canceling = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        engine.cancel(&house.run, "p").await.expect("works")
    };
    let (driven, _) = tokio::join!(driving, canceling);
    assert_eq!(driven.expect("works"), DriveEnd::Finished(Status::Canceled));
    assert_eq!(endings(&house.store, &house.run).await, [Ending::Unknown]);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_needs_permission_and_settlement_can_be_settled() {
    let house = House::new(vec![calls("wire"), ScriptedReply::says("done")]).await;
    let engine = house.engine("w1");
    let driven = engine.drive(house.claim(&engine).await).await.expect("works");
    let DriveEnd::Parked(WaitingOn::Person { question }) = driven else { panic!("{driven:?}") };
    let message =
        InboxMessage::Answer { question: question.id.clone(), text: "yes".into(), by: "p".into() };
    house
        .store
        .inbox()
        .send(&house.run, &question.id, &message, house.clock.now())
        .await
        .expect("works");
    let claim = house.claim(&engine).await;
    // The process dies while the call is out.
    assert!(tokio::time::timeout(Duration::from_secs(1), engine.drive(claim)).await.is_err());
    let engine = house.engine("w2");
    house.store.queue().requeue_orphans(house.clock.now()).await.expect("works");
    let driven = engine.drive(house.claim(&engine).await).await;
    assert!(matches!(&driven, Ok(DriveEnd::Parked(WaitingOn::Person { .. }))), "{driven:?}");
}

#[tokio::test(start_paused = true)]
async fn a_letter_is_heard_after_a_driver_panicked() {
    let ask = ScriptedReply::calls("ask_user", json!({"question": "which?"}));
    let house = House::new(vec![calls("boom"), ask, ScriptedReply::says("done")]).await;
    let engine = house.engine("w1");
    let claim = house.claim(&engine).await;
    let (driver, held) = (engine.clone(), claim.clone());
    assert!(tokio::spawn(async move { driver.drive(claim).await }).await.is_err());
    house.store.queue().stalled(&held, house.clock.now()).await.expect("works");
    // Another process sends it.
    let message = InboxMessage::Cancel { by: "p".into() };
    house
        .store
        .inbox()
        .send(&house.run, "cancel", &message, house.clock.now())
        .await
        .expect("works");
    let driven = engine.drive(house.claim(&engine).await).await.expect("works");
    let unread = house.store.inbox().unread(&house.run).await.expect("works").messages.len();
    let status = house.status().await;
    assert!(
        driven == DriveEnd::Finished(Status::Canceled),
        "{driven:?}, {status}, {unread} unread"
    );
}

#[tokio::test(start_paused = true)]
async fn a_submission_whose_reply_is_lost_is_made_once_and_answered() {
    let house = House::new(vec![ScriptedReply::says("hi")]).await;
    house.flaky.lose_commit_in.store(1, SeqCst);
    let submitted = house.engine("w1").submit(house.submission()).await;
    let all = RunFilter { statuses: Vec::new(), before: None, most: 10 };
    let there = house.store.runs().list(&all).await.expect("works").len() - 1;
    assert!(submitted.is_ok(), "told that there is no run, and there is {there}");
}

#[tokio::test(start_paused = true)]
async fn a_lost_reply_and_a_failing_read_do_not_strand_the_run() {
    let house = House::new(vec![ScriptedReply::says("hi")]).await;
    // The claim is the first, the plan the second.
    house.flaky.lose_commit_in.store(2, SeqCst);
    house.flaky.then_fail_reads.store(1, SeqCst);
    let mut worker = Worker::new(house.engine("w1"), 4);
    let mut reports = Vec::new();
    worker.drain(|report| reports.push(format!("{report:?}"))).await.expect("works");
    assert_eq!(house.status().await, Status::Succeeded, "{reports:#?}");
}

#[tokio::test(start_paused = true)]
async fn a_run_put_aside_by_a_living_worker_has_last_words() {
    let mut stage = Testbed::set(&Scenario::react("x", vec![calls("explode")])).await;
    let process = stage.process();
    Worker::new(process.engine.clone(), 4).drain(|_| {}).await.expect("works");
    let row = stage.store.runs().get(&stage.run).await.expect("works").expect("works");
    assert_eq!(row.status, Status::Quarantined);
    let messages = stage.store.runs().messages(&stage.run).await.expect("works");
    assert_eq!(messages.iter().filter(|m| m.slot == "final").count(), 1);
}

#[tokio::test(start_paused = true)]
async fn reads_that_fail_for_a_moment_do_not_end_a_run() {
    let house = House::new(vec![ScriptedReply::says("hi")]).await;
    house.flaky.fail_reads.store(5, SeqCst);
    let mut worker = Worker::new(house.engine("w1"), 4);
    worker.drain(|_| {}).await.expect("works");
    assert_eq!(house.status().await, Status::Succeeded);
}

#[tokio::test(start_paused = true)]
async fn no_second_act_on_a_resource_whose_state_is_unknown() {
    let strike = json!({"what": "anvil"});
    let script = vec![
        ScriptedReply::calls("strike", strike.clone()).and_calls("strike", strike),
        ScriptedReply::says("struck"),
    ];
    let mut stage = die_after_act(script, 1).await;
    stage.play_on().await.expect("ends");
    let endings = endings(&stage.store, &stage.run).await;
    assert_eq!(stage.world.acts().len(), 1, "{endings:?}");
}

#[tokio::test(start_paused = true)]
async fn a_failing_look_into_the_inbox_does_not_stop_a_tool() {
    let house = House::new(vec![calls("slow"), ScriptedReply::says("done")]).await;
    let engine = house.engine("w1");
    let claim = house.claim(&engine).await;
    let meddle = async {
        house.clock.pause(2_000).await;
        house.flaky.fail_reads.store(1, SeqCst);
        let steer = InboxMessage::Steer { text: "a word".into() };
        engine.send(&house.run, "steer", &steer).await.expect("works");
    };
    let (driven, ()) = tokio::join!(engine.drive(claim), meddle);
    let endings = house.endings().await;
    assert_eq!(endings, [Ending::Ok], "{driven:?}");
}

#[tokio::test(start_paused = true)]
async fn a_cancel_stops_all_calls_that_run_together() {
    let many = (1..20).fold(calls("lazy"), |reply, _| reply.and_calls("lazy", json!({})));
    let house = House::new(vec![many, ScriptedReply::says("done")]).await;
    let engine = house.engine("w1");
    tokio::spawn(engine.clone().poll_inboxes());
    let claim = house.claim(&engine).await;
    let meddle = async {
        house.clock.pause(1_000).await;
        engine.cancel(&house.run, "p").await.expect("works");
        house.clock.since_boot_ms()
    };
    let (driven, sent) = tokio::join!(engine.drive(claim), meddle);
    let took = house.clock.since_boot_ms() - sent;
    assert!(took < 1_000, "{driven:?} after {took} ms");
}

/// A house with a second run under this version of its loop.
async fn of_version(loop_ver: u32) -> (House, RunId) {
    let house = House::new(vec![ScriptedReply::says("hi")]).await;
    let first = house.store.journal().entries(&house.run, 0, 1).await.expect("works").remove(0);
    let EntryKind::RunCreated(created) = first.kind else { panic!("{first:?}") };
    let new = everloop_store::NewRun {
        run: RunId::new("run_other"),
        conversation: everloop_types::ConversationId::new("c"),
        created: everloop_types::journal::RunCreated { loop_ver, ..created },
        frame: house.store.journal().frame(&house.run).await.expect("works").expect("works"),
        idem_key: None,
        profile: Default::default(),
        opens: None,
        now: house.clock.now(),
        link: everloop_store::RunLink::default(),
    };
    house.store.queue().create_run(&new).await.expect("works");
    (house, new.run)
}

#[tokio::test(start_paused = true)]
async fn row_24_a_run_under_a_version_of_its_loop_that_is_not_here_is_left_alone() {
    for version in [0, 99] {
        let (house, run) = of_version(version).await;
        let engine = house.engine("w1");
        let claim =
            house.store.queue().claim_run(&engine.identity().worker, &run, house.clock.now()).await;
        let driven = engine.drive(claim.expect("works").expect("works")).await;
        let Err(DriveError::Newer { what, .. }) = driven else { panic!("{driven:?}") };
        assert!(what.contains("entry 1 of run_other is a RunCreated under loop"), "{what}");
        assert!(what.contains(&format!("of version {version}")), "{what}");
        let journal = house.store.journal().entries(&run, 0, 9).await.expect("works");
        assert_eq!(journal.len(), 1, "nothing was written");
    }
}

/// Wall time jumps back an hour at the `n`-th read.
struct Jumpy(VirtualClock, AtomicI64);
impl Clock for Jumpy {
    fn now(&self) -> UtcMs {
        let back = if self.1.fetch_sub(1, SeqCst) <= 0 { 3_600_000 } else { 0 };
        self.0.now() - back
    }
    fn since_boot_ms(&self) -> u64 {
        self.0.since_boot_ms()
    }
    fn pause(&self, ms: u64) -> everloop_ports::Pause<'_> {
        Box::pin(tokio::time::sleep(Duration::from_millis(ms)))
    }
}

#[tokio::test(start_paused = true)]
async fn row_23_time_in_a_journal_never_goes_back() {
    let clock = Arc::new(Jumpy(VirtualClock::default(), AtomicI64::new(12)));
    let house = House::with(vec![calls("slow"), ScriptedReply::says("done")], clock).await;
    let engine = house.engine("w1");
    engine.drive(house.claim(&engine).await).await.expect("works");
    let entries = house.store.journal().entries(&house.run, 0, usize::MAX).await.expect("works");
    let back = entries.windows(2).find(|pair| pair[1].at < pair[0].at);
    assert!(back.is_none(), "{back:?}");
}

#[tokio::test(start_paused = true)]
async fn a_worker_waits_for_a_store_that_is_locked_for_a_moment() {
    let house = House::new(vec![ScriptedReply::says("hi")]).await;
    house.flaky.fail_commits.store(3, SeqCst);
    let mut worker = Worker::new(house.engine("w1"), 4);
    worker.drain(|_| {}).await.expect("the worker goes on");
    assert_eq!(house.status().await, Status::Succeeded);
}

#[tokio::test(start_paused = true)]
async fn a_worker_takes_up_what_it_claimed_without_hearing_of_it() {
    let house = House::new(vec![ScriptedReply::says("hi")]).await;
    house.flaky.lose_commit_in.store(1, SeqCst);
    let mut worker = Worker::new(house.engine("w1"), 4);
    worker.drain(|_| {}).await.expect("the worker goes on");
    assert_eq!(house.status().await, Status::Succeeded);
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_cannot_look_for_its_claims_at_once_looks_again() {
    let house = House::new(vec![ScriptedReply::says("hi")]).await;
    house.flaky.then_fail_reads.store(1, SeqCst);
    house.flaky.lose_commit_in.store(1, SeqCst);
    let mut worker = Worker::new(house.engine("w1"), 4);
    worker.drain(|_| {}).await.expect("the worker goes on");
    assert_eq!(house.status().await, Status::Succeeded);
}

#[tokio::test(start_paused = true)]
async fn a_worker_takes_up_at_once_what_its_own_process_makes_ready() {
    let script = vec![ScriptedReply::calls("ask_user", json!({"question": "when?"}))];
    let house = House::new(script).await;
    let engine = house.engine("w1");
    let mut worker = Worker::new(engine.clone(), 4);
    let still = |watch: &mut everloop_engine::Watch| loop {
        match watch.try_recv() {
            Ok(update) => match update.as_ref() {
                Update::Entry(_, entry) if matches!(entry.kind, EntryKind::Waiting(_)) => {
                    return true;
                }
                _ => {}
            },
            Err(_) => return false,
        }
    };
    let told = async {
        // By now it has found nothing to do, and waits.
        house.clock.pause(10_000).await;
        let mut watch = engine.watch();
        let begun = house.clock.since_boot_ms();
        engine.submit(house.submission()).await.expect("works");
        while !still(&mut watch) {
            house.clock.pause(1).await;
        }
        engine.stop();
        house.clock.since_boot_ms() - begun
    };
    let (worked, took) = tokio::join!(worker.work(|_| ()), told);
    worked.expect("works");
    assert!(took < 50, "it lay in the queue for {took} ms");
}

/// A process whose environment names no way to the model.
struct NoWay(Arc<Registry>);
impl Environment for NoWay {
    fn model(&self, _: &ModelChoice) -> Result<(Arc<dyn Model>, String), ModelError> {
        Err(ModelError::new(everloop_types::ModelErrorKind::Refused, "no address"))
    }
    fn tools(&self, _: &Frame) -> Arc<Registry> {
        self.0.clone()
    }
}

#[tokio::test(start_paused = true)]
async fn a_process_that_cannot_reach_the_model_leaves_the_run_to_one_that_can() {
    let house = House::new(vec![ScriptedReply::says("hi")]).await;
    let identity = WorkerIdentity { worker: WorkerId::new("w1"), build: "test".to_owned() };
    let means = Arc::new(NoWay(house.tools.clone()));
    let lost = Engine::new(
        house.store.clone(),
        means,
        house.clock.clone(),
        identity,
        EngineRules::default(),
    );
    let driven = lost.drive(house.claim(&lost).await).await.expect("it parks");
    assert!(matches!(driven, DriveEnd::Parked(WaitingOn::Model { .. })), "{driven:?}");
    assert_eq!(house.status().await, Status::Waiting);
    let able = house.engine("w2");
    let driven = able.drive(house.claim(&able).await).await.expect("it is driven");
    assert_eq!(driven, DriveEnd::Finished(Status::Succeeded));
}

/// Works among others for this long, then stops.
async fn work_for(engine: &Arc<Engine>, ms: u64) {
    let times = LeaseTimes::default();
    engine.join(times).await.expect("works");
    let mut worker = Worker::new(engine.clone(), 4).reaping(times);
    let stop = async {
        engine.clock().pause(ms).await;
        engine.stop();
    };
    let (worked, ()) = tokio::join!(worker.work(|_| {}), stop);
    worked.expect("works");
}

/// The server may carry out a claim after the client has stopped waiting for its answer.
#[tokio::test(start_paused = true)]
async fn a_claim_that_comes_true_long_after_its_error_is_found() {
    let house = House::new(vec![ScriptedReply::says("hi")]).await;
    let other = house.engine("w0");
    let later = house.clock.now() + 3_600_000;
    house.store.queue().release(&house.claim(&other).await, later).await.expect("works");
    let engine = house.engine("w1");
    let comes_true = async {
        house.clock.pause(7_000).await;
        house.claim(&engine).await;
    };
    tokio::join!(work_for(&engine, 20_000), comes_true);
    assert_eq!(house.status().await, Status::Succeeded);
}

#[tokio::test(start_paused = true)]
async fn a_worker_among_others_leaves_a_run_that_needs_a_newer_program_to_them() {
    let (house, run) = of_version(99).await;
    let begun = house.clock.now();
    work_for(&house.engine("w1"), 5_000).await;
    let row = house.store.runs().get(&run).await.expect("works").expect("works");
    assert_eq!(row.status, Status::Queued);
    let wake_at = row.times.wake_at.expect("it is ready at some time");
    assert!((begun + 60_000..begun + 61_000).contains(&wake_at), "after {} ms", wake_at - begun);
    assert_eq!(house.status().await, Status::Succeeded, "the other run was driven");
}

/// There is no other worker that could take it; it must not be retried again and again.
#[tokio::test(start_paused = true)]
async fn a_worker_alone_keeps_a_run_that_needs_a_newer_program() {
    let (house, run) = of_version(99).await;
    Worker::new(house.engine("w1"), 4).drain(|_| {}).await.expect("works");
    let row = house.store.runs().get(&run).await.expect("works").expect("works");
    assert_eq!(row.status, Status::Running);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_looks_for_ever_before_it_acts_gets_no_record_and_acts() {
    let house = House::new(vec![calls("gaze"), ScriptedReply::says("done")]).await;
    let engine = house.engine("w1");
    let driving = engine.drive(house.claim(&engine).await);
    let driven = tokio::time::timeout(Duration::from_secs(600), driving).await;
    assert_eq!(driven.expect("in time").expect("works"), DriveEnd::Finished(Status::Succeeded));
    let entries = house.store.journal().entries(&house.run, 0, usize::MAX).await.expect("works");
    let before = entries.into_iter().find_map(|entry| match entry.kind {
        EntryKind::EffectStarted(started) => Some(started.before),
        _ => None,
    });
    assert_eq!(before, Some(serde_json::Value::Null));
    assert_eq!(house.endings().await, [Ending::Ok]);
}

/// It writes no entries, so the journal does not show whether it took place.
#[tokio::test(start_paused = true)]
async fn a_run_is_given_back_though_the_first_try_at_it_failed() {
    let house = House::new(vec![ScriptedReply::says("much later").after_ms(600_000)]).await;
    let engine = house.engine("w1");
    let claim = house.claim(&engine).await;
    let stop = async {
        house.clock.pause(1_000).await;
        house.flaky.fail_commits.store(1, SeqCst);
        engine.stop();
    };
    let (driven, ()) = tokio::join!(engine.drive(claim), stop);
    assert_eq!(driven.expect("works"), DriveEnd::Released);
    assert_eq!(house.flaky.fail_commits.load(SeqCst), 0, "there was a failure");
    assert_eq!(house.status().await, Status::Queued);
}

/// The same commit, and this time it did take place.
#[tokio::test(start_paused = true)]
async fn a_run_is_given_back_once_though_the_reply_was_lost() {
    let house = House::new(vec![ScriptedReply::says("much later").after_ms(600_000)]).await;
    let engine = house.engine("w1");
    let claim = house.claim(&engine).await;
    let stop = async {
        house.clock.pause(1_000).await;
        house.flaky.lose_commit_in.store(1, SeqCst);
        engine.stop();
    };
    let (driven, ()) = tokio::join!(engine.drive(claim), stop);
    assert_eq!(driven.expect("works"), DriveEnd::Released);
    assert_eq!(house.status().await, Status::Queued);
}
