//! Runs: listing, starting, and everything that is read of one.

use super::conversations::find as find_conversation;
use super::shapes::RunWhole;
use super::{JsonObject, ListPage, cursor, page_size, run_id};
use crate::api::Api;
use crate::guard::RequestLang;
use crate::idempotency::{RequestKey, name_of};
use crate::json::{Body, PathOf, QueryOf};
use crate::openapi::Operation;
use crate::problem::{Problem, ProblemCode};
use crate::routes::messages::run_row;
use crate::state::ServerState;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use everloop_app::frames::RunOptions;
use everloop_app::one_shot::PipedInput;
use everloop_app::replay::{self, VerdictReport};
use everloop_app::run_diff::RunDiff;
use everloop_app::run_json;
use everloop_app::run_list::{RunListRequest, RunPage};
use everloop_app::run_types::{self, RunRequest, RunType};
use everloop_app::runs::{self, RunDetails};
use everloop_app::show::timestamp;
use everloop_engine::Scope;
use everloop_store::{RunRow, RunScope};
use everloop_types::{ApprovalMode, ConversationId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::PathBuf;

const LIST: &str = "runs";

/// A run.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Run")]
pub(crate) struct ApiRun {
    /// Its id.
    pub(crate) id: String,
    /// `queued`, `running`, `waiting`, `succeeded`, `unsettled`, `failed`, `canceled` or
    /// `quarantined`.
    status: String,
    /// `agent`, `sleep`, `summarize_conversation`, `index_repo`, `fetch_web` or `analyze`.
    #[serde(rename = "type")]
    run_type: String,
    /// What people call it.
    title: Option<String>,
    /// The run that it does again.
    retry_of: Option<String>,
    /// The loop that decides it.
    #[serde(rename = "loop")]
    loop_name: String,
    /// What the user wants.
    goal: String,
    /// Its conversation.
    conversation_id: String,
    /// What it waits for, or why it was quarantined.
    note: Option<String>,
    /// The run that it was forked from.
    forked_from: Option<String>,
    /// The run that waits for it.
    parent: Option<String>,
    /// Whether it came in a file.
    imported: bool,
    /// The number of its last event.
    last_event: i64,
    /// When it was created.
    created_at: String,
    /// When it changed last.
    updated_at: String,
}

impl ApiRun {
    pub(crate) fn of(row: &RunRow) -> Self {
        Self {
            id: row.run.to_string(),
            status: row.status.as_str().to_owned(),
            run_type: row.profile.run_type.clone(),
            title: row.profile.title.clone(),
            retry_of: row.profile.retry_of.as_ref().map(ToString::to_string),
            loop_name: row.loop_name.clone(),
            goal: row.goal.clone(),
            conversation_id: row.conversation.to_string(),
            note: row.note.clone(),
            forked_from: row.origin.forked.as_ref().map(|origin| origin.run.to_string()),
            parent: row.origin.parent.as_ref().map(ToString::to_string),
            imported: row.origin.imported,
            last_event: row.lease.next_seq.saturating_sub(1),
            created_at: timestamp(row.times.created_at),
            updated_at: timestamp(row.times.updated_at),
        }
    }
}

/// Which runs are wanted.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RunParams {
    /// Most items of the page; 50 if it is not given.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<usize>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// Statuses, separated by commas.
    status: Option<String>,
    /// Only those of this conversation.
    conversation_id: Option<String>,
    /// Only those that this entry of the schedule started.
    schedule: Option<i64>,
}

/// A run to start: a goal, or a type with its input.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewApiRun {
    /// What is to be done; the same as the type `agent` with this goal.
    goal: Option<String>,
    /// The type; `agent` if there is none.
    #[serde(rename = "type")]
    run_type: Option<String>,
    /// What the type takes; `/v1/run-types` describes it.
    input: Option<serde_json::Map<String, Value>>,
    /// What people call it.
    title: Option<String>,
    /// The conversation that it belongs to; without one its end opens a conversation of its own.
    conversation_id: Option<String>,
    /// The loop that decides.
    #[serde(rename = "loop")]
    loop_name: Option<String>,
    /// The model, as `provider/model`.
    model: Option<String>,
    /// The persona.
    persona: Option<String>,
    /// The folder that it works in.
    workspace: Option<PathBuf>,
    /// What it may do without asking: `ask`, `edits`, `plan` or `all`.
    approve: Option<String>,
    /// Every call that would be asked about is allowed.
    #[serde(default)]
    yes: bool,
    /// What the model reads beside the goal. Nobody knows who wrote it.
    #[schemars(length(max = 400_000))]
    attached: Option<String>,
}

