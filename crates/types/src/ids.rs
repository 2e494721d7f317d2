//! Names of things. Each is a type of its own, so that one cannot be passed for another.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A moment as UTC milliseconds, from the engine's clock. Loops see it only inside events.
pub type UtcMs = i64;

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Wraps a name that is already known to be one.
            pub fn new(name: impl Into<String>) -> Self {
                Self(name.into())
            }

            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text_id!(
    /// One run: `run_` and 26 sortable characters.
    RunId
);
text_id!(
    /// One tool call within a run: the model's own id made unique, or `p<n>` for a loop's own call.
    CallId
);
text_id!(
    /// One process that drives runs. New at every process start, never reused.
    WorkerId
);
text_id!(
    /// One conversation: the messages between a person and their runs.
    ConversationId
);
text_id!(
    /// One fact: `fact_` and 26 sortable characters.
    FactId
);

/// Characters of an id that people read and type.
const SHORT_CHARS: usize = 8;

/// The end of an id, long enough to tell it from others: what people read and type. Any end that
/// only one id has means that id.
#[must_use]
pub fn short_id(id: &str) -> &str {
    let made = id.strip_prefix("run_").filter(|rest| rest.len() > SHORT_CHARS && rest.is_ascii());
    made.map_or(id, |rest| &rest[rest.len() - SHORT_CHARS..])
}

impl RunId {
    /// What people read and type of it.
    #[must_use]
    pub fn short(&self) -> &str {
        short_id(&self.0)
    }
}

/// One planned effect: the run, the sequence number of the event that caused it, and its place in
/// the batch.
///
/// Derived from the plan, never from the order in which outcomes come back.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EffectId {
    /// The run that planned it.
    pub run: RunId,
    /// Sequence number of the journal entry that caused the plan.
    pub cause: i64,
    /// Place within the batch.
    pub index: u32,
}

impl fmt::Display for EffectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.run, self.cause, self.index)
    }
}

impl EffectId {
    /// Its place within the run, as stored in the run's own rows: cause and index.
    #[must_use]
    pub fn place(&self) -> String {
        format!("{}:{}", self.cause, self.index)
    }

    /// Reads the form that [`Self::place`] writes.
    #[must_use]
    pub fn at_place(run: RunId, place: &str) -> Option<Self> {
        let (cause, index) = place.split_once(':')?;
        Some(Self { run, cause: cause.parse().ok()?, index: index.parse().ok()? })
    }
}
