//! Keyed writes to the agenda: each change is made once, however often it is tried.
//!
//! The key and the change are one transaction. A second attempt finds the key, learns which row was
//! changed, and changes nothing.

use crate::{
    db::{DbError, Urgency, WriteResult},
    error::StoreError,
    facets::AgendaStore,
    statement::{one, params},
};
use everloop_types::{Statement, UtcMs, Write};

/// The time of a change, and the key that identifies it when it is tried again.
#[derive(Debug, Clone, Copy)]
pub struct WriteKey<'a> {
    /// None for a change that is never retried automatically.
    pub key: Option<&'a str>,
    /// The present time.
    pub now: UtcMs,
}

/// The result of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Applied {
    /// It was made now. The id of the row, the first one if there are several.
    Now(i64),
    /// It was made earlier, under the same key.
    Already(i64),
    /// There is no row with that id.
    NotFound,
    /// The row, or what the change depends on, was changed since it was read; nothing was written.
    Conflict,
}

pub(crate) const NEXT_NUMBER: Statement =
    Statement::screened("UPDATE counters SET last = last + 1 WHERE name = $1");

const NOTE_NEW: Statement = Statement::screened(
    "
    INSERT INTO deeds (deed_key, subject, done_at)
    SELECT $1, last, $3 FROM counters WHERE name = $2
    ON CONFLICT DO NOTHING
",
);

const NOTE: Statement = Statement::screened(
    "
    INSERT INTO deeds (deed_key, subject, done_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING
",
);

const FIND: &str = "SELECT subject FROM deeds WHERE deed_key = $1";

const FORGET: Statement = Statement::screened("DELETE FROM deeds WHERE done_at < $1");

impl AgendaStore<'_> {
    /// Inserts a row of `kind` under the next id of that kind, which `insert` returns. If the
    /// `condition` does not touch as many rows as it must, nothing is inserted. `notes` are written
    /// with it.
    pub(crate) async fn insert_new(
        self,
        kind: &'static str,
        write: WriteKey<'_>,
        condition: Option<Write>,
        insert: Write,
        notes: Vec<Write>,
    ) -> Result<Applied, StoreError> {
        let mut writes = vec![one(NEXT_NUMBER, params![kind])];
        writes.extend(write.key.map(|key| one(NOTE_NEW, params![key, kind, write.now])));
        let noted = writes.len();
        writes.extend(condition);
        let insert_at = writes.len();
        writes.push(insert);
        writes.extend(notes);
        match self.store.db.commit(writes, Urgency::Critical).await {
            Ok(mut done) => {
                done.truncate(insert_at + 1);
                Ok(Applied::Now(number(done)?))
            }
            Err(DbError::Expectation { index: 1, .. }) if write.key.is_some() => {
                self.find_applied(write).await
            }
            Err(DbError::Expectation { index, .. }) if (noted..insert_at).contains(&index) => {
                Ok(Applied::Conflict)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Changes the rows with these ids, all or none. Each has one write, in the same order. If
    /// the `condition` is not met, nothing is changed. `notes` are written with them.
    pub(crate) async fn change_existing(
        self,
        subjects: &[i64],
        write: WriteKey<'_>,
        writes: Vec<Write>,
        condition: Option<Write>,
        notes: Vec<Write>,
    ) -> Result<Applied, StoreError> {
        let Some(&first) = subjects.first() else { return Ok(Applied::NotFound) };
        let note = write.key.map(|key| one(NOTE, params![key, first, write.now]));
        let noted = usize::from(note.is_some());
        let met = noted + writes.len();
        let writes: Vec<Write> =
            note.into_iter().chain(writes).chain(condition).chain(notes).collect();
        match self.store.db.commit(writes, Urgency::Critical).await {
            Ok(_) => Ok(Applied::Now(first)),
            Err(DbError::Expectation { index, .. }) if index < noted => {
                self.find_applied(write).await
            }
            Err(DbError::Expectation { index, .. }) if index < met => Ok(Applied::NotFound),
            Err(DbError::Expectation { index, .. }) if index == met => Ok(Applied::Conflict),
            Err(error) => Err(error.into()),
        }
    }

    /// Inserts and changes many rows of `kind`, all or none: each of `adds` takes the next id, each
    /// of `changes` touches exactly one row. Returns the new ids in order, or `None` if another
    /// process changed one of the rows first.
    pub(crate) async fn import_rows(
        self,
        kind: &'static str,
        adds: Vec<Write>,
        changes: Vec<Write>,
        last: Option<Write>,
    ) -> Result<Option<Vec<i64>>, StoreError> {
        let added = adds.len();
        let numbered = adds.into_iter().flat_map(|add| [one(NEXT_NUMBER, params![kind]), add]);
        let writes: Vec<Write> = numbered.chain(changes).chain(last).collect();
        if writes.is_empty() {
            return Ok(Some(Vec::new()));
        }
        match self.store.db.commit(writes, Urgency::Critical).await {
            Ok(done) => {
                let numbers = done.into_iter().skip(1).step_by(2).take(added);
                numbers.map(|done| number(vec![done])).collect::<Result<_, _>>().map(Some)
            }
            Err(DbError::Expectation { .. } | DbError::Unique { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn find_applied(self, write: WriteKey<'_>) -> Result<Applied, StoreError> {
        let row = self.store.first(FIND, params![write.key]).await?;
        let found = row.map(|row| row.cells().int()).transpose()?;
        Ok(found.map_or(Applied::NotFound, Applied::Already))
    }

    /// The id of the row that the change under this key was made to, if it was made.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn write_done(self, write: WriteKey<'_>) -> Result<Option<i64>, StoreError> {
        Ok(match self.find_applied(write).await? {
            Applied::Already(subject) => Some(subject),
            Applied::Now(_) | Applied::NotFound | Applied::Conflict => None,
        })
    }

    /// The moment at which the change under this key was first tried: every process that tries it
    /// gets the same one, and can name by it what it makes.
    ///
    /// # Errors
    /// See [`StoreError`]. May be repeated.
    pub async fn first_tried(self, key: &str, now: UtcMs) -> Result<UtcMs, StoreError> {
        let note = crate::statement::any(NOTE, params![key, now, now]);
        self.store.db.commit(vec![note], Urgency::Critical).await?;
        let row = self.store.first(FIND, params![key]).await?;
        Ok(row.map(|row| row.cells().int()).transpose()?.unwrap_or(now))
    }

    /// Forgets keys that are older than any run that could retry them.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn forget_write_keys(self, before: UtcMs) -> Result<(), StoreError> {
        let forget = crate::statement::any(FORGET, params![before]);
        self.store.db.commit(vec![forget], Urgency::Lazy).await?;
        Ok(())
    }
}

fn number(done: Vec<WriteResult>) -> Result<i64, StoreError> {
    let rows = done.into_iter().next_back().map(|done| done.rows).unwrap_or_default();
    let row = rows.into_iter().next();
    let row = row.ok_or(DbError::Shape { column: 1, wanted: "the new number" })?;
    Ok(row.cells().int()?)
}
