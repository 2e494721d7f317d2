//! The tables, and the steps to them. `{bytes}` and `{often updated}` are explained in `dialect`.
//!
//! Times are UTC milliseconds, JSON is text. Rules about rows are documented with the code that
//! writes them.

use crate::sqlite::OpenError;
use std::path::Path;

/// The first schema.
pub(crate) const V1: &str = "
CREATE TABLE workers (worker_id TEXT PRIMARY KEY, build TEXT NOT NULL, expires_at BIGINT NOT NULL);

CREATE TABLE runs (
  run_id TEXT PRIMARY KEY, conversation_id TEXT NOT NULL,
  parent_run_id TEXT, forked_from TEXT, forked_at_seq BIGINT,
  loop_name TEXT NOT NULL, loop_ver INTEGER NOT NULL,
  goal TEXT NOT NULL, note TEXT, frame_ref TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN
    ('queued','running','waiting','succeeded','unsettled','failed','canceled','quarantined')),
  priority BIGINT NOT NULL DEFAULT 0, wake_at BIGINT NOT NULL,
  epoch BIGINT NOT NULL DEFAULT 0, lease_owner TEXT,
  next_seq BIGINT NOT NULL DEFAULT 1, snap_seq BIGINT NOT NULL DEFAULT 0,
  bytes BIGINT NOT NULL DEFAULT 0,
  inbox_ctr BIGINT NOT NULL DEFAULT 0, stalls INTEGER NOT NULL DEFAULT 0,
  idem_key TEXT, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL, trimmed_at BIGINT){often updated};
CREATE UNIQUE INDEX runs_idem ON runs(idem_key) WHERE idem_key IS NOT NULL;
CREATE INDEX runs_ready   ON runs(priority, wake_at, run_id) WHERE status = 'queued';
CREATE INDEX runs_waiting ON runs(wake_at) WHERE status = 'waiting';
CREATE INDEX runs_owner   ON runs(lease_owner) WHERE status = 'running';
CREATE INDEX runs_quarantined ON runs(run_id) WHERE status = 'quarantined';
CREATE INDEX runs_finished ON runs(updated_at) WHERE trimmed_at IS NULL
  AND status IN ('succeeded','unsettled','failed','canceled');
CREATE INDEX runs_frame ON runs(frame_ref);

CREATE TABLE journal (
  run_id TEXT NOT NULL, seq BIGINT NOT NULL, epoch BIGINT NOT NULL,
  kind TEXT NOT NULL, fmt INTEGER NOT NULL,
  effect_id TEXT, attempt INTEGER, phase INTEGER,
  ts BIGINT NOT NULL, crc BIGINT NOT NULL, body TEXT NOT NULL, blob_ref TEXT,
  PRIMARY KEY (run_id, seq));
CREATE UNIQUE INDEX journal_plan    ON journal(run_id, effect_id)          WHERE phase = 1;
CREATE UNIQUE INDEX journal_start   ON journal(run_id, effect_id, attempt) WHERE phase = 2;
CREATE UNIQUE INDEX journal_outcome ON journal(run_id, effect_id)          WHERE phase = 3;
CREATE INDEX journal_blob ON journal(blob_ref) WHERE blob_ref IS NOT NULL;

CREATE TABLE inbox (run_id TEXT NOT NULL, dedupe TEXT NOT NULL, pos BIGINT NOT NULL,
  kind TEXT NOT NULL, body TEXT NOT NULL, created_at BIGINT NOT NULL, taken_seq BIGINT,
  PRIMARY KEY (run_id, dedupe));
CREATE INDEX inbox_new ON inbox(run_id, pos) WHERE taken_seq IS NULL;

CREATE TABLE snapshots (run_id TEXT NOT NULL, seq BIGINT NOT NULL, loop_ver INTEGER NOT NULL,
  fmt INTEGER NOT NULL, state_hash TEXT NOT NULL, state TEXT NOT NULL, PRIMARY KEY (run_id, seq));

CREATE TABLE messages (conversation_id TEXT NOT NULL, pos BIGINT NOT NULL,
  message_id TEXT NOT NULL UNIQUE, run_id TEXT, slot TEXT, role TEXT NOT NULL, body TEXT NOT NULL,
  created_at BIGINT NOT NULL, PRIMARY KEY (conversation_id, pos));
CREATE UNIQUE INDEX messages_slot ON messages(run_id, slot) WHERE run_id IS NOT NULL;

CREATE TABLE outbox (outbox_id TEXT PRIMARY KEY, conversation_id TEXT NOT NULL,
  pos BIGINT NOT NULL, run_id TEXT NOT NULL, channel TEXT NOT NULL, body TEXT NOT NULL,
  next_try_at BIGINT NOT NULL, tries INTEGER NOT NULL DEFAULT 0, sent_at BIGINT);
CREATE INDEX outbox_due ON outbox(next_try_at) WHERE sent_at IS NULL;
CREATE INDEX outbox_order ON outbox(conversation_id, pos);

CREATE TABLE settlements (run_id TEXT NOT NULL, effect_id TEXT NOT NULL, verdict TEXT NOT NULL,
  by_whom TEXT NOT NULL, at BIGINT NOT NULL, PRIMARY KEY (run_id, effect_id));

CREATE TABLE blobs (hash TEXT PRIMARY KEY, size BIGINT NOT NULL, bytes {bytes} NOT NULL);
";

/// The machine and process of a worker, so that others on that machine can see that it is dead.
pub(crate) const V2: &str = "
ALTER TABLE workers ADD COLUMN place TEXT NOT NULL DEFAULT '';
";

