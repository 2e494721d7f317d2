//! `/memory`: facts and proposals of the folder, and what the person decides about them.

use super::super::{ChatReply, ChatScreen, Conversation, Reaction};
use super::first_word;
use crate::briefing;
use crate::error::{AppError, ConversationError};
use crate::facts::{self, FactAuthor, FactDecision, FactEditor};
use crate::slash::{SlashLine, SlashResult};
use everloop_store::{FactFilter, FactRow};
use everloop_types::{FactId, FactStatus};

/// Facts and proposals that are listed, of each.
const LISTED: usize = 100;

/// Facts and proposals as they are numbered from 1: proposals first, the oldest of each first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactList {
    /// What waits for a decision.
    pub proposed: Vec<FactRow>,
    /// What new runs are told.
    pub active: Vec<FactRow>,
    /// Whether this conversation is kept out of memory.
    pub kept_out: bool,
}

/// What came of `/memory`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FactReply {
    /// Facts and proposals.
    Listed(FactList),
    /// These were written or decided about.
    Changed(Vec<FactRow>),
    /// The list has no such number, and no fact such an id.
    NoSuch(String),
    /// The conversation is kept out of memory from now on, or let in again.
    KeptOut(bool),
}

/// `/memory [add|accept|reject|forget|on|off|show|edit]`.
pub(super) async fn memory(chat: &mut Conversation, line: &SlashLine) -> SlashResult {
    let (verb, rest) = first_word(&line.rest);
    match (verb, rest) {
        ("" | "facts" | "list", "") => listed(chat).await,
        ("show" | "notes", "") => notes(chat),
        ("edit" | "open", "") => Ok(Reaction::Screen(ChatScreen::EditMemory)),
        ("on" | "off", "") => keep_out(chat, verb == "off").await,
        ("add", text) if !text.is_empty() => add(chat, text).await,
        ("accept", which) => decide(chat, FactDecision::Accept, which).await,
        ("reject", which) => decide(chat, FactDecision::Reject, which).await,
        ("forget" | "withdraw", which) if !which.is_empty() => {
            decide(chat, FactDecision::Withdraw, which).await
        }
        _ => Ok(ChatReply::Usage(line.command).into()),
    }
}

fn notes(chat: &Conversation) -> SlashResult {
    let memory = briefing::memory(&chat.app, &chat.choice.workspace);
    let text = memory.text().map_err(AppError::Home)?;
    Ok(ChatReply::Memory(memory.file(), text).into())
}

async fn listed(chat: &mut Conversation) -> SlashResult {
    let list = list(chat).await?;
    let all = list.proposed.iter().chain(&list.active);
    chat.listed_facts = all.map(|fact| fact.id.clone()).collect();
    Ok(ChatReply::Facts(FactReply::Listed(list)).into())
}

async fn list(chat: &Conversation) -> Result<FactList, AppError> {
    let of = |status| FactFilter {
        status: Some(status),
        workspace: Some(chat.choice.workspace.to_string_lossy().into_owned()),
        most: LISTED,
        before: None,
    };
    let mut proposed = facts::list(chat.store(), &of(FactStatus::Proposed)).await?;
    let mut active = facts::list(chat.store(), &of(FactStatus::Active)).await?;
    proposed.reverse();
    active.reverse();
    let row = chat.store().conversations().get(&chat.place.id).await?;
    let kept_out = row.is_some_and(|row| row.out_of_memory);
    Ok(FactList { proposed, active, kept_out })
}

async fn add(chat: &Conversation, text: &str) -> SlashResult {
    let workspace = chat.choice.workspace.to_string_lossy();
    let conversation = Some(&chat.place.id);
    let author = FactAuthor { by: "user", workspace: Some(&workspace), conversation };
    let fact = facts::add(&chat.app, chat.store(), author, text).await?;
    Ok(ChatReply::Facts(FactReply::Changed(vec![fact])).into())
}

/// All of them are found before the first is changed.
async fn decide(chat: &mut Conversation, decision: FactDecision, which: &str) -> SlashResult {
    let ids = match named(chat, which).await? {
        Named::These(ids) => ids,
        Named::NoSuch(word) => return Ok(ChatReply::Facts(FactReply::NoSuch(word)).into()),
        Named::Unclear => return listed(chat).await,
    };
    let mut changed = Vec::new();
    for id in ids {
        let done = facts::decide(&chat.app, chat.store(), &id, decision, FactEditor::USER);
        changed.push(done.await?);
    }
    Ok(ChatReply::Facts(FactReply::Changed(changed)).into())
}

/// Which facts a person means.
enum Named {
    These(Vec<FactId>),
    NoSuch(String),
    Unclear,
}

/// Numbers mean what was listed last, else what would be listed now. Without any word the only
/// proposal is meant.
async fn named(chat: &Conversation, words: &str) -> Result<Named, AppError> {
    let list = list(chat).await?;
    if words.is_empty() {
        return Ok(match list.proposed.as_slice() {
            [only] => Named::These(vec![only.id.clone()]),
            _ => Named::Unclear,
        });
    }
    let fresh: Vec<FactId> =
        list.proposed.iter().chain(&list.active).map(|fact| fact.id.clone()).collect();
    let numbered = if chat.listed_facts.is_empty() { &fresh } else { &chat.listed_facts };
    let mut ids = Vec::new();
    for word in words.split([' ', ',', '，', '、']).filter(|word| !word.is_empty()) {
        let number = word.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let by_number = number.and_then(|at| numbered.get(at).cloned());
        match by_number {
            Some(id) => ids.push(id),
            None => match facts::find(chat.store(), word).await {
                Ok(fact) => ids.push(fact.id),
                Err(AppError::Conversation(ConversationError::Fact(_))) => {
                    return Ok(Named::NoSuch(word.to_owned()));
                }
                Err(error) => return Err(error),
            },
        }
    }
    Ok(if ids.is_empty() { Named::Unclear } else { Named::These(ids) })
}

async fn keep_out(chat: &mut Conversation, out: bool) -> SlashResult {
    chat.place.record(&chat.app, chat.engine.store(), &chat.choice.workspace).await?;
    crate::conversations::keep_out_of_memory(chat.store(), &chat.place.id, out).await?;
    Ok(ChatReply::Facts(FactReply::KeptOut(out)).into())
}
