//! Retention, and the health of the store.

use crate::{
    db::Urgency,
    dialect,
    error::StoreError,
    facets::Maintenance,
    runs::status,
    statement::{any, one, params},
};
use everloop_types::{RunId, Statement, Status, UtcMs};

/// What [`crate::Maintenance::trim`] deleted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TrimCounts {
    /// Runs whose journal was shortened.
    pub runs: u64,
    /// Journal entries.
    pub entries: u64,
    /// Snapshots.
    pub snapshots: u64,
    /// Blobs that nothing refers to any more.
    pub blobs: u64,
}

/// The health of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// The database engine's name.
    pub engine: &'static str,
    /// The engine's version.
    pub version: String,
    /// The schema's version.
    pub schema_version: i64,
    /// The settings that durability rests on, as writers have them.
    pub settings: Vec<(String, String)>,
    /// `ok`, or what is wrong.
    pub quick_check: String,
    /// What the check looked at: the `pages` of the file, or the `journals` of unfinished runs.
    pub checked: &'static str,
    /// How many runs have each status; statuses without runs are left out.
    pub runs_by_status: Vec<(Status, u64)>,
    /// Bytes of the database without its log.
    pub bytes_on_disk: u64,
}

/// The condition is exactly that of the index `runs_finished`.
const TO_TRIM: &str = "
    SELECT run_id FROM runs
     WHERE trimmed_at IS NULL AND status IN ('succeeded','unsettled','failed','canceled')
       AND updated_at <= $1
     ORDER BY updated_at LIMIT 100
";

/// The entries that the audit shows stay: what was planned, who allowed it, how it ended.
const TRIM_JOURNAL: Statement = Statement::screened(
    "
    DELETE FROM journal
     WHERE run_id = $1 AND kind NOT IN ('RunCreated', 'EffectPlanned', 'ApprovalGiven',
                                        'EffectFinished', 'Forked', 'RunFinished')
",
);

const COUNT_TO_TRIM: &str = "
    SELECT count(*) FROM runs
     WHERE trimmed_at IS NULL AND status IN ('succeeded','unsettled','failed','canceled')
       AND updated_at <= $1
";

const TRIM_SNAPSHOTS: Statement = Statement::screened(
    "
    DELETE FROM snapshots
     WHERE run_id = $1 AND seq < (SELECT MAX(seq) FROM snapshots WHERE run_id = $1)
",
);

const MARK_TRIMMED: Statement =
    Statement::screened("UPDATE runs SET trimmed_at = $2 WHERE run_id = $1");

/// Nothing adds or refers to a blob during the sweep. This is a separate statement, so that the
/// sweep sees everything that earlier transactions wrote.
const HOLD_BLOBS: Statement = Statement::screened("SELECT {hold 'blobs'}");

/// A few at a time, so that other writes wait only briefly.
const SWEEP: Statement = Statement::screened(
    "
    DELETE FROM blobs WHERE hash IN (
           SELECT hash FROM blobs b
            WHERE NOT EXISTS (SELECT 1 FROM journal j WHERE j.blob_ref = b.hash)
              AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.frame_ref = b.hash)
            LIMIT 100)
",
);

const SCHEMA_VERSION: &str = "SELECT v FROM schema_meta WHERE k = 'schema_version'";

pub(crate) const BY_STATUS: &str =
    "SELECT status, count(*) FROM runs GROUP BY status ORDER BY status";

impl Maintenance<'_> {
    /// How many runs [`crate::Maintenance::trim`] would shorten.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn count_to_trim(self, now: UtcMs, keep_ms: i64) -> Result<u64, StoreError> {
        let row = self.store.first(COUNT_TO_TRIM, params![now.saturating_sub(keep_ms)]).await?;
        row.map_or(Ok(0), |row| Ok(row.cells().int()?.unsigned_abs()))
    }

    /// Shortens the journals of runs that finished longer than `keep_ms` ago to the first and last
    /// entry, calls with their permissions and outcomes, messages, and the last snapshot.
    /// Quarantined runs stay whole. The space is given back to the disk.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn trim(self, now: UtcMs, keep_ms: i64) -> Result<TrimCounts, StoreError> {
        let mut trimmed = TrimCounts::default();
        loop {
            let due = self.store.rows(TO_TRIM, params![now.saturating_sub(keep_ms)]).await?;
            if due.is_empty() {
                break;
            }
            for row in due {
                let run = RunId::new(row.cells().text()?);
                let writes = vec![
                    any(TRIM_JOURNAL, params![run.as_str()]),
                    any(TRIM_SNAPSHOTS, params![run.as_str()]),
                    one(MARK_TRIMMED, params![run.as_str(), now]),
                ];
                let done = self.store.db.commit(writes, Urgency::Critical).await?;
                trimmed.runs += 1;
                trimmed.entries += done[0].touched;
                trimmed.snapshots += done[1].touched;
            }
        }
        trimmed.blobs = self.sweep_blobs().await?;
        self.give_space_back().await?;
        Ok(trimmed)
    }

    /// Deletes the blobs that nothing refers to, and returns how many.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn sweep_blobs(self) -> Result<u64, StoreError> {
        let mut swept = 0;
        loop {
            let writes = vec![any(HOLD_BLOBS, params![]), any(SWEEP, params![])];
            let done = self.store.db.commit(writes, Urgency::Critical).await?;
            match done.last().map_or(0, |swept| swept.touched) {
                0 => return Ok(swept),
                some => swept += some,
            }
        }
    }

    /// How many runs have each status; statuses without runs are left out.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn runs_by_status(self) -> Result<Vec<(Status, u64)>, StoreError> {
        let mut counts = Vec::new();
        for row in self.store.rows(BY_STATUS, params![]).await? {
            let mut cells = row.cells();
            counts.push((status(&mut cells)?, cells.int()?.unsigned_abs()));
        }
        Ok(counts)
    }

    /// The name of the database engine, and its version.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn engine_version(self) -> Result<(&'static str, String), StoreError> {
        let probes = dialect::probes(self.store.db.engine());
        Ok((probes.engine, self.store.scalar(probes.version).await?))
    }

    /// The health of the store, for `doctor`. Reads the whole file and writes to the database, so
    /// it is nothing to be done every few seconds.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn inspect(self) -> Result<Inspection, StoreError> {
        let probes = dialect::probes(self.store.db.engine());
        let mut settings = Vec::new();
        for (name, _, read) in probes.settings {
            // As a write: settings belong to a connection, and those of the writer matter.
            let done = self
                .store
                .db
                .commit(vec![any(Statement::screened(read), params![])], Urgency::Critical)
                .await?;
            let value = done.into_iter().next().map(|done| dialect::scalar(done.rows));
            settings.push(((*name).to_owned(), value.unwrap_or_default()));
        }
        let runs_by_status = self.runs_by_status().await?;
        let (engine, version) = self.engine_version().await?;
        Ok(Inspection {
            engine,
            version,
            schema_version: self.store.scalar(SCHEMA_VERSION).await?.parse().unwrap_or(0),
            settings,
            quick_check: self.store.scalar(probes.check).await?,
            checked: probes.checked,
            runs_by_status,
            bytes_on_disk: self.store.scalar(probes.size).await?.parse().unwrap_or(0),
        })
    }
}