/// A place in a run's journal.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct StateParams {
    /// The number of the last event that counts; the last one if there is none.
    at_event: Option<i64>,
}

/// Two runs to compare.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DiffParams {
    /// The other run.
    with: String,
}

pub(crate) fn add(api: &mut Api) {
    let list = Operation::get("/v1/runs", "Lists runs, the newest first")
        .query::<RunParams>()
        .answers::<ListPage<ApiRun>>(200)
        .problems(&[ProblemCode::BadCursor]);
    api.route(list, list_runs);
    let start = Operation::post("/v1/runs", "Queues a run; whoever drives runs takes it up")
        .body::<NewApiRun>()
        .answers::<ApiRun>(202)
        .problems(&[ProblemCode::ModelUnavailable, ProblemCode::NotFound]);
    api.route(start, start_run);
    let types = Operation::get("/v1/run-types", "The types of run, and what each takes");
    api.route(types.answers::<JsonObject>(200), list_run_types);
    let path = "/v1/runs/{id}";
    let get = Operation::get(path, "One run with its plan, numbers and last words");
    api.route(get.answers::<RunWhole>(200), get_run);
    let state = Operation::get("/v1/runs/{id}/state", "The run as it was at one of its events")
        .query::<StateParams>()
        .answers::<JsonObject>(200)
        .problems(&[ProblemCode::EventAhead, ProblemCode::EventsTrimmed]);
    api.route(state, run_state);
    let plan = Operation::get("/v1/runs/{id}/plan", "The items of its plan, as they are now");
    api.route(plan.answers::<ListPage<JsonObject>>(200), run_plan);
    let tree = Operation::get("/v1/runs/{id}/tree", "The run and all runs below it");
    api.route(tree.answers::<JsonObject>(200), run_tree);
    let story = Operation::get("/v1/runs/{id}/story", "Its journal as a story, line by line");
    api.route(story.answers::<JsonObject>(200), run_story);
    let verify = Operation::get("/v1/runs/{id}/verify", "Whether its loop decides the same today");
    api.route(verify.answers::<JsonObject>(200), verify_run);
    let diff = Operation::get("/v1/runs/{id}/diff", "Where it parts from another run")
        .query::<DiffParams>()
        .answers::<JsonObject>(200);
    api.route(diff, diff_runs);
}

async fn list_runs(
    State(state): State<ServerState>,
    QueryOf(params): QueryOf<RunParams>,
) -> Result<Body<ListPage<ApiRun>>, Problem> {
    let limit = page_size(params.limit)?;
    let cursor = params.cursor.map(|cursor| cursor::read(LIST, &cursor)).transpose()?;
    let statuses = params.status.as_deref().unwrap_or_default();
    let statuses = statuses.split(',').filter(|name| !name.is_empty()).map(str::to_owned);
    let request = RunListRequest { statuses: statuses.collect(), limit, cursor };
    let conversation = params.conversation_id.map(ConversationId::new);
    let scope = RunScope { conversation, schedule: params.schedule };
    let page = RunPage::read_of(&state.app, state.store(), request, &scope).await?;
    let data = page.runs.iter().map(|run| ApiRun::of(&run.row)).collect();
    let next_cursor = page.next_cursor.map(|run| cursor::write(LIST, run.as_str()));
    Ok(Body(ListPage { data, next_cursor }))
}

async fn start_run(
    State(state): State<ServerState>,
    key: Option<Extension<RequestKey>>,
    Body(new): Body<NewApiRun>,
) -> Result<(StatusCode, Body<ApiRun>), Problem> {
    let approval_mode = match new.approve.as_deref().map(ApprovalMode::parse) {
        Some(None) => return Err(Problem::of_field("approve", "ask, edits, plan or all")),
        mode => mode.flatten(),
    };
    let options = RunOptions {
        loop_name: new.loop_name,
        model: new.model,
        persona: new.persona,
        workspace: new.workspace,
        approve_all: new.yes,
        approval_mode,
        ..RunOptions::default()
    };
    let mut input = new.input.unwrap_or_default();
    if let Some(goal) = new.goal {
        if new.run_type.as_deref().is_some_and(|named| named != RunType::Agent.name()) {
            return Err(Problem::of_field("goal", "goes with the type agent only"));
        }
        input.insert("goal".to_owned(), goal.into());
    }
    let conversation = match &new.conversation_id {
        Some(id) => Some(find_conversation(&state, id).await?.row.id),
        None => None,
    };
    let request = RunRequest {
        run_type: new.run_type.unwrap_or_else(|| RunType::Agent.name().to_owned()),
        title: new.title,
        input: input.into(),
        conversation,
        idem_key: name_of(key.as_ref(), "runs"),
        retry_of: None,
        options,
    };
    let mut submission = run_types::submission(&state.app, state.store(), &request).await?;
    PipedInput::beside(new.attached.as_deref().unwrap_or_default()).add_to(&mut submission);
    let conversation = request.conversation.as_ref();
    let run = run_types::submit(&state.app, state.engine(), submission, conversation).await?;
    Ok((StatusCode::ACCEPTED, Body(ApiRun::of(&run_row(&state, &run).await?))))
}

