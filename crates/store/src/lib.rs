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

mod agenda_changes;
mod api_requests;
mod append;
mod applied;
mod check;
mod conversation_edits;
mod conversation_list;
mod conversation_places;
mod conversation_rows;
mod conversations;
pub mod copies;
mod create;
mod db;
mod deletions;
mod dialect;
mod error;
mod facets;
mod fact_rows;
mod facts;
mod family;
mod firings;
mod fork;
mod home;
mod inbox;
mod keep;
mod live;
mod lock;
mod message_index;
mod message_pages;
mod message_search;
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
mod schedule_runs;
mod schedules;
mod schema;
mod search_terms;
mod settle;
mod sqlite;
mod standing;
mod statement;
mod store;
mod todos;
mod told;
pub mod transfer;
#[cfg(test)]
mod transfer_tests;
mod turn_receipts;
mod undos;
mod webhooks;
mod workers;

#[cfg(any(test, feature = "conformance"))]
pub mod conformance;

#[cfg(any(test, feature = "testing-postgres"))]
pub mod testing;

pub use agenda_changes::{AgendaRow, ChangeRecord, ChangedItem, UndoResult};
pub use api_requests::{ApiAnswer, KeyAges, KeyReservation, KeyedRequest};
pub use append::{Commit, NewMessage, NextStatus, TakenMessage};
pub use applied::{Applied, WriteKey};
pub use check::RunCheck;
pub use conversation_edits::ConversationEdit;
pub use conversation_list::{ConversationFilter, ConversationListPlace};
pub use conversation_places::{ConversationHeader, RunStanding};
pub use conversation_rows::{
    ConversationCounts, ConversationRow, NewConversation, QuestionOutside, TASK_CHANNEL,
};
pub use conversations::{ConversationMessage, SourceRef};
pub use copies::SCHEMA_VERSION;
pub use create::{NewRun, RunCreation, RunLink};
pub use db::{Cause, DatabaseKind, Db, DbError, DbFuture, SqlCells, SqlRow, Urgency, WriteResult};
pub use deletions::{Deleter, DeletionRow};
pub use error::{StoreError, StoreLimit};
pub use facets::{
    AgendaStore, ApiRequests, Conversations, Facts, FileUndos, Journal, Maintenance, Outbox,
    RunCatalog, RunInbox, RunQueue, RunSchedules, StandingApprovals, WorkerRegistry,
};
pub use fact_rows::{FactChange, FactChangeKind, FactRow, FactState, NewFact};
pub use facts::{FactFilter, FactUpdate};
pub use family::{ChildReport, NewChild, Relations, Relative};
pub use firings::{DueReminder, Firing, FiringBatch, FiringKind, FiringOutcome};
pub use fork::{ForkOrigin, NewFork};
pub use home::TakeoverCounts;
pub use inbox::{GivenAnswer, InboxSendResult, UnreadMessages};
pub use keep::{Inspection, TrimCounts};
pub use live::{LiveChannel, LiveFuture, LiveListener, OpenPieces};
pub use lock::{ClaimLock, ClaimLockError, Holder};
pub use message_pages::{MessagePage, MessageRange, UnreadTotals};
pub use message_search::{MessageHit, MessageHits, MessageQuery};
pub use outbox::{NewOutbox, OutboxCount, OutboxRow};
pub use postgres::{PgDb, PgOptions, without_password};
pub use queue::{Claim, FinalMessage, Orphan};
pub use read::{LoadedJournal, SnapshotRow};
pub use redactor::{Redactor, SECRET_MARK};
pub use remove::{ConversationRemoval, Removal};
pub use runs::{MessageRow, Position, RunFilter, RunLease, RunOrigin, RunRow, RunScope, RunTimes};
pub use schedule_runs::{
    OverlapPolicy, RunPlace, SchedulePause, ScheduleStep, ScheduledFiring, ScheduledRun,
    ScheduledStart, ScheduledState,
};
pub use schedules::{ReminderRule, RepeatRule, ScheduleGuard, ScheduleRow, ScheduleText, Span};
pub use settle::Settlement;
pub use sqlite::{MemoryDb, OpenError, SqliteDb};
pub use standing::allow_for_good;
pub use store::Store;
pub use todos::{TodoRow, TodoText};
pub use told::OwnMessage;
pub use turn_receipts::TurnRecord;
pub use undos::UndoRow;
pub use workers::{Heartbeat, WorkerRow};
