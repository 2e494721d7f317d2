//! Which conversation a chat begins with, as the command line says it.

use everloop_app::conversation::{ConversationRequest, ConversationSelection};
use everloop_app::conversations::{
    self as all, ConversationChannel, ListedConversation, ResumeTarget,
};
use everloop_app::frames::RunOptions;
use everloop_app::{AppError, ConversationError, frames};
use everloop_console::show::conversations;
use everloop_console::{Console, Exit, Failure};
use everloop_store::Store;
use everloop_text as text;
use everloop_types::{ConversationId, RunId};

/// How a person wants a chat to begin.
#[derive(Debug, Clone, Default)]
pub struct ChatOptions {
    /// What is said first.
    pub message: Option<String>,
    /// How goals are worked on.
    pub run: RunOptions,
    /// Which conversation goes on.
    pub target: ChatTarget,
}

/// Which conversation a chat is to go on with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ChatTarget {
    /// As [`ConversationSelection::Newest`].
    #[default]
    Newest,
    /// As [`ConversationSelection::Joined`].
    Joined,
    /// One that the person chooses.
    Picked,
    /// The one that these words mean: an id, or part of a title.
    Found(String),
}

/// How a chat begins.
pub(super) struct ChatStart {
    pub(super) request: ConversationRequest,
    /// What is said first.
    pub(super) first: Option<String>,
}

/// What `-c` and `-r` lead to; `None` if the person chose nothing.
pub(super) async fn start(
    app: &Console,
    wanted: &ChatOptions,
    at_terminal: bool,
) -> Result<Option<ChatStart>, Failure> {
    let channel =
        if at_terminal { ConversationChannel::Terminal } else { ConversationChannel::Pipe };
    let begin = |which, first| {
        let request = ConversationRequest { which, channel };
        Ok(Some(ChatStart { request, first }))
    };
    let first = wanted.message.clone();
    let words = match &wanted.target {
        ChatTarget::Newest => return begin(ConversationSelection::Newest, first),
        ChatTarget::Joined => return begin(ConversationSelection::Joined, first),
        ChatTarget::Picked if !at_terminal => {
            return begin(ConversationSelection::Newest, Some("/resume".to_owned()));
        }
        ChatTarget::Picked => None,
        ChatTarget::Found(words) => Some(words),
    };
    let store = app.open_store().await?;
    let target = match words {
        None => {
            let folder = app.checked(frames::workspace(wanted.run.workspace.as_deref()))?;
            let folder = folder.to_string_lossy();
            let rows = app.checked(all::resumable(app, &store, Some(&folder)).await)?;
            if rows.is_empty() {
                return Err(app.failure(Exit::Usage, text::conversations::none()));
            }
            pick(app, &rows).await.map(ResumeTarget::Conversation)
        }
        Some(words) => find(app, &store, words, at_terminal).await?,
    };
    let Some(target) = target else { return Ok(None) };
    let (conversation, run) = app.checked(chat_of(&store, &target).await)?;
    let again = |run: RunId| format!("/resume {run}");
    match conversation {
        Some(id) => begin(ConversationSelection::Named(id), run.map(again).or(first)),
        None => begin(ConversationSelection::Newest, run.map(again)),
    }
}

/// What words mean. A person chooses where several conversations fit.
async fn find(
    app: &Console,
    store: &Store,
    words: &str,
    at_terminal: bool,
) -> Result<Option<ResumeTarget>, Failure> {
    match all::find_target(app, store, words).await {
        Err(AppError::Conversation(ConversationError::Ambiguous { all, .. })) if at_terminal => {
            Ok(pick(app, &all).await.map(ResumeTarget::Conversation))
        }
        found => app.checked(found).map(Some),
    }
}

/// The conversation that a person chooses.
pub(super) async fn pick(app: &Console, rows: &[ListedConversation]) -> Option<ConversationId> {
    let at = conversations::pick(app, rows).await?;
    rows.get(at).map(|one| one.row.id.clone())
}

/// The chat to open, and the run to look at in it. The run of a script is looked at in any chat.
async fn chat_of(
    store: &Store,
    target: &ResumeTarget,
) -> Result<(Option<ConversationId>, Option<RunId>), AppError> {
    let (id, run) = match target {
        ResumeTarget::Conversation(id) => (id.clone(), None),
        ResumeTarget::Run(run) => {
            let row = store.runs().get(run).await?;
            let Some(row) = row else { return Ok((None, Some(run.clone()))) };
            (row.conversation, Some(run.clone()))
        }
    };
    let row = store.conversations().get(&id).await?;
    let is_chat = row.is_some_and(|row| ListedConversation::new(row).is_chat());
    if is_chat {
        return Ok((Some(id), run));
    }
    let open = store.conversations().open_runs_of(&id).await?;
    let newest = store.conversations().runs_of(&id, 1).await?;
    let last = open.into_iter().map(|(run, _)| run).chain(newest).next();
    Ok((None, run.or(last)))
}
