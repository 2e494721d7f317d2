//! What every request passes before its route: limits, Host, Origin, token; and what every answer
//! gets: an id, safe headers, the words of a problem.

use crate::cors;
use crate::listen::ConnectionPlace;
use crate::pages::{self, PageSession, ViewChoice};
use crate::problem::{Problem, ProblemCode};
use crate::routes::{hooks, openai};
use crate::state::ServerState;
use axum::body::Body;
use axum::extract::{ConnectInfo, MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use everloop_engine::{Clock, SystemClock, fresh_id};
use everloop_text as text;
use everloop_types::Lang;
use http_body_util::BodyExt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;
use tracing::Instrument;

/// Paths that answer without a token: they tell nothing about the data.
const OPEN_PATHS: [&str; 3] = ["/healthz", "/readyz", "/version"];

/// Bytes of a body that is refused which are read all the same.
const DISCARDED_MAX: usize = 16 << 20;

/// Pictures of the largest size that one form may bring.
const UPLOADED_MAX: u64 = 4;

/// The address of this machine that a client has connected to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReachedAddress(pub(crate) IpAddr);

/// The language that a request wants.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestLang(pub(crate) Lang);

/// The outermost layer: names the request, checks it, and gives problems their words.
pub(crate) async fn answer(
    State(state): State<ServerState>,
    mut request: Request,
    next: Next,
) -> Response {
    let began = Instant::now();
    let name: Arc<str> = fresh_id("req_", SystemClock.now()).into();
    let lang = pages::chosen_language(request.headers())
        .or_else(|| wanted_language(request.headers()))
        .unwrap_or(state.app.lang);
    let page = PageReader::of(&request);
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let path = uri.path().to_owned();
    request.extensions_mut().insert(RequestLang(lang));
    // The pattern, not the path: a path holds ids and whatever somebody typed.
    let route = request.extensions().get::<MatchedPath>().map_or("-", MatchedPath::as_str);
    let span =
        tracing::info_span!("http_request", request = %name, method = %method, route = %route);
    let origin = cors::named_origin(&state, request.headers());
    let guarded = async {
        if let (Some(_), true) = (&origin, cors::is_preflight(&request)) {
            return match check_host(&state, &request, lang) {
                Ok(()) => cors::preflight(),
                Err(problem) => problem.into_response(),
            };
        }
        match check(&state, &request, lang) {
            Ok(session) => {
                if let Some(session) = session {
                    request.extensions_mut().insert(session);
                }
                within_time(&state, request, next).await
            }
            Err(problem)
                if problem.code == ProblemCode::Unauthorized
                    && page.as_ref().is_some_and(|page| !page.has_token) =>
            {
                pages::sign_in_first(&uri)
            }
            Err(problem) => problem.into_response(),
        }
    };
    let response = guarded.instrument(span.clone()).await;
    let mut response = match (&page, response.extensions().get::<Arc<Problem>>()) {
        (Some(page), Some(problem))
            if !page.has_token || problem.code != ProblemCode::Unauthorized =>
        {
            pages::problem_page(problem, lang, page.theme)
        }
        _ => with_words(response, lang, &path, &name),
    };
    add_headers(response.headers_mut(), &name);
    cors::add_headers(&state, response.headers_mut(), origin);
    let status = response.status();
    state.metrics.count_request(status, began.elapsed());
    span.in_scope(|| tracing::info!(status = status.as_u16(), "answered"));
    response
}

/// A person with a browser who wants a page, and gets problems as pages too.
struct PageReader {
    theme: Option<&'static str>,
    /// Whether it is a program that shows pages: a bearer token opens them too.
    has_token: bool,
}

impl PageReader {
    fn of(request: &Request) -> Option<Self> {
        let headers = request.headers();
        let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
        // A script of a page names problems, too: it shows them itself.
        let is_person = accept.is_some_and(|kinds| {
            kinds.contains("text/html") && !kinds.contains("application/problem+json")
        });
        let has_token = headers.contains_key(header::AUTHORIZATION);
        let path = request.uri().path();
        let is_page = !path.starts_with("/v1/") && !path.starts_with("/internal/");
        let theme = ViewChoice::of(headers).theme;
        (is_person && is_page).then_some(Self { theme, has_token })
    }
}

/// Reads the body first, within its time: a client that sends a byte a second holds nothing.
async fn within_time(state: &ServerState, request: Request, next: Next) -> Response {
    let server = &state.app.settings.server;
    let pictures = match crate::pages::takes_files(request.uri().path()) {
        true => state.app.settings.context.image_max.bytes().saturating_mul(UPLOADED_MAX),
        false => 0,
    };
    let most = server.body_max.bytes().saturating_add(pictures);
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let time = std::time::Duration::from_millis(server.body_timeout.ms());
    let (parts, body) = request.into_parts();
    let declared = parts.headers.get(header::CONTENT_LENGTH);
    let declared = declared.and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if declared.is_some_and(|length| length > most) {
        let _ = tokio::time::timeout(time, discard(body)).await;
        return ProblemCode::BodyTooLarge.bare().into_response();
    }
    let limited = http_body_util::Limited::new(body, most);
    match tokio::time::timeout(time, limited.collect()).await {
        Err(_) => ProblemCode::RequestTimeout.bare().into_response(),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
            ProblemCode::BodyTooLarge.bare().into_response()
        }
        Ok(Err(error)) => ProblemCode::BadRequest.because(error.to_string()).into_response(),
        Ok(Ok(read)) => {
            let body = Body::from(read.to_bytes());
            next.run(Request::from_parts(parts, body)).await
        }
    }
}

