//! Changes of the agenda that can be undone: each write of a todo or an entry records the rows
//! before and after it, in the same transaction.
//!
//! ```text
//!   change ──► rows before, rows after (number n) ──undo n──► the rows are as before, n is gone
//! ```
//!
//! A row that was changed since is left alone, and the caller hears of it. A reminder that fired is
//! no such change. Deliberately absent: imports, which are many changes of other programs' rows.

use crate::{
    applied::NEXT_NUMBER,
    db::{DbError, SqlRow, Urgency},
    error::StoreError,
    facets::AgendaStore,
    schedules::{self, ScheduleRow},
    statement::{any, one, params},
    todos::{self, TodoRow},
};
use everloop_types::{Statement, UtcMs, Write};
use serde::{Deserialize, Serialize};

/// Changes that are kept.
const KEPT: i64 = 100;

/// A todo or an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgendaRow {
    /// A todo.
    Todo(TodoRow),
    /// An entry of the schedule.
    Entry(Box<ScheduleRow>),
}

impl AgendaRow {
    /// An entry of the schedule.
    pub(crate) fn entry(row: ScheduleRow) -> Self {
        Self::Entry(Box::new(row))
    }

    /// Its kind in the database.
    fn kind(&self) -> &'static str {
        match self {
            Self::Todo(_) => "todo",
            Self::Entry(_) => "schedule",
        }
    }

    /// Its text.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Todo(row) => &row.said.text,
            Self::Entry(row) => &row.said.title,
        }
    }

    /// When it reminds next. A person may put that off; firing moves it too, which changes nothing.
    fn remind_next(&self) -> Option<UtcMs> {
        match self {
            Self::Todo(row) => row.remind_next,
            Self::Entry(row) => row.remind_next,
        }
    }

    /// Whether a person would say that nothing was changed.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Todo(one), Self::Todo(other)) => {
                one.said == other.said && one.done_at == other.done_at
            }
            (Self::Entry(one), Self::Entry(other)) => one.said == other.said,
            _ => false,
        }
    }
}

/// One row of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedItem {
    /// Its number.
    pub subject: i64,
    /// As it was; `None` if it was added.
    pub before: Option<AgendaRow>,
    /// As the change made it; `None` if it was deleted.
    pub after: Option<AgendaRow>,
}

impl ChangedItem {
    /// Whether a person would say that something was changed.
    fn is_change(&self) -> bool {
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => {
                !before.is_same(after) || before.remind_next() != after.remind_next()
            }
            (None, None) => false,
            _ => true,
        }
    }

    fn kind(&self) -> &'static str {
        let row = self.before.as_ref().or(self.after.as_ref());
        row.map_or("todo", AgendaRow::kind)
    }
}

/// One change of the agenda.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeRecord {
    /// Its number, from 1.
    pub number: i64,
    /// When it was made.
    pub at: UtcMs,
    /// The rows.
    pub items: Vec<ChangedItem>,
}

/// What undoing a change did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UndoResult {
    /// The rows are as they were before it.
    Undone,
    /// This row was changed since; nothing was written.
    ChangedSince(i64),
    /// Another process changed a row at the same time; nothing was written.
    Conflict,
}

const NOTE: Statement = Statement::screened(
    "
    INSERT INTO agenda_changes (change_id, kind, subject, row_before, row_after, at)
    SELECT last, $1, $2, $3, $4, $5 FROM counters WHERE name = 'agenda_change'
",
);

/// The number of a new row is known to the database only.
const NOTE_ADDED: Statement = Statement::screened(
    "
    INSERT INTO agenda_changes (change_id, kind, subject, row_after, at)
    SELECT c.last, $1, k.last, $2, $3 FROM counters c, counters k
     WHERE c.name = 'agenda_change' AND k.name = $1
",
);

const FORGET: Statement = Statement::screened(
    "
    DELETE FROM agenda_changes
     WHERE change_id <= (SELECT last FROM counters WHERE name = 'agenda_change') - $1
",
);

const DROP: Statement = Statement::screened("DELETE FROM agenda_changes WHERE change_id = $1");

const LAST: &str = "
    SELECT change_id, kind, subject, row_before, row_after, at FROM agenda_changes
     WHERE change_id = (SELECT MAX(change_id) FROM agenda_changes) ORDER BY kind, subject
";

