//! What runs can be made of: loops, tools, personas, skills.

use super::JsonObject;
use crate::api::Api;
use crate::guard::RequestLang;
use crate::json::Body;
use crate::openapi::Operation;
use crate::problem::Problem;
use crate::state::ServerState;
use axum::Extension;
use axum::extract::State;
use everloop_app::catalog::{SkillList, loop_infos, persona_infos};
use everloop_app::frames;
use everloop_app::tool_overview::ToolOverview;
use serde_json::{Value, json};

pub(crate) fn add(api: &mut Api) {
    let loops = Operation::get("/v1/loops", "The loops, with what bounds them");
    api.route(loops.answers::<JsonObject>(200), list_loops);
    let tools = Operation::get("/v1/tools", "The tools, and what happens to their calls");
    api.route(tools.answers::<JsonObject>(200), list_tools);
    let personas = Operation::get("/v1/personas", "The personas");
    api.route(personas.answers::<JsonObject>(200), list_personas);
    let skills = Operation::get("/v1/skills", "The skills of the server's folder");
    api.route(skills.answers::<JsonObject>(200), list_skills);
}

fn page(data: Value) -> Body<JsonObject> {
    Body(JsonObject(json!({"data": data, "next_cursor": null})))
}

async fn list_loops(State(state): State<ServerState>) -> Result<Body<JsonObject>, Problem> {
    Ok(page(json!(loop_infos(&state.app, None)?)))
}

async fn list_tools(
    State(state): State<ServerState>,
    Extension(RequestLang(lang)): Extension<RequestLang>,
) -> Result<Body<JsonObject>, Problem> {
    let tools = ToolOverview::read(&state.app, None)?;
    let reports: Vec<_> = tools.iter().map(|tool| tool.report(lang)).collect();
    Ok(page(json!(reports)))
}

async fn list_personas(State(state): State<ServerState>) -> Body<JsonObject> {
    page(json!(persona_infos(&state.app)))
}

async fn list_skills(State(state): State<ServerState>) -> Result<Body<JsonObject>, Problem> {
    let workspace = frames::workspace(None)?;
    Ok(page(json!(SkillList::read(&state.app, &workspace).skills)))
}
