//! Facts: what later runs are told because a person, or the settings, accepted it.
//!
//! ```text
//!   memory_propose ──► proposed ──accept──► active ──withdraw──► withdrawn
//!                          └──reject──► rejected      (accept brings both back)
//!   memory add ─────────────────────────► active
//! ```
//!
//! Every change is a row of the history and an event of the audit. What a run proposes that has
//! read what others wrote stays proposed until a person accepts it, whatever the settings say.
//! Deliberately absent: the notes of earlier runs ([`crate::context::memory`]).

mod search;
mod telling;
pub(crate) mod tools;

pub use telling::{active_facts, brief};

use crate::app::App;
use crate::conversations::{self, ListedConversation};
use crate::error::AppError;
use crate::settings::Settings;
use everloop_engine::{Clock, SystemClock, fresh_id, keyed_id};
use everloop_store::{
    FactChange, FactChangeKind, FactFilter, FactRow, FactState, FactUpdate, NewFact, RunFilter,
    RunRow, Store,
};
use everloop_types::{
    ConversationId, FactId, FactProposal, FactSource, FactStatus, RunId, one_line,
};
use serde::Serialize;

/// Runs whose beginnings are looked at for a fact.
const RUNS_LOOKED_AT: usize = 100;

/// Who accepts what a run proposes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FactPolicy {
    /// A person.
    Ask,
    /// The settings, as long as the run has read nothing that others wrote.
    Auto,
}

/// A fact cannot be written or changed.
#[derive(Debug, thiserror::Error)]
pub enum FactError {
    /// No fact has this id.
    #[error("no fact {0}")]
    NotFound(String),
    /// Several facts have an id that ends like this.
    #[error("{id} matches several facts")]
    Ambiguous {
        /// What was asked for.
        id: String,
        /// The facts that match.
        all: Vec<FactId>,
    },
    /// It says nothing.
    #[error("a fact needs some text")]
    Empty,
    /// It is longer than the settings allow.
    #[error("{chars} characters, and a fact has at most {most}")]
    TooLong {
        /// How long it is.
        chars: usize,
        /// How long it may be.
        most: usize,
    },
    /// There are as many active facts as the settings allow.
    #[error("there are {0} active facts already")]
    TooMany(usize),
    /// Its status does not allow what was asked.
    #[error("{id} is {}", status.as_str())]
    WrongStatus {
        /// The fact.
        id: FactId,
        /// Its status.
        status: FactStatus,
        /// What was asked.
        wanted: FactDecision,
    },
    /// Somebody changed it since it was read.
    #[error("{0} was changed meanwhile")]
    Changed(FactId),
}

/// What a person decides about a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FactDecision {
    /// Later runs are told.
    Accept,
    /// A proposal is refused.
    Reject,
    /// Later runs are not told any more.
    Withdraw,
}

impl FactDecision {
    /// The status that it leads to.
    #[must_use]
    pub fn status(self) -> FactStatus {
        match self {
            Self::Accept => FactStatus::Active,
            Self::Reject => FactStatus::Rejected,
            Self::Withdraw => FactStatus::Withdrawn,
        }
    }

    fn change(self) -> FactChangeKind {
        match self {
            Self::Accept => FactChangeKind::Accepted,
            Self::Reject => FactChangeKind::Rejected,
            Self::Withdraw => FactChangeKind::Withdrawn,
        }
    }

    fn allows(self, from: FactStatus) -> bool {
        match self {
            Self::Accept => true,
            Self::Reject => from == FactStatus::Proposed,
            Self::Withdraw => matches!(from, FactStatus::Proposed | FactStatus::Active),
        }
    }
}

/// Who writes a fact of their own, for whom, and where they said so.
#[derive(Debug, Clone, Copy)]
pub struct FactAuthor<'a> {
    /// `user`, or the surface.
    pub by: &'a str,
    /// The folder whose runs are told; none for all.
    pub workspace: Option<&'a str>,
    /// The conversation in which it was said.
    pub conversation: Option<&'a ConversationId>,
}

/// A change of a fact by a person.
#[derive(Debug, Clone, Copy)]
pub struct FactEditor<'a> {
    /// `user`, or the surface.
    pub by: &'a str,
    /// The version that the person saw, if that is known: another one is refused.
    pub version: Option<i64>,
}

impl FactEditor<'_> {
    /// A person at the terminal, who changes what is there.
    pub const USER: Self = FactEditor { by: "user", version: None };
}

/// A fact with where it comes from and all its changes.
#[derive(Debug, Clone, Serialize)]
pub struct FactDetails {
    /// The fact.
    #[serde(flatten)]
    pub fact: FactRow,
    /// The title of its conversation; none if it has none, or none any more.
    pub conversation_title: Option<String>,
    /// What the person said before it was proposed; none if it was deleted.
    pub message: Option<String>,
    /// Whether the run or the message that it came from was deleted.
    pub source_gone: bool,
    /// Every change, the oldest first.
    pub history: Vec<FactChange>,
}

