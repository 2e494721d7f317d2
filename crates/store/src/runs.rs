//! Runs as rows: their status, their position, and their messages.

use crate::{
    db::{DbError, SqlCells, SqlRow},
    error::StoreError,
    facets::RunCatalog,
    fork::ForkOrigin,
    queue::Claim,
    statement::{NEVER, int, params},
};
use everloop_types::{ConversationId, RunId, RunProfile, SqlValue, Status, UtcMs};

/// One run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRow {
    /// Its id.
    pub run: RunId,
    /// Its conversation.
    pub conversation: ConversationId,
    /// The loop that decides.
    pub loop_name: String,
    /// The version of the loop.
    pub loop_ver: u32,
    /// Its status.
    pub status: Status,
    /// What the user asked for.
    pub goal: String,
    /// What it waits for, or why it was quarantined.
    pub note: Option<String>,
    /// Its claims and its journal's length.
    pub lease: RunLease,
    /// Its times.
    pub times: RunTimes,
    /// Where it comes from, if no person submitted it.
    pub origin: RunOrigin,
    /// What kind of work it is.
    pub profile: RunProfile,
}

impl RunRow {
    /// Why it was quarantined. The note of a run that waits is the name of a kind of wait, and no
    /// text for people.
    #[must_use]
    pub fn quarantine_reason(&self) -> Option<&str> {
        self.note.as_deref().filter(|_| self.status == Status::Quarantined)
    }
}

/// The runs that a run comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunOrigin {
    /// The run that it was forked from.
    pub forked: Option<ForkOrigin>,
    /// The run that waits for it.
    pub parent: Option<RunId>,
    /// The run that began its turn; itself if none did.
    pub turn: RunId,
    /// Whether it came in a file.
    pub imported: bool,
}

/// How often a run was claimed, and the length of its journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunLease {
    /// The number of claims.
    pub epoch: i64,
    /// The place of the next entry.
    pub next_seq: i64,
    /// Claims in a row without progress.
    pub stalls: i64,
}

/// The times of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunTimes {
    /// When it was created.
    pub created_at: UtcMs,
    /// When it last changed; for a finished run, when it finished.
    pub updated_at: UtcMs,
    /// When it wakes by itself.
    pub wake_at: Option<UtcMs>,
    /// When its journal was trimmed; it cannot be folded any more.
    pub trimmed_at: Option<UtcMs>,
}

/// Which runs to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFilter {
    /// Only these; empty for all.
    pub statuses: Vec<Status>,
    /// Only older ones than this.
    pub before: Option<RunId>,
    /// At most this many.
    pub most: usize,
}

/// Whose runs to list; a default one takes all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunScope {
    /// Only those of this conversation.
    pub conversation: Option<ConversationId>,
    /// Only those that this entry of the schedule started.
    pub schedule: Option<i64>,
}

/// The position of a run: what to read after [`StoreError::Unknown`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The present epoch.
    pub epoch: i64,
    /// The place of the next entry.
    pub next_seq: i64,
    /// The status.
    pub status: Status,
}

impl Position {
    /// Whether a claim still holds and nothing was written since.
    #[must_use]
    pub fn is_held_by(&self, claim: &Claim) -> bool {
        self.status == Status::Running
            && self.epoch == claim.epoch
            && self.next_seq == claim.next_seq
    }
}

/// One message of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageRow {
    /// `goal`, `final`, or `ask:` and a question's id.
    pub slot: String,
    /// Who wrote it.
    pub role: String,
    /// The text.
    pub body: String,
    /// When.
    pub created_at: UtcMs,
    /// The place in the conversation.
    pub pos: i64,
}

/// The columns that [`read_run`] expects, and which runs are wanted.
macro_rules! select_runs {
    ($which:literal) => {
        concat!(
            "
    SELECT run_id, conversation_id, loop_name, loop_ver, status, goal, note,
           epoch, next_seq, stalls, created_at, updated_at, wake_at, trimmed_at,
           forked_from, forked_at_seq, parent_run_id, COALESCE(turn_id, run_id),
           (SELECT count(*) FROM imports i WHERE i.run_id = runs.run_id),
           run_type, title, retry_of
      FROM runs ",
            $which
        )
    };
}

const RUN: &str = select_runs!("WHERE run_id = $1");

