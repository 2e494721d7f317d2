//! Entries as they are stored: a kind's name, its format, its body, and the way back.

use super::Kind;

/// A stored body that this program cannot read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unreadable {
    /// The kind or its format is newer than this program.
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

/// The format that this program writes and reads, for every kind.
pub const FMT: i64 = 1;

macro_rules! kinds {
    ($($name:ident $phase:expr),* $(,)?) => {
        impl Kind {
            /// The `kind` column.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self { $(Self::$name(_) => stringify!($name)),* }
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

            /// Reads a stored body back. An older format is lifted to the present one first.
            ///
            /// # Errors
            /// [`Unreadable`] if the kind or format is newer than this program, or the body is
            /// damaged.
            pub fn read(kind: &str, fmt: i64, body: &str) -> Result<Self, Unreadable> {
                if fmt != FMT {
                    return Err(Unreadable::Newer { kind: kind.to_owned(), fmt });
                }
                let read = match kind {
                    $(stringify!($name) => serde_json::from_str(body).map(Self::$name),)*
                    _ => return Err(Unreadable::Newer { kind: kind.to_owned(), fmt }),
                };
                let malformed = |error: serde_json::Error| Unreadable::Malformed {
                    kind: kind.to_owned(),
                    detail: error.to_string(),
                };
                read.map_err(malformed)
            }
        }
    };
}

kinds! {
    RunCreated None,
    EpochStarted None,
    Input None,
    EffectPlanned Some(1),
    ApprovalAsked None,
    ApprovalGiven None,
    EffectStarted Some(2),
    EffectAttemptFailed None,
    EffectProbed None,
    EffectFinished Some(3),
    Waiting None,
    MessageEmitted None,
    SnapshotTaken None,
    Forked None,
    RunFinished None,
}

impl Kind {
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
