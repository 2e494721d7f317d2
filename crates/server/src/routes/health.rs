//! Whether the server lives, and what it is: health, version, metrics, the API's document.

use super::JsonObject;
use crate::api::{Api, openapi_document};
use crate::json::Body;
use crate::openapi::Operation;
use crate::problem::{Problem, ProblemCode};
use crate::state::ServerState;
use axum::extract::State;
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;

/// Whether the process answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HealthReport {
    /// `ok`.
    status: &'static str,
    /// Whether this process drives runs.
    drives_runs: bool,
}

/// What answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct VersionReport {
    /// `everloop`.
    name: &'static str,
    /// The version and the commit.
    version: String,
    /// The version of the API.
    api: &'static str,
}

pub(crate) fn add(api: &mut Api) {
    api.route(
        Operation::get("/healthz", "Whether the process answers")
            .answers::<HealthReport>(200)
            .open(),
        healthz,
    );
    api.route(
        Operation::get("/readyz", "Whether the database can be written and somebody drives runs")
            .answers::<HealthReport>(200)
            .open()
            .problems(&[ProblemCode::DatabaseUnavailable]),
        readyz,
    );
    api.route(
        Operation::get("/version", "What answers").answers::<VersionReport>(200).open(),
        version,
    );
    api.route(
        Operation::get("/metrics", "Numbers about the server, for Prometheus")
            .answers_with(200, "text/plain"),
        metrics,
    );
    api.route(
        Operation::get("/openapi.json", "This document").answers::<JsonObject>(200),
        document,
    );
    api.route(
        Operation::get("/docs", "This document, for people").answers_with(200, "text/html"),
        docs,
    );
}

async fn healthz(State(state): State<ServerState>) -> Body<HealthReport> {
    Body(HealthReport { status: "ok", drives_runs: state.session.drives() })
}

async fn readyz(State(state): State<ServerState>) -> Result<Body<HealthReport>, Problem> {
    let drives = state.session.drives();
    if !state.session.has_driver(&state.app).await? {
        return Err(ProblemCode::DatabaseUnavailable.because("no process drives runs"));
    }
    state.store().maintenance().check_writable().await?;
    Ok(Body(HealthReport { status: "ok", drives_runs: drives }))
}

async fn version(State(state): State<ServerState>) -> Body<VersionReport> {
    Body(VersionReport { name: "everloop", version: state.version.clone(), api: "v1" })
}

async fn metrics(State(state): State<ServerState>) -> Response {
    // The numbers of the process are there although the database is away.
    let counts = state.store().maintenance().runs_by_status().await.ok();
    let text = state.metrics.text(counts.as_deref(), state.session.drives());
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    (kind, text).into_response()
}

async fn document() -> Body<serde_json::Value> {
    Body(openapi_document())
}

async fn docs() -> Html<String> {
    Html(crate::docs_page::page(&openapi_document()))
}
