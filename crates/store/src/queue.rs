//! Which worker drives which run: claims, and what happens to runs whose worker is gone.

use crate::{
    db::{SqlRow, Urgency},
    dialect::skip_locked,
    error::StoreError,
    facets::RunQueue,
    family::{self, ChildReport},
    outbox,
    runs::status,
    statement::{CLOSE_INBOX, NEVER, any, int, one, params},
};
use everloop_types::{ConversationId, RunId, SqlValue, Statement, Status, UtcMs, WorkerId, Write};

/// The right of a worker to a run. Only the claim with the newest epoch may write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The run.
    pub run: RunId,
    /// Its conversation.
    pub conversation: ConversationId,
    /// How often the run has been claimed. Writes of an older epoch are refused.
    pub epoch: i64,
    /// The place of the next entry.
    pub next_seq: i64,
    /// The place of the newest snapshot, 0 for none.
    pub snap_seq: i64,
    /// The inbox counter as last seen. Set it from [`crate::RunInbox::unread`] before parking: a
    /// message that arrives later then keeps the run awake.
    pub inbox_ctr: i64,
    /// The loop that decides.
    pub loop_name: String,
    /// The version of the loop.
    pub loop_ver: u32,
    /// When the run was created.
    pub created_at: UtcMs,
    /// What people call it: its title, or else its goal.
    pub title: String,
    /// The run that began its turn; itself if none did.
    pub turn: RunId,
}

impl Claim {
    fn read(row: SqlRow) -> Result<Self, StoreError> {
        let mut cells = row.cells();
        Ok(Self {
            run: RunId::new(cells.text()?),
            conversation: ConversationId::new(cells.text()?),
            epoch: cells.int()?,
            next_seq: cells.int()?,
            snap_seq: cells.int()?,
            inbox_ctr: cells.int()?,
            loop_name: cells.text()?,
            loop_ver: u32::try_from(cells.int()?).unwrap_or(u32::MAX),
            created_at: cells.int()?,
            title: cells.text()?,
            turn: RunId::new(cells.text()?),
        })
    }
}

/// A run whose worker is gone, or that is quarantined and has no last message yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Orphan {
    /// The run.
    pub run: RunId,
    /// Its goal.
    pub goal: String,
    /// Queued, or quarantined if it was claimed too often without progress.
    pub status_now: Status,
}

/// The last message of a run that no driver can end.
#[derive(Debug, Clone)]
pub struct FinalMessage {
    /// To the user.
    pub message: String,
    /// To its parent, if it is a child.
    pub report: Option<ChildReport>,
    /// How its conversation is called, as in [`crate::Commit::title`].
    pub title: Option<String>,
}

impl From<String> for FinalMessage {
    fn from(message: String) -> Self {
        Self { message, report: None, title: None }
    }
}

/// After this many claims in a row without progress a run is quarantined.
const STALLS_MAX: i64 = 5;

