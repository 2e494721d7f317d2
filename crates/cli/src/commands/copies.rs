//! `everloop backup` and `everloop restore`: a checked copy of the data, and the way back.

use crate::args;
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::terminal;
use everloop_app::settings::file::make_folder;
use everloop_engine::{Clock, Membership, SystemClock, fresh_id, set_unfinished_aside};
use everloop_store::{ClaimLockError, Inspection, OpenError, SCHEMA_VERSION, Store, StoreError};
use everloop_text as text;
use everloop_types::{RunId, WorkerId};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(crate) async fn backup(app: &Console, args: args::Backup) -> Result<Exit, Failure> {
    let database = own_file(app)?;
    if !database.exists() {
        return Err(app.failure(Exit::Data, text::backup::nothing(&database.display())));
    }
    let to = match args.file {
        Some(file) => file,
        None => {
            unused(&app.home.data().join("backups").join(format!("everloop-{}", stamp())), ".db")
        }
    };
    if to.exists() {
        return Err(app.failure(Exit::Usage, text::backup::exists(&to.display())));
    }
    make_folder(&to)
        .map_err(|error| app.failure(Exit::Data, text::backup::failed(&to.display(), &error)))?;
    let (from, place) = (database.to_owned(), to.clone());
    let copied = aside(app, move || everloop_store::copies::back_up(&from, &place)).await?;
    let copied = copied.map_err(|error| {
        let cause = everloop_app::error::chain(&error);
        app.failure(Exit::Data, text::backup::failed(&to.display(), &cause))
    })?;
    terminal::answer(&to.display().to_string());
    let runs: u64 = copied.runs_by_status.iter().map(|(_, count)| count).sum();
    let (runs, bytes) = (runs.to_string(), copied.bytes_on_disk.to_string());
    let file = to.display().to_string();
    let damaged = damaged_runs(&to).await.map_err(|error| app.store_failure(&error))?;
    if !damaged.is_empty() {
        let words = app.text(text::backup::damaged(&file, &damaged));
        return Err(Failure { exit: Exit::Data, words });
    }
    app.note(text::backup::Done { runs: &runs, bytes: &bytes, file: &file }.text());
    Ok(Exit::Done)
}

/// The runs of a copy whose rows are not what was written. A copy of an older schema is not read.
async fn damaged_runs(copy: &Path) -> Result<String, StoreError> {
    let store = match Store::open_read_only(copy) {
        Err(error) if error.is_read_only() => return Ok(String::new()),
        opened => opened?,
    };
    let damaged = store.maintenance().check_runs(Duration::MAX).await?.damaged;
    Ok(damaged.iter().map(RunId::as_str).collect::<Vec<_>>().join(", "))
}

pub(crate) async fn restore(app: &Console, args: args::Restore) -> Result<Exit, Failure> {
    let database = own_file(app)?;
    let copy = args.file;
    if !copy.exists() {
        return Err(app.failure(Exit::Usage, text::restore::no_file(&copy.display())));
    }
    if copy.canonicalize().ok() == database.canonicalize().ok() {
        return Err(app.failure(Exit::Usage, text::restore::same(&copy.display())));
    }
    let file = copy.clone();
    let seen = aside(app, move || everloop_store::copies::check_copy(&file)).await?;
    let seen = seen.map_err(|error| refused(app, &copy, &error))?;
    make_folder(database).map_err(|error| {
        app.failure(Exit::Data, text::restore::failed(&database.display(), &error))
    })?;
    let _lock = lock(app)?;
    let origin = origin(app, &copy)?;
    if origin == Origin::Elsewhere {
        if seen.schema_version > SCHEMA_VERSION {
            // What such a file may hold is known to a newer program only.
            let detail = seen.schema_version.to_string();
            return Err(app.failure(Exit::Data, text::restore::newer(&copy.display(), &detail)));
        }
        let file = copy.display().to_string();
        terminal::complain(&app.text(text::restore::foreign(&file)));
    }
    confirm(app, args.yes, &copy, &seen).await?;
    let kept = unused(&beside(database, &format!(".before-restore-{}", stamp())), "");
    let was_there = database.exists();
    let staged = beside(database, ".restoring");
    let restored = put_back(app, (&copy, origin), &staged, &kept).await;
    everloop_store::copies::unstage(&staged);
    let dropped = restored?;
    let (copy, kept) = (copy.display().to_string(), kept.display().to_string());
    terminal::complain(&app.text(if was_there {
        text::restore::done(&copy, &kept)
    } else {
        text::restore::done_first(&copy)
    }));
    if dropped > 0 {
        let count = dropped.to_string();
        terminal::complain(&app.text(text::restore::approvals_dropped(&count)));
    }
    Ok(Exit::Done)
}

