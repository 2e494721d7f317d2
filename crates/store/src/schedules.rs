//! Entries of the schedule, as rows. The agenda crate knows what they mean.

use crate::{
    agenda_changes::{self, AgendaRow, ChangedItem},
    applied::{Applied, WriteKey},
    db::{DbError, SqlRow},
    error::StoreError,
    facets::AgendaStore,
    schedule_runs::{self, ScheduledRun},
    statement::{one, params},
};
use everloop_types::{SqlValue, Statement, UtcMs, Write};
use serde::{Deserialize, Serialize};

/// When an entry takes place: in local time, and in UTC.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// Local time of the first occurrence, `YYYY-MM-DDTHH:MM`, with `:SS` where there are seconds.
    pub starts: String,
    /// IANA name of the zone.
    pub zone: String,
    /// The UTC time of the first occurrence.
    pub starts_at: UtcMs,
    /// How long it takes; 0 for a reminder, which takes no time.
    pub minutes: i64,
}

/// How an entry repeats.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepeatRule {
    /// The rule, as calendars write it.
    pub rrule: String,
    /// How often it takes place in all; none for no end.
    pub times: Option<i64>,
    /// 1 if it repeats now, 0 for a rule that is paused.
    pub on: i64,
}

/// How an entry reminds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReminderRule {
    /// Milliseconds before the occurrence.
    pub lead_ms: i64,
    /// No reminder before this time.
    pub from: Option<UtcMs>,
}

/// What a person entered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScheduleText {
    /// What it is.
    pub title: String,
    /// When it is.
    pub span: Span,
    /// Whether it comes again.
    pub repeat: Option<RepeatRule>,
    /// Whether it reminds.
    pub remind: Option<ReminderRule>,
    /// What happens to missed reminders; none for the setting.
    pub catch_up: Option<String>,
    /// What it starts when it is due, in place of reminding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<ScheduledRun>,
}

/// An entry of the schedule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScheduleRow {
    /// Its id, which is never reused.
    pub id: i64,
    /// Its id in other programs.
    pub uid: String,
    /// What the person entered.
    pub said: ScheduleText,
    /// When it reminds next, or starts its next run. The two are different columns, so that an
    /// older program does not take a run for a reminder.
    pub remind_next: Option<UtcMs>,
    /// When it was made.
    pub created_at: UtcMs,
    /// When it was changed last.
    pub updated_at: UtcMs,
    /// How often it was written; a change based on an older version is refused.
    pub version: i64,
}

/// The condition under which an entry is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScheduleGuard {
    /// No condition.
    None,
    /// The schedule still has this revision: no entry was added or changed since it was read, so
    /// the overlaps that were computed are still correct.
    Revision(i64),
}

/// Every write of an entry raises the revision; the lock on its row serializes writers.
const RAISE: Statement =
    Statement::screened("UPDATE counters SET last = last + 1 WHERE name = 'schedule_revision'");

const RAISE_IF: Statement = Statement::screened(
    "
    UPDATE counters SET last = last + 1 WHERE name = 'schedule_revision' AND last = $1
",
);

const REVISION: &str = "SELECT last FROM counters WHERE name = 'schedule_revision'";

const INSERT: Statement = Statement::screened(
    "
    INSERT INTO schedules (schedule_id, uid, title, starts, zone, starts_at, minutes, rrule, times,
                           repeats, remind_lead, remind_from, remind_next, catch_up, run_plan,
                           run_next, created_at, updated_at, version)
    SELECT last, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $16, 1
      FROM counters WHERE name = 'schedule'
    RETURNING schedule_id
",
);

const UPDATE: Statement = Statement::screened(
    "
    UPDATE schedules
       SET title = $2, starts = $3, zone = $4, starts_at = $5, minutes = $6, rrule = $7,
           times = $8, repeats = $9, remind_lead = $10, remind_from = $11, remind_next = $12,
           catch_up = $13, run_plan = $14, run_next = $15, updated_at = $16, version = version + 1,
           run_failures = CASE WHEN COALESCE(run_plan, '') = COALESCE(CAST($14 AS TEXT), '')
                               THEN run_failures ELSE 0 END
     WHERE schedule_id = $1 AND version = $17
",
);

const DELETE: Statement = Statement::screened("DELETE FROM schedules WHERE schedule_id = $1");