/// Todos, schedules and firings. The key of a firing is the time at which it was due, so it cannot
/// happen twice.
pub(crate) const V3: &str = "
CREATE INDEX runs_conversation ON runs(conversation_id, run_id);

CREATE TABLE counters (name TEXT PRIMARY KEY, last BIGINT NOT NULL);
INSERT INTO counters (name, last) VALUES ('todo', 0), ('schedule', 0);

CREATE TABLE deeds (deed_key TEXT PRIMARY KEY, subject BIGINT NOT NULL, done_at BIGINT NOT NULL);

CREATE TABLE todos (todo_id BIGINT PRIMARY KEY, uid TEXT NOT NULL UNIQUE, body TEXT NOT NULL,
  tag TEXT NOT NULL, priority BIGINT NOT NULL, due_at BIGINT, remind_at BIGINT, remind_next BIGINT,
  done_at BIGINT, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL,
  version BIGINT NOT NULL);
CREATE INDEX todos_remind ON todos(remind_next) WHERE remind_next IS NOT NULL;

CREATE TABLE schedules (schedule_id BIGINT PRIMARY KEY, uid TEXT NOT NULL UNIQUE,
  title TEXT NOT NULL, starts TEXT NOT NULL, zone TEXT NOT NULL, starts_at BIGINT NOT NULL,
  minutes BIGINT NOT NULL, rrule TEXT, times BIGINT, repeats BIGINT NOT NULL,
  remind_lead BIGINT, remind_from BIGINT, remind_next BIGINT, catch_up TEXT,
  created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL, version BIGINT NOT NULL);
CREATE INDEX schedules_remind ON schedules(remind_next) WHERE remind_next IS NOT NULL;
CREATE INDEX schedules_start ON schedules(starts_at);

CREATE TABLE firings (kind TEXT NOT NULL, subject BIGINT NOT NULL, due_at BIGINT NOT NULL,
  occurs_at BIGINT NOT NULL, fired_at BIGINT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('fired','late','missed')),
  title TEXT NOT NULL, announced_at BIGINT, read_at BIGINT, PRIMARY KEY (kind, subject, due_at));
CREATE INDEX firings_unread ON firings(due_at) WHERE read_at IS NULL;
CREATE INDEX firings_new ON firings(due_at) WHERE announced_at IS NULL;
";

/// Standing approvals.
pub(crate) const V4: &str = "
CREATE TABLE standing_approvals (approval_id TEXT PRIMARY KEY, workspace TEXT NOT NULL,
  tool TEXT NOT NULL, resource TEXT NOT NULL, by_whom TEXT NOT NULL, at BIGINT NOT NULL);
";

/// The children of a run.
pub(crate) const V5: &str = "
CREATE INDEX runs_parent ON runs(parent_run_id) WHERE parent_run_id IS NOT NULL;
";

/// Reminders that move with their todo, and a revision that every write of an entry raises: a time
/// that was found free is used only if the revision is unchanged.
pub(crate) const V6: &str = "
ALTER TABLE todos ADD COLUMN remind_lead BIGINT;
INSERT INTO counters (name, last) VALUES ('schedule_revision', 0);
";

/// RunImport runs. What such a run says is history and never grants permission.
pub(crate) const V7: &str = "
CREATE TABLE imports (run_id TEXT PRIMARY KEY, at BIGINT NOT NULL);
";

/// One step of the schema.
pub(crate) struct Migration {
    /// The version after this step.
    pub(crate) version: i64,
    /// The oldest version that a program must know to work with the result.
    pub(crate) min_reader: i64,
    /// The statements.
    pub(crate) sql: &'static str,
}

/// All steps so far, in order.
pub(crate) const MIGRATIONS: &[Migration] = &[
    Migration { version: 1, min_reader: 1, sql: V1 },
    Migration { version: 2, min_reader: 1, sql: V2 },
    Migration { version: 3, min_reader: 1, sql: V3 },
    Migration { version: 4, min_reader: 1, sql: V4 },
    Migration { version: 5, min_reader: 1, sql: V5 },
    Migration { version: 6, min_reader: 1, sql: V6 },
    Migration { version: 7, min_reader: 1, sql: V7 },
];

/// The table that identifies a database as ours.
pub(crate) const META: &str =
    "CREATE TABLE IF NOT EXISTS schema_meta (k TEXT PRIMARY KEY, v TEXT NOT NULL)";

pub(crate) const SET_META: &str = "
    INSERT INTO schema_meta (k, v) VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET v = excluded.v
";

/// What a database contains.
pub(crate) enum FoundSchema {
    Empty,
    Foreign,
    Version { schema: i64, min_reader: i64 },
}

/// What to do with it.
pub(crate) enum SchemaAction {
    Nothing,
    Create,
    Upgrade { to: i64 },
}

impl FoundSchema {
    /// How the database gets to the newest of `steps`, if it may.
    pub(crate) fn next(&self, name: &Path, steps: &[Migration]) -> Result<SchemaAction, OpenError> {
        let known = steps.last().map_or(0, |step| step.version);
        let path = || name.to_path_buf();
        match *self {
            Self::Empty => Ok(SchemaAction::Create),
            Self::Foreign => Err(OpenError::NotOurs { path: path(), altered: None }),
            Self::Version { min_reader, .. } if min_reader > known => {
                Err(OpenError::NewerSchema { path: path(), needed: min_reader, known })
            }
            Self::Version { schema, .. } if schema >= known => Ok(SchemaAction::Nothing),
            Self::Version { .. } => Ok(SchemaAction::Upgrade { to: known }),
        }
    }

    /// The version it has.
    pub(crate) fn version(&self) -> i64 {
        match *self {
            Self::Version { schema, .. } => schema,
            Self::Empty | Self::Foreign => 0,
        }
    }
}
