//! Parents and children: how a child comes into being, and the letters between the two.
//!
//! Rows are locked from the top of the tree down: a child's end first rings at its parent, a
//! parent's end then stops its children. So two that end at once wait, and never for each other.

use crate::{
    create::{self, NewRun},
    error::StoreError,
    facets::RunCatalog,
    inbox::RING,
    row,
    runs::status,
    statement::{any, int, one, params},
};
use everloop_types::{
    EffectId, RunId, Statement, Status, UtcMs, Write,
    journal::{ChildEnded, Entry, InboxMessage, Kind, Spawned},
};

/// What a commit means for the run's parent and children.
#[derive(Debug, Clone, Default)]
pub struct Relations {
    /// A child that begins.
    pub child: Option<Box<NewChild>>,
    /// What the parent hears of this run's end.
    pub report: Option<Box<Report>>,
    /// Whether all living children are to end.
    pub stops_children: bool,
}

/// A child that is to be.
#[derive(Debug, Clone)]
pub struct NewChild {
    /// The run, with its first entry.
    pub new: NewRun,
    /// The parent's effect that it is for.
    pub by: EffectId,
}

/// A letter from a child to its parent.
#[derive(Debug, Clone)]
pub struct Report {
    /// The parent.
    pub to: RunId,
    /// What it says.
    pub ended: ChildEnded,
}

/// One run of a family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relative {
    /// The run.
    pub run: RunId,
    /// Where it stands.
    pub status: Status,
    /// What it was for.
    pub goal: String,
}

pub(crate) const MARK_CHILD: Statement = Statement::screened(
    "
    UPDATE runs SET parent_run_id = $2, next_seq = next_seq + 1, bytes = bytes + $3
     WHERE run_id = $1
",
);

/// Nobody reads what comes to a run that is over.
const PUT_TO_LIVING: Statement = Statement::screened(
    "
    INSERT INTO inbox (run_id, dedupe, pos, kind, body, created_at)
    SELECT run_id, $2, inbox_ctr, $3, $4, $5 FROM runs
     WHERE run_id = $1 AND status IN ('queued', 'running', 'waiting')
    ON CONFLICT DO NOTHING
",
);

/// As [`RING`], for all children that live.
pub(crate) const RING_CHILDREN: Statement = Statement::screened(
    "
    UPDATE runs
       SET inbox_ctr = inbox_ctr + 1,
           status = CASE WHEN status = 'waiting' THEN 'queued' ELSE status END,
           wake_at = CASE WHEN wake_at > $2 THEN $2 ELSE wake_at END
     WHERE parent_run_id = $1 AND status IN ('queued', 'running', 'waiting')
",
);

pub(crate) const PUT_TO_CHILDREN: Statement = Statement::screened(
    "
    INSERT INTO inbox (run_id, dedupe, pos, kind, body, created_at)
    SELECT run_id, 'cancel', inbox_ctr, $2, $3, $4 FROM runs
     WHERE parent_run_id = $1 AND status IN ('queued', 'running', 'waiting')
    ON CONFLICT DO NOTHING
",
);

/// Runs this many levels below are told of a cancel; `delegate.max_depth` allows no more.
const LEVELS_MAX: i64 = 10;

/// The runs below `$1`, down to level `$2`.
macro_rules! below {
    ($statement:literal) => {
        concat!(
            "
      WITH RECURSIVE below (run_id, level) AS (
           SELECT run_id, CAST(1 AS BIGINT) FROM runs WHERE parent_run_id = $1
            UNION ALL
           SELECT r.run_id, b.level + 1 FROM runs r JOIN below b ON r.parent_run_id = b.run_id
            WHERE b.level < $2)
",
            $statement
        )
    };
}

pub(crate) const RING_LEVEL: Statement = Statement::screened(below!(
    "
    UPDATE runs
       SET inbox_ctr = inbox_ctr + 1,
           status = CASE WHEN status = 'waiting' THEN 'queued' ELSE status END,
           wake_at = CASE WHEN wake_at > $3 THEN $3 ELSE wake_at END
     WHERE run_id IN (SELECT run_id FROM below WHERE level = $2)
       AND status IN ('queued', 'running', 'waiting')
"
));

pub(crate) const PUT_TO_LEVEL: Statement = Statement::screened(below!(
    "
    INSERT INTO inbox (run_id, dedupe, pos, kind, body, created_at)
    SELECT run_id, $3, inbox_ctr, $3, $4, $5 FROM runs
     WHERE run_id IN (SELECT run_id FROM below WHERE level = $2)
       AND status IN ('queued', 'running', 'waiting')
    ON CONFLICT DO NOTHING
"
));

/// A cancel that the parent has not read yet is the child's as well. Its row is new, so nobody
/// else counts its letters.
pub(crate) const INHERIT_CANCEL: Statement = Statement::screened(
    "
    INSERT INTO inbox (run_id, dedupe, pos, kind, body, created_at)
    SELECT c.run_id, i.dedupe, c.inbox_ctr + 1, i.kind, i.body, i.created_at
      FROM inbox i JOIN runs c ON c.run_id = $1
     WHERE i.run_id = $2 AND i.dedupe = 'cancel' AND i.taken_seq IS NULL
    ON CONFLICT DO NOTHING
",
);