/// What people read and type of a fact's id.
#[must_use]
pub fn short_id(id: &FactId) -> &str {
    conversations::short_id(id.as_str())
}

/// A fact as it is stored and shown: one line, in which nothing is hidden.
///
/// # Errors
/// [`FactError::Empty`] and [`FactError::TooLong`].
pub fn checked_text(settings: &Settings, text: &str) -> Result<String, FactError> {
    let most = settings.memory.fact_chars;
    let chars = text.chars().count();
    // A huge text is not worked on at all.
    if chars > most.saturating_mul(4) {
        return Err(FactError::TooLong { chars, most });
    }
    let line = one_line(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    match line.chars().count() {
        0 => Err(FactError::Empty),
        chars if chars > most => Err(FactError::TooLong { chars, most }),
        _ => Ok(line),
    }
}

/// Facts, the newest first.
///
/// # Errors
/// If the store fails.
pub async fn list(store: &Store, filter: &FactFilter) -> Result<Vec<FactRow>, AppError> {
    Ok(store.facts().list(filter).await?)
}

/// The fact that an id, or the end of one, means.
///
/// # Errors
/// [`FactError::NotFound`], [`FactError::Ambiguous`], or if the store fails.
pub async fn find(store: &Store, id: &str) -> Result<FactRow, AppError> {
    let mut found = store.facts().find(id.trim()).await?;
    match found.len() {
        0 => Err(FactError::NotFound(id.trim().to_owned()).into()),
        1 => Ok(found.swap_remove(0)),
        _ => {
            let all = found.into_iter().map(|fact| fact.id).collect();
            Err(FactError::Ambiguous { id: id.trim().to_owned(), all }.into())
        }
    }
}

/// The active facts that fit the words best, for runs in a folder; of all folders without one.
///
/// # Errors
/// If the store fails.
pub async fn search(
    app: &App,
    store: &Store,
    workspace: Option<&str>,
    words: &str,
) -> Result<Vec<FactRow>, AppError> {
    let all = active_in(&app.settings, store, workspace).await?;
    Ok(search::ranked(all, words))
}

/// Every active fact of a folder and those for all, the newest first.
async fn active_in(
    settings: &Settings,
    store: &Store,
    workspace: Option<&str>,
) -> Result<Vec<FactRow>, AppError> {
    let filter = FactFilter {
        status: Some(FactStatus::Active),
        workspace: workspace.map(str::to_owned),
        most: settings.memory.max_facts,
        ..FactFilter::default()
    };
    list(store, &filter).await
}

/// Writes a fact of a person's own; it is active at once.
///
/// # Errors
/// [`FactError`], or if the store fails.
pub async fn add(
    app: &App,
    store: &Store,
    author: FactAuthor<'_>,
    text: &str,
) -> Result<FactRow, AppError> {
    let id = FactId::new(fresh_id("fact_", SystemClock.now()));
    add_as(app, store, id, author, text).await
}

/// The same, once for each key: a fact that was written under it stays as it is by now.
///
/// # Errors
/// As [`add`].
pub async fn add_once(
    app: &App,
    store: &Store,
    author: FactAuthor<'_>,
    text: &str,
    key: &str,
) -> Result<FactRow, AppError> {
    let at = store.agenda().first_tried(key, SystemClock.now()).await?;
    let id = FactId::new(keyed_id("fact_", at, key));
    match store.facts().get(&id).await? {
        Some(written) => Ok(written),
        None => add_as(app, store, id, author, text).await,
    }
}

async fn add_as(
    app: &App,
    store: &Store,
    id: FactId,
    author: FactAuthor<'_>,
    text: &str,
) -> Result<FactRow, AppError> {
    let text = checked_text(&app.settings, text)?;
    check_room(app, store).await?;
    let now = SystemClock.now();
    let fact = FactProposal {
        id,
        text,
        workspace: author.workspace.map(str::to_owned),
        source: FactSource {
            conversation: shared(store, author.conversation).await?,
            ..FactSource::default()
        },
        untrusted: false,
        accept: true,
    };
    let new = NewFact::written(fact, author.by, now);
    store.facts().add(&new).await?;
    find(store, new.id().as_str()).await
}

/// The conversation that a fact may name: none that is kept out of memory.
async fn shared(
    store: &Store,
    conversation: Option<&ConversationId>,
) -> Result<Option<ConversationId>, AppError> {
    let Some(id) = conversation else { return Ok(None) };
    let row = store.conversations().get(id).await?;
    Ok(row.filter(|row| !row.out_of_memory).map(|row| row.id))
}

async fn check_room(app: &App, store: &Store) -> Result<(), AppError> {
    let most = app.settings.memory.max_facts;
    match store.facts().count(FactStatus::Active).await? >= most {
        true => Err(FactError::TooMany(most).into()),
        false => Ok(()),
    }
}

/// Other words for a fact, a decision on it, or both.
#[derive(Debug, Clone, Copy, Default)]
pub struct FactRevision<'a> {
    /// The new words. They are then the person's own, whoever proposed the fact.
    pub text: Option<&'a str>,
    /// The decision. The same one again changes nothing.
    pub decision: Option<FactDecision>,
}

