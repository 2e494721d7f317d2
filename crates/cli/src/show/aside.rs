//! News that is neither a call nor its outcome: a call that is tried again, a conversation that is
//! shortened.

use crate::console::Console;
use crate::terminal::marks;
use everloop_types::journal::{EffectPlanned, Kind};
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
            let (mark, attempt) = (marks().failed, failed.attempt.to_string());
            let args = [("mark", mark), ("tool", tool), ("attempt", &attempt)];
            let args = [args.as_slice(), &[("seen", failed.error.as_str())]].concat();
            Some(app.text("progress.tool_retry", &args))
        }
        Kind::EffectPlanned(EffectPlanned::CallModel { call, .. })
            if call.purpose == Purpose::Compact =>
        {
            Some(app.text("progress.compacting", &[]))
        }
        _ => None,
    }
}
