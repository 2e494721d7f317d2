//! A look at a database file that leaves no trace: nothing is made, brought up to date or changed.

use super::{
    files::{self, FileIdentity},
    open::OpenError,
    session::classify,
    shape,
};
use crate::{
    db::{DatabaseKind, DbError},
    dialect,
    keep::Inspection,
    schema::{FoundSchema, MIGRATIONS},
};
use everloop_types::Status;
use rusqlite::{Connection, OpenFlags, OptionalExtension, config::DbConfig};
use std::{
    ffi::OsString,
    fmt::Write,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Looks at a file. One that is empty has schema 0.
pub(crate) fn look(path: &Path) -> Result<Inspection, OpenError> {
    let quiet = !has_log(path);
    match (quiet, look_once(path)) {
        // A process began to write although none was expected: what was read is discarded.
        (true, _) if has_log(path) => look_once(path),
        (_, seen) => seen,
    }
}

fn look_once(path: &Path) -> Result<Inspection, OpenError> {
    let file: Arc<Path> = path.into();
    let conn = connect(path)?;
    let found = shape::read(&conn, &file, MIGRATIONS)?;
    inspect(&conn, &file, &found)
}

/// One text that a database keeps about itself, if it is there.
pub(crate) fn meta(path: &Path, sql: &str) -> Result<Option<String>, OpenError> {
    let file: Arc<Path> = path.into();
    let read = connect(path)?.query_row(sql, [], |row| row.get(0)).optional();
    read.map_err(|error| OpenError::from(classify(error, &file, 0)))
}

/// A connection that only reads.
pub(super) fn connect(path: &Path) -> Result<Connection, OpenError> {
    connect_as_it_lies(path).map(|(conn, _)| conn)
}

/// The same, and what the file must still be for what was read to count.
pub(super) fn connect_as_it_lies(path: &Path) -> Result<(Connection, FileIdentity), OpenError> {
    files::regular(path)?;
    let still = !has_log(path);
    let identity = FileIdentity::of_read(path, still);
    if still {
        // Without a lock, because SQLite would create a log to read it.
        return Ok((open(path, "?immutable=1")?, identity));
    }
    // The log has a process, or had one that died; its index is made in memory then. Where that
    // does not do, an ordinary reader is used: it writes to the index, which holds no data.
    let conn = open(path, "?mode=ro&readonly_shm=1").or_else(|_| open(path, "?mode=ro"))?;
    Ok((conn, identity))
}

fn open(path: &Path, how: &str) -> Result<Connection, OpenError> {
    let file: Arc<Path> = path.into();
    let broken = |error| OpenError::from(classify(error, &file, 0));
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let conn = Connection::open_with_flags(address(path) + how, flags).map_err(broken)?;
    conn.busy_timeout(std::time::Duration::from_secs(5)).map_err(broken)?;
    shape::harden(&conn).map_err(broken)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(broken)?;
    // The file is only opened now.
    let count = "SELECT count(*) FROM sqlite_schema";
    conn.query_row(count, [], |row| row.get::<_, i64>(0)).map_err(broken)?;
    Ok(conn)
}

/// Whether there is a non-empty log beside the file.
pub(super) fn has_log(path: &Path) -> bool {
    std::fs::metadata(beside(path, "-wal")).is_ok_and(|log| log.len() > 0)
}

/// The name of a file with something added.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    PathBuf::from(name)
}

/// The file as SQLite's kind of address, in which any byte of its name is safe.
fn address(path: &Path) -> String {
    let mut address = String::from("file:");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => address.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => address.push(char::from(*byte)),
            // Writing to a string cannot fail.
            byte => drop(write!(address, "%{byte:02X}")),
        }
    }
    address
}

fn inspect(
    conn: &Connection,
    file: &Arc<Path>,
    found: &FoundSchema,
) -> Result<Inspection, OpenError> {
    let broken = |error| OpenError::from(classify(error, file, 0));
    let probes = dialect::probes(DatabaseKind::Sqlite);
    let text = |sql: &str| super::open::read_pragma(conn, sql).map_err(broken);
    let runs_by_status = match found {
        FoundSchema::Empty | FoundSchema::Foreign => Vec::new(),
        FoundSchema::Version { .. } => runs(conn, file)?,
    };
    Ok(Inspection {
        engine: probes.engine,
        version: text(probes.version)?,
        schema_version: found.version(),
        settings: vec![("journal_mode".to_owned(), text("PRAGMA journal_mode")?)],
        quick_check: text(probes.check)?,
        checked: probes.checked,
        runs_by_status,
        bytes_on_disk: text(probes.size)?.parse().unwrap_or(0),
    })
}

fn runs(conn: &Connection, file: &Arc<Path>) -> Result<Vec<(Status, u64)>, OpenError> {
    let broken = |error| OpenError::from(classify(error, file, 0));
    let mut statement = conn.prepare(crate::keep::BY_STATUS).map_err(broken)?;
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let rows = statement.query_map([], read).map_err(broken)?;
    let counted: Vec<(String, i64)> = rows.collect::<Result<_, _>>().map_err(broken)?;
    let damaged = || DbError::Damaged { file: Arc::clone(file) };
    let named = counted
        .into_iter()
        .map(|(name, count)| Ok((Status::parse(&name).ok_or_else(damaged)?, count.unsigned_abs())));
    named.collect()
}
