//! Calls that were out before anybody looked on.

use everloop_engine::History;
use everloop_store::Store;
use everloop_types::journal::{EffectPlanned, Kind, PlannedToolCall};
use everloop_types::{EffectId, RunId};
use std::collections::BTreeMap;

/// The calls of a run that have no outcome yet, by the names of their tools. Whoever begins to look
/// at a run in the middle of a call, as after a question for permission, shows what comes of it.
/// A store that fails for a moment shows none of them.
pub(crate) async fn open_calls(store: &Store, run: &RunId) -> BTreeMap<EffectId, String> {
    let mut calls = BTreeMap::new();
    let Ok(Some(history)) = History::read(store, run).await else { return calls };
    for entry in &history.entries {
        match (&entry.kind, &entry.effect) {
            (
                Kind::EffectPlanned(EffectPlanned::CallTool(PlannedToolCall { call, .. })),
                Some(effect),
            ) if call.tool != "ask_user" => {
                calls.insert(effect.clone(), call.tool.clone());
            }
            (Kind::EffectFinished(_), Some(effect)) => drop(calls.remove(effect)),
            _ => {}
        }
    }
    calls
}
