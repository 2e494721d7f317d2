//! Conversations as a list: found, renamed, archived, searched, exported, deleted.
//!
//! Deliberately absent: what is said in one that is open ([`crate::conversation`]).

mod events;
mod export;
mod listed;
mod messages;
mod reader_place;
mod search;
mod titles;

pub use events::{
    ConversationEvent, ConversationEventKind, ConversationEventsError, ConversationFollower,
    EventsFrom,
};
pub use export::{ConversationFormat, export, whole_json};
pub use listed::{
    ConversationChannel, ConversationState, ListedConversation, short_folder, short_id,
};
pub use messages::{
    MessageRecord, MessageRecords, PAGE_MAX, UnreadCount, all_messages, count_unread, mark_read,
    message, messages_page,
};
pub use search::{FoundMessage, FoundMessages, HITS_MAX, add_earlier, search};
pub use titles::{TitleError, keep_titling, retitle};

use crate::app::App;
use crate::cleaning;
use crate::conversation::{Queue, Terminals};
use crate::error::{AppError, ConversationError};
use crate::scheduling;
use everloop_engine::{Clock, SystemClock};
use everloop_store::{
    ConversationEdit, ConversationFilter, ConversationListPlace, ConversationMessage,
    ConversationRemoval, ConversationRow, Deleter, NewConversation, Store,
};
use everloop_types::{ConversationId, RunId};
use listed::on_one_line;

/// Characters of the longest title that may be given.
const TITLE_CHARS_MAX: usize = 200;

/// Conversations that are listed at once.
const LIST_MAX: usize = 1_000;

/// Messages of a conversation that are read at once.
const MESSAGES_MAX: usize = 10_000;

/// Which conversations are to be listed.
#[derive(Debug, Clone, Default)]
pub struct ConversationQuery {
    /// Only those of this folder.
    pub workspace: Option<String>,
    /// Archived ones too.
    pub archived: bool,
    /// Only archived ones.
    pub only_archived: bool,
    /// Leaves out those that the schedule began: each firing has one of its own.
    pub without_schedule: bool,
    /// Only those in which these words occur.
    pub words: Option<String>,
    /// Leaves out what scripts asked (`everloop -p`, `everloop run`), unless it is under way.
    pub chats_only: bool,
    /// Only those with something unread.
    pub unread: bool,
    /// Only those that come after this one.
    pub after: Option<ConversationListPlace>,
    /// Most of them.
    pub most: usize,
}

/// What a word means for somebody who wants to go on with something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResumeTarget {
    /// A run.
    Run(RunId),
    /// A conversation.
    Conversation(ConversationId),
}

/// The thread of this home's conversations: a server that homes share keeps them apart by it.
pub(crate) fn home_thread(app: &App) -> Result<Option<String>, AppError> {
    match app.database.is_shared() {
        true => {
            std::fs::create_dir_all(app.home.data()).map_err(AppError::Home)?;
            app.home.id().map(Some).map_err(AppError::Home)
        }
        false => Ok(None),
    }
}

/// A conversation of this home that begins now.
pub(crate) fn new_conversation(
    app: &App,
    id: ConversationId,
    channel: ConversationChannel,
    workspace: &str,
) -> Result<NewConversation, AppError> {
    Ok(NewConversation {
        id,
        channel: channel.name().to_owned(),
        thread: home_thread(app)?,
        workspace: Some(workspace.to_owned()),
        now: SystemClock.now(),
    })
}

/// The conversations of this home in a folder, the newest first.
pub(crate) async fn of_folder(
    app: &App,
    store: &Store,
    channel: ConversationChannel,
    workspace: &str,
) -> Result<Vec<ListedConversation>, AppError> {
    let filter = ConversationFilter {
        channel: Some(channel.name().to_owned()),
        thread: home_thread(app)?,
        workspace: Some(workspace.to_owned()),
        most: LIST_MAX,
        ..ConversationFilter::default()
    };
    let rows = store.conversations().list(&filter).await?;
    Ok(rows.into_iter().map(ListedConversation::new).collect())
}

