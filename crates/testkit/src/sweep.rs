//! Sweeps: the same scenario, disturbed at every point, one point after the other.

use crate::invariants::{Ending, check};
use crate::points::Point;
use crate::scenario::Scenario;
use crate::stage::{Stage, Went};
use everloop_engine::DriveError;
use everloop_types::Status;
use everloop_types::journal::Letter;
use std::time::Duration;

/// Points after a restart at which the second crash comes: well past the end of the recovery
/// itself.
const RECOVERY_POINTS: usize = 12;

/// What a sweep came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Disturbances that took place.
    pub points: usize,
    /// Of those, runs that ended with an unknown outcome.
    pub unsettled: usize,
}

impl Swept {
    /// Adds another sweep's numbers.
    pub fn add(&mut self, other: Self) {
        self.points += other.points;
        self.unsettled += other.unsettled;
    }

    fn count(&mut self, ending: &Ending) {
        self.points += 1;
        self.unsettled += usize::from(ending.status == Status::Unsettled);
    }
}

/// Plays the scenario with nothing in its way.
async fn undisturbed(scenario: &Scenario) -> (Ending, Vec<Point>) {
    let mut stage = Stage::set(scenario).await;
    let before = stage.points.passed();
    stage.play_on().await;
    let ending = expect(scenario, "undisturbed", check(&stage).await);
    assert_eq!(ending.status, scenario.ends, "{}: {}", scenario.name, ending.text);
    (ending, stage.points.seen().split_off(before))
}

fn expect(scenario: &Scenario, place: &str, checked: Result<Ending, String>) -> Ending {
    checked.unwrap_or_else(|broken| panic!("{} / {place}: {broken}", scenario.name))
}

/// A disturbed run ends like the undisturbed one, unless an outcome is unknown.
fn same_end(scenario: &Scenario, place: &str, calm: &Ending, ending: &Ending) {
    if ending.unknowns == 0 {
        assert_eq!(ending, calm, "{} / {place}", scenario.name);
    } else {
        assert_eq!(ending.status, Status::Unsettled, "{} / {place}", scenario.name);
    }
}

/// Crashes the process at every point, once.
///
/// # Panics
/// With the scenario and the point at the first invariant that does not hold.
pub async fn sweep_crashes(scenario: &Scenario) -> Swept {
    let (calm, points) = undisturbed(scenario).await;
    let mut swept = Swept::default();
    for (n, kind) in points.iter().enumerate() {
        let mut stage = Stage::set(scenario).await;
        stage.points.halt_at(n);
        stage.play_on().await;
        let place = format!("crash at point {n} ({kind:?})");
        let ending = expect(scenario, &place, check(&stage).await);
        same_end(scenario, &place, &calm, &ending);
        swept.count(&ending);
    }
    swept
}

/// Crashes the process at every point, and the next one at every point of its recovery.
///
/// # Panics
/// With the scenario and both points at the first invariant that does not hold.
pub async fn sweep_double_crashes(scenario: &Scenario) -> Swept {
    let (calm, points) = undisturbed(scenario).await;
    let mut swept = Swept::default();
    for first in 0..points.len() {
        for second in 0..RECOVERY_POINTS {
            let mut stage = Stage::set(scenario).await;
            stage.points.halt_at(first);
            let mut crashes = 0;
            while crashes == 0 && stage_is_open(&stage).await {
                stage.answer_open_question().await;
                crashes += usize::from(matches!(stage.play_once().await, Went::Died));
            }
            let passed = stage.points.passed();
            stage.points.halt_at(second);
            stage.play_on().await;
            if stage.points.passed() - passed <= second {
                break;
            }
            let place = format!("crash at point {first}, then {second} later");
            let ending = expect(scenario, &place, check(&stage).await);
            same_end(scenario, &place, &calm, &ending);
            swept.count(&ending);
        }
    }
    swept
}

