//! The same SQL on a database in memory, for tests, sweeps and simulators.

use super::{migrate, session::Session};
use crate::db::{Db, DbError, DbFuture, Done, Row, Urgency};
use everloop_types::{SqlValue, Write};
use rusqlite::Connection;
use std::{
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// A database that is gone when it is dropped. Everything happens inline, on the caller's thread.
pub struct MemoryDb {
    session: Mutex<Session>,
}

impl MemoryDb {
    /// An empty database with the present schema.
    ///
    /// # Panics
    /// If SQLite has no memory left.
    #[must_use]
    pub fn new() -> Self {
        let mut conn = Connection::open_in_memory().expect("a database in memory needs no disk");
        let file: Arc<Path> = Path::new(":memory:").into();
        conn.execute_batch("PRAGMA foreign_keys = ON; PRAGMA synchronous = OFF;")
            .expect("known pragmas");
        migrate::migrate(&mut conn, &file, migrate::MIGRATIONS).expect("our own schema is valid");
        Self { session: Mutex::new(Session::new(conn, file)) }
    }

    fn session(&self) -> MutexGuard<'_, Session> {
        // A panic inside leaves at most an open transaction, which is rolled back here.
        self.session.lock().unwrap_or_else(|poisoned: PoisonError<_>| {
            let mut session = poisoned.into_inner();
            session.roll_back();
            session
        })
    }

    fn transaction(&self, writes: &[Write]) -> Result<Vec<Done>, DbError> {
        self.session().transaction(writes)
    }
}

impl Default for MemoryDb {
    fn default() -> Self {
        Self::new()
    }
}

impl Db for MemoryDb {
    fn commit(&self, writes: Vec<Write>, _urgency: Urgency) -> DbFuture<'_, Vec<Done>> {
        Box::pin(async move { self.transaction(&writes) })
    }

    fn query(&self, sql: &'static str, params: Vec<SqlValue>) -> DbFuture<'_, Vec<Row>> {
        Box::pin(async move { self.session().query(sql, &params) })
    }
}
