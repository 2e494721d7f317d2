//! Copies of a database, and the way back from one.
//!
//! ```text
//!   back up:  database ──pages, in one snapshot──► FILE.part ──check, fsync──► FILE
//!   restore:  copy ──check──► database, in one transaction; the previous content is kept beside it
//! ```
//!
//! A restore writes into the file instead of replacing it: other processes may have it open, and
//! would continue with a file that was replaced.

use super::{
    files,
    look::{beside, connect, look},
    open::OpenError,
    session::classify,
    shape::harden,
};
use crate::{db::DbError, keep::Inspection};
use rusqlite::{
    Connection, OpenFlags,
    backup::{Backup, StepResult},
};
use std::{
    fs::{self, File},
    io,
    path::Path,
    sync::Arc,
    time::Duration,
};

const ALL_PAGES: i32 = -1;

/// Copies the database into a new file, in one snapshot, while other processes keep using it.
///
/// The copy is whole and checked before it has its name.
pub(crate) fn back_up(database: &Path, to: &Path) -> Result<Inspection, OpenError> {
    look(database)?;
    files::regular(database)?;
    let source = match files::is_writable(database) {
        // May write, so that the last to close takes the log away as always.
        true => writable(database)?,
        false => connect(database)?,
    };
    place_copy(&source, to, ExistingFile::Refuse)
}

/// What to do with a file of the wanted name.
#[derive(PartialEq)]
enum ExistingFile {
    Refuse,
    Replace,
}

/// Makes a whole copy under another name, checks it, and gives it its name.
fn place_copy(
    source: &Connection,
    to: &Path,
    existing: ExistingFile,
) -> Result<Inspection, OpenError> {
    let failed = |source| OpenError::Backup { path: to.to_owned(), source };
    let part = beside(to, ".part");
    match fs::remove_file(&part) {
        // Left by an attempt that broke off.
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    let file = files::create_new(&part).map_err(failed)?;
    let made = copy(source, &part).and_then(|()| whole(&part));
    let placed = made.and_then(|seen| {
        file.sync_all().map_err(failed)?;
        match existing {
            ExistingFile::Refuse => fs::hard_link(&part, to).map_err(failed)?,
            ExistingFile::Replace => fs::rename(&part, to).map_err(failed)?,
        }
        files::sync_folder(to).map_err(failed)?;
        Ok(seen)
    });
    if existing == ExistingFile::Refuse || placed.is_err() {
        // Ours: a second name of the copy, or half of one.
        let _ = fs::remove_file(&part);
    }
    placed
}

/// A look at a copy that must be sound.
fn whole(path: &Path) -> Result<Inspection, OpenError> {
    let seen = look(path)?;
    match (seen.quick_check.as_str(), seen.schema_version) {
        ("ok", 0) => Err(OpenError::NotOurs { path: path.to_owned(), altered: None }),
        ("ok", _) => Ok(seen),
        _ => Err(DbError::Damaged { file: path.into() }.into()),
    }
}

fn copy(source: &Connection, to: &Path) -> Result<(), OpenError> {
    let file: Arc<Path> = to.into();
    let broken = |error| OpenError::from(classify(error, &file, 0));
    let mut target = writable(to)?;
    let backup = Backup::new(source, &mut target).map_err(broken)?;
    // One step copies all pages of one snapshot; both sides wait for locks by themselves.
    match backup.step(ALL_PAGES).map_err(broken)? {
        StepResult::Done => Ok(()),
        _ => Err(DbError::Locked { file: Arc::clone(&file) }.into()),
    }
}

fn writable(path: &Path) -> Result<Connection, OpenError> {
    let file: Arc<Path> = path.into();
    let broken = |error| OpenError::from(classify(error, &file, 0));
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags).map_err(broken)?;
    conn.busy_timeout(Duration::from_secs(5)).map_err(broken)?;
    harden(&conn).map_err(broken)?;
    Ok(conn)
}

/// Checks a copy that `restore` may take.
pub(crate) fn check_copy(copy: &Path) -> Result<Inspection, OpenError> {
    whole(copy)
}

/// Rewrites a file so that free pages can be given back one by one, if it was made before they
/// could be, and copies its log back. No store of this process may have it open.
pub(crate) fn compact(database: &Path) -> Result<(), OpenError> {
    let file: Arc<Path> = database.into();
    let broken = |error| OpenError::from(classify(error, &file, 0));
    let conn = writable(database)?;
    if super::open::read_pragma(&conn, "PRAGMA auto_vacuum").map_err(broken)? == "0" {
        conn.execute_batch("PRAGMA auto_vacuum = INCREMENTAL; VACUUM").map_err(broken)?;
    }
    let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
    super::open::read_pragma(&conn, checkpoint).map(drop).map_err(broken)
}

/// Makes a working copy of a copy, which may be changed before it is restored. One that an attempt
/// left behind which broke off is replaced.
pub(crate) fn stage(from: &Path, to: &Path) -> Result<(), OpenError> {
    whole(from)?;
    unstage(to);
    place_copy(&connect(from)?, to, ExistingFile::Replace).map(drop)
}

/// Removes a working copy and its log.
pub(crate) fn unstage(staged: &Path) {
    for file in [staged.to_owned(), beside(staged, "-wal"), beside(staged, "-shm")] {
        let _ = fs::remove_file(file);
    }
}

