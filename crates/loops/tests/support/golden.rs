//! Journal entries as lines of text, as the store's columns have them.

use everloop_types::journal::{Entry, FMT, Kind};
use everloop_types::{EffectId, RunId};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Line {
    seq: i64,
    epoch: i64,
    at: i64,
    effect: Option<String>,
    kind: String,
    fmt: i64,
    body: String,
}

pub(crate) fn write_line(entry: &Entry) -> String {
    let line = Line {
        seq: entry.seq,
        epoch: entry.epoch,
        at: entry.at,
        effect: entry.effect.as_ref().map(EffectId::to_string),
        kind: entry.kind.name().to_owned(),
        fmt: FMT,
        body: entry.kind.body(),
    };
    serde_json::to_string(&line).expect("a line has a JSON form")
}

/// Reads the form that `Display` writes: run, cause, index.
fn effect(text: &str) -> Option<EffectId> {
    let (run, place) = text.split_once(':')?;
    EffectId::at_place(RunId::new(run), place)
}

pub(crate) fn read_line(line: &str) -> Entry {
    let line: Line = serde_json::from_str(line).expect("a golden line is JSON");
    Entry {
        seq: line.seq,
        epoch: line.epoch,
        at: line.at,
        effect: line.effect.map(|id| effect(&id).expect("an effect's id")),
        kind: Kind::read(&line.kind, line.fmt, &line.body).expect("a body that can be read"),
    }
}
