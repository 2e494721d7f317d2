//! The home that a database belongs to. Approvals given in another home do not apply in this one,
//! and runs that were made there count as imported.
//!
//! A home has an id, which it keeps in a file of its own and writes into its database; copies of
//! the database have it too.

use crate::{
    db::Urgency,
    error::StoreError,
    facets::Maintenance,
    statement::{any, params},
};
use everloop_types::{Statement, UtcMs};

pub(crate) const HOME: &str = "SELECT v FROM schema_meta WHERE k = 'home'";

const SET_FIRST: Statement = Statement::screened(
    "
    INSERT INTO schema_meta (k, v) VALUES ('home', $1) ON CONFLICT (k) DO NOTHING
",
);

const SET: Statement = Statement::screened(
    "
    INSERT INTO schema_meta (k, v) VALUES ('home', $1) ON CONFLICT (k) DO UPDATE SET v = excluded.v
",
);

const FORGET_APPROVALS: Statement = Statement::screened("DELETE FROM standing_approvals");

/// A repeated request gets the run that has its key: a foreign file must not choose that run.
const FORGET_KEYS: Statement =
    Statement::screened("UPDATE runs SET idem_key = NULL WHERE idem_key IS NOT NULL");

const MARK_ALL_FOREIGN: Statement = Statement::screened(
    "
    INSERT INTO imports (run_id, at)
    SELECT run_id, $1 FROM runs WHERE run_id NOT IN (SELECT run_id FROM imports)
",
);

/// What was dropped when a database of another home was taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TakeoverCounts {
    /// Standing approvals that were dropped.
    pub approvals: u64,
    /// Runs that count as imported now.
    pub runs: u64,
}

/// Changes nothing, and needs everything that a change needs.
const TOUCH: Statement = Statement::screened("UPDATE schema_meta SET v = v WHERE k = 'home'");

impl Maintenance<'_> {
    /// Whether the database can be written.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn check_writable(self) -> Result<(), StoreError> {
        self.store.db.commit(vec![any(TOUCH, params![])], Urgency::Critical).await?;
        Ok(())
    }

    /// Writes the home into a database that belongs to none yet.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn belong_to(self, home: &str) -> Result<(), StoreError> {
        if self.store.first(HOME, params![]).await?.is_none() {
            self.store.db.commit(vec![any(SET_FIRST, params![home])], Urgency::Critical).await?;
        }
        Ok(())
    }

    /// Makes a database of another home one of this home: its standing approvals are dropped, and
    /// its runs count as imported.
    ///
    /// # Errors
    /// See [`StoreError`]; then the database must not be used.
    pub async fn take_over(self, home: &str, now: UtcMs) -> Result<TakeoverCounts, StoreError> {
        let writes = vec![
            any(FORGET_APPROVALS, params![]),
            any(MARK_ALL_FOREIGN, params![now]),
            any(FORGET_KEYS, params![]),
            any(SET, params![home]),
        ];
        let done = self.store.db.commit(writes, Urgency::Critical).await?;
        let touched = |place: usize| done.get(place).map_or(0, |done| done.touched);
        Ok(TakeoverCounts { approvals: touched(0), runs: touched(1) })
    }
}
