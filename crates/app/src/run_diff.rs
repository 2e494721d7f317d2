//! Where two runs part, and what became of each.

use crate::app::App;
use crate::error::AppError;
use crate::runs::RunDetails;
use everloop_engine::{DifferenceKind, SideBySideRow, first_divergence, side_by_side, tools_after};
use everloop_store::Store;
use serde::Serialize;
use serde_json::Value;

/// Two runs, compared.
pub struct RunDiff {
    /// What differs first; nothing if they decided and saw the same.
    pub differs: Option<DifferenceKind>,
    /// The two runs.
    pub sides: [DiffSide; 2],
}

/// Two runs, entry beside entry.
pub struct AlignedRuns {
    /// What differs first; nothing if they decided and saw the same.
    pub differs: Option<DifferenceKind>,
    /// The two runs.
    pub sides: [RunDetails; 2],
    /// Their entries.
    pub rows: Vec<SideBySideRow>,
}

impl AlignedRuns {
    /// Reads two runs, each named by its id or the end of it.
    ///
    /// # Errors
    /// If a run is unknown, or the store fails.
    pub async fn read(app: &App, store: &Store, ids: [&str; 2]) -> Result<Self, AppError> {
        let [one, other] = both(app, store, ids).await?;
        let differs = first_divergence(&one.history, &other.history).map(|found| found.differs);
        let rows = side_by_side(&one.history, &other.history);
        Ok(Self { differs, sides: [one, other], rows })
    }
}

async fn both(app: &App, store: &Store, ids: [&str; 2]) -> Result<[RunDetails; 2], AppError> {
    let [one, other] = ids;
    let one = app.find_run(store, one).await?;
    let other = app.find_run(store, other).await?;
    Ok([RunDetails::read(app, store, &one).await?, RunDetails::read(app, store, &other).await?])
}

/// One of two runs that are compared.
pub struct DiffSide {
    /// The run.
    pub details: RunDetails,
    /// The entry that differs, if it has one there.
    pub entry: Option<DiffEntry>,
    /// The tools that it called from there on.
    pub tools_after: Vec<String>,
}

/// The entry of a journal at which a run parts from another.
#[derive(Debug, Clone)]
pub struct DiffEntry {
    /// Its place in the journal.
    pub seq: i64,
    /// Its kind.
    pub kind: &'static str,
    /// What it says, without ids and times.
    pub says: String,
}

/// A comparison of two runs, for programs.
#[derive(Debug, Clone, Serialize)]
pub struct RunDiffReport {
    /// Whether they decided and saw the same.
    pub equal: bool,
    /// What differs first.
    pub differs: Option<&'static str>,
    /// The two runs.
    pub runs: Vec<DiffSideReport>,
}

/// One of two runs that are compared, for programs.
#[derive(Debug, Clone, Serialize)]
pub struct DiffSideReport {
    /// The result of the run.
    #[serde(flatten)]
    pub result: Value,
    /// The entry that differs.
    pub at: Option<i64>,
    /// Its kind.
    pub kind: Option<&'static str>,
    /// What it says.
    pub says: Option<String>,
    /// The tools that the run called from there on.
    pub tools_after: Vec<String>,
}

impl RunDiff {
    /// Compares two runs, each named by its id or the end of it.
    ///
    /// # Errors
    /// If a run is unknown, or the store fails.
    pub async fn read(app: &App, store: &Store, ids: [&str; 2]) -> Result<Self, AppError> {
        let [one, other] = both(app, store, ids).await?;
        let divergence = first_divergence(&one.history, &other.history);
        let differs = divergence.as_ref().map(|found| found.differs);
        let places = divergence.map_or([None, None], |found| [found.one, found.other]);
        let [first, second] = places.map(|place| {
            place.map(|place| DiffEntry { seq: place.seq, kind: place.kind, says: place.says })
        });
        Ok(Self { differs, sides: [DiffSide::new(one, first), DiffSide::new(other, second)] })
    }

    /// For programs.
    #[must_use]
    pub fn report(&self) -> RunDiffReport {
        RunDiffReport {
            equal: self.differs.is_none(),
            differs: self.differs.map(DifferenceKind::as_str),
            runs: self.sides.iter().map(DiffSide::report).collect(),
        }
    }
}

impl DiffSide {
    fn new(details: RunDetails, entry: Option<DiffEntry>) -> Self {
        let tools = entry.as_ref().map(|entry| tools_after(&details.history, entry.seq));
        Self { details, entry, tools_after: tools.unwrap_or_default() }
    }

    fn report(&self) -> DiffSideReport {
        let entry = self.entry.as_ref();
        DiffSideReport {
            result: self.details.result(),
            at: entry.map(|entry| entry.seq),
            kind: entry.map(|entry| entry.kind),
            says: entry.map(|entry| entry.says.clone()),
            tools_after: self.tools_after.clone(),
        }
    }
}
