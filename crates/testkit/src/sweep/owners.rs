//! Owners that sleep through a takeover, and wake when the run is over or has just been claimed.
//!
//! The journal cannot stop an owner that sleeps inside a tool. Locally it still holds the lock, so
//! no other process takes over; elsewhere `start_by` and the call's time limit bound it, and the
//! next owner waits that long.

use super::{SweepPosition, SweepReport, undisturbed};
use crate::points::PointKind;
use crate::scenario::Scenario;
use crate::testbed::{ProcessEnd, Testbed, error_chain};
use everloop_engine::DriveError;
use std::time::Duration;

/// Longer than an intent is valid: an owner that slept through it must not act on it.
const NAP: Duration = Duration::from_secs(60);

/// Shorter than the time limit of every simulated tool.
const DOZE: Duration = Duration::from_secs(10);

/// Before these the process does not have the run yet: it looks for orphans, and claims.
const POINTS_TO_CLAIM: usize = 3;

/// Holds the owner at every commit, lets another take over and finish, then wakes the first.
///
/// # Errors
/// The scenario, the point, and the first invariant that does not hold.
pub async fn sweep_stale_owners(scenario: &Scenario) -> Result<SweepReport, String> {
    let mut swept = SweepReport::default();
    for (n, kind) in commits(scenario).await? {
        let place =
            SweepPosition { scenario, what: format!("owner asleep at point {n} ({kind:?})") };
        let mut stage = Testbed::set(scenario).await;
        stage.points.halt_at(n);
        let stale = stage.process();
        let (run, points) = (stage.run.clone(), stage.points.clone());
        let mut sleeping = std::pin::pin!(stale.claim_and_drive(&run));
        tokio::select! {
            biased;
            () = points.reached() => {}
            _ = &mut sleeping => continue,
        }
        stage.points.stop_disturbing();
        tokio::time::advance(NAP).await;
        place.play_on(&mut stage).await?;
        let before = OwnerEffects::of(&stage).await;
        points.wake();
        let woken = sleeping.await;
        place.ensure(is_harmless(&woken), || format!("the stale owner: {woken:?}"))?;
        place.ensure(OwnerEffects::of(&stage).await == before, || stale_write(&woken))?;
        let ending = place.check(&stage).await?;
        swept.count(&ending);
    }
    Ok(swept)
}

/// Holds the owner at every commit, lets another claim the run, wakes the first before the other
/// has written anything, and lets the other finish.
///
/// # Errors
/// The scenario, the point, and the first invariant that does not hold.
pub async fn sweep_takeovers(scenario: &Scenario) -> Result<SweepReport, String> {
    let mut swept = SweepReport::default();
    for (n, kind) in commits(scenario).await?.into_iter().skip(POINTS_TO_CLAIM) {
        let place =
            SweepPosition { scenario, what: format!("run taken over at point {n} ({kind:?})") };
        let mut stage = Testbed::set(scenario).await;
        stage.points.halt_at(n);
        let (stale, heir) = (stage.process(), stage.process());
        let (run, points) = (stage.run.clone(), stage.points.clone());
        let mut sleeping = std::pin::pin!(stale.claim_and_drive(&run));
        tokio::select! {
            biased;
            () = points.reached() => {}
            _ = &mut sleeping => continue,
        }
        stage.points.stop_disturbing();
        tokio::time::advance(NAP).await;
        let Some(claim) = heir.claim(&run).await else { continue };
        let before = OwnerEffects::of(&stage).await;
        points.wake();
        let woken = sleeping.await;
        place.ensure(is_harmless(&woken), || format!("the stale owner: {woken:?}"))?;
        place.ensure(OwnerEffects::of(&stage).await == before, || stale_write(&woken))?;
        let driven = heir.engine.drive(claim).await;
        driven.map_err(|error| place.broken(&error_chain(&error)))?;
        place.play_on(&mut stage).await?;
        let ending = place.check(&stage).await?;
        swept.count(&ending);
    }
    Ok(swept)
}

/// Holds the owner inside every effect, lets another take over at once where owners may live, and
/// wakes the first while its call is still within its time.
///
/// # Errors
/// The scenario, the point, and the first invariant that does not hold.
pub async fn sweep_living_owners(scenario: &Scenario) -> Result<SweepReport, String> {
    let mut swept = SweepReport::default();
    let (_, points) = undisturbed(scenario).await?;
    let inside =
        |kind: &PointKind| matches!(kind, PointKind::BeforeEffect | PointKind::AfterEffect);
    for (n, kind) in points.into_iter().enumerate().filter(|(_, kind)| inside(kind)) {
        let place =
            SweepPosition { scenario, what: format!("owner alive at point {n} ({kind:?})") };
        let mut stage = Testbed::set(scenario).await;
        stage.rules.owners_may_live = true;
        stage.points.halt_at(n);
        let stale = stage.process();
        let (run, points) = (stage.run.clone(), stage.points.clone());
        let mut sleeping = std::pin::pin!(stale.claim_and_drive(&run));
        tokio::select! {
            biased;
            () = points.reached() => {}
            _ = &mut sleeping => continue,
        }
        stage.points.stop_disturbing();
        let wakes = async {
            tokio::time::sleep(DOZE).await;
            points.wake();
            sleeping.await
        };
        let (played, woken) = tokio::join!(place.play_on(&mut stage), wakes);
        played?;
        place.ensure(is_harmless(&woken), || format!("the living owner: {woken:?}"))?;
        let ending = place.check(&stage).await?;
        swept.count(&ending);
    }
    Ok(swept)
}

async fn commits(scenario: &Scenario) -> Result<Vec<(usize, PointKind)>, String> {
    let (_, points) = undisturbed(scenario).await?;
    let at_commit =
        |kind: &PointKind| matches!(kind, PointKind::BeforeCommit | PointKind::AfterCommit);
    Ok(points.into_iter().enumerate().filter(|(_, kind)| at_commit(kind)).collect())
}

fn is_harmless(woken: &ProcessEnd) -> bool {
    matches!(woken, ProcessEnd::Well(Err(DriveError::LeaseLost(_)) | Ok(_)) | ProcessEnd::Idle)
}

fn stale_write(woken: &ProcessEnd) -> String {
    format!("the stale owner wrote or acted after the takeover: {woken:?}")
}

/// Everything that an owner could change: the journal, the row, and effects that must not repeat.
#[derive(Debug, PartialEq, Eq)]
struct OwnerEffects {
    epoch: i64,
    next_seq: i64,
    acts: usize,
}

impl OwnerEffects {
    async fn of(stage: &Testbed) -> Self {
        let acts = stage.world.acts().iter().filter(|act| act.tool != "look").count();
        let mut all = Self { epoch: 0, next_seq: 0, acts };
        for run in stage.tree().await {
            let at = stage.store.runs().position(&run).await.expect("readable").expect("exists");
            all.epoch += at.epoch;
            all.next_seq += at.next_seq;
        }
        all
    }
}