/// Rows that another transaction has locked are skipped: it wakes or claims them.
const WAKE_DUE: Statement = Statement::screened(concat!(
    "
      WITH due AS MATERIALIZED (
           SELECT run_id FROM runs WHERE status = 'waiting' AND wake_at <= $1 ",
    skip_locked!(),
    ")
    UPDATE runs SET status = 'queued' WHERE run_id IN (SELECT run_id FROM due)
"
));

/// Materialized, so that the limit is counted once, whatever the plan. `priority` is 0 in every
/// row; it is named because the index `runs_ready` begins with it.
const CLAIM: Statement = Statement::screened(concat!(
    "
      WITH ready AS MATERIALIZED (
           SELECT run_id FROM runs WHERE status = 'queued' AND wake_at <= $2
            ORDER BY priority, wake_at, run_id LIMIT $3 ",
    skip_locked!(),
    ")
    UPDATE runs SET status = 'running', epoch = epoch + 1, lease_owner = $1, updated_at = $2,
                    note = NULL
     WHERE run_id IN (SELECT run_id FROM ready)
    RETURNING run_id, conversation_id, epoch, next_seq, snap_seq, inbox_ctr, loop_name, loop_ver,
              created_at, COALESCE(title, goal), COALESCE(turn_id, run_id)
"
));

const CLAIM_ONE: Statement = Statement::screened(
    "
    UPDATE runs SET status = 'running', epoch = epoch + 1, lease_owner = $1, updated_at = $2,
                    note = NULL
     WHERE run_id = $3 AND status IN ('queued', 'waiting')
    RETURNING run_id, conversation_id, epoch, next_seq, snap_seq, inbox_ctr, loop_name, loop_ver,
              created_at, COALESCE(title, goal), COALESCE(turn_id, run_id)
",
);

const HELD: &str = "
    SELECT run_id, conversation_id, epoch, next_seq, snap_seq, inbox_ctr, loop_name, loop_ver,
           created_at, COALESCE(title, goal), COALESCE(turn_id, run_id)
      FROM runs WHERE status = 'running' AND lease_owner = $1 ORDER BY run_id
";

/// Requeues running runs, or quarantines them. The right-hand sides see the row as it was; `$1` to
/// `$4` are taken by [`requeue`].
macro_rules! requeue_where {
    ($condition:literal) => {
        concat!(
            "
    UPDATE runs SET
           status = CASE WHEN stalls + 1 >= $2 THEN 'quarantined' ELSE 'queued' END,
           wake_at = CASE WHEN stalls + 1 >= $2 THEN CAST($3 AS BIGINT) ELSE $1 END,
           note = CASE WHEN stalls + 1 >= $2 THEN $4 ELSE note END,
           stalls = stalls + 1, lease_owner = NULL, updated_at = $1
     WHERE status = 'running' AND ",
            $condition,
            "
    RETURNING run_id, goal, status
"
        )
    };
}
pub(crate) use requeue_where;

const REQUEUE_ALL: Statement = Statement::screened(requeue_where!("1 = 1"));

const REQUEUE_ONE: Statement = Statement::screened(requeue_where!("run_id = $5 AND epoch = $6"));

const GIVE_BACK: Statement = Statement::screened(
    "
    UPDATE runs SET status = 'queued', wake_at = $3, lease_owner = NULL
     WHERE run_id = $1 AND epoch = $2 AND status = 'running'
",
);

const RESET_STALLS: Statement = Statement::screened(
    "
    UPDATE runs SET stalls = 0 WHERE run_id = $1 AND status IN ('queued', 'running', 'waiting')
",
);

const CLOSE_QUARANTINED: Statement = Statement::screened(
    "
    UPDATE inbox SET taken_seq = 0
     WHERE taken_seq IS NULL
       AND run_id IN (SELECT run_id FROM runs WHERE status = 'quarantined')
",
);

/// Read in the same transaction, so that a crash before the message is written loses nothing.
const QUARANTINED_WITHOUT_MESSAGE: Statement = Statement::screened(
    "
    SELECT run_id, goal, status FROM runs
     WHERE status = 'quarantined' AND NOT EXISTS (
           SELECT 1 FROM messages m WHERE m.run_id = runs.run_id AND m.slot = 'final')
     ORDER BY run_id
",
);

const QUARANTINE: Statement = Statement::screened(
    "
    UPDATE runs SET status = 'quarantined', note = $2, lease_owner = NULL, wake_at = $3,
                    updated_at = $4
     WHERE run_id = $1 AND epoch = COALESCE($5, epoch)
       AND status IN ('queued', 'running', 'waiting', 'quarantined')
",
);

const HOLD_CONVERSATION_OF: Statement =
    Statement::screened("SELECT {hold conversation_id} FROM runs WHERE run_id = $1");

/// The position in the conversation is computed as in `INSERT_MESSAGE`; an existing message
/// stays.
pub(crate) const INSERT_LAST_MESSAGE: Statement = Statement::screened(
    "
    INSERT INTO messages
           (conversation_id, pos, message_id, run_id, slot, role, body, created_at)
    SELECT r.conversation_id,
           (SELECT COALESCE(MAX(pos), 0) + 1 FROM messages m
             WHERE m.conversation_id = r.conversation_id),
           $2, r.run_id, 'final', 'assistant', $3, $4
      FROM runs r WHERE r.run_id = $1
    ON CONFLICT DO NOTHING
",
);

/// As [`crate::Commit::title`], where only the run is known.
const ENTITLE_OF: Statement = Statement::screened(
    "
    UPDATE conversations SET title = $2, updated_at = $3
     WHERE channel_type = 'task' AND title IS NULL
       AND conversation_id = (SELECT conversation_id FROM runs WHERE run_id = $1)
",
);

/// A run that waits for an answer is left alone: only the answer wakes it.
const WAKE_NOW: Statement = Statement::screened(
    "
    UPDATE runs SET wake_at = $2 WHERE run_id = $1 AND status = 'waiting' AND wake_at > $2
       AND wake_at < $3
",
);

impl RunQueue<'_> {
    /// Makes a run that waits for a time ready now.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn wake_now(self, run: &RunId, now: UtcMs) -> Result<(), StoreError> {
        let wake_now = crate::statement::any(WAKE_NOW, params![run.as_str(), now, NEVER]);
        self.store.db.commit(vec![wake_now], Urgency::Critical).await?;
        Ok(())
    }

    /// Takes over up to `most` runs that are ready, the longest waiting first.
    ///
    /// Claiming raises the epoch, so the previous owner of a run can no longer write to it.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn claim(
        self,
        worker: &WorkerId,
        now: UtcMs,
        most: usize,
    ) -> Result<Vec<Claim>, StoreError> {
        let wake = any(WAKE_DUE, params![now]);
        let claim = any(CLAIM, params![worker.as_str(), now, int(most)]);
        let done = self.store.db.commit(vec![wake, claim], Urgency::Critical).await?;
        let rows = done.into_iter().flat_map(|done| done.rows);
        let mut claims = rows.map(Claim::read).collect::<Result<Vec<_>, _>>()?;
        // The database returns them in no order; tests want the same one every time.
        claims.sort_by(|a, b| a.run.cmp(&b.run));
        Ok(claims)
    }

    /// Takes over this run even if it still waits. `None` if it is claimed, has ended, or does
    /// not exist.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn claim_run(
        self,
        worker: &WorkerId,
        run: &RunId,
        now: UtcMs,
    ) -> Result<Option<Claim>, StoreError> {
        let claim = any(CLAIM_ONE, params![worker.as_str(), now, run.as_str()]);
        let done = self.store.db.commit(vec![claim], Urgency::Critical).await?;
        done.into_iter().flat_map(|done| done.rows).next().map(Claim::read).transpose()
    }

    /// The present claims of a worker.
    ///
    /// For a worker whose own claim ended in [`StoreError::Unknown`], or was dropped half-way: it
    /// may hold runs without knowing.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn held_by(self, worker: &WorkerId) -> Result<Vec<Claim>, StoreError> {
        self.store
            .rows(HELD, params![worker.as_str()])
            .await?
            .into_iter()
            .map(Claim::read)
            .collect()
    }

    /// Requeues every running run, or quarantines it if it has been claimed too often without
    /// progress.
    ///
    /// Call it only while the [`crate::ClaimLock`] is held and before anything is claimed: then all
    /// owners are dead. Also returns quarantined runs that have no last message yet; give them
    /// one with [`crate::RunQueue::quarantine`].
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn requeue_orphans(self, now: UtcMs) -> Result<Vec<Orphan>, StoreError> {
        self.put_back(vec![any(REQUEUE_ALL, requeue(now))]).await
    }

    /// Performs a `requeue_where!` and closes the inboxes of quarantined runs. Also returns
    /// quarantined runs that have no last message yet.
    pub(crate) async fn put_back(self, mut writes: Vec<Write>) -> Result<Vec<Orphan>, StoreError> {
        writes.push(any(CLOSE_QUARANTINED, params![]));
        writes.push(any(QUARANTINED_WITHOUT_MESSAGE, params![]));
        let done = self.store.db.commit(writes, Urgency::Critical).await?;
        let mut orphans = Vec::new();
        for row in done.into_iter().flat_map(|done| done.rows) {
            let mut cells = row.cells();
            let run = RunId::new(cells.text()?);
            let goal = cells.text()?;
            let status_now = status(&mut cells)?;
            orphans.push(Orphan { run, goal, status_now });
        }
        orphans.sort_by(|a, b| a.run.cmp(&b.run));
        orphans.dedup();
        Ok(orphans)
    }

    /// Gives a claim back: the run is ready again at `wake_at`. Does nothing if the claim was lost.
    ///
    /// # Errors
    /// If it could not be written.
    pub async fn release(self, claim: &Claim, wake_at: UtcMs) -> Result<(), StoreError> {
        let params = params![claim.run.as_str(), claim.epoch, wake_at];
        self.store.db.commit(vec![any(GIVE_BACK, params)], Urgency::Critical).await?;
        Ok(())
    }

    /// Requeues a run whose driver failed while the process lives on; quarantines it after 5 such
    /// claims.
    ///
    /// # Errors
    /// If it could not be written.
    pub async fn stalled(self, claim: &Claim, now: UtcMs) -> Result<(), StoreError> {
        let mut of_claim = requeue(now);
        of_claim.extend(params![claim.run.as_str(), claim.epoch]);
        let writes = vec![any(REQUEUE_ONE, of_claim), any(CLOSE_QUARANTINED, params![])];
        self.store.db.commit(writes, Urgency::Critical).await?;
        Ok(())
    }

    /// Forgets that a run was claimed without progress: a person wants it to continue, or the
    /// claim failed for a reason outside the run.
    ///
    /// # Errors
    /// If it could not be written.
    pub async fn reset_stall_count(self, run: &RunId) -> Result<(), StoreError> {
        self.store
            .db
            .commit(vec![any(RESET_STALLS, params![run.as_str()])], Urgency::Critical)
            .await?;
        Ok(())
    }

    /// Quarantines a run: `note` says why. Its children are canceled.
    ///
    /// With an epoch, only if that claim still holds. May be repeated, to add the last message.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] if the claim no longer holds or the run has ended.
    pub async fn quarantine(
        self,
        run: &RunId,
        epoch: Option<i64>,
        note: &str,
        now: UtcMs,
        word: Option<FinalMessage>,
    ) -> Result<(), StoreError> {
        let word = word.map(|it| (it.message, it.report, it.title));
        let (message, report, title) = word
            .map_or((None, None, None), |(message, report, title)| (Some(message), report, title));
        let report = report.map(|report| family::report(&report, now));
        let mut writes: Vec<Write> = report.into_iter().flatten().collect();
        let taking_out = writes.len();
        writes.push(one(QUARANTINE, params![run.as_str(), note, NEVER, now, epoch]));
        writes.push(any(CLOSE_INBOX, params![run.as_str()]));
        writes.extend(family::stop_children(run, now));
        if let Some(message) = message {
            let id = format!("{run}:final");
            writes.push(any(HOLD_CONVERSATION_OF, params![run.as_str()]));
            writes.push(any(INSERT_LAST_MESSAGE, params![run.as_str(), id, message, now]));
            writes.push(outbox::reply(run, now));
        }
        if let Some(title) = title {
            writes.push(any(ENTITLE_OF, params![run.as_str(), title, now]));
        }
        match self.store.db.commit(writes, Urgency::Critical).await {
            Ok(_) => Ok(()),
            Err(crate::DbError::Expectation { index, .. }) if index == taking_out => {
                Err(StoreError::LeaseLost { run: run.clone() })
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// The parameters that every `requeue_where!` begins with.
pub(crate) fn requeue(now: UtcMs) -> Vec<SqlValue> {
    let note = format!("claimed {STALLS_MAX} times without progress");
    params![now, STALLS_MAX, NEVER, note]
}
