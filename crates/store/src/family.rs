//! Parents and children: how a child is created, and the messages between the two.
//!
//! Rows are locked from the top of the tree down: a child that ends notifies its parent
//! first, a parent that ends then stops its children. So two runs that end at once cannot deadlock.

use crate::{
    create::{self, NewRun},
    error::StoreError,
    facets::RunCatalog,
    inbox::NOTIFY,
    row,
    runs::status,
    statement::{any, int, one, params},
};
use everloop_types::{
    EffectId, RunId, Statement, Status, UtcMs, Write,
    journal::{ChildEnded, Entry, EntryKind, InboxMessage, Spawned},
};

/// What a commit means for the run's parent and children.
#[derive(Debug, Clone, Default)]
pub struct Relations {
    /// A child to create.
    pub child: Option<Box<NewChild>>,
    /// What the parent is told about the end of this run.
    pub report: Option<Box<ChildReport>>,
    /// Whether all unfinished children are canceled.
    pub stops_children: bool,
}

/// A child to create.
#[derive(Debug, Clone)]
pub struct NewChild {
    /// The run, with its first entry.
    pub new: NewRun,
    /// The effect of the parent that it was created for.
    pub by: EffectId,
}

/// What a child tells its parent when it ends.
#[derive(Debug, Clone)]
pub struct ChildReport {
    /// The parent.
    pub to: RunId,
    /// What it says.
    pub ended: ChildEnded,
}

/// A parent, child or sibling of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relative {
    /// The run.
    pub run: RunId,
    /// Its status.
    pub status: Status,
    /// Its goal.
    pub goal: String,
}

pub(crate) const MARK_CHILD: Statement = Statement::screened(
    "
    UPDATE runs SET parent_run_id = $2, next_seq = next_seq + 1, bytes = bytes + $3
     WHERE run_id = $1
",
);

/// A finished run gets no message: it would never be read.
const PUT_TO_LIVING: Statement = Statement::screened(
    "
    INSERT INTO inbox (run_id, dedupe, pos, kind, body, created_at)
    SELECT run_id, $2, inbox_ctr, $3, $4, $5 FROM runs
     WHERE run_id = $1 AND status IN ('queued', 'running', 'waiting')
    ON CONFLICT DO NOTHING
",
);

/// As [`NOTIFY`], for all unfinished children.
pub(crate) const NOTIFY_CHILDREN: Statement = Statement::screened(
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

/// How many levels below a run a cancel reaches; `delegate.max_depth` allows no more.
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

pub(crate) const NOTIFY_LEVEL: Statement = Statement::screened(below!(
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

/// A cancel that the parent has not read yet applies to the child as well. The row of the child is
/// new, so no other transaction counts its messages.
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
        let read = |row: crate::SqlRow| {
            let mut cells = row.cells();
            let run = RunId::new(cells.text()?);
            Ok(Relative { run, status: status(&mut cells)?, goal: cells.text()? })
        };
        rows.into_iter().map(read).collect()
    }

    /// All unfinished descendants of a run, from the top down.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn descendants(self, run: &RunId) -> Result<Vec<RunId>, StoreError> {
        let mut found = Vec::new();
        let mut above = vec![run.clone()];
        while let Some(run) = above.pop() {
            for child in self.children(&run).await? {
                // A finished child has canceled its own children, which may still be ending.
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

/// The writes that create a child and stop the others.
pub(crate) fn of_children(
    relations: &Relations,
    run: &RunId,
    now: UtcMs,
) -> Result<Vec<Write>, StoreError> {
    let mut writes = relations.child.as_deref().map(child_writes).transpose()?.unwrap_or_default();
    if relations.stops_children {
        writes.extend(stop_children(run, now));
    }
    Ok(writes)
}

/// The child and its first two entries.
fn child_writes(child: &NewChild) -> Result<Vec<Write>, StoreError> {
    let run = &child.new.run;
    let kind = EntryKind::Spawned(Spawned { by: child.by.clone() });
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

/// The same message for every unfinished descendant. They are found within the transaction, so a
/// child that was just created gets it too. Level by level, so that rows are locked from the top
/// down.
pub(crate) fn to_descendants(run: &RunId, message: &InboxMessage, now: UtcMs) -> Vec<Write> {
    let body = serde_json::to_string(message).expect("our own types always have a JSON form");
    let level = |level: i64| {
        let put = params![run.as_str(), level, message.kind(), body.as_str(), now];
        [any(NOTIFY_LEVEL, params![run.as_str(), level, now]), any(PUT_TO_LEVEL, put)]
    };
    (1..=LEVELS_MAX).flat_map(level).collect()
}

/// A message to a run that may have finished.
fn put(run: &RunId, dedupe: &str, message: &InboxMessage, now: UtcMs) -> [Write; 2] {
    let body = serde_json::to_string(message).expect("our own types always have a JSON form");
    let put = params![run.as_str(), dedupe, message.kind(), body, now];
    [any(NOTIFY, params![run.as_str(), now]), any(PUT_TO_LIVING, put)]
}

/// A parent that has finished gets no report; that is not an error of the child.
pub(crate) fn report(report: &ChildReport, now: UtcMs) -> [Write; 2] {
    let message = InboxMessage::Child(Box::new(report.ended.clone()));
    put(&report.to, report.ended.child.as_str(), &message, now)
}

pub(crate) fn stop_children(run: &RunId, now: UtcMs) -> [Write; 2] {
    let message = InboxMessage::Cancel { by: format!("parent {run}") };
    let body = serde_json::to_string(&message).expect("our own types always have a JSON form");
    let put = params![run.as_str(), message.kind(), body, now];
    [any(NOTIFY_CHILDREN, params![run.as_str(), now]), any(PUT_TO_CHILDREN, put)]
}
