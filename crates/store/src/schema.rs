//! The tables, and the steps to them. `{bytes}`, `{clustered}` and `{often updated}` are explained
//! in `dialect`.
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

/// The tags of a todo after its first one, as a JSON list, and the changes of the agenda that can
/// be undone (an older program sees the first tag); what people undid of the changes that runs made
/// to files.
pub(crate) const V8: &str = "
ALTER TABLE todos ADD COLUMN more_tags TEXT NOT NULL DEFAULT '[]';
INSERT INTO counters (name, last) VALUES ('agenda_change', 0);
CREATE TABLE agenda_changes (change_id BIGINT NOT NULL, kind TEXT NOT NULL, subject BIGINT NOT NULL,
  row_before TEXT, row_after TEXT, at BIGINT NOT NULL, PRIMARY KEY (change_id, kind, subject));
CREATE TABLE undos (undo_id TEXT PRIMARY KEY, conversation_id TEXT NOT NULL, run_id TEXT NOT NULL,
  at BIGINT NOT NULL, by_whom TEXT NOT NULL, redoes TEXT, workspace TEXT NOT NULL,
  files TEXT NOT NULL);
CREATE INDEX undos_conversation ON undos(conversation_id, undo_id);
CREATE INDEX undos_run ON undos(run_id);
";

/// Conversations. Their title, where nobody gave one, is their first goal; whether something in
/// them is unread follows from `read_pos` and their messages. Neither is stored.
///
/// Conversations of earlier programs are known by their names: the one of the terminal, those of
/// `-p`, and one for each `run`. Their folders are unknown. Runs that another run delegated have no
/// conversation that a person would look for, and neither have imported ones.
pub(crate) const V9: &str = "
CREATE TABLE conversations (conversation_id TEXT PRIMARY KEY, title TEXT,
  channel_type TEXT NOT NULL, channel_thread_id TEXT, workspace TEXT,
  created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL, last_read_at BIGINT,
  read_pos BIGINT NOT NULL DEFAULT 0, archived_at BIGINT,
  out_of_memory BIGINT NOT NULL DEFAULT 0);
CREATE INDEX conversations_workspace ON conversations(workspace, channel_type);
CREATE INDEX conversations_thread ON conversations(channel_type, channel_thread_id);

INSERT INTO conversations (conversation_id, channel_type, created_at, updated_at)
SELECT conversation_id,
       CASE WHEN conversation_id LIKE 'conv!_terminal%' ESCAPE '!' THEN 'terminal'
            WHEN conversation_id LIKE 'conv!_print!_%' ESCAPE '!' THEN 'print'
            ELSE 'run' END,
       MIN(created_at), MAX(updated_at)
  FROM runs
 WHERE parent_run_id IS NULL AND run_id NOT IN (SELECT run_id FROM imports)
 GROUP BY conversation_id;
";

/// Turns: the run that began the turn of a run, itself if there is none. A run that a decision
/// started has a key of what it works on, and while it lives no second one in its conversation has
/// the same.
pub(crate) const V10: &str = "
ALTER TABLE runs ADD COLUMN turn_id TEXT;
ALTER TABLE runs ADD COLUMN task_key TEXT;
CREATE INDEX runs_turn ON runs(turn_id) WHERE turn_id IS NOT NULL;
CREATE UNIQUE INDEX runs_task ON runs(conversation_id, task_key) WHERE task_key IS NOT NULL
  AND status IN ('queued','running','waiting');
";

/// What kind of work a run is: its type, what people call it, and the run that it does again. An
/// older program sees every run as an `agent` without a title.
pub(crate) const V11: &str = "
ALTER TABLE runs ADD COLUMN run_type TEXT NOT NULL DEFAULT 'agent';
ALTER TABLE runs ADD COLUMN title TEXT;
ALTER TABLE runs ADD COLUMN retry_of TEXT;
CREATE INDEX runs_retry ON runs(retry_of) WHERE retry_of IS NOT NULL;
";

/// Facts, and every change of one. What a fact comes from may be deleted; the fact stays and says
/// so.
pub(crate) const V12: &str = "
CREATE TABLE facts (fact_id TEXT PRIMARY KEY, body TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('proposed','active','rejected','withdrawn')),
  proposed_by TEXT NOT NULL, conversation_id TEXT, run_id TEXT, message_id TEXT, workspace TEXT,
  untrusted BIGINT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL,
  version BIGINT NOT NULL);
CREATE INDEX facts_status ON facts(status, fact_id);
CREATE INDEX facts_run ON facts(run_id) WHERE run_id IS NOT NULL;

CREATE TABLE fact_changes (fact_id TEXT NOT NULL, version BIGINT NOT NULL, at BIGINT NOT NULL,
  by_whom TEXT NOT NULL, run_id TEXT, change TEXT NOT NULL, fact_before TEXT,
  fact_after TEXT NOT NULL, PRIMARY KEY (fact_id, version));
CREATE INDEX fact_changes_at ON fact_changes(at, fact_id, version);
";

