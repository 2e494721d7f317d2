//! The record that a guard keeps of its command, which a probe reads after a crash.
//!
//! ```text
//!   started ──► exit or signal, with the end of the output      the command ended by itself
//!      │  └───► killed                                           it was cut short
//!      └──────► never                                            it could not be started
//!   revoked: a probe came first; the guard finds it and starts nothing
//! ```
//!
//! The first record of an attempt is made by linking a finished file to its name, which one of
//! guard and probe does first: so a probe never reports "no record" of a command that starts later.
//! The guard holds a lock on its file until it is gone.
//!
//! The records of a run lie in a folder of its own, with a file that names it. They are removed as
//! a whole once the run is over and every outcome is in its journal; time plays no part. A folder
//! that is gone, or was created again, says nothing about an earlier call.
//!
//! Deliberately absent: who decides that a run is over (`engine`).

use everloop_types::RunId;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long a guard may take to end the tree of a command whose owner is gone.
const ENDING: Duration = Duration::from_secs(10);

/// The file whose content names the folder: what is on record elsewhere says nothing here.
const PLACE: &str = "place";

/// A longer run id cannot be the name of a folder.
const RUN_ID_BYTES_MAX: usize = 100;

/// What is known of one attempt at a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(crate) enum CommandRecord {
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
    /// The run whose folder holds the record.
    pub(crate) run: RunId,
    /// What names that folder.
    place: String,
}

/// A private folder of records.
#[derive(Debug, Clone)]
pub(crate) struct RecordFolder {
    folder: PathBuf,
}

impl RecordFolder {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Makes the folder of a run if it is missing, and says which one it is.
    pub(crate) fn origin(&self, run: &RunId) -> io::Result<Origin> {
        let folder = self.of(run).ok_or(ErrorKind::InvalidFilename)?;
        Ok(Origin { run: run.clone(), place: named(&folder)? })
    }

    /// What names the whole folder, which is made if it is missing.
    pub(crate) fn place(&self) -> io::Result<String> {
        named(&self.folder)
    }

    /// The file of one attempt at one effect of a run.
    pub(crate) fn file(&self, run: &RunId, idem_key: &str, attempt: u32) -> Option<PathBuf> {
        Some(self.of(run)?.join(format!("{idem_key}.{attempt}")))
    }

    /// The folder of a run; none if its id cannot be the name of one.
    pub(crate) fn of(&self, run: &RunId) -> Option<PathBuf> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let name = run.as_str();
        let fits = (1..=RUN_ID_BYTES_MAX).contains(&name.len()) && name.chars().all(is_plain);
        (fits && name != PLACE).then(|| self.folder.join(name))
    }

    /// What is on record of an attempt, once no process writes it any more. Where there is nothing,
    /// the attempt is revoked: its guard, should it still come up, will start nothing.
    ///
    /// # Errors
    /// Why it cannot be said.
    pub(crate) fn settle(
        &self,
        origin: &Origin,
        idem_key: &str,
        attempt: u32,
    ) -> Result<CommandRecord, String> {
        let folder = self.of(&origin.run).ok_or("nothing can be kept of it")?;
        let here = fs::read_to_string(folder.join(PLACE)).unwrap_or_default();
        if here.is_empty() || here != origin.place {
            return Err("its records are not here".to_owned());
        }
        let file = folder.join(format!("{idem_key}.{attempt}"));
        let until = std::time::Instant::now() + ENDING;
        loop {
            match read(&file) {
                Ok(CommandRecord::Started { .. }) if !is_held(&file) => {
                    return Ok(read_again(&file));
                }
                Ok(CommandRecord::Started { .. }) if std::time::Instant::now() >= until => {
                    return Err("its guard is still ending it".to_owned());
                }
                Ok(CommandRecord::Started { .. }) => std::thread::sleep(Duration::from_millis(20)),
                Ok(known) => return Ok(known),
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.to_string()),
                Err(_) => match begin(&file, &CommandRecord::Revoked) {
                    Ok(_) => return Ok(CommandRecord::Revoked),
                    Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                    Err(error) => return Err(error.to_string()),
                },
            }
        }
    }
}

/// The runs that have records in a folder, in no order.
///
/// # Errors
/// If the folder cannot be read. One that is missing has none.
pub fn recorded_runs(folder: &Path) -> io::Result<Vec<RunId>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let folders = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|t| t.is_dir()));
    Ok(folders.filter_map(|entry| Some(RunId::new(entry.file_name().to_str()?))).collect())
}

/// Removes the records of a run that is over, with every outcome in its journal.
///
/// # Errors
/// If some of them could not be removed.
pub fn forget_records(folder: &Path, run: &RunId) -> io::Result<()> {
    let Some(of_run) = RecordFolder::new(folder.to_owned()).of(run) else { return Ok(()) };
    match fs::remove_dir_all(of_run) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// The name of a folder, which is created if it is missing. The name is random, so that a folder
/// created later is not taken for it.
fn named(folder: &Path) -> io::Result<String> {
    let name = folder.join(PLACE);
    if !name.exists() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let chance = || RandomState::new().hash_one(nanos());
        let id = format!("{:016x}{:016x}-{}", chance(), chance(), std::process::id());
        match write_first(&name, id.as_bytes()) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            // The folder's own name has to last as long as what lies in it.
            _ => sync_folder(folder)?,
        }
    }
    fs::read_to_string(name)
}

/// Makes the first record of an attempt, durable when this returns, and holds its lock.
///
/// # Errors
/// [`ErrorKind::AlreadyExists`] if there is one.
pub(crate) fn begin(file: &Path, record: &CommandRecord) -> io::Result<File> {
    write_first(file, &bytes(record))
}