/// The writes that record a change; none if a person would say that nothing was changed.
pub(crate) fn note(items: &[ChangedItem], now: UtcMs) -> Vec<Write> {
    let items: Vec<&ChangedItem> = items.iter().filter(|item| item.is_change()).collect();
    if items.is_empty() {
        return Vec::new();
    }
    let mut writes = vec![one(NEXT_NUMBER, params!["agenda_change"])];
    writes.extend(items.into_iter().map(|item| {
        let (before, after) = (written(item.before.as_ref()), written(item.after.as_ref()));
        one(NOTE, params![item.kind(), item.subject, before, after, now])
    }));
    writes.push(any(FORGET, params![KEPT]));
    writes
}

/// The same for a row that gets its number in this transaction.
pub(crate) fn note_added(row: &AgendaRow, now: UtcMs) -> Vec<Write> {
    vec![
        one(NEXT_NUMBER, params!["agenda_change"]),
        one(NOTE_ADDED, params![row.kind(), written(Some(row)), now]),
        any(FORGET, params![KEPT]),
    ]
}

fn written(row: Option<&AgendaRow>) -> Option<String> {
    row.and_then(|row| serde_json::to_string(row).ok())
}

impl AgendaStore<'_> {
    /// The newest change that was not undone.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn last_change(self) -> Result<Option<ChangeRecord>, StoreError> {
        let mut record: Option<ChangeRecord> = None;
        for row in self.store.rows(LAST, params![]).await? {
            let (number, at, item) = read(row)?;
            let record = record.get_or_insert(ChangeRecord { number, at, items: Vec::new() });
            record.items.push(item);
        }
        Ok(record)
    }

    /// Undoes a change, all of it or nothing.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn undo_change(
        self,
        record: &ChangeRecord,
        now: UtcMs,
    ) -> Result<UndoResult, StoreError> {
        let mut writes = vec![];
        for item in &record.items {
            let current = self.current(item).await?;
            let is_same = match (&current, &item.after) {
                (Some(current), Some(after)) => current.is_same(after),
                (None, None) => true,
                _ => false,
            };
            if !is_same {
                return Ok(UndoResult::ChangedSince(item.subject));
            }
            writes.push(restore(current.as_ref(), item.before.as_ref(), now));
        }
        if record.items.iter().any(|item| item.kind() == "schedule") {
            writes.push(schedules::raise_revision());
        }
        writes.push(any(DROP, params![record.number]));
        match self.store.db.commit(writes, Urgency::Critical).await {
            Ok(_) => Ok(UndoResult::Undone),
            Err(DbError::Expectation { .. } | DbError::Unique { .. }) => Ok(UndoResult::Conflict),
            Err(error) => Err(error.into()),
        }
    }

    async fn current(self, item: &ChangedItem) -> Result<Option<AgendaRow>, StoreError> {
        Ok(match item.kind() {
            "todo" => self.todo(item.subject).await?.map(AgendaRow::Todo),
            _ => self.schedule(item.subject).await?.map(AgendaRow::entry),
        })
    }
}

fn restore(current: Option<&AgendaRow>, before: Option<&AgendaRow>, now: UtcMs) -> Write {
    fn todo(row: Option<&AgendaRow>) -> Option<&TodoRow> {
        match row? {
            AgendaRow::Todo(row) => Some(row),
            AgendaRow::Entry(_) => None,
        }
    }
    fn entry(row: Option<&AgendaRow>) -> Option<&ScheduleRow> {
        match row? {
            AgendaRow::Entry(row) => Some(row),
            AgendaRow::Todo(_) => None,
        }
    }
    match current.or(before).map(AgendaRow::kind) {
        Some("schedule") => schedules::restore(entry(current), entry(before), now),
        _ => todos::restore(todo(current), todo(before), now),
    }
}

fn read(row: SqlRow) -> Result<(i64, UtcMs, ChangedItem), DbError> {
    let mut cells = row.cells();
    let (number, _kind, subject) = (cells.int()?, cells.text()?, cells.int()?);
    let parse = |text: Option<String>, column| match text {
        Some(text) => serde_json::from_str(&text)
            .map(Some)
            .map_err(|_| DbError::Shape { column, wanted: "a todo or an entry" }),
        None => Ok(None),
    };
    let before = parse(cells.opt_text()?, 4)?;
    let after = parse(cells.opt_text()?, 5)?;
    Ok((number, cells.int()?, ChangedItem { subject, before, after }))
}
