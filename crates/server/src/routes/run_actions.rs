//! What can be done with a run: cancel, wake, steer, fork, switch, settle, undo.

use super::runs::ApiRun;
use super::{JsonObject, run_id};
use crate::api::Api;
use crate::idempotency::{RequestKey, name_of};
use crate::json::{Body, PathOf};
use crate::openapi::Operation;
use crate::problem::{Problem, ProblemCode};
use crate::routes::messages::run_row;
use crate::state::ServerState;
use axum::Extension;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use everloop_app::AppError;
use everloop_app::answers;
use everloop_app::cleaning;
use everloop_app::error::RunError;
use everloop_app::forks::{self, ForkOptions};
use everloop_app::retrying::{self, RetryOptions};
use everloop_app::run_control;
use everloop_app::settling::SettleWord;
use everloop_store::Removal;
use everloop_types::RunId;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// What is to be different in a fork.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ForkRequest {
    /// The last event that counts; the last one if there is none.
    at_event: Option<i64>,
    /// What is added.
    message: Option<String>,
    /// Another loop.
    #[serde(rename = "loop")]
    loop_name: Option<String>,
    /// Another model.
    model: Option<String>,
}

/// The loop that a run is to go on under.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LoopSwitchRequest {
    /// Its name.
    #[serde(rename = "loop")]
    loop_name: String,
    /// Every call that would be asked about is allowed.
    #[serde(default)]
    yes: bool,
}

/// What is to be different when a run is done again.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RetryRequest {
    /// Another model, as `provider/model`.
    model: Option<String>,
    /// Every call that would be asked about is allowed.
    #[serde(default)]
    yes: bool,
}

/// Words to a model that works.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SteerRequest {
    /// The words.
    #[schemars(length(min = 1))]
    text: String,
}

/// What happened to a call whose outcome is unknown.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SettleRequest {
    /// The effect; it may be left out if only one is open.
    effect: Option<String>,
    /// What is known.
    verdict: SettleVerdict,
}

/// What is known of a call.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SettleVerdict {
    /// It happened.
    Happened,
    /// It did not.
    Not,
    /// The tool is to look.
    Probe,
}

pub(crate) fn add(api: &mut Api) {
    let over = &[ProblemCode::Conflict];
    let retry =
        Operation::post("/v1/runs/{id}/retry", "Does a run that is over again, as a new one")
            .optional_body::<RetryRequest>()
            .answers::<ApiRun>(202)
            .problems(over);
    api.route(retry, retry_run);
    let path = "/v1/runs/{id}";
    let delete =
        Operation::new(Method::DELETE, path, "Deletes a run that is over, with its children")
            .answers_empty()
            .problems(over);
    api.route(delete, delete_run);
    let cancel = Operation::post("/v1/runs/{id}/cancel", "Cancels it; the cancel is durable")
        .answers::<ApiRun>(202)
        .problems(over);
    api.route(cancel, cancel_run);
    let resume = Operation::post("/v1/runs/{id}/resume", "Lets a run that waits go on now")
        .answers::<ApiRun>(202)
        .problems(over);
    api.route(resume, resume_run);
    let steer = Operation::post("/v1/runs/{id}/steer", "Says something to the model that works")
        .body::<SteerRequest>()
        .answers::<ApiRun>(202)
        .problems(over);
    api.route(steer, steer_run);
    let answer =
        Operation::post("/v1/runs/{id}/answer-now", "Asks for an answer with what there is");
    api.route(answer.answers::<ApiRun>(202).problems(over), answer_now);
    let fork = Operation::post("/v1/runs/{id}/fork", "Makes a new run from one of its events")
        .optional_body::<ForkRequest>()
        .answers::<ApiRun>(202)
        .problems(over);
    api.route(fork, fork_run);
    let switch = Operation::post("/v1/runs/{id}/switch", "Lets it go on under another loop")
        .body::<LoopSwitchRequest>()
        .answers::<JsonObject>(202)
        .problems(over);
    api.route(switch, switch_run);
    let settle = Operation::post("/v1/runs/{id}/settle", "Says what happened to an unknown call")
        .body::<SettleRequest>()
        .answers::<JsonObject>(200)
        .problems(over);
    api.route(settle, settle_call);
}

/// The run as it is after something was asked of it.
async fn accepted(state: &ServerState, run: &RunId) -> Result<(StatusCode, Body<ApiRun>), Problem> {
    Ok((StatusCode::ACCEPTED, Body(ApiRun::of(&run_row(state, run).await?))))
}

async fn cancel_run(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
) -> Result<(StatusCode, Body<ApiRun>), Problem> {
    let run = run_id(&id)?;
    run_control::cancel(state.engine(), &run, "api").await?;
    accepted(&state, &run).await
}

