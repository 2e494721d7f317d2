//! Reminders that fired, were late, or were missed. Each is one row, written in the same
//! transaction that advances its todo or schedule, so that a restart neither repeats nor loses one.

use crate::{
    db::{DbError, SqlRow, Urgency},
    error::StoreError,
    facets::AgendaStore,
    statement::{any, int, one, params},
};
use everloop_types::{Statement, UtcMs, Write};

/// What reminds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FiringKind {
    /// A todo.
    Todo,
    /// An entry of the schedule.
    Schedule,
}

impl FiringKind {
    /// The name in the database and in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Todo => "todo",
            Self::Schedule => "schedule",
        }
    }
}

/// How a reminder fired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FiringOutcome {
    /// In time.
    Fired,
    /// After its time.
    Late,
    /// Not at all: no process ran, and the catch-up rule skips it.
    Missed,
}

impl FiringOutcome {
    /// The name in the database and in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fired => "fired",
            Self::Late => "late",
            Self::Missed => "missed",
        }
    }
}

/// Something whose reminder is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueReminder {
    /// What reminds.
    pub kind: FiringKind,
    /// Its number.
    pub subject: i64,
    /// When it was due.
    pub due_at: UtcMs,
}

/// One reminder that was handled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Firing {
    /// What was due.
    pub due: DueReminder,
    /// When the todo or entry takes place.
    pub occurs_at: UtcMs,
    /// When it fired.
    pub fired_at: UtcMs,
    /// How it fired.
    pub state: FiringOutcome,
    /// The title of the todo or entry.
    pub title: String,
}

/// One step of a reminder: its firings, and when it is due next.
#[derive(Debug, Clone)]
pub struct FiringBatch {
    /// What was due.
    pub due: DueReminder,
    /// One firing for each time that was due.
    pub firings: Vec<Firing>,
    /// When it is due again.
    pub next: Option<UtcMs>,
}

const DUE: &str = "
    SELECT 'todo', todo_id, remind_next FROM todos WHERE remind_next <= $1
     UNION ALL
    SELECT 'schedule', schedule_id, remind_next FROM schedules WHERE remind_next <= $1
     ORDER BY 3, 1, 2 LIMIT $2
";

const NEXT_DUE: &str = "
    SELECT MIN(at) FROM (SELECT MIN(remind_next) AS at FROM todos WHERE remind_next IS NOT NULL
                          UNION ALL
                         SELECT MIN(remind_next) FROM schedules WHERE remind_next IS NOT NULL) AS d
";

/// Only one process advances the step and fires; any other finds it advanced.
const STEP_TODO: Statement = Statement::screened(
    "
    UPDATE todos SET remind_next = $3, version = version + 1
     WHERE todo_id = $1 AND remind_next = $2
",
);

const STEP_SCHEDULE: Statement = Statement::screened(
    "
    UPDATE schedules SET remind_next = $3, version = version + 1
     WHERE schedule_id = $1 AND remind_next = $2
",
);

/// A reminder that counted as missed while a clock was ahead still fires when its time comes.
const INSERT: Statement = Statement::screened(
    "
    INSERT INTO firings (kind, subject, due_at, occurs_at, fired_at, state, title)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (kind, subject, due_at) DO UPDATE
       SET fired_at = excluded.fired_at, state = excluded.state, announced_at = NULL,
           read_at = NULL
     WHERE firings.state = 'missed' AND excluded.state <> 'missed'
",
);

/// Entries with a firing later than now.
const FIRED_AHEAD: &str = "
    SELECT DISTINCT subject FROM firings WHERE kind = 'schedule' AND fired_at > $1
     ORDER BY subject
";

const DONE_AHEAD: &str = "
    SELECT due_at FROM firings
     WHERE kind = 'schedule' AND subject = $1 AND due_at > $2 AND state <> 'missed'
     ORDER BY due_at
";

const UNREAD: &str = "
    SELECT kind, subject, due_at, occurs_at, fired_at, state, title FROM firings
     WHERE read_at IS NULL ORDER BY due_at, kind, subject LIMIT $1
";

