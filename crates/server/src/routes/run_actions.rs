//! What can be done with a run: cancel, wake, steer, fork, switch, settle, undo.

use super::runs::{ApiRun, details};
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
use everloop_app::settling::{self, SettleWord};
use everloop_engine::{Clock, SystemClock, fresh_id};
use everloop_store::{InboxSendResult, Removal};
use everloop_types::journal::InboxMessage;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// What is to be different in a fork.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ForkRequest {
    /// The last event that counts; the last one if there is none.
    pub(crate) at_event: Option<i64>,
    /// What is added.
    pub(crate) message: Option<String>,
    /// Another loop.
    #[serde(rename = "loop")]
    pub(crate) loop_name: Option<String>,
    /// Another model.
    pub(crate) model: Option<String>,
}

/// The loop that a run is to go on under.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LoopSwitchRequest {
    /// Its name.
    #[serde(rename = "loop")]
    pub(crate) loop_name: String,
    /// Every call that would be asked about is allowed.
    #[serde(default)]
    pub(crate) yes: bool,
}

/// What is to be different when a run is done again.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RetryRequest {
    /// Another model, as `provider/model`.
    model: Option<String>,
    /// Every call that would be asked about is allowed.
    #[serde(default)]
    yes: bool,
}

/// Words to a model that works.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SteerRequest {
    /// The words.
    #[schemars(length(min = 1))]
    pub(crate) text: String,
}

/// What happened to a call whose outcome is unknown.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SettleRequest {
    /// The effect; it may be left out if only one is open.
    pub(crate) effect: Option<String>,
    /// What is known.
    pub(crate) verdict: SettleVerdict,
}

/// What is known of a call.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SettleVerdict {
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

/// A message to a run; a run that is over takes none.
async fn send(
    state: &ServerState,
    id: &str,
    dedupe: &str,
    message: InboxMessage,
) -> Result<(StatusCode, Body<ApiRun>), Problem> {
    let run = run_id(id)?;
    let row = run_row(state, &run).await?;
    match state.engine().send(&run, dedupe, &message).await? {
        InboxSendResult::Finished(status) => {
            let detail = format!("the run has ended: {}", status.as_str());
            return Err(ProblemCode::Conflict.because(detail));
        }
        InboxSendResult::NoSuchRun => return Err(ProblemCode::NotFound.bare()),
        InboxSendResult::Accepted | InboxSendResult::AlreadySent => {}
    }
    let row = state.store().runs().get(&run).await?.unwrap_or(row);
    Ok((StatusCode::ACCEPTED, Body(ApiRun::of(&row))))
}

/// The name of a message to a run: the same request sends it once.
fn dedupe(prefix: &str, key: Option<&Extension<RequestKey>>) -> String {
    match name_of(key, prefix) {
        Some(name) => format!("{prefix}{name}"),
        None => fresh_id(prefix, SystemClock.now()),
    }
}

pub(crate) async fn cancel_run(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
) -> Result<(StatusCode, Body<ApiRun>), Problem> {
    send(&state, &id, "cancel", InboxMessage::Cancel { by: "api".to_owned() }).await
}

pub(crate) async fn steer_run(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    key: Option<Extension<RequestKey>>,
    Body(steer): Body<SteerRequest>,
) -> Result<(StatusCode, Body<ApiRun>), Problem> {
    if steer.text.trim().is_empty() {
        return Err(Problem::of_field("text", "is empty"));
    }
    let words = InboxMessage::Steer { text: steer.text };
    send(&state, &id, &dedupe("steer_", key.as_ref()), words).await
}

async fn answer_now(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    key: Option<Extension<RequestKey>>,
) -> Result<(StatusCode, Body<ApiRun>), Problem> {
    send(&state, &id, &dedupe("answer_now_", key.as_ref()), InboxMessage::AnswerNow).await
}

async fn resume_run(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
) -> Result<(StatusCode, Body<ApiRun>), Problem> {
    let run = run_id(&id)?;
    let row = run_row(&state, &run).await?;
    if row.status.is_final() {
        let detail = format!("the run has ended: {}", row.status.as_str());
        return Err(ProblemCode::Conflict.because(detail));
    }
    answers::let_go_on(state.engine(), &run).await?;
    Ok((StatusCode::ACCEPTED, Body(ApiRun::of(&run_row(&state, &run).await?))))
}

pub(crate) async fn retry_run(
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
    Ok((StatusCode::ACCEPTED, Body(ApiRun::of(&run_row(&state, &made).await?))))
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

pub(crate) async fn fork_run(
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
    let (_, fork) = forks::prepare_fork(&state.app, state.store(), &run, &options).await?;
    let made = state.engine().fork(fork).await;
    let made = made.map_err(|source| AppError::from(RunError::Fork { parent: run, source }))?;
    Ok((StatusCode::ACCEPTED, Body(ApiRun::of(&run_row(&state, &made.run).await?))))
}

pub(crate) async fn switch_run(
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

pub(crate) async fn settle_call(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    Body(wanted): Body<SettleRequest>,
) -> Result<Body<JsonObject>, Problem> {
    let details = details(&state, &id).await?;
    let run = &details.row.run;
    let open = settling::choose_call(run, &details.unknowns, wanted.effect.as_deref());
    let open = open.map_err(|error| AppError::from(RunError::from(error)))?;
    let word = match wanted.verdict {
        SettleVerdict::Happened => SettleWord::Happened,
        SettleVerdict::Not => SettleWord::DidNot,
        SettleVerdict::Probe => SettleWord::Probe,
    };
    let report = settling::settle(state.engine(), open, word).await?;
    let settled = report.settled(run)?.map(|(settled, _)| settled);
    let (effect, tool) = (open.effect.place(), &open.call.tool);
    let answer = json!({"run_id": run, "effect": effect, "tool": tool, "settled": settled});
    Ok(Body(JsonObject(answer)))
}
