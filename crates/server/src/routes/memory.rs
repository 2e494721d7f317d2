//! Facts: what later runs are told once a person has accepted it.

use super::conversations::check_match;
use super::shapes::Fact;
use super::{JsonObject, ListPage, checked_id, cursor, page_size};
use crate::api::Api;
use crate::idempotency::{RequestKey, name_of};
use crate::json::{Body, PathOf, QueryOf};
use crate::openapi::Operation;
use crate::problem::{Problem, ProblemCode};
use crate::state::ServerState;
use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use everloop_app::facts::{self, FactAuthor, FactDecision, FactEditor, FactRevision};
use everloop_app::show::timestamp;
use everloop_store::{FactFilter, FactRow};
use everloop_types::{FactId, FactStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const LIST: &str = "facts";

/// Who changes facts over HTTP.
const BY: &str = "api";

/// Which facts are wanted.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FactParams {
    /// `proposed`, `active`, `rejected` or `withdrawn`.
    status: Option<String>,
    /// Only those that runs in this folder are told.
    workspace: Option<String>,
    /// Only those in which these words occur.
    q: Option<String>,
    /// Most items of the page; 50 if it is not given.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<usize>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// A fact to write.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewApiFact {
    /// What is remembered.
    #[schemars(length(min = 1))]
    text: String,
    /// The folder whose runs are told; all of them if there is none.
    workspace: Option<String>,
}

/// What is to be changed of a fact.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FactEdit {
    /// The new words.
    text: Option<String>,
    /// What is decided.
    status: Option<FactVerdict>,
}

/// What is decided about a fact.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum FactVerdict {
    /// Later runs are told.
    Active,
    /// A proposal is refused.
    Rejected,
    /// Later runs are not told any more.
    Withdrawn,
}

pub(crate) fn add(api: &mut Api) {
    let path = "/v1/memory/facts";
    let list = Operation::get(path, "Facts and proposals, the newest first")
        .query::<FactParams>()
        .answers::<ListPage<Fact>>(200)
        .problems(&[ProblemCode::BadCursor]);
    api.route(list, list_facts);
    let new = Operation::post(path, "Writes a fact; it is active at once").body::<NewApiFact>();
    let new = new.answers::<Fact>(201).tagged().problems(&[ProblemCode::Conflict]);
    api.route(new, add_fact);
    let search = "Active facts that fit some words, the best first, as `memory_search` finds them";
    let search = Operation::get("/v1/memory/search", search).query::<MemorySearchParams>();
    api.route(search.answers::<ListPage<Fact>>(200), search_facts);
    let path = "/v1/memory/facts/{id}";
    let get = Operation::get(path, "One fact with its source and history, with an ETag");
    api.route(get.answers::<JsonObject>(200).tagged(), get_fact);
    let change = Operation::new(Method::PATCH, path, "Edits, accepts, rejects or withdraws a fact")
        .body::<FactEdit>()
        .answers::<Fact>(200)
        .edits()
        .problems(&[ProblemCode::Conflict]);
    api.route(change, change_fact);
}

/// Words that facts are looked for with.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MemorySearchParams {
    /// Words, in any script.
    #[schemars(length(min = 1))]
    q: String,
    /// Only those that runs in this folder are told.
    workspace: Option<String>,
}

fn etag(fact: &FactRow) -> String {
    format!("\"{}\"", fact.version)
}

/// A fact, or more about one, with its moments as the API writes them.
fn shown(fact: &impl Serialize) -> Value {
    let mut shown = json!(fact);
    write_moments(&mut shown, &["created_at", "updated_at"]);
    let history = shown.get_mut("history").and_then(Value::as_array_mut);
    for change in history.into_iter().flatten() {
        write_moments(change, &["at"]);
    }
    shown
}

fn write_moments(object: &mut Value, names: &[&str]) {
    for name in names {
        if let Some(moment) = object.get_mut(name)
            && let Some(at) = moment.as_i64()
        {
            *moment = timestamp(at).into();
        }
    }
}

fn all_shown(facts: &[FactRow]) -> Vec<Value> {
    facts.iter().map(shown).collect()
}

fn answer(status: StatusCode, fact: &FactRow, body: Value) -> Response {
    let mut response = (status, axum::Json(body)).into_response();
    if let Ok(etag) = HeaderValue::from_str(&etag(fact)) {
        response.headers_mut().insert(header::ETAG, etag);
    }
    response
}

