//! A switch to another loop, wanted at every point, and a crash at every point after that.
//!
//! ```text
//!   wanted at n ──► process dies m points later ──► others go on ──► the run ended, and why
//!                                                        └──► the heir plays to its end
//! ```

use super::{RECOVERY_POINTS, SweepPosition, SweepReport, undisturbed};
use crate::invariants::ComparableEnding;
use crate::scenario::{Scenario, heir_of};
use crate::testbed::{ProcessEnd, Testbed, error_chain};
use everloop_engine::History;
use everloop_loops::Decision;
use everloop_types::journal::{EntryKind, Outcome};
use everloop_types::{Frame, Limits, RunId, Status};

/// A request to switch that was sent to a process when it had halted at its point.
struct SwitchRequest {
    /// The heir's name.
    heir: RunId,
    /// Whether the process died at its other point.
    died: bool,
}

/// Switches the loop at every point, with a crash at every point of what follows.
///
/// # Errors
/// The scenario, both points, and the first invariant that does not hold.
pub async fn sweep_switches(scenario: &Scenario) -> Result<SweepReport, String> {
    let (calm, points) = undisturbed(scenario).await?;
    let mut swept = SweepReport::default();
    for (n, kind) in points.iter().enumerate() {
        for crash in 0..RECOVERY_POINTS {
            let what = format!("switch at point {n} ({kind:?}), crash {crash} later");
            let place = SweepPosition { scenario, what };
            let mut stage = Testbed::set(scenario).await;
            let requested = place.play_on_switching(&mut stage, n, crash).await?;
            let Some(SwitchRequest { heir, died }) = requested else { break };
            let ending = place.check(&stage).await?;
            let handed = place.one_of_both(&stage, &heir).await?;
            let answered = answered(&stage).await;
            place.ended_as_requested(&calm, &ending, handed, answered)?;
            place.check_unknown_outcomes(&stage, died).await?;
            swept.count(&ending);
            // The heir is the same whether a process crashed or not: it is played only without a
            // crash.
            if !died {
                if handed {
                    place.heir_ends_well(&mut stage, &heir).await?;
                }
                break;
            }
        }
    }
    Ok(swept)
}

/// Whether some reply of the model was the first run's answer.
async fn answered(stage: &Testbed) -> bool {
    let history = History::read(&stage.store, &stage.run).await.expect("readable");
    let history = history.expect("exists");
    let replied = |kind: &EntryKind| match kind {
        EntryKind::EffectFinished(finished) => matches!(finished.outcome, Outcome::Replied(_)),
        _ => false,
    };
    history.entries.iter().filter(|entry| replied(&entry.kind)).any(|entry| {
        let state = history.state_at(entry.seq).expect("foldable");
        matches!(state.decide(), Decision::Finish { reason: None, .. })
    })
}

