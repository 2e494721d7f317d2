//! Entries as they are stored: a kind's name, its format, its body, and the way back.
//!
//! A format names one form of one kind for ever. Whoever changes the form raises the kind's format
//! here and says in `upcast` how the form before it is read; `tests/entries.rs` holds both.

use super::upcast::lift;
use super::{Forked, InboxMessage, Input, Kind, RunFinished, Waiting, WaitingOn};
use crate::{BudgetKind, Reason};

/// A stored body that this program cannot read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unreadable {
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
        /// Every kind, with the newest format that this program writes.
        pub const FORMATS: &[(&str, i64)] = &[$((stringify!($name), $fmt)),*];

        impl Kind {
            /// The `kind` column.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self { $(Self::$name(_) => stringify!($name)),* }
            }

            fn newest_fmt(&self) -> i64 {
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

            /// Reads a stored body back. An older format is lifted to the present one first.
            ///
            /// # Errors
            /// [`Unreadable`] if the kind or format is not one of this program's, or the body is
            /// damaged.
            pub fn read(kind: &str, fmt: i64, body: &str) -> Result<Self, Unreadable> {
                let newer = || Unreadable::Newer { kind: kind.to_owned(), fmt };
                let malformed = |error: serde_json::Error| Unreadable::Malformed {
                    kind: kind.to_owned(),
                    detail: error.to_string(),
                };
                match kind {
                    $(stringify!($name) if fmt == $fmt => {
                        serde_json::from_str(body).map(Self::$name).map_err(malformed)
                    })*
                    $(stringify!($name) => {
                        let old = serde_json::from_str(body).map_err(malformed)?;
                        let now = lift(kind, fmt, $fmt, old).ok_or_else(newer)?;
                        serde_json::from_value(now).map(Self::$name).map_err(malformed)
                    })*
                    _ => Err(newer()),
                }
            }
        }
    };
}

kinds! {
    RunCreated 2 None,
    EpochStarted 1 None,
    Input 3 None,
    EffectPlanned 1 Some(1),
    ApprovalAsked 2 None,
    ApprovalGiven 2 None,
    EffectStarted 2 Some(2),
    EffectAttemptFailed 1 None,
    EffectProbed 1 None,
    EffectFinished 2 Some(3),
    Waiting 2 None,
    MessageEmitted 1 None,
    SnapshotTaken 1 None,
    Forked 3 None,
    Spawned 1 None,
    Delegated 1 None,
    RunFinished 2 None,
}

impl Kind {
    /// The `fmt` column: the form of the body, which this program writes. A body that an older
    /// format has room for is written in that one, so that older programs read the run.
    #[must_use]
    pub fn fmt(&self) -> i64 {
        match self {
            Self::Input(Input { letter, .. }) => match letter {
                InboxMessage::Child(_) => self.newest_fmt(),
                InboxMessage::Switch(_) => 2,
                _ => 1,
            },
            Self::Waiting(Waiting { on, .. }) if !matches!(on, WaitingOn::Child { .. }) => 1,
            Self::RunCreated(created)
                if created.goal.images.is_empty() && created.policy_hash.is_empty() =>
            {
                1
            }
            Self::Forked(Forked { word, limits, .. }) => {
                let plain = word.images.is_empty() && limits.context.is_of_format_1();
                match limits.budget.money.limit > 0 {
                    true => self.newest_fmt(),
                    false if plain => 1,
                    false => 2,
                }
            }
            Self::ApprovalAsked(asked) if asked.policy_hash.is_empty() => 1,
            Self::ApprovalGiven(given)
                if given.policy_hash.is_empty() && given.releases.is_none() =>
            {
                1
            }
            Self::EffectFinished(finished) if finished.labels.is_empty() => 1,
            Self::RunFinished(RunFinished { reason, .. })
                if !matches!(reason, Some(Reason::Budget { what: BudgetKind::Money, .. })) =>
            {
                1
            }
            _ => self.newest_fmt(),
        }
    }

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
