//! `/new`, `/resume`, `/conversations` and `/rename`: from one conversation to another.

use super::super::{ChatReply, Conversation, ConversationSelection, Reaction};
use super::named_run;
use crate::conversations::{self as all, ConversationQuery, ListedConversation, ResumeTarget};
use crate::error::{AppError, ConversationError, RunError};
use crate::slash::{SlashLine, SlashResult};
use everloop_store::{RunFilter, RunRow};
use everloop_types::{ConversationId, RunId, Status};

/// Runs among which the one to go back to is looked for.
const RESUMABLE: usize = 200;

/// Conversations that are listed, and messages that are shown of one that goes on.
const LISTED: usize = 20;
const SAID_SHOWN: usize = 4;

/// `/new [TITLE]`.
pub(super) async fn begin_anew(chat: &mut Conversation, line: &SlashLine) -> SlashResult {
    chat.enter(ConversationSelection::New).await?;
    if !line.rest.is_empty() {
        return Ok(ChatReply::BeganAnewAs(give_title(chat, line).await?).into());
    }
    Ok(ChatReply::BeganAnew.into())
}

/// `/rename TITLE`.
pub(super) async fn rename(chat: &mut Conversation, line: &SlashLine) -> SlashResult {
    if line.rest.is_empty() {
        return Ok(ChatReply::Usage(line.command).into());
    }
    Ok(ChatReply::Renamed(give_title(chat, line).await?).into())
}

async fn give_title(chat: &mut Conversation, line: &SlashLine) -> Result<String, AppError> {
    chat.place.record(&chat.app, chat.engine.store(), &chat.choice.workspace).await?;
    all::rename(chat.store(), &chat.place.id, &line.rest).await
}

/// `/conversations [WORDS]`.
pub(super) async fn list(chat: &mut Conversation, line: &SlashLine) -> SlashResult {
    let words = Some(line.rest.clone()).filter(|words| !words.is_empty());
    let query = ConversationQuery {
        chats_only: words.is_none(),
        words,
        most: LISTED,
        ..Default::default()
    };
    Ok(ChatReply::Conversations(all::list(&chat.app, chat.store(), query).await?).into())
}

/// `/resume [ID|TITLE|WORDS]`.
pub(super) async fn resume(chat: &mut Conversation, line: &SlashLine) -> SlashResult {
    if line.rest.is_empty() {
        let workspace = chat.choice.workspace.to_string_lossy().into_owned();
        let mut rows = all::resumable(&chat.app, chat.store(), Some(&workspace)).await?;
        rows.retain(|one| one.row.id != chat.place.id || one.row.is_open());
        return Ok(match run_to_resume(chat).await? {
            None if rows.is_empty() => ChatReply::NoRun.into(),
            run => Reaction::Pick(rows, run),
        });
    }
    let target = match all::find_target(&chat.app, chat.store(), &line.rest).await {
        Err(AppError::Conversation(ConversationError::Ambiguous { all, .. })) => {
            return Ok(Reaction::Pick(all, None));
        }
        target => target?,
    };
    match target {
        ResumeTarget::Run(run) => resume_run(chat, &run).await,
        ResumeTarget::Conversation(id) => resume_conversation(chat, &id).await,
    }
}

/// A run goes on in its own conversation, if that is a chat; that of a script goes on here.
async fn resume_run(chat: &mut Conversation, run: &RunId) -> SlashResult {
    let row = chat.store().runs().get(run).await?;
    let row = row.ok_or_else(|| AppError::from(RunError::NotFound(run.to_string())))?;
    let of = chat.store().conversations().get(&row.conversation).await?;
    let of = of.map(ListedConversation::new).filter(ListedConversation::is_chat);
    if let Some(of) = of.filter(|of| of.row.id != chat.place.id) {
        chat.enter(ConversationSelection::Named(of.row.id)).await?;
    }
    chat.run(run).wake().await?;
    Ok(Reaction::Follow(run.clone(), None))
}

async fn resume_conversation(chat: &mut Conversation, id: &ConversationId) -> SlashResult {
    let row = chat.store().conversations().get(id).await?;
    let row = row.ok_or_else(|| AppError::from(ConversationError::NotFound(id.to_string())))?;
    let one = ListedConversation::new(row);
    if !one.is_chat() {
        let open = chat.store().conversations().open_runs_of(id).await?;
        let newest = chat.store().conversations().runs_of(id, 1).await?;
        let run = open.into_iter().map(|(run, _)| run).chain(newest).next();
        let run = run.ok_or_else(|| ConversationError::NotFound(one.title()))?;
        return resume_run(chat, &run).await;
    }
    if *id != chat.place.id {
        chat.enter(ConversationSelection::Named(id.clone())).await?;
    }
    let reply = match chat.opening.lost_folder.clone() {
        Some(folder) => ChatReply::FolderGone(Box::new(one), folder),
        None => {
            let said = all::messages(chat.store(), id, Some(SAID_SHOWN)).await?;
            ChatReply::ConversationOpened(Box::new(one), said)
        }
    };
    match chat.working_run().await? {
        Some(run) => {
            chat.run(&run).wake().await?;
            Ok(Reaction::Follow(run, Some(reply)))
        }
        None => Ok(reply.into()),
    }
}

/// The run to go back to: one that is under way and that no other terminal has, this conversation's
/// first; else the last.
async fn run_to_resume(chat: &Conversation) -> Result<Option<RunId>, AppError> {
    let filter = RunFilter { statuses: Vec::new(), before: None, most: RESUMABLE };
    let rows = chat.store().runs().list(&filter).await?;
    let others = chat.questions.terminals.of_others().runs;
    let tops = || rows.iter().filter(|row| row.origin.parent.is_none());
    let is_over = |row: &RunRow| row.status.is_final() || row.status == Status::Quarantined;
    let is_open = |row: &&RunRow| !is_over(row) && !others.contains(&row.run);
    let is_here = |row: &&RunRow| row.conversation == chat.place.id;
    let open = tops().filter(is_here).find(is_open).or_else(|| tops().find(is_open));
    match open {
        Some(row) => Ok(Some(row.run.clone())),
        None => named_run(chat, "")
            .await
            .map(|own| own.or_else(|| tops().next().map(|r| r.run.clone()))),
    }
}