/// Replaces the database with a copy; the previous content is kept as `aside`, if there was any.
///
/// The caller ensures that no process drives runs meanwhile.
pub(crate) fn restore(from: &Path, database: &Path, aside: &Path) -> Result<(), OpenError> {
    whole(from)?;
    let source = connect(from)?;
    if !database.try_exists().is_ok_and(|there| there) {
        return place_copy(&source, database, ExistingFile::Refuse).map(drop);
    }
    match look(database) {
        // A copy is also the way out of a database with foreign triggers.
        Ok(_) | Err(OpenError::NotOurs { altered: Some(_), .. }) => {
            let failed = |source| OpenError::Backup { path: aside.to_owned(), source };
            let kept = files::create_new(aside).map_err(failed)?;
            copy(&writable(database)?, aside)?;
            kept.sync_all().map_err(failed)?;
            files::sync_folder(aside).map_err(failed)?;
            copy(&source, database)
        }
        // No process can use such a file, so none is disturbed when it is moved.
        Err(OpenError::Db(DbError::Damaged { .. })) => {
            move_aside(database, aside)?;
            place_copy(&source, database, ExistingFile::Replace).map(drop)
        }
        Err(error) => Err(error),
    }
}

/// Gives a damaged database a second name, and moves its log out of the way of the new one.
fn move_aside(database: &Path, aside: &Path) -> Result<(), OpenError> {
    let failed = |source| OpenError::Backup { path: aside.to_owned(), source };
    fs::hard_link(database, aside).map_err(failed)?;
    for ending in ["-wal", "-shm"] {
        match fs::rename(beside(database, ending), beside(aside, ending)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
    }
    File::open(aside).and_then(|file| file.sync_all()).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::super::look::has_log;
    use super::*;
    use crate::{SCHEMA_VERSION, Store};

    /// A folder with a database that has a log beside it, and the store that keeps it there.
    fn database() -> (tempfile::TempDir, std::path::PathBuf, Store) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a b%.db");
        let store = Store::open(&path).unwrap();
        (folder, path, store)
    }

    #[test]
    fn a_look_changes_no_byte_and_makes_no_file() {
        let (folder, path, store) = database();
        let all = || {
            let files = fs::read_dir(folder.path()).unwrap().flatten();
            let mut all: Vec<_> =
                files.map(|file| (file.path(), fs::read(file.path()).unwrap())).collect();
            all.sort();
            all
        };
        let looked = |log: bool| {
            let before = all();
            let seen = look(&path).unwrap();
            assert_eq!((seen.quick_check.as_str(), seen.schema_version), ("ok", SCHEMA_VERSION));
            assert_eq!(has_log(&path), log);
            assert!(all() == before, "a look changed a file");
        };
        looked(true);
        drop(store);
        looked(false);
    }

    #[tokio::test]
    async fn space_that_is_not_needed_goes_back_to_the_disk_also_in_older_files() {
        for old in [false, true] {
            let (_folder, path, store) = database();
            drop(store);
            if old {
                let plain = "PRAGMA auto_vacuum = NONE; VACUUM";
                writable(&path).unwrap().execute_batch(plain).unwrap();
            }
            let store = Store::open(&path).unwrap();
            let fill = |n: u8| crate::row::insert_blob(format!("{n}"), vec![n; 100_000]);
            let blobs = (0..100).map(fill).collect();
            store.db().commit(blobs, crate::Urgency::Critical).await.unwrap();
            let full = store.maintenance().bytes_on_disk().await.unwrap();
            assert!(full > 10_000_000);
            assert_eq!(store.maintenance().sweep_blobs().await.unwrap(), 100);
            store.maintenance().give_space_back().await.unwrap();
            assert_eq!(store.maintenance().bytes_on_disk().await.unwrap() < 1_000_000, !old);
            drop(store);
            compact(&path).unwrap();
            assert!(fs::metadata(&path).unwrap().len() < 1_000_000);
        }
    }

    #[test]
    fn a_copy_is_whole_and_never_takes_the_name_of_another_file() {
        let (folder, path, _store) = database();
        let to = folder.path().join("copy.db");
        assert_eq!(back_up(&path, &to).unwrap().schema_version, SCHEMA_VERSION);
        assert!(matches!(back_up(&path, &to), Err(OpenError::Backup { .. })));
        let names = fs::read_dir(folder.path()).unwrap().flatten();
        assert!(!names.map(|name| name.path()).any(|name| name.ends_with("copy.db.part")));
        let cut = fs::read(&to).unwrap();
        fs::write(&to, &cut[..cut.len() / 2]).unwrap();
        let refused = restore(&to, &path, &folder.path().join("aside.db")).unwrap_err();
        assert!(matches!(refused, OpenError::Db(DbError::Damaged { .. })), "{refused}");
        assert!(!folder.path().join("aside.db").exists());
    }

    #[test]
    fn a_damaged_database_makes_room_and_is_kept() {
        let (folder, path, store) = database();
        let (to, aside) = (folder.path().join("copy.db"), folder.path().join("aside.db"));
        back_up(&path, &to).unwrap();
        drop(store);
        fs::write(&path, b"no database at all, but a letter").unwrap();
        restore(&to, &path, &aside).unwrap();
        assert_eq!(look(&path).unwrap().quick_check, "ok");
        assert_eq!(fs::read(&aside).unwrap(), b"no database at all, but a letter");
    }
}