/// Conversations, the one in which something was said last first.
///
/// # Errors
/// If the store fails.
pub async fn list(
    app: &App,
    store: &Store,
    query: ConversationQuery,
) -> Result<Vec<ListedConversation>, AppError> {
    let most = query.most.clamp(1, LIST_MAX);
    if query.words.is_some() {
        add_earlier(store, search::INDEX_TIME).await?;
    }
    let mut filter = ConversationFilter {
        workspace: query.workspace,
        archived: query.archived,
        only_archived: query.only_archived,
        but_channel: query.without_schedule.then(|| scheduling::CHANNEL.to_owned()),
        unread: query.unread,
        chats_only: query.chats_only,
        words: query.words,
        after: query.after,
        most,
        ..ConversationFilter::default()
    };
    let in_use = Terminals::open(app).of_others().conversations;
    let mut all = Vec::new();
    loop {
        let rows = store.conversations().list(&filter).await?;
        let is_last = rows.len() < most;
        filter.after = rows.last().map(ConversationListPlace::of);
        for row in rows {
            let is_in_use = in_use.contains(&row.id);
            let mut one = ListedConversation { is_in_use, ..ListedConversation::new(row) };
            if let Some(words) = &filter.words {
                one.excerpt = search::excerpt(store, &one.row.id, words).await?;
                // Its messages have the terms of the words, but not the words.
                if one.excerpt.is_none() && !one.has_in_title(words) {
                    continue;
                }
            }
            all.push(one);
            if all.len() == most {
                return Ok(all);
            }
        }
        if is_last {
            return Ok(all);
        }
    }
}

/// The conversations that are not archived and have something unread.
///
/// # Errors
/// If the store fails.
pub async fn unread(app: &App, store: &Store) -> Result<Vec<ListedConversation>, AppError> {
    let query = ConversationQuery { unread: true, most: LIST_MAX, ..ConversationQuery::default() };
    list(app, store, query).await
}

/// What one may go on with: chats, and runs of scripts that have not ended. Those of this folder
/// come first.
///
/// # Errors
/// If the store fails.
pub async fn resumable(
    app: &App,
    store: &Store,
    workspace: Option<&str>,
) -> Result<Vec<ListedConversation>, AppError> {
    let query = ConversationQuery { most: LIST_MAX, ..ConversationQuery::default() };
    let mut all = list(app, store, query).await?;
    all.retain(|one| one.is_chat() || one.row.is_open());
    // The sort is stable: within each part the newest stays first.
    all.sort_by_key(|one| one.row.workspace.as_deref() != workspace);
    Ok(all)
}

/// The one conversation that an id, a part of an id, a title or words mean.
///
/// # Errors
/// [`ConversationError`], or if the store fails.
pub async fn find(app: &App, store: &Store, words: &str) -> Result<ListedConversation, AppError> {
    let words = words.trim();
    let not_found = || ConversationError::NotFound(words.to_owned());
    if words.is_empty() {
        return Err(not_found().into());
    }
    let by_id = store.conversations().find(words).await?;
    let by_id: Vec<_> = by_id.into_iter().map(ListedConversation::new).collect();
    if !by_id.is_empty() {
        return only(by_id, words);
    }
    let query = ConversationQuery {
        words: Some(words.to_owned()),
        archived: true,
        most: LIST_MAX,
        ..ConversationQuery::default()
    };
    let all = list(app, store, query).await?;
    let lower = words.to_lowercase();
    let with_title = |is_it: &dyn Fn(&str) -> bool| -> Vec<ListedConversation> {
        all.iter().filter(|one| is_it(&one.title().to_lowercase())).cloned().collect()
    };
    for found in [with_title(&|title| title == lower), with_title(&|title| title.contains(&lower))]
    {
        if !found.is_empty() {
            return only(found, words);
        }
    }
    if all.is_empty() { Err(not_found().into()) } else { only(all, words) }
}

fn only(mut all: Vec<ListedConversation>, words: &str) -> Result<ListedConversation, AppError> {
    match all.len() {
        1 => Ok(all.swap_remove(0)),
        _ => Err(ConversationError::Ambiguous { words: words.to_owned(), all }.into()),
    }
}

/// What somebody means who wants to go on with something.
///
/// # Errors
/// [`crate::RunError::NotFound`] if nothing fits, [`ConversationError::Ambiguous`] if several
/// conversations do, or if the store fails.
pub async fn find_target(app: &App, store: &Store, words: &str) -> Result<ResumeTarget, AppError> {
    let no_run = match app.find_run(store, words).await {
        Ok(run) => return Ok(ResumeTarget::Run(run)),
        Err(error @ AppError::Store(_)) => return Err(error),
        Err(error) => error,
    };
    match find(app, store, words).await {
        Ok(one) => Ok(ResumeTarget::Conversation(one.row.id)),
        Err(AppError::Conversation(ConversationError::NotFound(_))) => Err(no_run),
        Err(error) => Err(error),
    }
}