/// Ids sort by creation, so the newest comes first.
const RUNS: &str = select_runs!(
    "WHERE run_id < COALESCE($1, '~') AND status IN ($3, $4, $5, $6, $7, $8, $9, $10)
       AND (CAST($11 AS TEXT) IS NULL OR conversation_id = CAST($11 AS TEXT))
       AND (CAST($12 AS BIGINT) IS NULL OR run_id IN (
             SELECT s.run_id FROM schedule_runs s WHERE s.schedule_id = CAST($12 AS BIGINT)))
     ORDER BY run_id DESC LIMIT $2"
);

/// Oldest first, for readers that page through all of them.
const RUNS_SINCE: &str = select_runs!(
    "WHERE run_id > $1 AND updated_at >= $2
     ORDER BY run_id LIMIT $3"
);

/// The newest first.
const RUNS_OF: &str = select_runs!(
    "WHERE conversation_id = $1
     ORDER BY created_at DESC, run_id DESC LIMIT $2"
);

const OF_TURN: &str = "
    SELECT run_id FROM runs WHERE run_id = $1 OR turn_id = $1 ORDER BY created_at, run_id
";

const BY_IDEM_KEY: &str = "SELECT run_id FROM runs WHERE idem_key = $1";

const WORKS_ON: &str = "
    SELECT run_id FROM runs
     WHERE conversation_id = $1 AND task_key = $2 AND status IN ('queued', 'running', 'waiting')
";

const POSITION: &str = "SELECT epoch, next_seq, status FROM runs WHERE run_id = $1";

const ENDING_WITH: &str = "
    SELECT run_id FROM runs WHERE run_id LIKE $1 ESCAPE '!' ORDER BY run_id DESC LIMIT 100
";

const MESSAGES: &str = "
    SELECT COALESCE(slot, ''), role, body, created_at, pos FROM messages
     WHERE run_id = $1 ORDER BY pos
";

const RETRIES: &str = "SELECT run_id FROM runs WHERE retry_of = $1 ORDER BY run_id";

