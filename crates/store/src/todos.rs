//! Todos, as rows. What they mean is the assistant's.

use crate::{
    db::{Cells, DbError, Row},
    deeds::{self, Deed, Made},
    error::StoreError,
    statement::{one, params},
    store::Store,
};
use everloop_types::{UtcMs, Write};

/// What a person says of a todo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TodoText {
    /// What is to be done.
    pub text: String,
    /// A group; `default` for none.
    pub tag: String,
    /// Higher ones come first.
    pub priority: i64,
    /// When it must be done.
    pub due_at: Option<UtcMs>,
    /// When the person is reminded.
    pub remind_at: Option<UtcMs>,
}

/// A todo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TodoRow {
    /// Its number, which is never given twice.
    pub id: i64,
    /// Its name in other programs.
    pub uid: String,
    /// What the person said.
    pub said: TodoText,
    /// When the reminder is still to fire.
    pub remind_next: Option<UtcMs>,
    /// When it was done.
    pub done_at: Option<UtcMs>,
    /// When it was made.
    pub created_at: UtcMs,
    /// When it was changed last.
    pub updated_at: UtcMs,
    /// How often it was written; a change of an older writing is refused.
    pub version: i64,
}

const INSERT: &str = "
    INSERT INTO todos (todo_id, uid, body, tag, priority, due_at, remind_at, remind_next, done_at,
                       created_at, updated_at, version)
    SELECT last, $1, $2, $3, $4, $5, $6, $7, $8, $9, $9, 1 FROM counters WHERE name = 'todo'
    RETURNING todo_id
";

const UPDATE: &str = "
    UPDATE todos SET body = $2, tag = $3, priority = $4, due_at = $5, remind_at = $6,
           remind_next = $7, done_at = $8, updated_at = $9, version = version + 1
     WHERE todo_id = $1 AND version = $10
";

const DELETE: &str = "DELETE FROM todos WHERE todo_id = $1";

const ONE: &str = "
    SELECT todo_id, uid, body, tag, priority, due_at, remind_at, remind_next, done_at,
           created_at, updated_at, version
      FROM todos WHERE todo_id = $1
";

const ALL: &str = "
    SELECT todo_id, uid, body, tag, priority, due_at, remind_at, remind_next, done_at,
           created_at, updated_at, version
      FROM todos ORDER BY todo_id
";

impl Store {
    /// Makes a todo. `id`, the times and the `version` of the row are not looked at.
    ///
    /// # Errors
    /// See [`StoreError`]. With a key it may be tried again.
    pub async fn add_todo(&self, todo: &TodoRow, deed: Deed<'_>) -> Result<Made, StoreError> {
        self.make(deed, deeds::create("todo", deed, insert(todo, deed.now))).await
    }

    /// Changes a todo into the row, unless it was written again since the row was read.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn change_todo(&self, todo: &TodoRow, deed: Deed<'_>) -> Result<Made, StoreError> {
        let said = &todo.said;
        let update = params![
            todo.id,
            said.text.as_str(),
            said.tag.as_str(),
            said.priority,
            said.due_at,
            said.remind_at,
            todo.remind_next,
            todo.done_at,
            deed.now,
            todo.version,
        ];
        let made = self.change(todo.id, deed, vec![one(UPDATE, update)]).await?;
        let is_there = made == Made::NoSuch && self.todo(todo.id).await?.is_some();
        Ok(if is_there { Made::Outrun } else { made })
    }

    /// Takes a todo away.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn delete_todo(&self, id: i64, deed: Deed<'_>) -> Result<Made, StoreError> {
        self.change(id, deed, vec![one(DELETE, params![id])]).await
    }

    /// One todo.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn todo(&self, id: i64) -> Result<Option<TodoRow>, StoreError> {
        Ok(self.first(ONE, params![id]).await?.map(read).transpose()?)
    }

    /// All todos, by number.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn todos(&self) -> Result<Vec<TodoRow>, StoreError> {
        let rows = self.rows(ALL, params![]).await?;
        Ok(rows.into_iter().map(read).collect::<Result<_, _>>()?)
    }
}

fn insert(todo: &TodoRow, now: UtcMs) -> Write {
    let said = &todo.said;
    let row = params![
        todo.uid.as_str(),
        said.text.as_str(),
        said.tag.as_str(),
        said.priority,
        said.due_at,
        said.remind_at,
        todo.remind_next,
        todo.done_at,
        now,
    ];
    one(INSERT, row)
}

fn read(row: Row) -> Result<TodoRow, DbError> {
    let mut cells = row.cells();
    Ok(TodoRow {
        id: cells.int()?,
        uid: cells.text()?,
        said: said(&mut cells)?,
        remind_next: cells.opt_int()?,
        done_at: cells.opt_int()?,
        created_at: cells.int()?,
        updated_at: cells.int()?,
        version: cells.int()?,
    })
}

fn said(cells: &mut Cells) -> Result<TodoText, DbError> {
    Ok(TodoText {
        text: cells.text()?,
        tag: cells.text()?,
        priority: cells.int()?,
        due_at: cells.opt_int()?,
        remind_at: cells.opt_int()?,
    })
}
