//! `everloop runs settle`: what happened to a call whose outcome nobody knew.
//!
//! Deliberately absent: a change of the finished journal, and a second word on the same call.

use crate::app::App;
use crate::args::Word;
use crate::exit::{Exit, Failure};
use crate::show::{call_args, preview, timestamp};
use crate::terminal;
use everloop_engine::{Engine, OpenUnknown, Settling};
use everloop_store::{Settlement, Store};
use everloop_text as text;
use everloop_tools::Probe;
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

/// What the tool's own probe finds now, where it can tell.
async fn probe(
    app: &App,
    engine: &Arc<Engine>,
    open: &OpenUnknown,
) -> Result<(Option<Settled>, String), Failure> {
    let found = engine.probe_again(open).await.map_err(|error| app.store_failure(&error))?;
    let tool = &open.call.tool;
    let (text, settled) = match found {
        Probe::Happened(seen) => {
            (text::settle::probe_happened(tool, &preview(&seen.text)), Some(Settled::Happened))
        }
        Probe::DidNot => (text::settle::probe_did_not(tool, &""), Some(Settled::Not)),
        Probe::Unknown(why) => (text::settle::probe_unknown(tool, &preview(&why)), None),
    };
    Ok((settled, app.text(text)))
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
    let usage = |words| Err(Failure { exit: Exit::Usage, words });
    match settling {
        Settling::Written => Ok(app.text(text::settle::written(&call, &verdict))),
        Settling::Answered => {
            Ok(app.text(text::settle::Answered { call: &call, verdict: &verdict, id: &run }.text()))
        }
        Settling::Already(Some(first)) if first.settled == settled => {
            Ok(app.text(text::settle::written(&call, &verdict)))
        }
        Settling::Already(first) => {
            let said = first.map_or_else(String::new, |first| settlement(app, &first));
            usage(app.text(text::settle::already(&call, &said)))
        }
        Settling::NotOpen => usage(app.text(text::settle::nothing_open(&run))),
    }
}

fn verdict(app: &App, settled: Settled) -> String {
    let key = match settled {
        Settled::Happened => text::settle::happened(),
        Settled::Not => text::settle::not(),
    };
    app.text(key)
}

fn settlement(app: &App, settlement: &Settlement) -> String {
    let (verdict, at) = (verdict(app, settlement.settled), timestamp(settlement.at));
    app.text(text::settle::Said { verdict: &verdict, by: &settlement.by, at: &at }.text())
}

/// One call and what is known of it.
pub(crate) fn line(app: &App, open: &OpenUnknown) -> String {
    let known = match &open.settled {
        Some(settled) => settlement(app, settled),
        None => app.text(text::settle::open(&timestamp(open.at))),
    };
    let (effect, args) = (open.effect.place(), call_args(&open.call.args));
    let tool = preview(&open.call.tool);
    app.text(text::settle::Line { effect: &effect, tool: &tool, args: &args, known: &known }.text())
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
