//! A database file that can only be read, as on a disk that is read-only. Nothing is made, brought
//! up to date or changed, and every write is refused.

use super::{
    files, look, migrate,
    open::OpenError,
    readers::ReaderPool,
    session::{SqliteSession, machine_now},
};
use crate::{
    db::{Db, DbError, DbFuture, SqlRow, Urgency, WriteResult},
    schema::{MIGRATIONS, SchemaAction},
};
use everloop_types::{SqlValue, Write};
use std::{path::Path, sync::Arc};

/// A database that is only read.
pub(crate) struct ReadingDb {
    readers: ReaderPool,
    file: Arc<Path>,
    // Declared last, so given back when everything is closed.
    _sole: files::SoleOpener,
}

impl ReadingDb {
    /// Opens a file that has the schema of this program; an older one would have to be written.
    pub(crate) fn open(path: &Path) -> Result<Self, OpenError> {
        let sole = files::hold(path)?;
        let file: Arc<Path> = path.into();
        let (conn, identity) = look::connect_as_it_lies(path)?;
        match migrate::read(&conn, &file)?.next(path, MIGRATIONS)? {
            SchemaAction::Nothing => {}
            SchemaAction::Upgrade { .. } | SchemaAction::Create => {
                return Err(DbError::ReadOnly { file }.into());
            }
        }
        let session = SqliteSession::new(conn, Arc::clone(&file), machine_now)?;
        let sessions = vec![session.guarded(&Arc::new(identity))];
        let thread = |error| DbError::Unreachable { source: Arc::new(error) };
        let readers = ReaderPool::start(sessions).map_err(thread)?;
        Ok(Self { readers, file, _sole: sole })
    }
}

impl Db for ReadingDb {
    fn commit(&self, _writes: Vec<Write>, _urgency: Urgency) -> DbFuture<'_, Vec<WriteResult>> {
        let refused = DbError::ReadOnly { file: Arc::clone(&self.file) };
        Box::pin(std::future::ready(Err(refused)))
    }

    fn query(&self, sql: &'static str, params: Vec<SqlValue>) -> DbFuture<'_, Vec<SqlRow>> {
        Box::pin(self.readers.ask(sql, params))
    }
}
