//! Conversations: listing, beginning, naming, archiving, deleting.

use super::{ListPage, conversation_id, cursor, page_size};
use crate::api::Api;
use crate::idempotency::{RequestKey, name_of};
use crate::json::{Body, PathOf, QueryOf};
use crate::openapi::Operation;
use crate::problem::{Problem, ProblemCode};
use crate::state::ServerState;
use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use everloop_app::conversations::{
    self, ConversationChannel, ConversationQuery, ListedConversation,
};
use everloop_app::goals::{self, ConversationStart};
use everloop_app::show::timestamp;
use everloop_store::{ConversationEdit, ConversationListPlace};
use everloop_types::{ConversationId, digest_bytes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

const LIST: &str = "conversations";

/// A conversation.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Conversation")]
pub(crate) struct ApiConversation {
    /// Its id.
    pub(crate) id: String,
    /// Its title: the one it was given, or its first goal.
    title: String,
    /// The title that a person gave it.
    given_title: Option<String>,
    /// Where the title comes from: `given`, `made` by the model, or the first `goal`.
    title_source: &'static str,
    /// Where its messages come from.
    channel_type: String,
    /// Which conversation of the channel it is.
    channel_thread_id: Option<String>,
    /// The folder that its runs work in.
    workspace: Option<String>,
    /// When it began.
    created_at: String,
    /// When something was said last.
    updated_at: String,
    /// When it was read last.
    last_read_at: Option<String>,
    /// Whether it is archived.
    archived: bool,
    /// Whether anything of it may become a memory.
    memory: bool,
    /// Whether something was said since it was read.
    has_unread: bool,
    /// `working`, `waiting`, `unread` or `idle`.
    state: String,
    /// How many messages it has.
    message_count: i64,
}

impl ApiConversation {
    pub(crate) fn of(one: &ListedConversation) -> Self {
        let row = &one.row;
        Self {
            id: row.id.to_string(),
            title: one.title(),
            given_title: row.title.clone().filter(|_| !row.title_is_made),
            title_source: one.title_source(),
            channel_type: row.channel.clone(),
            channel_thread_id: row.thread.clone(),
            workspace: row.workspace.clone(),
            created_at: timestamp(row.created_at),
            updated_at: timestamp(row.updated_at),
            last_read_at: row.last_read_at.map(timestamp),
            archived: row.archived_at.is_some(),
            memory: !row.out_of_memory,
            has_unread: row.has_unread(),
            state: one.state().name().to_owned(),
            message_count: row.counts.last_pos,
        }
    }

    /// What an edit has to name: it changes with everything that can be edited.
    fn etag(&self) -> String {
        // The first goal stands for a title that nobody has given; it is no edit.
        let title = (self.title_source != "goal").then_some((self.title_source, &self.title));
        let said = format!("{title:?}|{}|{}", self.archived, self.memory);
        format!("\"{}\"", &digest_bytes(said.as_bytes())[..16])
    }

    fn into_answer(self, status: StatusCode) -> Response {
        let etag = HeaderValue::from_str(&self.etag());
        let mut response = (status, Body(self)).into_response();
        if let Ok(etag) = etag {
            response.headers_mut().insert(header::ETAG, etag);
        }
        response
    }
}

/// Which conversations are wanted.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ConversationParams {
    /// Most items of the page; 50 if it is not given.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<usize>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// Only those in which these words occur.
    q: Option<String>,
    /// Only those of this folder.
    workspace: Option<String>,
    /// Archived ones too.
    archived: Option<bool>,
    /// Only those with something unread.
    unread: Option<bool>,
}

/// A conversation to begin.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewApiConversation {
    /// Its title; its first goal is shown if there is none.
    title: Option<String>,
    /// The folder that its runs work in; that of the server if there is none.
    workspace: Option<PathBuf>,
}

/// What is to be changed; what is not named stays.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ConversationChange {
    /// A new title.
    title: Option<String>,
    /// Whether it is archived.
    archived: Option<bool>,
    /// Whether anything of it may become a memory.
    memory: Option<bool>,
}

pub(crate) fn add(api: &mut Api) {
    let list = Operation::get("/v1/conversations", "Lists conversations, the newest first")
        .query::<ConversationParams>()
        .answers::<ListPage<ApiConversation>>(200)
        .problems(&[ProblemCode::BadCursor]);
    api.route(list, list_conversations);
    let begin = Operation::post("/v1/conversations", "Begins a conversation")
        .optional_body::<NewApiConversation>()
        .answers::<ApiConversation>(201)
        .tagged()
        .shows("Location", "Its address.");
    api.route(begin, begin_conversation);
    let get = Operation::get("/v1/conversations/{id}", "One conversation, with an ETag")
        .answers::<ApiConversation>(200)
        .tagged();
    api.route(get, get_conversation);
    let path = "/v1/conversations/{id}";
    let change =
        Operation::new(Method::PATCH, path, "Renames or archives it; If-Match is honoured")
            .body::<ConversationChange>()
            .answers::<ApiConversation>(200)
            .edits();
    api.route(change, change_conversation);
    let delete = Operation::new(Method::DELETE, path, "Deletes it with its messages and runs")
        .answers_empty()
        .bound()
        .problems(&[ProblemCode::Conflict]);
    api.route(delete, delete_conversation);
}