/// Which home wrote a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// This one, so what the person allowed for good in it still counts.
    Here,
    /// Another one, or nobody can tell.
    Elsewhere,
}

/// A copy is of this home if it names this home, or the home of the database that it replaces.
fn origin(app: &Console, copy: &Path) -> Result<Origin, Failure> {
    let wrote =
        everloop_store::copies::home_of(copy).map_err(|error| refused(app, copy, &error))?;
    let database = own_file(app)?;
    let present = everloop_store::copies::home_of(database).ok().flatten();
    let own = [app.home.id().ok(), present];
    match wrote.is_some() && own.contains(&wrote) {
        true => Ok(Origin::Here),
        false => Ok(Origin::Elsewhere),
    }
}

/// Unfinished runs are put aside in a working copy first: if this breaks off at any moment, the
/// database is as it was or nothing in it goes on by itself. A copy of another home loses what was
/// allowed for good there; tells how much that was.
async fn put_back(
    app: &Console,
    (copy, origin): (&Path, Origin),
    staged: &Path,
    kept: &Path,
) -> Result<u64, Failure> {
    let database = own_file(app)?;
    let failed = |error: StoreError| {
        let cause = everloop_app::error::chain(&error);
        app.failure(Exit::Data, text::restore::failed(&database.display(), &cause))
    };
    let (from, to) = (copy.to_owned(), staged.to_owned());
    let opened = aside(app, move || {
        everloop_store::copies::stage(&from, &to)?;
        Store::open(&to)
    });
    let store = opened.await?.map_err(failed)?;
    let now = SystemClock.now();
    let mut dropped = 0;
    if origin == Origin::Elsewhere {
        let home = app.home.id();
        let home = home.map_err(|error| {
            app.failure(Exit::Data, text::restore::failed(&database.display(), &error))
        })?;
        dropped = store.maintenance().take_over(&home, now).await.map_err(failed)?.approvals;
    }
    set_unfinished_aside(&store, now).await.map_err(failed)?;
    drop(store);
    let (from, to, keep) = (staged.to_owned(), database.to_owned(), kept.to_owned());
    aside(app, move || everloop_store::copies::restore(&from, &to, &keep))
        .await?
        .map_err(failed)?;
    Ok(dropped)
}

/// The database file; a server has its own ways.
fn own_file(app: &Console) -> Result<&Path, Failure> {
    app.database.file().ok_or_else(|| {
        let words = app.text(text::backup::server());
        Failure { exit: Exit::Usage, words }
    })
}

/// Nobody may drive runs while their journals are exchanged.
fn lock(app: &Console) -> Result<Membership, Failure> {
    let worker = WorkerId::new(fresh_id("restore_", SystemClock.now()));
    app.membership().acquire(&worker).map_err(|error| match error {
        ClaimLockError::Held(holder) => app.failure(Exit::Data, text::restore::driven(&holder.pid)),
        ClaimLockError::Store(error) => app.store_failure(&error),
    })
}

/// Asks, unless `--yes` has answered. What open runs did since the copy is not in the copy, so they
/// do not go on.
async fn confirm(app: &Console, yes: bool, copy: &Path, seen: &Inspection) -> Result<(), Failure> {
    let open: u64 = seen
        .runs_by_status
        .iter()
        .filter(|(status, _)| !status.is_final())
        .map(|(_, count)| count)
        .sum();
    if open > 0 {
        terminal::complain(&app.text(text::restore::open_runs(&open)));
    }
    if yes {
        return Ok(());
    }
    let file = copy.display().to_string();
    if !app.interactive {
        let words = app.text(text::restore::needs_yes(&file));
        return Err(Failure { exit: Exit::NeedsPerson, words });
    }
    let answer = terminal::ask(&app.text(text::restore::ask(&file))).await;
    match answer.is_some_and(|answer| everloop_text::means_yes(&answer)) {
        true => Ok(()),
        false => Err(app.failure(Exit::NeedsPerson, text::restore::left(&copy.display()))),
    }
}

fn refused(app: &Console, copy: &Path, error: &StoreError) -> Failure {
    let text = match error {
        StoreError::Open(OpenError::NewerSchema { .. }) => text::restore::newer,
        StoreError::Open(OpenError::NotOurs { altered: Some(_), .. }) => text::restore::altered,
        StoreError::Open(OpenError::NotOurs { .. }) => text::restore::not_ours,
        _ => text::restore::damaged,
    };
    app.failure(Exit::Data, text(&copy.display(), &everloop_app::error::chain(error)))
}

/// Does what takes long and blocks beside the async work.
async fn aside<T: Send + 'static>(
    app: &Console,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Failure> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| app.failure(Exit::Failed, text::error::system(&error)))
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
