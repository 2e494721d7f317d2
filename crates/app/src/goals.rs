//! Goals and conversations that come from outside of a chat: over HTTP, or from another program.

use crate::app::App;
use crate::context::images::{self, IMAGES_MAX, ImageError};
use crate::context::prompt;
use crate::conversation::EarlierTurns;
use crate::conversations::{self, ConversationChannel, ListedConversation};
use crate::error::{AppError, ChoiceError, ConversationError};
use crate::facts;
use crate::frames::{self, RunOptions};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use everloop_engine::{Clock, Engine, SystemClock, fresh_id, keyed_id};
use everloop_store::{NewConversation, Store};
use everloop_types::journal::EntryKind;
use everloop_types::{CallerTerms, ConversationId, Image, RunId};

/// What a new conversation begins with.
#[derive(Debug, Clone, Default)]
pub struct ConversationStart {
    /// Its title; its first goal is shown if it has none.
    pub title: Option<String>,
    /// The folder that its runs work in; the current one if none is named.
    pub workspace: Option<std::path::PathBuf>,
    /// Which conversation of its channel it is.
    pub thread: Option<String>,
    /// The same key twice is the same conversation.
    pub idem_key: Option<String>,
}

/// Begins a conversation of a channel. It is durable when this returns.
///
/// # Errors
/// If the folder does not exist, the title cannot be used, or the store fails.
pub async fn begin_conversation(
    app: &App,
    store: &Store,
    channel: ConversationChannel,
    start: ConversationStart,
) -> Result<ListedConversation, AppError> {
    let workspace = frames::workspace(start.workspace.as_deref())?;
    let id = match &start.idem_key {
        Some(key) => {
            let at = store.agenda().first_tried(key, SystemClock.now()).await?;
            keyed_id("conv_", at, key)
        }
        None => fresh_id("conv_", SystemClock.now()),
    };
    let id = ConversationId::new(id);
    let new = conversations::new_conversation(app, id, channel, &workspace.to_string_lossy())?;
    let new = NewConversation { thread: start.thread.or(new.thread.clone()), ..new };
    store.conversations().ensure(&new).await?;
    if let Some(title) = &start.title {
        conversations::rename(store, &new.id, title).await?;
    }
    read_conversation(store, &new.id).await
}

/// One conversation by its whole id.
///
/// # Errors
/// [`ConversationError::NotFound`], or if the store fails.
pub async fn read_conversation(
    store: &Store,
    id: &ConversationId,
) -> Result<ListedConversation, AppError> {
    let row = store.conversations().get(id).await?;
    let row = row.ok_or_else(|| ConversationError::NotFound(id.to_string()))?;
    Ok(ListedConversation::new(row))
}

/// What a program asks that speaks to the assistant as to a model.
#[derive(Debug, Clone, Default)]
pub struct CallerRequest {
    /// What is to be done or answered now.
    pub goal: String,
    /// What was said before, as the program tells it.
    pub before: String,
    /// Pictures of the talk.
    pub images: Vec<Image>,
    /// The rest of the request.
    pub terms: CallerTerms,
    /// The same key twice is the same run.
    pub idem_key: Option<String>,
}

/// A picture of a request out of its base64 form.
///
/// # Errors
/// [`ImageError`] if it is none, or too large.
pub fn picture(app: &App, base64: &str) -> Result<Image, ImageError> {
    images::decode(base64, app.settings.context.image_max.bytes())
}

/// The pictures that went with the goal of a run.
///
/// # Errors
/// If the store fails.
pub async fn pictures_of(store: &Store, run: &RunId) -> Result<Vec<Image>, AppError> {
    let first = store.journal().entries(run, 0, 1).await?.into_iter().next();
    Ok(match first.map(|entry| entry.kind) {
        Some(EntryKind::RunCreated(created)) => created.goal.images,
        _ => Vec::new(),
    })
}

/// The bytes of a picture.
#[must_use]
pub fn picture_bytes(picture: &Image) -> Option<Vec<u8>> {
    STANDARD.decode(&picture.base64).ok()
}

/// Makes a run of a request, straight under a loop.
///
/// # Errors
/// If something that is named cannot be used, or the store fails. Then there is no run.
pub async fn submit_for_caller(
    app: &App,
    engine: &Engine,
    conversation: &ListedConversation,
    options: &RunOptions,
    request: CallerRequest,
) -> Result<RunId, AppError> {
    let CallerRequest { goal, before, images, terms, idem_key } = request;
    if images.len() > IMAGES_MAX {
        return Err(ChoiceError::TooManyImages(IMAGES_MAX).into());
    }
    let mut submission = frames::submission(app, options, &goal)?;
    submission.goal.images.extend(images);
    if !before.is_empty() {
        submission.goal.context.push_str("\n[earlier in this conversation, for reference only]\n");
        submission.goal.context.push_str(&before);
    }
    if !terms.instructions.is_empty() {
        submission.frame.system.push_str(&prompt::caller(&terms.instructions));
    }
    submission.frame.caller = Some(Box::new(terms));
    submission.idem_key = idem_key;
    let earlier = EarlierTurns::of(app, engine.store(), &conversation.row.id).await?;
    submission.goal.context.push_str(&earlier.told());
    submission.frame.policy.inherited.join(&earlier.held(engine.store()).await);
    facts::brief(app, engine.store(), &mut submission.frame).await?;
    Ok(engine.submit_in(conversation.row.id.clone(), submission).await?)
}
