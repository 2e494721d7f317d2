//! The audit as it happens: one line of JSON for each tool call, appended to a file.
//!
//! Nothing is read back: the journal stays the truth, and `everloop audit` tells what a crash kept
//! from the file.

use crate::app::App;
use crate::error::{AppError, FileError};
use crate::notice::{AppNotice, Notices};
use crate::show::timestamp;
use everloop_engine::{AuditCall, AuditLog};
use everloop_store::RunRow;
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// The file that `audit.file` names.
pub(crate) struct AuditFile {
    /// Where it really lies.
    path: PathBuf,
    file: Mutex<File>,
    /// Whether a line could not be written, which is said once.
    broken: AtomicBool,
    notices: Notices,
}

impl AuditFile {
    /// Opens the file, if one is set; only the person may read it.
    pub(crate) fn open(app: &App) -> Result<Option<Self>, AppError> {
        let name = app.settings.audit.file.as_str();
        if name.is_empty() {
            return Ok(None);
        }
        let failed =
            |source| AppError::from(FileError::Audit { file: PathBuf::from(name), source });
        let file = Mutex::new(appending(Path::new(name)).map_err(failed)?);
        let path = Path::new(name).canonicalize().map_err(failed)?;
        let notices = app.notices().clone();
        Ok(Some(Self { path, file, broken: AtomicBool::new(false), notices }))
    }

    /// The file under its name: if it is another one by now, that is said, and a new one begun.
    fn line(&self, line: &str) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if !is_named(&file, &self.path) {
            self.notices.show(AppNotice::AuditReplaced(self.path.clone()));
            *file = appending(&self.path)?;
        }
        // One write for one line: other processes append to the same file.
        file.write_all(line.as_bytes())
    }
}

/// A pipe would hold the program up until somebody reads it, so it is refused.
pub(crate) fn appending(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600);
    let no_wait = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
    let file = options.custom_flags(no_wait).open(path)?;
    let kind = file.metadata()?.file_type();
    match kind.is_file() || kind.is_char_device() {
        true => Ok(file),
        false => Err(io::Error::other("not a regular file")),
    }
}

fn is_named(file: &File, path: &Path) -> bool {
    let identity = |meta: std::fs::Metadata| (meta.dev(), meta.ino());
    let there = path.symlink_metadata().map(identity);
    there.ok() == file.metadata().map(identity).ok()
}

impl AuditLog for AuditFile {
    fn write(&self, call: &AuditCall, row: &RunRow) {
        let mut told = call.json(row);
        told["time"] = timestamp(call.at).into();
        if self.line(&format!("{told}\n")).is_err() && !self.broken.swap(true, Ordering::Relaxed) {
            self.notices.show(AppNotice::AuditNotWritten(self.path.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_replaced_is_begun_anew_under_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let file = Mutex::new(appending(&path).unwrap());
        let broken = AtomicBool::new(false);
        let notices = Notices::ignored();
        let audit = AuditFile { path: path.clone(), file, broken, notices };
        audit.line("one\n").unwrap();
        std::fs::rename(&path, folder.path().join("old")).unwrap();
        audit.line("two\n").unwrap();
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "forged\n").unwrap();
        audit.line("three\n").unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join("old")).unwrap(), "one\n");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "forged\nthree\n");
    }
}
