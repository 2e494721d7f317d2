//! A question from a script: which conversation it goes on with, and which run it answers.

use crate::app::App;
use crate::conversation::EarlierTurns;
use crate::error::AppError;
use crate::router::question_of;
use everloop_engine::{Clock, Engine, Submission, SystemClock, fresh_id};
use everloop_store::{RunFilter, Store};
use everloop_types::{ConversationId, Labels, RunId};

/// Runs among which the newest is looked for.
const NEWEST: usize = 200;

/// What the names of the conversations of one-shot questions begin with. Homes that share a server
/// have each their own.
fn prefix(app: &App, chat: &ConversationId) -> String {
    match app.database.is_shared() {
        true => format!("conv_print_{chat}_"),
        false => "conv_print_".to_owned(),
    }
}

/// The name of a new conversation for a one-shot question; `chat` is the conversation of this home.
#[must_use]
pub fn new_conversation(app: &App, chat: &ConversationId) -> ConversationId {
    ConversationId::new(fresh_id(&prefix(app, chat), SystemClock.now()))
}

/// The conversation of the last one-shot question; that of the chat if there was none.
///
/// # Errors
/// If the store fails.
pub async fn last_conversation(
    app: &App,
    store: &Store,
    chat: ConversationId,
) -> Result<ConversationId, AppError> {
    let prefix = prefix(app, &chat);
    let rows = store.runs().list(&newest()).await?;
    let mut conversations = rows.into_iter().map(|row| row.conversation);
    Ok(conversations.find(|name| name.as_str().starts_with(&prefix)).unwrap_or(chat))
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
    let Some(conversation) = conversation else { return Ok(engine.submit(submission).await?) };
    let earlier = EarlierTurns::of(app, engine.store(), conversation).await?;
    submission.goal.context.push_str(&earlier.told());
    submission.frame.policy.inherited.join(&earlier.held(engine.store()).await);
    Ok(engine.submit_in(conversation.clone(), submission).await?)
}
