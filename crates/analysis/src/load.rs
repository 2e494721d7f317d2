//! Files as tables of a temporary SQLite file, streamed, with typed columns.
//!
//! ```text
//!   file ──sample──► ColumnPlan for each column ──all rows──► one transaction ──► LoadedTable
//!                          ▲                         │
//!                          └── what all rows say ◄───┘ loaded again where the sample misled
//! ```
//!
//! A load that is cut short leaves nothing: the journal of SQLite takes it back. What was loaded is
//! found again by path, size and time of the file, so a run that goes on does not load again.

mod part;
mod rows;

use crate::error::AnalysisError;
use crate::infer::{ColumnPlan, Misfits};
use crate::source::{FileForm, ReadLimits, ReadNotes, TableSource, table_name, tables_of};
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

/// Memory for pages, in KiB.
const CACHE_KIB: i64 = 64 * 1024;

/// How long one look at whether somebody else has the file takes.
const BUSY_PAUSE: Duration = Duration::from_millis(100);

/// How long somebody else may have the file while its tables are listed.
const BUSY_MAX: Duration = Duration::from_secs(60);

/// A column as it was loaded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadedColumn {
    /// Its name in SQL.
    pub name: String,
    /// Its name in the file, where that is another one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub named: String,
    /// How its values were read.
    pub plan: ColumnPlan,
    /// What was missing or did not fit.
    pub misfits: Misfits,
}

/// A table as it was loaded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadedTable {
    /// Its name in SQL.
    pub name: String,
    /// The table with what did not fit its columns (`row`, `column`, `value`), if anything did not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub misfits_table: String,
    /// The file that it came from.
    pub file: PathBuf,
    /// The same as seen from the folder of the report that it is in.
    #[serde(default, skip_serializing_if = "is_no_path")]
    pub beside: PathBuf,
    /// The sheet or the part of an archive, if it is one of several.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub part: String,
    /// What the file is.
    pub form: FileForm,
    /// Bytes of the file.
    pub bytes: u64,
    /// When the file was changed, in milliseconds since 1970.
    pub modified_ms: i64,
    /// BLAKE3 of the file.
    pub hash: String,
    /// How many rows there are.
    pub rows: u64,
    /// Its columns.
    pub columns: Vec<LoadedColumn>,
    /// How it was read.
    pub notes: ReadNotes,
    /// How long that took.
    pub took_ms: u64,
}

fn is_no_path(path: &Path) -> bool {
    path.as_os_str().is_empty()
}

impl LoadedTable {
    /// Whether the file has rows of cells, of which the first may hold the names of the columns.
    #[must_use]
    pub fn has_rows_of_cells(&self) -> bool {
        matches!(self.form, FileForm::Delimited | FileForm::Excel)
    }
}

/// What is being done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LoadPhase {
    /// Rows are loaded.
    #[default]
    Loading,
    /// Rows are loaded once more: the sample had misled.
    Again,
    /// Tables are profiled.
    Profiling,
}

/// How far a load is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LoadProgress {
    /// What is being done.
    pub phase: LoadPhase,
    /// Rows so far.
    pub rows: u64,
    /// Bytes of the file so far.
    pub bytes: u64,
    /// Bytes of the file.
    pub total_bytes: u64,
    /// How long this phase has taken.
    pub took_ms: u64,
}

impl LoadProgress {
    /// How much of the phase is done.
    #[must_use]
    pub fn percent(&self) -> u64 {
        self.bytes * 100 / self.total_bytes.max(1)
    }

    /// How long the rest will take, if it goes on like this.
    #[must_use]
    pub fn left_ms(&self) -> Option<u64> {
        let rest = self.total_bytes.saturating_sub(self.bytes);
        (self.bytes > 0 && self.took_ms > 500).then(|| self.took_ms * rest / self.bytes)
    }
}

/// Hears how far a load is.
pub type OnProgress<'a> = &'a (dyn Fn(LoadProgress) + Send + Sync);

/// The tables of one analysis.
#[derive(Debug, Clone)]
pub struct DataFolder {
    folder: PathBuf,
}

const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS everloop_tables (
        name TEXT PRIMARY KEY COLLATE NOCASE,
        source TEXT NOT NULL,
        told TEXT NOT NULL
    )
