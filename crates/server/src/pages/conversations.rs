//! All conversations: found again, archived, deleted, marked as unread.

use super::forms::FormFields;
use super::frame::{PageRequest, side_state};
use super::respond::{page, see_other};
use crate::address::percent_encoded;
use crate::json::PathOf;
use crate::problem::Problem;
use crate::routes::conversations::find;
use crate::state::ServerState;
use axum::extract::{Query, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use everloop_app::conversations::{
    self, ConversationFormat, ConversationQuery, ListedConversation,
};
use everloop_app::scheduling;
use everloop_pages::conversations::{self as view, ConversationItem, ConversationsView};
use everloop_pages::layout::NavPlace;
use everloop_pages::parts::say;
use everloop_store::ConversationListPlace;
use everloop_text::pages as words;
use everloop_types::ConversationId;
use serde::Deserialize;

/// Conversations of one page.
const PAGE_CONVERSATIONS: usize = 50;

/// The part of the list that is wanted.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ConversationsParams {
    #[serde(default)]
    q: String,
    #[serde(default)]
    archived: String,
    /// The last conversation of the page before: when something was said last, and its id.
    before: Option<String>,
}

fn place_of(before: &str) -> Option<ConversationListPlace> {
    let (at, id) = before.split_once('.')?;
    Some(ConversationListPlace { updated_at: at.parse().ok()?, id: ConversationId::new(id) })
}

pub(crate) async fn show(
    State(state): State<ServerState>,
    Query(params): Query<ConversationsParams>,
    request: PageRequest,
) -> Result<Response, Problem> {
    let archived = params.archived == "yes";
    let asked = Some(params.q.clone()).filter(|q| !q.trim().is_empty());
    let query = ConversationQuery {
        words: asked,
        only_archived: archived,
        after: params.before.as_deref().and_then(place_of),
        most: PAGE_CONVERSATIONS + 1,
        ..ConversationQuery::default()
    };
    let mut all = conversations::list(&state.app, state.store(), query).await?;
    let is_last = all.len() <= PAGE_CONVERSATIONS;
    all.truncate(PAGE_CONVERSATIONS);
    let more = all.last().filter(|_| !is_last).map(|last| {
        let (at, id, q) = (last.row.updated_at, &last.row.id, percent_encoded(&params.q));
        let archived = if archived { "&archived=yes" } else { "" };
        format!("/conversations?before={at}.{id}&q={q}{archived}")
    });
    let title = say(request.lang(), words::conversations::title());
    let (frame, asks) = request.frame(&state, NavPlace::Conversations, title).await?;
    let item = |one: &ListedConversation| {
        let asked = asks.iter().any(|ask| ask.conversation == one.row.id);
        item(&request, one, side_state(one, asked))
    };
    let rows = all.iter().map(item).collect();
    let list = ConversationsView { query: params.q, archived, rows, more };
    Ok(page(view::view(&frame, &list)))
}

fn item(
    request: &PageRequest,
    one: &ListedConversation,
    state: Option<&'static str>,
) -> ConversationItem {
    let row = &one.row;
    let scheduled = (row.channel == scheduling::CHANNEL)
        .then(|| say(request.lang(), words::conversations::from_schedule()));
    let parts: Vec<String> = [Some(one.folder()), scheduled].into_iter().flatten().collect();
    let line: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    ConversationItem {
        id: row.id.to_string(),
        title: one.title(),
        is_unread: one.has_unread(),
        state,
        when: request.short_time(row.updated_at),
        line: line.join(" · "),
        excerpt: one.excerpt.clone(),
        messages: row.counts.last_pos,
        archived: row.archived_at.is_some(),
    }
}

/// The form of a file.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ExportParams {
    #[serde(default)]
    format: String,
}

/// The whole conversation as a file.
pub(crate) async fn export(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    Query(params): Query<ExportParams>,
) -> Result<Response, Problem> {
    let one = find(&state, &id).await?;
    let (format, kind, ending) = match params.format.as_str() {
        "json" => (ConversationFormat::Json, "application/json", "json"),
        _ => (ConversationFormat::Markdown, "text/markdown; charset=utf-8", "md"),
    };
    let folder = one.folder();
    let text = conversations::export(&state.app, state.store(), &one, &folder, format).await?;
    let name = format!("attachment; filename=\"conversation-{}.{ending}\"", one.short_id());
    let kind = HeaderValue::from_static(kind);
    let mut response = ([(header::CONTENT_TYPE, kind)], text).into_response();
    if let Ok(name) = HeaderValue::from_str(&name) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, name);
    }
    Ok(response)
}

pub(crate) async fn archive(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    fields: FormFields,
) -> Result<Response, Problem> {
    let one = find(&state, &id).await?;
    let on = fields.get("archived") == "yes";
    conversations::archive(state.store(), &one.row.id, on).await?;
    Ok(see_other(fields.back()))
}

pub(crate) async fn delete(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    fields: FormFields,
) -> Result<Response, Problem> {
    let one = find(&state, &id).await?;
    conversations::delete(&state.app, state.store(), &one, "user").await?;
    // Its own page is gone with it.
    let own = format!("/chat/{id}");
    let back = if fields.back().starts_with(&own) { "/conversations" } else { fields.back() };
    Ok(see_other(back))
}

pub(crate) async fn read(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    fields: FormFields,
) -> Result<Response, Problem> {
    let one = find(&state, &id).await?;
    conversations::mark_read(state.store(), &one.row.id, None).await?;
    Ok(see_other(fields.back()))
}

pub(crate) async fn unread(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    fields: FormFields,
) -> Result<Response, Problem> {
    let one = find(&state, &id).await?;
    conversations::mark_unread(state.store(), &one.row.id).await?;
    // Its own page would mark it as read at once.
    let own = format!("/chat/{id}");
    let back = if fields.back().starts_with(&own) { "/conversations" } else { fields.back() };
    Ok(see_other(back))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_from_an_address() {
        let place = ConversationListPlace { updated_at: 12, id: ConversationId::new("conv_a") };
        assert_eq!(place_of("12.conv_a"), Some(place));
        assert_eq!(place_of("conv_a"), None);
        assert_eq!(place_of("x.conv_a"), None);
    }
}
