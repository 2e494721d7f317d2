//! The store itself: a database, and a count of what should never happen.

use crate::{
    db::{Db, Row},
    dialect,
    error::StoreError,
    postgres::{PgDb, PgOptions},
    redactor::{Redactor, Screened},
    sqlite::{MemoryDb, ReadingDb, SqliteDb},
};
use everloop_types::SqlValue;
use std::{
    fmt,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// All that is durable. Cheap to clone; clones share everything.
#[derive(Clone)]
pub struct Store {
    pub(crate) db: Arc<dyn Db>,
    violations: Arc<AtomicU64>,
    redactor: Redactor,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("violations", &self.violations()).finish_non_exhaustive()
    }
}

impl Store {
    /// Opens a database file, makes it if it is missing, and brings its schema up to date.
    /// Blocks for as long as that takes.
    ///
    /// # Errors
    /// [`StoreError::Open`] says what is wrong with the file or its folder.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Ok(Self::with_db(Arc::new(SqliteDb::open(path)?)))
    }

    /// Opens a database file to read it as it lies there: on a read-only disk too, and without a
    /// trace. Every write is refused. Blocks for as long as that takes.
    ///
    /// # Errors
    /// [`StoreError::Open`] says what is wrong with the file, also if its schema is an older one.
    pub fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        Ok(Self::with_db(Arc::new(ReadingDb::open(path)?)))
    }

    /// Connects to a PostgreSQL server and brings the schema of its database up to date.
    ///
    /// # Errors
    /// [`StoreError::Open`] says what is wrong, without the password.
    pub async fn connect(url: &str, options: PgOptions) -> Result<Self, StoreError> {
        Ok(Self::with_db(Arc::new(PgDb::connect(url, options).await?)))
    }

    /// A store that is gone when its last clone is dropped.
    #[must_use]
    pub fn memory() -> Self {
        Self::with_db(Arc::new(MemoryDb::new()))
    }

    /// A store on any database that has our schema; tests put a faulty one here.
    #[must_use]
    pub fn with_db(db: Arc<dyn Db>) -> Self {
        #[cfg(feature = "planted")]
        let db: Arc<dyn Db> = Arc::new(crate::planted::PlantedDb { db });
        Self { db, violations: Arc::default(), redactor: Redactor::default() }
    }

    /// The same, which no secret that `redactor` knows gets into.
    #[must_use]
    pub fn with_redactor(mut self, redactor: Redactor) -> Self {
        self.db = Arc::new(Screened { db: self.db, redactor: redactor.clone() });
        self.redactor = redactor;
        self
    }

    /// What takes secrets out of entries and frames before they are folded and laid down.
    #[must_use]
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// The database below.
    #[must_use]
    pub fn db(&self) -> &Arc<dyn Db> {
        &self.db
    }

    /// How often a unique index had to stop a second plan, start, outcome or message.
    ///
    /// Each is a bug of the caller that the index made harmless; crash sweeps expect 0.
    #[must_use]
    pub fn violations(&self) -> u64 {
        self.violations.load(Ordering::Relaxed)
    }

    pub(crate) fn violation(&self, index: &'static str) -> StoreError {
        self.violations.fetch_add(1, Ordering::Relaxed);
        StoreError::Violation { index }
    }

    pub(crate) async fn rows(
        &self,
        sql: &'static str,
        params: Vec<SqlValue>,
    ) -> Result<Vec<Row>, StoreError> {
        Ok(self.db.query(sql, params).await?)
    }

    pub(crate) async fn first(
        &self,
        sql: &'static str,
        params: Vec<SqlValue>,
    ) -> Result<Option<Row>, StoreError> {
        Ok(self.db.query(sql, params).await?.into_iter().next())
    }

    /// The first value of the answer, as text.
    pub(crate) async fn scalar(&self, sql: &'static str) -> Result<String, StoreError> {
        Ok(dialect::scalar(self.rows(sql, Vec::new()).await?))
    }
}
