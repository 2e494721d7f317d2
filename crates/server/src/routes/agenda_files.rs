//! Todos and the schedule as files that other programs read.

use super::agenda::Wanted;
use crate::api::Api;
use crate::guard::RequestLang;
use crate::openapi::Operation;
use crate::problem::Problem;
use crate::state::ServerState;
use axum::Extension;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use everloop_agenda::portable::{self, PortableContent};

const CALENDAR: &str = "text/calendar";
const TEXT: &str = "text/plain";

pub(crate) fn add(api: &mut Api) {
    let text = Operation::get("/v1/todos.txt", "All todos as a todo.txt");
    api.route(text.answers_with(200, TEXT), todos_as_text);
    let todos = Operation::get("/v1/todos.ics", "All todos as a calendar");
    api.route(todos.answers_with(200, CALENDAR), todos_as_calendar);
    let summary = "The schedule as a calendar, without entries that start runs";
    let schedule = Operation::get("/v1/schedules.ics", summary);
    api.route(schedule.answers_with(200, CALENDAR), schedule_as_calendar);
}

fn file(kind: &str, text: String) -> Response {
    ([(header::CONTENT_TYPE, format!("{kind}; charset=utf-8"))], text).into_response()
}

async fn todos_as_text(
    State(state): State<ServerState>,
    Extension(RequestLang(lang)): Wanted,
) -> Result<Response, Problem> {
    let reader = state.reader(lang);
    let text = portable::export(PortableContent::Todos, state.store(), &reader).await?;
    Ok(file(TEXT, text))
}

async fn todos_as_calendar(
    State(state): State<ServerState>,
    Extension(RequestLang(lang)): Wanted,
) -> Result<Response, Problem> {
    let text = portable::todo_calendar(state.store(), &state.reader(lang)).await?;
    Ok(file(CALENDAR, text))
}

async fn schedule_as_calendar(
    State(state): State<ServerState>,
    Extension(RequestLang(lang)): Wanted,
) -> Result<Response, Problem> {
    let reader = state.reader(lang);
    let text = portable::export(PortableContent::Schedule, state.store(), &reader).await?;
    Ok(file(CALENDAR, text))
}