";

impl DataFolder {
    /// A folder; it is made when something is loaded.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// The file with the tables.
    #[must_use]
    pub fn data_file(&self) -> PathBuf {
        self.folder.join("data.sqlite")
    }

    /// Opens the file; somebody else may have it for so long.
    fn open(&self, busy: Duration) -> Result<Connection, AnalysisError> {
        make_private(&self.folder)?;
        let connection = Connection::open(self.data_file())?;
        connection.busy_timeout(busy)?;
        // A killed process leaves a whole file; data can be loaded again, so power is no matter.
        connection.pragma_update(None, "journal_mode", "TRUNCATE")?;
        connection.pragma_update(None, "synchronous", "OFF")?;
        connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
        connection.execute_batch(TABLES)?;
        Ok(connection)
    }

    /// The tables that are loaded, in the order of their loading.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn tables(&self) -> Result<Vec<LoadedTable>, AnalysisError> {
        if !self.data_file().exists() {
            return Ok(Vec::new());
        }
        let connection = self.open(BUSY_MAX)?;
        let mut rows = connection.prepare("SELECT told FROM everloop_tables ORDER BY rowid")?;
        let found = rows.query_map((), |row| row.get::<_, String>(0))?;
        let mut tables = Vec::new();
        for json in found {
            tables.push(self.parse(&json?)?);
        }
        Ok(tables)
    }

    fn parse(&self, json: &str) -> Result<LoadedTable, AnalysisError> {
        let damaged = |error: serde_json::Error| AnalysisError::Damaged {
            path: self.data_file(),
            why: error.to_string(),
        };
        serde_json::from_str(json).map_err(damaged)
    }

    /// Loads a file, or finds what was loaded of it before.
    ///
    /// # Errors
    /// If it cannot be read or holds no table, or somebody asked to stop.
    pub fn load(
        &self,
        file: &Path,
        limits: &ReadLimits,
        on_progress: OnProgress<'_>,
    ) -> Result<Vec<LoadedTable>, AnalysisError> {
        let source = source_key(file)?;
        let connection = patiently(limits, || self.open(BUSY_PAUSE))?;
        let found = patiently(limits, || self.loaded(&connection, &source))?;
        if !found.is_empty() {
            return Ok(found);
        }
        // One load at a time, in all processes: two would unpack into the same folder, and load
        // the same file twice.
        patiently(limits, || Ok(connection.execute_batch("BEGIN IMMEDIATE")?))?;
        let found = self.loaded(&connection, &source)?;
        if !found.is_empty() {
            return Ok(found);
        }
        let unpacked = UnpackFolder::new(self.folder.join("unpacked"));
        let parts = tables_of(file, &unpacked.0, limits)?;
        // The fingerprint is worked out meanwhile, by a thread of its own.
        let (hash, mut tables) = std::thread::scope(|scope| {
            let hash = scope.spawn(|| hash_of(file, limits));
            let tables = Self::load_parts(&connection, &parts, limits, on_progress);
            let hash = hash.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            Ok::<_, AnalysisError>((hash?, tables?))
        })?;
        for table in &mut tables {
            table.file = file.to_owned();
            table.hash.clone_from(&hash);
            (table.bytes, table.modified_ms) = (source.bytes, source.modified_ms);
            let json = serde_json::to_string(&table).unwrap_or_default();
            connection.execute(
                "INSERT INTO everloop_tables (name, source, told) VALUES ($1, $2, $3)",
                (&table.name, source.key(), json),
            )?;
        }
        patiently(limits, || Ok(connection.execute_batch("COMMIT")?))?;
        Ok(tables)
    }

    fn load_parts(
        connection: &Connection,
        parts: &[TableSource],
        limits: &ReadLimits,
        on_progress: OnProgress<'_>,
    ) -> Result<Vec<LoadedTable>, AnalysisError> {
        let mut tables = Vec::new();
        for part in parts {
            let name = free_name(connection, &table_name(&part.name))?;
            let misfits = free_name(connection, &format!("{name}_misfits"))?;
            let mut table = part::load(connection, part, (name, misfits), limits, on_progress)?;
            if parts.len() > 1 {
                table.part = part.sheet.clone().unwrap_or_else(|| part.name.clone());
            }
            tables.push(table);
        }
        Ok(tables)
    }

    fn loaded(
        &self,
        connection: &Connection,
        source: &SourceKey,
    ) -> Result<Vec<LoadedTable>, AnalysisError> {
        let sql = "SELECT told FROM everloop_tables WHERE source = $1 ORDER BY rowid";
        let mut rows = connection.prepare(sql)?;
        let found = rows.query_map([source.key()], |row| row.get::<_, String>(0))?;
        let mut tables = Vec::new();
        for json in found {
            tables.push(self.parse(&json?)?);
        }
        Ok(tables)
    }
}

