//! Standing approvals, which apply to later calls too. Withdrawn ones are deleted; the journals
//! still say who allowed what, and when.

use crate::{
    db::{DbError, SqlRow, Urgency},
    error::StoreError,
    facets::StandingApprovals,
    statement::{any, params},
};
use everloop_types::{ConversationId, StandingApproval, Statement, Write};

const INSERT: Statement = Statement::screened(
    "
    INSERT INTO standing_approvals (approval_id, workspace, tool, resource, by_whom, at)
    VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (approval_id) DO NOTHING
",
);

const SELECT: &str = "
    SELECT approval_id, workspace, tool, resource, by_whom, at FROM standing_approvals
     WHERE approval_id = $1
";

const SELECT_ALL: &str = "
    SELECT approval_id, workspace, tool, resource, by_whom, at FROM standing_approvals
     ORDER BY at, approval_id
";

const DELETE: Statement =
    Statement::screened("DELETE FROM standing_approvals WHERE approval_id = $1");

const DELETE_RESOURCE: Statement =
    Statement::screened("DELETE FROM standing_approvals WHERE resource = $1");

/// The write that stores a standing approval; it belongs in the commit that gives the approval.
#[must_use]
pub fn allow_for_good(approval: &StandingApproval) -> Write {
    let StandingApproval { id, workspace, tool, resource, by, at } = approval;
    let texts = [id, workspace, tool, resource, by].map(String::as_str);
    let [id, workspace, tool, resource, by] = texts;
    any(INSERT, params![id, workspace, tool, resource, by, *at])
}

impl StandingApprovals<'_> {
    /// The standing approval that covers `wanted`, if there is one.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn find(
        self,
        wanted: &StandingApproval,
    ) -> Result<Option<StandingApproval>, StoreError> {
        let rows = self.store.rows(SELECT, params![wanted.id.as_str()]).await?;
        let found = rows.into_iter().map(read).next().transpose()?;
        // The id is only a digest: the content decides.
        Ok(found.filter(|found| found.covers(wanted)))
    }

    /// All standing approvals, the oldest first.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn all(self) -> Result<Vec<StandingApproval>, StoreError> {
        let rows = self.store.rows(SELECT_ALL, params![]).await?;
        Ok(rows.into_iter().map(read).collect::<Result<_, _>>()?)
    }

    /// Withdraws one. Returns whether it existed.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn withdraw(self, id: &str) -> Result<bool, StoreError> {
        let done = self.store.db.commit(vec![any(DELETE, params![id])], Urgency::Critical).await?;
        Ok(done.first().is_some_and(|done| done.touched > 0))
    }
}

/// Withdraws all that hold for one conversation only; it is over.
pub(crate) fn end_approvals(conversation: &ConversationId) -> Write {
    any(DELETE_RESOURCE, params![format!("conversation:{conversation}").as_str()])
}

fn read(row: SqlRow) -> Result<StandingApproval, DbError> {
    let mut cells = row.cells();
    Ok(StandingApproval {
        id: cells.text()?,
        workspace: cells.text()?,
        tool: cells.text()?,
        resource: cells.text()?,
        by: cells.text()?,
        at: cells.int()?,
    })
}
