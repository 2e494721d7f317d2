//! Database files from outside: inspecting them as they are, copying them, and restoring a copy.

use crate::{
    check::RunCheck,
    db::DatabaseKind,
    dialect,
    error::StoreError,
    home,
    keep::Inspection,
    postgres::{PgDb, PgOptions},
    schema::{FoundSchema, MIGRATIONS},
    sqlite,
    store::Store,
};
use std::{path::Path, sync::Arc, time::Duration};

/// The schema that this program writes.
pub const SCHEMA_VERSION: i64 = MIGRATIONS[MIGRATIONS.len() - 1].version;

/// Inspects a database file without creating, changing or migrating anything. Blocks, and reads the
/// whole file. A schema of 0 means that the file is empty.
///
/// # Errors
/// [`StoreError::Open`] says what is wrong with the file.
pub fn look(path: &Path) -> Result<Inspection, StoreError> {
    Ok(sqlite::look(path)?)
}

/// Inspects the database of a server as it is, and checks the checksums of its runs for up to
/// `time`. A schema of 0 means that the database is empty.
///
/// # Errors
/// [`StoreError::Open`] says what is wrong, without the password.
pub async fn look_at_server(
    url: &str,
    options: PgOptions,
    time: Duration,
) -> Result<(Inspection, RunCheck), StoreError> {
    let (db, found) = PgDb::connect_as_is(url, options).await?;
    let store = Store::with_db(Arc::new(db));
    if !matches!(found, FoundSchema::Empty) {
        let seen = store.maintenance().inspect().await?;
        let runs = match seen.schema_version == SCHEMA_VERSION {
            true => store.maintenance().check_runs(time).await?,
            false => RunCheck::default(),
        };
        return Ok((seen, runs));
    }
    let probes = dialect::probes(DatabaseKind::Postgres);
    let seen = Inspection {
        engine: probes.engine,
        version: store.scalar(probes.version).await?,
        schema_version: 0,
        settings: Vec::new(),
        quick_check: "ok".to_owned(),
        checked: probes.checked,
        runs_by_status: Vec::new(),
        bytes_on_disk: store.scalar(probes.size).await?.parse().unwrap_or(0),
    };
    Ok((seen, RunCheck::default()))
}

/// Copies a database file into a new one, as of one point in time, while other processes keep using
/// it. The copy is checked and on disk before it gets its name.
///
/// # Errors
/// [`StoreError::Open`] says what is wrong; then there is no copy.
pub fn back_up(database: &Path, to: &Path) -> Result<Inspection, StoreError> {
    Ok(sqlite::back_up(database, to)?)
}

/// Checks that a file is a complete copy that this program can use.
///
/// # Errors
/// [`StoreError::Open`] says why it is not.
pub fn check_copy(copy: &Path) -> Result<Inspection, StoreError> {
    Ok(sqlite::check_copy(copy)?)
}

/// Gives the free pages of a database file back to the disk, also in files that were created before
/// incremental vacuum was on. Blocks; no store of this process may have the file open.
///
/// # Errors
/// [`StoreError::Open`] if other processes use it, or there is no room for a second copy.
pub fn compact(database: &Path) -> Result<(), StoreError> {
    Ok(sqlite::compact(database)?)
}

/// Makes a working copy of a copy, to be changed and then restored. Blocks.
///
/// # Errors
/// [`StoreError::Open`] says what is wrong.
pub fn stage(copy: &Path, to: &Path) -> Result<(), StoreError> {
    Ok(sqlite::stage(copy, to)?)
}

/// Removes a working copy.
pub fn unstage(staged: &Path) {
    sqlite::unstage(staged);
}

/// Replaces the content of a database with that of a copy; the previous content is kept as `aside`.
///
/// The caller holds the [`crate::ClaimLock`] of the database.
///
/// # Errors
/// [`StoreError::Open`] says what is wrong; then the database is as it was.
pub fn restore(copy: &Path, database: &Path, aside: &Path) -> Result<(), StoreError> {
    Ok(sqlite::restore(copy, database, aside)?)
}

/// The home that a database file belongs to. Leaves the file as it is.
///
/// # Errors
/// [`StoreError::Open`] says what is wrong with the file.
pub fn home_of(file: &Path) -> Result<Option<String>, StoreError> {
    Ok(sqlite::meta(file, home::HOME)?)
}
