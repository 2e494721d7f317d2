//! Memory: facts, proposals, and what a person decides about them.

use super::chat::run_title;
use super::forms::FormFields;
use super::frame::{PageRequest, missing};
use super::respond::{page, see_other};
use super::run_files::download;
use crate::json::PathOf;
use crate::problem::Problem;
use crate::routes::{checked_id, conversation_id};
use crate::state::ServerState;
use axum::extract::{Query, State};
use axum::response::Response;
use everloop_app::conversations;
use everloop_app::facts::{self, FactAuthor, FactDecision, FactEditor, FactPolicy};
use everloop_pages::layout::NavPlace;
use everloop_pages::memory::{self as view, FactItem, FactView, MemoryView};
use everloop_pages::parts::say;
use everloop_store::{FactFilter, FactRow};
use everloop_text::pages as words;
use everloop_types::FactStatus;
use serde::Deserialize;

/// Facts of one list.
const FACTS_MAX: usize = 200;

/// Uses of a fact that are listed.
const USES_MAX: usize = 20;

/// Who changes facts on a page.
const BY: &str = "page";

/// What is wanted of memory.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct MemoryParams {
    #[serde(default)]
    q: String,
    /// `everywhere`, `folder` or `archived`.
    #[serde(default)]
    show: String,
    fact: Option<String>,
}

fn item(request: &PageRequest, fact: &FactRow) -> FactItem {
    let lang = request.lang();
    let place = fact.workspace.clone();
    let place = place.unwrap_or_else(|| say(lang, words::memory::everywhere()));
    let when = request.short_time(fact.updated_at);
    FactItem {
        id: fact.id.to_string(),
        text: fact.text.clone(),
        line: say(lang, words::memory::line(&place, &when)),
    }
}

async fn list(state: &ServerState, status: FactStatus) -> Result<Vec<FactRow>, Problem> {
    let filter = FactFilter { status: Some(status), most: FACTS_MAX, ..FactFilter::default() };
    Ok(facts::list(state.store(), &filter).await?)
}

/// Every fact that was ever decided about: active ones, and those that are not told any more.
struct AllFacts {
    active: Vec<FactRow>,
    archived: Vec<FactRow>,
}

impl AllFacts {
    async fn read(state: &ServerState) -> Result<Self, Problem> {
        let active = list(state, FactStatus::Active).await?;
        let mut archived = list(state, FactStatus::Withdrawn).await?;
        archived.extend(list(state, FactStatus::Rejected).await?);
        Ok(Self { active, archived })
    }

    fn of(&self, part: &str) -> Vec<&FactRow> {
        let all = if part == "archived" { &self.archived } else { &self.active };
        let fits = |fact: &&FactRow| match part {
            "everywhere" => fact.workspace.is_none(),
            "folder" => fact.workspace.is_some(),
            _ => true,
        };
        all.iter().filter(fits).collect()
    }
}

pub(crate) async fn show(
    State(state): State<ServerState>,
    Query(params): Query<MemoryParams>,
    request: PageRequest,
) -> Result<Response, Problem> {
    let title = say(request.lang(), words::nav::memory());
    let (frame, _) = request.frame(&state, NavPlace::Memory, title).await?;
    let query = params.q.trim().to_lowercase();
    let has_it = |fact: &&FactRow| fact.text.to_lowercase().contains(&query);
    let proposed = list(&state, FactStatus::Proposed).await?;
    let all = AllFacts::read(&state).await?;
    let shown = view::SHOWN.into_iter().find(|part| *part == params.show).unwrap_or("all");
    let chosen = match &params.fact {
        Some(id) => Some(chosen(&request, &state, id).await?),
        None => None,
    };
    let memory = MemoryView {
        shown: shown.to_owned(),
        totals: view::SHOWN.map(|part| all.of(part).len()),
        asks: state.app.settings.memory.accept == FactPolicy::Ask,
        proposed: proposed.iter().filter(has_it).map(|fact| item(&request, fact)).collect(),
        active: all.of(shown).into_iter().filter(has_it).map(|fact| item(&request, fact)).collect(),
        query: params.q,
        chosen,
    };
    Ok(page(view::view(&frame, &memory)))
}

async fn chosen(request: &PageRequest, state: &ServerState, id: &str) -> Result<FactView, Problem> {
    let fact = facts::find(state.store(), checked_id(id, "fact_")?).await?;
    let item = item(request, &fact);
    let is_active = fact.status == FactStatus::Active;
    let conversation = fact.source.conversation.clone();
    let told = facts::told_to(state.store(), &fact.id).await?;
    let uses = told
        .iter()
        .take(USES_MAX)
        .map(|row| (row.run.to_string(), run_title(row), request.short_time(row.times.created_at)));
    let uses = uses.collect();
    let is_out = match &conversation {
        Some(id) => {
            let row = state.store().conversations().get(id).await?;
            row.is_some_and(|row| row.out_of_memory)
        }
        None => false,
    };
    let details = facts::details(state.store(), fact).await?;
    let title = details.conversation_title.clone().unwrap_or_default();
    let history = details.history.iter().map(|change| {
        let named = words::memory::change::named(change.change.as_str());
        let named = named.map(|what| say(request.lang(), what)).unwrap_or_default();
        (format!("{named} · {}", change.by), request.short_time(change.at))
    });
    Ok(FactView {
        item,
        is_active,
        is_out,
        uses,
        said: details.message.clone(),
        conversation: conversation.map(|id| (id.to_string(), title)),
        history: history.collect(),
    })
}

pub(crate) async fn add(
    State(state): State<ServerState>,
    fields: FormFields,
) -> Result<Response, Problem> {
    let author = FactAuthor { by: BY, workspace: None, conversation: None };
    facts::add(&state.app, state.store(), author, fields.get("text")).await?;
    Ok(see_other(fields.back()))
}

pub(crate) async fn decide(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    fields: FormFields,
) -> Result<Response, Problem> {
    let decision = match fields.get("verdict") {
        "accept" => FactDecision::Accept,
        "reject" => FactDecision::Reject,
        "withdraw" => FactDecision::Withdraw,
        _ => return Err(missing()),
    };
    let fact = facts::find(state.store(), checked_id(&id, "fact_")?).await?;
    let editor = FactEditor { by: BY, version: None };
    facts::decide(&state.app, state.store(), &fact.id, decision, editor).await?;
    Ok(see_other(fields.back()))
}

pub(crate) async fn edit(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    fields: FormFields,
) -> Result<Response, Problem> {
    let fact = facts::find(state.store(), checked_id(&id, "fact_")?).await?;
    let editor = FactEditor { by: BY, version: Some(fact.version) };
    facts::edit(&state.app, state.store(), &fact.id, fields.get("text"), editor).await?;
    Ok(see_other(fields.back()))
}

/// Keeps a conversation out of memory, or lets it in again.
pub(crate) async fn keep_out(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    fields: FormFields,
) -> Result<Response, Problem> {
    let id = conversation_id(&id)?;
    conversations::keep_out_of_memory(state.store(), &id, fields.get("out") == "on").await?;
    Ok(see_other(fields.back()))
}

/// Every fact, one JSON object a line.
pub(crate) async fn export(State(state): State<ServerState>) -> Result<Response, Problem> {
    let mut lines = String::new();
    for status in FactStatus::ALL {
        for fact in list(&state, status).await? {
            lines.push_str(&serde_json::json!(fact).to_string());
            lines.push('\n');
        }
    }
    Ok(download(lines, "application/jsonl", "memory.jsonl"))
}
