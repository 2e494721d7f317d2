//! A database file: checked when it is opened, then served by one writer thread and four readers.

use super::{
    files, migrate,
    readers::ReaderPool,
    session::{SqliteSession, classify, machine_now},
    shape,
    writer::{self, WriteRequest},
};
use crate::{
    db::{DatabaseKind, Db, DbError, DbFuture, SqlRow, Urgency, WriteResult},
    dialect,
    schema::{HALF_COPIED, MIGRATIONS, Migration},
};
use everloop_types::{SqlValue, Write};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{self, Sender},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};
use tokio::sync::oneshot;

/// Before this release a reset of the log could race with a reader and damage the database.
const SQLITE_OLDEST: i32 = 3_051_003;
const READERS: usize = 4;
/// How long to wait for a file that another process holds.
const PATIENCE: Duration = Duration::from_secs(5);

/// A database in a file.
pub struct SqliteDb {
    // Declared first, so dropped first: the writer is then the last to close, and copies the log.
    readers: ReaderPool,
    writer: Writer,
    commits: Arc<AtomicU64>,
    // Declared last, so released when everything is closed.
    _sole: files::SoleOpener,
}

impl SqliteDb {
    /// Opens the file, creates it if it is missing, and migrates its schema.
    ///
    /// # Errors
    /// [`OpenError`] says what is wrong with the file or its folder.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        Self::open_with(path, MIGRATIONS)
    }

    pub(super) fn open_with(path: &Path, migrations: &[Migration]) -> Result<Self, OpenError> {
        check_version(rusqlite::version_number(), rusqlite::version())?;
        // The first of all, so the last to go if something fails.
        let sole = files::prepare(path)?;
        let file: Arc<Path> = path.into();
        let conn = connect_and_migrate(&file, migrations)?;
        let commits = Arc::new(AtomicU64::new(0));
        let thread = |error| DbError::Unreachable { source: Arc::new(error) };
        let identity = Arc::new(files::FileIdentity::of(path));
        let guarded = |conn| {
            let session = SqliteSession::new(conn, Arc::clone(&file), machine_now)?;
            Ok::<_, DbError>(session.guarded(&identity))
        };
        let writer = Writer::start(guarded(conn)?, &commits).map_err(thread)?;
        let reader = |_| {
            let conn = connect(&file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
            Ok(guarded(conn)?)
        };
        let sessions = (0..READERS).map(reader).collect::<Result<Vec<_>, OpenError>>()?;
        let readers = ReaderPool::start(sessions).map_err(thread)?;
        Ok(Self { readers, writer, commits, _sole: sole })
    }

    /// How many commits the writer has made since the file was opened.
    #[must_use]
    pub fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }
}

impl Db for SqliteDb {
    fn commit(&self, writes: Vec<Write>, urgency: Urgency) -> DbFuture<'_, Vec<WriteResult>> {
        Box::pin(self.writer.ask(writes, urgency))
    }

    fn query(&self, sql: &'static str, params: Vec<SqlValue>) -> DbFuture<'_, Vec<SqlRow>> {
        Box::pin(self.readers.ask(sql, params))
    }
}

/// The writer thread. Dropping it waits for pending writes.
struct Writer {
    requests: Option<Sender<WriteRequest>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    fn start(session: SqliteSession, commits: &Arc<AtomicU64>) -> io::Result<Self> {
        let (requests, receiver) = mpsc::channel();
        let commits = Arc::clone(commits);
        let builder = thread::Builder::new().name("store-writer".to_owned());
        let thread = builder.spawn(move || writer::run(session, &receiver, &commits))?;
        Ok(Self { requests: Some(requests), thread: Some(thread) })
    }

    async fn ask(&self, writes: Vec<Write>, urgency: Urgency) -> Result<Vec<WriteResult>, DbError> {
        let (answer, answered) = oneshot::channel();
        let requests = self.requests.as_ref().ok_or_else(DbError::gone)?;
        requests.send(WriteRequest { writes, urgency, answer }).map_err(|_| DbError::gone())?;
        // A writer that dies with our request may have committed it.
        let died = |error| DbError::CommitUnknown { source: Arc::new(error) };
        answered.await.map_err(died)?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.requests = None;
        if let Some(thread) = self.thread.take() {
            // A writer that panicked has nothing left to clean up.
            let _ = thread.join();
        }
    }
}

