//! The planted bugs of the store: a database that alters transactions on their way in.
//!
//! The code of the store has no branch for them. Each bug is a change of the statements that the
//! correct code wrote, and the test that plants it must notice.

use crate::{
    append::{ADVANCE, FINISH, PARK},
    create::INSERT_RUN,
    db::{DatabaseKind, Db, DbError, DbFuture, SqlRow, Urgency, WriteResult},
    family::{
        COUNT_INHERITED, INHERIT_CANCEL, MARK_CHILD, NOTIFY_CHILDREN, NOTIFY_LEVEL,
        PUT_TO_CHILDREN, PUT_TO_LEVEL,
    },
    statement::INSERT_MESSAGE,
};
use everloop_types::{
    SqlValue, Statement, Write,
    planted::{Bug, is_on},
};
use std::sync::Arc;

/// [`ADVANCE`] without the epoch: any claimer that knows the position may write.
const ADVANCE_UNFENCED: Statement = Statement::screened(
    "
    UPDATE runs
       SET next_seq = next_seq + $4, bytes = bytes + $5, snap_seq = COALESCE($7, snap_seq),
           stalls = CASE WHEN $8 = 1 THEN 0 ELSE stalls END, updated_at = $9
     WHERE run_id = $1 AND next_seq = $3 AND status = 'running'
       AND bytes + $5 <= $6 AND CAST($2 AS BIGINT) = $2
",
);

/// [`PARK`] without a look at the inbox counter.
const PARK_BLIND: Statement = Statement::screened(
    "
    UPDATE runs
       SET status = 'waiting', note = $5, lease_owner = NULL,
           wake_at = CASE WHEN CAST($2 AS BIGINT) = $2 AND CAST($4 AS BIGINT) = $4 THEN $3 END
     WHERE run_id = $1
",
);

/// The statements that pass a cancel on to the runs below.
const CASCADE: [Statement; 6] =
    [NOTIFY_CHILDREN, PUT_TO_CHILDREN, NOTIFY_LEVEL, PUT_TO_LEVEL, INHERIT_CANCEL, COUNT_INHERITED];

/// A database with the planted bug of this process, if there is one.
pub(crate) struct PlantedDb {
    pub(crate) db: Arc<dyn Db>,
}

impl Db for PlantedDb {
    fn commit(&self, mut writes: Vec<Write>, urgency: Urgency) -> DbFuture<'_, Vec<WriteResult>> {
        if is_on(Bug::EpochFenceRemoved) {
            replace(&mut writes, ADVANCE, ADVANCE_UNFENCED);
        }
        if is_on(Bug::NaiveInboxCheck) {
            replace(&mut writes, PARK, PARK_BLIND);
        }
        if is_on(Bug::CancelNotCascaded) {
            writes.retain(|write| !CASCADE.contains(&write.statement));
        }
        if is_on(Bug::ChildOutsideTransaction)
            && let Some(child) = take_child(&mut writes)
        {
            return Box::pin(self.commit_both(child, writes, urgency));
        }
        if is_on(Bug::FinalMessageLater) && has(&writes, FINISH) {
            let (first, later): (Vec<_>, Vec<_>) =
                writes.into_iter().partition(|write| write.statement != INSERT_MESSAGE);
            return Box::pin(self.commit_both(first, later, urgency));
        }
        self.db.commit(writes, urgency)
    }

    fn query(&self, sql: &'static str, params: Vec<SqlValue>) -> DbFuture<'_, Vec<SqlRow>> {
        self.db.query(sql, params)
    }

    fn engine(&self) -> DatabaseKind {
        self.db.engine()
    }
}

impl PlantedDb {
    /// Two transactions where the correct code makes one.
    async fn commit_both(
        &self,
        first: Vec<Write>,
        second: Vec<Write>,
        urgency: Urgency,
    ) -> Result<Vec<WriteResult>, DbError> {
        let mut done = self.db.commit(first, urgency).await?;
        if !second.is_empty() {
            done.extend(self.db.commit(second, urgency).await?);
        }
        Ok(done)
    }
}

fn has(writes: &[Write], statement: Statement) -> bool {
    writes.iter().any(|write| write.statement == statement)
}

fn replace(writes: &mut [Write], from: Statement, to: Statement) {
    for write in writes.iter_mut().filter(|write| write.statement == from) {
        write.statement = to;
    }
}

/// Takes the writes that create a child out of its parent's transaction.
fn take_child(writes: &mut Vec<Write>) -> Option<Vec<Write>> {
    let place = |statement| writes.iter().rposition(|write| write.statement == statement);
    let marked = place(MARK_CHILD)?;
    let created = writes[..marked].iter().rposition(|write| write.statement == INSERT_RUN)?;
    let last = place(COUNT_INHERITED).unwrap_or(marked);
    Some(writes.drain(created..=last).collect())
}
