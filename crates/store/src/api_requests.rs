//! Answers that were given to requests with a key: the same request again gets the same answer.
//!
//! ```text
//!   (none) ──reserve──► pending ──keep──► answered ──too old──► (none)
//!                          ├──release──► (none)
//!                          └──not renewed──► another process may reserve it
//! ```
//!
//! Ages are measured on the database's clock, which all processes share.

use crate::{
    db::{DbError, Urgency},
    error::StoreError,
    facets::ApiRequests,
    statement::{any, one, params},
};
use everloop_types::{Statement, Write};

/// An answer that was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiAnswer {
    /// The digest of the request: another request must not use the same key.
    pub digest: String,
    /// The status of the answer.
    pub status: i64,
    /// Headers that belong to it, as JSON.
    pub headers: String,
    /// Its body.
    pub body: String,
}

/// A request that wants to be the only one under its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyedRequest {
    /// The key.
    pub key: String,
    /// The digest of the request.
    pub digest: String,
    /// Who answers it: unique for each try.
    pub owner: String,
}

/// How old a row may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyAges {
    /// A request that is being answered and was not renewed for so long is given up.
    pub pending_ms: i64,
    /// An answer is kept for so long.
    pub answer_ms: i64,
}

/// What a key is used for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyReservation {
    /// This request is the one to be answered.
    Reserved,
    /// The request with this digest is being answered.
    InUse(String),
    /// It was answered.
    Answered(ApiAnswer),
}

/// The status 0 is that of a request that is being answered.
const RESERVE: Statement = Statement::screened(
    "
    INSERT INTO api_requests (request_key, digest, owner, status, headers, body, created_at)
    VALUES ($1, $2, $3, 0, '{}', '', {now})
    ON CONFLICT (request_key) DO UPDATE
       SET digest = excluded.digest, owner = excluded.owner, status = 0, headers = '{}', body = '',
           created_at = excluded.created_at
     WHERE (api_requests.status = 0 AND api_requests.created_at <= {now} - $4)
        OR (api_requests.status <> 0 AND api_requests.created_at <= {now} - $5)
",
);

const RENEW: Statement = Statement::screened(
    "
    UPDATE api_requests SET created_at = {now}
     WHERE request_key = $1 AND owner = $2 AND status = 0
",
);

const KEEP: Statement = Statement::screened(
    "
    UPDATE api_requests SET status = $3, headers = $4, body = $5, created_at = {now}
     WHERE request_key = $1 AND owner = $2 AND status = 0
",
);

const RELEASE: Statement = Statement::screened(
    "DELETE FROM api_requests WHERE request_key = $1 AND owner = $2 AND status = 0",
);

const FIND: &str = "
    SELECT digest, status, headers, body FROM api_requests WHERE request_key = $1
";

const FORGET: Statement =
    Statement::screened("DELETE FROM api_requests WHERE created_at <= {now} - $1");

/// How often a key that goes away while it is looked at is tried again.
const TRIES_MAX: usize = 8;

impl ApiRequests<'_> {
    /// Makes a request the one that is answered under its key, or says which one is.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn reserve(
        self,
        request: &KeyedRequest,
        ages: KeyAges,
    ) -> Result<KeyReservation, StoreError> {
        let KeyedRequest { key, digest, owner } = request;
        for _ in 0..TRIES_MAX {
            let (pending, answer) = (ages.pending_ms, ages.answer_ms);
            let values = params![key.as_str(), digest.as_str(), owner.as_str(), pending, answer];
            if self.changed(one(RESERVE, values)).await? {
                return Ok(KeyReservation::Reserved);
            }
            if let Some(answer) = self.find(key).await? {
                return Ok(match answer.status {
                    0 => KeyReservation::InUse(answer.digest),
                    _ => KeyReservation::Answered(answer),
                });
            }
        }
        Ok(KeyReservation::InUse(digest.clone()))
    }

    /// Says that a request is still being answered. `false` if it was given up.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn renew(self, request: &KeyedRequest) -> Result<bool, StoreError> {
        self.changed(one(RENEW, params![request.key.as_str(), request.owner.as_str()])).await
    }

    /// Keeps the answer to a request that is being answered. `false` if it was given up.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn keep(
        self,
        request: &KeyedRequest,
        answer: &ApiAnswer,
    ) -> Result<bool, StoreError> {
        let (key, owner) = (request.key.as_str(), request.owner.as_str());
        let (headers, body) = (answer.headers.as_str(), answer.body.as_str());
        self.changed(one(KEEP, params![key, owner, answer.status, headers, body])).await
    }

    /// Gives the key of a request without an answer back.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn release(self, request: &KeyedRequest) -> Result<(), StoreError> {
        let values = params![request.key.as_str(), request.owner.as_str()];
        self.store.db.commit(vec![any(RELEASE, values)], Urgency::Critical).await?;
        Ok(())
    }

    async fn find(self, key: &str) -> Result<Option<ApiAnswer>, StoreError> {
        let Some(row) = self.store.first(FIND, params![key]).await? else { return Ok(None) };
        let mut cells = row.cells();
        let (digest, status) = (cells.text()?, cells.int()?);
        Ok(Some(ApiAnswer { digest, status, headers: cells.text()?, body: cells.text()? }))
    }

    async fn changed(self, write: Write) -> Result<bool, StoreError> {
        match self.store.db.commit(vec![write], Urgency::Critical).await {
            Ok(_) => Ok(true),
            Err(DbError::Expectation { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Forgets what is older than so many milliseconds.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn forget(self, older_than_ms: i64) -> Result<(), StoreError> {
        self.store.db.commit(vec![any(FORGET, params![older_than_ms])], Urgency::Lazy).await?;
        Ok(())
    }
}