/// Gives a conversation a title.
///
/// # Errors
/// [`ConversationError::BadTitle`] for an empty or a very long one, or if the store fails.
pub async fn rename(store: &Store, id: &ConversationId, title: &str) -> Result<String, AppError> {
    let title = checked_title(title)?;
    match store.conversations().rename(id, Some(&title), SystemClock.now()).await? {
        true => Ok(title),
        false => Err(ConversationError::NotFound(short_id(id.as_str()).to_owned()).into()),
    }
}

fn checked_title(title: &str) -> Result<String, ConversationError> {
    let title = on_one_line(title);
    match title.is_empty() || title.chars().count() > TITLE_CHARS_MAX {
        true => Err(ConversationError::BadTitle(TITLE_CHARS_MAX)),
        false => Ok(title),
    }
}

/// Makes all changes of an edit or none; with `seen`, only if nothing that can be edited was
/// changed since that row was read. Whether they were made.
///
/// # Errors
/// [`ConversationError::BadTitle`], or if the store fails.
pub async fn edit(
    store: &Store,
    id: &ConversationId,
    edit: ConversationEdit,
    seen: Option<&ConversationRow>,
) -> Result<bool, AppError> {
    let title = edit.title.as_deref().map(checked_title).transpose()?;
    let edit = ConversationEdit { title, ..edit };
    Ok(store.conversations().edit(id, &edit, seen, SystemClock.now()).await?)
}

/// Archives a conversation, or takes it back.
///
/// # Errors
/// If the store fails.
pub async fn archive(store: &Store, id: &ConversationId, on: bool) -> Result<(), AppError> {
    let now = SystemClock.now();
    store.conversations().archive(id, on.then_some(now), now).await?;
    Ok(())
}

/// Makes what was answered last unread again. `false` if nothing was answered yet.
///
/// # Errors
/// If the store fails.
pub async fn mark_unread(store: &Store, id: &ConversationId) -> Result<bool, AppError> {
    Ok(store.conversations().mark_unread(id).await?)
}

/// Keeps a conversation out of memory, or lets it in again: while it is out, its runs propose no
/// facts and leave no notes.
///
/// # Errors
/// [`ConversationError::NotFound`], or if the store fails.
pub async fn keep_out_of_memory(
    store: &Store,
    id: &ConversationId,
    out: bool,
) -> Result<(), AppError> {
    match store.conversations().keep_out_of_memory(id, out, SystemClock.now()).await? {
        true => Ok(()),
        false => Err(ConversationError::NotFound(short_id(id.as_str()).to_owned()).into()),
    }
}

/// The messages of a conversation, the oldest first, without marks of earlier programs.
///
/// # Errors
/// If the store fails.
pub async fn messages(
    store: &Store,
    id: &ConversationId,
    most: Option<usize>,
) -> Result<Vec<ConversationMessage>, AppError> {
    let most = most.unwrap_or(MESSAGES_MAX).min(MESSAGES_MAX);
    let mut said = store.conversations().messages(id, most).await?;
    said.retain(|said| !crate::conversation::is_mark(said));
    Ok(said)
}

/// Checks that a conversation can be deleted now.
///
/// # Errors
/// [`ConversationError::InUse`] while a terminal has it open, [`ConversationError::Working`] while
/// one of its runs has not ended, or if the store fails.
pub async fn check_deletable(
    app: &App,
    store: &Store,
    one: &ListedConversation,
) -> Result<(), AppError> {
    let id = &one.row.id;
    if Terminals::open(app).of_others().conversations.contains(id) {
        return Err(ConversationError::InUse(one.title()).into());
    }
    match store.conversations().open_runs_of(id).await?.into_iter().next() {
        Some((run, _)) => Err(ConversationError::Working { title: one.title(), run }.into()),
        None => Ok(()),
    }
}

/// Deletes a conversation with its messages and its runs, all of which have ended: everything or
/// nothing. How many runs there were.
///
/// # Errors
/// As [`check_deletable`].
pub async fn delete(
    app: &App,
    store: &Store,
    one: &ListedConversation,
    by: &str,
) -> Result<usize, AppError> {
    check_deletable(app, store, one).await?;
    let deleter = Deleter { by, now: SystemClock.now() };
    match store.maintenance().delete_conversation(&one.row.id, deleter).await? {
        ConversationRemoval::Gone(runs) => {
            cleaning::forget_records_of(app, &runs);
            Queue::forget(app, &one.row.id);
            Ok(runs.len())
        }
        ConversationRemoval::Kept(run) => {
            Err(ConversationError::Working { title: one.title(), run }.into())
        }
        ConversationRemoval::Contested => Err(ConversationError::InUse(one.title()).into()),
    }
}
