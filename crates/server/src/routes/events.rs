//! Events of a run: as a page, as a stream of server-sent events, and on a WebSocket.
//!
//! Only durable events have an id, the number of their journal entry: a reader who comes back with
//! `Last-Event-ID` gets exactly what followed. Where an entry has several events, the id of all but
//! the last says how many of them there were, as in `7.1`. Deltas are replaced by the whole that
//! follows them.

use super::event_stream::{
    self, EventFrame, EventSource, SocketRequest, last_event_id, most_events, wants_stream,
};
use super::runs::check_event;
use super::{JsonObject, ListPage, run_id};
use crate::api::Api;
use crate::json::{PathOf, QueryOf};
use crate::openapi::Operation;
use crate::problem::{Problem, ProblemCode};
use crate::routes::messages::run_row;
use crate::state::ServerState;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use everloop_engine::{Follower, RunEvent, Scope};
use everloop_store::{RunRow, StoreError};
use everloop_types::RunId;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// Where reading begins.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EventParams {
    /// Only events after this number; `Last-Event-ID` serves too.
    after: Option<i64>,
    /// Most events of a page; a stream ignores it.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<usize>,
    /// The runs below it, too. Their events have no id: who comes back gets what happens from then.
    #[serde(default)]
    tree: bool,
}

impl EventParams {
    fn scope(&self) -> Scope {
        if self.tree { Scope::Tree } else { Scope::Run }
    }
}

pub(crate) fn add(api: &mut Api) {
    let path = "/v1/runs/{id}/events";
    let problems = &[ProblemCode::EventAhead, ProblemCode::EventsTrimmed];
    let events = Operation::get(path, "Its events: a page, or a stream for text/event-stream")
        .query::<EventParams>()
        .answers::<ListPage<JsonObject>>(200)
        .streams()
        .problems(problems);
    api.route(events, run_events);
    let socket = Operation::get("/v1/runs/{id}/ws", "The same events on a WebSocket")
        .query::<EventParams>()
        .answers_with(101, "")
        .problems(problems);
    api.route(socket, run_socket);
}

/// How far a reader has come: all events of the entries before `seq`, and some of that one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct EventPlace {
    seq: i64,
    /// Events of the entry that the reader has; all of them if it says nothing.
    events: Option<usize>,
}

impl EventPlace {
    fn parse(id: &str) -> Option<Self> {
        let (seq, events) = match id.split_once('.') {
            Some((seq, events)) => (seq, Some(events.parse().ok()?)),
            None => (id, None),
        };
        Some(Self { seq: seq.parse().ok()?, events })
    }

    /// The number after which entries are wanted: the header's, else the query's, else all.
    fn of(headers: &HeaderMap, params: &EventParams) -> Result<Self, Problem> {
        let queried = Self { seq: params.after.unwrap_or(0), events: None };
        let Some(last) = last_event_id(headers)? else { return Ok(queried) };
        let last = Self::parse(last);
        let last =
            last.ok_or_else(|| ProblemCode::EventAhead.because("Last-Event-ID is no number"))?;
        Ok(if params.after.is_some() && queried.seq > last.seq { queried } else { last })
    }
}

/// The events of a run from a place on.
struct RunEvents {
    run: RunId,
    follower: Follower,
    /// Events of this entry that the reader has.
    skipped: EventPlace,
    /// The entry of the last event, and how many of its events there were.
    last: (i64, usize),
}

impl RunEvents {
    async fn open(
        state: &ServerState,
        row: &RunRow,
        place: EventPlace,
        scope: Scope,
    ) -> Result<Self, Problem> {
        check_event(row, place.seq)?;
        let after = if place.events.is_some() { (place.seq - 1).max(0) } else { place.seq };
        let follower = state.engine().follow(&row.run, after, scope).await?;
        Ok(Self { run: row.run.clone(), follower, skipped: place, last: (0, 0) })
    }

    /// Counts an event; whether the reader has it already.
    fn is_known(&mut self, event: &RunEvent) -> bool {
        if !self.is_numbered(event) {
            return false;
        }
        let count = if self.last.0 == event.seq { self.last.1 + 1 } else { 1 };
        self.last = (event.seq, count);
        event.seq == self.skipped.seq && self.skipped.events.is_some_and(|known| count <= known)
    }

    /// Whether the event has a number in the run that is followed.
    fn is_numbered(&self, event: &RunEvent) -> bool {
        !event.is_delta() && event.run_id == self.run
    }

    fn id(&self, event: &RunEvent) -> Option<String> {
        let seq = event.seq;
        match self.is_numbered(event) {
            false => None,
            true if self.follower.is_entry_complete(event) => Some(seq.to_string()),
            true => Some(format!("{seq}.{}", self.last.1)),
        }
    }
}

impl EventSource for RunEvents {
    async fn next_frame(&mut self) -> Result<Option<EventFrame>, StoreError> {
        loop {
            let Some(event) = self.follower.next().await? else { return Ok(None) };
            if self.is_known(&event) {
                continue;
            }
            let data = json!(event);
            let name = data["type"].as_str().unwrap_or("event").to_owned();
            let (id, is_end) = (self.id(&event), event.is_terminal());
            let is_last = is_end && event.run_id == self.run;
            return Ok(Some(EventFrame { name, id, data: data.to_string(), is_last }));
        }
    }
}

async fn run_events(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    QueryOf(params): QueryOf<EventParams>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let row = run_row(&state, &run_id(&id)?).await?;
    let place = EventPlace::of(&headers, &params)?;
    let events = RunEvents::open(&state, &row, place, params.scope()).await?;
    if wants_stream(&headers) {
        return Ok(event_stream::sse(&state, events));
    }
    Ok(event_page(events, most_events(params.limit)?).await?.into_response())
}

/// A page ends with a whole entry: its number is the cursor.
async fn event_page(mut events: RunEvents, most: usize) -> Result<axum::Json<Value>, Problem> {
    let mut data: Vec<RunEvent> = Vec::new();
    let mut is_last = true;
    while let Some(event) = events.follower.next_ready().await? {
        if event.is_delta() || events.is_known(&event) {
            continue;
        }
        if data.len() >= most && data.last().is_some_and(|last| last.seq != event.seq) {
            is_last = false;
            break;
        }
        data.push(event);
    }
    let next = data.last().filter(|_| !is_last).map(|event| event.seq.to_string());
    Ok(axum::Json(json!({"data": data, "next_cursor": next})))
}

async fn run_socket(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    QueryOf(params): QueryOf<EventParams>,
    headers: HeaderMap,
    request: SocketRequest,
) -> Result<Response, Problem> {
    let row = run_row(&state, &run_id(&id)?).await?;
    let place = EventPlace::of(&headers, &params)?;
    let events = RunEvents::open(&state, &row, place, params.scope()).await?;
    Ok(event_stream::websocket(&state, request, events))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_says_which_entry_and_how_many_of_its_events() {
        let place = |seq, events| Some(EventPlace { seq, events });
        assert_eq!(EventPlace::parse("7"), place(7, None));
        assert_eq!(EventPlace::parse("7.2"), place(7, Some(2)));
        for bad in ["", "x", "7.", "7.x", ".1", "7.1.1", "7,1"] {
            assert_eq!(EventPlace::parse(bad), None, "{bad}");
        }
    }
}