const DELETE_VERSION: Statement =
    Statement::screened("DELETE FROM schedules WHERE schedule_id = $1 AND version = $2");

/// An entry that was deleted, under its own number.
const INSERT_AGAIN: Statement = Statement::screened(
    "
    INSERT INTO schedules (schedule_id, uid, title, starts, zone, starts_at, minutes, rrule, times,
                           repeats, remind_lead, remind_from, remind_next, catch_up, run_plan,
                           run_next, created_at, updated_at, version)
    VALUES ($17, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $18, $19)
",
);

const ONE: &str = "
    SELECT schedule_id, uid, title, starts, zone, starts_at, minutes, rrule, times, repeats,
           remind_lead, remind_from, remind_next, catch_up, created_at, updated_at, version,
           run_plan, run_next
      FROM schedules WHERE schedule_id = $1
";

const ALL: &str = "
    SELECT schedule_id, uid, title, starts, zone, starts_at, minutes, rrule, times, repeats,
           remind_lead, remind_from, remind_next, catch_up, created_at, updated_at, version,
           run_plan, run_next
      FROM schedules ORDER BY schedule_id
";

impl AgendaStore<'_> {
    /// Inserts an entry. `id`, the times and the `version` of the row are ignored.
    ///
    /// # Errors
    /// See [`StoreError`]. With a key it may be tried again.
    pub async fn add_schedule(
        self,
        entry: &ScheduleRow,
        guard: ScheduleGuard,
        write: WriteKey<'_>,
    ) -> Result<Applied, StoreError> {
        let insert = one(INSERT, columns(SqlValue::from(entry.uid.as_str()), entry, write));
        let note = agenda_changes::note_added(&AgendaRow::entry(entry.clone()), write.now);
        self.insert_new("schedule", write, Some(raise(guard)), insert, note).await
    }

    /// Updates an entry, unless it was written again since the row was read, or the guard does not
    /// hold.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn change_schedule(
        self,
        entry: &ScheduleRow,
        guard: ScheduleGuard,
        write: WriteKey<'_>,
    ) -> Result<Applied, StoreError> {
        let mut update = columns(SqlValue::from(entry.id), entry, write);
        update.push(SqlValue::from(entry.version));
        let update = vec![one(UPDATE, update)];
        let before = self.schedule(entry.id).await?.map(AgendaRow::entry);
        let after = Some(AgendaRow::entry(entry.clone()));
        let notes =
            agenda_changes::note(&[ChangedItem { subject: entry.id, before, after }], write.now);
        let condition = Some(raise(guard));
        let made = self.change_existing(&[entry.id], write, update, condition, notes).await?;
        let is_there = made == Applied::NotFound && self.schedule(entry.id).await?.is_some();
        Ok(if is_there { Applied::Conflict } else { made })
    }

    /// Inserts `adds` with the times that they have, and updates `changes`, in one transaction.
    /// Returns the new ids in order, or `None` if another process changed a row first.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn import_schedules(
        self,
        adds: &[ScheduleRow],
        changes: &[ScheduleRow],
        now: UtcMs,
    ) -> Result<Option<Vec<i64>>, StoreError> {
        let at = |now| WriteKey { key: None, now };
        let add = |row: &ScheduleRow| {
            one(INSERT, columns(SqlValue::from(row.uid.as_str()), row, at(row.created_at)))
        };
        let change = |row: &ScheduleRow| {
            let mut update = columns(SqlValue::from(row.id), row, at(now));
            update.push(SqlValue::from(row.version));
            one(UPDATE, update)
        };
        let (adds, changes) =
            (adds.iter().map(add).collect(), changes.iter().map(change).collect());
        self.import_rows("schedule", adds, changes, Some(raise(ScheduleGuard::None))).await
    }

    /// Deletes entries, all or none.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn delete_schedules(
        self,
        ids: &[i64],
        write: WriteKey<'_>,
    ) -> Result<Applied, StoreError> {
        let deletes = ids.iter().map(|id| one(DELETE, params![*id])).collect();
        let mut changed = Vec::new();
        for id in ids {
            let before = self.schedule(*id).await?.map(AgendaRow::entry);
            changed.push(ChangedItem { subject: *id, before, after: None });
        }
        let notes = agenda_changes::note(&changed, write.now);
        self.change_existing(ids, write, deletes, None, notes).await
    }

    /// The revision of the schedule. Read it before the entries that a decision depends on.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn schedule_revision(self) -> Result<i64, StoreError> {
        match self.store.first(REVISION, params![]).await? {
            Some(row) => Ok(row.cells().int()?),
            None => Ok(0),
        }
    }

    /// One entry.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn schedule(self, id: i64) -> Result<Option<ScheduleRow>, StoreError> {
        Ok(self.store.first(ONE, params![id]).await?.map(read).transpose()?)
    }

    /// All entries, by number.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn schedules(self) -> Result<Vec<ScheduleRow>, StoreError> {
        let rows = self.store.rows(ALL, params![]).await?;
        Ok(rows.into_iter().map(read).collect::<Result<_, _>>()?)
    }
}

