//! `Idempotency-Key`: the same request again gets the same answer, and nothing is done twice.
//!
//! ```text
//!   reserve the key ──► work ──► keep the answer        another process: 409, then the answer
//! ```
//!
//! The key is a row, so that it holds for every server of a database. The reservation, the work and
//! the answer do not belong to the connection: a client that hangs up changes nothing. A crash
//! between them is covered by the work itself: what it makes is named by the key
//! ([`RequestKey::names`]).

use crate::guard;
use crate::problem::{Problem, ProblemCode};
use crate::state::ServerState;
use axum::Extension;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use everloop_engine::{Clock, SystemClock, fresh_id};
use everloop_store::{ApiAnswer, KeyAges, KeyReservation, KeyedRequest, StoreError};
use everloop_types::digest_bytes;
use http_body_util::BodyExt;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::task::JoinHandle;
use tracing::Instrument;

/// The header.
pub(crate) const HEADER: &str = "idempotency-key";

/// Characters of a key.
const KEY_MAX: usize = 255;

/// How often a key is renewed while its request is being answered.
const RENEWED_EVERY: Duration = Duration::from_secs(10);

/// A key that was not renewed for so long belongs to a process that is gone.
const GIVEN_UP: Duration = Duration::from_secs(30);

/// Headers of an answer that come again with it.
const KEPT_HEADERS: [HeaderName; 3] = [header::CONTENT_TYPE, header::ETAG, header::LOCATION];

/// The key of the request, as everything that it makes is named by it.
#[derive(Debug, Clone)]
pub(crate) struct RequestKey(pub(crate) String);

impl RequestKey {
    /// The name of what the request makes: the same key names the same thing.
    pub(crate) fn names(&self, what: &str) -> String {
        digest_bytes(format!("{what}\n{}", self.0).as_bytes())
    }
}

/// The name of what a request makes, if it has a key.
pub(crate) fn name_of(key: Option<&Extension<RequestKey>>, what: &str) -> Option<String> {
    key.map(|Extension(key)| key.names(what))
}

/// Answers a repeated request from memory.
pub(crate) async fn remember(
    State(state): State<ServerState>,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(key) = request.headers().get(HEADER) else { return next.run(request).await };
    // Before anybody is known a key would only be a way to write rows and to block others.
    if request.method() != Method::POST || guard::is_open(request.uri().path()) {
        return next.run(request).await;
    }
    let Some(key) = key.to_str().ok().filter(|key| (1..=KEY_MAX).contains(&key.len())) else {
        let detail = format!("{HEADER}: 1 to {KEY_MAX} visible characters");
        return ProblemCode::BadRequest.because(detail).into_response();
    };
    let key = key.to_owned();
    let (parts, body) = request.into_parts();
    // The guard has read the whole body within its bounds.
    let Ok(read) = body.collect().await else {
        return ProblemCode::BadRequest.bare().into_response();
    };
    let bytes = read.to_bytes();
    let digest = request_digest(&parts.uri, &bytes);
    request = Request::from_parts(parts, Body::from(bytes));
    request.extensions_mut().insert(RequestKey(key.clone()));
    let owner = fresh_id("req_", SystemClock.now());
    let keyed = KeyedRequest { key, digest, owner };
    // A task of its own from the reservation on: hyper drops what works for a client that hung up.
    let answered = tokio::spawn(answer_once(state, keyed, request, next).in_current_span());
    answered.await.unwrap_or_else(|_| ProblemCode::Internal.bare().into_response())
}

async fn answer_once(
    state: ServerState,
    keyed: KeyedRequest,
    request: Request,
    next: Next,
) -> Response {
    let lifetime = state.app.settings.server.key_lifetime.ms();
    let answer_ms = i64::try_from(lifetime).unwrap_or(i64::MAX);
    let pending_ms = i64::try_from(GIVEN_UP.as_millis()).unwrap_or(i64::MAX);
    let ages = KeyAges { pending_ms, answer_ms };
    match state.store().api_requests().reserve(&keyed, ages).await {
        Ok(KeyReservation::Reserved) => {}
        Ok(KeyReservation::InUse(digest)) if digest == keyed.digest => {
            return ProblemCode::KeyInUse.bare().into_response();
        }
        Ok(KeyReservation::Answered(answer)) if answer.digest == keyed.digest => {
            return replayed(&answer);
        }
        Ok(_) => return ProblemCode::KeyReused.bare().into_response(),
        Err(error) => return Problem::from(error).into_response(),
    }
    work(HeldKey::new(&state, keyed), request, next, ages).await
}

