//! Entries as they are stored: a kind's name, its format, its body, and the way back.
//!
//! A kind's format is raised when a program that knows only the form before would misread the new
//! one. A form before it stays readable: what is added has a default, what is gone is ignored.

use super::EntryKind;

/// A stored body that this program cannot read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryBodyError {
    /// The kind or its format is not one that this program reads.
    Newer {
        /// The kind.
        kind: String,
        /// The format.
        fmt: i64,
    },
    /// The body does not have the form of its kind.
    Malformed {
        /// The kind.
        kind: String,
        /// What the parser said.
        detail: String,
    },
}

macro_rules! kinds {
    ($($name:ident $fmt:literal $phase:expr),* $(,)?) => {
        /// Every kind, with the format that this program writes.
        pub const FORMATS: &[(&str, i64)] = &[$((stringify!($name), $fmt)),*];

        impl EntryKind {
            /// The `kind` column.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self { $(Self::$name(_) => stringify!($name)),* }
            }

            /// The `fmt` column: the form of the body.
            #[must_use]
            pub fn fmt(&self) -> i64 {
                match self { $(Self::$name(_) => $fmt),* }
            }

            /// The `phase` column: 1 planned, 2 started, 3 outcome.
            #[must_use]
            pub fn phase(&self) -> Option<i64> {
                match self { $(Self::$name(_) => $phase),* }
            }

            /// The `body` column.
            #[must_use]
            pub fn body(&self) -> String {
                match self { $(Self::$name(body) => serde_json::to_string(body)),* }
                    .expect("our own types always have a JSON form")
            }

            /// Reads a stored body back, of this format or an earlier one.
            ///
            /// # Errors
            /// [`EntryBodyError`] if the kind or format is not one of this program's, or the body
            /// is damaged.
            pub fn read(kind: &str, fmt: i64, body: &str) -> Result<Self, EntryBodyError> {
                let malformed = |error: serde_json::Error| EntryBodyError::Malformed {
                    kind: kind.to_owned(),
                    detail: error.to_string(),
                };
                match kind {
                    $(stringify!($name) if (1..=$fmt).contains(&fmt) => {
                        serde_json::from_str(body).map(Self::$name).map_err(malformed)
                    })*
                    _ => Err(EntryBodyError::Newer { kind: kind.to_owned(), fmt }),
                }
            }
        }
    };
}

kinds! {
    RunCreated 3 None,
    EpochStarted 1 None,
    Input 3 None,
    EffectPlanned 1 Some(1),
    ApprovalAsked 2 None,
    ApprovalGiven 3 None,
    EffectStarted 2 Some(2),
    EffectAttemptFailed 1 None,
    EffectProbed 1 None,
    EffectFinished 2 Some(3),
    Waiting 3 None,
    MessageEmitted 1 None,
    SnapshotTaken 1 None,
    Forked 3 None,
    Spawned 1 None,
    Delegated 1 None,
    RunFinished 2 None,
}

impl EntryKind {
    /// The `attempt` column.
    #[must_use]
    pub fn attempt(&self) -> Option<u32> {
        match self {
            Self::EffectStarted(started) => Some(started.attempt),
            Self::EffectAttemptFailed(failed) => Some(failed.attempt),
            Self::EffectProbed(probed) => Some(probed.attempt),
            _ => None,
        }
    }
}
