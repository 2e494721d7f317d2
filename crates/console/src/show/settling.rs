//! Calls whose outcome was unknown, and what was said about them.

use super::{preview, timestamp};
use crate::console::Console;
use everloop_app::call_words::call_words;
use everloop_app::settling::SettleReport;
use everloop_engine::{OpenUnknown, SettleResult};
use everloop_ports::Probe;
use everloop_store::Settlement;
use everloop_text as text;
use everloop_types::{RunId, SettledOutcome, one_line};
use serde_json::Value;

/// What the tool's own probe found, if it was asked.
pub fn probed(app: &Console, report: &SettleReport) -> Option<String> {
    let tool = &report.open.call.tool;
    Some(app.text(match report.probe.as_ref()? {
        Probe::Happened(seen) => text::settle::probe_happened(tool, &preview(&seen.text)),
        Probe::DidNot => text::settle::probe_did_not(tool, &""),
        Probe::Unknown(why) => text::settle::probe_unknown(tool, &preview(why)),
    }))
}

/// What became of a settlement.
pub fn written(
    app: &Console,
    run: &RunId,
    report: &SettleReport,
    settled: SettledOutcome,
    settling: &SettleResult,
) -> String {
    let verdict = &verdict(app, settled);
    let call = &report.call(app.lang);
    app.text(match settling {
        SettleResult::Answered => text::settle::Answered { call, verdict, id: run }.text(),
        _ => text::settle::written(call, verdict),
    })
}

/// What became of a settlement on a server elsewhere, which names the tool alone.
pub fn settled_there(app: &Console, tool: &Value, settled: SettledOutcome) -> String {
    let tool = one_line(tool.as_str().unwrap_or_default());
    app.text(text::settle::written(&tool, &verdict(app, settled)))
}

/// One call and what is known of it.
pub fn line(app: &Console, open: &OpenUnknown) -> String {
    let known = match &open.settled {
        Some(settled) => settlement(app, settled),
        None => app.text(text::settle::open(&timestamp(open.at))),
    };
    let effect = open.effect.place();
    let call = call_words(app.lang, &open.call.tool, &open.call.args);
    app.text(text::settle::Line { effect: &effect, call: &call, known: &known }.text())
}

/// The same for a person who is about to say what happened.
pub fn asked_line(app: &Console, open: &OpenUnknown) -> String {
    if open.settled.is_some() {
        return line(app, open);
    }
    let call = call_words(app.lang, &open.call.tool, &open.call.args);
    app.text(text::settle::asked(&call, &app.reader().moment(open.at)))
}

/// What somebody said of a call, in words.
pub(crate) fn settlement(app: &Console, settlement: &Settlement) -> String {
    let verdict = verdict(app, settlement.settled);
    let at = timestamp(settlement.at);
    app.text(text::settle::Said { verdict: &verdict, by: &settlement.by, at: &at }.text())
}

/// Whether it happened, in words.
pub(crate) fn verdict(app: &Console, settled: SettledOutcome) -> String {
    let key = match settled {
        SettledOutcome::Happened => text::settle::happened(),
        SettledOutcome::Not => text::settle::not(),
    };
    app.text(key)
}
