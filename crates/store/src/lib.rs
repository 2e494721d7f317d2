//! The store: journal, queue, inbox and outbox of Everloop, and every table beside them.
//!
//! ```text
//!   create_run ──► queued ──claim──► running ──append(Finish)──► succeeded, failed, …
//!                    ▲  ▲               │ │
//!                    │  └───Release─────┘ │
//!                    └─send, time── waiting ◄──append(Park)
//! ```
//!
//! - Only the holder of a run's present epoch writes its journal ([`Journal::append`]); everyone
//!   else writes to its inbox ([`RunInbox::send`]).
//! - A commit whose fate is not known is [`StoreError::Unknown`]: read [`RunCatalog::position`]
//!   first.
//! - [`Store`] has one facet for each concern: `store.journal()`, `store.queue()`, and so on.
//!
//! Deliberately absent: clocks (every moment is given), retries, what entries mean, and text for
//! users.

mod append;
mod applied;
mod check;
mod conversations;
pub mod copies;
mod create;
mod db;
mod dialect;
mod error;
mod facets;
mod family;
mod firings;
mod fork;
mod home;
mod inbox;
mod keep;
mod lock;
mod outbox;
#[cfg(feature = "planted")]
mod planted;
pub mod portable;
mod postgres;
mod queue;
mod read;
mod redactor;
mod remove;
mod row;
mod runs;
mod schedules;
mod schema;
mod settle;
mod sqlite;
mod standing;
mod statement;
mod store;
mod todos;
mod workers;

#[cfg(any(test, feature = "conformance"))]
pub mod conformance;

#[cfg(any(test, feature = "testing-postgres"))]
pub mod testing;

pub use append::{Commit, NewMessage, NextStatus, TakenMessage};
pub use applied::{Applied, WriteKey};
pub use check::RunCheck;
pub use conversations::ConversationMessage;
pub use copies::SCHEMA_VERSION;
pub use create::{NewRun, RunCreation};
pub use db::{Cause, DatabaseKind, Db, DbError, DbFuture, SqlCells, SqlRow, Urgency, WriteResult};
pub use error::{StoreError, StoreLimit};
pub use facets::{
    AgendaStore, Conversations, Journal, Maintenance, Outbox, RunCatalog, RunInbox, RunQueue,
    StandingApprovals, WorkerRegistry,
};
pub use family::{ChildReport, NewChild, Relations, Relative};
pub use firings::{DueReminder, Firing, FiringBatch, FiringKind, FiringOutcome};
pub use fork::{ForkOrigin, NewFork};
pub use home::TakeoverCounts;
pub use inbox::{InboxSendResult, UnreadMessages};
pub use keep::{Inspection, TrimCounts};
pub use lock::{ClaimLock, ClaimLockError, Holder};
pub use outbox::{NewOutbox, OutboxCount, OutboxRow};
pub use postgres::{PgDb, PgOptions, without_password};
pub use queue::{Claim, FinalMessage, Orphan};
pub use read::{LoadedJournal, SnapshotRow};
pub use redactor::{Redactor, SECRET_MARK};
pub use remove::Removal;
pub use runs::{MessageRow, Position, RunFilter, RunLease, RunOrigin, RunRow, RunTimes};
pub use schedules::{ReminderRule, RepeatRule, ScheduleGuard, ScheduleRow, ScheduleText, Span};
pub use settle::Settlement;
pub use sqlite::{MemoryDb, OpenError, SqliteDb};
pub use standing::allow_for_good;
pub use store::Store;
pub use todos::{TodoRow, TodoText};
pub use workers::{Heartbeat, WorkerRow};