/// Reads what a client sends before it looks for the answer, up to a bound: a connection that is
/// closed on unread bytes loses the answer too.
async fn discard(mut body: Body) {
    let mut left = DISCARDED_MAX;
    while let Some(Ok(frame)) = body.frame().await {
        left = left.saturating_sub(frame.data_ref().map_or(0, |data| data.len()));
        if left == 0 {
            return;
        }
    }
}

/// Whether a path is answered before anybody is known. A webhook brings a signature in place of the
/// token.
pub(crate) fn is_open(path: &str) -> bool {
    OPEN_PATHS.contains(&path) || path.starts_with(hooks::PREFIX) || pages::is_open(path)
}

/// Everything that is checked before anything is routed; the session, if a browser has one.
fn check(
    state: &ServerState,
    request: &Request,
    lang: Lang,
) -> Result<Option<PageSession>, Problem> {
    let (headers, uri) = (request.headers(), request.uri());
    let client = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip());
    check_host(state, request, lang)?;
    check_origin(state, headers, request.method())?;
    // A probe is answered however many requests its machine makes: a proxy may be on it.
    let path = uri.path();
    if OPEN_PATHS.contains(&path) {
        return Ok(None);
    }
    if request.extensions().get::<ConnectionPlace>().is_some_and(ConnectionPlace::is_spare) {
        return Err(Problem { retry_after: Some(1), ..ProblemCode::TooManyConnections.bare() });
    }
    if let Some(client) = client {
        check_rate(state, client)?;
    }
    if is_open(path) {
        return Ok(None);
    }
    match bearer(headers) {
        Some(given) if state.token.now().is(given) => Ok(None),
        Some(_) => Err(ProblemCode::Unauthorized.bare()),
        None => check_session(state, request).map(Some),
    }
}

/// The session of a browser. What changes something has to bring the token of the session, which no
/// other site knows: in a header, or in the form, where the form is read.
fn check_session(state: &ServerState, request: &Request) -> Result<PageSession, Problem> {
    let headers = request.headers();
    let token = state.token.now();
    let value = pages::cookie(headers, &token.sessions.cookie_name());
    let session = value.and_then(|value| token.sessions.read(value, SystemClock.now()));
    let session = session.ok_or_else(|| ProblemCode::Unauthorized.bare())?;
    let method = request.method();
    let is_safe = method == Method::GET || method == Method::HEAD;
    if !is_safe && !request.uri().path().starts_with(pages::FORMS) {
        pages::check_token(&session, headers)?;
    }
    Ok(session)
}

fn check_rate(state: &ServerState, client: IpAddr) -> Result<(), Problem> {
    let most = state.app.settings.server.requests_per_minute;
    state.rate.take(client, most, Instant::now()).map_err(|seconds| Problem {
        retry_after: Some(seconds),
        ..ProblemCode::TooManyRequests.bare()
    })
}

/// A page of another site can make a browser connect here under a name of its own; the name gives
/// it away.
fn check_host(state: &ServerState, request: &Request, lang: Lang) -> Result<(), Problem> {
    let hosts = request.headers().get_all(header::HOST).iter();
    let hosts = hosts.map(|value| value.to_str().unwrap_or(""));
    let in_uri = request.uri().authority().map(axum::http::uri::Authority::as_str);
    // A proxy may read another one of several names than we do: each has to be ours.
    let named: Vec<&str> = hosts.chain(in_uri).collect();
    if named.is_empty() {
        return Err(ProblemCode::ForbiddenHost.because("the request has no Host"));
    }
    let reached = request.extensions().get::<ReachedAddress>().map(|address| address.0);
    match named.iter().find(|named| !is_known_host(state, named, reached)) {
        None => Ok(()),
        Some(foreign) => {
            let hint = text::api::unknown_host(&without_port(foreign)).in_lang(lang);
            Err(ProblemCode::ForbiddenHost.because(hint))
        }
    }
}

