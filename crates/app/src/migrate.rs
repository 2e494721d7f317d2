//! A whole database copied to another one, of either kind, and compared with it.
//!
//! Nobody may work with the source meanwhile: the claim lock of a file is taken, and a server with
//! live workers is refused. What slips in all the same is found by the comparison.

use crate::app::App;
use crate::conversation::Terminals;
use crate::database::Database;
use crate::secrets::{self, SecretError};
use crate::settings::file::make_folder;
use everloop_engine::{Clock, Membership, SystemClock, fresh_id};
use everloop_store::transfer::{self, TableDigest, TransferError, TransferProgress};
use everloop_store::{
    ClaimLockError, Holder, PgOptions, SCHEMA_VERSION, Store, StoreError, copies,
};
use everloop_types::{WorkerId, digest_json};
use serde::Serialize;
use std::path::Path;
use std::time::Duration;

/// Why a database was not copied.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// The source cannot be opened or read.
    #[error(transparent)]
    Source(#[from] StoreError),
    /// The target is neither a file nor a PostgreSQL server.
    #[error("not an address of a database")]
    UnknownTarget,
    /// The target's address is a secret that cannot be read.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The target is the source.
    #[error("{0} is the database itself")]
    Same(String),
    /// The target has another schema.
    #[error("{target} has schema {found}, not {known}")]
    Version {
        /// The target.
        target: String,
        /// Its schema.
        found: i64,
        /// The schema of this program.
        known: i64,
    },
    /// A process drives the runs of the source.
    #[error("process {} drives runs", .0.pid)]
    Driven(Holder),
    /// So many processes work with the source.
    #[error("{0} processes work with the database")]
    InUse(usize),
    /// The target cannot be used; nothing was written.
    #[error("{target}")]
    Target {
        /// The target.
        target: String,
        /// Why.
        source: StoreError,
    },
    /// The target has rows; nothing was written.
    #[error("{target} is not empty: {table} has {rows} rows")]
    NotEmpty {
        /// The target.
        target: String,
        /// The first table with rows.
        table: &'static str,
        /// How many.
        rows: u64,
    },
    /// The copy failed. The target is marked: no program opens it.
    #[error("{target} is not a whole copy")]
    Failed {
        /// The target.
        target: String,
        /// Why.
        source: TransferError,
    },
}

/// One table of both databases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MigratedTable {
    /// Its name.
    pub table: &'static str,
    /// Its rows.
    pub rows: u64,
    /// A digest over all of them, the same on both sides.
    pub digest: String,
}

/// A database that was copied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MigrateReport {
    /// The source, without a password.
    pub from: String,
    /// The target, without a password.
    pub to: String,
    /// Runs.
    pub runs: u64,
    /// Journal entries.
    pub entries: u64,
    /// All rows.
    pub rows: u64,
    /// One digest over all tables: two databases with the same one have the same rows, so every
    /// run has the same state in both.
    pub state_hash: String,
    /// Every table.
    pub tables: Vec<MigratedTable>,
}

/// Copies the database to another one, which must be empty, and compares both.
///
/// # Errors
/// [`MigrateError`].
pub async fn migrate(
    app: &App,
    to: &str,
    told: &mut (dyn FnMut(TransferProgress) + Send),
) -> Result<MigrateReport, MigrateError> {
    let address = secrets::behind(to, &app.settings)?;
    let target = Database::named(&address, &app.home).filter(|_| !address.is_empty());
    let target = target.ok_or(MigrateError::UnknownTarget)?;
    if is_same(&app.database, &target) {
        return Err(MigrateError::Same(target.shown()));
    }
    let _claim = claim(app)?;
    // Without the removal of secrets: rows are copied as they are.
    let from = app.database.open().await?;
    check_unused(app, &from).await?;
    check_version(&target).await?;
    let store = open_target(&target).await?;
    let digests = transfer::copy_all(&from, &store, told).await;
    let digests = digests.map_err(|error| failed(&target, error))?;
    Ok(report(app, &target, &digests))
}

fn failed(target: &Database, error: TransferError) -> MigrateError {
    let target = target.shown();
    match error {
        TransferError::NotEmpty { table, rows } => MigrateError::NotEmpty { target, table, rows },
        source => MigrateError::Failed { target, source },
    }
}

fn report(app: &App, target: &Database, digests: &[TableDigest]) -> MigrateReport {
    let of = |name: &str| digests.iter().find(|one| one.table == name).map_or(0, |one| one.rows);
    let table = |one: &TableDigest| MigratedTable {
        table: one.table,
        rows: one.rows,
        digest: one.digest.clone(),
    };
    let tables: Vec<MigratedTable> = digests.iter().map(table).collect();
    MigrateReport {
        from: app.database.shown(),
        to: target.shown(),
        runs: of("runs"),
        entries: of("journal"),
        rows: tables.iter().map(|one| one.rows).sum(),
        state_hash: digest_json(&tables),
        tables,
    }
}

fn is_same(one: &Database, other: &Database) -> bool {
    let real = |file: &Path| file.canonicalize().unwrap_or_else(|_| file.to_owned());
    match (one.file(), other.file()) {
        (Some(one), Some(other)) => real(one) == real(other),
        (None, None) => one.address() == other.address(),
        _ => false,
    }
}

/// The right to drive the runs of a file; on a server nobody has it alone.
fn claim(app: &App) -> Result<Membership, MigrateError> {
    let worker = WorkerId::new(fresh_id("migrate_", SystemClock.now()));
    app.membership().acquire(&worker).map_err(|error| match error {
        ClaimLockError::Held(holder) => MigrateError::Driven(holder),
        ClaimLockError::Store(error) => MigrateError::Source(error),
    })
}

/// Chats of this home, and workers of a server.
async fn check_unused(app: &App, from: &Store) -> Result<(), MigrateError> {
    let chats = Terminals::open(app).of_others().conversations.len();
    let mut workers = 0;
    if app.database.is_shared() {
        let now = from.workers().time().await?;
        let all = from.workers().all().await?;
        workers = all.iter().filter(|worker| worker.expires_at > now).count();
    }
    match chats.max(workers) {
        0 => Ok(()),
        some => Err(MigrateError::InUse(some)),
    }
}

/// A database of another version is not migrated first: whoever made it may still use it.
async fn check_version(target: &Database) -> Result<(), MigrateError> {
    let shown = || target.shown();
    let refused = |source| MigrateError::Target { target: shown(), source };
    let found = match (target.file(), target.address()) {
        (Some(file), _) if !is_there(file) => 0,
        (Some(file), _) => copies::look(file).map_err(refused)?.schema_version,
        (None, Some(url)) => {
            let looked = copies::look_at_server(url, PgOptions::default(), Duration::ZERO).await;
            looked.map_err(refused)?.0.schema_version
        }
        (None, None) => 0,
    };
    match found {
        0 | SCHEMA_VERSION => Ok(()),
        found => {
            Err(MigrateError::Version { target: target.shown(), found, known: SCHEMA_VERSION })
        }
    }
}

fn is_there(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|file| file.len() > 0)
}

async fn open_target(target: &Database) -> Result<Store, MigrateError> {
    if let Some(file) = target.file() {
        // What is wrong with the folder is said when the file is opened.
        let _ = make_folder(file);
    }
    let opened = target.open().await;
    opened.map_err(|source| MigrateError::Target { target: target.shown(), source })
}
