//! Messages of a conversation: reading them, sending one, marking them as read.

use super::conversations::{ApiConversation, find};
use super::runs::ApiRun;
use super::shapes::SearchHit;
use super::{JsonObject, ListPage, cursor, page_size, run_id};
use crate::api::Api;
use crate::idempotency::{RequestKey, name_of};
use crate::json::{Body, PathOf, QueryOf};
use crate::openapi::Operation;
use crate::problem::{Problem, ProblemCode};
use crate::state::ServerState;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use everloop_app::conversations::{self, FoundMessage, MessageRecord};
use everloop_app::show::timestamp;
use everloop_app::turns::{BusyPolicy, SeenQuestions, TurnMessage, TurnMode, TurnReceipt};
use everloop_engine::{Clock, SystemClock, fresh_id};
use everloop_store::{MessageQuery, MessageRange, RunRow};
use everloop_types::RunId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::PathBuf;

const LIST: &str = "messages";
const SEARCH: &str = "search";

/// Characters of one message.
const CONTENT_CHARS_MAX: usize = 200_000;

/// A message of a conversation.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Message")]
pub(crate) struct ApiMessage {
    /// Its id.
    id: String,
    /// Its conversation.
    conversation_id: String,
    /// `user` or `assistant`.
    role: String,
    /// Its text.
    content: String,
    /// The same in parts.
    parts: JsonObject,
    /// What it tells of: the end of a run.
    source_ref: Option<ApiSourceRef>,
    /// The run that it belongs to.
    run_id: Option<String>,
    /// The turn that it belongs to.
    turn_id: Option<String>,
    /// When it was written.
    created_at: String,
}

/// What a message tells of.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SourceRef")]
pub(crate) struct ApiSourceRef {
    /// `run`.
    kind: &'static str,
    /// The id of the run.
    ref_id: String,
}

impl ApiMessage {
    pub(super) fn of(message: &MessageRecord) -> Self {
        let source_ref = message
            .source_ref
            .as_ref()
            .map(|source| ApiSourceRef { kind: source.kind, ref_id: source.ref_id.to_string() });
        Self {
            id: message.id.clone(),
            conversation_id: message.conversation_id.to_string(),
            role: message.role.clone(),
            content: message.content.clone(),
            parts: JsonObject(message.parts.clone()),
            source_ref,
            run_id: message.run_id.as_ref().map(RunId::to_string),
            turn_id: message.turn_id.as_ref().map(RunId::to_string),
            created_at: timestamp(message.created_at),
        }
    }
}

/// A message to send.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewApiMessage {
    /// What is said.
    #[schemars(length(min = 1))]
    content: String,
    /// The same id twice is the same message; `Idempotency-Key` serves too.
    client_request_id: Option<String>,
    /// The loop that is to work on it, without a decision first.
    #[serde(rename = "loop")]
    loop_name: Option<String>,
    /// Pictures that go with it: files on the machine of the server, relative to the folder of the
    /// conversation.
    #[serde(default)]
    attachments: Vec<PathBuf>,
    /// What happens if a run of the conversation works already.
    #[serde(default)]
    on_busy: BusyPolicy,
    /// The ids of the questions that the sender had read: the message answers none but these.
    /// Without the field it answers the question that is open, whichever that is by then.
    answers: Option<Vec<String>>,
}

/// What became of a message.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SentMessage {
    /// The turn that it began or goes on with.
    turn_id: Option<String>,
    /// The message, if it began a turn.
    message: Option<ApiMessage>,
    /// The run that works on it; its events say how it goes.
    run: Option<ApiRun>,
    /// What it did: it began a turn, answered a question, canceled, or was a command with a reply.
    receipt: JsonObject,
}

/// A message of an outside worker.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EmittedMessage {
    /// What is said.
    #[schemars(length(min = 1))]
    content: String,
    /// The worker's name of the message: the same name twice is the same message. A message without
    /// one is new each time.
    #[schemars(length(max = 64))]
    message_id: Option<String>,
}

/// Up to where a conversation was read.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadMark {
    /// The last message that was read; everything if there is none.
    message_id: Option<String>,
}

/// Which messages are wanted.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MessageParams {
    /// Most items of the page; 50 if it is not given.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<usize>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// What is looked for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchParams {
    /// Words that must all occur.
    #[schemars(length(min = 1))]
    q: String,
    /// Most items of the page; 50 if it is not given.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<usize>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

