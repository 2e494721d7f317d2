//! Todos, as rows. The agenda crate knows what they mean.

use crate::{
    agenda_changes::{self, AgendaRow, ChangedItem},
    applied::{Applied, WriteKey},
    db::{DbError, SqlCells, SqlRow},
    error::StoreError,
    facets::AgendaStore,
    statement::{one, params},
};
use everloop_types::{Statement, UtcMs, Write};
use serde::{Deserialize, Serialize};

/// What a person entered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoText {
    /// What is to be done.
    pub text: String,
    /// Its tags, in the order in which they were given.
    pub tags: Vec<String>,
    /// Higher ones come first.
    pub priority: i64,
    /// When it must be done.
    pub due_at: Option<UtcMs>,
    /// When the person is reminded.
    pub remind_at: Option<UtcMs>,
    /// Milliseconds before the due time, if the reminder moves with it.
    pub remind_lead: Option<i64>,
}

/// What the first tag is in the database if there is none.
const NO_TAG: &str = "default";

/// A todo.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoRow {
    /// Its id, which is never reused.
    pub id: i64,
    /// Its id in other programs.
    pub uid: String,
    /// What the person entered.
    pub said: TodoText,
    /// When the reminder is still to fire.
    pub remind_next: Option<UtcMs>,
    /// When it was done.
    pub done_at: Option<UtcMs>,
    /// When it was made.
    pub created_at: UtcMs,
    /// When it was changed last.
    pub updated_at: UtcMs,
    /// How often it was written; a change based on an older version is refused.
    pub version: i64,
}

const INSERT: Statement = Statement::screened(
    "
    INSERT INTO todos (todo_id, uid, body, tag, priority, due_at, remind_at, remind_next, done_at,
                       created_at, updated_at, version, remind_lead, more_tags)
    SELECT last, $1, $2, $3, $4, $5, $6, $7, $8, $9, $9, 1, $10, $11 FROM counters WHERE name = 'todo'
    RETURNING todo_id
",
);

const UPDATE: Statement = Statement::screened(
    "
    UPDATE todos SET body = $2, tag = $3, priority = $4, due_at = $5, remind_at = $6,
           remind_next = $7, done_at = $8, updated_at = $9, remind_lead = $11,
           more_tags = $12, version = version + 1
     WHERE todo_id = $1 AND version = $10
",
);

const DELETE: Statement = Statement::screened("DELETE FROM todos WHERE todo_id = $1");

const DELETE_VERSION: Statement =
    Statement::screened("DELETE FROM todos WHERE todo_id = $1 AND version = $2");

/// A todo that was deleted, under its own number.
const INSERT_AGAIN: Statement = Statement::screened(
    "
    INSERT INTO todos (todo_id, uid, body, tag, priority, due_at, remind_at, remind_next, done_at,
                       created_at, updated_at, version, remind_lead, more_tags)
    VALUES ($12, $1, $2, $3, $4, $5, $6, $7, $8, $9, $13, $14, $10, $11)
",
);

const ONE: &str = "
    SELECT todo_id, uid, body, tag, priority, due_at, remind_at, remind_next, done_at,
           created_at, updated_at, version, remind_lead, more_tags
      FROM todos WHERE todo_id = $1
";

const ALL: &str = "
    SELECT todo_id, uid, body, tag, priority, due_at, remind_at, remind_next, done_at,
           created_at, updated_at, version, remind_lead, more_tags
      FROM todos ORDER BY todo_id
";

const COUNT_DUE: &str = "SELECT count(*) FROM todos WHERE done_at IS NULL AND due_at < $1";