/// Names of this machine, those of the settings, and the address that the client has reached: an
/// address cannot be given to another machine as a name can.
fn is_known_host(state: &ServerState, named: &str, reached: Option<IpAddr>) -> bool {
    let host = without_port(named).to_ascii_lowercase();
    let in_brackets = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let bare = in_brackets.unwrap_or(&host);
    // A name with a dot at its end is the same name.
    let bare = bare.strip_suffix('.').unwrap_or(bare);
    let is_own = |address: IpAddr| address.is_loopback() || Some(address) == reached;
    bare.parse::<IpAddr>().is_ok_and(is_own)
        || bare == "localhost"
        || state.is_own_name(bare)
        || state.is_own_name(&host)
}

/// The host of `host:port` and `[address]:port`.
fn without_port(named: &str) -> &str {
    match named.rsplit_once(':') {
        Some((host, port))
            if port.bytes().all(|byte| byte.is_ascii_digit())
                && (!host.contains(':') || host.ends_with(']')) =>
        {
            host
        }
        _ => named,
    }
}

/// Only browsers send an Origin. One that is not the server itself has to be named in the settings.
fn check_origin(state: &ServerState, headers: &HeaderMap, method: &Method) -> Result<(), Problem> {
    let host = headers.get(header::HOST).and_then(|value| value.to_str().ok());
    let is_ours = |origin: &HeaderValue| {
        let Ok(origin) = origin.to_str() else { return false };
        let is_named = cors::is_named(state, origin);
        let own = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        is_named || (own.is_some() && own == host)
    };
    match headers.get_all(header::ORIGIN).iter().find(|origin| !is_ours(origin)) {
        None => Ok(()),
        Some(origin) => {
            Err(ProblemCode::ForbiddenOrigin.because(format!("{method} from {origin:?}")))
        }
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The first language that we have.
fn wanted_language(headers: &HeaderMap) -> Option<Lang> {
    let wanted = headers.get(header::ACCEPT_LANGUAGE)?.to_str().ok()?;
    wanted.split(',').find_map(|part| Lang::parse(part.split(';').next().unwrap_or("").trim()))
}

/// Gives a problem its body.
fn with_words(mut response: Response, lang: Lang, path: &str, name: &str) -> Response {
    let Some(problem) = response.extensions_mut().remove::<Arc<Problem>>() else {
        return without_bare_refusal(response, lang, path, name);
    };
    let headers = std::mem::take(response.headers_mut());
    let status = problem.code.status();
    if openai::is_facade(path) {
        let mut worded = (status, axum::Json(problem.facade_body(lang))).into_response();
        worded.headers_mut().extend(headers);
        return worded;
    }
    let mut worded = (status, axum::Json(problem.body(lang, path, name))).into_response();
    worded.headers_mut().extend(headers);
    let kind = HeaderValue::from_static("application/problem+json");
    worded.headers_mut().insert(header::CONTENT_TYPE, kind);
    worded
}

/// What the router itself refuses has no words either.
fn without_bare_refusal(response: Response, lang: Lang, path: &str, name: &str) -> Response {
    let code = match response.status() {
        axum::http::StatusCode::METHOD_NOT_ALLOWED => ProblemCode::MethodNotAllowed,
        _ => return response,
    };
    let allowed = response.headers().get(header::ALLOW).cloned();
    let mut worded = with_words(code.bare().into_response(), lang, path, name);
    if let Some(allowed) = allowed {
        worded.headers_mut().insert(header::ALLOW, allowed);
    }
    worded
}

fn add_headers(headers: &mut HeaderMap, name: &str) {
    let fixed = [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("x-frame-options", "DENY"),
        ("cross-origin-resource-policy", "same-origin"),
    ];
    for (header, value) in fixed {
        headers.entry(header).or_insert(HeaderValue::from_static(value));
    }
    if let Ok(name) = HeaderValue::from_str(name) {
        headers.insert("x-request-id", name);
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

#[cfg(test)]
mod tests {
    use super::{PageReader, without_port};
    use axum::body::Body;
    use axum::extract::Request;

    #[test]
    fn a_program_that_asks_for_a_page_gets_problems_as_pages() {
        let asked = |path: &str, accept: &str| {
            let request = Request::builder().uri(path).header("authorization", "Bearer x");
            PageReader::of(&request.header("accept", accept).body(Body::empty()).unwrap())
        };
        assert!(asked("/runs/run_none", "text/html").is_some_and(|page| page.has_token));
        assert!(asked("/runs/run_none", "*/*").is_none());
        assert!(asked("/v1/runs/run_none", "text/html").is_none());
    }

    #[test]
    fn a_port_is_taken_off_a_name_and_off_an_address_in_brackets() {
        assert_eq!(without_port("localhost:7717"), "localhost");
        assert_eq!(without_port("[::1]:7717"), "[::1]");
        assert_eq!(without_port("::1"), "::1");
        assert_eq!(without_port("evil.example"), "evil.example");
        assert_eq!(without_port("a:b"), "a:b");
    }
}