/// Full-text search: `search_no` is the number of a message in the index, NULL until it is in it,
/// so messages of earlier programs are found and added later. Parts of a message as JSON, where it
/// has more than its text. Who made a title: NULL for the person, `made` for the model.
pub(crate) const V14: &str = "
ALTER TABLE messages ADD COLUMN search_no BIGINT;
ALTER TABLE messages ADD COLUMN parts TEXT;
CREATE INDEX messages_search ON messages(search_no);
CREATE TABLE message_terms (term TEXT NOT NULL, search_no BIGINT NOT NULL,
  PRIMARY KEY (term, search_no)){clustered};
CREATE INDEX message_terms_message ON message_terms(search_no);
ALTER TABLE conversations ADD COLUMN title_source TEXT;
";

/// Answers that were given to requests with a key, so that a repeated request gets the same one.
pub(crate) const V15: &str = "
CREATE TABLE api_requests (request_key TEXT PRIMARY KEY, digest TEXT NOT NULL,
  status BIGINT NOT NULL, body TEXT NOT NULL, created_at BIGINT NOT NULL);
CREATE INDEX api_requests_age ON api_requests(created_at);
";

/// Entries that start runs: what they start, when next, how many runs in a row failed, and what
/// became of each firing. Webhooks that were received, until they are too old to be accepted
/// again. What was said by the heartbeat and which reminders nobody saw, so that nothing is said
/// twice.
pub(crate) const V13: &str = "
ALTER TABLE schedules ADD COLUMN run_plan TEXT;
ALTER TABLE schedules ADD COLUMN run_next BIGINT;
ALTER TABLE schedules ADD COLUMN run_failures BIGINT NOT NULL DEFAULT 0;
CREATE INDEX schedules_run ON schedules(run_next) WHERE run_next IS NOT NULL;
CREATE TABLE schedule_runs (schedule_id BIGINT NOT NULL, due_at BIGINT NOT NULL,
  fired_at BIGINT NOT NULL, state TEXT NOT NULL, reason TEXT, run_id TEXT, ended TEXT,
  PRIMARY KEY (schedule_id, due_at));
CREATE INDEX schedule_runs_open ON schedule_runs(schedule_id, due_at) WHERE ended IS NULL;
CREATE INDEX schedule_runs_run ON schedule_runs(run_id) WHERE run_id IS NOT NULL;
CREATE TABLE webhooks_seen (channel TEXT NOT NULL, webhook_id TEXT NOT NULL, run_id TEXT NOT NULL,
  expires_at BIGINT NOT NULL, PRIMARY KEY (channel, webhook_id));
CREATE INDEX webhooks_seen_expiry ON webhooks_seen(expires_at);
CREATE TABLE notes_said (note_key TEXT PRIMARY KEY, said_at BIGINT NOT NULL);
ALTER TABLE firings ADD COLUMN told_at BIGINT;
UPDATE firings SET told_at = fired_at;
CREATE INDEX firings_untold ON firings(due_at) WHERE told_at IS NULL;
";

/// What a request to a conversation did that left no run with its key: what it canceled, or that
/// there was nothing to cancel.
pub(crate) const V16: &str = "
CREATE TABLE turn_receipts (request_key TEXT PRIMARY KEY, did TEXT NOT NULL, run_id TEXT,
  at BIGINT NOT NULL);
";

/// Headers of an answer to a request with a key, and who answers a request that has none yet
/// (status 0).
pub(crate) const V17: &str = "
ALTER TABLE api_requests ADD COLUMN headers TEXT NOT NULL DEFAULT '{}';
ALTER TABLE api_requests ADD COLUMN owner TEXT NOT NULL DEFAULT '';
";

/// What was deleted, by whom and when: the one thing that is left of it.
pub(crate) const V18: &str = "
CREATE TABLE deletions (deletion_id TEXT PRIMARY KEY, kind TEXT NOT NULL, run_id TEXT,
  conversation_id TEXT NOT NULL, turn_id TEXT, deleted_by TEXT NOT NULL,
  deleted_at BIGINT NOT NULL);
CREATE INDEX deletions_at ON deletions(deleted_at, deletion_id);
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
    Migration { version: 8, min_reader: 1, sql: V8 },
    Migration { version: 9, min_reader: 1, sql: V9 },
    Migration { version: 10, min_reader: 1, sql: V10 },
    Migration { version: 11, min_reader: 1, sql: V11 },
    Migration { version: 12, min_reader: 1, sql: V12 },
    Migration { version: 13, min_reader: 1, sql: V13 },
    Migration { version: 14, min_reader: 1, sql: V14 },
    Migration { version: 15, min_reader: 1, sql: V15 },
    Migration { version: 16, min_reader: 1, sql: V16 },
    Migration { version: 17, min_reader: 1, sql: V17 },
    Migration { version: 18, min_reader: 1, sql: V18 },
];

/// The oldest version that a program must know to open a database that was not copied to its end:
/// none knows it.
pub(crate) const HALF_COPIED: i64 = 1_000_000;

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
