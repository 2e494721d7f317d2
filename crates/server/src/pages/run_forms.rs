//! What the forms of a run ask for.

use super::forms::{FormFields, settled_words, tell};
use super::frame::{PageRequest, missing};
use super::respond::see_other;
use super::undoing;
use crate::json::PathOf;
use crate::problem::Problem;
use crate::routes::messages::run_row;
use crate::routes::run_id;
use crate::state::ServerState;
use axum::extract::State;
use axum::response::Response;
use everloop_app::forks::{self, ForkOptions};
use everloop_app::retrying::{self, RetryOptions};
use everloop_app::run_control;
use everloop_app::settling::SettleWord;

pub(crate) async fn perform(
    State(state): State<ServerState>,
    PathOf((id, verb)): PathOf<(String, String)>,
    request: PageRequest,
    fields: FormFields,
) -> Result<Response, Problem> {
    let run = run_id(&id)?;
    let row = run_row(&state, &run).await?;
    let (app, engine, back) = (&state.app, state.engine(), fields.back());
    match verb.as_str() {
        "cancel" => run_control::cancel(engine, &run, "user").await?,
        "steer" => {
            let Some(text) = fields.some("text") else { return Ok(see_other(back)) };
            let key = request.key_name("steer_");
            run_control::steer(engine, &run, &text, key.as_deref()).await?;
        }
        "retry" => {
            let idem_key = request.key_name(&id);
            let options = RetryOptions { idem_key, ..RetryOptions::default() };
            let made = retrying::retry(app, engine, &run, &options).await?;
            // The chat and the inbox show the new run themselves.
            if back.starts_with("/runs/") {
                return Ok(see_other(&format!("/runs/{made}")));
            }
        }
        "fork" => {
            let at = fields.get("at").parse::<i64>().ok();
            let idem_key = request.key_name(&format!("fork {id}"));
            let options = ForkOptions { at, idem_key, ..ForkOptions::default() };
            let made = run_control::fork(app, engine, &run, &options).await?;
            return Ok(see_other(&format!("/runs/{made}")));
        }
        "switch" => {
            forks::request_switch(app, engine, &run, fields.get("loop"), false).await?;
        }
        "settle" => {
            let word = match fields.get("verdict") {
                "happened" => SettleWord::Happened,
                "not" => SettleWord::DidNot,
                "probe" => SettleWord::Probe,
                other => return Err(Problem::of_field("verdict", other)),
            };
            let call = fields.some("effect");
            let report = run_control::settle(engine, &run, call.as_deref(), word).await?;
            let settled = report.settled(&run)?.map(|(settled, _)| settled);
            tell(&state, &request, &row, back, settled_words(settled));
        }
        "undo" | "redo" => {
            let report = undoing::perform(&state, &run, verb == "redo").await?;
            let said = undoing::words_of(request.lang(), report.as_ref());
            let page = format!("chat:{}", row.conversation);
            state.flashes.put(request.session_name(), &page, said);
        }
        _ => return Err(missing()),
    }
    Ok(see_other(back))
}
