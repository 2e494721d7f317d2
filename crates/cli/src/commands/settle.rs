//! `everloop runs settle`: what happened to a call whose outcome nobody knew.
//!
//! Deliberately absent: a change of the finished journal, and a second word on the same call.

use crate::args::SettleArg;
use everloop_app::RunError;
use everloop_app::settling::{self};
use everloop_console::show::settling::{probed, written};
use everloop_console::{Console, Exit, Failure, terminal};
use everloop_store::Store;
use serde_json::json;

pub(crate) async fn settle(
    app: &Console,
    store: Store,
    id: &str,
    word: SettleArg,
    effect: Option<&str>,
    as_json: bool,
) -> Result<Exit, Failure> {
    let run = app.find_run(&store, id).await?;
    let engine = app.engine(store).await?;
    let all = engine.open_unknowns(&run).await.map_err(|error| app.store_failure(&error))?;
    let open = settling::choose_call(&run, &all, effect);
    let open = app.checked(open.map_err(|error| RunError::from(error).into()))?;
    let report = settling::settle(&engine, open, word.into()).await;
    let report = report.map_err(|error| app.fail(error))?;
    let settled = report.settled(&run).map_err(|error| app.fail(error))?;
    if as_json {
        let word = settled.as_ref().map(|(settled, _)| settled.as_str());
        terminal::print_json(&json!({
            "run_id": run,
            "effect": report.open.effect.place(),
            "tool": report.open.call.tool,
            "settled": word,
        }));
        return Ok(if word.is_some() { Exit::Done } else { Exit::Unsettled });
    }
    if let Some(note) = probed(app, &report) {
        app.note_line(&note);
    }
    match settled {
        Some((settled, settling)) => {
            terminal::print_line(&written(app, &run, &report, settled, settling));
            Ok(Exit::Done)
        }
        None => Ok(Exit::Unsettled),
    }
}
