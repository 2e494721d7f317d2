//! Entries of the schedule that start runs, and what became of each of their firings.
//!
//! ```text
//!   due ──► missed | skipped | failed
//!    └────► queued ──► started, late ──► the status that the run ended with
//! ```
//!
//! A firing, its run and the step of its entry are one transaction, and every step names the
//! version of the entry that it was computed from. So a firing makes one run, whatever crashes.
//!
//! Deliberately absent: when an entry is due, and what its run is made of.

use crate::{
    conversation_rows::{self, NewConversation},
    create::{self, NewRun},
    db::{DbError, SqlRow, Urgency},
    error::StoreError,
    facets::RunSchedules,
    firings::{self, Firing},
    statement::{any, int, one, params},
};
use everloop_types::{ConversationId, RunId, SqlValue, Statement, UtcMs, Write};
use serde::{Deserialize, Serialize};

/// What an entry starts when it is due.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScheduledRun {
    /// The goal of each run.
    pub goal: String,
    /// The loop; none for the setting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loop_name: Option<String>,
    /// The persona; none for the setting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persona: Option<String>,
    /// The folder that the runs work in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Where the runs belong.
    #[serde(default, skip_serializing_if = "RunPlace::is_new")]
    pub place: RunPlace,
    /// What happens while an earlier run has not ended.
    #[serde(default)]
    pub overlap: OverlapPolicy,
    /// After how many failures in a row it is paused; none for the setting, 0 for never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause_after: Option<u32>,
    /// Why it is paused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<SchedulePause>,
}

/// The conversation of the runs of an entry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunPlace {
    /// A new one for each run.
    #[default]
    New,
    /// One for all runs of the entry.
    Own,
    /// This one.
    In(ConversationId),
}

impl RunPlace {
    fn is_new(&self) -> bool {
        *self == Self::New
    }

    /// As commands write it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::New => "new",
            Self::Own => "own",
            Self::In(id) => id.as_str(),
        }
    }

    /// As commands write it: `new`, `own`, or the id of a conversation.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match text {
            "new" => Self::New,
            "own" => Self::Own,
            id => Self::In(ConversationId::new(id)),
        }
    }
}

/// Since when a schedule is paused, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchedulePause {
    /// Since when.
    pub at: UtcMs,
    /// How many runs in a row had failed; 0 if a person paused it.
    pub failures: i64,
    /// What the last failure was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What happens to a firing while an earlier run of its entry has not ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OverlapPolicy {
    /// It is skipped.
    #[default]
    Skip,
    /// One waits for the end of the earlier run; further ones are skipped.
    QueueOne,
    /// The earlier run is canceled.
    CancelPrevious,
    /// Both run.
    Allow,
}

impl OverlapPolicy {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Skip, Self::QueueOne, Self::CancelPrevious, Self::Allow];

    /// Its name in commands.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Skip => "skip",
            Self::QueueOne => "queue_one",
            Self::CancelPrevious => "cancel_previous",
            Self::Allow => "allow",
        }
    }

    /// The policy of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let name = name.replace('-', "_");
        Self::ALL.into_iter().find(|policy| policy.as_str() == name)
    }
}

/// What became of a firing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ScheduledState {
    /// Its run was started in time.
    Started,
    /// Its run was started after its time.
    Late,
    /// No process ran, and the catch-up rule skips it.
    Missed,
    /// An earlier run had not ended.
    Skipped,
    /// It waits for the end of an earlier run.
    Queued,
    /// No run could be made.
    Failed,
}

impl ScheduledState {
    const ALL: [Self; 6] =
        [Self::Started, Self::Late, Self::Missed, Self::Skipped, Self::Queued, Self::Failed];

    /// The name in the database and in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Late => "late",
            Self::Missed => "missed",
            Self::Skipped => "skipped",
            Self::Queued => "queued",
            Self::Failed => "failed",
        }
    }
}

/// One firing of an entry that starts runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduledFiring {
    /// The entry.
    pub schedule: i64,
    /// When it was due.
    pub due_at: UtcMs,
    /// When it was dealt with.
    pub fired_at: UtcMs,
    /// What became of it.
    pub state: ScheduledState,
    /// Why nothing was started, if nothing was.
    pub reason: Option<String>,
    /// Its run.
    pub run: Option<RunId>,
    /// How it ended: the status of its run, or its own state if it has none. None while it is open.
    pub ended: Option<String>,
}

/// A run of a firing, and the conversation that it is in.
#[derive(Debug, Clone)]
pub struct ScheduledStart {
    /// The run.
    pub run: NewRun,
    /// Its conversation.
    pub conversation: NewConversation,
}