pub(crate) fn add(api: &mut Api) {
    let get = Operation::get("/v1/messages/{id}", "One message");
    api.route(get.answers::<ApiMessage>(200), get_message);
    let search = Operation::get("/v1/search", "Messages in which words occur, the newest first")
        .query::<SearchParams>()
        .answers::<ListPage<SearchHit>>(200)
        .problems(&[ProblemCode::BadCursor]);
    api.route(search, search_messages);
    let path = "/v1/conversations/{id}/messages";
    let list = Operation::get(path, "Messages, the newest page first, each page in order")
        .query::<MessageParams>()
        .answers::<ListPage<ApiMessage>>(200)
        .problems(&[ProblemCode::BadCursor]);
    api.route(list, list_messages);
    let send = Operation::post(path, "Sends a message; a run works on it")
        .body::<NewApiMessage>()
        .answers::<SentMessage>(202)
        .answers::<SentMessage>(200)
        .problems(&[
            ProblemCode::ModelUnavailable,
            ProblemCode::AlreadyAnswered,
            ProblemCode::Conflict,
        ]);
    api.route(send, send_message);
    let path = "/internal/runs/{id}/emit-message";
    let emit =
        Operation::post(path, "Adds a message of an outside worker, once for each message_id")
            .body::<EmittedMessage>()
            .answers::<JsonObject>(200);
    api.route(emit, emit_message);
    let path = "/v1/conversations/{id}/read";
    let read = Operation::post(path, "Marks it as read, up to a message or altogether")
        .optional_body::<ReadMark>()
        .answers::<ApiConversation>(200);
    api.route(read, mark_read);
}

async fn list_messages(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    QueryOf(params): QueryOf<MessageParams>,
) -> Result<Body<ListPage<ApiMessage>>, Problem> {
    let one = find(&state, &id).await?;
    let most = page_size(params.limit)?;
    let list = format!("{LIST}/{id}");
    let before = match params.cursor {
        Some(cursor) => {
            let place = cursor::read(&list, &cursor)?.parse::<i64>();
            Some(place.map_err(|_| ProblemCode::BadCursor.bare())?)
        }
        None => None,
    };
    let range = MessageRange { before, after: None, most };
    let page = conversations::messages_page(state.store(), &one.row.id, range).await?;
    let next = page.before.filter(|_| page.has_more);
    let next_cursor = next.map(|place| cursor::write(&list, &place.to_string()));
    Ok(Body(ListPage { data: page.data.iter().map(ApiMessage::of).collect(), next_cursor }))
}

async fn get_message(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
) -> Result<Body<ApiMessage>, Problem> {
    Ok(Body(ApiMessage::of(&conversations::message(state.store(), &id).await?)))
}

async fn search_messages(
    State(state): State<ServerState>,
    QueryOf(params): QueryOf<SearchParams>,
) -> Result<Body<JsonObject>, Problem> {
    let most = page_size(params.limit)?;
    let before = params.cursor.map(|cursor| cursor::read(SEARCH, &cursor)).transpose()?;
    let before = before.map(|place| place.parse::<i64>()).transpose();
    let before = before.map_err(|_| ProblemCode::BadCursor.bare())?;
    let query = MessageQuery { words: params.q, conversation: None, before, most };
    let found = conversations::search(state.store(), query).await?;
    let next = found.next.map(|place| cursor::write(SEARCH, &place.to_string()));
    let hit = |found: &FoundMessage| {
        let mut hit = json!(found);
        hit["created_at"] = timestamp(found.message.created_at).into();
        hit
    };
    let data: Vec<Value> = found.data.iter().map(hit).collect();
    Ok(Body(JsonObject(json!({"data": data, "next_cursor": next}))))
}

async fn send_message(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    key: Option<Extension<RequestKey>>,
    Body(new): Body<NewApiMessage>,
) -> Result<(StatusCode, Body<SentMessage>), Problem> {
    let one = find(&state, &id).await?;
    check_content(&new.content)?;
    let folder = one.row.workspace.as_ref().map(PathBuf::from).unwrap_or_default();
    let message = TurnMessage {
        content: new.content,
        client_request_id: new.client_request_id.or(key.map(|Extension(RequestKey(key))| key)),
        attachments: new.attachments.iter().map(|file| folder.join(file)).collect(),
        mode: match new.loop_name {
            Some(name) => TurnMode::Loop(Some(name)),
            None => TurnMode::Decide,
        },
        answers: new.answers.map_or(SeenQuestions::Any, SeenQuestions::Only),
        ..TurnMessage::default()
    };
    let queues = &state.behind.queues;
    let receipt =
        queues.send(&state.app, state.engine(), &one.row.id, message, new.on_busy).await?;
    let sent = sent_message(&state, &receipt).await?;
    let waits = matches!(receipt, TurnReceipt::Queued { .. });
    let is_accepted = sent.run.is_some() || waits;
    let status = if is_accepted { StatusCode::ACCEPTED } else { StatusCode::OK };
    Ok((status, Body(sent)))
}

