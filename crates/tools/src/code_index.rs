//! The index of a workspace's text: which files may hold a text, and which certainly do not.
//!
//! ```text
//!   index_repo ──► files (path, size, times, digest) + grams of each ──► <data>/index/<id>.db
//!   search_code ─► grams of the query ──► files that have all of them; others are not opened
//! ```
//!
//! The index only rules files out. What it cannot rule out is opened and searched as ever, and so
//! is every file that changed since, or is not in it. So a result is never stale.
//!
//! Deliberately absent: the text. The index holds hashes of three characters each (two for
//! Chinese, Japanese and Korean), so nothing of a file can be read from it.

mod grams;
mod stamp;

pub(crate) use grams::{grams_of, query_grams};
pub(crate) use stamp::{IndexStamp, SETTLE};

use everloop_types::digest_bytes;
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The form of the file. One of another form is made anew.
const FORM: i64 = 1;

/// How long a writer waits for another one.
const BUSY: Duration = Duration::from_secs(10);

/// Grams of a query that are looked up; the rest would rule out little more.
const GRAMS_MAX: usize = 48;

const TABLES: &str = "
    CREATE TABLE files (id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, size INTEGER NOT NULL,
      mtime INTEGER NOT NULL, ctime INTEGER NOT NULL, kind INTEGER NOT NULL, digest TEXT NOT NULL,
      seen INTEGER NOT NULL);
    CREATE VIRTUAL TABLE grams USING fts5(g, content='', contentless_delete=1, detail=none,
      tokenize='ascii');
";

/// Where indexes are, and how large one may become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexSetting {
    /// The folder of all indexes, private to the user.
    pub folder: PathBuf,
    /// Most files of one index.
    pub max_files: u64,
    /// Most bytes of text of one index.
    pub max_bytes: u64,
    /// How long one run of `index_repo` may take.
    pub timeout_ms: u64,
}

impl IndexSetting {
    fn file(&self, root: &Path) -> PathBuf {
        self.folder.join(format!("{}.db", digest_bytes(root.as_os_str().as_bytes())))
    }
}

/// What kind of file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// Its text is in the index.
    Text = 0,
    /// It holds a zero byte.
    Binary = 1,
    /// It is larger than a search reads.
    TooLarge = 2,
}

impl FileKind {
    fn read(number: i64) -> Self {
        match number {
            0 => Self::Text,
            1 => Self::Binary,
            _ => Self::TooLarge,
        }
    }
}

/// A file as the index knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IndexedFile {
    pub(crate) id: i64,
    pub(crate) stamp: IndexStamp,
    pub(crate) kind: FileKind,
    pub(crate) digest: String,
}

/// The index of one workspace.
pub(crate) struct CodeIndex {
    conn: Connection,
}

impl CodeIndex {
    /// The index of a workspace, if there is one that can be read.
    pub(crate) fn open_to_read(setting: &IndexSetting, root: &Path) -> Option<Self> {
        let file = setting.file(root);
        if !file.is_file() {
            return None;
        }
        Self::open(&file, OpenFlags::SQLITE_OPEN_READ_WRITE).ok().filter(Self::is_of_this_form)
    }

