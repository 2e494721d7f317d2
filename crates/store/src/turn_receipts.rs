//! What requests to conversations did, where no run and no answer has their key: so that the same
//! request again changes nothing.

use crate::{
    db::{DbError, Urgency},
    error::StoreError,
    facets::Conversations,
    statement::{any, one, params},
};
use everloop_types::{RunId, Statement, UtcMs, Write};

/// What one request did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnRecord {
    /// The key of the request.
    pub key: String,
    /// What it did, in one word.
    pub did: String,
    /// The run that it did it to.
    pub run: Option<RunId>,
    /// When.
    pub at: UtcMs,
}

const FIND: &str = "SELECT did, run_id, at FROM turn_receipts WHERE request_key = $1";

/// The first one under a key stays, and a second one fails its transaction.
const KEEP: Statement = Statement::screened(
    "INSERT INTO turn_receipts (request_key, did, run_id, at) VALUES ($1, $2, $3, $4)",
);

const FORGET: Statement = Statement::screened("DELETE FROM turn_receipts WHERE at < $1");

impl TurnRecord {
    /// Fails if the key has a record.
    pub(crate) fn write(&self) -> Write {
        let Self { key, did, run, at } = self;
        one(KEEP, params![key.as_str(), did.as_str(), run.as_ref().map(RunId::as_str), *at])
    }
}

impl Conversations<'_> {
    /// What the request with this key did.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn turn_record(self, key: &str) -> Result<Option<TurnRecord>, StoreError> {
        let Some(row) = self.store.first(FIND, params![key]).await? else { return Ok(None) };
        let mut cells = row.cells();
        let (did, run, at) = (cells.text()?, cells.opt_text()?, cells.int()?);
        Ok(Some(TurnRecord { key: key.to_owned(), did, run: run.map(RunId::new), at }))
    }

    /// Keeps what a request did. Returns false if its key has a record already, which stays.
    ///
    /// # Errors
    /// See [`StoreError`]. May be repeated.
    pub async fn keep_turn(self, record: &TurnRecord) -> Result<bool, StoreError> {
        match self.store.db.commit(vec![record.write()], Urgency::Critical).await {
            Ok(_) => Ok(true),
            Err(DbError::Unique { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Deletes what requests did before a moment: by then nobody sends them again.
    ///
    /// # Errors
    /// See [`StoreError`]. May be repeated.
    pub async fn forget_turns(self, before: UtcMs) -> Result<(), StoreError> {
        self.store.db.commit(vec![any(FORGET, params![before])], Urgency::Critical).await?;
        Ok(())
    }
}
