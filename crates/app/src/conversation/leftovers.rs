//! What earlier processes left: runs that go on now, and runs that wait for a model.

use crate::app::App;
use crate::background::{BackgroundTasks, DriveRight};
use crate::conversations::{ConversationChannel, ListedConversation};
use crate::error::AppError;
use crate::router::question_of;
use crate::runs::{self, RunDetails};
use everloop_engine::Engine;
use everloop_store::{ConversationRow, Orphan, Store};
use everloop_types::journal::WaitingOn;
use everloop_types::{ConversationId, RunId, Status, UtcMs};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Ends that are shown when a conversation is opened; older ones are in the history.
const UNSEEN_MAX: usize = 5;

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
    /// It was in the middle and goes on, in another chat of this home that is not open.
    Elsewhere {
        /// The run.
        run: RunId,
        /// Its goal.
        goal: String,
        /// Its folder; empty if it is unknown.
        folder: String,
        /// What is written to go on with its conversation.
        conversation: String,
    },
    /// It ended while nobody looked: another process drove it.
    Unseen {
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
        conversation: &ConversationId,
        others: &BTreeSet<RunId>,
    ) -> Result<(Self, BackgroundTasks), AppError> {
        let store = engine.store();
        let open = store.conversations().open_runs_of(conversation).await?;
        let right = DriveRight::take(app, engine).await?;
        let mut left = Self::default();
        left.add_unseen(store, conversation, others).await?;
        left.add_interrupted(app, store, &right.orphans, conversation).await?;
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

    /// Runs that ended since the conversation was read, and that no other terminal shows.
    async fn add_unseen(
        &mut self,
        store: &Store,
        conversation: &ConversationId,
        others: &BTreeSet<RunId>,
    ) -> Result<(), AppError> {
        for run in store.conversations().unread_ends(conversation, UNSEEN_MAX).await? {
            let Some(row) = store.runs().get(&run).await?.filter(|_| !others.contains(&run)) else {
                continue;
            };
            self.all.push(Leftover::Unseen { run: run.clone(), goal: row.goal });
            self.runs.push(run);
        }
        Ok(())
    }

    async fn add_interrupted(
        &mut self,
        app: &App,
        store: &Store,
        orphans: &[Orphan],
        conversation: &ConversationId,
    ) -> Result<(), AppError> {
        for orphan in orphans {
            let details = RunDetails::read(app, store, &orphan.run).await?;
            let last = details.history.entries.last().map_or(0, |entry| entry.at);
            self.left_at = Some(self.left_at.unwrap_or(0).max(last));
            let run = orphan.run.clone();
            let goal = orphan.goal.clone();
            if details.row.conversation != *conversation
                && let Some(elsewhere) = elsewhere(store, &details, orphan).await?
            {
                self.all.push(elsewhere);
                continue;
            }
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

/// A run of another chat that goes on here, if it does.
async fn elsewhere(
    store: &Store,
    details: &RunDetails,
    orphan: &Orphan,
) -> Result<Option<Leftover>, AppError> {
    let row = store.conversations().get(&details.row.conversation).await?;
    let is_chat = |row: &ConversationRow| ConversationChannel::is_chat(&row.channel);
    let Some(row) = row.filter(is_chat) else { return Ok(None) };
    let one = ListedConversation::new(row);
    Ok((orphan.status_now != Status::Quarantined).then(|| Leftover::Elsewhere {
        run: orphan.run.clone(),
        goal: orphan.goal.clone(),
        folder: one.folder(),
        conversation: one.short_id().to_owned(),
    }))
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
