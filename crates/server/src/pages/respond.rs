//! Answers with pages: their headers, files, and problems in words.

use crate::problem::{Problem, ProblemCode};
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use everloop_pages::{assets, layout};
use everloop_types::Lang;
use maud::Markup;

/// Nothing inline, nothing from elsewhere, nobody may frame it.
pub(crate) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; \
    form-action 'self'";

/// A page.
pub(crate) fn page(markup: Markup) -> Response {
    page_with(StatusCode::OK, markup)
}

/// A page with a status.
pub(crate) fn page_with(status: StatusCode, markup: Markup) -> Response {
    let mut response = (status, Html(markup.into_string())).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
    // With `no-referrer` a browser names no origin when it sends a form, and the guard wants one.
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    response
}

/// Leads on to another page.
pub(crate) fn see_other(to: &str) -> Response {
    match HeaderValue::from_str(to) {
        Ok(to) => (StatusCode::SEE_OTHER, [(header::LOCATION, to)]).into_response(),
        Err(_) => (StatusCode::SEE_OTHER, [(header::LOCATION, "/")]).into_response(),
    }
}

/// A problem as a page, for a person who followed a link.
pub(crate) fn problem_page(problem: &Problem, lang: Lang, theme: Option<&str>) -> Response {
    let body = problem.body(lang, "", "");
    let page = layout::problem_page(lang, theme, &body.title, body.detail.as_deref());
    page_with(problem.code.status(), page)
}

/// A file of the pages. Its address has its digest, so it never changes.
pub(crate) async fn asset(
    Path((_, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let asset = assets::find(&name).ok_or_else(|| ProblemCode::NotFound.bare())?;
    let etag = format!("\"{}\"", assets::digest());
    let fixed: [(HeaderName, String); 3] = [
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable".to_owned()),
        (header::ETAG, etag.clone()),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; style-src 'unsafe-inline'".into()),
    ];
    let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    if known.is_some_and(|known| known.contains(&etag)) {
        return Ok((StatusCode::NOT_MODIFIED, fixed).into_response());
    }
    Ok((fixed, [(header::CONTENT_TYPE, asset.kind)], asset.text.as_str()).into_response())
}
