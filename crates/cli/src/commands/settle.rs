//! `everloop runs settle`: what happened to a call whose outcome nobody knew.
//!
//! Deliberately absent: a change of the finished journal, and a second word on the same call.

use crate::args::SettleArg;
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::failure::{settlement, verdict};
use crate::show::{call_args, preview, timestamp};
use crate::terminal;
use everloop_app::settling::{self, SettleReport};
use everloop_engine::{OpenUnknown, SettleResult};
use everloop_ports::Probe;
use everloop_store::Store;
use everloop_text as text;
use everloop_types::{RunId, SettledOutcome};

pub(crate) async fn settle(
    app: &Console,
    store: Store,
    id: &str,
    word: SettleArg,
    effect: Option<&str>,
) -> Result<Exit, Failure> {
    let run = app.find_run(&store, id).await?;
    let engine = app.engine(store).await?;
    let all = engine.open_unknowns(&run).await.map_err(|error| app.store_failure(&error))?;
    let open = settling::choose_call(&run, &all, effect);
    let open = app.checked(open.map_err(Into::into))?;
    let report = settling::settle(&engine, open, word.into()).await;
    let report = report.map_err(|error| app.fail(error))?;
    if let Some(note) = probed(app, &report) {
        app.note_line(&note);
    }
    match report.settled(&run).map_err(|error| app.fail(error))? {
        Some((settled, settling)) => {
            terminal::answer(&written(app, &run, &report, settled, settling));
            Ok(Exit::Done)
        }
        None => Ok(Exit::Unsettled),
    }
}

/// What the tool's own probe found, if it was asked.
pub(crate) fn probed(app: &Console, report: &SettleReport) -> Option<String> {
    let tool = &report.open.call.tool;
    Some(app.text(match report.probe.as_ref()? {
        Probe::Happened(seen) => text::settle::probe_happened(tool, &preview(&seen.text)),
        Probe::DidNot => text::settle::probe_did_not(tool, &""),
        Probe::Unknown(why) => text::settle::probe_unknown(tool, &preview(why)),
    }))
}

/// What became of a settlement.
pub(crate) fn written(
    app: &Console,
    run: &RunId,
    report: &SettleReport,
    settled: SettledOutcome,
    settling: &SettleResult,
) -> String {
    let verdict = &verdict(app, settled);
    let call = &report.call();
    app.text(match settling {
        SettleResult::Answered => text::settle::Answered { call, verdict, id: run }.text(),
        _ => text::settle::written(call, verdict),
    })
}

/// One call and what is known of it.
pub(crate) fn line(app: &Console, open: &OpenUnknown) -> String {
    let known = match &open.settled {
        Some(settled) => settlement(app, settled),
        None => app.text(text::settle::open(&timestamp(open.at))),
    };
    let (effect, args) = (open.effect.place(), call_args(&open.call.args));
    let tool = preview(&open.call.tool);
    app.text(text::settle::Line { effect: &effect, tool: &tool, args: &args, known: &known }.text())
}
