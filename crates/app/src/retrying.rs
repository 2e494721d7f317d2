//! Doing a run again, as a new run. The finished journal stays as it is.
//!
//! Loop, goal, workspace and model are those of the run. Everything else of the frame is made anew
//! from the settings of today: mostly a run is done again because something there was wrong, and
//! what was allowed for one run is not allowed for another.

use crate::app::App;
use crate::briefing;
use crate::error::{AppError, RetryError, RunError};
use crate::forks::{self, RunSource};
use crate::frames::{self, RunOptions};
use crate::run_types::{self, RunRequest};
use crate::runs::history;
use everloop_engine::{Engine, History, Submission};
use everloop_store::{RunRow, Store, TASK_CHANNEL};
use everloop_types::journal::RunCreated;
use everloop_types::{ApprovalMode, ConversationId, Frame, Goal, RunId, RunProfile};
use std::path::{Path, PathBuf};

/// What is to be different; a default one changes nothing.
#[derive(Debug, Clone, Default)]
pub struct RetryOptions {
    /// Another model.
    pub model: Option<String>,
    /// Whether everything that would be asked about is allowed.
    pub approve_all: bool,
    /// The same key twice is the same run.
    pub idem_key: Option<String>,
}

/// Creates a run that does another one again, in the same conversation.
///
/// # Errors
/// [`RetryError::NotOver`] while the run works or waits, [`RunError::NotFound`], or what stands in
/// the way of a new run.
pub async fn retry(
    app: &App,
    engine: &Engine,
    run: &RunId,
    options: &RetryOptions,
) -> Result<RunId, AppError> {
    let store = engine.store();
    let row = store.runs().get(run).await?;
    let row = row.ok_or_else(|| RunError::NotFound(run.to_string()))?;
    if !row.status.is_final() {
        return Err(RetryError::NotOver { run: run.clone(), status: row.status }.into());
    }
    let past = history(store, run).await?;
    let conversation = conversation_of(store, &row).await?;
    let submission = again(app, store, &row, &past, options, conversation.as_ref()).await?;
    run_types::submit(app, engine, submission, conversation.as_ref()).await
}

/// A conversation of a person goes on; one that only told of the end of the run does not.
async fn conversation_of(store: &Store, row: &RunRow) -> Result<Option<ConversationId>, AppError> {
    let found = store.conversations().get(&row.conversation).await?;
    Ok(found.filter(|found| found.channel != TASK_CHANNEL).map(|found| found.id))
}

async fn again(
    app: &App,
    store: &Store,
    row: &RunRow,
    past: &History,
    options: &RetryOptions,
    conversation: Option<&ConversationId>,
) -> Result<Submission, AppError> {
    let old = past.frame();
    let source = forks::source_of(store, &row.run).await?;
    let chosen = chosen(app, old, source, options);
    if let Some(task) = &old.task {
        let request = RunRequest {
            run_type: task.run_type.clone(),
            title: row.profile.title.clone(),
            input: task.input.clone(),
            conversation: conversation.cloned(),
            idem_key: options.idem_key.clone(),
            retry_of: Some(row.run.clone()),
            options: chosen,
        };
        return run_types::submission(app, store, &request).await;
    }
    let created = forks::created(past).ok_or_else(|| RetryError::NotWhole(row.run.clone()))?;
    let mut made = agent(app, created, old, source, &chosen)?;
    made.idem_key.clone_from(&options.idem_key);
    let (title, retry_of) = (row.profile.title.clone(), Some(row.run.clone()));
    made.profile = RunProfile { title, retry_of, ..RunProfile::default() };
    Ok(made)
}

/// What of the run's frame was chosen for it. A run that came in a file chooses nothing here.
fn chosen(app: &App, old: &Frame, source: RunSource, options: &RetryOptions) -> RunOptions {
    let (workspace, model) = match source {
        RunSource::Imported => (PathBuf::from("."), frames::default_model(app)),
        RunSource::Own => (PathBuf::from(&old.workspace), old.model.name.clone()),
    };
    let model = options.model.clone().or(Some(model).filter(|name| !name.is_empty()));
    let plans = old.policy.mode == ApprovalMode::Plan;
    RunOptions {
        workspace: Some(workspace),
        model,
        approve_all: options.approve_all,
        approval_mode: (plans && !options.approve_all).then_some(ApprovalMode::Plan),
        ..RunOptions::default()
    }
}

fn agent(
    app: &App,
    created: &RunCreated,
    old: &Frame,
    source: RunSource,
    options: &RunOptions,
) -> Result<Submission, AppError> {
    let loop_name = frames::loop_name(&created.loop_name)?;
    let workspace = frames::workspace(options.workspace.as_deref())?;
    let model = frames::model(app, frames::wanted_model(app, options)?)?;
    let persona = briefing::persona(app, None)?;
    let mut frame = frames::frame(app, &loop_name, &workspace, model, &persona)?;
    frame.policy = frames::policy(app, frames::wanted_mode(app, options));
    frames::ask_about_edits(app, &mut frame);
    frame.policy.inherited.join(&briefing::held(app, &workspace));
    // The goal may hold what came through a pipe, or was said before.
    frame.policy.inherited.join(&old.policy.inherited);
    if source == RunSource::Imported {
        frame.policy.inherited.take(everloop_types::Labels::ALL, created.frame.as_str());
    }
    frames::fit_rounds_to_goal(app, &mut frame, &created.goal.text);
    let context = frames::place_of(&workspace)
        + frames::mode_note(&frame.policy)
        + beside_place(&created.goal.context, Path::new(&old.workspace));
    let goal = Goal { context, ..created.goal.clone() };
    let (idem_key, profile) = (None, RunProfile::default());
    Ok(Submission { loop_name, goal, frame, idem_key, profile })
}

/// What the goal was given beside time, place and mode, which are said anew.
fn beside_place<'c>(context: &'c str, workspace: &Path) -> &'c str {
    let end = format!("; workspace: {}]", workspace.display());
    let rest = context.split_once(&end).map_or("", |(_, rest)| rest);
    rest.strip_prefix(frames::PLAN_NOTE).unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_beside_time_and_place_is_kept() {
        let context = "[now: 2026-01-01; workspace: /work]\n[input]\nthree lines";
        assert_eq!(beside_place(context, Path::new("/work")), "\n[input]\nthree lines");
        assert_eq!(beside_place("", Path::new("/work")), "");
        let planned = format!("[now: x; workspace: /w]{}\n[input]\na", frames::PLAN_NOTE);
        assert_eq!(beside_place(&planned, Path::new("/w")), "\n[input]\na");
    }
}