/// Does what needs the file, again and again while somebody else has it, until it is canceled.
fn patiently<T>(
    limits: &ReadLimits,
    work: impl Fn() -> Result<T, AnalysisError>,
) -> Result<T, AnalysisError> {
    loop {
        limits.check()?;
        match work() {
            Err(error) if error.is_busy() => {}
            done => return done,
        }
    }
}

/// The folder into which a load unpacks. It goes with the load, whatever becomes of that.
struct UnpackFolder(PathBuf);

impl UnpackFolder {
    /// The folder; what a killed process left in it is removed.
    fn new(folder: PathBuf) -> Self {
        let _ = std::fs::remove_dir_all(&folder);
        Self(folder)
    }
}

impl Drop for UnpackFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Makes a folder that only this account reads.
pub(crate) fn make_private(folder: &Path) -> Result<(), AnalysisError> {
    use std::os::unix::fs::DirBuilderExt;
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true).mode(0o700);
    builder.create(folder).map_err(AnalysisError::write(folder))
}

/// A file as it is now.
#[derive(Debug)]
struct SourceKey {
    path: PathBuf,
    bytes: u64,
    modified_ms: i64,
}

impl SourceKey {
    fn key(&self) -> String {
        format!("{} {} {}", self.path.display(), self.bytes, self.modified_ms)
    }
}

fn source_key(file: &Path) -> Result<SourceKey, AnalysisError> {
    let path = file.canonicalize().map_err(AnalysisError::read(file))?;
    let found = path.metadata().map_err(AnalysisError::read(file))?;
    // A pipe would be waited for without end.
    if !found.is_file() {
        let why = "it is not a file but a folder, a pipe or a device".to_owned();
        return Err(AnalysisError::NoTable { path: file.to_owned(), why });
    }
    let modified = found.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let modified_ms = modified.map_or(0, |time| i64::try_from(time.as_millis()).unwrap_or(0));
    Ok(SourceKey { path, bytes: found.len(), modified_ms })
}

/// BLAKE3 of a file.
///
/// # Errors
/// If it cannot be read, or somebody asked to stop.
pub fn hash_of(file: &Path, limits: &ReadLimits) -> Result<String, AnalysisError> {
    let mut opened = std::fs::File::open(file).map_err(AnalysisError::read(file))?;
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        limits.check()?;
        match opened.read(&mut buffer).map_err(AnalysisError::read(file))? {
            0 => return Ok(hasher.finalize().to_hex().to_string()),
            count => hasher.update(&buffer[..count]),
        };
    }
}

/// A name for the folder of these files, the same as long as they are not changed.
#[must_use]
pub fn name_of_files(files: &[PathBuf]) -> String {
    let mut hasher = blake3::Hasher::new();
    for file in files {
        let now = source_key(file).map(|source| source.key()).unwrap_or_default();
        hasher.update(file.as_os_str().as_encoded_bytes()).update(now.as_bytes()).update(b"\0");
    }
    format!("files_{}", &hasher.finalize().to_hex()[..24])
}

/// The name, or the name with a number if there is such a table.
fn free_name(connection: &Connection, name: &str) -> Result<String, AnalysisError> {
    let mut free = name.to_owned();
    let mut number = 2;
    loop {
        let sql = "SELECT 1 FROM sqlite_schema WHERE name = $1 COLLATE NOCASE";
        let taken = connection.query_row(sql, [&free], |_| Ok(())).optional()?.is_some();
        if !taken && !free.to_lowercase().starts_with("sqlite_") {
            return Ok(free);
        }
        free = format!("{name}_{number}");
        number += 1;
    }
}

/// A name in SQL.
#[must_use]
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