/// Changes a fact: all of it in one commit, or nothing.
///
/// # Errors
/// [`FactError`], or if the store fails.
pub async fn revise(
    app: &App,
    store: &Store,
    id: &FactId,
    revision: FactRevision<'_>,
    editor: FactEditor<'_>,
) -> Result<FactRow, AppError> {
    let seen = seen(store, id, editor).await?;
    let (mut to, mut kind) = (seen.state(), FactChangeKind::Edited);
    if let Some(text) = revision.text {
        to = FactState { text: checked_text(&app.settings, text)?, untrusted: false, ..to };
    }
    let decision = revision.decision.filter(|decision| decision.status() != seen.status);
    if let Some(decision) = decision {
        if !decision.allows(seen.status) {
            let (id, status) = (seen.id, seen.status);
            return Err(FactError::WrongStatus { id, status, wanted: decision }.into());
        }
        if decision == FactDecision::Accept {
            check_room(app, store).await?;
        }
        to.status = decision.status();
        kind = decision.change();
    }
    if to == seen.state() {
        return Ok(seen);
    }
    change(store, &seen, kind, &to, editor).await
}

/// Accepts, refuses or withdraws a fact.
///
/// # Errors
/// As [`revise`].
pub async fn decide(
    app: &App,
    store: &Store,
    id: &FactId,
    decision: FactDecision,
    editor: FactEditor<'_>,
) -> Result<FactRow, AppError> {
    let revision = FactRevision { decision: Some(decision), ..FactRevision::default() };
    revise(app, store, id, revision, editor).await
}

/// Writes a fact anew.
///
/// # Errors
/// As [`revise`].
pub async fn edit(
    app: &App,
    store: &Store,
    id: &FactId,
    text: &str,
    editor: FactEditor<'_>,
) -> Result<FactRow, AppError> {
    let revision = FactRevision { text: Some(text), ..FactRevision::default() };
    revise(app, store, id, revision, editor).await
}

async fn seen(store: &Store, id: &FactId, editor: FactEditor<'_>) -> Result<FactRow, AppError> {
    let seen = store.facts().get(id).await?;
    let seen = seen.ok_or_else(|| FactError::NotFound(id.to_string()))?;
    match editor.version {
        Some(version) if version != seen.version => Err(FactError::Changed(id.clone()).into()),
        _ => Ok(seen),
    }
}

async fn change(
    store: &Store,
    seen: &FactRow,
    change: FactChangeKind,
    to: &FactState,
    editor: FactEditor<'_>,
) -> Result<FactRow, AppError> {
    // A row is never changed in the past, even if the clock went back.
    let now = SystemClock.now().max(seen.updated_at);
    let update = FactUpdate { change, to, by: editor.by, now };
    match store.facts().update(seen, update).await? {
        true => find(store, seen.id.as_str()).await,
        false => Err(FactError::Changed(seen.id.clone()).into()),
    }
}

/// A fact with where it comes from and all its changes.
///
/// # Errors
/// If the store fails.
pub async fn details(store: &Store, fact: FactRow) -> Result<FactDetails, AppError> {
    let FactSource { conversation, run, message } = &fact.source;
    let of = match conversation {
        Some(id) => store.conversations().get(id).await?.map(ListedConversation::new),
        None => None,
    };
    let message_text = match message {
        Some(id) => store.facts().message(id).await?,
        None => None,
    };
    let is_run_gone = match run {
        Some(run) => store.runs().get(run).await?.is_none(),
        None => false,
    };
    let source_gone = is_run_gone || message.is_some() && message_text.is_none();
    let history = store.facts().history(&fact.id).await?;
    let conversation_title = of.map(|of| of.title());
    Ok(FactDetails { fact, conversation_title, message: message_text, source_gone, history })
}

/// The newest runs that were told a fact. Only so many of the newest runs are looked at.
///
/// # Errors
/// If the store fails.
pub async fn told_to(store: &Store, fact: &FactId) -> Result<Vec<RunRow>, AppError> {
    let mark = format!("- ({}, ", short_id(fact));
    let filter = RunFilter { statuses: Vec::new(), before: None, most: RUNS_LOOKED_AT };
    let mut told = Vec::new();
    for row in store.runs().list(&filter).await? {
        let frame = store.journal().frame(&row.run).await?;
        if frame.is_some_and(|frame| frame.system.contains(&mark)) {
            told.push(row);
        }
    }
    Ok(told)
}

/// The facts that a run and its helpers proposed, the oldest first.
///
/// # Errors
/// If the store fails.
pub async fn proposed_by(store: &Store, run: &RunId) -> Result<Vec<FactRow>, AppError> {
    Ok(store.facts().of_run(run).await?)
}
