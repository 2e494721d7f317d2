//! Journal entries as lines of text, as the store's columns have them.

use everloop_types::EffectId;
use everloop_types::journal::Entry;
use serde::Serialize;

#[derive(Serialize)]
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
        fmt: entry.kind.fmt(),
        body: entry.kind.body(),
    };
    serde_json::to_string(&line).expect("a line has a JSON form")
}
