//! Sweeps: the same scenario, disturbed at every point, one point after the other.

mod owners;
mod switches;

pub use owners::{sweep_living_owners, sweep_stale_owners, sweep_takeovers};
pub use switches::sweep_switches;

use crate::invariants::{ComparableEnding, check, check_midway};
use crate::points::PointKind;
use crate::scenario::Scenario;
use crate::testbed::{ProcessEnd, Testbed, error_chain};
use everloop_types::Status;
use everloop_types::journal::{Entry, EntryKind, InboxMessage};

/// Points after a restart at which the second crash comes: more than the recovery itself has.
const RECOVERY_POINTS: usize = 12;

/// A run that has not ended after this many processes is given up.
const PROCESSES_MAX: usize = 100;

/// The result of a sweep.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SweepReport {
    /// Disturbances that took place.
    pub points: usize,
    /// Of those, runs that ended with an unknown outcome.
    pub unsettled: usize,
}

impl SweepReport {
    /// Adds another sweep's numbers.
    pub fn add(&mut self, other: Self) {
        self.points += other.points;
        self.unsettled += other.unsettled;
    }

    fn count(&mut self, ending: &ComparableEnding) {
        self.points += 1;
        self.unsettled += usize::from(ending.status == Status::Unsettled);
    }
}

/// One disturbance of one scenario, for failure messages.
struct SweepPosition<'s> {
    scenario: &'s Scenario,
    what: String,
}

impl SweepPosition<'_> {
    fn ensure(&self, holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
        if holds { Ok(()) } else { Err(self.broken(&otherwise())) }
    }

    fn broken(&self, why: &str) -> String {
        format!("{} / {}: {why}", self.scenario.name, self.what)
    }

    async fn play_on(&self, stage: &mut Testbed) -> Result<(), String> {
        stage.play_on().await.map_err(|why| self.broken(&why))
    }

    /// Continues to the end, and sends the message to the process that has halted at its point.
    async fn play_on_with(
        &self,
        stage: &mut Testbed,
        dedupe: &str,
        message: &InboxMessage,
    ) -> Result<(), String> {
        for _ in 0..PROCESSES_MAX {
            if stage.is_over().await {
                return Ok(());
            }
            stage.answer_open_question().await;
            stage.await_timer().await;
            self.drive_and_send(stage, dedupe, message).await?;
        }
        Err(self.broken("it does not end"))
    }

    /// One process that gets a message when it has halted at its point, and then continues.
    async fn drive_and_send(
        &self,
        stage: &mut Testbed,
        dedupe: &str,
        message: &InboxMessage,
    ) -> Result<PointArrival, String> {
        let process = stage.process();
        let (run, points) = (stage.run.clone(), stage.points.clone());
        let meddle = async {
            points.reached().await;
            process.engine.send(&run, dedupe, message).await.expect("the message is written");
            points.wake();
        };
        let mut driving = std::pin::pin!(process.claim_and_drive(&run));
        let (met, went) = tokio::select! {
            biased;
            () = meddle => (PointArrival::AtPoint, driving.await),
            went = &mut driving => (PointArrival::Ended, went),
        };
        if let ProcessEnd::Well(Err(error)) = went {
            return Err(self.broken(&error_chain(&error)));
        }
        check_midway(&stage.watched()).await.map_err(|why| self.broken(&why))?;
        Ok(met)
    }

    async fn check(&self, stage: &Testbed) -> Result<ComparableEnding, String> {
        check(&stage.watched()).await.map_err(|why| self.broken(&why))
    }

    /// A disturbed run ends like the undisturbed one, unless an outcome is unknown.
    fn same_end(&self, calm: &ComparableEnding, ending: &ComparableEnding) -> Result<(), String> {
        let same = match ending.unknowns {
            0 => ending == calm,
            _ => ending.status == Status::Unsettled,
        };
        self.ensure(same, || format!("it ended with {ending:?}, undisturbed with {calm:?}"))
    }
}

/// Plays the scenario without a disturbance.
async fn undisturbed(scenario: &Scenario) -> Result<(ComparableEnding, Vec<PointKind>), String> {
    let place = SweepPosition { scenario, what: "undisturbed".to_owned() };
    let mut stage = Testbed::set(scenario).await;
    let before = stage.points.passed();
    place.play_on(&mut stage).await?;
    let ending = place.check(&stage).await?;
    place.ensure(ending.status == scenario.ends, || format!("it ended with {ending:?}"))?;
    Ok((ending, stage.points.seen().split_off(before)))
}

/// Crashes the process at every point, once.
///
/// # Errors
/// The scenario, the point, and the first invariant that does not hold.
pub async fn sweep_crashes(scenario: &Scenario) -> Result<SweepReport, String> {
    let (calm, points) = undisturbed(scenario).await?;
    let mut swept = SweepReport::default();
    for (n, kind) in points.iter().enumerate() {
        let place = SweepPosition { scenario, what: format!("crash at point {n} ({kind:?})") };
        let mut stage = Testbed::set(scenario).await;
        stage.points.halt_at(n);
        place.play_on(&mut stage).await?;
        let ending = place.check(&stage).await?;
        place.same_end(&calm, &ending)?;
        swept.count(&ending);
    }
    Ok(swept)
}