/// The connection for the writer, after the migration.
pub(super) fn connect_and_migrate(
    file: &Arc<Path>,
    migrations: &[Migration],
) -> Result<Connection, OpenError> {
    let mut conn = connect(file, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    migrate::migrate(&mut conn, file, migrations)?;
    Ok(conn)
}

fn connect(file: &Arc<Path>, access: OpenFlags) -> Result<Connection, OpenError> {
    let broken = |error| OpenError::from(classify(error, file, 0));
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(file, flags).map_err(broken)?;
    shape::harden(&conn).map_err(broken)?;
    if std::fs::metadata(file).is_ok_and(|file| file.len() == 0) {
        // Takes effect only in an empty file. It lets free pages be given back; nothing depends on
        // it.
        conn.execute_batch("PRAGMA auto_vacuum = INCREMENTAL").map_err(broken)?;
    }
    for (name, wanted, read) in dialect::probes(DatabaseKind::Sqlite).settings {
        let set = format!("PRAGMA {name} = {wanted}");
        patiently(|| conn.execute_batch(&set)).map_err(broken)?;
        let found = patiently(|| read_pragma(&conn, read)).map_err(broken)?;
        if found != *wanted {
            let hint = "the disk may not support it";
            return Err(OpenError::Setting { name, wanted, found, hint });
        }
    }
    Ok(conn)
}

/// Tries again while another process holds the file. The time-out of SQLite does not cover the
/// change to a write-ahead log: of two that open a new file at once, one would be refused.
pub(super) fn patiently<T>(mut ask: impl FnMut() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    let until = Instant::now() + PATIENCE;
    loop {
        match ask() {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && Instant::now() < until =>
            {
                thread::sleep(Duration::from_millis(10));
            }
            done => return done,
        }
    }
}

/// The one value of a one-row answer, as text.
pub(super) fn read_pragma(conn: &Connection, sql: &str) -> rusqlite::Result<String> {
    use rusqlite::types::Value;
    conn.query_row(sql, [], |row| {
        Ok(match row.get(0)? {
            Value::Integer(n) => n.to_string(),
            Value::Text(text) => text,
            other => format!("{other:?}"),
        })
    })
}

fn check_version(number: i32, name: &str) -> Result<(), OpenError> {
    if number < SQLITE_OLDEST {
        let (engine, found, needed) = ("SQLite", name.to_owned(), "3.51.3");
        return Err(OpenError::OldEngine { engine, found, needed });
    }
    Ok(())
}

fn not_ours(altered: Option<&str>) -> String {
    match altered {
        Some(what) => format!("{what}; restore a backup"),
        None => "is no Everloop database; choose another file".to_owned(),
    }
}

fn newer(needed: i64, known: i64) -> String {
    match needed {
        HALF_COPIED => "is a copy that was not finished; delete it and copy again".to_owned(),
        _ => format!("needs schema {needed}, this program knows {known}; use a newer program"),
    }
}

/// Why a database cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The folder or file cannot be created.
    #[error("cannot make {}; choose another data folder", .path.display())]
    Folder {
        /// The folder or file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A store of this process has the file open already.
    #[error("{} is already open in this process; share that store", .path.display())]
    AlreadyOpen {
        /// The file.
        path: PathBuf,
    },
    /// The folder is on a network file system.
    #[error(
        "{} is on {system}, a network file system; choose a folder on a local disk",
        .path.display()
    )]
    NotLocal {
        /// The folder.
        path: PathBuf,
        /// The kind of file system.
        system: &'static str,
    },
    /// The file holds tables of another program, beside ours or instead of ours.
    #[error("{} {}", .path.display(), not_ours(.altered.as_deref()))]
    NotOurs {
        /// The file.
        path: PathBuf,
        /// What was added to our file, or removed from it; none for a file that was never ours.
        altered: Option<String>,
    },
    /// A newer program has written the file, or a copy into it broke off.
    #[error("{} {}", .path.display(), newer(*needed, *known))]
    NewerSchema {
        /// The file.
        path: PathBuf,
        /// The oldest schema that a reader must know.
        needed: i64,
        /// The newest schema that this program knows.
        known: i64,
    },
    /// The database engine lacks a feature that we need, or has a bug that can damage data.
    #[error("{engine} {found} is too old, {needed} is needed; use a newer one")]
    OldEngine {
        /// Its name.
        engine: &'static str,
        /// Its version.
        found: String,
        /// The oldest supported version.
        needed: &'static str,
    },
    /// The database did not accept a setting that durability depends on.
    #[error("the setting {name} is {found}, not {wanted}; {hint}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// What was asked for.
        wanted: &'static str,
        /// What it is.
        found: String,
        /// A possible cause.
        hint: &'static str,
    },
    /// The copy before a migration could not be created; the database is unchanged.
    #[error("cannot make the backup {}; free some space, nothing was changed", .path.display())]
    Backup {
        /// The copy.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The address of a server is malformed. The message never repeats the address, which may
    /// hold a password.
    #[error("the database's address {reason}; write postgres://user@host:port/name")]
    Address {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The database itself refused.
    #[error(transparent)]
    Db(#[from] DbError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_06_an_older_sqlite_is_refused_by_name() {
        let error = check_version(3_050_002, "3.50.2").unwrap_err();
        assert!(matches!(&error, OpenError::OldEngine { found, .. } if found == "3.50.2"));
        assert!(check_version(SQLITE_OLDEST, "3.51.3").is_ok());
    }
}
