//! Sending events as they come, as server-sent events or on a WebSocket.
//!
//! Nothing is kept for a slow reader: the next event is made when the last one was taken.

use crate::metrics::OpenCount;
use crate::problem::{Problem, ProblemCode};
use crate::state::ServerState;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use everloop_store::StoreError;
use futures_util::stream::{self, Stream};
use std::convert::Infallible;
use std::time::Duration;

/// How often a stream shows that it lives.
const PING: Duration = Duration::from_secs(15);

/// How long a browser waits before it comes back.
const RETRY: Duration = Duration::from_secs(2);

/// How long a reader of a WebSocket may take for one message.
const SEND_MAX: Duration = Duration::from_secs(30);

/// Events of one page.
pub(super) const EVENTS_MAX: usize = 1_000;

/// An event on its way.
pub(super) struct EventFrame {
    /// Its type.
    pub(super) name: String,
    /// Where a reader who comes back goes on; a delta has none.
    pub(super) id: Option<String>,
    /// The event as JSON.
    pub(super) data: String,
    /// Whether nothing follows.
    pub(super) is_last: bool,
}

/// Where events come from.
pub(super) trait EventSource: Send + 'static {
    /// The next event; none once there are no more. Dropping the future loses nothing.
    fn next_frame(&mut self)
    -> impl Future<Output = Result<Option<EventFrame>, StoreError>> + Send;
}

/// Whether a request wants a stream and not a page.
pub(super) fn wants_stream(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/event-stream"))
}

/// What `Last-Event-ID` says.
///
/// # Errors
/// If it cannot be an id of an event.
pub(super) fn last_event_id(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let Some(value) = headers.get("last-event-id") else { return Ok(None) };
    let text = value.to_str().map_err(|_| ProblemCode::EventAhead.because("Last-Event-ID"))?;
    // A browser that has seen no id sends none, some other clients send an empty one.
    Ok(Some(text.trim()).filter(|text| !text.is_empty()))
}

/// Most events of a page.
///
/// # Errors
/// If it is none, or too many.
pub(super) fn most_events(limit: Option<usize>) -> Result<usize, Problem> {
    match limit.unwrap_or(EVENTS_MAX) {
        most @ 1..=EVENTS_MAX => Ok(most),
        _ => Err(Problem::of_field("limit", format!("1 to {EVENTS_MAX}"))),
    }
}

struct OpenStream<S> {
    state: ServerState,
    source: S,
    _open: OpenCount,
    /// Whether the first words were said.
    has_begun: bool,
    is_over: bool,
}

impl<S: EventSource> OpenStream<S> {
    fn new(state: &ServerState, source: S) -> Self {
        let open = state.metrics.open_stream();
        Self { state: state.clone(), source, _open: open, has_begun: false, is_over: false }
    }

    /// The next event; none once the source or the server has ended.
    async fn next(&mut self) -> Option<EventFrame> {
        if self.is_over {
            return None;
        }
        let stopping = self.state.stopping.clone();
        let next = tokio::select! {
            biased;
            () = stopping.cancelled() => return None,
            next = self.source.next_frame() => next,
        };
        match next {
            Ok(Some(frame)) => {
                self.is_over = frame.is_last;
                Some(frame)
            }
            Ok(None) => None,
            Err(error) => {
                tracing::warn!(%error, "an event stream ended early");
                None
            }
        }
    }
}

/// The events as server-sent events.
pub(super) fn sse(state: &ServerState, source: impl EventSource) -> Response {
    let stream = frames(OpenStream::new(state, source));
    let alive = KeepAlive::new().interval(PING);
    let mut response = Sse::new(stream).keep_alive(alive).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

fn frames(open: OpenStream<impl EventSource>) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold(open, |mut open| async move {
        if !std::mem::replace(&mut open.has_begun, true) {
            return Some((Ok(Event::default().retry(RETRY).comment("everloop")), open));
        }
        let frame = open.next().await?;
        let event = Event::default().event(frame.name).data(&frame.data);
        let event = match frame.id {
            Some(id) => event.id(id),
            None => event,
        };
        Some((Ok(event), open))
    })
}

/// The events on a WebSocket, once `source` could be opened.
///
/// # Errors
/// If the request is none for a WebSocket.
pub(super) fn websocket(
    state: ServerState,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
    source: impl EventSource,
) -> Result<Response, Problem> {
    let upgrade =
        upgrade.map_err(|refused| ProblemCode::BadRequest.because(refused.body_text()))?;
    let open = OpenStream::new(&state, source);
    Ok(upgrade.on_upgrade(move |socket| send_events(open, socket)))
}

/// Sends the events until the source ends or the reader leaves.
async fn send_events(mut open: OpenStream<impl EventSource>, mut socket: WebSocket) {
    loop {
        let frame = tokio::select! {
            biased;
            // A reader has nothing to say; its end is all that counts.
            said = socket.recv() => match said {
                Some(Ok(Message::Close(_))) | None | Some(Err(_)) => return,
                Some(Ok(_)) => continue,
            },
            frame = open.next() => frame,
            () = tokio::time::sleep(PING) => {
                if socket.send(Message::Ping(Vec::new().into())).await.is_err() {
                    return;
                }
                continue;
            }
        };
        let Some(frame) = frame else { break };
        let sent = socket.send(Message::Text(frame.data.into()));
        if !matches!(tokio::time::timeout(SEND_MAX, sent).await, Ok(Ok(()))) {
            return;
        }
    }
    let _ = socket.send(Message::Close(None)).await;
}
