//! The store itself: a database, and a count of violated invariants.

use crate::{
    db::{Db, SqlRow},
    dialect,
    error::StoreError,
    live::{LiveChannel, LiveFiles},
    message_index::IndexedDb,
    postgres::{PgDb, PgOptions},
    redactor::{Redactor, ScreenedDb},
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

/// Everything durable, through one facet for each concern. Cheap to clone; clones share everything.
#[derive(Clone)]
pub struct Store {
    pub(crate) db: Arc<dyn Db>,
    violations: Arc<AtomicU64>,
    redactor: Redactor,
    live: Option<Arc<dyn LiveChannel>>,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("violations", &self.violations()).finish_non_exhaustive()
    }
}

impl Store {
    /// Opens a database file, creates it if it is missing, and migrates its schema.
    /// Blocks for as long as that takes.
    ///
    /// # Errors
    /// [`StoreError::Open`] says what is wrong with the file or its folder.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let live = Arc::new(LiveFiles::beside(path));
        Ok(Self::with_db(Arc::new(SqliteDb::open(path)?)).with_live(live))
    }

    /// Opens a database file read-only, without changing anything; a read-only disk will do. Every
    /// write is refused. Blocks for as long as that takes.
    ///
    /// # Errors
    /// [`StoreError::Open`] says what is wrong with the file, also if its schema is an older one.
    pub fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        let live = Arc::new(LiveFiles::beside(path));
        Ok(Self::with_db(Arc::new(ReadingDb::open(path)?)).with_live(live))
    }

    /// Connects to a PostgreSQL server and migrates the schema of its database.
    ///
    /// # Errors
    /// [`StoreError::Open`] says what is wrong, without the password.
    pub async fn connect(url: &str, options: PgOptions) -> Result<Self, StoreError> {
        let db = PgDb::connect(url, options).await?;
        let live = Arc::new(db.live());
        Ok(Self::with_db(Arc::new(db)).with_live(live))
    }

    /// A store in memory, which is gone when its last clone is dropped.
    #[must_use]
    pub fn memory() -> Self {
        Self::with_db(Arc::new(MemoryDb::new()))
    }

    /// A store on any database that has our schema; tests put a faulty one here.
    #[must_use]
    pub fn with_db(db: Arc<dyn Db>) -> Self {
        let db: Arc<dyn Db> = Arc::new(IndexedDb { db });
        #[cfg(feature = "planted")]
        let db: Arc<dyn Db> = Arc::new(crate::planted::PlantedDb { db });
        Self { db, violations: Arc::default(), redactor: Redactor::default(), live: None }
    }

    /// The same store, whose processes tell each other what happens.
    #[must_use]
    fn with_live(mut self, live: Arc<dyn LiveChannel>) -> Self {
        self.live = Some(live);
        self
    }

    /// How processes tell each other what happens while it happens; none for a store that only
    /// this process has.
    #[must_use]
    pub fn live(&self) -> Option<&Arc<dyn LiveChannel>> {
        self.live.as_ref()
    }

    /// The same store, which removes the secrets that `redactor` knows.
    #[must_use]
    pub fn with_redactor(mut self, redactor: Redactor) -> Self {
        self.db = Arc::new(ScreenedDb { db: self.db, redactor: redactor.clone() });
        self.redactor = redactor;
        self
    }

    /// What removes secrets from entries and frames before they are folded and written.
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
    ) -> Result<Vec<SqlRow>, StoreError> {
        Ok(self.db.query(sql, params).await?)
    }

    pub(crate) async fn first(
        &self,
        sql: &'static str,
        params: Vec<SqlValue>,
    ) -> Result<Option<SqlRow>, StoreError> {
        Ok(self.db.query(sql, params).await?.into_iter().next())
    }

    /// The first value of the answer, as text.
    pub(crate) async fn scalar(&self, sql: &'static str) -> Result<String, StoreError> {
        Ok(dialect::scalar(self.rows(sql, Vec::new()).await?))
    }
}
