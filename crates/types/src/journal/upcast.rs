//! Older forms of entries, read as the present ones. The rows stay as they were written.
//!
//! Each step is pure and total: it takes any JSON of its kind one format up, and what makes no
//! sense fails in the reader, which names it. Deliberately absent: steps down. A program that is
//! too old for a format or a kind refuses the run.

use serde_json::Value;

/// One step: the body of `kind` in format `from` becomes one in format `from + 1`.
#[derive(Debug, Clone, Copy)]
pub struct Upcast {
    /// The kind.
    pub kind: &'static str,
    /// The format before the step.
    pub from: i64,
    /// The step.
    pub step: fn(Value) -> Value,
}

/// All steps. A kind that is not here has had one form.
pub const UPCASTS: &[Upcast] = &[
    Upcast { kind: "EffectStarted", from: 1, step: started_without_an_end },
    // Format 2 has one letter more.
    Upcast { kind: "Input", from: 1, step: std::convert::identity },
    // Format 2 may hold pictures, and says under which policy.
    Upcast { kind: "RunCreated", from: 1, step: std::convert::identity },
    // Format 2 may hold pictures and has two limits more.
    Upcast { kind: "Forked", from: 1, step: std::convert::identity },
    // Format 3 may hold a budget of money.
    Upcast { kind: "Forked", from: 2, step: std::convert::identity },
    // Format 2 says under which policy, and which labels there are.
    Upcast { kind: "ApprovalAsked", from: 1, step: std::convert::identity },
    Upcast { kind: "ApprovalGiven", from: 1, step: std::convert::identity },
    Upcast { kind: "EffectFinished", from: 1, step: std::convert::identity },
    // Format 3 has one letter more, and format 2 of a wait one thing more to wait for.
    Upcast { kind: "Input", from: 2, step: std::convert::identity },
    Upcast { kind: "Waiting", from: 1, step: std::convert::identity },
    // Format 2 may say that a budget of money was used up.
    Upcast { kind: "RunFinished", from: 1, step: std::convert::identity },
];

/// Takes a body from one format up to another; `None` if there is no such way.
pub(super) fn lift(kind: &str, from: i64, to: i64, mut body: Value) -> Option<Value> {
    if from >= to {
        return None;
    }
    for fmt in from..to {
        let upcast = UPCASTS.iter().find(|upcast| upcast.kind == kind && upcast.from == fmt)?;
        body = (upcast.step)(body);
    }
    Some(body)
}

/// Format 1 did not say by when a call is over, or said it only where there is a limit.
fn started_without_an_end(mut body: Value) -> Value {
    if let Some(fields) = body.as_object_mut() {
        fields.entry("over_by").or_insert(Value::Null);
    }
    body
}
