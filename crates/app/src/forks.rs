//! New runs out of old ones: forks, and runs that continue under another loop.

use crate::app::App;
use crate::briefing;
use crate::error::{AppError, RetryError, RunError};
use crate::facts;
use crate::frames;
use crate::runs::history;
use everloop_engine::{Engine, Fork, History};
use everloop_store::{InboxSendResult, Store};
use everloop_types::journal::{EntryKind, InboxMessage, RunCreated};
use everloop_types::{ApprovalMode, Goal, RunId, SettledOutcome};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What is to be different in a fork; a default one changes nothing.
#[derive(Debug, Clone, Default)]
pub struct ForkOptions {
    /// What the person adds.
    pub message: String,
    /// The entry after which it begins; the last one if there is none.
    pub at: Option<i64>,
    /// Another loop.
    pub loop_name: Option<String>,
    /// Another model.
    pub model: Option<String>,
    /// Another workspace.
    pub workspace: Option<PathBuf>,
    /// Whether everything that would be asked about is allowed.
    pub approve_all: bool,
    /// The same key twice is the same fork.
    pub idem_key: Option<String>,
}

/// Whether a run came in a file: then it is words, and chooses neither workspace nor model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunSource {
    /// It was begun in this home.
    Own,
    /// It came in a file.
    Imported,
}

/// Where a run came from.
///
/// # Errors
/// If the store fails.
pub(crate) async fn source_of(store: &Store, run: &RunId) -> Result<RunSource, AppError> {
    let imported = store.runs().is_foreign(run).await?;
    Ok(if imported { RunSource::Imported } else { RunSource::Own })
}

/// The loop that decides a run.
#[must_use]
pub fn loop_of(parent: &History) -> Option<&str> {
    created(parent).map(|created| created.loop_name.as_str())
}

pub(crate) fn created(parent: &History) -> Option<&RunCreated> {
    parent.entries.iter().find_map(|entry| match &entry.kind {
        EntryKind::RunCreated(created) => Some(created),
        _ => None,
    })
}

/// Everything about a fork that never changes, checked before anything is written.
///
/// # Errors
/// If something that is named does not exist or cannot be used.
pub(crate) fn fork_request(
    app: &App,
    options: &ForkOptions,
    parent: &History,
    source: RunSource,
) -> Result<Fork, AppError> {
    let old = parent.frame();
    if old.task.is_some() {
        return Err(RetryError::IsTask(parent.run.clone()).into());
    }
    let name = options.loop_name.as_deref().or(loop_of(parent)).unwrap_or_default();
    let loop_name = frames::loop_name(name)?;
    let (there, name) = match source {
        RunSource::Imported => (Path::new("."), frames::default_model(app)),
        RunSource::Own => (Path::new(&old.workspace), old.model.name.clone()),
    };
    let workspace = frames::workspace(Some(options.workspace.as_deref().unwrap_or(there)))?;
    let model = frames::model(app, options.model.clone().unwrap_or(name))?;
    let persona = briefing::persona(app, None)?;
    let mut frame = frames::frame(app, &loop_name, &workspace, model, &persona)?;
    frame.policy = frames::policy(app, wanted_mode(app, options, old.policy.mode));
    frames::ask_about_edits(app, &mut frame);
    frame.policy.inherited.join(&briefing::held(app, &workspace));
    let goal = created(parent).map_or("", |created| &created.goal.text);
    frames::fit_rounds_to_goal(app, &mut frame, goal);
    let text = options.message.trim().to_owned();
    let context = frames::place_of(&workspace) + frames::mode_note(&frame.policy);
    let word = Goal { text, context, ..Goal::default() };
    Ok(Fork {
        parent: parent.run.clone(),
        at: options.at,
        loop_name,
        frame,
        word,
        settled: BTreeMap::new(),
        message: None,
        idem_key: options.idem_key.clone(),
    })
}

/// A run goes on as a new one, from its end, with this in its inbox.
///
/// # Errors
/// If it cannot be forked.
pub(crate) async fn continue_run(
    app: &App,
    engine: &Engine,
    parent: &RunId,
    options: ForkOptions,
    inbox_message: Option<InboxMessage>,
) -> Result<RunId, AppError> {
    let source = source_of(engine.store(), parent).await?;
    let history = history(engine.store(), parent).await?;
    let mut wanted = fork_request(app, &options, &history, source)?;
    facts::brief(app, engine.store(), &mut wanted.frame).await?;
    let made = engine.fork(Fork { message: inbox_message, ..wanted }).await;
    made.map(|made| made.run)
        .map_err(|source| RunError::Fork { parent: parent.clone(), source }.into())
}

/// Asks a run to go on under another loop from its next step boundary on; the name of that loop.
/// A run that only plans is continued by one that only plans, unless more is allowed explicitly.
fn wanted_mode(app: &App, options: &ForkOptions, parent: ApprovalMode) -> ApprovalMode {
    match (options.approve_all, parent) {
        (true, _) => ApprovalMode::All,
        (false, ApprovalMode::Plan) => ApprovalMode::Plan,
        (false, _) => app.settings.approvals.mode,
    }
}

/// What the run itself was allowed does not go over: `approve_all` is said anew.
///
/// # Errors
/// If there is no such loop, the run has ended, or runs under it already.
pub async fn request_switch(
    app: &App,
    engine: &Engine,
    run: &RunId,
    loop_name: &str,
    approve_all: bool,
) -> Result<String, AppError> {
    let parent = history(engine.store(), run).await?;
    let loop_name = Some(loop_name.to_owned());
    let options = ForkOptions { loop_name, approve_all, ..ForkOptions::default() };
    let mut wanted = fork_request(app, &options, &parent, RunSource::Own)?;
    facts::brief(app, engine.store(), &mut wanted.frame).await?;
    if loop_of(&parent) == Some(&wanted.loop_name) {
        return Err(RunError::SameLoop { run: run.clone(), loop_name: wanted.loop_name }.into());
    }
    let context = wanted.word.context;
    let sent = engine.switch(run, &wanted.loop_name, &wanted.frame, context).await?;
    match sent.1 {
        InboxSendResult::Finished(status) => {
            Err(RunError::Finished { run: run.clone(), status }.into())
        }
        InboxSendResult::NoSuchRun => Err(RunError::NotFound(run.to_string()).into()),
        InboxSendResult::Accepted | InboxSendResult::AlreadySent => Ok(wanted.loop_name),
    }
}

/// A fork that can be made: where its parent comes from, and what is asked of the engine.
///
/// # Errors
/// If there is no such run, an option cannot be used, or the store fails.
pub async fn prepare_fork(
    app: &App,
    store: &Store,
    parent: &RunId,
    options: &ForkOptions,
) -> Result<(RunSource, Fork), AppError> {
    let source = source_of(store, parent).await?;
    let history = history(store, parent).await?;
    let mut fork = fork_request(app, options, &history, source)?;
    facts::brief(app, store, &mut fork.frame).await?;
    Ok((source, fork))
}

/// What a person says about a call that may have happened; nothing if it is not understood.
#[must_use]
pub fn read_settled(answer: &str) -> Option<SettledOutcome> {
    match answer.to_lowercase().as_str() {
        "happened" | "yes" | "y" | "1" => Some(SettledOutcome::Happened),
        "not" | "no" | "n" | "2" => Some(SettledOutcome::Not),
        _ => None,
    }
}
