//! Deleting runs, and giving back the space that they took.
//!
//! A run is deleted as a whole, with its children, and only when all of them have ended. Forks
//! stay: they have rows of their own. A conversation is deleted with all its runs or not at all.

use crate::{
    db::{DatabaseKind, DbError, Urgency},
    deletions::{Deleter, note_conversation, note_run},
    dialect,
    error::StoreError,
    facets::Maintenance,
    message_index::{delete_terms_of_conversation, delete_terms_of_run},
    runs::status,
    standing::end_approvals,
    statement::{any, hold_conversation, one, params},
};
use everloop_types::{ConversationId, RunId, Statement, UtcMs, Write};

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

/// The result of deleting a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConversationRemoval {
    /// It was deleted with these runs.
    Gone(Vec<RunId>),
    /// This run has not ended, or has messages that are still to be sent, so nothing was deleted.
    Kept(RunId),
    /// There is no such conversation, or a run began in it meanwhile, so nothing was deleted.
    Contested,
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

/// The runs of a conversation with all that are below them.
const FAMILIES: &str = "
    WITH RECURSIVE family (id) AS (
           SELECT run_id FROM runs WHERE conversation_id = $1
            UNION
           SELECT r.run_id FROM runs r JOIN family f ON r.parent_run_id = f.id)
    SELECT r.run_id, r.status,
           (SELECT count(*) FROM outbox o WHERE o.run_id = r.run_id AND o.sent_at IS NULL)
      FROM runs r JOIN family f ON r.run_id = f.id ORDER BY r.run_id
";

/// Comes before the messages: a conversation in which a run began meanwhile stays.
const DELETE_CONVERSATION: Statement = Statement::screened(
    "
    DELETE FROM conversations WHERE conversation_id = $1
       AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.conversation_id = $1)
",
);

const DELETE_MESSAGES: Statement =
    Statement::screened("DELETE FROM messages WHERE conversation_id = $1");

/// Words of the program itself to a channel belong to no run.
const DELETE_NOTES: Statement =
    Statement::screened("DELETE FROM outbox WHERE conversation_id = $1");

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

const DELETE_REST: [Statement; 8] = [
    Statement::screened("DELETE FROM journal WHERE run_id = $1"),
    Statement::screened("DELETE FROM snapshots WHERE run_id = $1"),
    Statement::screened("DELETE FROM inbox WHERE run_id = $1"),
    Statement::screened("DELETE FROM outbox WHERE run_id = $1"),
    Statement::screened("DELETE FROM settlements WHERE run_id = $1"),
    Statement::screened("DELETE FROM messages WHERE run_id = $1"),
    Statement::screened("DELETE FROM imports WHERE run_id = $1"),
    Statement::screened("DELETE FROM undos WHERE run_id = $1"),
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

    /// Deletes a run that has ended, with its children and everything that belongs to them. What is
    /// left is a row that says who deleted it.
    ///
    /// # Errors
    /// See [`StoreError`]. It may simply be tried again.
    pub async fn delete_run(
        self,
        run: &RunId,
        deleter: Deleter<'_>,
    ) -> Result<Removal, StoreError> {
        let family = match self.ended_runs(FAMILY, run.as_str()).await? {
            Ok(family) if family.is_empty() => return Ok(Removal::NoSuchRun),
            Ok(family) => family,
            Err(stays) => return Ok(stays),
        };
        let writes = family.iter().flat_map(|run| delete(run, deleter)).collect();
        match self.store.db.commit(writes, Urgency::Critical).await {
            Ok(_) => Ok(Removal::Gone(family)),
            Err(DbError::Expectation { .. }) => Ok(Removal::NotOver(run.clone())),
            Err(error) => Err(error.into()),
        }
    }

    /// Deletes a conversation with its runs, all its messages, what the program itself had to tell
    /// its channel, and the approvals that hold for it alone: everything or nothing.
    ///
    /// # Errors
    /// See [`StoreError`]. It may simply be tried again.
    pub async fn delete_conversation(
        self,
        id: &ConversationId,
        deleter: Deleter<'_>,
    ) -> Result<ConversationRemoval, StoreError> {
        let runs = match self.ended_runs(FAMILIES, id.as_str()).await? {
            Ok(runs) => runs,
            Err(Removal::NotOver(run) | Removal::Unsent(run)) => {
                return Ok(ConversationRemoval::Kept(run));
            }
            Err(Removal::Gone(_) | Removal::NoSuchRun) => {
                return Ok(ConversationRemoval::Contested);
            }
        };
        let name = || params![id.as_str()];
        let mut writes = vec![hold_conversation(id.as_str()), note_conversation(id, deleter)];
        writes.extend(runs.iter().flat_map(|run| delete(run, deleter)));
        writes.push(one(DELETE_CONVERSATION, name()));
        writes.extend(delete_terms_of_conversation(id.as_str()));
        writes.push(any(DELETE_MESSAGES, name()));
        writes.push(any(DELETE_NOTES, name()));
        writes.push(end_approvals(id));
        match self.store.db.commit(writes, Urgency::Critical).await {
            Ok(_) => Ok(ConversationRemoval::Gone(runs)),
            Err(DbError::Expectation { .. }) => Ok(ConversationRemoval::Contested),
            Err(error) => Err(error.into()),
        }
    }

    /// The runs that a query finds, if all of them can be deleted; else why not.
    async fn ended_runs(
        self,
        query: &'static str,
        id: &str,
    ) -> Result<Result<Vec<RunId>, Removal>, StoreError> {
        let mut family = Vec::new();
        for row in self.store.rows(query, params![id]).await? {
            let mut cells = row.cells();
            let relative = RunId::new(cells.text()?);
            if !status(&mut cells)?.is_final() {
                return Ok(Err(Removal::NotOver(relative)));
            }
            if cells.int()? > 0 {
                return Ok(Err(Removal::Unsent(relative)));
            }
            family.push(relative);
        }
        Ok(Ok(family))
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

/// Deletes one run, and notes it. Fails if the run was claimed meanwhile.
fn delete(run: &RunId, deleter: Deleter<'_>) -> Vec<Write> {
    let mut writes = vec![note_run(run, deleter), one(DELETE_RUN, params![run.as_str()])];
    writes.extend(delete_terms_of_run(run.as_str()));
    writes.extend(DELETE_REST.iter().map(|delete| any(*delete, params![run.as_str()])));
    writes
}
