//! What can go wrong between a worker and its store.

use crate::{
    db::{Cause, DbError},
    sqlite::OpenError,
};
use everloop_types::RunId;
use std::fmt;

/// Why the store did not do what was asked.
///
/// All but [`StoreError::Unknown`] are definite: nothing of the transaction took place.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The run is not ours, or no longer.
    #[error(
        "lost the lease on {run}: another worker drives it now; drop this run and claim another"
    )]
    LeaseLost {
        /// The run.
        run: RunId,
    },
    /// A second plan, start, outcome or message: a bug that a unique index made harmless.
    #[error("a second row was kept out by the index {index}")]
    Violation {
        /// The index.
        index: &'static str,
    },
    /// One of the caller's own writes did not do what it must; nothing was written.
    #[error("own write {index} was refused, so nothing was written")]
    WriteRefused {
        /// Its place among the caller's writes.
        index: usize,
    },
    /// The commit may or may not have taken place.
    #[error("the commit may or may not have taken place; read the run's position before going on")]
    Unknown {
        /// What the database said.
        source: Cause,
    },
    /// A journal entry is not as it was written.
    #[error("entry {seq} of {run} is damaged; take the run out of service or restore a backup")]
    Damaged {
        /// The run.
        run: RunId,
        /// The entry; 0 for an inbox message or the frame.
        seq: i64,
    },
    /// A newer program has written the entry, or one whose loop is no longer here.
    #[error(
        "entry {seq} of {run} is a {kind} in format {fmt}; use a newer program for this run, or \
         the one that wrote it"
    )]
    NewerEntry {
        /// The run.
        run: RunId,
        /// The entry; 0 for an inbox message.
        seq: i64,
        /// Its kind.
        kind: String,
        /// Its format.
        fmt: i64,
    },
    /// A limit is reached.
    #[error("{run} is over the limit of {limit}; finish it and start another")]
    OverLimit {
        /// The run.
        run: RunId,
        /// Which limit.
        limit: StoreLimit,
    },
    /// A run that was to begin is there, or another one works on the same; nothing was written.
    #[error("what {run} was to start is under way already, so nothing was written")]
    TaskRunning {
        /// The run that was to start it.
        run: RunId,
    },
    /// The database cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The database refused.
    #[error(transparent)]
    Db(DbError),
}

impl From<DbError> for StoreError {
    fn from(error: DbError) -> Self {
        match error {
            DbError::CommitUnknown { source } => Self::Unknown { source },
            definite => Self::Db(definite),
        }
    }
}

impl StoreError {
    /// Whether the data may be read and not written.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        matches!(
            self,
            Self::Db(DbError::ReadOnly { .. })
                | Self::Open(OpenError::Db(DbError::ReadOnly { .. }))
        )
    }

    /// Whether the same may succeed later without anyone's help.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unknown { .. } => true,
            Self::Db(error) | Self::Open(OpenError::Db(error)) => error.is_transient(),
            _ => false,
        }
    }
}

/// The limits of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreLimit {
    /// Journal entries.
    Events,
    /// Bytes of all journal bodies.
    Bytes,
    /// Bytes of one body.
    Blob,
    /// Bytes of one inbox message.
    InboxMessage,
}

impl StoreLimit {
    /// How much there may be.
    #[must_use]
    pub fn most(self) -> usize {
        match self {
            Self::Events => 50_000,
            Self::Bytes => 64 << 20,
            Self::Blob => 100 << 20,
            Self::InboxMessage => 2 << 20,
        }
    }
}

impl fmt::Display for StoreLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = match self {
            Self::Events => "journal entries",
            Self::Bytes => "bytes of journal",
            Self::Blob => "bytes in one entry",
            Self::InboxMessage => "bytes in one letter",
        };
        write!(f, "{} {of}", self.most())
    }
}
