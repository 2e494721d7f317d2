//! The interfaces that existing clients speak: chat completions and responses. A request is a run
//! under a loop, and its answer is the run's last message.

use super::openai_input::{ChatMessage, RefusedTerms, talk};
use super::openai_stream::{self, FacadeForm, RunAnswerText};
use super::shapes::{ChatCompletion, ModelList, ModelObject, ResponseObject};
use super::{JsonObject, run_id};
use crate::api::Api;
use crate::idempotency::{RequestKey, name_of};
use crate::json::{Body, PathOf, QueryOf};
use crate::openapi::Operation;
use crate::problem::{Problem, ProblemCode};
use crate::state::ServerState;
use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use everloop_app::conversations::ConversationChannel;
use everloop_app::frames::{self, RunOptions};
use everloop_app::goals::{self, CallerRequest, ConversationStart};
use everloop_loops::LOOPS;
use everloop_types::{CallerTerms, RunId};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// The name of the assistant as a model.
const MODEL: &str = "everloop";

/// The loop of a request that names none: it answers small talk in one call.
const LOOP_DEFAULT: &str = "react";

/// A request for a chat completion. How a model is to sample is accepted and not used.
#[derive(Debug, Deserialize, JsonSchema)]
struct ChatRequest {
    /// `everloop`, or `everloop/LOOP`.
    model: String,
    /// The talk so far; the last one of the user is the goal.
    messages: Vec<ChatMessage>,
    /// Whether the answer is streamed.
    #[serde(default)]
    stream: bool,
    /// How the answer is streamed.
    stream_options: Option<StreamOptions>,
    #[serde(flatten)]
    refused: RefusedTerms,
}

/// How an answer is streamed.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
struct StreamOptions {
    /// Whether the last piece has the tokens that were used.
    #[serde(default)]
    include_usage: bool,
}

/// A request for a response.
#[derive(Debug, Deserialize, JsonSchema)]
struct ResponseRequest {
    /// `everloop`, or `everloop/LOOP`.
    model: String,
    /// The goal, or the talk so far.
    input: ResponseInput,
    /// What the assistant is told besides.
    instructions: Option<String>,
    /// Whether the answer is streamed.
    #[serde(default)]
    stream: bool,
    /// Whether the answer comes at once, and the run works on.
    #[serde(default)]
    background: bool,
    /// The response that this one follows.
    previous_response_id: Option<String>,
    #[serde(flatten)]
    refused: RefusedTerms,
}

/// What a response is made from.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum ResponseInput {
    /// The goal.
    Text(String),
    /// The talk so far.
    Messages(Vec<ChatMessage>),
}

pub(crate) fn add(api: &mut Api) {
    let models = Operation::get("/v1/models", "The assistant as models: everloop, everloop/LOOP");
    api.route(models.answers::<ModelList>(200), list_models);
    let model = Operation::get("/v1/models/{model}", "One of them; a slash in its name is escaped");
    api.route(model.answers::<ModelObject>(200), get_model);
    let model = Operation::get("/v1/models/everloop/{loop}", "The same with the slash as it is");
    api.route(model.answers::<ModelObject>(200), get_model_of_loop);
    let chat = Operation::post("/v1/chat/completions", "A chat completion, streamed if wanted")
        .body::<ChatRequest>()
        .answers::<ChatCompletion>(200)
        .may_stream()
        .problems(&[ProblemCode::ModelUnavailable]);
    api.route(chat, complete_chat);
    let respond = Operation::post("/v1/responses", "A response, streamed or in the background")
        .body::<ResponseRequest>()
        .answers::<ResponseObject>(200)
        .may_stream()
        .problems(&[ProblemCode::ModelUnavailable]);
    api.route(respond, respond_to);
    let get = Operation::get("/v1/responses/{id}", "A response that was begun in the background")
        .query::<ResponseParams>()
        .answers::<ResponseObject>(200)
        .may_stream();
    api.route(get, get_response);
    let cancel = Operation::post("/v1/responses/{id}/cancel", "Cancels such a response");
    api.route(cancel.answers::<ResponseObject>(200), cancel_response);
}

fn model_json(name: &str) -> Value {
    json!({"id": name, "object": "model", "created": 0, "owned_by": MODEL})
}

async fn list_models() -> Body<JsonObject> {
    let names = LOOPS.iter().map(|name| format!("{MODEL}/{name}"));
    let data: Vec<Value> =
        std::iter::once(MODEL.to_owned()).chain(names).map(|name| model_json(&name)).collect();
    Body(JsonObject(json!({"object": "list", "data": data})))
}

async fn get_model(PathOf(name): PathOf<String>) -> Result<Body<JsonObject>, Problem> {
    let of_loop = name.strip_prefix(MODEL).and_then(|rest| rest.strip_prefix('/'));
    let is_known = name == MODEL || of_loop.is_some_and(|name| LOOPS.contains(&name));
    if !is_known {
        return Err(ProblemCode::NotFound.because(name));
    }
    Ok(Body(JsonObject(model_json(&name))))
}

async fn get_model_of_loop(PathOf(name): PathOf<String>) -> Result<Body<JsonObject>, Problem> {
    get_model(PathOf(format!("{MODEL}/{name}"))).await
}

/// Whether a path is one of those that existing clients use: they read errors in their own form.
pub(crate) fn is_facade(path: &str) -> bool {
    ["/v1/chat/completions", "/v1/responses", "/v1/models"]
        .iter()
        .any(|prefix| path.strip_prefix(prefix).is_some_and(|r| r.is_empty() || r.starts_with('/')))
}

