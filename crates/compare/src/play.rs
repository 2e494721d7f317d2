//! One run: a task under a loop with a model, from an empty stage to its checked end.

use crate::host::{Connected, Host, is_simulated};
use crate::policy;
use crate::stage::{Stage, StageError};
use crate::tally::{Cell, Ending, Tally};
use crate::tokens::Tokens;
use crate::{Latency, Scene, Task};
use everloop_engine::{Asked, DriveError, Driven, Engine, History};
use everloop_store::StoreError;
use everloop_types::journal::WaitingOn;
use everloop_types::{Counts, ModelError, QuestionKind, RunId, Status};
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long is waited before a model that is gone for now is asked again.
const MODEL_PAUSE: Duration = Duration::from_secs(2);

/// What is run.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) task: Arc<Task>,
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
    #[error("nobody may drive the run")]
    NotOurs,
}

/// What is known of a run that is over, or was left.
struct Seen {
    ending: Ending,
    counts: Counts,
    scene: Scene,
    wall_ms: u64,
}

/// Plays the part. What goes wrong around the run is an ending, too: the others go on.
pub(crate) async fn play(host: &dyn Host, tokens: &Tokens, part: &Part) -> Cell {
    let seen = attempt(host, tokens, part).await.unwrap_or_else(|error| Seen {
        ending: Ending::Broken(chain(&error)),
        counts: Counts::default(),
        scene: Scene::default(),
        wall_ms: 0,
    });
    let failed = part.task.failed(&seen.scene);
    let over = matches!(seen.ending, Ending::Ended(_));
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

async fn attempt(host: &dyn Host, tokens: &Tokens, part: &Part) -> Result<Seen, PlayError> {
    let stage = Stage::set(host, &part.task).await?;
    let model = model(host, tokens, part)?;
    let engine = stage.engine(host, model);
    let submission = stage.submission(host, &part.task, &part.loop_name, &part.model);
    let begun = Instant::now();
    let run = engine.submit(submission).await?;
    let driven = tokio::time::timeout(part.timeout, drive(&engine, &run, part)).await;
    let wall_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let ending = match driven {
        Ok(status) => Ending::Ended(status?.as_str().to_owned()),
        Err(_) => Ending::TimedOut,
    };
    let (scene, counts) = (stage.scene(&run).await?, counts(&stage, &run).await?);
    Ok(Seen { ending, counts, scene, wall_ms })
}

/// What the run has counted by itself, as its journal says.
async fn counts(stage: &Stage, run: &RunId) -> Result<Counts, StoreError> {
    let history = History::read(stage.store(), run).await?;
    let state = history.map(|history| history.state_at(i64::MAX)).transpose()?;
    Ok(state.map(|state| state.counts()).unwrap_or_default())
}

/// A policy counts its own tokens; an endpoint says what it has counted.
fn model(host: &dyn Host, tokens: &Tokens, part: &Part) -> Result<Connected, PlayError> {
    match policy::by_name(&part.model, part.seed, tokens.counter()) {
        Some(policy) => Ok((Arc::new(policy), part.model.clone())),
        None => host.connect(&part.model).map_err(PlayError::Model),
    }
}

/// Drives the run to its end, and answers its questions on the way.
async fn drive(engine: &Engine, run: &RunId, part: &Part) -> Result<Status, PlayError> {
    let (task, model) = (&part.task, part.model.as_str());
    let worker = &engine.identity().worker;
    loop {
        let claim = engine.store().queue().claim_run(worker, run, engine.clock().now()).await?;
        let claim = claim.ok_or(PlayError::NotOurs)?;
        match engine.drive(claim).await? {
            Driven::Finished(status) => return Ok(status),
            Driven::Parked(WaitingOn::Person { question }) => {
                let text = match question.kind {
                    QuestionKind::Ask => task.answer_to(&question.text),
                    QuestionKind::Approve if is_known_beforehand(model) => "yes",
                    // Everything in a sandbox is allowed already, and nothing of ours is killed.
                    QuestionKind::Approve | QuestionKind::Settle => "no",
                };
                let (text, by) = (text.to_owned(), "task".to_owned());
                engine.answer(run, Asked { question: question.id, text, by }).await?;
            }
            // The time-out of the run bounds this.
            Driven::Parked(WaitingOn::Model { .. }) => tokio::time::sleep(MODEL_PAUSE).await,
            // No task is handed on here: children would be counted apart.
            Driven::Parked(WaitingOn::Child { .. }) | Driven::Released => {
                return Err(PlayError::NotOurs);
            }
        }
    }
}

/// Whether what it calls stands in the task or in a script, which are the person's own.
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