async fn sent_message(state: &ServerState, receipt: &TurnReceipt) -> Result<SentMessage, Problem> {
    let (turn, run) = match receipt {
        TurnReceipt::Turn { turn_id, run_id, .. }
        | TurnReceipt::Answered { turn_id, run_id, .. } => {
            (Some(turn_id.to_string()), Some(run_id))
        }
        TurnReceipt::Steered { run_id, .. } => {
            (Some(run_row(state, run_id).await?.origin.turn.to_string()), Some(run_id))
        }
        TurnReceipt::NotAnswered { question, is_open: true, .. } => {
            return Err(ProblemCode::InvalidInput.because(question.clone()));
        }
        TurnReceipt::NotAnswered { .. } => return Err(ProblemCode::AlreadyAnswered.bare()),
        TurnReceipt::NoModel => return Err(ProblemCode::ModelUnavailable.bare()),
        TurnReceipt::Queued { .. }
        | TurnReceipt::Canceled { .. }
        | TurnReceipt::NothingToCancel
        | TurnReceipt::Command { .. }
        | TurnReceipt::Empty
        | TurnReceipt::Suggested { .. } => (None, None),
    };
    let mut sent = SentMessage {
        turn_id: turn,
        message: None,
        run: None,
        receipt: JsonObject(json!(receipt)),
    };
    if let Some(run) = run {
        sent.run = Some(ApiRun::of(&run_row(state, run).await?));
        if let TurnReceipt::Turn { run_id, .. } = receipt {
            let goal = format!("{run_id}:goal");
            let message = conversations::message(state.store(), &goal).await?;
            sent.message = Some(ApiMessage::of(&message));
        }
    }
    Ok(sent)
}

pub(crate) async fn run_row(state: &ServerState, run: &RunId) -> Result<RunRow, Problem> {
    let row = state.store().runs().get(run).await?;
    row.ok_or_else(|| ProblemCode::NotFound.bare())
}

async fn emit_message(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    key: Option<Extension<RequestKey>>,
    Body(new): Body<EmittedMessage>,
) -> Result<Body<JsonObject>, Problem> {
    let row = run_row(&state, &run_id(&id)?).await?;
    check_content(&new.content)?;
    let unnamed = || match name_of(key.as_ref(), "message") {
        Some(name) => name[..26].to_owned(),
        None => fresh_id("", SystemClock.now()),
    };
    let name = new.message_id.unwrap_or_else(unnamed);
    let message_id = format!("{id}:emit:{name}");
    let (all, now) = (state.store().conversations(), SystemClock.now());
    let is_known = all.message(&message_id).await?.is_some();
    all.say(&row.conversation, &message_id, "assistant", &new.content, now).await?;
    // What is there is what was said first; the store may have taken a secret out of it.
    let said = all.message(&message_id).await?;
    let content = state.store().redactor().value(new.content);
    if said.is_some_and(|said| said.body != content) {
        return Err(ProblemCode::Conflict.because("this message_id has other words"));
    }
    Ok(Body(JsonObject(json!({"message_id": message_id, "emitted": !is_known}))))
}

/// A message says something, and not too much.
fn check_content(content: &str) -> Result<(), Problem> {
    if content.trim().is_empty() {
        return Err(Problem::of_field("content", "is empty"));
    }
    if content.chars().count() > CONTENT_CHARS_MAX {
        let detail = format!("has more than {CONTENT_CHARS_MAX} characters");
        return Err(Problem::of_field("content", detail));
    }
    Ok(())
}

async fn mark_read(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    mark: Option<Body<ReadMark>>,
) -> Result<Body<ApiConversation>, Problem> {
    let one = find(&state, &id).await?;
    let wanted = mark.and_then(|Body(mark)| mark.message_id);
    conversations::mark_read(state.store(), &one.row.id, wanted.as_deref()).await?;
    let one = find(&state, &id).await?;
    Ok(Body(ApiConversation::of(&one)))
}