async fn steer_run(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    key: Option<Extension<RequestKey>>,
    Body(steer): Body<SteerRequest>,
) -> Result<(StatusCode, Body<ApiRun>), Problem> {
    if steer.text.trim().is_empty() {
        return Err(Problem::of_field("text", "is empty"));
    }
    let (run, key) = (run_id(&id)?, name_of(key.as_ref(), "steer_"));
    run_control::steer(state.engine(), &run, &steer.text, key.as_deref()).await?;
    accepted(&state, &run).await
}

async fn answer_now(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    key: Option<Extension<RequestKey>>,
) -> Result<(StatusCode, Body<ApiRun>), Problem> {
    let (run, key) = (run_id(&id)?, name_of(key.as_ref(), "answer_now_"));
    run_control::answer_now(state.engine(), &run, key.as_deref()).await?;
    accepted(&state, &run).await
}

async fn resume_run(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
) -> Result<(StatusCode, Body<ApiRun>), Problem> {
    let run = run_id(&id)?;
    let status = run_row(&state, &run).await?.status;
    if status.is_final() {
        return Err(AppError::from(RunError::Finished { run, status }).into());
    }
    answers::let_go_on(state.engine(), &run).await?;
    accepted(&state, &run).await
}

async fn retry_run(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    key: Option<Extension<RequestKey>>,
    wanted: Option<Body<RetryRequest>>,
) -> Result<(StatusCode, Body<ApiRun>), Problem> {
    let run = run_id(&id)?;
    let idem_key = name_of(key.as_ref(), &id);
    let RetryRequest { model, yes } = wanted.map(|Body(wanted)| wanted).unwrap_or_default();
    let options = RetryOptions { model, approve_all: yes, idem_key };
    let made = retrying::retry(&state.app, state.engine(), &run, &options).await?;
    accepted(&state, &made).await
}

async fn delete_run(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
) -> Result<StatusCode, Problem> {
    let removal = cleaning::delete_run(&state.app, state.store(), &run_id(&id)?, "api").await?;
    match removal {
        Removal::Gone(_) => Ok(StatusCode::NO_CONTENT),
        Removal::NoSuchRun => Err(ProblemCode::NotFound.bare()),
        Removal::NotOver(run) => Err(ProblemCode::Conflict.because(format!("{run} has not ended"))),
        Removal::Unsent(run) => {
            Err(ProblemCode::Conflict.because(format!("messages of {run} are still to be sent")))
        }
    }
}

async fn fork_run(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    key: Option<Extension<RequestKey>>,
    wanted: Option<Body<ForkRequest>>,
) -> Result<(StatusCode, Body<ApiRun>), Problem> {
    let run = run_id(&id)?;
    run_row(&state, &run).await?;
    let wanted = wanted.map(|Body(wanted)| wanted).unwrap_or_default();
    let options = ForkOptions {
        message: wanted.message.unwrap_or_default(),
        at: wanted.at_event,
        loop_name: wanted.loop_name,
        model: wanted.model,
        idem_key: name_of(key.as_ref(), &format!("fork {id}")),
        ..ForkOptions::default()
    };
    let made = run_control::fork(&state.app, state.engine(), &run, &options).await?;
    accepted(&state, &made).await
}

async fn switch_run(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    Body(wanted): Body<LoopSwitchRequest>,
) -> Result<(StatusCode, Body<JsonObject>), Problem> {
    let run = run_id(&id)?;
    run_row(&state, &run).await?;
    let (app, engine) = (&state.app, state.engine());
    let loop_name = forks::request_switch(app, engine, &run, &wanted.loop_name, wanted.yes).await?;
    let answer = json!({"run_id": run, "loop": loop_name});
    Ok((StatusCode::ACCEPTED, Body(JsonObject(answer))))
}

async fn settle_call(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    Body(wanted): Body<SettleRequest>,
) -> Result<Body<JsonObject>, Problem> {
    let run = run_id(&id)?;
    run_row(&state, &run).await?;
    let word = match wanted.verdict {
        SettleVerdict::Happened => SettleWord::Happened,
        SettleVerdict::Not => SettleWord::DidNot,
        SettleVerdict::Probe => SettleWord::Probe,
    };
    let call = wanted.effect.as_deref();
    let report = run_control::settle(state.engine(), &run, call, word).await?;
    let settled = report.settled(&run)?.map(|(settled, _)| settled);
    let (effect, tool) = (report.open.effect.place(), &report.open.call.tool);
    let answer = json!({"run_id": run, "effect": effect, "tool": tool, "settled": settled});
    Ok(Body(JsonObject(answer)))
}
