//! Sending events as they come, as server-sent events or on a WebSocket.
//!
//! Nothing is kept for a slow reader: the next event is made when the last one was taken.

use crate::listen::ConnectionPlace;
use crate::metrics::OpenCount;
use crate::problem::{Problem, ProblemCode};
use crate::state::ServerState;
use axum::extract::FromRequestParts;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use everloop_store::StoreError;
use futures_util::stream::{self, Stream};
use std::convert::Infallible;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How often a stream shows that it lives.
pub(crate) const PING: Duration = Duration::from_secs(15);

/// How long a browser waits before it comes back.
const RETRY: Duration = Duration::from_secs(2);

/// How long a reader of a WebSocket may take for one message.
const SEND_MAX: Duration = Duration::from_secs(30);

/// Events of one page.
pub(super) const EVENTS_MAX: usize = 1_000;

/// An event on its way.
pub(super) struct EventFrame {
    /// Its type; empty if the data says it.
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
    source: S,
    _open: OpenCount,
    /// The server stops, or the token that opened the stream is in force no more.
    ended: CancellationToken,
    /// Whether the first words were said.
    has_begun: bool,
    is_over: bool,
}

impl<S: EventSource> OpenStream<S> {
    fn new(state: &ServerState, source: S) -> Self {
        let (open, ended) = (state.metrics.open_stream(), state.token.now().ended.clone());
        Self { source, _open: open, ended, has_begun: false, is_over: false }
    }

    /// The next event; none once the source or the server has ended.
    async fn next(&mut self) -> Option<EventFrame> {
        if self.is_over {
            return None;
        }
        let next = tokio::select! {
            biased;
            () = self.ended.cancelled() => return None,
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
    answer_with(OpenStream::new(state, source))
}

/// The same for clients of other programs, which expect nothing before the first event.
pub(super) fn bare_sse(state: &ServerState, source: impl EventSource) -> Response {
    answer_with(OpenStream { has_begun: true, ..OpenStream::new(state, source) })
}

fn answer_with(open: OpenStream<impl EventSource>) -> Response {
    let stream = frames(open);
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
        let event = Event::default().data(&frame.data);
        let event = if frame.name.is_empty() { event } else { event.event(frame.name) };
        let event = match frame.id {
            Some(id) => event.id(id),
            None => event,
        };
        Some((Ok(event), open))
    })
}

/// A request for a WebSocket.
pub(crate) struct SocketRequest {
    upgrade: WebSocketUpgrade,
    /// The WebSocket keeps the place of the connection that it began as.
    place: Option<ConnectionPlace>,
}

impl FromRequestParts<ServerState> for SocketRequest {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &ServerState) -> Result<Self, Problem> {
        let place = parts.extensions.get::<ConnectionPlace>().cloned();
        match WebSocketUpgrade::from_request_parts(parts, state).await {
            Ok(upgrade) => Ok(Self { upgrade, place }),
            Err(refused) => Err(ProblemCode::BadRequest.because(refused.body_text())),
        }
    }
}

impl SocketRequest {
    /// Accepts it. The WebSocket is closed when the future of `run` ends.
    pub(crate) fn accept<F>(self, run: impl FnOnce(WebSocket) -> F + Send + 'static) -> Response
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let Self { upgrade, place } = self;
        upgrade.on_upgrade(async move |socket| {
            run(socket).await;
            drop(place);
        })
    }
}

/// Sends one message. A reader who does not take it in time is gone.
pub(crate) async fn send(socket: &mut WebSocket, message: Message) -> Option<()> {
    tokio::time::timeout(SEND_MAX, socket.send(message)).await.ok()?.ok()
}

/// The events on a WebSocket.
pub(super) fn websocket(
    state: &ServerState,
    request: SocketRequest,
    source: impl EventSource,
) -> Response {
    let open = OpenStream::new(state, source);
    request.accept(move |socket| send_events(open, socket))
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
                if send(&mut socket, Message::Ping(Vec::new().into())).await.is_none() {
                    return;
                }
                continue;
            }
        };
        let Some(frame) = frame else { break };
        if send(&mut socket, Message::Text(frame.data.into())).await.is_none() {
            return;
        }
    }
    send(&mut socket, Message::Close(None)).await;
}
