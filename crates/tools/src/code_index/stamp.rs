//! By what a file is known to be as it was: its size and the times of its content and of its entry.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A change may have the same time as the one before it if it follows within the steps of the
/// system's clock, or of a file system that counts whole seconds.
const CLOCK_STEP: Duration = Duration::from_millis(50);
const COARSE_STEP: Duration = Duration::from_secs(3);

const SECOND_NS: i64 = 1_000_000_000;

/// The size of a stamp that says nothing.
const UNSURE: i64 = -1;

/// Size and times of a file. Nobody can set the time of the entry, so a file that was changed and
/// given its old times back is noticed too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IndexStamp {
    pub(crate) size: i64,
    /// Nanoseconds.
    pub(crate) mtime: i64,
    pub(crate) ctime: i64,
}

impl IndexStamp {
    pub(crate) fn of(found: &Metadata) -> Self {
        let ns = |seconds: i64, rest: i64| seconds.saturating_mul(SECOND_NS).saturating_add(rest);
        Self {
            size: i64::try_from(found.size()).unwrap_or(i64::MAX),
            mtime: ns(found.mtime(), found.mtime_nsec()),
            ctime: ns(found.ctime(), found.ctime_nsec()),
        }
    }

    /// Whether it says anything.
    pub(crate) fn is_sure(self) -> bool {
        self.size != UNSURE
    }

    /// The same for a file of which nobody can say whether it changed while it was read.
    pub(crate) fn unsure(self) -> Self {
        Self { size: UNSURE, ..self }
    }

    /// How old the last change has to be, so that another one would have another time.
    fn step(self) -> Duration {
        if self.ctime % SECOND_NS == 0 { COARSE_STEP } else { CLOCK_STEP }
    }

    /// Whether the last change is so fresh that the next one might have the same time.
    pub(crate) fn is_fresh(self, now: SystemTime) -> bool {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let changed = Duration::from_nanos(u64::try_from(self.ctime.max(self.mtime)).unwrap_or(0));
        now < changed.saturating_add(self.step())
    }
}

/// How long to wait until files that were fresh are not any more.
pub(crate) const SETTLE: Duration = Duration::from_millis(60);