/// Cancels the run at every point: one ending, every effect with its outcome.
///
/// # Panics
/// With the scenario and the point at the first invariant that does not hold.
pub async fn sweep_cancels(scenario: &Scenario) -> Swept {
    let (calm, points) = undisturbed(scenario).await;
    let mut swept = Swept::default();
    for (n, kind) in points.iter().enumerate() {
        let mut stage = Stage::set(scenario).await;
        stage.points.halt_at(n);
        while stage_is_open(&stage).await {
            stage.answer_open_question().await;
            drive_and_cancel(&mut stage).await;
        }
        let place = format!("cancel at point {n} ({kind:?})");
        let ending = expect(scenario, &place, check(&stage).await);
        let ended_before = ending.status == calm.status;
        assert!(ending.status == Status::Canceled || ended_before, "{} / {place}", scenario.name);
        swept.count(&ending);
    }
    swept
}

/// Every commit takes place once while its caller is told that nobody knows.
///
/// # Panics
/// With the scenario and the point at the first invariant that does not hold.
pub async fn sweep_lost_replies(scenario: &Scenario) -> Swept {
    let (calm, points) = undisturbed(scenario).await;
    let mut swept = Swept::default();
    for (n, kind) in points.iter().enumerate().filter(|(_, kind)| **kind == Point::BeforeCommit) {
        let mut stage = Stage::set(scenario).await;
        stage.points.lose_reply_at(n);
        stage.play_on().await;
        let place = format!("reply lost at point {n} ({kind:?})");
        let ending = expect(scenario, &place, check(&stage).await);
        same_end(scenario, &place, &calm, &ending);
        swept.count(&ending);
    }
    swept
}

/// Holds the owner at every commit, lets another take over and finish, then wakes the first.
///
/// Only at commits: an owner that sleeps inside a tool is beyond any journal. Locally such an owner
/// still
/// holds the lock, so nobody takes over; `start_by` and the deadline bound it elsewhere.
///
/// # Panics
/// With the scenario and the point at the first invariant that does not hold.
pub async fn sweep_stale_owners(scenario: &Scenario) -> Swept {
    let (_, points) = undisturbed(scenario).await;
    let mut swept = Swept::default();
    let at_commit = |kind: &Point| matches!(kind, Point::BeforeCommit | Point::AfterCommit);
    for (n, kind) in points.iter().enumerate().filter(|(_, kind)| at_commit(kind)) {
        let mut stage = Stage::set(scenario).await;
        stage.points.halt_at(n);
        let stale = stage.process();
        let (run, points) = (stage.run.clone(), stage.points.clone());
        let mut sleeping = std::pin::pin!(stale.claim_and_drive(&run));
        tokio::select! {
            biased;
            () = points.reached() => {}
            _ = &mut sleeping => continue,
        }
        stage.points.calm();
        // Longer than an intent is good for: whoever slept through it must not act on it.
        tokio::time::advance(Duration::from_secs(60)).await;
        stage.play_on().await;
        points.wake();
        let woken = sleeping.await;
        let place = format!("owner asleep at point {n} ({kind:?})");
        let held = matches!(woken, Went::Well(Err(DriveError::LeaseLost(_)) | Ok(_)) | Went::Idle);
        assert!(held, "{} / {place}: {woken:?}", scenario.name);
        let ending = expect(scenario, &place, check(&stage).await);
        swept.count(&ending);
    }
    swept
}

/// One process that is sent a cancel when it stands at its point, and then goes on.
async fn drive_and_cancel(stage: &mut Stage) {
    let process = stage.process();
    let (run, points) = (stage.run.clone(), stage.points.clone());
    let meddle = async {
        points.reached().await;
        // Past the points: the sender is another process.
        let letter = Letter::Cancel { by: "person".to_owned() };
        stage.store.send(&run, "cancel", &letter, 0).await.expect("the letter is written");
        points.wake();
        process.engine.cancel(&run, "person").await.expect("the bell rings");
    };
    let mut driving = std::pin::pin!(process.claim_and_drive(&run));
    tokio::select! {
        () = meddle => { driving.await; }
        _ = &mut driving => {}
    }
}

async fn stage_is_open(stage: &Stage) -> bool {
    let row = stage.store.run(&stage.run).await.expect("readable").expect("exists");
    !row.status.is_final()
}