    /// The index of a workspace; a new one if there is none, or none that can be used.
    pub(crate) fn open_to_write(setting: &IndexSetting, root: &Path) -> Result<Self, String> {
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&setting.folder);
        made.map_err(|error| format!("{}: {error}", setting.folder.display()))?;
        let file = setting.file(root);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        if let Ok(index) = Self::open(&file, flags)
            && (index.is_of_this_form() || index.create().is_ok())
        {
            return Ok(index);
        }
        // It is only a cache: one that is damaged or of another form is made anew.
        for end in ["", "-wal", "-shm"] {
            let mut name = file.clone().into_os_string();
            name.push(end);
            let _ = fs::remove_file(name);
        }
        let index = Self::open(&file, flags).map_err(|error| error.to_string())?;
        index.create().map_err(|error| error.to_string())?;
        Ok(index)
    }

    fn open(file: &Path, flags: OpenFlags) -> rusqlite::Result<Self> {
        let conn = Connection::open_with_flags(file, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        conn.busy_timeout(BUSY)?;
        // Readers go on while somebody indexes. What a crash loses is indexed again.
        conn.pragma_update(None, "journal_mode", "wal")?;
        conn.pragma_update(None, "synchronous", "normal")?;
        Ok(Self { conn })
    }

    fn is_of_this_form(&self) -> bool {
        let form = self.conn.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0));
        form == Ok(FORM)
            && self.conn.query_row("SELECT count(*) FROM files", [], |_| Ok(())).is_ok()
    }

    /// Fails if the file holds something else.
    fn create(&self) -> rusqlite::Result<()> {
        self.conn.execute_batch(&format!(
            "BEGIN IMMEDIATE; {TABLES} PRAGMA user_version = {FORM}; COMMIT;"
        ))
    }

    /// The file of a path.
    pub(crate) fn file(&self, path: &Path) -> rusqlite::Result<Option<IndexedFile>> {
        let found = "SELECT id, size, mtime, ctime, kind, digest FROM files WHERE path = ?1";
        let mut find = self.conn.prepare_cached(found)?;
        find.query_row([path.as_os_str().as_bytes()], |row| {
            Ok(IndexedFile {
                id: row.get(0)?,
                stamp: IndexStamp { size: row.get(1)?, mtime: row.get(2)?, ctime: row.get(3)? },
                kind: FileKind::read(row.get(4)?),
                digest: row.get(5)?,
            })
        })
        .optional()
    }

    /// Files, and bytes of text.
    pub(crate) fn totals(&self) -> rusqlite::Result<(u64, u64)> {
        let sums = "SELECT count(*), COALESCE(SUM(CASE WHEN kind = 0 THEN size END), 0) FROM files";
        self.conn.query_row(sums, [], |row| {
            let (files, bytes): (i64, i64) = (row.get(0)?, row.get(1)?);
            Ok((files.unsigned_abs(), bytes.unsigned_abs()))
        })
    }

    /// The number of the next run over the files.
    pub(crate) fn next_pass(&self) -> rusqlite::Result<i64> {
        self.conn.query_row("SELECT COALESCE(MAX(seen), 0) + 1 FROM files", [], |row| row.get(0))
    }

    pub(crate) fn begin(&self) -> rusqlite::Result<()> {
        self.conn.execute_batch("BEGIN IMMEDIATE")
    }

    pub(crate) fn commit(&self) -> rusqlite::Result<()> {
        self.conn.execute_batch("COMMIT")
    }

    /// Notes that a file is as it was, under these times.
    pub(crate) fn keep(&self, id: i64, stamp: IndexStamp, pass: i64) -> rusqlite::Result<()> {
        let sql = "UPDATE files SET size = ?2, mtime = ?3, ctime = ?4, seen = ?5 WHERE id = ?1";
        let mut keep = self.conn.prepare_cached(sql)?;
        keep.execute(params![id, stamp.size, stamp.mtime, stamp.ctime, pass])?;
        Ok(())
    }

    /// Takes in a file that is new or has changed.
    pub(crate) fn put(
        &self,
        path: &Path,
        file: &IndexedFile,
        grams: &str,
        pass: i64,
    ) -> rusqlite::Result<()> {
        let IndexedFile { stamp, kind, digest, .. } = file;
        let sql = "INSERT INTO files (path, size, mtime, ctime, kind, digest, seen)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (path) DO UPDATE
                   SET size = ?2, mtime = ?3, ctime = ?4, kind = ?5, digest = ?6, seen = ?7
                   RETURNING id";
        let mut put = self.conn.prepare_cached(sql)?;
        let path = path.as_os_str().as_bytes();
        let values =
            params![path, stamp.size, stamp.mtime, stamp.ctime, *kind as i64, digest, pass];
        let id: i64 = put.query_row(values, |row| row.get(0))?;
        self.conn.prepare_cached("DELETE FROM grams WHERE rowid = ?1")?.execute([id])?;
        let mut add = self.conn.prepare_cached("INSERT INTO grams (rowid, g) VALUES (?1, ?2)")?;
        add.execute(params![id, grams])?;
        Ok(())
    }

    /// Removes the files below a folder that a whole pass did not see. How many.
    pub(crate) fn forget_unseen(&self, below: &Path, pass: i64) -> rusqlite::Result<u64> {
        let mut all = self.conn.prepare("SELECT id, path FROM files WHERE seen < ?1")?;
        let rows = all.query_map([pass], |row| Ok((row.get(0)?, row.get::<_, Vec<u8>>(1)?)))?;
        let mut gone: Vec<i64> = Vec::new();
        for row in rows {
            let (id, path) = row?;
            let path = PathBuf::from(std::ffi::OsString::from_vec(path));
            if below.as_os_str().is_empty() || path.starts_with(below) {
                gone.push(id);
            }
        }
        for id in &gone {
            self.conn.execute("DELETE FROM grams WHERE rowid = ?1", [id])?;
            self.conn.execute("DELETE FROM files WHERE id = ?1", [id])?;
        }
        Ok(gone.len() as u64)
    }

    /// What the index knows about a query: each part is a list of grams, of which a file has to
    /// have all; a file with any of the parts is opened.
    pub(crate) fn candidates(&self, parts: &[Vec<String>]) -> rusqlite::Result<IndexAnswer> {
        let quoted = |part: &Vec<String>| {
            let grams = part.iter().take(GRAMS_MAX).map(|gram| format!("\"{gram}\""));
            format!("({})", grams.collect::<Vec<_>>().join(" AND "))
        };
        let query = parts.iter().map(quoted).collect::<Vec<_>>().join(" OR ");
        let mut find = self.conn.prepare("SELECT rowid FROM grams WHERE grams MATCH ?1")?;
        let may_hold = find.query_map([query], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let mut all = self.conn.prepare("SELECT path, id, size, mtime, ctime, kind FROM files")?;
        let rows = all.query_map([], |row| {
            let path = PathBuf::from(std::ffi::OsString::from_vec(row.get(0)?));
            let stamp = IndexStamp { size: row.get(2)?, mtime: row.get(3)?, ctime: row.get(4)? };
            Ok((path, (row.get(1)?, stamp, FileKind::read(row.get(5)?))))
        })?;
        Ok(IndexAnswer { files: rows.collect::<Result<_, _>>()?, may_hold })
    }
}

/// What the index knows about a query.
pub(crate) struct IndexAnswer {
    files: HashMap<PathBuf, (i64, IndexStamp, FileKind)>,
    may_hold: HashSet<i64>,
}

impl IndexAnswer {
    /// What is known of a file as it is now; `None` if it has to be opened.
    pub(crate) fn rules_out(&self, path: &Path, now: IndexStamp) -> Option<FileKind> {
        let (id, stamp, kind) = self.files.get(path)?;
        let is_as_it_was = *stamp == now && stamp.is_sure();
        let is_out = *kind != FileKind::Text || !self.may_hold.contains(id);
        (is_as_it_was && is_out).then_some(*kind)
    }
}
