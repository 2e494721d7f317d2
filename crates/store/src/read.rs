//! Reading journals, snapshots and frames. Damaged content is an error, never returned.

use crate::{
    error::StoreError,
    facets::Journal,
    row,
    statement::{int, params},
};
use everloop_types::{EffectId, Frame, RunId, UtcMs, digest_bytes, journal::Entry};

/// What a fold needs.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedJournal {
    /// Where it starts; `None` for the beginning of the journal.
    pub snapshot: Option<SnapshotRow>,
    /// The entries after it.
    pub entries: Vec<Entry>,
}

/// A saved state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotRow {
    /// The last entry that it includes.
    pub seq: i64,
    /// The loop's version.
    pub loop_ver: u32,
    /// Digest of `state`.
    pub state_hash: String,
    /// The state.
    pub state: String,
}

/// How a snapshot is stored. The form of its state belongs to the loop: a snapshot that cannot be
/// restored is skipped.
pub(crate) const SNAPSHOT_FMT: i64 = 1;

const SNAPSHOT_BEFORE: &str = "
    SELECT seq, loop_ver, fmt, state_hash, state FROM snapshots
     WHERE run_id = $1 AND seq < $2 ORDER BY seq DESC LIMIT 1
";

const PLANNED_AT: &str = "
    SELECT ts FROM journal WHERE run_id = $1 AND effect_id = $2 AND phase = 1
";

const FRAME: &str = "
    SELECT r.frame_ref, b.bytes FROM runs r LEFT JOIN blobs b ON b.hash = r.frame_ref
     WHERE r.run_id = $1
";

impl Journal<'_> {
    /// The newest snapshot that can be read, and the entries after it.
    ///
    /// A damaged snapshot is skipped, because the journal has everything. A journal with a damaged
    /// or missing entry is an error, so a trimmed run cannot be loaded any more.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] or [`StoreError::NewerEntry`] if the run cannot be folded.
    pub async fn load(self, run: &RunId) -> Result<LoadedJournal, StoreError> {
        // Before the entries: a journal only grows, so it must reach at least that far.
        let end = self.store.runs().position(run).await?.map_or(1, |at| at.next_seq);
        let snapshot = self.newest_snapshot(run).await?;
        let after = snapshot.as_ref().map_or(0, |snapshot| snapshot.seq);
        let entries = self.entries(run, after, usize::MAX).await?;
        let mut next = after + 1;
        for entry in &entries {
            if entry.seq != next {
                return Err(StoreError::Damaged { run: run.clone(), seq: next });
            }
            next += 1;
        }
        if next < end {
            return Err(StoreError::Damaged { run: run.clone(), seq: next });
        }
        Ok(LoadedJournal { snapshot, entries })
    }

    async fn newest_snapshot(self, run: &RunId) -> Result<Option<SnapshotRow>, StoreError> {
        let mut before = i64::MAX;
        loop {
            let found = self.store.first(SNAPSHOT_BEFORE, params![run.as_str(), before]).await?;
            let Some(row) = found else { return Ok(None) };
            let mut cells = row.cells();
            before = cells.int()?;
            let mut read = || -> Result<SnapshotRow, StoreError> {
                let loop_ver = u32::try_from(cells.int()?).unwrap_or(u32::MAX);
                let fmt = cells.int()?;
                let (state_hash, state) = (cells.text()?, cells.text()?);
                let fits = fmt == SNAPSHOT_FMT && digest_bytes(state.as_bytes()) == state_hash;
                let damaged = StoreError::Damaged { run: run.clone(), seq: before };
                let snapshot = SnapshotRow { seq: before, loop_ver, state_hash, state };
                if fits { Ok(snapshot) } else { Err(damaged) }
            };
            if let Ok(snapshot) = read() {
                return Ok(Some(snapshot));
            }
        }
    }

    /// Up to `most` entries after `after_seq`, for replay and watchers.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] or [`StoreError::NewerEntry`] for an entry that cannot be read.
    pub async fn entries(
        self,
        run: &RunId,
        after_seq: i64,
        most: usize,
    ) -> Result<Vec<Entry>, StoreError> {
        let params = params![run.as_str(), after_seq, int(most)];
        let rows = self.store.rows(row::SELECT, params).await?;
        rows.into_iter().map(|found| row::read(run, found)).collect()
    }

    /// When an effect was planned; `None` if it was not.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn planned_at(self, effect: &EffectId) -> Result<Option<UtcMs>, StoreError> {
        let key = params![effect.run.as_str(), effect.place()];
        match self.store.first(PLANNED_AT, key).await? {
            Some(row) => Ok(Some(row.cells().int()?)),
            None => Ok(None),
        }
    }

    /// The frame of a run; `None` if there is no such run.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] at entry 0 if the frame is missing or altered.
    pub async fn frame(self, run: &RunId) -> Result<Option<Frame>, StoreError> {
        let damaged = || StoreError::Damaged { run: run.clone(), seq: 0 };
        let Some(row) = self.store.first(FRAME, params![run.as_str()]).await? else {
            return Ok(None);
        };
        let mut cells = row.cells();
        let hash = cells.text()?;
        let bytes = cells.opt_bytes()?.ok_or_else(damaged)?;
        if digest_bytes(&bytes) != hash {
            return Err(damaged());
        }
        serde_json::from_slice(&bytes).map(Some).map_err(|_| damaged())
    }
}
