//! The analysis of a fork: a folder of its own, in which the results that its messages speak of are
//! made again, and a report of its own. Those of the parent stay the parent's.

use everloop_types::journal::{EffectPlanned, Entry, EntryKind, Outcome};
use everloop_types::{AnalysisTerms, Ending, Frame, PastCall, RESULT_TOOLS, RunId};
use std::collections::HashMap;

/// The terms of the fork of an analysis; none if the parent is no analysis.
pub(super) fn terms(old: &Frame, run: &RunId, entries: &[Entry]) -> Option<Box<AnalysisTerms>> {
    let parent = old.analysis.as_ref()?;
    let out = match parent.out.is_empty() {
        true => String::new(),
        false => format!("{}-{}", parent.out.trim_end_matches('/'), run.short()),
    };
    let session = format!("fork_{}", run.as_str());
    Some(Box::new(AnalysisTerms { session, out, past: past(entries), ..(**parent).clone() }))
}

/// The calls that made tables and results.
fn past(entries: &[Entry]) -> Vec<PastCall> {
    let mut planned = HashMap::new();
    let mut past = Vec::new();
    for entry in entries {
        let Some(effect) = &entry.effect else { continue };
        match &entry.kind {
            EntryKind::EffectPlanned(EffectPlanned::CallTool(plan)) => {
                planned.insert(effect, &plan.call);
            }
            EntryKind::EffectFinished(finished) => {
                let (Some(call), Outcome::Observed(seen)) =
                    (planned.get(effect), &finished.outcome)
                else {
                    continue;
                };
                if RESULT_TOOLS.contains(&call.tool.as_str()) {
                    past.push(PastCall {
                        tool: call.tool.clone(),
                        args: call.args.clone(),
                        is_ok: seen.ending == Ending::Ok,
                        seen: seen.text.clone(),
                    });
                }
            }
            _ => {}
        }
    }
    past
}
