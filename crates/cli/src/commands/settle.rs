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
use everloop_engine::{OpenUnknown, Settling};
use everloop_store::Store;
use everloop_tools::Probe;
use everloop_types::{RunId, Settled};

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
        let args = [("effect", place), ("id", run.as_str())];
        return all.iter().find(named).ok_or_else(|| fail(app.text("settle.no_such", &args)));
    }
    let open: Vec<&OpenUnknown> = all.iter().filter(|open| open.settled.is_none()).collect();
    match open.as_slice() {
        [only] => Ok(only),
        [] => Err(fail(app.text("settle.nothing_open", &[("id", run.as_str())]))),
        several => {
            let lines: Vec<String> = several.iter().map(|open| line(app, open)).collect();
            let (count, all) = (several.len().to_string(), lines.join("\n"));
            let args = [("id", run.as_str()), ("count", &count), ("all", &all)];
            Err(fail(app.text("settle.several", &args)))
        }
    }
}

/// What the tool's own probe found, if it was asked.
pub(crate) fn probed(app: &Console, report: &SettleReport) -> Option<String> {
    let (key, detail) = match report.probe.as_ref()? {
        Probe::Happened(seen) => ("settle.probe_happened", seen.text.as_str()),
        Probe::DidNot => ("settle.probe_did_not", ""),
        Probe::Unknown(why) => ("settle.probe_unknown", why.as_str()),
    };
    let args = [("tool", report.open.call.tool.as_str()), ("detail", &preview(detail))];
    Some(app.text(key, &args))
}

/// What became of a settlement.
pub(crate) fn written(
    app: &Console,
    run: &RunId,
    report: &SettleReport,
    settled: Settled,
    settling: &Settling,
) -> String {
    let verdict = verdict(app, settled);
    let key = match settling {
        Settling::Answered => "settle.answered",
        _ => "settle.written",
    };
    app.text(key, &[("id", run.as_str()), ("call", &report.call()), ("verdict", &verdict)])
}

/// One call and what is known of it.
pub(crate) fn line(app: &Console, open: &OpenUnknown) -> String {
    let known = match &open.settled {
        Some(settled) => settlement(app, settled),
        None => app.text("settle.open", &[("at", &timestamp(open.at))]),
    };
    let (effect, args) = (open.effect.place(), call_args(&open.call.args));
    let tool = preview(&open.call.tool);
    let words = [("effect", effect.as_str()), ("tool", &tool), ("args", &args), ("known", &known)];
    app.text("settle.line", &words)
}