const OF_ONE: &str = "
    SELECT kind, subject, due_at, occurs_at, fired_at, state, title FROM firings
     WHERE kind = $1 AND subject = $2 ORDER BY due_at DESC LIMIT $3
";

const NEW: &str = "
    SELECT kind, subject, due_at, occurs_at, fired_at, state, title FROM firings
     WHERE announced_at IS NULL ORDER BY due_at, kind, subject LIMIT $1
";

const TOLD_ELSEWHERE: &str = "
    SELECT kind, subject, due_at, occurs_at, fired_at, state, title FROM firings
     WHERE announced_at > $1 AND read_at IS NULL ORDER BY due_at, kind, subject LIMIT $2
";

const NEWEST: &str = "
    SELECT kind, subject, due_at, occurs_at, fired_at, state, title FROM firings
     ORDER BY fired_at DESC, due_at DESC, kind DESC, subject DESC LIMIT 1
";

const NEWEST_OF: &str = "
    SELECT kind, subject, due_at, occurs_at, fired_at, state, title FROM firings
     WHERE subject = $1 ORDER BY fired_at DESC, due_at DESC, kind DESC LIMIT 1
";

const ANNOUNCE: Statement = Statement::screened(
    "
    UPDATE firings SET announced_at = $4
     WHERE kind = $1 AND subject = $2 AND due_at = $3 AND announced_at IS NULL
",
);

const READ: Statement = Statement::screened(
    "
    UPDATE firings SET read_at = $1, announced_at = COALESCE(announced_at, $1)
     WHERE kind = $2 AND subject = $3 AND due_at = $4 AND read_at IS NULL
",
);

const COUNT_UNREAD: &str = "SELECT COUNT(*) FROM firings WHERE read_at IS NULL";