pub(crate) const COUNT_INHERITED: Statement = Statement::screened(
    "
    UPDATE runs
       SET inbox_ctr = (SELECT COALESCE(MAX(pos), 0) FROM inbox WHERE inbox.run_id = $1)
     WHERE run_id = $1
",
);

const CHILDREN: &str = "
    SELECT run_id, status, goal FROM runs WHERE parent_run_id = $1 ORDER BY created_at, run_id
";

const PARENT: &str = "SELECT parent_run_id FROM runs WHERE run_id = $1";

impl RunCatalog<'_> {
    /// The children of a run, the oldest first.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn children(self, run: &RunId) -> Result<Vec<Relative>, StoreError> {
        let rows = self.store.rows(CHILDREN, params![run.as_str()]).await?;
        let read = |row: crate::Row| {
            let mut cells = row.cells();
            let run = RunId::new(cells.text()?);
            Ok(Relative { run, status: status(&mut cells)?, goal: cells.text()? })
        };
        rows.into_iter().map(read).collect()
    }

    /// All living runs below a run, from the top down.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn descendants(self, run: &RunId) -> Result<Vec<RunId>, StoreError> {
        let mut found = Vec::new();
        let mut above = vec![run.clone()];
        while let Some(run) = above.pop() {
            for child in self.children(&run).await? {
                // One that is over has told its own children to end, and they may be at it still.
                above.push(child.run.clone());
                if !child.status.is_final() {
                    found.push(child.run);
                }
            }
        }
        Ok(found)
    }

    /// The parent of a run, if it is a child.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn parent(self, run: &RunId) -> Result<Option<RunId>, StoreError> {
        let row = self.store.first(PARENT, params![run.as_str()]).await?;
        let parent = row.map(|row| row.cells().opt_text()).transpose()?.flatten();
        Ok(parent.map(RunId::new))
    }
}

/// A child that begins, and those that are to end.
pub(crate) fn of_children(
    kin: &Relations,
    run: &RunId,
    now: UtcMs,
) -> Result<Vec<Write>, StoreError> {
    let mut writes = kin.child.as_deref().map(birth).transpose()?.unwrap_or_default();
    if kin.stops_children {
        writes.extend(stop_children(run, now));
    }
    Ok(writes)
}

/// The child and its two first entries.
fn birth(child: &NewChild) -> Result<Vec<Write>, StoreError> {
    let run = &child.new.run;
    let kind = Kind::Spawned(Spawned { by: child.by.clone() });
    let entry = Entry { seq: 2, epoch: 0, at: child.new.now, effect: None, kind };
    let second = row::writes(run, &entry)?;
    let mark = params![run.as_str(), child.by.run.as_str(), int(second.bytes)];
    let mut writes = create::writes(&child.new)?;
    writes.extend(second.blob);
    writes.extend([second.row, one(MARK_CHILD, mark)]);
    let inherit = params![run.as_str(), child.by.run.as_str()];
    let count = params![run.as_str()];
    writes.extend([any(INHERIT_CANCEL, inherit), one(COUNT_INHERITED, count)]);
    Ok(writes)
}

/// The same letter for every run below that lives, found in this very transaction: a child that
/// began a moment ago is told as well. Level by level, so that rows are locked from the top down.
pub(crate) fn to_descendants(run: &RunId, letter: &InboxMessage, now: UtcMs) -> Vec<Write> {
    let body = serde_json::to_string(letter).expect("our own types always have a JSON form");
    let level = |level: i64| {
        let put = params![run.as_str(), level, letter.kind(), body.as_str(), now];
        [any(RING_LEVEL, params![run.as_str(), level, now]), any(PUT_TO_LEVEL, put)]
    };
    (1..=LEVELS_MAX).flat_map(level).collect()
}

/// A letter to a run that may be over.
fn put(run: &RunId, dedupe: &str, letter: &InboxMessage, now: UtcMs) -> [Write; 2] {
    let body = serde_json::to_string(letter).expect("our own types always have a JSON form");
    let put = params![run.as_str(), dedupe, letter.kind(), body, now];
    [any(RING, params![run.as_str(), now]), any(PUT_TO_LIVING, put)]
}

/// A parent that is over hears nothing, which is no fault of the child's.
pub(crate) fn report(report: &Report, now: UtcMs) -> [Write; 2] {
    let letter = InboxMessage::Child(Box::new(report.ended.clone()));
    put(&report.to, report.ended.child.as_str(), &letter, now)
}

pub(crate) fn stop_children(run: &RunId, now: UtcMs) -> [Write; 2] {
    let letter = InboxMessage::Cancel { by: format!("parent {run}") };
    let body = serde_json::to_string(&letter).expect("our own types always have a JSON form");
    let put = params![run.as_str(), letter.kind(), body, now];
    [any(RING_CHILDREN, params![run.as_str(), now]), any(PUT_TO_CHILDREN, put)]
}
