//! What earlier processes left: runs that go on now, and runs that wait for a model.

use super::background::{BackgroundTasks, DriveRight};
use crate::app::App;
use crate::error::AppError;
use crate::router::{Router, question_of};
use crate::runs::{self, RunDetails};
use everloop_engine::Engine;
use everloop_store::{Orphan, Store};
use everloop_types::journal::WaitingOn;
use everloop_types::{RunId, Status, UtcMs};
use std::sync::Arc;

/// What was there when the conversation was opened.
#[derive(Debug, Default)]
pub struct Leftovers {
    /// When the earlier process wrote last, if it left a run in the middle.
    pub left_at: Option<UtcMs>,
    /// Each run that it left.
    pub all: Vec<Leftover>,
    /// The runs of the conversation that this process takes up, the oldest first.
    pub runs: Vec<RunId>,
}

/// A run that an earlier process left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leftover {
    /// It was in the middle, and goes on; how many items of its plan are done, of how many.
    Interrupted {
        /// The run.
        run: RunId,
        /// Its goal.
        goal: String,
        /// Items that are done.
        done: usize,
        /// Items of its plan; 0 if it has none.
        items: usize,
    },
    /// It stalled too often and is not driven any more.
    Quarantined {
        /// The run.
        run: RunId,
        /// Its goal.
        goal: String,
    },
    /// It was ready, and nobody drove it.
    Queued {
        /// The run.
        run: RunId,
        /// Its goal.
        goal: String,
    },
    /// It waits for its model.
    WaitsForModel {
        /// The run.
        run: RunId,
        /// Its goal.
        goal: String,
        /// The model.
        model: String,
        /// What the model's provider said.
        detail: String,
    },
}

impl Leftovers {
    /// Says what there is to be driven, as it was left, and begins to drive.
    pub(super) async fn take_up(
        app: &App,
        engine: &Arc<Engine>,
        router: &Router,
    ) -> Result<(Self, BackgroundTasks), AppError> {
        let store = engine.store();
        let open = store.conversations().open_runs_of(&router.conversation).await?;
        let right = DriveRight::take(app, engine).await?;
        let mut left = Self::default();
        left.add_interrupted(app, store, &right.orphans).await?;
        let mut queued = Vec::new();
        for (run, status) in open.into_iter().rev() {
            let interrupted = right
                .orphans
                .iter()
                .any(|orphan| orphan.run == run && orphan.status_now != Status::Quarantined);
            match status {
                _ if interrupted => left.runs.push(run),
                Status::Queued if right.drives() => {
                    let goal =
                        store.runs().get(&run).await?.map(|row| row.goal).unwrap_or_default();
                    queued.push(Leftover::Queued { run: run.clone(), goal });
                    left.runs.push(run);
                }
                Status::Waiting => left.all.extend(waits_for_model(app, store, &run).await?),
                _ => {}
            }
        }
        left.all.extend(queued);
        Ok((left, right.begin(app, engine)))
    }

    async fn add_interrupted(
        &mut self,
        app: &App,
        store: &Store,
        orphans: &[Orphan],
    ) -> Result<(), AppError> {
        for orphan in orphans {
            let details = RunDetails::read(app, store, &orphan.run).await?;
            let last = details.history.entries.last().map_or(0, |entry| entry.at);
            self.left_at = Some(self.left_at.unwrap_or(0).max(last));
            let run = orphan.run.clone();
            let goal = orphan.goal.clone();
            self.all.push(match orphan.status_now {
                Status::Quarantined => Leftover::Quarantined { run, goal },
                _ => {
                    let items = &details.progress.items;
                    let done = items.iter().filter(|item| item.is_done()).count();
                    Leftover::Interrupted { run, goal, done, items: items.len() }
                }
            });
        }
        Ok(())
    }
}

/// A run that waits for its model, and would otherwise be heard of only at its end.
async fn waits_for_model(
    app: &App,
    store: &Store,
    run: &RunId,
) -> Result<Option<Leftover>, AppError> {
    if question_of(store, run).await?.is_some() {
        return Ok(None);
    }
    let front = runs::front(store, run).await?;
    let details = RunDetails::read(app, store, &front).await?;
    let Some(WaitingOn::Model { error }) = details.waiting_on else { return Ok(None) };
    Ok(Some(Leftover::WaitsForModel {
        run: run.clone(),
        goal: details.row.goal,
        model: details.history.frame().model.name.clone(),
        detail: error.detail,
    }))
}
