//! A small fixed pool of connections, each replaced when it is gone.

use super::{
    address::PgAddress,
    errors::{PgFailure, classify},
    live::PgLive,
    migrate::{migrate, read},
    session::PgSession,
};
use crate::{
    db::{DatabaseKind, Db, DbError, DbFuture, SqlRow, Urgency, WriteResult},
    schema::{FoundSchema, MIGRATIONS},
    sqlite::OpenError,
};
use everloop_types::{SqlValue, Write};
use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};
use tokio::sync::{Semaphore, SemaphorePermit};

/// How often a transaction is tried that others, or a connection that was gone, kept from taking
/// place.
const ATTEMPTS: usize = 6;

/// How to use a server.
#[derive(Debug, Clone)]
pub struct PgOptions {
    /// The most connections at a time.
    pub connections: usize,
    /// How long an answer may take.
    pub patience: Duration,
    /// Accept a server that loses commits when its machine stops. For tests.
    pub fsync_may_be_off: bool,
}

impl Default for PgOptions {
    fn default() -> Self {
        let patience = Duration::from_secs(30);
        Self { connections: 16, patience, fsync_may_be_off: false }
    }
}

/// A database on a PostgreSQL server. Cheap to clone; clones share the connections.
#[derive(Clone)]
pub struct PgDb {
    pool: Arc<Pool>,
}

impl fmt::Debug for PgDb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = &self.pool.address.shown;
        f.debug_struct("PgDb").field("database", shown).finish_non_exhaustive()
    }
}

impl PgDb {
    /// Connects to a database and migrates its schema.
    ///
    /// # Errors
    /// [`OpenError`] says what is wrong with the address, the server or the database. The password
    /// is in none of them.
    pub async fn connect(url: &str, options: PgOptions) -> Result<Self, OpenError> {
        let address = PgAddress::parse(url, Duration::from_secs(5))?;
        let free = Semaphore::new(options.connections.max(1));
        let pool = Pool { address, options, idle: Mutex::default(), free };
        let mut first = pool.open().await?;
        migrate(first.client(), &pool.address.shown, MIGRATIONS).await?;
        pool.put_back(first);
        Ok(Self { pool: Arc::new(pool) })
    }

    /// Connects to a database that stays as it is, and says what that is.
    pub(crate) async fn connect_as_is(
        url: &str,
        options: PgOptions,
    ) -> Result<(Self, FoundSchema), OpenError> {
        let address = PgAddress::parse(url, Duration::from_secs(5))?;
        let free = Semaphore::new(options.connections.max(1));
        let pool = Pool { address, options, idle: Mutex::default(), free };
        let mut first = pool.open().await?;
        let shown = &pool.address.shown;
        let found = read(first.client()).await;
        let found = found.map_err(|error| classify(error, shown, 0).into_error())?;
        found.next(shown, MIGRATIONS)?;
        pool.put_back(first);
        Ok((Self { pool: Arc::new(pool) }, found))
    }
}

impl PgDb {
    /// How processes that use this database tell each other what happens.
    pub(crate) fn live(&self) -> PgLive {
        PgLive::new(self.pool.address.clone(), self.pool.options.patience)
    }
}

impl Db for PgDb {
    fn commit(&self, writes: Vec<Write>, _urgency: Urgency) -> DbFuture<'_, Vec<WriteResult>> {
        let pool = Arc::clone(&self.pool);
        // Once it is handed over it is executed, even if the caller drops the future.
        let task = tokio::spawn(async move {
            let began = Instant::now();
            let answer = pool.transaction(&writes).await;
            log_commit(&answer, began);
            answer
        });
        Box::pin(async move {
            let died = |error| DbError::CommitUnknown { source: Arc::new(error) };
            task.await.map_err(died)?
        })
    }

    fn query(&self, sql: &'static str, params: Vec<SqlValue>) -> DbFuture<'_, Vec<SqlRow>> {
        Box::pin(async move { self.pool.query(sql, &params).await })
    }

    fn engine(&self) -> DatabaseKind {
        DatabaseKind::Postgres
    }
}

fn log_commit(answer: &Result<Vec<WriteResult>, DbError>, began: Instant) {
    if !tracing::enabled!(tracing::Level::DEBUG) {
        return;
    }
    let rows: u64 = answer.iter().flatten().map(|result| result.touched).sum();
    let failed = u64::from(answer.is_err());
    let us = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
    tracing::debug!(transactions = 1_u64, rows, failed, us, "commit");
}

struct Pool {
    address: PgAddress,
    options: PgOptions,
    idle: Mutex<Vec<PgSession>>,
    free: Semaphore,
}

impl Pool {
    async fn open(&self) -> Result<PgSession, OpenError> {
        let PgOptions { patience, fsync_may_be_off, .. } = self.options;
        PgSession::open(&self.address, patience, fsync_may_be_off).await
    }

    /// A connection, and the right to have one.
    async fn take(&self) -> Result<(PgSession, SemaphorePermit<'_>), DbError> {
        let permit = self.free.acquire().await.expect("the pool is never closed");
        if let Some(session) = self.idle_one() {
            return Ok((session, permit));
        }
        let opened = self.open().await.map_err(|error| match error {
            OpenError::Db(error) => error,
            other => DbError::Other { source: Arc::new(other) },
        });
        Ok((opened?, permit))
    }

    /// The one that was used last, as its server process has its statements at hand.
    fn idle_one(&self) -> Option<PgSession> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(session) = idle.pop() {
            if session.is_usable() {
                return Some(session);
            }
        }
        None
    }

    fn put_back(&self, session: PgSession) {
        if session.is_usable() {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(session);
        }
    }

    async fn transaction(&self, writes: &[Write]) -> Result<Vec<WriteResult>, DbError> {
        let mut tried = 0;
        loop {
            let (mut session, _permit) = self.take().await?;
            let done = session.transaction(writes).await;
            self.put_back(session);
            tried += 1;
            match done {
                Err(PgFailure::Again(_)) if tried < ATTEMPTS => {}
                done => return done.map_err(PgFailure::into_error),
            }
        }
    }

    async fn query(&self, sql: &'static str, params: &[SqlValue]) -> Result<Vec<SqlRow>, DbError> {
        let mut tried = 0;
        loop {
            let (mut session, _permit) = self.take().await?;
            let rows = session.query(sql, params).await;
            self.put_back(session);
            tried += 1;
            match rows {
                Err(PgFailure::Again(_)) if tried < ATTEMPTS => {}
                rows => return rows.map_err(PgFailure::into_error),
            }
        }
    }
}