/// Replaces the record, durably.
pub(crate) fn replace(file: &Path, record: &CommandRecord) -> io::Result<()> {
    replace_file(file, &bytes(record))
}

/// Replaces a file so that a reader, also after a power cut, finds the old content or the new.
///
/// # Errors
/// If it cannot be written durably; the old content is then still there.
pub fn replace_file(file: &Path, content: &[u8]) -> io::Result<()> {
    let (temporary, _) = write_beside(file, content)?;
    fs::rename(&temporary, file)?;
    sync_folder(file)
}

/// Takes secrets out of a record once its command has ended. The guard knows none: it gets no
/// variable and no setting of ours.
pub(crate) fn clean(file: &Path, redact: fn(&str) -> String) -> io::Result<()> {
    let known = read(file)?;
    let cleaned = match &known {
        CommandRecord::Exit { code, output } => {
            CommandRecord::Exit { code: *code, output: redact(output) }
        }
        CommandRecord::Signal { signal, output } => {
            CommandRecord::Signal { signal: *signal, output: redact(output) }
        }
        _ => return Ok(()),
    };
    if cleaned == known { Ok(()) } else { replace(file, &cleaned) }
}

/// Makes a file that is durable when this returns; no reader ever finds a part of it.
///
/// # Errors
/// [`ErrorKind::AlreadyExists`] if there is one.
pub(crate) fn write_first(file: &Path, content: &[u8]) -> io::Result<File> {
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

fn bytes(record: &CommandRecord) -> Vec<u8> {
    serde_json::to_vec(record).expect("our own types always have a JSON form")
}

fn read(file: &Path) -> io::Result<CommandRecord> {
    let content = fs::read(file)?;
    Ok(serde_json::from_slice(&content).unwrap_or(CommandRecord::Started { pid: 0 }))
}

/// What was read before the lock was seen to be free may have been replaced in between.
fn read_again(file: &Path) -> CommandRecord {
    read(file).unwrap_or(CommandRecord::Started { pid: 0 })
}

/// Whether the process that made the record is alive.
fn is_held(file: &Path) -> bool {
    let free =
        File::open(file).and_then(|file| Ok(flock(&file, FlockOperation::NonBlockingLockShared)?));
    free.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
}

fn nanos() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> RunId {
        RunId::new("run_1")
    }

    fn records() -> (tempfile::TempDir, RecordFolder, Origin) {
        let folder = tempfile::TempDir::new().unwrap();
        let records = RecordFolder::new(folder.path().join("effects"));
        let origin = records.origin(&run()).unwrap();
        (folder, records, origin)
    }

    fn file(records: &RecordFolder, attempt: u32) -> PathBuf {
        records.file(&run(), "key", attempt).unwrap()
    }

    #[test]
    fn nothing_on_record_revokes_the_attempt_and_stays_so() {
        let (_folder, records, origin) = records();
        assert_eq!(records.settle(&origin, "key", 1), Ok(CommandRecord::Revoked));
        assert_eq!(records.settle(&origin, "key", 1), Ok(CommandRecord::Revoked));
        let late = begin(&file(&records, 1), &CommandRecord::Started { pid: 1 });
        assert_eq!(late.unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert!(begin(&file(&records, 2), &CommandRecord::Started { pid: 1 }).is_ok());
    }

    #[test]
    fn an_end_on_record_is_believed_and_a_start_alone_is_not_an_end() {
        let (_folder, records, origin) = records();
        let file = file(&records, 1);
        drop(begin(&file, &CommandRecord::Started { pid: 1 }).unwrap());
        assert_eq!(records.settle(&origin, "key", 1), Ok(CommandRecord::Started { pid: 1 }));
        let end = CommandRecord::Exit { code: 3, output: "said".to_owned() };
        replace(&file, &end).unwrap();
        assert_eq!(records.settle(&origin, "key", 1), Ok(end));
    }

    #[test]
    fn age_removes_no_record_and_proves_nothing() {
        let (_folder, records, origin) = records();
        let old = file(&records, 1);
        drop(begin(&old, &CommandRecord::Killed).unwrap());
        File::options().write(true).open(&old).unwrap().set_modified(UNIX_EPOCH).unwrap();
        for other in ["run_1", "run_2", "run_3"] {
            records.origin(&RunId::new(other)).unwrap();
        }
        assert_eq!(records.settle(&origin, "key", 1), Ok(CommandRecord::Killed));
    }

    #[test]
    fn records_that_were_removed_or_lie_elsewhere_prove_nothing() {
        let (folder, records, origin) = records();
        let elsewhere = Origin { place: "moon".to_owned(), ..origin.clone() };
        assert!(records.settle(&elsewhere, "key", 1).is_err());
        let effects = folder.path().join("effects");
        assert_eq!(recorded_runs(&effects).unwrap(), [run()]);
        forget_records(&effects, &run()).unwrap();
        assert!(records.settle(&origin, "key", 1).is_err());
        assert!(begin(&file(&records, 1), &CommandRecord::Started { pid: 1 }).is_err());
        assert_ne!(records.origin(&run()).unwrap(), origin);
        assert!(records.settle(&origin, "key", 1).is_err());
    }

    #[test]
    fn a_run_whose_id_is_no_plain_name_has_no_records() {
        let (folder, records, _) = records();
        std::fs::create_dir_all(folder.path().join("outside/deep")).unwrap();
        for id in ["../outside", "", ".", "..", "place", "a/b", &"x".repeat(101)] {
            assert!(records.origin(&RunId::new(id)).is_err(), "{id}");
            forget_records(&folder.path().join("effects"), &RunId::new(id)).unwrap();
        }
        assert!(folder.path().join("outside/deep").exists());
    }
}
