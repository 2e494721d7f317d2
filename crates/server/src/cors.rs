//! Pages of other origins that the settings name (`server.origins`): their browsers ask first, and
//! show them answers only where a header says so. Everybody else gets no such header.
//!
//! Deliberately absent: `*`, and credentials. Such a page brings the token like any other program.

use crate::state::ServerState;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

const METHODS: &str = "GET, POST, PATCH, DELETE";

/// What such a page may send.
const SENT: &str =
    "authorization, content-type, accept-language, idempotency-key, if-match, last-event-id";

/// What it may read of an answer.
const SHOWN: &str =
    "etag, location, retry-after, idempotency-replayed, x-request-id, www-authenticate";

/// Seconds for which a browser need not ask again.
const REMEMBERED: &str = "600";

/// Whether the settings name an origin.
pub(crate) fn is_named(state: &ServerState, origin: &str) -> bool {
    state.app.settings.server.origins.iter().any(|named| named == origin)
}

/// The origin of a request, if there is one and it is named.
pub(crate) fn named_origin(state: &ServerState, headers: &HeaderMap) -> Option<HeaderValue> {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let origin = origins.next().filter(|_| origins.next().is_none())?;
    origin.to_str().is_ok_and(|origin| is_named(state, origin)).then(|| origin.clone())
}

/// Whether a browser only asks what it may send. It brings no token with that.
pub(crate) fn is_preflight(request: &Request) -> bool {
    let asks = request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    request.method() == Method::OPTIONS && asks
}

/// The answer to that.
pub(crate) fn preflight() -> Response {
    let allowed = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, METHODS),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, SENT),
        (header::ACCESS_CONTROL_MAX_AGE, REMEMBERED),
    ];
    (StatusCode::NO_CONTENT, allowed).into_response()
}

/// Lets a page of a named origin read an answer.
pub(crate) fn add_headers(
    state: &ServerState,
    headers: &mut HeaderMap,
    origin: Option<HeaderValue>,
) {
    if state.app.settings.server.origins.is_empty() {
        return;
    }
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
    if let Some(origin) = origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        let shown = HeaderValue::from_static(SHOWN);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, shown);
        let anybody = HeaderValue::from_static("cross-origin");
        headers.insert("cross-origin-resource-policy", anybody);
    }
}
