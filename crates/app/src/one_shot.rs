//! A question from a script: which conversation it goes on with, and which run it answers.

use crate::app::App;
use crate::conversation::EarlierTurns;
use crate::conversations::{self, ConversationChannel, of_folder};
use crate::error::AppError;
use crate::facts;
use crate::router::question_of;
use everloop_engine::{Clock, Engine, Submission, SystemClock, fresh_id};
use everloop_store::{RunFilter, Store};
use everloop_types::{ConversationId, Labels, RunId};
use std::path::Path;

/// Runs among which the newest is looked for.
const NEWEST: usize = 200;

/// The name of a new conversation for a one-shot question.
#[must_use]
pub fn new_conversation() -> ConversationId {
    ConversationId::new(fresh_id("conv_print_", SystemClock.now()))
}

/// The conversation of the last one-shot question in this folder; that of its newest chat if there
/// was none, and a new one if there is neither.
///
/// # Errors
/// If the store fails.
pub async fn last_conversation(
    app: &App,
    store: &Store,
    workspace: &Path,
) -> Result<ConversationId, AppError> {
    use ConversationChannel::{Pipe, Print, Terminal};
    let folder = workspace.to_string_lossy();
    if let Some(last) = of_folder(app, store, Print, &folder).await?.into_iter().next() {
        return Ok(last.row.id);
    }
    let mut chats = of_folder(app, store, Terminal, &folder).await?;
    chats.extend(of_folder(app, store, Pipe, &folder).await?);
    let newest = chats.into_iter().max_by_key(|one| one.row.updated_at);
    Ok(newest.map_or_else(new_conversation, |one| one.row.id))
}

/// The newest run of a conversation that asks something.
///
/// # Errors
/// If the store fails.
pub async fn asking_run(
    store: &Store,
    conversation: &ConversationId,
) -> Result<Option<RunId>, AppError> {
    for (run, _) in store.conversations().open_runs_of(conversation).await? {
        if question_of(store, &run).await?.is_some() {
            return Ok(Some(run));
        }
    }
    Ok(None)
}

/// The newest run that is not over; the newest of all if there is none.
///
/// # Errors
/// If the store fails.
pub async fn newest_run(store: &Store) -> Result<Option<RunId>, AppError> {
    let rows = store.runs().list(&newest()).await?;
    let open = rows.iter().find(|row| row.origin.parent.is_none() && !row.status.is_final());
    Ok(open.or(rows.first()).map(|row| row.run.clone()))
}

fn newest() -> RunFilter {
    RunFilter { statuses: Vec::new(), before: None, most: NEWEST }
}

/// What came on the standard input. Nobody knows who wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PipedInput {
    /// Nothing.
    Nothing,
    /// The goal itself.
    Goal,
    /// What goes with the goal.
    Beside(String),
}

impl PipedInput {
    /// What is read beside a question.
    #[must_use]
    pub fn beside(text: &str) -> Self {
        match text {
            "" => Self::Nothing,
            text => Self::Beside(format!("\n[input]\n{text}")),
        }
    }

    /// Adds it to a run, which then holds private and untrusted data.
    pub fn add_to(&self, submission: &mut Submission) {
        if let Self::Beside(text) = self {
            submission.goal.context.push_str(text);
        }
        if *self != Self::Nothing {
            submission.frame.policy.inherited.take(Labels::ALL, "stdin");
        }
    }
}

/// Submits a run, in a conversation of its own unless one is named.
///
/// # Errors
/// If the store fails.
pub async fn submit(
    app: &App,
    engine: &Engine,
    mut submission: Submission,
    conversation: Option<&ConversationId>,
) -> Result<RunId, AppError> {
    let own = || ConversationId::new(fresh_id("conv_", SystemClock.now()));
    let (id, channel) = match conversation {
        Some(named) => (named.clone(), ConversationChannel::Print),
        None => (own(), ConversationChannel::Run),
    };
    if conversation.is_some() {
        let earlier = EarlierTurns::of(app, engine.store(), &id).await?;
        submission.goal.context.push_str(&earlier.told());
        submission.frame.policy.inherited.join(&earlier.held(engine.store()).await);
    }
    facts::brief(app, engine.store(), &mut submission.frame).await?;
    let new = conversations::new_conversation(app, id, channel, &submission.frame.workspace)?;
    engine.store().conversations().ensure(&new).await?;
    Ok(engine.submit_in(new.id, submission).await?)
}
