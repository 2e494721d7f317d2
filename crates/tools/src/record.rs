//! What a guard writes down about its command, so that a probe can tell after a crash.
//!
//! ```text
//!   started ──► exit or signal, with the end of the output      the command ended by itself
//!      │  └───► killed                                           it was cut short
//!      └──────► never                                            it could not be started
//!   revoked: a probe came first; the guard finds it and starts nothing
//! ```
//!
//! The first record of an attempt is made by linking a finished file to its name, which one of
//! guard and probe does first: so "nothing is on record" is never said of a command that starts
//! later. The guard holds a lock on its file until it is gone.
//!
//! Deliberately absent: proof for ever. Records are cleared away after some days, and a probe of an
//! older call cannot tell.

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// For so long a missing record proves that nothing was started.
const PROOF: Duration = Duration::from_secs(7 * 86_400);

/// After so long records are cleared away: a day later, because clocks differ.
const KEPT: Duration = Duration::from_secs(8 * 86_400);

/// How long a guard may take to end the tree of a command whose owner is gone.
const ENDING: Duration = Duration::from_secs(10);

/// The file whose content names the folder: what is on record elsewhere says nothing here.
const PLACE: &str = "place";

/// What is known of one attempt at a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(crate) enum Record {
    /// The command may run, or may have run. Also what cannot be read.
    Started { pid: u32 },
    /// It ended by itself.
    Exit { code: i32, output: String },
    /// A signal that was not ours ended it.
    Signal { signal: i32, output: String },
    /// It was stopped by us, or because we were gone.
    Killed,
    /// It could not be started.
    Never,
    /// A probe came first.
    Revoked,
}

/// What the intent keeps, so that a probe knows which records it may trust.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Origin {
    place: String,
    at_s: u64,
}

/// A private folder of records.
#[derive(Debug, Clone)]
pub(crate) struct Records {
    folder: PathBuf,
}

impl Records {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Clears away what is too old, and says where we are.
    pub(crate) fn origin(&self) -> io::Result<Origin> {
        let place = self.place()?;
        self.clear();
        Ok(Origin { place, at_s: now_s() })
    }

    /// What names the folder, which is made if it is missing.
    pub(crate) fn place(&self) -> io::Result<String> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let name = self.folder.join(PLACE);
        if !name.exists() {
            let id = format!("{}-{}", nanos(), std::process::id());
            match write_first(&name, id.as_bytes()) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
        }
        fs::read_to_string(name)
    }

    /// The file of one attempt at one effect.
    pub(crate) fn file(&self, idem_key: &str, attempt: u32) -> PathBuf {
        self.folder.join(format!("{idem_key}.{attempt}"))
    }

    /// A file that cannot be looked at or removed is left to the next time.
    fn clear(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        for entry in entries.flatten().filter(|entry| entry.file_name() != PLACE) {
            let changed = entry.metadata().and_then(|metadata| metadata.modified());
            let age = changed.ok().and_then(|at| at.elapsed().ok());
            if age.is_some_and(|age| age > KEPT) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// What is on record of an attempt, once nobody writes it any more. Where there is nothing, the
    /// attempt is revoked: its guard, should it still come up, will start nothing.
    ///
    /// # Errors
    /// Why it cannot be said.
    pub(crate) fn settle(
        &self,
        origin: &Origin,
        idem_key: &str,
        attempt: u32,
    ) -> Result<Record, String> {
        let here = fs::read_to_string(self.folder.join(PLACE)).unwrap_or_default();
        if here != origin.place {
            return Err("its records are kept elsewhere".to_owned());
        }
        let file = self.file(idem_key, attempt);
        let until = std::time::Instant::now() + ENDING;
        loop {
            match read(&file) {
                Ok(Record::Started { .. }) if !is_held(&file) => return Ok(read_again(&file)),
                Ok(Record::Started { .. }) if std::time::Instant::now() >= until => {
                    return Err("its guard is still ending it".to_owned());
                }
                Ok(Record::Started { .. }) => std::thread::sleep(Duration::from_millis(20)),
                Ok(known) => return Ok(known),
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.to_string()),
                Err(_) if now_s().saturating_sub(origin.at_s) > PROOF.as_secs() => {
                    return Err("it is so long ago that nothing is kept of it".to_owned());
                }
                Err(_) => match begin(&file, &Record::Revoked) {
                    Ok(_) => return Ok(Record::Revoked),
                    Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                    Err(error) => return Err(error.to_string()),
                },
            }
        }
    }
}

/// Makes the first record of an attempt, durable when this returns, and holds its lock.
///
/// # Errors
/// [`ErrorKind::AlreadyExists`] if there is one.
pub(crate) fn begin(file: &Path, record: &Record) -> io::Result<File> {
    write_first(file, &bytes(record))
}

/// Replaces the record, durably.
pub(crate) fn replace(file: &Path, record: &Record) -> io::Result<()> {
    replace_file(file, &bytes(record))
}

