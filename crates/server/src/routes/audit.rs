//! The audit as JSON lines: tool calls, decisions, transitions of runs, permissions, facts, and
//! what was deleted.

use super::run_id;
use crate::api::Api;
use crate::json::QueryOf;
use crate::openapi::Operation;
use crate::problem::{Problem, ProblemCode};
use crate::state::ServerState;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use everloop_app::audit_query::{AuditEvent, AuditNews, AuditQuery, AuditSink};
use everloop_app::error::chain;
use everloop_app::show::parse_timestamp;
use everloop_types::UtcMs;
use futures_util::stream;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::convert::Infallible;
use tokio::sync::mpsc::{Sender, channel};

/// Pages that wait for a slow reader.
const PAGES_WAITING: usize = 4;

/// Which calls are wanted.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AuditParams {
    /// Only those of this run.
    run_id: Option<String>,
    /// Only those of this tool.
    tool: Option<String>,
    /// Only those that failed.
    failed: Option<bool>,
    /// Only those since this moment: RFC 3339, or milliseconds of UTC.
    since: Option<String>,
    /// Only those before this moment, written in the same way.
    until: Option<String>,
    /// Only those of this kind: `tool_call`, `decision`, `run`, `approval`, `memory` or `deleted`.
    event: Option<String>,
}

pub(crate) fn add(api: &mut Api) {
    let audit =
        Operation::get("/v1/audit", "The audit: one JSON object a line, the oldest run first")
            .query::<AuditParams>()
            .answers_with(200, "application/jsonl")
            .problems(&[ProblemCode::NotFound]);
    api.route(audit, audit_calls);
}

/// Lines on their way out: a page at a time.
struct LineSink {
    lines: String,
    out: Sender<Bytes>,
}

impl LineSink {
    fn add(&mut self, object: &serde_json::Value) {
        self.lines.push_str(&object.to_string());
        self.lines.push('\n');
    }
}

impl AuditSink for LineSink {
    fn tell(&mut self, news: AuditNews<'_>) {
        self.add(&match news {
            AuditNews::Unreadable(run, why) => json!({"run_id": run, "unreadable": why}),
            AuditNews::Gaps(run) => json!({"run_id": run, "gaps": true}),
            event => json!(event.json()),
        });
    }

    async fn pass_on(&mut self) -> bool {
        let lines = std::mem::take(&mut self.lines);
        lines.is_empty() || self.out.send(lines.into()).await.is_ok()
    }
}

fn moment(field: &'static str, text: Option<&str>) -> Result<Option<UtcMs>, Problem> {
    let Some(text) = text else { return Ok(None) };
    let read = text.parse().ok().or_else(|| parse_timestamp(text));
    let wrong = || Problem::of_field(field, "is a moment such as 2030-01-02T15:00:00Z");
    Ok(Some(read.ok_or_else(wrong)?))
}

async fn audit_calls(
    State(state): State<ServerState>,
    QueryOf(params): QueryOf<AuditParams>,
) -> Result<Response, Problem> {
    let event = match params.event.as_deref() {
        Some(name) => match AuditEvent::parse(name) {
            Some(event) => Some(event),
            None => {
                let known = AuditEvent::ALL.map(AuditEvent::as_str).join(", ");
                return Err(Problem::of_field("event", format!("is one of {known}")));
            }
        },
        None => None,
    };
    let query = AuditQuery {
        run: params.run_id.as_deref().map(run_id).transpose()?,
        tool: params.tool,
        only_failed: params.failed.unwrap_or(false),
        since: moment("since", params.since.as_deref())?.unwrap_or(0),
        until: moment("until", params.until.as_deref())?,
        event,
    };
    let (out, lines) = channel(PAGES_WAITING);
    let store = state.store().clone();
    // It ends with the last line, or when nobody reads any more.
    tokio::spawn(async move {
        let sink = LineSink { lines: String::new(), out: out.clone() };
        if let Err(error) = query.read_into(&store, sink).await {
            let line = format!("{}\n", json!({"error": chain(&error)}));
            let _ = out.send(line.into()).await;
        }
    });
    let lines = stream::unfold(lines, |mut lines| async move {
        let page = lines.recv().await?;
        Some((Ok::<Bytes, Infallible>(page), lines))
    });
    let kind = [(header::CONTENT_TYPE, "application/jsonl")];
    Ok((kind, Body::from_stream(lines)).into_response())
}
