//! `everloop runs settle`: what happened to a call whose outcome nobody knew.
//!
//! Deliberately absent: a change of the finished journal, and a second word on the same call.

use crate::app::App;
use crate::args::Word;
use crate::exit::{Exit, Failure};
use crate::show::{call_args, preview, timestamp};
use crate::terminal;
use everloop_engine::{Engine, OpenUnknown, Settling};
use everloop_ports::Probe;
use everloop_store::{Settlement, Store};
use everloop_types::{RunId, Settled};
use serde_json::{Value, json};
use std::sync::Arc;

pub(crate) async fn settle(
    app: &App,
    store: Store,
    id: &str,
    word: Word,
    effect: Option<&str>,
) -> Result<Exit, Failure> {
    let run = app.find_run(&store, id).await?;
    let engine = app.engine(store).await?;
    let all = engine.open_unknowns(&run).await.map_err(|error| app.store_failure(&error))?;
    let open = choose(app, &run, &all, effect)?;
    let said = carried_out(app, &engine, open, word).await?;
    if let Some(note) = said.probed.filter(|_| !app.quiet) {
        terminal::complain(&note);
    }
    match said.settling {
        Some((settled, settling)) => {
            terminal::answer(&words(app, &run, open, settled, settling)?);
            Ok(Exit::Done)
        }
        None => Ok(Exit::Unsettled),
    }
}

/// What came of a word on a call.
pub(crate) struct Said {
    /// What a probe found, in words.
    pub(crate) probed: Option<String>,
    /// What was settled, and what became of that; none if the probe could not tell.
    pub(crate) settling: Option<(Settled, Settling)>,
}

/// Says what happened, or looks first.
pub(crate) async fn carried_out(
    app: &App,
    engine: &Arc<Engine>,
    open: &OpenUnknown,
    word: Word,
) -> Result<Said, Failure> {
    let (settled, by, probed) = match word {
        Word::Happened => (Settled::Happened, "user", None),
        Word::Not => (Settled::Not, "user", None),
        Word::Probe => {
            let (settled, words) = probe(app, engine, open).await?;
            let probed = Some(words);
            match settled {
                Some(settled) => (settled, "probe", probed),
                None => return Ok(Said { probed, settling: None }),
            }
        }
    };
    let settling = engine.settle(&open.effect, settled, by).await;
    let settling = settling.map_err(|error| app.store_failure(&error))?;
    Ok(Said { probed, settling: Some((settled, settling)) })
}

/// The call that is meant: the one that was named, or the only one that is open.
fn choose<'a>(
    app: &App,
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

/// What the tool's own probe finds now, where it can tell.
async fn probe(
    app: &App,
    engine: &Arc<Engine>,
    open: &OpenUnknown,
) -> Result<(Option<Settled>, String), Failure> {
    let found = engine.probe_again(open).await.map_err(|error| app.store_failure(&error))?;
    let (key, detail, settled) = match found {
        Probe::Happened(seen) => ("settle.probe_happened", seen.text, Some(Settled::Happened)),
        Probe::DidNot => ("settle.probe_did_not", String::new(), Some(Settled::Not)),
        Probe::Unknown(why) => ("settle.probe_unknown", why, None),
    };
    let words = app.text(key, &[("tool", &open.call.tool), ("detail", &preview(&detail))]);
    Ok((settled, words))
}

/// What became of a settlement.
pub(crate) fn words(
    app: &App,
    run: &RunId,
    open: &OpenUnknown,
    settled: Settled,
    settling: Settling,
) -> Result<String, Failure> {
    let call = format!("{} {}", open.call.tool, call_args(&open.call.args));
    let verdict = verdict(app, settled);
    let args = [("id", run.as_str()), ("call", &call), ("verdict", &verdict)];
    let usage = |words| Err(Failure { exit: Exit::Usage, words });
    match settling {
        Settling::Written => Ok(app.text("settle.written", &args)),
        Settling::Answered => Ok(app.text("settle.answered", &args)),
        Settling::Already(Some(first)) if first.settled == settled => {
            Ok(app.text("settle.written", &args))
        }
        Settling::Already(first) => {
            let said = first.map_or_else(String::new, |first| settlement(app, &first));
            usage(app.text("settle.already", &[("call", &call), ("said", &said)]))
        }
        Settling::NotOpen => usage(app.text("settle.nothing_open", &[("id", run.as_str())])),
    }
}

fn verdict(app: &App, settled: Settled) -> String {
    let key = match settled {
        Settled::Happened => "settle.happened",
        Settled::Not => "settle.not",
    };
    app.text(key, &[])
}

fn settlement(app: &App, settlement: &Settlement) -> String {
    let (verdict, at) = (verdict(app, settlement.settled), timestamp(settlement.at));
    app.text("settle.said", &[("verdict", &verdict), ("by", &settlement.by), ("at", &at)])
}

/// One call and what is known of it.
pub(crate) fn line(app: &App, open: &OpenUnknown) -> String {
    let known = match &open.settled {
        Some(settled) => settlement(app, settled),
        None => app.text("settle.open", &[("at", &timestamp(open.at))]),
    };
    let (effect, args) = (open.effect.place(), call_args(&open.call.args));
    let tool = preview(&open.call.tool);
    let words = [("effect", effect.as_str()), ("tool", &tool), ("args", &args), ("known", &known)];
    app.text("settle.line", &words)
}

/// One call as an object.
pub(crate) fn unknown_json(open: &OpenUnknown) -> Value {
    let settled = open
        .settled
        .as_ref()
        .map(|one| json!({"verdict": one.settled, "by": one.by, "at": timestamp(one.at)}));
    json!({
        "effect": open.effect.place(),
        "tool": open.call.tool,
        "arguments": open.call.args,
        "resource": open.resource,
        "at": timestamp(open.at),
        "asked": open.question.is_some(),
        "settled": settled,
    })
}
