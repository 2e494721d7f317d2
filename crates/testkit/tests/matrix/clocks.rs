//! Row 23: clocks that are set, and machines that sleep.

use everloop_engine::{
    DriveEnd, Engine, EngineRules, Environment, Submission, Worker, WorkerIdentity,
};
use everloop_models::{ScriptedModel, ScriptedReply};
use everloop_ports::{Clock, Model, Pause, Registry};
use everloop_store::Store;
use everloop_testkit::VirtualClock;
use everloop_types::journal::EntryKind;
use everloop_types::{
    Frame, Goal, ModelChoice, ModelError, ModelErrorKind, RunId, Status, UtcMs, WorkerId,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

const HOUR: i64 = 3_600_000;

/// A wall clock that can be set.
struct Set(VirtualClock, AtomicI64);

impl Clock for Set {
    fn now(&self) -> UtcMs {
        self.0.now() + self.1.load(Ordering::SeqCst)
    }
    fn since_boot_ms(&self) -> u64 {
        self.0.since_boot_ms()
    }
    fn pause(&self, ms: u64) -> Pause<'_> {
        Box::pin(tokio::time::sleep(std::time::Duration::from_millis(ms)))
    }
}

struct Props(Arc<ScriptedModel>);

impl Environment for Props {
    fn model(&self, _: &ModelChoice) -> Result<(Arc<dyn Model>, String), ModelError> {
        Ok((self.0.clone(), "x".to_owned()))
    }
    fn tools(&self, _: &Frame) -> Arc<Registry> {
        Arc::default()
    }
}

/// A run that waits for its model for five minutes.
async fn parked(clock: &Arc<Set>) -> (Arc<Engine>, RunId) {
    let mut error = ModelError::new(ModelErrorKind::RateLimited, "later");
    error.retry_after_ms = Some(300_000);
    let reply = ScriptedReply { fail: vec![error], ..ScriptedReply::says("hello") };
    let means = Arc::new(Props(Arc::new(ScriptedModel::new(vec![reply]))));
    let identity = WorkerIdentity { worker: WorkerId::new("w"), build: "test".to_owned() };
    let engine =
        Engine::new(Store::memory(), means, clock.clone(), identity, EngineRules::default());
    let model = ModelChoice { name: "scripted/x".to_owned(), ..ModelChoice::default() };
    let frame = Frame { model, time_zone: "UTC".to_owned(), ..Frame::default() };
    let goal = Goal { text: "goal".to_owned(), ..Goal::default() };
    let loop_name = "react".to_owned();
    let run = engine
        .submit(Submission { loop_name, goal, frame, idem_key: None, profile: Default::default() })
        .await
        .unwrap();
    let claim =
        engine.store().queue().claim_run(&engine.identity().worker, &run, clock.now()).await;
    let driven = engine.drive(claim.unwrap().unwrap()).await.unwrap();
    assert!(matches!(driven, DriveEnd::Parked(_)), "{driven:?}");
    (engine, run)
}

/// Sets the clock, lets time pass, and counts the resulting claims and attempts.
async fn claims_after(jump_ms: i64, pass_ms: u64) -> (Status, i64, usize) {
    let clock = Arc::new(Set(VirtualClock::default(), AtomicI64::new(0)));
    let (engine, run) = parked(&clock).await;
    clock.1.store(jump_ms, Ordering::SeqCst);
    clock.pause(pass_ms).await;
    for _ in 0..3 {
        Worker::new(engine.clone(), 4).drain(|_| {}).await.unwrap();
    }
    let row = engine.store().runs().get(&run).await.unwrap().unwrap();
    let entries = engine.store().journal().entries(&run, 0, usize::MAX).await.unwrap();
    let replies = entries.iter().filter(|e| matches!(e.kind, EntryKind::EffectFinished(_))).count();
    (row.status, row.lease.epoch, replies)
}

#[tokio::test(start_paused = true)]
async fn row_23_a_timer_fires_once_however_the_clock_is_set_and_however_long_it_slept() {
    assert_eq!(claims_after(0, 1_000).await, (Status::Waiting, 1, 0), "not before its time");
    assert_eq!(claims_after(0, 300_001).await, (Status::Succeeded, 2, 1), "in time");
    assert_eq!(claims_after(HOUR, 1).await, (Status::Succeeded, 2, 1), "an hour ahead");
    assert_eq!(claims_after(-HOUR, 300_001).await, (Status::Waiting, 1, 0), "an hour back");
    let later = claims_after(-HOUR, 300_001 + 3_600_000).await;
    assert_eq!(later, (Status::Succeeded, 2, 1), "and caught up");
    assert_eq!(claims_after(0, 8 * 3_600_000).await, (Status::Succeeded, 2, 1), "slept 8 h");
}
