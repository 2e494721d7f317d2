//! Deleting runs, and giving back the space that they took.
//!
//! A run is deleted as a whole, with its children, and only when all of them have ended. Forks
//! stay: they have rows of their own.

use crate::{
    db::{DatabaseKind, DbError, Urgency},
    dialect,
    error::StoreError,
    facets::Maintenance,
    runs::status,
    statement::{any, one, params},
};
use everloop_types::{RunId, Statement, UtcMs, Write};

/// The result of deleting a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Removal {
    /// These were deleted: the run and its children.
    Gone(Vec<RunId>),
    /// This one has not ended, so nothing was deleted.
    NotOver(RunId),
    /// This one has messages that are still to be sent, so nothing was deleted.
    Unsent(RunId),
    /// There is no such run.
    NoSuchRun,
}

const FAMILY: &str = "
    WITH RECURSIVE family (id) AS (
           SELECT run_id FROM runs WHERE run_id = $1
            UNION
           SELECT r.run_id FROM runs r JOIN family f ON r.parent_run_id = f.id)
    SELECT r.run_id, r.status,
           (SELECT count(*) FROM outbox o WHERE o.run_id = r.run_id AND o.sent_at IS NULL)
      FROM runs r JOIN family f ON r.run_id = f.id ORDER BY r.run_id
";

/// Children are deleted with their parent.
const ENDED: &str = "
    SELECT run_id FROM runs
     WHERE status IN ('succeeded','unsettled','failed','canceled','quarantined')
       AND updated_at <= $1 AND parent_run_id IS NULL
     ORDER BY updated_at, run_id
";

/// Comes first: a run that was claimed meanwhile stays.
const DELETE_RUN: Statement = Statement::screened(
    "
    DELETE FROM runs
     WHERE run_id = $1
       AND status IN ('succeeded','unsettled','failed','canceled','quarantined')
",
);

const DELETE_REST: [Statement; 7] = [
    Statement::screened("DELETE FROM journal WHERE run_id = $1"),
    Statement::screened("DELETE FROM snapshots WHERE run_id = $1"),
    Statement::screened("DELETE FROM inbox WHERE run_id = $1"),
    Statement::screened("DELETE FROM outbox WHERE run_id = $1"),
    Statement::screened("DELETE FROM settlements WHERE run_id = $1"),
    Statement::screened("DELETE FROM messages WHERE run_id = $1"),
    Statement::screened("DELETE FROM imports WHERE run_id = $1"),
];

/// Rounds of giving space back. Each frees a few megabytes, so that other writes wait only briefly.
const ROUNDS_MAX: usize = 100_000;

impl Maintenance<'_> {
    /// Runs that ended or were quarantined at `upto` or before, the oldest first, without children:
    /// those are deleted with their parents.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn ended_before(self, upto: UtcMs) -> Result<Vec<RunId>, StoreError> {
        let rows = self.store.rows(ENDED, params![upto]).await?;
        rows.into_iter().map(|row| Ok(RunId::new(row.cells().text()?))).collect()
    }

    /// Deletes a run that has ended, with its children and everything that belongs to them.
    ///
    /// # Errors
    /// See [`StoreError`]. It may simply be tried again.
    pub async fn delete_run(self, run: &RunId) -> Result<Removal, StoreError> {
        let mut family = Vec::new();
        for row in self.store.rows(FAMILY, params![run.as_str()]).await? {
            let mut cells = row.cells();
            let relative = RunId::new(cells.text()?);
            if !status(&mut cells)?.is_final() {
                return Ok(Removal::NotOver(relative));
            }
            if cells.int()? > 0 {
                return Ok(Removal::Unsent(relative));
            }
            family.push(relative);
        }
        if family.is_empty() {
            return Ok(Removal::NoSuchRun);
        }
        let delete = |run: &RunId| -> Vec<Write> {
            let rest = DELETE_REST.iter().map(|delete| any(*delete, params![run.as_str()]));
            std::iter::once(one(DELETE_RUN, params![run.as_str()])).chain(rest).collect()
        };
        let writes: Vec<Write> = family.iter().flat_map(delete).collect();
        match self.store.db.commit(writes, Urgency::Critical).await {
            Ok(_) => Ok(Removal::Gone(family)),
            Err(DbError::Expectation { .. }) => Ok(Removal::NotOver(run.clone())),
            Err(error) => Err(error.into()),
        }
    }

    /// Gives free pages of a file back to the disk; a server does so by itself.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn give_space_back(self) -> Result<(), StoreError> {
        if self.store.db.engine() == DatabaseKind::Postgres {
            return Ok(());
        }
        for _ in 0..ROUNDS_MAX {
            let free = self.store.scalar(dialect::FREE_PAGES).await?;
            if free.is_empty() || free == "0" {
                break;
            }
            self.store
                .db
                .commit(
                    vec![any(Statement::screened(dialect::GIVE_BACK), params![])],
                    Urgency::Critical,
                )
                .await?;
            if self.store.scalar(dialect::FREE_PAGES).await? == free {
                // Made before free pages could be given back one by one.
                break;
            }
        }
        Ok(())
    }

    /// Bytes that the database takes on disk, without its log.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn bytes_on_disk(self) -> Result<u64, StoreError> {
        let size = dialect::probes(self.store.db.engine()).size;
        Ok(self.store.scalar(size).await?.parse().unwrap_or(0))
    }
}
