//! What happens in the runs below the one that is looked at, a line each.

use super::{call_args, seen_line};
use crate::console::Console;
use crate::terminal;
use everloop_engine::Update;
use everloop_store::Store;
use everloop_text as text;
use everloop_types::RunId;
use everloop_types::journal::{EffectPlanned, Kind, Outcome, PlannedToolCall};
use std::collections::BTreeSet;

/// The runs below one that is looked at.
pub(crate) struct Below(BTreeSet<RunId>);

impl Below {
    /// Those that live now; a store that fails shows none of them.
    pub(crate) async fn of(store: &Store, run: &RunId) -> Self {
        Self(store.runs().descendants(run).await.unwrap_or_default().into_iter().collect())
    }

    /// The line for an update that is about one of them.
    pub(crate) fn line(&mut self, app: &Console, top: &RunId, update: &Update) -> Option<String> {
        let Update::Entry(run, entry) = update else { return None };
        let is_below = self.0.contains(run);
        if let Kind::Delegated(delegated) = &entry.kind
            && (is_below || run == top)
        {
            self.0.insert(delegated.to.clone());
        }
        if is_below { line(app, &entry.kind) } else { None }
    }
}

fn line(app: &Console, kind: &Kind) -> Option<String> {
    let marks = terminal::marks();
    let text = match kind {
        Kind::EffectPlanned(EffectPlanned::CallTool(PlannedToolCall { call, .. })) => {
            let args = call_args(&call.args);
            app.text(
                text::progress::Calls { mark: &marks.act, tool: &call.tool, args: &args }.text(),
            )
        }
        Kind::EffectFinished(finished) => match &finished.outcome {
            Outcome::Observed(seen) => {
                let mark = if seen.is_ok() { marks.done } else { marks.failed };
                format!("{mark} {}", seen_line(app, &seen.text))
            }
            _ => return None,
        },
        Kind::RunFinished(finished) => app.text(text::progress::child_ended(&finished.status)),
        _ => return None,
    };
    Some(app.text(text::progress::child(&text)))
}

/// The run that an update is about.
pub(crate) fn run_of(update: &Update) -> &RunId {
    match update {
        Update::Entry(run, _)
        | Update::Progress(run, _)
        | Update::Delta(run, _)
        | Update::Recovered { run, .. }
        | Update::Retrying { run, .. }
        | Update::FellBack { run, .. } => run,
    }
}
