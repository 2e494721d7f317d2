//! A checked copy of the data, and the way back.

use crate::app::App;
use crate::error::{AppError, FileError, chain};
use crate::settings::file::make_folder;
use everloop_engine::{Clock, Membership, SystemClock, fresh_id, quarantine_unfinished};
use everloop_store::{
    ClaimLockError, Holder, Inspection, SCHEMA_VERSION, Store, StoreError, copies,
};
use everloop_types::{RunId, WorkerId};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why there is no copy, or no way back to one.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// A server has its own ways.
    #[error("the database is on a server")]
    Server,
    /// There is no database yet; where it would be.
    #[error("no database {}", .0.display())]
    NoDatabase(PathBuf),
    /// The file exists, and is not written over.
    #[error("{} exists", .0.display())]
    Exists(PathBuf),
    /// The copy was not made.
    #[error("{}: {cause}", file.display())]
    NotCopied {
        /// The copy.
        file: PathBuf,
        /// Why.
        cause: String,
    },
    /// There is no such copy.
    #[error("no file {}", .0.display())]
    NoFile(PathBuf),
    /// The copy is the database itself.
    #[error("{} is the database", .0.display())]
    SameFile(PathBuf),
    /// The copy cannot be used.
    #[error("{}: {source}", copy.display())]
    Refused {
        /// The copy.
        copy: PathBuf,
        /// Why.
        source: StoreError,
    },
    /// A newer program of another home wrote the copy.
    #[error("{} has the schema {schema}", copy.display())]
    Newer {
        /// The copy.
        copy: PathBuf,
        /// Its schema.
        schema: i64,
    },
    /// Another process drives runs.
    #[error("process {} drives runs", .0.pid)]
    Driven(Holder),
    /// The database is as it was.
    #[error("{}: {cause}", database.display())]
    NotRestored {
        /// The database.
        database: PathBuf,
        /// Why.
        cause: String,
    },
}

/// A copy that was made.
pub struct BackupCopy {
    /// The copy.
    pub file: PathBuf,
    /// How many runs are in it.
    pub runs: u64,
    /// Its size.
    pub bytes: u64,
}

/// Makes a copy of the database, in the folder of copies unless a file is named.
///
/// # Errors
/// [`CopyError`].
pub async fn back_up(app: &App, file: Option<PathBuf>) -> Result<BackupCopy, AppError> {
    let database = own_file(app)?;
    if !database.exists() {
        return Err(CopyError::NoDatabase(database.to_owned()).into());
    }
    let file = file.unwrap_or_else(|| {
        let name = format!("everloop-{}", stamp());
        unused(&app.home.data().join("backups").join(name), ".db")
    });
    if file.exists() {
        return Err(CopyError::Exists(file).into());
    }
    let failed = |cause| CopyError::NotCopied { file: file.clone(), cause };
    make_folder(&file).map_err(|error| failed(error.to_string()))?;
    let (from, to) = (database.to_owned(), file.clone());
    let copied = aside(move || copies::back_up(&from, &to)).await?;
    let copied = copied.map_err(|error| failed(chain(&error)))?;
    let runs = copied.runs_by_status.iter().map(|(_, count)| count).sum();
    Ok(BackupCopy { file, runs, bytes: copied.bytes_on_disk })
}

/// The runs of a copy whose rows are not what was written. A copy of an older schema is not read.
///
/// # Errors
/// If the copy cannot be read.
pub async fn damaged_runs(copy: &Path) -> Result<Vec<RunId>, AppError> {
    let store = match Store::open_read_only(copy) {
        Err(error) if error.is_read_only() => return Ok(Vec::new()),
        opened => opened?,
    };
    Ok(store.maintenance().check_runs(Duration::MAX).await?.damaged)
}

/// The runs that are not over.
#[must_use]
pub fn open_runs(seen: &Inspection) -> u64 {
    let open = seen.runs_by_status.iter().filter(|(status, _)| !status.is_final());
    open.map(|(_, count)| count).sum()
}

/// A copy that may take the place of the database. Nobody drives runs as long as this lives.
pub struct Restoration {
    /// The copy.
    pub copy: PathBuf,
    /// What was seen of it.
    pub seen: Inspection,
    /// Whether another home wrote it, or nobody can tell.
    pub is_foreign: bool,
    database: PathBuf,
    _lock: Membership,
}

/// A database that was replaced by a copy.
pub struct RestoreReport {
    /// The copy.
    pub copy: PathBuf,
    /// Where the former database is, if there was one.
    pub kept: Option<PathBuf>,
    /// How many approvals of another home were dropped.
    pub approvals_dropped: u64,
}