async fn find(state: &ServerState, id: &str) -> Result<FactRow, Problem> {
    let id = checked_id(id, "fact_")?;
    let fact = facts::find(state.store(), id).await?;
    if fact.id.as_str() == id { Ok(fact) } else { Err(ProblemCode::NotFound.bare()) }
}

async fn list_facts(
    State(state): State<ServerState>,
    QueryOf(params): QueryOf<FactParams>,
) -> Result<Body<JsonObject>, Problem> {
    let most = page_size(params.limit)?;
    let before = params.cursor.map(|cursor| cursor::read(LIST, &cursor)).transpose()?;
    let status = params.status.as_deref().map(|name| {
        let known = FactStatus::ALL.map(FactStatus::as_str).join(", ");
        let wrong = || Problem::of_field("status", format!("is one of {known}"));
        FactStatus::parse(name).ok_or_else(wrong)
    });
    let filter = FactFilter {
        status: status.transpose()?,
        workspace: params.workspace,
        before: before.map(FactId::new),
        most: most + 1,
    };
    let words = params.q.as_deref().map(str::to_lowercase);
    let mut rows = listed(&state, filter, words.as_deref()).await?;
    let is_last = rows.len() <= most;
    rows.truncate(most);
    let last = rows.last().filter(|_| !is_last);
    let next = last.map(|fact| cursor::write(LIST, fact.id.as_str()));
    Ok(Body(JsonObject(json!({"data": all_shown(&rows), "next_cursor": next}))))
}

/// Facts in which words occur, read until there are as many as are wanted.
async fn listed(
    state: &ServerState,
    mut filter: FactFilter,
    words: Option<&str>,
) -> Result<Vec<FactRow>, Problem> {
    let mut found = Vec::new();
    loop {
        let rows = facts::list(state.store(), &filter).await?;
        let is_last = rows.len() < filter.most;
        filter.before = rows.last().map(|fact| fact.id.clone());
        let fits = |fact: &FactRow| words.is_none_or(|w| fact.text.to_lowercase().contains(w));
        found.extend(rows.into_iter().filter(fits));
        if is_last || found.len() >= filter.most {
            found.truncate(filter.most);
            return Ok(found);
        }
    }
}

async fn search_facts(
    State(state): State<ServerState>,
    QueryOf(params): QueryOf<MemorySearchParams>,
) -> Result<Body<JsonObject>, Problem> {
    if params.q.trim().is_empty() {
        return Err(Problem::of_field("q", "is empty"));
    }
    let workspace = params.workspace.as_deref();
    let found = facts::search(&state.app, state.store(), workspace, &params.q).await?;
    Ok(Body(JsonObject(json!({"data": all_shown(&found), "next_cursor": null}))))
}

async fn add_fact(
    State(state): State<ServerState>,
    key: Option<Extension<RequestKey>>,
    Body(new): Body<NewApiFact>,
) -> Result<Response, Problem> {
    let author = FactAuthor { by: BY, workspace: new.workspace.as_deref(), conversation: None };
    let (app, store) = (&state.app, state.store());
    let fact = match name_of(key.as_ref(), LIST) {
        Some(key) => facts::add_once(app, store, author, &new.text, &key).await?,
        None => facts::add(app, store, author, &new.text).await?,
    };
    Ok(answer(StatusCode::CREATED, &fact, shown(&fact)))
}

async fn get_fact(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
) -> Result<Response, Problem> {
    let fact = find(&state, &id).await?;
    let details = facts::details(state.store(), fact.clone()).await?;
    Ok(answer(StatusCode::OK, &fact, shown(&details)))
}

async fn change_fact(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    headers: HeaderMap,
    Body(change): Body<FactEdit>,
) -> Result<Response, Problem> {
    let fact = find(&state, &id).await?;
    let is_bound = check_match(&headers, &etag(&fact))?;
    let decision = change.status.map(|verdict| match verdict {
        FactVerdict::Active => FactDecision::Accept,
        FactVerdict::Rejected => FactDecision::Reject,
        FactVerdict::Withdrawn => FactDecision::Withdraw,
    });
    let revision = FactRevision { text: change.text.as_deref(), decision };
    let editor = FactEditor { by: BY, version: is_bound.then_some(fact.version) };
    let fact = facts::revise(&state.app, state.store(), &fact.id, revision, editor).await?;
    Ok(answer(StatusCode::OK, &fact, shown(&fact)))
}
