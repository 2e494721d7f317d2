//! What a version of a loop makes of journals, as one digest: computed, never typed.
//!
//! A loop names its golden journals in its description. They never change, so the digest changes
//! only if the fold does. Deliberately absent: what `decide` says where the fold does not ask it,
//! and the wording of instructions and notices. Both may change under runs that live.

use crate::{AgentLoop, Run};
use everloop_types::journal::{Entry, EntryKind};
use everloop_types::{EffectId, RunId, digest_json};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;

/// Digest of the states through which a loop folds its golden journals. `None` if it has none.
#[must_use]
pub fn fingerprint<L: AgentLoop>() -> Option<String> {
    if L::SPEC.golden.is_empty() {
        return None;
    }
    let mut states = Vec::new();
    for golden in L::SPEC.golden {
        let frame = serde_json::from_str(golden.frame).ok()?;
        let mut run = Run::<L>::new(Arc::new(frame));
        for line in golden.journal.lines() {
            run.apply(&golden_entry(line)?);
            let mut state = serde_json::to_value(&run).ok()?;
            without_wording(&mut state);
            states.push(digest_json(&state));
        }
    }
    Some(digest_json(&states))
}

/// Reads a line of a golden journal. `None` if it is not one, or this program cannot read it.
#[must_use]
pub fn golden_entry(line: &str) -> Option<Entry> {
    #[derive(Deserialize)]
    struct GoldenLine {
        seq: i64,
        epoch: i64,
        at: i64,
        effect: Option<String>,
        kind: String,
        fmt: i64,
        body: String,
    }
    let line: GoldenLine = serde_json::from_str(line).ok()?;
    let effect = match &line.effect {
        Some(text) => {
            let (run, place) = text.split_once(':')?;
            Some(EffectId::at_place(RunId::new(run), place)?)
        }
        None => None,
    };
    let kind = EntryKind::read(&line.kind, line.fmt, &line.body).ok()?;
    Some(Entry { seq: line.seq, epoch: line.epoch, at: line.at, effect, kind })
}

/// Takes out the fixed texts and what is counted over them.
fn without_wording(state: &mut Value) {
    match state {
        Value::Object(fields) => {
            for derived in ["digest", "bytes", "at_bytes"] {
                fields.remove(derived);
            }
            let text = fields.get("text").and_then(Value::as_str).unwrap_or_default();
            let fixed = fields.get("role").is_some_and(|role| role == "system")
                || text.starts_with("Notice from the runtime");
            if fixed {
                fields.remove("text");
            }
            fields.values_mut().for_each(without_wording);
        }
        Value::Array(items) => items.iter_mut().for_each(without_wording),
        _ => {}
    }
}