/// Does the work of a request, and keeps the answer or gives the key back.
async fn work(held: HeldKey, request: Request, next: Next, ages: KeyAges) -> Response {
    let state = held.state.clone();
    let response = next.run(request).await;
    if !is_kept(&response) {
        held.release().await;
        return response;
    }
    let (parts, body) = response.into_parts();
    let Ok(read) = body.collect().await else {
        return ProblemCode::Internal.bare().into_response();
    };
    let bytes = read.to_bytes();
    let answer = ApiAnswer {
        digest: held.keyed.digest.clone(),
        status: i64::from(parts.status.as_u16()),
        headers: kept_headers(&parts.headers),
        body: String::from_utf8_lossy(&bytes).into_owned(),
    };
    if let Err(error) = held.keep(&answer).await {
        tracing::warn!(%error, "the answer to a key could not be kept");
    }
    let _ = state.store().api_requests().forget(ages.answer_ms.max(ages.pending_ms)).await;
    Response::from_parts(parts, Body::from(bytes))
}

/// Whether an answer is given again to the same request. Forms of pages are answered by a redirect.
/// A refusal may be followed by a better request, a failure by a retry; cookies belong to one
/// browser.
fn is_kept(response: &Response) -> bool {
    let (status, headers) = (response.status(), response.headers());
    let is_done = status.is_success() || status.is_redirection();
    let content = headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    let is_stream = content.starts_with(b"text/event-stream");
    is_done && !is_stream && !headers.contains_key(header::SET_COOKIE)
}

fn request_digest(uri: &axum::http::Uri, body: &[u8]) -> String {
    let mut whole = uri.path().as_bytes().to_vec();
    if let Some(query) = uri.query() {
        whole.push(b'?');
        whole.extend_from_slice(query.as_bytes());
    }
    whole.push(0);
    whole.extend_from_slice(body);
    digest_bytes(&whole)
}

/// The headers of an answer that are a part of it, as JSON.
fn kept_headers(headers: &HeaderMap) -> String {
    let kept: BTreeMap<&str, &str> = KEPT_HEADERS
        .iter()
        .filter_map(|name| Some((name.as_str(), headers.get(name)?.to_str().ok()?)))
        .collect();
    serde_json::to_string(&kept).unwrap_or_default()
}

fn replayed(answer: &ApiAnswer) -> Response {
    let status = u16::try_from(answer.status).ok().and_then(|code| StatusCode::from_u16(code).ok());
    let status = status.unwrap_or(StatusCode::OK);
    let mut response = (status, answer.body.clone()).into_response();
    let headers = response.headers_mut();
    // An answer of an earlier program has no headers with it.
    let json = HeaderValue::from_static("application/json");
    headers.insert(header::CONTENT_TYPE, json);
    let kept: BTreeMap<String, String> = serde_json::from_str(&answer.headers).unwrap_or_default();
    for (name, value) in kept {
        let name = HeaderName::try_from(name);
        if let (Ok(name), Ok(value)) = (name, HeaderValue::try_from(value)) {
            headers.insert(name, value);
        }
    }
    headers.insert("idempotency-replayed", HeaderValue::from_static("true"));
    response
}

/// A key while its request is being answered: renewed as long as it is held, and given back if no
/// answer was kept.
struct HeldKey {
    state: ServerState,
    keyed: KeyedRequest,
    renewing: JoinHandle<()>,
    /// Whether the row is not ours to give back any more.
    is_settled: bool,
}

impl HeldKey {
    fn new(state: &ServerState, keyed: KeyedRequest) -> Self {
        let (shared, renewed) = (state.clone(), keyed.clone());
        let renewing = tokio::spawn(async move {
            loop {
                tokio::time::sleep(RENEWED_EVERY).await;
                if let Ok(false) = shared.store().api_requests().renew(&renewed).await {
                    return;
                }
            }
        });
        Self { state: state.clone(), keyed, renewing, is_settled: false }
    }

    async fn keep(mut self, answer: &ApiAnswer) -> Result<(), StoreError> {
        self.is_settled = self.state.store().api_requests().keep(&self.keyed, answer).await?;
        Ok(())
    }

    /// Gives the key back before the answer goes out, so that a better request may use it at once.
    async fn release(mut self) {
        release(&self.state, &self.keyed).await;
        self.is_settled = true;
    }
}

async fn release(state: &ServerState, keyed: &KeyedRequest) {
    if let Err(error) = state.store().api_requests().release(keyed).await {
        tracing::warn!(%error, "a key could not be given back");
    }
}

impl Drop for HeldKey {
    fn drop(&mut self) {
        self.renewing.abort();
        if self.is_settled {
            return;
        }
        let (state, keyed) = (self.state.clone(), self.keyed.clone());
        tokio::spawn(async move { release(&state, &keyed).await });
    }
}