/// Makes the row what it was, from what it is.
pub(crate) fn restore(
    current: Option<&ScheduleRow>,
    before: Option<&ScheduleRow>,
    now: UtcMs,
) -> Write {
    let at = |now| WriteKey { key: None, now };
    match (current, before) {
        (Some(current), Some(before)) => {
            let mut row = columns(SqlValue::from(before.id), before, at(now));
            row.push(SqlValue::from(current.version));
            one(UPDATE, row)
        }
        (None, Some(before)) => {
            let uid = SqlValue::from(before.uid.as_str());
            let mut row = columns(uid, before, at(before.created_at));
            row.extend(params![before.id, now, before.version.saturating_add(1)]);
            one(INSERT_AGAIN, row)
        }
        (Some(current), None) => one(DELETE_VERSION, params![current.id, current.version]),
        (None, None) => crate::statement::any(DELETE, params![0_i64]),
    }
}

/// Raises the revision, whatever it is.
pub(crate) fn raise_revision() -> Write {
    raise(ScheduleGuard::None)
}

/// The last lock that a transaction takes, except for that of the changes, so that two transactions
/// cannot deadlock.
fn raise(guard: ScheduleGuard) -> Write {
    match guard {
        ScheduleGuard::None => one(RAISE, params![]),
        ScheduleGuard::Revision(revision) => one(RAISE_IF, params![revision]),
    }
}

/// The values of a row, after its id or uid.
fn columns(name: SqlValue, entry: &ScheduleRow, write: WriteKey<'_>) -> Vec<SqlValue> {
    let ScheduleText { title, span, repeat, remind, catch_up, run } = &entry.said;
    let repeat = repeat.as_ref();
    let mut row = vec![name];
    row.extend(params![
        title.as_str(),
        span.starts.as_str(),
        span.zone.as_str(),
        span.starts_at,
        span.minutes,
        repeat.map(|repeat| repeat.rrule.as_str()),
        repeat.and_then(|repeat| repeat.times),
        repeat.map_or(0, |repeat| repeat.on),
        remind.as_ref().map(|remind| remind.lead_ms),
        remind.as_ref().and_then(|remind| remind.from),
        entry.remind_next.filter(|_| run.is_none()),
        catch_up.as_deref(),
        run.as_ref().map(schedule_runs::plan_text),
        entry.remind_next.filter(|_| run.is_some()),
        write.now,
    ]);
    row
}

fn read(row: SqlRow) -> Result<ScheduleRow, DbError> {
    let mut cells = row.cells();
    let (id, uid, title) = (cells.int()?, cells.text()?, cells.text()?);
    let span = Span {
        starts: cells.text()?,
        zone: cells.text()?,
        starts_at: cells.int()?,
        minutes: cells.int()?,
    };
    let (rrule, times, on) = (cells.opt_text()?, cells.opt_int()?, cells.int()?);
    let (lead, from, remind_next) = (cells.opt_int()?, cells.opt_int()?, cells.opt_int()?);
    let catch_up = cells.opt_text()?;
    let (created_at, updated_at, version) = (cells.int()?, cells.int()?, cells.int()?);
    let run = cells.opt_text()?.as_deref().map(schedule_runs::read_plan).transpose()?;
    let run_next = cells.opt_int()?;
    let repeat = rrule.map(|rrule| RepeatRule { rrule, times, on });
    let remind = lead.map(|lead_ms| ReminderRule { lead_ms, from });
    let remind_next = if run.is_some() { run_next } else { remind_next };
    let said = ScheduleText { title, span, repeat, remind, catch_up, run };
    Ok(ScheduleRow { id, uid, said, remind_next, created_at, updated_at, version })
}