impl RunCatalog<'_> {
    /// The runs that do this one again, the oldest first.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn retries(self, run: &RunId) -> Result<Vec<RunId>, StoreError> {
        let rows = self.store.rows(RETRIES, params![run.as_str()]).await?;
        rows.into_iter().map(|row| Ok(RunId::new(row.cells().text()?))).collect()
    }

    /// One run.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn get(self, run: &RunId) -> Result<Option<RunRow>, StoreError> {
        self.store.first(RUN, params![run.as_str()]).await?.map(read_run).transpose()
    }

    /// Runs, the newest first.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn list(self, filter: &RunFilter) -> Result<Vec<RunRow>, StoreError> {
        self.list_of(filter, &RunScope::default()).await
    }

    /// The same of some of them.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn list_of(
        self,
        filter: &RunFilter,
        scope: &RunScope,
    ) -> Result<Vec<RunRow>, StoreError> {
        let before = filter.before.as_ref().map(RunId::as_str);
        let mut params = params![before, int(filter.most)];
        let wanted =
            |status: &Status| filter.statuses.is_empty() || filter.statuses.contains(status);
        // Always as many places as there are statuses, so that it stays one statement.
        params.extend(Status::ALL.iter().map(|status| match wanted(status) {
            true => SqlValue::from(status.as_str()),
            false => SqlValue::Null,
        }));
        let conversation = scope.conversation.as_ref().map(ConversationId::as_str);
        params.extend(params![conversation, scope.schedule]);
        self.store.rows(RUNS, params).await?.into_iter().map(read_run).collect()
    }

    /// Up to `most` runs that changed at `since` or later, the oldest first, after `after`.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn runs_since(
        self,
        since: UtcMs,
        after: Option<&RunId>,
        most: usize,
    ) -> Result<Vec<RunRow>, StoreError> {
        let after = after.map_or("", RunId::as_str);
        let params = params![after, since, int(most)];
        self.store.rows(RUNS_SINCE, params).await?.into_iter().map(read_run).collect()
    }

    /// The runs of a conversation, the newest first.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn of_conversation(
        self,
        conversation: &ConversationId,
        most: usize,
    ) -> Result<Vec<RunRow>, StoreError> {
        let params = params![conversation.as_str(), int(most)];
        self.store.rows(RUNS_OF, params).await?.into_iter().map(read_run).collect()
    }

    /// The runs of a turn, the first one first. `turn` is the run that began it.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn of_turn(self, turn: &RunId) -> Result<Vec<RunId>, StoreError> {
        let rows = self.store.rows(OF_TURN, params![turn.as_str()]).await?;
        rows.into_iter().map(|row| Ok(RunId::new(row.cells().text()?))).collect()
    }

    /// The run that a request with this key created.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn by_idem_key(self, key: &str) -> Result<Option<RunId>, StoreError> {
        let row = self.store.first(BY_IDEM_KEY, params![key]).await?;
        row.map(|row| Ok(RunId::new(row.cells().text()?))).transpose()
    }

    /// The run of a conversation that works on what has this key, if one does.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn works_on(
        self,
        conversation: &ConversationId,
        task_key: &str,
    ) -> Result<Option<RunId>, StoreError> {
        let row = self.store.first(WORKS_ON, params![conversation.as_str(), task_key]).await?;
        row.map(|row| Ok(RunId::new(row.cells().text()?))).transpose()
    }

    /// The runs whose id is or ends with `fragment`, the newest first, at most 100.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn find(self, fragment: &str) -> Result<Vec<RunId>, StoreError> {
        if fragment.is_empty() {
            return Ok(Vec::new());
        }
        let mut pattern = String::from("%");
        for c in fragment.chars() {
            if matches!(c, '%' | '_' | '!') {
                pattern.push('!');
            }
            pattern.push(c);
        }
        let mut found = Vec::new();
        for row in self.store.rows(ENDING_WITH, params![pattern]).await? {
            let id = row.cells().text()?;
            // SQLite's `LIKE` ignores case, PostgreSQL's does not.
            if id.ends_with(fragment) {
                found.push(RunId::new(id));
            }
        }
        Ok(found)
    }

    /// The position of a run. What to read after [`StoreError::Unknown`].
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn position(self, run: &RunId) -> Result<Option<Position>, StoreError> {
        let Some(row) = self.store.first(POSITION, params![run.as_str()]).await? else {
            return Ok(None);
        };
        let mut cells = row.cells();
        let (epoch, next_seq) = (cells.int()?, cells.int()?);
        Ok(Some(Position { epoch, next_seq, status: status(&mut cells)? }))
    }

    /// The messages between the user and a run, in order.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn messages(self, run: &RunId) -> Result<Vec<MessageRow>, StoreError> {
        let rows = self.store.rows(MESSAGES, params![run.as_str()]).await?;
        let read = |row: SqlRow| {
            let mut cells = row.cells();
            Ok(MessageRow {
                slot: cells.text()?,
                role: cells.text()?,
                body: cells.text()?,
                created_at: cells.int()?,
                pos: cells.int()?,
            })
        };
        rows.into_iter().map(read).collect()
    }
}

/// The next cell as a status; the check of the table allows no other text.
pub(crate) fn status(cells: &mut SqlCells) -> Result<Status, DbError> {
    let word = cells.text()?;
    Status::parse(&word).ok_or(DbError::Shape { column: 0, wanted: "a status" })
}

fn read_run(row: SqlRow) -> Result<RunRow, StoreError> {
    let mut cells = row.cells();
    Ok(RunRow {
        run: RunId::new(cells.text()?),
        conversation: ConversationId::new(cells.text()?),
        loop_name: cells.text()?,
        loop_ver: u32::try_from(cells.int()?).unwrap_or(u32::MAX),
        status: status(&mut cells)?,
        goal: cells.text()?,
        note: cells.opt_text()?,
        lease: RunLease { epoch: cells.int()?, next_seq: cells.int()?, stalls: cells.int()? },
        times: RunTimes {
            created_at: cells.int()?,
            updated_at: cells.int()?,
            wake_at: Some(cells.int()?).filter(|at| *at != NEVER),
            trimmed_at: cells.opt_int()?,
        },
        origin: RunOrigin {
            forked: match (cells.opt_text()?, cells.opt_int()?) {
                (Some(run), at_seq) => {
                    Some(ForkOrigin { run: RunId::new(run), at_seq: at_seq.unwrap_or(0) })
                }
                (None, _) => None,
            },
            parent: cells.opt_text()?.map(RunId::new),
            turn: RunId::new(cells.text()?),
            imported: cells.int()? > 0,
        },
        profile: RunProfile {
            run_type: cells.text()?,
            title: cells.opt_text()?,
            retry_of: cells.opt_text()?.map(RunId::new),
        },
    })
}
