//! The workers of a shared database: one row per process, renewed on the database's clock.
//!
//! ```text
//!   register ──► heartbeat, heartbeat, … ──► leave
//!                    └─ silent for longer than the lease ──► reap: its runs go back
//! ```
//!
//! An expired lease only means that a worker is *presumed* dead. The epoch, which every claim
//! raises, keeps two workers apart. Deliberately absent: when to beat, and what to do when a beat
//! fails.

use crate::{
    db::Urgency,
    error::StoreError,
    facets::WorkerRegistry,
    queue::{Orphan, requeue, requeue_where},
    statement::{any, params},
};
use everloop_types::{Statement, UtcMs, WorkerId};

/// A worker as other workers see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerRow {
    /// Its name, new at every process start.
    pub worker: WorkerId,
    /// The build that it runs.
    pub build: String,
    /// Its machine and process, in a form that workers on the same machine can check.
    pub place: String,
    /// When it is presumed dead, on the database's clock.
    pub expires_at: UtcMs,
}

/// What a heartbeat found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heartbeat {
    /// The lease holds; the database's clock says this.
    Kept(UtcMs),
    /// The lease had expired: other workers may have claimed the runs.
    Lost,
}

const REGISTER: Statement = Statement::screened(
    "
    INSERT INTO workers (worker_id, build, place, expires_at) VALUES ($1, $2, $3, {now} + $4)
    ON CONFLICT (worker_id) DO UPDATE SET expires_at = {now} + $4
    RETURNING {now}
",
);

/// An expired lease is not renewed: another worker may have taken the runs already.
const BEAT: Statement = Statement::screened(
    "
    UPDATE workers SET expires_at = {now} + $2 WHERE worker_id = $1 AND expires_at > {now}
    RETURNING {now}
",
);

const LEAVE: Statement = Statement::screened("DELETE FROM workers WHERE worker_id = $1");

const ALL: &str = "SELECT worker_id, build, place, expires_at FROM workers ORDER BY worker_id";

const TIME: &str = "SELECT {now}";

/// Serializes reapers, so that each sees what the previous one did.
const REAP_IN_TURN: Statement = Statement::screened(
    "
    INSERT INTO schema_meta (k, v) VALUES ('reaped_at', '0')
    ON CONFLICT (k) DO UPDATE SET v = excluded.v
",
);

/// An owner without a row counts as dead, like one whose lease expired.
const REAP: Statement = Statement::screened(requeue_where!(
    "(lease_owner IS NULL OR NOT EXISTS (
              SELECT 1 FROM workers w WHERE w.worker_id = runs.lease_owner
                 AND w.expires_at > {now}))"
));

/// A dead worker stays listed for a day, so that its calls can be proved to be over.
const FORGET_EXPIRED: Statement =
    Statement::screened("DELETE FROM workers WHERE expires_at <= {now} - 86400000");

const EXPIRE: Statement =
    Statement::screened("UPDATE workers SET expires_at = {now} WHERE worker_id = $1");

const REQUEUE_OF: Statement = Statement::screened(requeue_where!("lease_owner = $5"));

impl WorkerRegistry<'_> {
    /// Registers a worker for `lease_ms`. Returns the time of the database.
    ///
    /// # Errors
    /// If it could not be written. The same holds for the others.
    pub async fn register(
        self,
        worker: &WorkerId,
        build: &str,
        place: &str,
        lease_ms: i64,
    ) -> Result<UtcMs, StoreError> {
        let register = any(REGISTER, params![worker.as_str(), build, place, lease_ms]);
        let done = self.store.db.commit(vec![register], Urgency::Critical).await?;
        let row = done.into_iter().flat_map(|done| done.rows).next();
        row.map_or(Ok(0), |row| Ok(row.cells().int()?))
    }

    /// Renews the lease of a worker, unless it has expired.
    ///
    /// # Errors
    /// If it could not be written: the lease is then as it was, or renewed.
    pub async fn heartbeat(
        self,
        worker: &WorkerId,
        lease_ms: i64,
    ) -> Result<Heartbeat, StoreError> {
        let beat = any(BEAT, params![worker.as_str(), lease_ms]);
        let done = self.store.db.commit(vec![beat], Urgency::Critical).await?;
        match done.into_iter().flat_map(|done| done.rows).next() {
            Some(row) => Ok(Heartbeat::Kept(row.cells().int()?)),
            None => Ok(Heartbeat::Lost),
        }
    }

    /// Removes a worker from the list; the next reaper requeues what it still holds.
    ///
    /// # Errors
    /// If it could not be written.
    pub async fn leave(self, worker: &WorkerId) -> Result<(), StoreError> {
        self.store.db.commit(vec![any(LEAVE, params![worker.as_str()])], Urgency::Critical).await?;
        Ok(())
    }

    /// Requeues or quarantines the runs of workers whose lease has expired.
    ///
    /// # Errors
    /// If it could not be written.
    pub async fn reap(self, now: UtcMs) -> Result<Vec<Orphan>, StoreError> {
        let turn = any(REAP_IN_TURN, params![]);
        let reap = any(REAP, requeue(now));
        self.store.queue().put_back(vec![turn, reap, any(FORGET_EXPIRED, params![])]).await
    }

    /// Requeues the runs of a worker that is proved dead, and ends its lease.
    ///
    /// # Errors
    /// If it could not be written.
    pub async fn bury(self, worker: &WorkerId, now: UtcMs) -> Result<Vec<Orphan>, StoreError> {
        let mut of_worker = requeue(now);
        of_worker.extend(params![worker.as_str()]);
        let expire = any(EXPIRE, params![worker.as_str()]);
        self.store.queue().put_back(vec![any(REQUEUE_OF, of_worker), expire]).await
    }

    /// All workers on the list, dead or alive.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn all(self) -> Result<Vec<WorkerRow>, StoreError> {
        let read = |row: crate::SqlRow| {
            let mut cells = row.cells();
            Ok(WorkerRow {
                worker: WorkerId::new(cells.text()?),
                build: cells.text()?,
                place: cells.text()?,
                expires_at: cells.int()?,
            })
        };
        self.store.rows(ALL, params![]).await?.into_iter().map(read).collect()
    }

    /// The time of the database.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn time(self) -> Result<UtcMs, StoreError> {
        let row = self.store.first(TIME, params![]).await?;
        row.map_or(Ok(0), |row| Ok(row.cells().int()?))
    }
}