impl AgendaStore<'_> {
    /// Up to `most` reminders that are due, the longest due first.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn due_reminders(
        self,
        now: UtcMs,
        most: usize,
    ) -> Result<Vec<DueReminder>, StoreError> {
        let rows = self.store.rows(DUE, params![now, int(most)]).await?;
        let read = |row: SqlRow| {
            let mut cells = row.cells();
            let kind = kind(&cells.text()?)?;
            Ok(DueReminder { kind, subject: cells.int()?, due_at: cells.int()? })
        };
        rows.into_iter().map(read).collect()
    }

    /// When the next reminder is due.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn next_reminder(self) -> Result<Option<UtcMs>, StoreError> {
        match self.store.first(NEXT_DUE, params![]).await? {
            Some(row) => Ok(row.cells().opt_int()?),
            None => Ok(None),
        }
    }

    /// Writes the step and its firings, all or nothing. Returns false if the step was made already.
    ///
    /// # Errors
    /// See [`StoreError`]. It may be tried again: a step is never made twice.
    pub async fn fire(self, batch: &FiringBatch) -> Result<bool, StoreError> {
        let DueReminder { kind, subject, due_at } = batch.due;
        let step = match kind {
            FiringKind::Todo => STEP_TODO,
            FiringKind::Schedule => STEP_SCHEDULE,
        };
        let mut writes = vec![one(step, params![subject, due_at, batch.next])];
        writes.extend(batch.firings.iter().map(insert));
        match self.store.db.commit(writes, Urgency::Critical).await {
            Ok(_) => Ok(true),
            Err(DbError::Expectation { index: 0, .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Entries of the schedule with a firing after `now`: a clock was ahead then, or is behind
    /// now.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn fired_ahead(self, now: UtcMs) -> Result<Vec<i64>, StoreError> {
        let rows = self.store.rows(FIRED_AHEAD, params![now]).await?;
        rows.into_iter().map(|row| Ok(row.cells().int()?)).collect()
    }

    /// The times after `now` for which an entry has fired already.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn done_ahead(self, entry: i64, now: UtcMs) -> Result<Vec<UtcMs>, StoreError> {
        let rows = self.store.rows(DONE_AHEAD, params![entry, now]).await?;
        rows.into_iter().map(|row| Ok(row.cells().int()?)).collect()
    }

    /// Unread firings, the oldest first.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn unread_firings(self, most: usize) -> Result<Vec<Firing>, StoreError> {
        self.firings(UNREAD, params![int(most)]).await
    }

    /// The number of unread firings.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn count_unread_firings(self) -> Result<i64, StoreError> {
        match self.store.first(COUNT_UNREAD, params![]).await? {
            Some(row) => Ok(row.cells().int()?),
            None => Ok(0),
        }
    }

    /// Firings that no surface has shown yet, the oldest first.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn new_firings(self, most: usize) -> Result<Vec<Firing>, StoreError> {
        self.firings(NEW, params![int(most)]).await
    }

    /// Unread firings that some surface has shown after a moment, the oldest first.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn firings_announced_after(
        self,
        moment: UtcMs,
        most: usize,
    ) -> Result<Vec<Firing>, StoreError> {
        self.firings(TOLD_ELSEWHERE, params![moment, int(most)]).await
    }

    /// The firings of one todo or entry, the newest first.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn firings_of(
        self,
        kind: FiringKind,
        subject: i64,
        most: usize,
    ) -> Result<Vec<Firing>, StoreError> {
        self.firings(OF_ONE, params![kind.as_str(), subject, int(most)]).await
    }

    /// The firing that came last, of anything or of what has this number.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn newest_firing(self, subject: Option<i64>) -> Result<Option<Firing>, StoreError> {
        let found = match subject {
            Some(subject) => self.firings(NEWEST_OF, params![subject]).await?,
            None => self.firings(NEWEST, params![]).await?,
        };
        Ok(found.into_iter().next())
    }

    /// Takes the right to show a firing; false if another surface took it.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn announce(self, due: DueReminder, now: UtcMs) -> Result<bool, StoreError> {
        let announce = params![due.kind.as_str(), due.subject, due.due_at, now];
        let done = self.store.db.commit(vec![any(ANNOUNCE, announce)], Urgency::Critical).await?;
        Ok(done.first().is_some_and(|done| done.touched > 0))
    }

    /// Marks exactly these as read; returns how many were unread.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn read_firings(self, firings: &[Firing], now: UtcMs) -> Result<u64, StoreError> {
        let read = |Firing { due, .. }: &Firing| {
            any(READ, params![now, due.kind.as_str(), due.subject, due.due_at])
        };
        let reads = firings.iter().map(read).collect();
        let done = self.store.db.commit(reads, Urgency::Critical).await?;
        Ok(done.iter().map(|done| done.touched).sum())
    }

    async fn firings(
        self,
        sql: &'static str,
        params: Vec<everloop_types::SqlValue>,
    ) -> Result<Vec<Firing>, StoreError> {
        let rows = self.store.rows(sql, params).await?;
        Ok(rows.into_iter().map(read).collect::<Result<_, _>>()?)
    }
}

pub(crate) fn insert(firing: &Firing) -> Write {
    let DueReminder { kind, subject, due_at } = firing.due;
    let row = params![
        kind.as_str(),
        subject,
        due_at,
        firing.occurs_at,
        firing.fired_at,
        firing.state.as_str(),
        firing.title.as_str(),
    ];
    any(INSERT, row)
}

pub(crate) fn read(row: SqlRow) -> Result<Firing, DbError> {
    let mut cells = row.cells();
    let due =
        DueReminder { kind: kind(&cells.text()?)?, subject: cells.int()?, due_at: cells.int()? };
    let (occurs_at, fired_at) = (cells.int()?, cells.int()?);
    let state = match cells.text()?.as_str() {
        "fired" => FiringOutcome::Fired,
        "late" => FiringOutcome::Late,
        "missed" => FiringOutcome::Missed,
        _ => return Err(DbError::Shape { column: 6, wanted: "how it fired" }),
    };
    Ok(Firing { due, occurs_at, fired_at, state, title: cells.text()? })
}

fn kind(word: &str) -> Result<FiringKind, DbError> {
    match word {
        "todo" => Ok(FiringKind::Todo),
        "schedule" => Ok(FiringKind::Schedule),
        _ => Err(DbError::Shape { column: 1, wanted: "what reminds" }),
    }
}