/// The loop that a model's name means.
fn loop_of(model: &str) -> Result<String, Problem> {
    let wrong = || Problem::of_field("model", format!("{MODEL}, or {MODEL}/LOOP"));
    let name = match model.strip_prefix(MODEL).ok_or_else(wrong)? {
        "" => LOOP_DEFAULT,
        rest => rest.strip_prefix('/').ok_or_else(wrong)?,
    };
    Ok(frames::loop_name(name)?)
}

/// A run for a request, in the conversation of an earlier one or in a new one.
async fn begin(
    state: &ServerState,
    request: CallerRequest,
    key: Option<&Extension<RequestKey>>,
) -> Result<RunId, Problem> {
    let request = CallerRequest { idem_key: name_of(key, "facade"), ..request };
    let loop_name = Some(loop_of(&request.terms.model)?);
    let options = RunOptions { loop_name, ..RunOptions::default() };
    let (app, store) = (&state.app, state.store());
    let conversation = match &request.terms.previous {
        Some(run) => {
            let row = super::messages::run_row(state, run).await?;
            goals::read_conversation(store, &row.conversation).await?
        }
        None => {
            let idem_key = name_of(key, "conversation of a facade");
            let start = ConversationStart { idem_key, ..ConversationStart::default() };
            goals::begin_conversation(app, store, ConversationChannel::Run, start).await?
        }
    };
    Ok(goals::submit_for_caller(app, state.engine(), &conversation, &options, request).await?)
}

async fn complete_chat(
    State(state): State<ServerState>,
    key: Option<Extension<RequestKey>>,
    Body(request): Body<ChatRequest>,
) -> Result<Response, Problem> {
    request.refused.check()?;
    let mut wanted = talk(&state.app, "messages", &request.messages)?;
    wanted.terms.model.clone_from(&request.model);
    loop_of(&request.model)?;
    let usage = request.stream_options.unwrap_or_default().include_usage;
    let form = FacadeForm::Chat { model: request.model, with_usage: usage };
    let run = begin(&state, wanted, key.as_ref()).await?;
    if request.stream {
        return openai_stream::stream(&state, run, form).await;
    }
    let answer = RunAnswerText::wait(&state, &run).await?;
    Ok(axum::Json(form.whole(&run, &answer)).into_response())
}

/// The run that a response's id means.
fn response_run(id: &str) -> Result<RunId, Problem> {
    let own = id.strip_prefix("resp_").ok_or_else(|| ProblemCode::NotFound.bare())?;
    run_id(&format!("run_{own}"))
}

async fn respond_to(
    State(state): State<ServerState>,
    key: Option<Extension<RequestKey>>,
    Body(request): Body<ResponseRequest>,
) -> Result<Response, Problem> {
    loop_of(&request.model)?;
    request.refused.check()?;
    let mut wanted = match request.input {
        ResponseInput::Text(goal) if goal.trim().is_empty() => {
            return Err(Problem::of_field("input", "is empty"));
        }
        ResponseInput::Text(goal) => CallerRequest { goal, ..CallerRequest::default() },
        ResponseInput::Messages(messages) => talk(&state.app, "input", &messages)?,
    };
    let told = request.instructions.into_iter().chain([wanted.terms.instructions]);
    let told: Vec<String> = told.filter(|told| !told.is_empty()).collect();
    let previous = request.previous_response_id.as_deref().map(response_run).transpose()?;
    let terms = CallerTerms { model: request.model, instructions: told.join("\n"), previous };
    wanted.terms = terms.clone();
    let run = begin(&state, wanted, key.as_ref()).await?;
    let form = FacadeForm::Response(terms);
    if request.stream {
        return openai_stream::stream(&state, run, form).await;
    }
    let answer = match request.background {
        true => RunAnswerText::now(&state, &run).await?,
        false => RunAnswerText::wait(&state, &run).await?,
    };
    Ok(axum::Json(form.whole(&run, &answer)).into_response())
}

/// What a response was asked with. A run that no such request began looks like one all the same.
async fn response_form(state: &ServerState, run: &RunId) -> Result<FacadeForm, Problem> {
    let frame = state.store().journal().frame(run).await?;
    let terms = frame.and_then(|frame| frame.caller).map(|terms| *terms);
    let plain = || CallerTerms { model: MODEL.to_owned(), ..CallerTerms::default() };
    Ok(FacadeForm::Response(terms.unwrap_or_else(plain)))
}

/// How a response is read.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ResponseParams {
    /// Whether its words come as a stream, from the first one.
    #[serde(default)]
    stream: bool,
}

async fn get_response(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    QueryOf(params): QueryOf<ResponseParams>,
) -> Result<Response, Problem> {
    let run = response_run(&id)?;
    let form = response_form(&state, &run).await?;
    if params.stream {
        return openai_stream::stream(&state, run, form).await;
    }
    let answer = RunAnswerText::now(&state, &run).await?;
    Ok(axum::Json(form.whole(&run, &answer)).into_response())
}

async fn cancel_response(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
) -> Result<Body<JsonObject>, Problem> {
    let run = response_run(&id)?;
    super::messages::run_row(&state, &run).await?;
    // One that is over stays as it is.
    state.engine().cancel(&run, "api").await?;
    let answer = RunAnswerText::wait(&state, &run).await?;
    let form = response_form(&state, &run).await?;
    Ok(Body(JsonObject(form.whole(&run, &answer))))
}
