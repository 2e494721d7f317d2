//! The same SQL on a database in memory, for tests, sweeps and simulators.

use super::{
    migrate,
    session::{SqliteSession, machine_now},
};
use crate::{
    db::{Db, DbError, DbFuture, SqlRow, Urgency, WriteResult},
    schema::MIGRATIONS,
};
use everloop_types::{SqlValue, UtcMs, Write};
use rusqlite::{Connection, backup::Backup};
use std::{
    path::Path,
    sync::{LazyLock, Mutex, MutexGuard, PoisonError},
};

const NAME: &str = ":memory:";

/// Migrated once and then copied, as sweeps make many thousands.
static EMPTY: LazyLock<Mutex<Connection>> = LazyLock::new(|| {
    let mut conn = open();
    let migrated = migrate::migrate(&mut conn, &Path::new(NAME).into(), MIGRATIONS);
    migrated.expect("our own schema is valid");
    Mutex::new(conn)
});

fn open() -> Connection {
    let conn = Connection::open_in_memory().expect("a database in memory needs no disk");
    let settings = "PRAGMA foreign_keys = ON; PRAGMA synchronous = OFF;";
    conn.execute_batch(settings).expect("known settings");
    conn
}

/// A database that is gone when it is dropped. Everything happens inline, on the caller's thread.
pub struct MemoryDb {
    session: Mutex<SqliteSession>,
}

impl MemoryDb {
    /// An empty database with the present schema.
    ///
    /// # Panics
    /// If there is no memory left.
    #[must_use]
    pub fn new() -> Self {
        Self::with_clock(machine_now)
    }

    /// An empty database whose clock is `now`.
    ///
    /// # Panics
    /// If there is no memory left.
    #[must_use]
    pub fn with_clock(now: impl Fn() -> UtcMs + Send + 'static) -> Self {
        let mut conn = open();
        let empty = EMPTY.lock().unwrap_or_else(PoisonError::into_inner);
        let copied = Backup::new(&empty, &mut conn).and_then(|copy| copy.step(-1));
        copied.expect("a copy in memory needs no disk");
        drop(empty);
        let session = SqliteSession::new(conn, Path::new(NAME).into(), now);
        Self { session: Mutex::new(session.expect("a function needs no disk")) }
    }

    /// Empties every table, and keeps what was compiled: cheaper than a new one.
    ///
    /// # Panics
    /// If there is no memory left.
    pub fn clear(&self) {
        let tables = ["workers", "runs", "journal", "inbox", "snapshots", "messages", "outbox"];
        let session = self.session();
        for table in tables.into_iter().chain(["settlements", "standing_approvals", "blobs"]) {
            let emptied = session.control(&format!("DELETE FROM {table}"));
            emptied.expect("our own tables");
        }
    }

    fn session(&self) -> MutexGuard<'_, SqliteSession> {
        // A panic inside leaves at most an open transaction, which is rolled back here.
        self.session.lock().unwrap_or_else(|poisoned: PoisonError<_>| {
            let mut session = poisoned.into_inner();
            session.roll_back();
            session
        })
    }

    fn transaction(&self, writes: &[Write]) -> Result<Vec<WriteResult>, DbError> {
        self.session().transaction(writes)
    }
}

impl Default for MemoryDb {
    fn default() -> Self {
        Self::new()
    }
}

impl Db for MemoryDb {
    fn commit(&self, writes: Vec<Write>, _urgency: Urgency) -> DbFuture<'_, Vec<WriteResult>> {
        Box::pin(async move { self.transaction(&writes) })
    }

    fn query(&self, sql: &'static str, params: Vec<SqlValue>) -> DbFuture<'_, Vec<SqlRow>> {
        Box::pin(async move { self.session().query(sql, &params) })
    }
}
