//! What earlier processes left: runs that go on now, and runs that wait for a model.

use super::care::{Care, Readiness};
use crate::app::App;
use crate::commands::{family, runs};
use crate::exit::Failure;
use crate::show::preview;
use everloop_agenda::door::{Router, question_of};
use everloop_engine::Engine;
use everloop_store::{Orphan, Store, StoreError};
use everloop_text as text;
use everloop_types::journal::WaitingOn;
use everloop_types::{RunId, Status};
use std::sync::Arc;

/// What was there when the chat began.
pub(super) struct Left {
    /// In words: when it was, and a line for each run.
    pub(super) lines: Vec<String>,
    /// The runs of the conversation that this process takes up, the oldest first.
    pub(super) runs: Vec<RunId>,
}

impl Left {
    /// Says what there is to be driven, as it was left, and begins to drive.
    pub(super) async fn taken_up(
        app: &App,
        engine: &Arc<Engine>,
        door: &Router,
    ) -> Result<(Self, Care), Failure> {
        let fail = |error: StoreError| app.store_failure(&error);
        let store = engine.store();
        let open = door.open_runs(store).await.map_err(fail)?;
        let ready = Readiness::take(app, engine).await?;
        let lines = broken_off(app, store, &ready.orphans).await?;
        let mut left = Self { lines, runs: Vec::new() };
        let mut queued = Vec::new();
        for (run, status) in open.into_iter().rev() {
            let broken_off = ready
                .orphans
                .iter()
                .any(|orphan| orphan.run == run && orphan.status_now != Status::Quarantined);
            match status {
                _ if broken_off => left.runs.push(run),
                Status::Queued if ready.drives() => {
                    queued.push(queued_line(app, store, &run).await?);
                    left.runs.push(run);
                }
                Status::Waiting => left.lines.extend(parked(app, store, &run).await?),
                _ => {}
            }
        }
        if !queued.is_empty() {
            left.lines.push(app.text(text::left::head()));
            left.lines.extend(queued);
        }
        Ok((left, ready.begin(app, engine)))
    }
}

async fn queued_line(app: &App, store: &Store, run: &RunId) -> Result<String, Failure> {
    let row = store.run(run).await.map_err(|error| app.store_failure(&error))?;
    let goal = row.map(|row| preview(&row.goal)).unwrap_or_default();
    Ok(app.text(text::recovered::run(run, &goal)))
}

/// A run that waits for its model, and would otherwise be heard of only at its end.
async fn parked(app: &App, store: &Store, run: &RunId) -> Result<Option<String>, Failure> {
    if question_of(store, run).await.map_err(|error| app.store_failure(&error))?.is_some() {
        return Ok(None);
    }
    let front = family::front(app, store, run).await?;
    let shown = runs::shown(app, store, &front).await?;
    let Some(WaitingOn::Model { error }) = shown.waiting_on else { return Ok(None) };
    let goal = preview(&shown.row.goal);
    let model = shown.history.frame().model.name.clone();
    Ok(Some(app.text(
        text::left::Parked { id: &run, goal: &goal, model: &model, detail: &error.detail }.text(),
    )))
}

/// One line when it was, one for each run that was in the middle.
async fn broken_off(app: &App, store: &Store, orphans: &[Orphan]) -> Result<Vec<String>, Failure> {
    let mut lines = Vec::new();
    let mut left_at = 0;
    for orphan in orphans {
        let shown = runs::shown(app, store, &orphan.run).await?;
        left_at = left_at.max(shown.history.entries.last().map_or(0, |entry| entry.at));
        let done = shown.progress.items.iter().filter(|item| item.is_done()).count();
        let (done, all) = (done.to_string(), shown.progress.items.len().to_string());
        let goal = preview(&orphan.goal);
        let id = &orphan.run;
        let goal = &goal;
        lines.push(app.text(match orphan.status_now {
            Status::Quarantined => text::recovered::put_aside(id, goal),
            _ if shown.progress.items.is_empty() => text::recovered::run(id, goal),
            _ => text::recovered::RunAt { id, goal, done: &done, all: &all }.text(),
        }));
    }
    if !lines.is_empty() {
        let reader = app.reader();
        let now = reader.now.strftime("%Y-%m-%d %H:%M").to_string();
        lines.insert(0, app.text(text::recovered::head(&reader.moment(left_at), &now)));
    }
    Ok(lines)
}