/// One step of an entry that starts runs: all of it becomes durable, or nothing.
#[derive(Debug, Clone)]
pub struct ScheduleStep {
    /// The entry.
    pub schedule: i64,
    /// Its version when the step was computed.
    pub version: i64,
    /// When it is due next.
    pub next: Option<UtcMs>,
    /// How many of its runs in a row have failed.
    pub failures: i64,
    /// What it starts, if that changes.
    pub plan: Option<ScheduledRun>,
    /// Firings that are new or that changed.
    pub firings: Vec<ScheduledFiring>,
    /// Their runs.
    pub starts: Vec<ScheduledStart>,
    /// Notes for the inbox.
    pub notes: Vec<Firing>,
}

const DUE: &str = "
    SELECT schedule_id, run_next FROM schedules WHERE run_next <= $1
     ORDER BY run_next, schedule_id LIMIT $2
";

const NEXT_DUE: &str = "SELECT MIN(run_next) FROM schedules WHERE run_next IS NOT NULL";

const FAILURES: &str = "SELECT run_failures FROM schedules WHERE schedule_id = $1";

const STEP: Statement = Statement::screened(
    "
    UPDATE schedules SET run_next = $3, run_failures = $4,
           run_plan = COALESCE(CAST($5 AS TEXT), run_plan), version = version + 1
     WHERE schedule_id = $1 AND version = $2 AND run_plan IS NOT NULL
",
);

/// A firing that has ended stays as it is, except one that counted as missed while a clock was
/// ahead.
const PUT: Statement = Statement::screened(
    "
    INSERT INTO schedule_runs (schedule_id, due_at, fired_at, state, reason, run_id, ended)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (schedule_id, due_at) DO UPDATE
       SET fired_at = excluded.fired_at, state = excluded.state, reason = excluded.reason,
           run_id = excluded.run_id, ended = excluded.ended
     WHERE schedule_runs.ended IS NULL OR schedule_runs.state = 'missed'
",
);

const CLOSE: Statement = Statement::screened(
    "
    UPDATE schedule_runs SET ended = $3
     WHERE schedule_id = $1 AND due_at = $2 AND ended IS NULL
",
);

macro_rules! select_firings {
    ($rest:literal) => {
        concat!(
            "
    SELECT f.schedule_id, f.due_at, f.fired_at, f.state, f.reason, f.run_id,
           COALESCE(f.ended, CASE WHEN r.status IN ('succeeded','unsettled','failed','canceled',
                                                    'quarantined') THEN r.status END)
      FROM schedule_runs f LEFT JOIN runs r ON r.run_id = f.run_id ",
            $rest
        )
    };
}

const OF_ONE: &str =
    select_firings!("WHERE f.schedule_id = $1 ORDER BY f.due_at DESC, f.fired_at DESC LIMIT $2");

const AT: &str = select_firings!("WHERE f.schedule_id = $1 AND f.due_at = $2");

/// Those that nobody has dealt with since their run ended count as open.
const OPEN: &str = "
    SELECT schedule_id, due_at, fired_at, state, reason, run_id, ended FROM schedule_runs
     WHERE schedule_id = $1 AND ended IS NULL ORDER BY due_at
";

/// A run that was deleted has ended too.
const ENDED: &str = "
    SELECT f.schedule_id, f.due_at, f.fired_at, f.state, f.reason, f.run_id,
           COALESCE(r.status, 'canceled')
      FROM schedule_runs f LEFT JOIN runs r ON r.run_id = f.run_id
     WHERE f.ended IS NULL AND f.run_id IS NOT NULL
       AND (r.status IS NULL
            OR r.status IN ('succeeded','unsettled','failed','canceled','quarantined'))
     ORDER BY f.schedule_id, f.due_at LIMIT $1
";

const OF_RUN: &str = "
    SELECT schedule_id, due_at, fired_at, state, reason, run_id, ended FROM schedule_runs
     WHERE run_id = $1
";

const FORGET: Statement = Statement::screened(
    "
    DELETE FROM schedule_runs WHERE ended IS NOT NULL AND fired_at < $1
",
);

