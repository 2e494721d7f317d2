//! What an error of PostgreSQL means to us.

use crate::db::DbError;
use std::{io, path::Path, sync::Arc};
use tokio_postgres::{Error, error::SqlState};

/// Why a transaction did not take place, and whether it may be tried again at once.
#[derive(Debug)]
pub(super) enum PgFailure {
    /// Others were in the way, or the connection was gone: again, by ourselves.
    Again(DbError),
    /// For the caller.
    Final(DbError),
}

impl From<DbError> for PgFailure {
    fn from(error: DbError) -> Self {
        Self::Final(error)
    }
}

impl PgFailure {
    pub(super) fn into_error(self) -> DbError {
        match self {
            Self::Again(error) | Self::Final(error) => error,
        }
    }
}

/// What an error before the commit means: nothing took place.
pub(super) fn classify(error: Error, database: &Arc<Path>, index: usize) -> PgFailure {
    let Some(said) = error.as_db_error() else {
        // Only a broken connection has no message from the server.
        return if error.is_closed() || is_io(&error) {
            PgFailure::Again(DbError::Unreachable { source: Arc::new(error) })
        } else {
            PgFailure::Final(DbError::Other { source: Arc::new(error) })
        };
    };
    let file = Arc::clone(database);
    let code = said.code();
    if *code == SqlState::UNIQUE_VIOLATION {
        let rule = said.constraint().unwrap_or_default().to_owned();
        return PgFailure::Final(DbError::Unique { index, rule });
    }
    if is_conflict(code) {
        return PgFailure::Again(DbError::Locked { file });
    }
    if *code == SqlState::ADMIN_SHUTDOWN || *code == SqlState::CRASH_SHUTDOWN {
        return PgFailure::Again(DbError::Unreachable { source: Arc::new(error) });
    }
    PgFailure::Final(if is_away(code) {
        DbError::Unreachable { source: Arc::new(error) }
    } else if *code == SqlState::DISK_FULL {
        DbError::Full { file }
    } else if *code == SqlState::READ_ONLY_SQL_TRANSACTION {
        DbError::ReadOnly { file }
    } else if *code == SqlState::DATA_CORRUPTED || *code == SqlState::INDEX_CORRUPTED {
        DbError::Damaged { file }
    } else {
        DbError::Other { source: Arc::new(error) }
    })
}

/// Whether the server said, in answer to `COMMIT`, that it did not commit.
///
/// A server that is going down can say so after it has committed; only a conflict or a broken rule
/// is an answer to the commit itself.
pub(super) fn refused_to_commit(error: &Error) -> bool {
    error.code().is_some_and(|code| is_conflict(code) || code.code().starts_with("23"))
}

/// Time ran out.
pub(super) fn too_late() -> DbError {
    DbError::Unreachable { source: Arc::new(io::Error::from(io::ErrorKind::TimedOut)) }
}

fn is_conflict(code: &SqlState) -> bool {
    *code == SqlState::T_R_SERIALIZATION_FAILURE
        || *code == SqlState::T_R_DEADLOCK_DETECTED
        || *code == SqlState::LOCK_NOT_AVAILABLE
}

/// Connections, resources and operators: classes 08, 53 and 57.
fn is_away(code: &SqlState) -> bool {
    *code != SqlState::DISK_FULL
        && ["08", "53", "57"].iter().any(|class| code.code().starts_with(class))
}

fn is_io(error: &Error) -> bool {
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        if cause.is::<io::Error>() {
            return true;
        }
        source = cause.source();
    }
    false
}
