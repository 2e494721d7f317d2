//! Events of a conversation: of all its runs, its messages, and its title and what was read, as a
//! page, as a stream of server-sent events, and on a WebSocket.

use super::event_stream::{
    self, EventFrame, EventSource, SocketRequest, last_event_id, most_events, wants_stream,
};
use super::messages::ApiMessage;
use super::{JsonObject, ListPage, conversation_id};
use crate::api::Api;
use crate::json::{PathOf, QueryOf};
use crate::openapi::Operation;
use crate::problem::{Problem, ProblemCode};
use crate::state::ServerState;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use everloop_app::conversations::{
    ConversationEvent, ConversationEventKind, ConversationEventsError, ConversationFollower,
    EventsFrom,
};
use everloop_store::StoreError;
use everloop_types::ConversationId;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// Where reading begins.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ConversationEventParams {
    /// `start` (everything), `open` (the runs that are open from their first event, and what
    /// comes), or the cursor of an event; `Last-Event-ID` serves too. `start` if it is not given.
    after: Option<String>,
    /// Most events of a page; a stream ignores it.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<usize>,
}

pub(crate) fn add(api: &mut Api) {
    let problems = &[ProblemCode::EventAhead, ProblemCode::EventsTrimmed, ProblemCode::BadCursor];
    let path = "/v1/conversations/{id}/events";
    let summary = "What happens in it: a page, or a stream for text/event-stream";
    let events = Operation::get(path, summary)
        .query::<ConversationEventParams>()
        .answers::<ListPage<JsonObject>>(200)
        .streams()
        .problems(problems);
    api.route(events, conversation_events);
    let socket = Operation::get("/v1/conversations/{id}/ws", "The same events on a WebSocket")
        .query::<ConversationEventParams>()
        .answers_with(101, "")
        .problems(problems);
    api.route(socket, conversation_socket);
}

impl From<ConversationEventsError> for Problem {
    fn from(error: ConversationEventsError) -> Self {
        let code = match error {
            ConversationEventsError::Store(error) => return error.into(),
            ConversationEventsError::NotFound => return ProblemCode::NotFound.bare(),
            ConversationEventsError::BadCursor => ProblemCode::BadCursor,
            ConversationEventsError::Ahead(_) => ProblemCode::EventAhead,
            ConversationEventsError::Trimmed(_) => ProblemCode::EventsTrimmed,
        };
        code.because(error.to_string())
    }
}

async fn open(
    state: &ServerState,
    id: &str,
    headers: &HeaderMap,
    params: &ConversationEventParams,
) -> Result<ConversationEvents, Problem> {
    let id = conversation_id(id)?;
    let from = match last_event_id(headers)?.or(params.after.as_deref()) {
        None | Some("start") => EventsFrom::Start,
        Some("open") => EventsFrom::Open,
        Some(cursor) => EventsFrom::Cursor(cursor.to_owned()),
    };
    let follower = ConversationFollower::begin(state.engine(), &id, from).await?;
    Ok(ConversationEvents { follower, id })
}

struct ConversationEvents {
    follower: ConversationFollower,
    id: ConversationId,
}

impl ConversationEvents {
    fn json(&self, event: &ConversationEvent) -> Value {
        let mut data = match &event.kind {
            ConversationEventKind::Run { event, turn } => {
                let mut data = json!(event);
                data["turn_id"] = json!(turn);
                data
            }
            ConversationEventKind::Message(message) => json!({
                "type": "conversation.message", "run_id": message.run_id,
                "turn_id": message.turn_id, "seq": message.position,
                "ts": message.created_at, "message": ApiMessage::of(message),
            }),
            ConversationEventKind::Header { header, open_runs } => json!({
                "type": "conversation.changed", "run_id": null, "seq": header.last_pos,
                "title": header.title, "archived": header.archived_at.is_some(),
                "memory": !header.out_of_memory, "read_position": header.read_pos,
                "last_position": header.last_pos, "open_runs": open_runs,
            }),
            ConversationEventKind::Deleted => {
                json!({"type": "conversation.deleted", "run_id": null, "seq": null})
            }
        };
        data["conversation_id"] = json!(self.id);
        data["cursor"] = json!(event.cursor);
        data
    }
}

impl EventSource for ConversationEvents {
    async fn next_frame(&mut self) -> Result<Option<EventFrame>, StoreError> {
        let Some(event) = self.follower.next().await? else { return Ok(None) };
        let data = self.json(&event);
        let name = data["type"].as_str().unwrap_or("event").to_owned();
        let is_last = event.kind == ConversationEventKind::Deleted;
        Ok(Some(EventFrame { name, id: event.cursor, data: data.to_string(), is_last }))
    }
}

async fn conversation_events(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    QueryOf(params): QueryOf<ConversationEventParams>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let events = open(&state, &id, &headers, &params).await?;
    if wants_stream(&headers) {
        return Ok(event_stream::sse(&state, events));
    }
    Ok(event_page(events, most_events(params.limit)?).await?.into_response())
}

async fn event_page(
    mut events: ConversationEvents,
    most: usize,
) -> Result<axum::Json<Value>, Problem> {
    let mut data: Vec<Value> = Vec::new();
    let mut next_cursor = Value::Null;
    while let Some(event) = events.follower.next_ready().await? {
        if event.cursor.is_none() {
            continue;
        }
        if data.len() == most {
            next_cursor = data.last().map(|last| last["cursor"].clone()).unwrap_or_default();
            break;
        }
        data.push(events.json(&event));
    }
    Ok(axum::Json(json!({"data": data, "next_cursor": next_cursor})))
}

async fn conversation_socket(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    QueryOf(params): QueryOf<ConversationEventParams>,
    headers: HeaderMap,
    request: SocketRequest,
) -> Result<Response, Problem> {
    let events = open(&state, &id, &headers, &params).await?;
    Ok(event_stream::websocket(&state, request, events))
}