impl Restoration {
    /// Checks a copy, and keeps all others from driving runs.
    ///
    /// # Errors
    /// [`CopyError`].
    pub async fn prepare(app: &App, copy: PathBuf) -> Result<Self, AppError> {
        let database = own_file(app)?.to_owned();
        if !copy.exists() {
            return Err(CopyError::NoFile(copy).into());
        }
        if copy.canonicalize().ok() == database.canonicalize().ok() {
            return Err(CopyError::SameFile(copy).into());
        }
        let refused = |source| CopyError::Refused { copy: copy.clone(), source };
        let file = copy.clone();
        let seen = aside(move || copies::check_copy(&file)).await?.map_err(refused)?;
        make_folder(&database).map_err(|error| not_restored(&database, error.to_string()))?;
        let lock = lock(app)?;
        let is_foreign = !is_of_this_home(app, &database, copies::home_of(&copy).map_err(refused)?);
        if is_foreign && seen.schema_version > SCHEMA_VERSION {
            // What such a file may hold is known to a newer program only.
            return Err(CopyError::Newer { copy, schema: seen.schema_version }.into());
        }
        Ok(Self { copy, seen, is_foreign, database, _lock: lock })
    }

    /// Puts the copy in the place of the database, which is kept beside it.
    ///
    /// # Errors
    /// [`CopyError`].
    pub async fn restore(self, app: &App) -> Result<RestoreReport, AppError> {
        let kept = format!(".before-restore-{}", stamp());
        let kept = unused(&beside(&self.database, &kept), "");
        let was_there = self.database.exists();
        let staged = beside(&self.database, ".restoring");
        let restored = self.put_back(app, &staged, &kept).await;
        copies::unstage(&staged);
        let approvals_dropped = restored?;
        Ok(RestoreReport { copy: self.copy, kept: was_there.then_some(kept), approvals_dropped })
    }

    /// Unfinished runs are put aside in a working copy first: if this breaks off at any moment, the
    /// database is as it was or nothing in it goes on by itself. A copy of another home loses what
    /// was allowed for good there; tells how much that was.
    async fn put_back(&self, app: &App, staged: &Path, kept: &Path) -> Result<u64, AppError> {
        let failed = |error: StoreError| not_restored(&self.database, chain(&error));
        let (from, to) = (self.copy.clone(), staged.to_owned());
        let opened = aside(move || {
            copies::stage(&from, &to)?;
            Store::open(&to)
        });
        let store = opened.await?.map_err(failed)?;
        let now = SystemClock.now();
        let mut dropped = 0;
        if self.is_foreign {
            let home = app.home.id();
            let home = home.map_err(|error| not_restored(&self.database, error.to_string()))?;
            dropped = store.maintenance().take_over(&home, now).await.map_err(failed)?.approvals;
        }
        quarantine_unfinished(&store, now).await.map_err(failed)?;
        drop(store);
        let (from, to, keep) = (staged.to_owned(), self.database.clone(), kept.to_owned());
        aside(move || copies::restore(&from, &to, &keep)).await?.map_err(failed)?;
        Ok(dropped)
    }
}

/// A copy is of this home if it names this home, or the home of the database that it replaces.
fn is_of_this_home(app: &App, database: &Path, wrote: Option<String>) -> bool {
    let present = copies::home_of(database).ok().flatten();
    wrote.is_some() && [app.home.id().ok(), present].contains(&wrote)
}

fn not_restored(database: &Path, cause: String) -> CopyError {
    CopyError::NotRestored { database: database.to_owned(), cause }
}

/// The database file; a server has its own ways.
fn own_file(app: &App) -> Result<&Path, CopyError> {
    app.database.file().ok_or(CopyError::Server)
}

/// Nobody may drive runs while their journals are exchanged.
fn lock(app: &App) -> Result<Membership, AppError> {
    let worker = WorkerId::new(fresh_id("restore_", SystemClock.now()));
    app.membership().acquire(&worker).map_err(|error| match error {
        ClaimLockError::Held(holder) => CopyError::Driven(holder).into(),
        ClaimLockError::Store(error) => AppError::Store(error),
    })
}

/// Does what takes long and blocks beside the async work.
pub(crate) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, AppError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| FileError::BrokenOff(error).into())
}

/// The local time, as file names have it.
fn stamp() -> String {
    jiff::Zoned::now().strftime("%Y%m%d-%H%M%S").to_string()
}

/// The name with its ending, or with a number if there is such a file already.
fn unused(name: &Path, ending: &str) -> PathBuf {
    let numbered = (2..).map(|number| beside(name, &format!("-{number}{ending}")));
    let mut names = std::iter::once(beside(name, ending)).chain(numbered);
    names.find(|name| !name.exists()).unwrap_or_else(|| unreachable!("numbers do not end"))
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}
