//! Changes that a run makes to what people keep: each is done once, however often it is tried.
//!
//! A key and the change are one transaction. Who finds the key there already learns what the change
//! was about, and changes nothing.

use crate::{
    db::{DbError, Done, Urgency},
    error::StoreError,
    facets::AgendaStore,
    statement::{one, params},
};
use everloop_types::{Statement, UtcMs, Write};

/// When a change is made, and whatever makes it the same when it is tried again.
#[derive(Debug, Clone, Copy)]
pub struct WriteKey<'a> {
    /// None for a change that nobody repeats by himself.
    pub key: Option<&'a str>,
    /// The present moment.
    pub now: UtcMs,
}

/// What became of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Applied {
    /// It is made now; the number of what it was made to, the first one if there are several.
    Now(i64),
    /// It was made before, under the same key.
    Already(i64),
    /// There is nothing of that number.
    NotFound,
    /// Somebody else has changed it, or what it depends on, since it was read; nothing was written.
    Conflict,
}

const NEXT_NUMBER: Statement =
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
    /// Makes something new of `kind`, which takes the kind's next number; `insert` returns it. If
    /// a `condition` touches another number of rows than it must, nothing is made.
    pub(crate) async fn make(
        self,
        kind: &'static str,
        deed: WriteKey<'_>,
        condition: Option<Write>,
        insert: Write,
    ) -> Result<Applied, StoreError> {
        let mut writes = vec![one(NEXT_NUMBER, params![kind])];
        writes.extend(deed.key.map(|key| one(NOTE_NEW, params![key, kind, deed.now])));
        let noted = writes.len();
        writes.extend(condition);
        let insert_at = writes.len();
        writes.push(insert);
        match self.store.db.commit(writes, Urgency::Critical).await {
            Ok(done) => Ok(Applied::Now(number(done)?)),
            Err(DbError::Expectation { index: 1, .. }) if deed.key.is_some() => {
                self.made_before(deed).await
            }
            Err(DbError::Expectation { index, .. }) if (noted..insert_at).contains(&index) => {
                Ok(Applied::Conflict)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Changes what has these numbers, all or none of them: each has its write, in the same order,
    /// which touches exactly that. If a `condition` is not met, nothing is changed.
    pub(crate) async fn change(
        self,
        subjects: &[i64],
        deed: WriteKey<'_>,
        writes: Vec<Write>,
        condition: Option<Write>,
    ) -> Result<Applied, StoreError> {
        let Some(&first) = subjects.first() else { return Ok(Applied::NotFound) };
        let note = deed.key.map(|key| one(NOTE, params![key, first, deed.now]));
        let noted = usize::from(note.is_some());
        let met = noted + writes.len();
        let writes: Vec<Write> = note.into_iter().chain(writes).chain(condition).collect();
        match self.store.db.commit(writes, Urgency::Critical).await {
            Ok(_) => Ok(Applied::Now(first)),
            Err(DbError::Expectation { index, .. }) if index < noted => {
                self.made_before(deed).await
            }
            Err(DbError::Expectation { index, .. }) if index < met => Ok(Applied::NotFound),
            Err(DbError::Expectation { index, .. }) if index == met => Ok(Applied::Conflict),
            Err(error) => Err(error.into()),
        }
    }

    /// Makes and changes many things of `kind`, all or none: each of `adds` takes the next number,
    /// each of `changes` touches exactly one row. The new numbers in order, or nothing if somebody
    /// else was faster somewhere.
    pub(crate) async fn take_in(
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

    async fn made_before(self, deed: WriteKey<'_>) -> Result<Applied, StoreError> {
        let row = self.store.first(FIND, params![deed.key]).await?;
        let found = row.map(|row| row.cells().int()).transpose()?;
        Ok(found.map_or(Applied::NotFound, Applied::Already))
    }

    /// What the change under this key was about, if it was made.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn write_done(self, deed: WriteKey<'_>) -> Result<Option<i64>, StoreError> {
        Ok(match self.made_before(deed).await? {
            Applied::Already(subject) => Some(subject),
            Applied::Now(_) | Applied::NotFound | Applied::Conflict => None,
        })
    }

    /// Forgets keys that are older than any run that could come back to them.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn forget_write_keys(self, before: UtcMs) -> Result<(), StoreError> {
        let forget = crate::statement::any(FORGET, params![before]);
        self.store.db.commit(vec![forget], Urgency::Lazy).await?;
        Ok(())
    }
}

fn number(done: Vec<Done>) -> Result<i64, StoreError> {
    let rows = done.into_iter().next_back().map(|done| done.rows).unwrap_or_default();
    let row = rows.into_iter().next();
    let row = row.ok_or(DbError::Shape { column: 1, wanted: "the new number" })?;
    Ok(row.cells().int()?)
}