impl AgendaStore<'_> {
    /// Inserts a todo. `id`, the times and the `version` of the row are ignored.
    ///
    /// # Errors
    /// See [`StoreError`]. With a key it may be tried again.
    pub async fn add_todo(
        self,
        todo: &TodoRow,
        write: WriteKey<'_>,
    ) -> Result<Applied, StoreError> {
        let note = agenda_changes::note_added(&AgendaRow::Todo(todo.clone()), write.now);
        self.insert_new("todo", write, None, insert(todo, write.now), note).await
    }

    /// Inserts `adds` with the times that they have, and updates `changes`, in one transaction.
    /// False if another process changed a row first; then nothing was written.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn import_todos(
        self,
        adds: &[TodoRow],
        changes: &[TodoRow],
        now: UtcMs,
    ) -> Result<bool, StoreError> {
        let adds = adds.iter().map(|todo| insert(todo, todo.created_at)).collect();
        let changes = changes.iter().map(|todo| update(todo, now)).collect();
        Ok(self.import_rows("todo", adds, changes, None).await?.is_some())
    }

    /// Updates todos, all or none, unless one was written again since it was read.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn change_todos(
        self,
        todos: &[TodoRow],
        write: WriteKey<'_>,
    ) -> Result<Applied, StoreError> {
        let ids: Vec<i64> = todos.iter().map(|todo| todo.id).collect();
        let updates = todos.iter().map(|todo| update(todo, write.now)).collect();
        let mut changed = Vec::new();
        for todo in todos {
            let before = self.todo(todo.id).await?.map(AgendaRow::Todo);
            changed.push(ChangedItem {
                subject: todo.id,
                before,
                after: Some(AgendaRow::Todo(todo.clone())),
            });
        }
        let notes = agenda_changes::note(&changed, write.now);
        let made = self.change_existing(&ids, write, updates, None, notes).await?;
        if made != Applied::NotFound {
            return Ok(made);
        }
        for id in ids {
            if self.todo(id).await?.is_none() {
                return Ok(Applied::NotFound);
            }
        }
        Ok(Applied::Conflict)
    }

    /// Deletes todos, all or none.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn delete_todos(
        self,
        ids: &[i64],
        write: WriteKey<'_>,
    ) -> Result<Applied, StoreError> {
        let deletes = ids.iter().map(|id| one(DELETE, params![*id])).collect();
        let mut changed = Vec::new();
        for id in ids {
            let before = self.todo(*id).await?.map(AgendaRow::Todo);
            changed.push(ChangedItem { subject: *id, before, after: None });
        }
        let notes = agenda_changes::note(&changed, write.now);
        self.change_existing(ids, write, deletes, None, notes).await
    }

    /// One todo.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn todo(self, id: i64) -> Result<Option<TodoRow>, StoreError> {
        Ok(self.store.first(ONE, params![id]).await?.map(read).transpose()?)
    }

    /// All todos, by number.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn todos(self) -> Result<Vec<TodoRow>, StoreError> {
        let rows = self.store.rows(ALL, params![]).await?;
        Ok(rows.into_iter().map(read).collect::<Result<_, _>>()?)
    }

    /// How many todos are open and due before a moment.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn count_due_todos(self, before: UtcMs) -> Result<i64, StoreError> {
        match self.store.first(COUNT_DUE, params![before]).await? {
            Some(row) => Ok(row.cells().int()?),
            None => Ok(0),
        }
    }
}

/// Makes the row what it was, from what it is.
pub(crate) fn restore(current: Option<&TodoRow>, before: Option<&TodoRow>, now: UtcMs) -> Write {
    match (current, before) {
        (Some(current), Some(before)) => {
            update(&TodoRow { version: current.version, ..before.clone() }, now)
        }
        (None, Some(before)) => {
            let mut row = insert(before, before.created_at).params;
            row.extend(params![before.id, now, before.version.saturating_add(1)]);
            one(INSERT_AGAIN, row)
        }
        (Some(current), None) => one(DELETE_VERSION, params![current.id, current.version]),
        (None, None) => crate::statement::any(DELETE, params![0_i64]),
    }
}

fn insert(todo: &TodoRow, now: UtcMs) -> Write {
    let said = &todo.said;
    let row = params![
        todo.uid.as_str(),
        said.text.as_str(),
        first_tag(said),
        said.priority,
        said.due_at,
        said.remind_at,
        todo.remind_next,
        todo.done_at,
        now,
        said.remind_lead,
        more_tags(said),
    ];
    one(INSERT, row)
}

fn update(todo: &TodoRow, now: UtcMs) -> Write {
    let said = &todo.said;
    let row = params![
        todo.id,
        said.text.as_str(),
        first_tag(said),
        said.priority,
        said.due_at,
        said.remind_at,
        todo.remind_next,
        todo.done_at,
        now,
        todo.version,
        said.remind_lead,
        more_tags(said),
    ];
    one(UPDATE, row)
}

fn first_tag(said: &TodoText) -> &str {
    said.tags.first().map_or(NO_TAG, String::as_str)
}

fn more_tags(said: &TodoText) -> String {
    serde_json::json!(said.tags.get(1..).unwrap_or_default()).to_string()
}

fn read(row: SqlRow) -> Result<TodoRow, DbError> {
    let mut cells = row.cells();
    let (id, uid, mut said) = (cells.int()?, cells.text()?, said(&mut cells)?);
    let (remind_next, done_at) = (cells.opt_int()?, cells.opt_int()?);
    let (created_at, updated_at, version) = (cells.int()?, cells.int()?, cells.int()?);
    said.remind_lead = cells.opt_int()?;
    let more: Vec<String> = serde_json::from_str(&cells.text()?)
        .map_err(|_| DbError::Shape { column: 14, wanted: "a list of tags" })?;
    said.tags.extend(more);
    Ok(TodoRow { id, uid, said, remind_next, done_at, created_at, updated_at, version })
}

fn said(cells: &mut SqlCells) -> Result<TodoText, DbError> {
    Ok(TodoText {
        text: cells.text()?,
        tags: Some(cells.text()?).filter(|tag| tag != NO_TAG).into_iter().collect(),
        priority: cells.int()?,
        due_at: cells.opt_int()?,
        remind_at: cells.opt_int()?,
        remind_lead: None,
    })
}
