//! One run: a task under a loop with a model, from an empty stage to its checked end.

use crate::host::{ContestHost, ContestModel, is_simulated};
use crate::policy;
use crate::stage::{StageError, TaskStage};
use crate::tally::{Cell, ContestEnding, Tally};
use crate::tokens::TokenCache;
use crate::{ContestTask, Latency, Scene};
use everloop_engine::{DriveEnd, DriveError, Engine, History, QuestionAnswer};
use everloop_store::StoreError;
use everloop_types::journal::WaitingOn;
use everloop_types::{Counts, ModelError, QuestionKind, RunId, Status};
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The pause before a temporarily unavailable model is asked again.
const MODEL_PAUSE: Duration = Duration::from_secs(2);

/// What is run.
#[derive(Debug, Clone)]
pub(crate) struct ContestRun {
    pub(crate) task: Arc<ContestTask>,
    pub(crate) loop_name: String,
    pub(crate) model: String,
    pub(crate) seed: u64,
    pub(crate) timeout: Duration,
    pub(crate) latency: Option<Latency>,
}

/// Why a run has no figures.
#[derive(Debug, thiserror::Error)]
enum PlayError {
    #[error(transparent)]
    Stage(#[from] StageError),
    #[error("the store failed")]
    Store(#[from] StoreError),
    #[error(transparent)]
    Drive(#[from] DriveError),
    #[error("the model cannot be asked: {}", .0.detail)]
    Model(ModelError),
    #[error("the run cannot be driven")]
    NotOurs,
}

/// What is known about a run that is over or was abandoned.
struct RunFacts {
    ending: ContestEnding,
    counts: Counts,
    scene: Scene,
    wall_ms: u64,
}

/// Plays the run. An error outside the run is an ending, too, and the other runs continue.
pub(crate) async fn play(host: &dyn ContestHost, tokens: &TokenCache, part: &ContestRun) -> Cell {
    let seen = attempt(host, tokens, part).await.unwrap_or_else(|error| RunFacts {
        ending: ContestEnding::Broken(chain(&error)),
        counts: Counts::default(),
        scene: Scene::default(),
        wall_ms: 0,
    });
    let failed = part.task.failed(&seen.scene);
    let over = matches!(seen.ending, ContestEnding::Ended(_));
    let has_words = over && !seen.scene.answer.trim().is_empty();
    let wall_ms = match part.latency.filter(|_| is_simulated(&part.model)) {
        Some(latency) => latency.of(&seen.counts),
        None => seen.wall_ms,
    };
    let tally = Tally {
        succeeded: u64::from(over && failed.is_empty()),
        ended_with_words: u64::from(has_words),
        ..Tally::of(&seen.counts, wall_ms)
    };
    Cell {
        model: part.model.clone(),
        loop_name: part.loop_name.clone(),
        task: part.task.name.clone(),
        seed: part.seed,
        ending: seen.ending,
        failed_checks: failed.into_iter().map(crate::Check::shown).collect(),
        answer: seen.scene.answer,
        tally,
    }
}

async fn attempt(
    host: &dyn ContestHost,
    tokens: &TokenCache,
    part: &ContestRun,
) -> Result<RunFacts, PlayError> {
    let stage = TaskStage::set(host, &part.task).await?;
    let model = model(host, tokens, part)?;
    let engine = stage.engine(host, model);
    let submission = stage.submission(host, &part.task, &part.loop_name, &part.model);
    let begun = Instant::now();
    let run = engine.submit(submission).await?;
    let driven = tokio::time::timeout(part.timeout, drive(&engine, &run, part)).await;
    let wall_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let ending = match driven {
        Ok(status) => ContestEnding::Ended(status?.as_str().to_owned()),
        Err(_) => ContestEnding::TimedOut,
    };
    let (scene, counts) = (stage.scene(&run).await?, counts(&stage, &run).await?);
    Ok(RunFacts { ending, counts, scene, wall_ms })
}

/// The counts of the run by its journal.
async fn counts(stage: &TaskStage, run: &RunId) -> Result<Counts, StoreError> {
    let history = History::read(stage.store(), run).await?;
    let state = history.map(|history| history.state_at(i64::MAX)).transpose()?;
    Ok(state.map(|state| state.counts()).unwrap_or_default())
}

/// A policy counts its own tokens; an endpoint says what it has counted.
fn model(
    host: &dyn ContestHost,
    tokens: &TokenCache,
    part: &ContestRun,
) -> Result<ContestModel, PlayError> {
    match policy::by_name(&part.model, part.seed, tokens.counter()) {
        Some(policy) => Ok((Arc::new(policy), part.model.clone())),
        None => host.connect(&part.model).map_err(PlayError::Model),
    }
}

/// Drives the run to its end, and answers its questions on the way.
async fn drive(engine: &Engine, run: &RunId, part: &ContestRun) -> Result<Status, PlayError> {
    let (task, model) = (&part.task, part.model.as_str());
    let worker = &engine.identity().worker;
    loop {
        let claim = engine.store().queue().claim_run(worker, run, engine.clock().now()).await?;
        let claim = claim.ok_or(PlayError::NotOurs)?;
        match engine.drive(claim).await? {
            DriveEnd::Finished(status) => return Ok(status),
            DriveEnd::Parked(WaitingOn::Person { question }) => {
                let text = match question.kind {
                    QuestionKind::Ask => task.answer_to(&question.text),
                    QuestionKind::Approve if is_known_beforehand(model) => "yes",
                    // Sandboxed calls are allowed already, and no process of ours is killed.
                    QuestionKind::Approve | QuestionKind::Settle => "no",
                };
                let (text, by) = (text.to_owned(), "task".to_owned());
                engine.answer(run, QuestionAnswer { question: question.id, text, by }).await?;
            }
            // The time-out of the run bounds this.
            DriveEnd::Parked(WaitingOn::Model { .. }) => tokio::time::sleep(MODEL_PAUSE).await,
            // Tasks are not delegated here: children would be counted separately.
            // Nor does a task sleep.
            DriveEnd::Parked(WaitingOn::Child { .. } | WaitingOn::Timer { .. })
            | DriveEnd::Released => {
                return Err(PlayError::NotOurs);
            }
        }
    }
}

/// Whether the model's calls come from the task or a script, which the user wrote.
fn is_known_beforehand(model: &str) -> bool {
    is_simulated(model) || model.split('/').next() == Some("scripted")
}

/// An error with all its causes.
fn chain(error: &dyn Error) -> String {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        words = format!("{words}: {cause}");
        source = cause.source();
    }
    words
}

#[cfg(test)]
#[path = "play_tests.rs"]
mod tests;