async fn list_run_types() -> Body<JsonObject> {
    Body(JsonObject(json!({"data": run_types::all(), "next_cursor": null})))
}

/// The run that a path names, with everything about it.
pub(super) async fn details(state: &ServerState, id: &str) -> Result<RunDetails, Problem> {
    Ok(RunDetails::read(&state.app, state.store(), &run_id(id)?).await?)
}

async fn get_run(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
) -> Result<Body<JsonObject>, Problem> {
    let details = details(&state, &id).await?;
    let mut whole = details.whole();
    whole["id"] = json!(details.row.run);
    whole["conversation_id"] = json!(details.row.conversation);
    whole["last_event"] = json!(details.row.lease.next_seq.saturating_sub(1));
    Ok(Body(JsonObject(whole)))
}

/// Checks that a run has an event of this number, and that it is still there.
pub(super) fn check_event(row: &RunRow, seq: i64) -> Result<(), Problem> {
    let last = row.lease.next_seq.saturating_sub(1);
    if seq < 0 || seq > last {
        return Err(ProblemCode::EventAhead.because(format!("the last event is {last}")));
    }
    match row.times.trimmed_at {
        Some(_) => Err(ProblemCode::EventsTrimmed.bare()),
        None => Ok(()),
    }
}

async fn run_state(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    QueryOf(params): QueryOf<StateParams>,
) -> Result<Body<JsonObject>, Problem> {
    let row = run_row(&state, &run_id(&id)?).await?;
    let at = params.at_event.unwrap_or(row.lease.next_seq.saturating_sub(1));
    check_event(&row, at)?;
    let follower = state.engine().follow(&row.run, at, Scope::Run).await?;
    let view = follower.past();
    Ok(Body(JsonObject(json!({
        "run_id": view.run, "at_event": view.seq, "status": view.status, "goal": view.goal,
        "loop": view.loop_name, "plan": view.plan, "message": view.message.text,
        "waiting_for": view.waiting, "counts": view.counts, "notes": view.notes,
        "question": view.question.as_ref().map(|question| &question.text),
        "ending": view.ending,
    }))))
}

async fn run_plan(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
) -> Result<Body<ListPage<JsonObject>>, Problem> {
    let mut whole = details(&state, &id).await?.whole();
    let items = match whole["plan"].take() {
        Value::Array(items) => items,
        _ => Vec::new(),
    };
    let data = items.into_iter().map(JsonObject).collect();
    Ok(Body(ListPage { data, next_cursor: None }))
}

async fn run_tree(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
) -> Result<Body<JsonObject>, Problem> {
    let run = run_id(&id)?;
    run_row(&state, &run).await?;
    let rows = runs::tree(state.store(), &run).await?;
    Ok(Body(JsonObject(run_json::tree(&rows))))
}

async fn run_story(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    Extension(RequestLang(lang)): Extension<RequestLang>,
) -> Result<Body<JsonObject>, Problem> {
    let history = runs::history(state.store(), &run_id(&id)?).await?;
    Ok(Body(JsonObject(json!({"data": replay::tell_story(&history, lang)}))))
}

async fn verify_run(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    Extension(RequestLang(lang)): Extension<RequestLang>,
) -> Result<Body<JsonObject>, Problem> {
    let verdict = replay::verify_run(state.store(), &run_id(&id)?, lang).await?;
    Ok(Body(JsonObject(json!(VerdictReport::of(&verdict, lang)))))
}

async fn diff_runs(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    QueryOf(params): QueryOf<DiffParams>,
) -> Result<Body<JsonObject>, Problem> {
    let (one, other) = (run_id(&id)?, run_id(&params.with)?);
    let diff = RunDiff::read(&state.app, state.store(), [one.as_str(), other.as_str()]).await?;
    Ok(Body(JsonObject(json!(diff.report()))))
}