/// The conversation that a path names.
pub(crate) async fn find(state: &ServerState, id: &str) -> Result<ListedConversation, Problem> {
    let id = conversation_id(id)?;
    Ok(goals::read_conversation(state.store(), &id).await?)
}

async fn list_conversations(
    State(state): State<ServerState>,
    QueryOf(params): QueryOf<ConversationParams>,
) -> Result<Body<ListPage<ApiConversation>>, Problem> {
    let size = page_size(params.limit)?;
    let after = params.cursor.map(|cursor| place_of(&cursor)).transpose()?;
    let query = ConversationQuery {
        workspace: params.workspace,
        archived: params.archived.unwrap_or(false),
        words: params.q.filter(|words| !words.trim().is_empty()),
        unread: params.unread.unwrap_or(false),
        after,
        // One more than is shown tells whether anything follows.
        most: size + 1,
        ..ConversationQuery::default()
    };
    let mut page = conversations::list(&state.app, state.store(), query).await?;
    let is_last = page.len() <= size;
    page.truncate(size);
    let last = page.last().filter(|_| !is_last);
    let next_cursor =
        last.map(|one| cursor::write(LIST, &format!("{}/{}", one.row.updated_at, one.row.id)));
    Ok(Body(ListPage { data: page.iter().map(ApiConversation::of).collect(), next_cursor }))
}

/// The place in the list that a cursor names.
fn place_of(cursor: &str) -> Result<ConversationListPlace, Problem> {
    let place = cursor::read(LIST, cursor)?;
    let place = place.split_once('/').and_then(|(at, id)| {
        Some(ConversationListPlace { updated_at: at.parse().ok()?, id: ConversationId::new(id) })
    });
    place.ok_or_else(|| ProblemCode::BadCursor.bare())
}

async fn begin_conversation(
    State(state): State<ServerState>,
    key: Option<Extension<RequestKey>>,
    new: Option<Body<NewApiConversation>>,
) -> Result<Response, Problem> {
    let Body(new) = new.unwrap_or(Body(NewApiConversation::default()));
    let idem_key = name_of(key.as_ref(), "conversations");
    let NewApiConversation { title, workspace } = new;
    let start = ConversationStart { title, workspace, idem_key, ..ConversationStart::default() };
    let channel = ConversationChannel::Api;
    let one = goals::begin_conversation(&state.app, state.store(), channel, start).await?;
    let location = HeaderValue::from_str(&format!("/v1/conversations/{}", one.row.id));
    let mut response = ApiConversation::of(&one).into_answer(StatusCode::CREATED);
    if let Ok(location) = location {
        response.headers_mut().insert(header::LOCATION, location);
    }
    Ok(response)
}

async fn get_conversation(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
) -> Result<Response, Problem> {
    let one = find(&state, &id).await?;
    Ok(ApiConversation::of(&one).into_answer(StatusCode::OK))
}

async fn change_conversation(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    headers: HeaderMap,
    Body(change): Body<ConversationChange>,
) -> Result<Response, Problem> {
    let one = find(&state, &id).await?;
    let is_bound = check_match(&headers, &ApiConversation::of(&one).etag())?;
    let id = &one.row.id;
    let edit = ConversationEdit {
        title: change.title,
        archived: change.archived,
        out_of_memory: change.memory.map(|memory| !memory),
    };
    let seen = is_bound.then_some(&one.row);
    if !conversations::edit(state.store(), id, edit, seen).await? {
        let code = if is_bound { ProblemCode::PreconditionFailed } else { ProblemCode::NotFound };
        return Err(code.bare());
    }
    let one = find(&state, id.as_str()).await?;
    Ok(ApiConversation::of(&one).into_answer(StatusCode::OK))
}

/// Refuses an edit of something that was changed since its author read it. Whether the edit is
/// bound to what was read: then the write has to check it once more.
pub(super) fn check_match(headers: &HeaderMap, etag: &str) -> Result<bool, Problem> {
    let Some(wanted) = headers.get(header::IF_MATCH) else { return Ok(false) };
    let wanted = wanted.to_str().unwrap_or_default();
    if wanted.trim() == "*" {
        return Ok(false);
    }
    match wanted.split(',').any(|one| one.trim() == etag) {
        true => Ok(true),
        false => Err(ProblemCode::PreconditionFailed.bare()),
    }
}

async fn delete_conversation(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    let one = find(&state, &id).await?;
    check_match(&headers, &ApiConversation::of(&one).etag())?;
    conversations::delete(&state.app, state.store(), &one, "api").await?;
    Ok(StatusCode::NO_CONTENT)
}
