//! What the forms of a run ask for.

use super::forms::{FormFields, settled_words, tell};
use super::frame::{PageRequest, missing};
use super::respond::see_other;
use super::undoing;
use crate::json::{Body, PathOf};
use crate::problem::Problem;
use crate::routes::messages::run_row;
use crate::routes::run_actions::{
    self, ForkRequest, LoopSwitchRequest, SettleRequest, SettleVerdict, SteerRequest,
};
use crate::routes::run_id;
use crate::state::ServerState;
use axum::extract::State;
use axum::response::Response;
use everloop_types::SettledOutcome;

pub(crate) async fn perform(
    State(state): State<ServerState>,
    PathOf((id, verb)): PathOf<(String, String)>,
    request: PageRequest,
    fields: FormFields,
) -> Result<Response, Problem> {
    let (state, run) = (State(state), PathOf(id.clone()));
    let back = fields.back().to_owned();
    match verb.as_str() {
        "cancel" => drop(run_actions::cancel_run(state, run).await?),
        "steer" => {
            let text = fields.get("text").to_owned();
            drop(run_actions::steer_run(state, run, None, Body(SteerRequest { text })).await?);
        }
        "retry" => {
            let (_, Body(made)) = run_actions::retry_run(state, run, None, None).await?;
            // The chat and the inbox show the new run themselves.
            if back.starts_with("/runs/") {
                return Ok(see_other(&format!("/runs/{}", made.id)));
            }
        }
        "fork" => {
            let at_event = fields.get("at").parse::<i64>().ok();
            let wanted = ForkRequest { at_event, ..ForkRequest::default() };
            let (_, Body(made)) =
                run_actions::fork_run(state, run, None, Some(Body(wanted))).await?;
            return Ok(see_other(&format!("/runs/{}", made.id)));
        }
        "switch" => {
            let wanted = LoopSwitchRequest { loop_name: fields.get("loop").to_owned(), yes: false };
            drop(run_actions::switch_run(state, run, Body(wanted)).await?);
        }
        "settle" => {
            let verdict = match fields.get("verdict") {
                "happened" => SettleVerdict::Happened,
                "not" => SettleVerdict::Not,
                "probe" => SettleVerdict::Probe,
                other => return Err(Problem::of_field("verdict", other)),
            };
            let wanted = SettleRequest { effect: fields.some("effect"), verdict };
            let Body(answer) = run_actions::settle_call(state.clone(), run, Body(wanted)).await?;
            let settled = answer.0["settled"].as_str().and_then(SettledOutcome::parse);
            let row = run_row(&state.0, &run_id(&id)?).await?;
            tell(&state.0, &request, &row, &back, settled_words(settled));
        }
        "undo" | "redo" => {
            let row = run_row(&state.0, &run_id(&id)?).await?;
            let report = undoing::perform(&state.0, &row.run, verb == "redo").await?;
            let said = undoing::words_of(request.lang(), report.as_ref());
            let page = format!("chat:{}", row.conversation);
            state.0.flashes.put(request.session_name(), &page, said);
        }
        _ => return Err(missing()),
    }
    Ok(see_other(&back))
}