impl SweepPosition<'_> {
    /// Continues to the end of the first run; `None` if no process reached the point.
    async fn play_on_switching(
        &self,
        stage: &mut Testbed,
        n: usize,
        crash: usize,
    ) -> Result<Option<SwitchRequest>, String> {
        stage.points.halt_at(n);
        let mut requested = None;
        for _ in 0..super::PROCESSES_MAX {
            if stage.is_over().await {
                return Ok(requested);
            }
            stage.answer_open_question().await;
            match &requested {
                None => requested = self.request_switch(stage, crash).await?,
                Some(SwitchRequest { heir, .. }) => {
                    match stage.play_once().await {
                        ProcessEnd::Died => stage.points.stop_disturbing(),
                        ProcessEnd::Well(Ok(_)) | ProcessEnd::Idle => {}
                        ProcessEnd::Well(Err(error)) => {
                            return Err(self.broken(&error_chain(&error)));
                        }
                    }
                    self.one_of_both(stage, heir).await?;
                }
            }
        }
        Err(self.broken("it does not end"))
    }

    /// One process that is asked to switch when it has halted at its point, and dies later.
    async fn request_switch(
        &self,
        stage: &mut Testbed,
        crash: usize,
    ) -> Result<Option<SwitchRequest>, String> {
        let process = stage.process();
        let (run, points) = (stage.run.clone(), stage.points.clone());
        // The limits of the first run do not apply to the heir.
        let frame = Frame { limits: Limits::default(), ..stage.frame() };
        let name = heir_of(stage.scenario.loop_name);
        let mut driving = std::pin::pin!(process.claim_and_drive(&run));
        let reached = tokio::select! {
            biased;
            () = points.reached() => None,
            went = &mut driving => Some(went),
        };
        if let Some(went) = reached {
            return match went {
                ProcessEnd::Well(Err(error)) => Err(self.broken(&error_chain(&error))),
                _ => Ok(None),
            };
        }
        let requested = process.engine.switch(&run, name, &frame, String::new()).await;
        let (heir, _) = requested.map_err(|error| self.broken(&error_chain(&error)))?;
        points.wake_until(crash);
        let went = tokio::select! {
            biased;
            () = points.reached() => ProcessEnd::Died,
            went = &mut driving => went,
        };
        points.stop_disturbing();
        if let ProcessEnd::Well(Err(error)) = &went {
            return Err(self.broken(&error_chain(error)));
        }
        self.one_of_both(stage, &heir).await?;
        Ok(Some(SwitchRequest { heir, died: matches!(went, ProcessEnd::Died) }))
    }

    /// Never both, never neither: the heir is there if and only if the first has ended for it.
    async fn one_of_both(&self, stage: &Testbed, heir: &RunId) -> Result<bool, String> {
        let history = History::read(&stage.store, &stage.run).await.expect("readable");
        let state = history.expect("exists").state_at(i64::MAX).expect("foldable");
        let named = state.successor() == Some(heir);
        let exists = stage.store.runs().get(heir).await.expect("readable").is_some();
        self.ensure(named == exists, || {
            format!("the first names its heir: {named}, the heir exists: {exists}")
        })?;
        Ok(exists)
    }

    /// It ended for its heir, or as usual because the answer came first, or because a person did
    /// not answer.
    fn ended_as_requested(
        &self,
        calm: &ComparableEnding,
        ending: &ComparableEnding,
        handed: bool,
        answered: bool,
    ) -> Result<(), String> {
        let unknown = ending.unknowns > 0;
        let fits = match (handed, ending.status) {
            (true, status) => status == Status::Canceled && !unknown && !answered,
            (false, Status::Canceled) => unknown && !answered && ending.text.contains("fork"),
            (false, Status::Unsettled) => unknown,
            (false, _) => ending == calm,
        };
        let state = format!("an heir: {handed}, an answer: {answered}");
        self.ensure(fits, || format!("it ended with {ending:?} ({state})"))
    }

    /// Started effects are finished, or probed where that is possible: a switch leaves no more
    /// unknown outcomes than a crash does.
    async fn check_unknown_outcomes(&self, stage: &Testbed, died: bool) -> Result<(), String> {
        let history = History::read(&stage.store, &stage.run).await.expect("readable");
        let state = history.expect("exists").state_at(i64::MAX).expect("foldable");
        // An unknown outcome of a child is unknown to its parent.
        let dark = ["strike", "launch", "toss", "delegate"];
        let nobody_knows = |tool: &str| died && dark.contains(&tool);
        let odd = state.unknowns().iter().find(|open| !nobody_knows(&open.call.tool));
        self.ensure(odd.is_none(), || format!("it could be known what became of {odd:?}"))
    }

    async fn heir_ends_well(&self, stage: &mut Testbed, heir: &RunId) -> Result<(), String> {
        let before = stage.world.clone();
        let done = before.acts();
        stage.take_over(heir.clone(), heir_of(stage.scenario.loop_name));
        self.play_on(stage).await?;
        let ending = self.check(stage).await?;
        self.ensure(ending.status == Status::Succeeded, || format!("the heir: {ending:?}"))?;
        let acts = stage.world.acts();
        let struck = acts.iter().filter(|act| act.tool == "strike").count();
        self.ensure(struck == 1 && acts.len() == 1, || format!("the heir did {acts:?}"))?;
        self.ensure(before.acts() == done, || "the first still acts".to_owned())
    }
}
