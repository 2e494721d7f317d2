//! The comparison that a page started. It goes on without the page, and its table is kept.

use crate::comparing::{ComparisonNews, ComparisonRequest};
use crate::problem::{Problem, ProblemCode};
use crate::state::ServerState;
use everloop_app::comparison::KeptComparison;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc::Receiver;
use tokio_util::sync::CancellationToken;

/// How far a comparison is.
#[derive(Debug, Clone, Default)]
pub(crate) struct ComparisonProgress {
    /// Runs that are over.
    pub(crate) done: usize,
    /// Runs in all.
    pub(crate) all: usize,
    /// Of each loop, the runs that are over and those that were done.
    pub(crate) loops: BTreeMap<String, (usize, usize)>,
    stop: CancellationToken,
}

/// How the last comparison of this process ended, if it ended without a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ComparisonFailure {
    /// A person stopped it.
    Stopped,
    /// Nobody knows why.
    Broken,
    /// Its table cannot be kept.
    NotKept(String),
}

#[derive(Default)]
struct DeskState {
    under_way: Option<ComparisonProgress>,
    failure: Option<ComparisonFailure>,
    /// How many have ended.
    ended: usize,
}

/// At most one comparison at a time.
#[derive(Default)]
pub(crate) struct ComparisonDesk(Mutex<DeskState>);

impl ComparisonDesk {
    fn state(&self) -> MutexGuard<'_, DeskState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The comparison that is under way.
    pub(crate) fn progress(&self) -> Option<ComparisonProgress> {
        self.state().under_way.clone()
    }

    /// Why the last one has no table.
    pub(crate) fn failure(&self) -> Option<ComparisonFailure> {
        self.state().failure.clone()
    }

    /// What differs whenever something changed.
    pub(crate) fn stamp(&self) -> (usize, usize) {
        let state = self.state();
        (state.ended, state.under_way.as_ref().map_or(0, |one| one.done + 1))
    }

    /// Stops the one that is under way.
    pub(crate) fn stop(&self) {
        if let Some(under_way) = &self.state().under_way {
            under_way.stop.cancel();
        }
    }

    fn note(&self, done: usize, all: usize, cell: &Value) {
        let mut state = self.state();
        let Some(under_way) = &mut state.under_way else { return };
        (under_way.done, under_way.all) = (done, all);
        let name = cell["loop"].as_str().unwrap_or_default().to_owned();
        let (over, good) = under_way.loops.entry(name).or_default();
        *over += 1;
        *good += usize::from(cell["succeeded"].as_u64().is_some_and(|count| count > 0));
    }
}

/// Begins a comparison that goes on without whoever asked for it.
///
/// # Errors
/// If another one is under way, something cannot be compared, or it cannot be noted.
pub(crate) fn begin(state: &ServerState, request: ComparisonRequest) -> Result<(), Problem> {
    let Some(comparison) = &state.comparison else { return Err(ProblemCode::NoSuchRoute.bare()) };
    let place = state.comparing.clone().try_acquire_owned();
    let place =
        place.map_err(|_| ProblemCode::Conflict.because("another comparison is under way"))?;
    let wanted = wanted(&request);
    let news = comparison.begin(request);
    let news = news.map_err(|words| ProblemCode::InvalidInput.because(words))?;
    let noted = KeptComparison::UnderWay.keep(&state.app, &wanted);
    noted.map_err(|error| ProblemCode::Internal.because(error.to_string()))?;
    let stop = CancellationToken::new();
    let progress = ComparisonProgress { stop: stop.clone(), ..ComparisonProgress::default() };
    {
        let mut desk = state.comparisons.state();
        (desk.under_way, desk.failure) = (Some(progress), None);
    }
    let state = state.clone();
    // A task of its own: if it panics, the comparison has ended all the same.
    let following = tokio::spawn(follow(state.clone(), news, stop));
    tokio::spawn(async move {
        let failure = following.await.unwrap_or(Some(ComparisonFailure::Broken));
        KeptComparison::UnderWay.forget(&state.app);
        let mut desk = state.comparisons.state();
        (desk.under_way, desk.failure) = (None, failure);
        desk.ended += 1;
        drop(place);
    });
    Ok(())
}

/// Shows how a comparison comes on, and keeps its table. Why there is none, if there is none.
async fn follow(
    state: ServerState,
    mut news: Receiver<ComparisonNews>,
    stop: CancellationToken,
) -> Option<ComparisonFailure> {
    loop {
        let said = tokio::select! {
            () = stop.cancelled() => return Some(ComparisonFailure::Stopped),
            said = news.recv() => said,
        };
        match said {
            Some(ComparisonNews::Ended { done, all, cell }) => {
                state.comparisons.note(done, all, &cell);
            }
            Some(ComparisonNews::Table(table)) => return keep(&state, &table),
            None => return Some(ComparisonFailure::Broken),
        }
    }
}

fn keep(state: &ServerState, table: &Value) -> Option<ComparisonFailure> {
    let kept = KeptComparison::Table.keep(&state.app, table);
    kept.err().map(|error| ComparisonFailure::NotKept(error.to_string()))
}

/// What was asked for, in the words of the table.
fn wanted(request: &ComparisonRequest) -> Value {
    let tasks: Vec<Value> = request.tasks.iter().map(|name| json!({"name": name})).collect();
    json!({
        "loops": request.loops,
        "models": request.models,
        "tasks": tasks,
        "seed": request.seed,
        "runs_per_cell": request.runs,
    })
}
