//! Planted bugs: mistakes that the sweeps must find, to prove that they would find them.
//!
//! Without the feature `planted`, [`is_on`] is a constant `false` and every branch behind it is
//! gone. With it nothing changes until a test calls `plant`. No release is built with it.

/// A mistake that would lose, repeat or hide something. Each one takes a line where it is planted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Bug {
    /// The intent becomes durable with the outcome, not before the act.
    IntentAfterEffect = 1,
    /// An append does not ask whose epoch it is.
    EpochFenceRemoved,
    /// Recovery writes the outcome of an effect twice.
    OutcomeNotUnique,
    /// A run parks without a look at the counter of its inbox.
    NaiveInboxCheck,
    /// Recovery makes a dangerous call again.
    DangerousRepeated,
    /// A snapshot is written before all of the entries that it holds.
    SnapshotAhead,
    /// The final message is written after the ending, in a transaction of its own.
    FinalMessageLater,
    /// A model call that was cut short is counted again when the run is taken over.
    BudgetCountedTwice,
    /// A run with an unknown outcome ends as a plain success.
    UnknownHidden,
    /// An act is made however long ago its intent was written.
    StartWindowUnchecked,
    /// A commit whose fate is unknown is made again without reading back.
    LostReplyNotReadBack,
    /// A cancel that arrives while a tool works is noted and not obeyed.
    CancelForgotten,
    /// Permission for one call is taken for the next one too.
    ApprovalForOtherArguments,
    /// What a probe found is used and never written down.
    ProbeNotJournaled,
    /// A probe that finds nothing is believed while an older owner may still be inside the call.
    LivingOwnerForgotten,
    /// A child is created in a transaction of its own, before its parent's record of it.
    ChildOutsideTransaction,
    /// A run that is canceled leaves its child at work.
    CancelNotCascaded,
}

#[cfg(feature = "planted")]
mod switch {
    use super::Bug;
    use std::sync::atomic::{AtomicU8, Ordering};

    /// The bug of this process, 0 for none.
    static PLANTED: AtomicU8 = AtomicU8::new(0);

    /// Switches one bug on, for the whole process, or all of them off.
    pub fn plant(bug: Option<Bug>) {
        PLANTED.store(bug.map_or(0, |bug| bug as u8), Ordering::SeqCst);
    }

    /// Whether the bug is switched on.
    #[must_use]
    pub fn is_on(bug: Bug) -> bool {
        PLANTED.load(Ordering::SeqCst) == bug as u8
    }
}

#[cfg(feature = "planted")]
pub use switch::{is_on, plant};

/// The number if the bug is switched on, or else 0.
#[must_use]
pub fn if_on(bug: Bug, number: u32) -> u32 {
    if is_on(bug) { number } else { 0 }
}

/// Whether the bug is switched on: never, in a program without the feature.
#[cfg(not(feature = "planted"))]
#[must_use]
#[inline(always)]
pub const fn is_on(_: Bug) -> bool {
    false
}
