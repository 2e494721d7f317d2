//! Signing in: by a link that works once, or with the token.

use super::forms::{FormFields, local_path};
use super::respond::{page, page_with, see_other};
use super::session::SESSION_MS;
use super::views::ViewChoice;
use crate::address::percent_encoded;
use crate::guard::RequestLang;
use crate::problem::{Problem, ProblemCode};
use crate::state::ServerState;
use axum::Extension;
use axum::extract::{Query, State};
use axum::http::uri::{PathAndQuery, Uri};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use everloop_pages::signin;
use serde::Deserialize;

/// The key of a link.
#[derive(Debug, Deserialize)]
pub(crate) struct LinkParams {
    #[serde(default)]
    key: String,
}

/// Where to go on.
#[derive(Debug, Deserialize)]
pub(crate) struct NextParams {
    #[serde(default)]
    next: String,
}

type WantedLang = Extension<RequestLang>;

/// Leads somebody without a session to the page where one signs in, and from there back.
pub(crate) fn sign_in_first(uri: &Uri) -> Response {
    let wanted = uri.path_and_query().map_or("/", PathAndQuery::as_str);
    see_other(&format!("/signin?next={}", percent_encoded(wanted).replace("%2F", "/")))
}

fn with_session(state: &ServerState, response: Response) -> Result<Response, Problem> {
    let value = state.token.now().sessions.begin();
    let value = value.map_err(|error| ProblemCode::Internal.because(error.to_string()))?;
    with_cookie(state, response, &value, SESSION_MS / 1_000)
}

/// Sets the cookie of the session for so many seconds.
fn with_cookie(
    state: &ServerState,
    mut response: Response,
    value: &str,
    seconds: i64,
) -> Result<Response, Problem> {
    let name = state.token.now().sessions.cookie_name();
    let secure = if state.is_https { "; Secure" } else { "" };
    let cookie =
        format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}");
    let cookie = HeaderValue::from_str(&cookie);
    let cookie = cookie.map_err(|error| ProblemCode::Internal.because(error.to_string()))?;
    response.headers_mut().append(header::SET_COOKIE, cookie);
    Ok(response)
}

pub(crate) async fn open_link(
    State(state): State<ServerState>,
    Extension(RequestLang(lang)): WantedLang,
    Query(params): Query<LinkParams>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    if state.token.now().sessions.use_link(&params.key) {
        return with_session(&state, page(signin::opened(lang)));
    }
    let theme = ViewChoice::of(&headers).theme;
    let words = everloop_text::pages::signin::used_up().in_lang(lang);
    let markup = everloop_pages::layout::problem_page(lang, theme, &words, None);
    Ok(page_with(StatusCode::GONE, markup))
}

pub(crate) async fn show(
    Extension(RequestLang(lang)): WantedLang,
    Query(params): Query<NextParams>,
    headers: HeaderMap,
) -> Response {
    let theme = ViewChoice::of(&headers).theme;
    page(signin::sign_in(lang, theme, local_path(&params.next), false))
}

pub(crate) async fn sign_in(
    State(state): State<ServerState>,
    Extension(RequestLang(lang)): WantedLang,
    headers: HeaderMap,
    fields: FormFields,
) -> Result<Response, Problem> {
    let next = local_path(fields.get("next"));
    if state.token.now().is(fields.get("token").trim()) {
        return with_session(&state, see_other(next));
    }
    let theme = ViewChoice::of(&headers).theme;
    let markup = signin::sign_in(lang, theme, next, true);
    Ok(page_with(StatusCode::UNAUTHORIZED, markup))
}

/// Ends the session of this browser.
pub(crate) async fn sign_out(
    State(state): State<ServerState>,
    _fields: FormFields,
) -> Result<Response, Problem> {
    with_cookie(&state, see_other("/signin"), "", 0)
}
