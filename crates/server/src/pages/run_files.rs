//! A run as files: its events, the whole of it, its story, and what went into a step.

use super::activity::ToldRun;
use super::chat::run_title;
use super::frame::{PageRequest, missing};
use super::steps::{RunStep, steps};
use crate::json::PathOf;
use crate::problem::Problem;
use crate::routes::messages::run_row;
use crate::routes::run_id;
use crate::state::ServerState;
use axum::extract::{Query, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use everloop_app::replay;
use everloop_app::runs::{self, RunDetails};
use everloop_engine::{Clock, History, Projector, SystemClock};
use everloop_pages::waterfall::StepKind;
use serde::Deserialize;

/// What went into a step and what came out, whole, and for a call of the model whether the prompt
/// is the one that was sent.
pub(super) fn whole_step(history: &History, step: &RunStep) -> (String, String, Option<bool>) {
    if step.kind != StepKind::Model {
        return (pretty(&step.input), step.output.clone(), None);
    }
    let call = history.model_call(step.seq);
    let is_exact = call.as_ref().map(|call| call.is_exact);
    let lines = |value: serde_json::Result<String>| value.unwrap_or_default();
    let input = call.map(|call| lines(serde_json::to_string_pretty(&call))).unwrap_or_default();
    let reply = history.model_reply(step.seq);
    let output = reply.map(|reply| lines(serde_json::to_string_pretty(reply)));
    (input, output.unwrap_or_else(|| step.output.clone()), is_exact)
}

/// JSON with its lines, anything else as it is.
fn pretty(text: &str) -> String {
    let parsed = serde_json::from_str::<serde_json::Value>(text).ok();
    let shown = parsed.and_then(|value| serde_json::to_string_pretty(&value).ok());
    shown.unwrap_or_else(|| text.to_owned())
}

/// The whole input or output of a step, as text.
pub(crate) async fn step_part(
    State(state): State<ServerState>,
    PathOf((id, seq, part)): PathOf<(String, i64, String)>,
    request: PageRequest,
) -> Result<Response, Problem> {
    let run = run_id(&id)?;
    let is_over = run_row(&state, &run).await?.status.is_final();
    let told = ToldRun::read(&state, &run).await?;
    let now = (!is_over).then(|| SystemClock.now());
    let all = steps(request.lang(), &told.events, now);
    let step = all.iter().find(|step| step.seq == seq).ok_or_else(missing)?;
    let (input, output, _) = whole_step(&told.history, step);
    let text = match part.as_str() {
        "input" => input,
        "output" => output,
        _ => return Err(missing()),
    };
    Ok(download(text, "text/plain; charset=utf-8", &format!("{run}-{seq}-{part}.txt")))
}

/// A file that a browser saves and never shows as a page.
pub(super) fn download(text: String, kind: &'static str, name: &str) -> Response {
    let mut response = ([(header::CONTENT_TYPE, kind)], text).into_response();
    if let Ok(name) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, name);
    }
    response
}

/// In which form a run is wanted as a file.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct RunExportParams {
    #[serde(default)]
    format: String,
}

/// A run as a file: its events, the whole of it, or its story.
pub(crate) async fn export(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    Query(params): Query<RunExportParams>,
    request: PageRequest,
) -> Result<Response, Problem> {
    let run = run_id(&id)?;
    let row = run_row(&state, &run).await?;
    let history = async || runs::history(state.store(), &run).await;
    Ok(match params.format.as_str() {
        "json" => {
            let details = RunDetails::read(&state.app, state.store(), &run).await?;
            let text = serde_json::to_string_pretty(&details.whole()).unwrap_or_default();
            download(text, "application/json", &format!("{run}.json"))
        }
        "md" => {
            let story = replay::tell_story(&history().await?, request.lang());
            let lines = story
                .into_iter()
                .map(|line| format!("- #{} {} {}\n", line.seq, request.clock(line.ts), line.text));
            let text = format!("# {}\n\n{}", run_title(&row), lines.collect::<String>());
            download(text, "text/markdown; charset=utf-8", &format!("{run}.md"))
        }
        _ => {
            let events = Projector::past(&history().await?);
            let lines = events.iter().map(|event| format!("{}\n", event.to_json()));
            download(lines.collect(), "application/jsonl", &format!("{run}.jsonl"))
        }
    })
}
