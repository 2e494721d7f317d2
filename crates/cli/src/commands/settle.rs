//! `everloop runs settle`: what happened to a call whose outcome nobody knew.
//!
//! Deliberately absent: a change of the finished journal, and a second word on the same call.

use crate::args::Word;
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
    word: Word,
    effect: Option<&str>,
) -> Result<Exit, Failure> {
    let run = app.find_run(&store, id).await?;
    let engine = app.engine(store).await?;
    let all = engine.open_unknowns(&run).await.map_err(|error| app.store_failure(&error))?;
    let open = choose(app, &run, &all, effect)?;
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

/// The call that is meant: the one that was named, or the only one that is open.
fn choose<'a>(
    app: &Console,
    run: &RunId,
    all: &'a [OpenUnknown],
    effect: Option<&str>,
) -> Result<&'a OpenUnknown, Failure> {
    let fail = |words| Failure { exit: Exit::Usage, words };
    if let Some(place) = effect {
        let named = |open: &&OpenUnknown| {
            [open.effect.place(), open.effect.to_string()].iter().any(|name| name == place)
        };
        return all
            .iter()
            .find(named)
            .ok_or_else(|| fail(app.text(text::settle::no_such(&run, &place))));
    }
    let open: Vec<&OpenUnknown> = all.iter().filter(|open| open.settled.is_none()).collect();
    match open.as_slice() {
        [only] => Ok(only),
        [] => Err(fail(app.text(text::settle::nothing_open(&run)))),
        several => {
            let lines: Vec<String> = several.iter().map(|open| line(app, open)).collect();
            let (count, all) = (several.len().to_string(), lines.join("\n"));
            Err(fail(app.text(text::settle::Several { id: &run, count: &count, all: &all }.text())))
        }
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
