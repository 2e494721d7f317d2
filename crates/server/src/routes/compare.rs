//! Comparing loops: the same tasks under each, with simulated policies that cost nothing.
//!
//! A comparison belongs to its request: it ends when its reader leaves, and nothing of it is kept.

use super::JsonObject;
use super::event_stream::{self, EventFrame, EventSource, wants_stream};
use crate::api::Api;
use crate::comparing::{ComparisonNews, ComparisonRequest};
use crate::json::Body;
use crate::openapi::Operation;
use crate::problem::{Problem, ProblemCode};
use crate::state::ServerState;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use everloop_store::StoreError;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::Receiver;

/// Runs of one cell.
const RUNS_MAX: u64 = 100;

/// What is to be compared.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CompareRequest {
    /// The loops; all if none is named.
    #[serde(default)]
    loops: Vec<String>,
    /// Simulated policies; `competent` if none is named. Real models are compared from a terminal,
    /// where somebody agrees to the cost.
    #[serde(default)]
    models: Vec<String>,
    /// Tasks, or groups of tasks; all if none is named.
    #[serde(default)]
    tasks: Vec<String>,
    /// The first seed; 1 if there is none.
    seed: Option<u64>,
    /// Runs of each task under each loop; 1 if it is not given.
    #[schemars(range(min = 1, max = 100))]
    runs: Option<u64>,
}

pub(crate) fn add(api: &mut Api) {
    let summary = "Compares loops: the table, or its progress too for text/event-stream";
    let compare = Operation::post("/v1/compare", summary)
        .optional_body::<CompareRequest>()
        .answers::<JsonObject>(200)
        .problems(&[ProblemCode::Conflict]);
    api.route(compare, compare_loops);
}

struct ComparisonEvents {
    news: Receiver<ComparisonNews>,
    /// Held while it goes on: one comparison at a time.
    _place: OwnedSemaphorePermit,
}

impl EventSource for ComparisonEvents {
    async fn next_frame(&mut self) -> Result<Option<EventFrame>, StoreError> {
        let Some(news) = self.news.recv().await else { return Ok(None) };
        let (name, data, is_last) = match news {
            ComparisonNews::Ended { done, all, cell } => {
                ("compare.progress", json!({"done": done, "all": all, "run": cell}), false)
            }
            ComparisonNews::Table(table) => ("compare.table", table, true),
        };
        let name = name.to_owned();
        Ok(Some(EventFrame { name, id: None, data: data.to_string(), is_last }))
    }
}

async fn compare_loops(
    State(state): State<ServerState>,
    headers: HeaderMap,
    wanted: Option<Body<CompareRequest>>,
) -> Result<Response, Problem> {
    let wanted = wanted.map(|Body(wanted)| wanted).unwrap_or_default();
    let runs = wanted.runs.unwrap_or(1);
    if !(1..=RUNS_MAX).contains(&runs) {
        return Err(Problem::of_field("runs", format!("1 to {RUNS_MAX}")));
    }
    let or = |names: Vec<String>, usual: &str| match names.is_empty() {
        true => vec![usual.to_owned()],
        false => names,
    };
    let request = ComparisonRequest {
        loops: or(wanted.loops, "all"),
        models: or(wanted.models, "competent"),
        tasks: wanted.tasks,
        seed: wanted.seed.unwrap_or(1),
        runs,
        asks_models: false,
        simulates_time: false,
    };
    let Some(comparison) = &state.comparison else { return Err(ProblemCode::NoSuchRoute.bare()) };
    let place = state.comparing.clone().try_acquire_owned();
    let place =
        place.map_err(|_| ProblemCode::Conflict.because("another comparison is under way"))?;
    let news = comparison.begin(request);
    let news = news.map_err(|words| ProblemCode::InvalidInput.because(words))?;
    let mut events = ComparisonEvents { news, _place: place };
    if wants_stream(&headers) {
        return Ok(event_stream::sse(&state, events));
    }
    while let Some(news) = events.news.recv().await {
        if let ComparisonNews::Table(table) = news {
            return Ok(Body(JsonObject(table)).into_response());
        }
    }
    Err(ProblemCode::Internal.bare())
}
