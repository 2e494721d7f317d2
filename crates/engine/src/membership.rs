//! The right of a process to claim runs, and what follows from how it was obtained.
//!
//! ```text
//!   file:   MembershipPolicy::Exclusive ──acquire──► Membership::Exclusive, by a lock on a file
//!   server: MembershipPolicy::Leased ─────acquire──► Membership::Leased, by a row that expires
//! ```
//!
//! The lock proves that every earlier owner of a run is dead. A lease proves nothing: an owner that
//! is silent may still be at work, so what it began is over only when its time is over.

use crate::{Clock, Engine, LeaseTimes, SharedClock, SystemClock, Worker};
use everloop_store::{ClaimLock, ClaimLockError, Orphan, Store, StoreError};
use everloop_types::WorkerId;
use std::{future, path::PathBuf, sync::Arc};

/// How the processes that use one database share its runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MembershipPolicy {
    /// One process at a time drives runs: the one that holds this lock file.
    Exclusive {
        /// The lock file.
        lock: PathBuf,
    },
    /// Many processes drive runs, each under a lease that it renews.
    Leased(LeaseTimes),
}

/// The right to claim runs. It ends when this value is dropped, or when the lease expires.
#[derive(Debug)]
pub enum Membership {
    /// No other process drives runs on this database.
    Exclusive(ClaimLock),
    /// Other processes may drive runs on this database too.
    Leased(LeaseTimes),
}

impl MembershipPolicy {
    /// Takes the right to claim runs.
    ///
    /// # Errors
    /// [`ClaimLockError::Held`] if another process has it; under leases it is never refused.
    pub fn acquire(&self, worker: &WorkerId) -> Result<Membership, ClaimLockError> {
        match self {
            Self::Exclusive { lock } => ClaimLock::acquire(lock, worker).map(Membership::Exclusive),
            Self::Leased(times) => Ok(Membership::Leased(*times)),
        }
    }

    /// Whether the earlier owner of a run may still be alive when the run is claimed again.
    #[must_use]
    pub fn owners_may_live(&self) -> bool {
        matches!(self, Self::Leased(_))
    }

    /// The clock that all members agree on: the machine's, or that of the database.
    ///
    /// # Errors
    /// If the database cannot be asked.
    pub async fn clock(&self, store: &Store) -> Result<Arc<dyn Clock>, StoreError> {
        match self {
            Self::Exclusive { .. } => Ok(Arc::new(SystemClock)),
            Self::Leased(_) => Ok(Arc::new(SharedClock::new(store.workers().time().await?))),
        }
    }

    /// Registers this process among the workers of a shared database.
    ///
    /// # Errors
    /// If it could not be written.
    pub async fn register(&self, engine: &Engine) -> Result<(), StoreError> {
        match self {
            Self::Exclusive { .. } => Ok(()),
            Self::Leased(times) => engine.join(*times).await,
        }
    }

    /// Renews the lease for as long as this future is polled. Never returns.
    pub async fn keep(&self, engine: Arc<Engine>) {
        match self {
            Self::Exclusive { .. } => future::pending().await,
            Self::Leased(times) => engine.keep_lease(*times).await,
        }
    }

    /// Takes this process off the list of workers, so that nobody waits for its lease to expire.
    ///
    /// # Errors
    /// If it could not be written; the lease then expires by itself.
    pub async fn unregister(&self, engine: &Engine) -> Result<(), StoreError> {
        match self {
            Self::Exclusive { .. } => Ok(()),
            Self::Leased(_) => engine.leave().await,
        }
    }
}

impl Membership {
    /// Puts the runs of dead processes back into the queue, and gives those that are quarantined
    /// their last message.
    ///
    /// # Errors
    /// If it could not be written.
    pub async fn recover_orphans(&self, engine: &Engine) -> Result<Vec<Orphan>, StoreError> {
        match self {
            Self::Exclusive(_) => engine.take_up().await,
            Self::Leased(_) => engine.reap().await,
        }
    }
}

impl Worker {
    /// The same worker, which also recovers the runs of other members that die.
    #[must_use]
    pub fn with_membership(self, membership: &Membership) -> Self {
        match membership {
            Membership::Exclusive(_) => self,
            Membership::Leased(times) => self.reaping(*times),
        }
    }
}