/// Crashes the process at every point, and the next one at every point of its recovery.
///
/// # Errors
/// The scenario, both points, and the first invariant that does not hold.
pub async fn sweep_double_crashes(scenario: &Scenario) -> Result<SweepReport, String> {
    let (calm, points) = undisturbed(scenario).await?;
    let mut swept = SweepReport::default();
    for first in 0..points.len() {
        for second in 0..RECOVERY_POINTS {
            let what = format!("crash at point {first}, then {second} later");
            let place = SweepPosition { scenario, what };
            let mut stage = Testbed::set(scenario).await;
            stage.points.halt_at(first);
            let mut crashes = 0;
            while crashes == 0 && !stage.is_over().await {
                stage.answer_open_question().await;
                crashes += usize::from(matches!(stage.play_once().await, ProcessEnd::Died));
            }
            let passed = stage.points.passed();
            stage.points.halt_at(second);
            place.play_on(&mut stage).await?;
            if stage.points.passed() - passed <= second {
                break;
            }
            let ending = place.check(&stage).await?;
            place.same_end(&calm, &ending)?;
            swept.count(&ending);
        }
    }
    Ok(swept)
}

/// Cancels the run at every point: one ending, every effect with its outcome.
///
/// # Errors
/// The scenario, the point, and the first invariant that does not hold.
pub async fn sweep_cancels(scenario: &Scenario) -> Result<SweepReport, String> {
    let (calm, points) = undisturbed(scenario).await?;
    let mut swept = SweepReport::default();
    let message = InboxMessage::Cancel { by: "person".to_owned() };
    for (n, kind) in points.iter().enumerate() {
        let place = SweepPosition { scenario, what: format!("cancel at point {n} ({kind:?})") };
        let mut stage = Testbed::set(scenario).await;
        stage.points.halt_at(n);
        place.play_on_with(&mut stage, "cancel", &message).await?;
        let ending = place.check(&stage).await?;
        let ended = ending.status == Status::Canceled || ending.status == calm.status;
        place.ensure(ended, || format!("it ended with {ending:?}"))?;
        swept.count(&ending);
    }
    Ok(swept)
}

/// Every commit takes place once while its caller gets an error with an unknown outcome.
///
/// # Errors
/// The scenario, the point, and the first invariant that does not hold.
pub async fn sweep_lost_replies(scenario: &Scenario) -> Result<SweepReport, String> {
    let (calm, points) = undisturbed(scenario).await?;
    let mut swept = SweepReport::default();
    for (n, kind) in points.iter().enumerate().filter(|(_, kind)| **kind == PointKind::BeforeCommit)
    {
        let place = SweepPosition { scenario, what: format!("reply lost at point {n} ({kind:?})") };
        let mut stage = Testbed::set(scenario).await;
        stage.points.lose_reply_at(n);
        place.play_on(&mut stage).await?;
        let ending = place.check(&stage).await?;
        place.same_end(&calm, &ending)?;
        swept.count(&ending);
    }
    Ok(swept)
}

/// A message to the model arrives at every point, and an answer at every point of a run that was
/// woken and is about to wait again: no run waits with unread messages, and no message is lost.
///
/// # Errors
/// The scenario, the point, and the first invariant that does not hold.
pub async fn sweep_messages(scenario: &Scenario) -> Result<SweepReport, String> {
    let (_, points) = undisturbed(scenario).await?;
    let mut swept = SweepReport::default();
    let message = InboxMessage::Steer { text: "mind the sea too".to_owned() };
    for (n, kind) in points.iter().enumerate() {
        let place = SweepPosition { scenario, what: format!("a word at point {n} ({kind:?})") };
        let mut stage = Testbed::set(scenario).await;
        stage.points.halt_at(n);
        place.play_on_with(&mut stage, "word", &message).await?;
        let ending = place.check(&stage).await?;
        // The last commit is the ending: a message after that decision is too late.
        let heard = took(&stage, "word").await || n + 2 >= points.len();
        place.ensure(heard, || "the word was accepted and lost".to_owned())?;
        swept.count(&ending);
    }
    swept.add(sweep_answers(scenario).await?);
    Ok(swept)
}

/// The run waits, is woken by something else, and the answer arrives while it is about to park.
async fn sweep_answers(scenario: &Scenario) -> Result<SweepReport, String> {
    let mut swept = SweepReport::default();
    for n in 0.. {
        let place =
            SweepPosition { scenario, what: format!("the answer at point {n} after a wake-up") };
        let mut stage = Testbed::set(scenario).await;
        stage.play_once().await;
        let Some(question) = stage.open_question().await else { break };
        let wake = InboxMessage::Steer { text: "are you there?".to_owned() };
        let sent = stage.store.inbox().send(&stage.run, "wake", &wake, 0).await;
        place.ensure(sent.is_ok(), || format!("{sent:?}"))?;
        stage.points.halt_at(n);
        let answer = stage.answer_to(&question);
        if place.drive_and_send(&mut stage, &question.id, &answer).await? == PointArrival::Ended {
            break;
        }
        place.play_on(&mut stage).await?;
        let ending = place.check(&stage).await?;
        let heard = took(&stage, &question.id).await && took(&stage, "wake").await;
        place.ensure(heard, || "the answer was accepted and lost".to_owned())?;
        swept.count(&ending);
    }
    Ok(swept)
}

async fn took(stage: &Testbed, dedupe: &str) -> bool {
    let entries = stage.store.journal().entries(&stage.run, 0, usize::MAX).await.expect("readable");
    let taken = |entry: &Entry| matches!(&entry.kind, EntryKind::Input(i) if i.dedupe == dedupe);
    entries.iter().any(taken)
}

/// Whether a process reached its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PointArrival {
    AtPoint,
    Ended,
}
