//! Forward-only migrations: numbered, under an exclusive lock, with a copy of the old file first.

use super::{files, open::OpenError, session::classify, shape};
use crate::{
    db::DbError,
    dialect,
    schema::{FoundSchema, META, Migration, SET_META, SchemaAction},
};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior};
use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Migrates the database to the newest of `steps`.
pub(super) fn migrate(
    conn: &mut Connection,
    file: &Arc<Path>,
    steps: &[Migration],
) -> Result<(), OpenError> {
    match shape::read(conn, file, steps)?.next(file, steps)? {
        SchemaAction::Nothing => return Ok(()),
        SchemaAction::Upgrade { to } => back_up(conn, file, to)?,
        SchemaAction::Create => {}
    }
    apply(conn, file, steps)
}

/// Looks again under the lock: another process may have been faster.
fn apply(conn: &mut Connection, file: &Arc<Path>, steps: &[Migration]) -> Result<(), OpenError> {
    let broken = |error| OpenError::from(classify(error, file, 0));
    let tx = conn.transaction_with_behavior(TransactionBehavior::Exclusive).map_err(broken)?;
    let from = read(&tx, file)?.version();
    tx.execute_batch(&dialect::sqlite_tables(META)).map_err(broken)?;
    for step in steps.iter().filter(|step| step.version > from) {
        tx.execute_batch(&dialect::sqlite_tables(step.sql)).map_err(broken)?;
        for (key, value) in [("schema_version", step.version), ("min_reader", step.min_reader)] {
            tx.execute(&dialect::sqlite_statement(SET_META), (key, value.to_string()))
                .map_err(broken)?;
        }
    }
    tx.commit().map_err(broken)
}

/// What a database says about itself.
pub(super) fn read(conn: &Connection, file: &Arc<Path>) -> Result<FoundSchema, OpenError> {
    let broken = |error| OpenError::from(classify(error, file, 0));
    // One statement: between two of them another process may make all its tables.
    let count = "SELECT count(*), count(*) FILTER (WHERE name = 'schema_meta') FROM sqlite_schema";
    let found = conn.query_row(count, [], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)));
    match found.map_err(broken)? {
        (0, _) => return Ok(FoundSchema::Empty),
        (_, 0) => return Ok(FoundSchema::Foreign),
        _ => {}
    }
    let number = |key: &str| -> Result<i64, OpenError> {
        let sql = "SELECT v FROM schema_meta WHERE k = ?1";
        let text: Option<String> =
            conn.query_row(sql, [key], |row| row.get(0)).optional().map_err(broken)?;
        let damaged = || DbError::Damaged { file: Arc::clone(file) };
        text.and_then(|text| text.parse().ok()).ok_or_else(|| damaged().into())
    };
    Ok(FoundSchema::Version {
        schema: number("schema_version")?,
        min_reader: number("min_reader")?,
    })
}

/// Copies the database to `<db>.before-v<N>.bak`, replacing a copy from an interrupted attempt.
fn back_up(conn: &Connection, file: &Arc<Path>, version: i64) -> Result<(), OpenError> {
    let copy = beside(file, &format!(".before-v{version}.bak"));
    let half = beside(file, &format!(".before-v{version}.tmp"));
    let failed = |source| OpenError::Backup { path: copy.clone(), source };
    match fs::remove_file(&half) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    let target = files::create_new(&half).map_err(failed)?;
    let path = half.to_str().ok_or_else(|| failed(io::ErrorKind::InvalidFilename.into()))?;
    let sql = dialect::sqlite_statement(dialect::BACKUP);
    conn.execute(&sql, [path]).map_err(|error| failed(io::Error::other(error)))?;
    target.sync_all().map_err(failed)?;
    fs::rename(&half, &copy).map_err(failed)?;
    files::sync_folder(&copy).map_err(failed)
}

fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(ending);
    PathBuf::from(name)
}
