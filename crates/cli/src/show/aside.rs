//! News that is neither a call nor its outcome: a call that is tried again, a conversation that is
//! shortened.

use crate::console::Console;
use crate::terminal::marks;
use everloop_text as text;
use everloop_types::journal::{EffectPlanned, Kind, PlannedModelCall};
use everloop_types::{EffectId, Purpose};
use std::collections::BTreeMap;

/// The line for such an entry; `tools` are the calls that are under way.
pub(crate) fn aside(
    app: &Console,
    tools: &BTreeMap<EffectId, String>,
    effect: Option<&EffectId>,
    kind: &Kind,
) -> Option<String> {
    match kind {
        Kind::EffectAttemptFailed(failed) => {
            let tool = tools.get(effect?)?;
            let mark = &marks().failed;
            let attempt = &failed.attempt;
            let seen = &failed.error;
            Some(app.text(text::progress::ToolRetry { mark, tool, attempt, seen }.text()))
        }
        Kind::EffectPlanned(EffectPlanned::CallModel(PlannedModelCall { call, .. }))
            if call.purpose == Purpose::Compact =>
        {
            Some(app.text(text::progress::compacting()))
        }
        _ => None,
    }
}
