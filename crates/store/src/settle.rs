//! Settlements: what was found out later about an effect with an unknown outcome.
//!
//! A finished journal is never written again, so they have a table of their own. The first one
//! for an effect counts.

use crate::{
    db::Urgency,
    error::StoreError,
    facets::Journal,
    statement::{any, params},
};
use everloop_types::{EffectId, RunId, SettledOutcome, Statement, UtcMs};

/// One settlement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settlement {
    /// The effect.
    pub effect: EffectId,
    /// What is known now.
    pub settled: SettledOutcome,
    /// Who found out: `user`, `probe`, a surface.
    pub by: String,
    /// When.
    pub at: UtcMs,
}

const INSERT: Statement = Statement::screened(
    "
    INSERT INTO settlements (run_id, effect_id, verdict, by_whom, at)
    VALUES ($1, $2, $3, $4, $5) ON CONFLICT (run_id, effect_id) DO NOTHING
",
);

const SELECT: &str = "
    SELECT effect_id, verdict, by_whom, at FROM settlements WHERE run_id = $1 ORDER BY at, effect_id
";

impl Journal<'_> {
    /// Settles an effect. Returns whether this was the first settlement; a later one changes
    /// nothing. May be repeated after [`StoreError::Unknown`].
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn settle(self, settlement: &Settlement) -> Result<bool, StoreError> {
        let Settlement { effect, settled, by, at } = settlement;
        let values =
            params![effect.run.as_str(), effect.place(), settled.as_str(), by.as_str(), *at];
        let done = self.store.db.commit(vec![any(INSERT, values)], Urgency::Critical).await?;
        Ok(done.first().is_some_and(|done| done.touched > 0))
    }

    /// The settlements of a run, in the order in which they were made.
    ///
    /// # Errors
    /// [`StoreError::NewerEntry`] at entry 0 for a verdict that this program does not know.
    pub async fn settlements(self, run: &RunId) -> Result<Vec<Settlement>, StoreError> {
        let mut settlements = Vec::new();
        for row in self.store.rows(SELECT, params![run.as_str()]).await? {
            let mut cells = row.cells();
            let (place, verdict) = (cells.text()?, cells.text()?);
            let (by, at) = (cells.text()?, cells.int()?);
            let newer = || StoreError::NewerEntry {
                run: run.clone(),
                seq: 0,
                kind: format!("settlement {verdict}"),
                fmt: 0,
            };
            let damaged = || StoreError::Damaged { run: run.clone(), seq: 0 };
            let settled = SettledOutcome::parse(&verdict).ok_or_else(newer)?;
            let effect = EffectId::at_place(run.clone(), &place).ok_or_else(damaged)?;
            settlements.push(Settlement { effect, settled, by, at });
        }
        Ok(settlements)
    }
}