/// Replaces a file so that a reader, also after a power cut, finds the old content or the new.
pub(crate) fn replace_file(file: &Path, content: &[u8]) -> io::Result<()> {
    let (temporary, _) = write_beside(file, content)?;
    fs::rename(&temporary, file)?;
    sync_folder(file)
}

/// Takes secrets out of a record once its command has ended. The guard knows none: it gets no
/// variable and no setting of ours.
pub(crate) fn clean(file: &Path, redact: fn(&str) -> String) -> io::Result<()> {
    let known = read(file)?;
    let cleaned = match &known {
        Record::Exit { code, output } => Record::Exit { code: *code, output: redact(output) },
        Record::Signal { signal, output } => {
            Record::Signal { signal: *signal, output: redact(output) }
        }
        _ => return Ok(()),
    };
    if cleaned == known { Ok(()) } else { replace(file, &cleaned) }
}

fn write_first(file: &Path, content: &[u8]) -> io::Result<File> {
    let (temporary, written) = write_beside(file, content)?;
    let linked = fs::hard_link(&temporary, file);
    fs::remove_file(&temporary)?;
    linked?;
    sync_folder(file)?;
    Ok(written)
}

fn write_beside(file: &Path, content: &[u8]) -> io::Result<(PathBuf, File)> {
    let mut name = file.as_os_str().to_owned();
    name.push(format!(".{}-{}.tmp", std::process::id(), nanos()));
    let temporary = PathBuf::from(name);
    let mut written =
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
    flock(&written, FlockOperation::NonBlockingLockExclusive)?;
    written.write_all(content)?;
    written.sync_all()?;
    Ok((temporary, written))
}

fn sync_folder(file: &Path) -> io::Result<()> {
    File::open(file.parent().unwrap_or(Path::new(".")))?.sync_all()
}

fn bytes(record: &Record) -> Vec<u8> {
    serde_json::to_vec(record).expect("our own types always have a JSON form")
}

fn read(file: &Path) -> io::Result<Record> {
    let content = fs::read(file)?;
    Ok(serde_json::from_slice(&content).unwrap_or(Record::Started { pid: 0 }))
}

/// What was read before the lock was seen to be free may have been replaced in between.
fn read_again(file: &Path) -> Record {
    read(file).unwrap_or(Record::Started { pid: 0 })
}

/// Whether the one who made the record lives.
fn is_held(file: &Path) -> bool {
    let free =
        File::open(file).and_then(|file| Ok(flock(&file, FlockOperation::NonBlockingLockShared)?));
    free.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

fn nanos() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records() -> (tempfile::TempDir, Records, Origin) {
        let folder = tempfile::TempDir::new().unwrap();
        let records = Records::new(folder.path().join("effects"));
        let origin = records.origin().unwrap();
        (folder, records, origin)
    }

    #[test]
    fn nothing_on_record_revokes_the_attempt_and_stays_so() {
        let (_folder, records, origin) = records();
        assert_eq!(records.settle(&origin, "key", 1), Ok(Record::Revoked));
        assert_eq!(records.settle(&origin, "key", 1), Ok(Record::Revoked));
        let late = begin(&records.file("key", 1), &Record::Started { pid: 1 });
        assert_eq!(late.unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert!(begin(&records.file("key", 2), &Record::Started { pid: 1 }).is_ok());
    }

    #[test]
    fn an_end_on_record_is_believed_and_a_start_alone_is_not_an_end() {
        let (_folder, records, origin) = records();
        let file = records.file("key", 1);
        drop(begin(&file, &Record::Started { pid: 1 }).unwrap());
        assert_eq!(records.settle(&origin, "key", 1), Ok(Record::Started { pid: 1 }));
        let end = Record::Exit { code: 3, output: "said".to_owned() };
        replace(&file, &end).unwrap();
        assert_eq!(records.settle(&origin, "key", 1), Ok(end));
    }

    #[test]
    fn records_of_another_place_or_of_long_ago_say_nothing() {
        let (_folder, records, origin) = records();
        let elsewhere = Origin { place: "moon".to_owned(), ..origin.clone() };
        assert!(records.settle(&elsewhere, "key", 1).is_err());
        let long_ago = Origin { at_s: origin.at_s - PROOF.as_secs() - 1, ..origin };
        assert!(records.settle(&long_ago, "key", 1).is_err());
    }

    #[test]
    fn what_is_too_old_is_cleared_away() {
        let (_folder, records, origin) = records();
        let (old, new) = (records.file("old", 1), records.file("new", 1));
        for file in [&old, &new] {
            begin(file, &Record::Killed).unwrap();
        }
        let then = SystemTime::now() - KEPT - Duration::from_secs(60);
        File::options().write(true).open(&old).unwrap().set_modified(then).unwrap();
        assert_eq!(records.origin().unwrap().place, origin.place);
        assert_eq!((old.exists(), new.exists()), (false, true));
    }
}