impl RunSchedules<'_> {
    /// Up to `most` entries whose runs are due, each with the time, the longest due first.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn due_runs(self, now: UtcMs, most: usize) -> Result<Vec<(i64, UtcMs)>, StoreError> {
        let rows = self.store.rows(DUE, params![now, int(most)]).await?;
        let read = |row: SqlRow| {
            let mut cells = row.cells();
            Ok((cells.int()?, cells.int()?))
        };
        rows.into_iter().map(read).collect()
    }

    /// When the next run of an entry is due.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn next_scheduled_run(self) -> Result<Option<UtcMs>, StoreError> {
        match self.store.first(NEXT_DUE, params![]).await? {
            Some(row) => Ok(row.cells().opt_int()?),
            None => Ok(None),
        }
    }

    /// How many runs of an entry have failed in a row.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn run_failures(self, schedule: i64) -> Result<i64, StoreError> {
        match self.store.first(FAILURES, params![schedule]).await? {
            Some(row) => Ok(row.cells().int()?),
            None => Ok(0),
        }
    }

    /// The firings of an entry, the newest first.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn scheduled_firings(
        self,
        schedule: i64,
        most: usize,
    ) -> Result<Vec<ScheduledFiring>, StoreError> {
        self.scheduled(OF_ONE, params![schedule, int(most)]).await
    }

    /// The firing of an entry for one moment.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn scheduled_firing(
        self,
        schedule: i64,
        due_at: UtcMs,
    ) -> Result<Option<ScheduledFiring>, StoreError> {
        Ok(self.scheduled(AT, params![schedule, due_at]).await?.into_iter().next())
    }

    /// The firing that started a run.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn firing_of_run(self, run: &RunId) -> Result<Option<ScheduledFiring>, StoreError> {
        Ok(self.scheduled(OF_RUN, params![run.as_str()]).await?.into_iter().next())
    }

    /// The firings of an entry that are queued or whose run nobody has settled yet, the oldest
    /// first.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn open_firings(self, schedule: i64) -> Result<Vec<ScheduledFiring>, StoreError> {
        self.scheduled(OPEN, params![schedule]).await
    }

    /// Firings whose run has ended and that nobody has settled yet; `ended` is the run's status.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn ended_firings(self, most: usize) -> Result<Vec<ScheduledFiring>, StoreError> {
        self.scheduled(ENDED, params![int(most)]).await
    }

    /// Writes a step, all or nothing. Returns false if the entry was changed since it was read.
    ///
    /// # Errors
    /// See [`StoreError`]. It may be tried again: a step is never made twice.
    pub async fn step_schedule(self, step: &ScheduleStep) -> Result<bool, StoreError> {
        let plan = step.plan.as_ref().map(plan_text);
        let row = params![step.schedule, step.version, step.next, step.failures, plan];
        let mut writes = vec![one(STEP, row)];
        writes.extend(step.firings.iter().map(put));
        for start in &step.starts {
            writes.push(conversation_rows::insert(&start.conversation));
            writes.extend(create::writes(&start.run)?);
        }
        writes.extend(step.notes.iter().map(firings::insert));
        match self.store.db.commit(writes, Urgency::Critical).await {
            Ok(_) => Ok(true),
            Err(DbError::Expectation { index: 0, .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Notes how the run of a firing ended, for an entry that was deleted meanwhile.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn close_firing(self, firing: &ScheduledFiring) -> Result<(), StoreError> {
        let row = params![firing.schedule, firing.due_at, firing.ended.as_deref()];
        self.store.db.commit(vec![any(CLOSE, row)], Urgency::Critical).await?;
        Ok(())
    }

    /// Deletes firings that ended before a moment.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn forget_scheduled(self, before: UtcMs) -> Result<(), StoreError> {
        self.store.db.commit(vec![any(FORGET, params![before])], Urgency::Critical).await?;
        Ok(())
    }

    async fn scheduled(
        self,
        sql: &'static str,
        params: Vec<SqlValue>,
    ) -> Result<Vec<ScheduledFiring>, StoreError> {
        let rows = self.store.rows(sql, params).await?;
        Ok(rows.into_iter().map(read).collect::<Result<_, _>>()?)
    }
}

/// The plan as its column holds it.
pub(crate) fn plan_text(plan: &ScheduledRun) -> String {
    serde_json::to_string(plan).expect("our own types always have a JSON form")
}

/// The plan of a column. One of a newer program that cannot be read is refused.
pub(crate) fn read_plan(text: &str) -> Result<ScheduledRun, DbError> {
    serde_json::from_str(text).map_err(|_| DbError::Shape { column: 18, wanted: "a run to start" })
}

fn put(firing: &ScheduledFiring) -> Write {
    let row = params![
        firing.schedule,
        firing.due_at,
        firing.fired_at,
        firing.state.as_str(),
        firing.reason.as_deref(),
        firing.run.as_ref().map(RunId::as_str),
        firing.ended.as_deref(),
    ];
    any(PUT, row)
}

fn read(row: SqlRow) -> Result<ScheduledFiring, DbError> {
    let mut cells = row.cells();
    let (schedule, due_at, fired_at) = (cells.int()?, cells.int()?, cells.int()?);
    let name = cells.text()?;
    let state = ScheduledState::ALL.into_iter().find(|state| state.as_str() == name);
    let state = state.ok_or(DbError::Shape { column: 4, wanted: "what became of a firing" })?;
    Ok(ScheduledFiring {
        schedule,
        due_at,
        fired_at,
        state,
        reason: cells.opt_text()?,
        run: cells.opt_text()?.map(RunId::new),
        ended: cells.opt_text()?,
    })
}
