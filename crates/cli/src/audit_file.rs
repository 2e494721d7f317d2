//! The audit as it happens: one line of JSON for each tool call, appended to a file.
//!
//! Nothing is read back: the journal stays the truth, and `everloop audit` tells what a crash kept
//! from the file.

use crate::app::App;
use crate::exit::{Exit, Failure};
use crate::show::timestamp;
use crate::terminal;
use everloop_engine::{AuditCall, AuditLog};
use everloop_store::RunRow;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::atomic::{AtomicBool, Ordering};

/// The file that `audit.file` names.
pub(crate) struct AuditFile {
    file: File,
    /// Whether a line could not be written, which is said once.
    broken: AtomicBool,
    /// What is said then.
    words: String,
}

impl AuditFile {
    /// Opens the file, if one is set; only the person may read it.
    pub(crate) fn open(app: &App) -> Result<Option<Self>, Failure> {
        let path = app.settings.text("audit.file");
        if path.is_empty() {
            return Ok(None);
        }
        let opened = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
        let file = opened.map_err(|error| {
            let detail = error.to_string();
            let words = app.text("audit.no_file", &[("file", path), ("detail", &detail)]);
            Failure { exit: Exit::Configuration, words }
        })?;
        let words = app.text("audit.not_written", &[("file", path)]);
        Ok(Some(Self { file, broken: AtomicBool::new(false), words }))
    }
}

impl AuditLog for AuditFile {
    fn write(&self, call: &AuditCall, row: &RunRow) {
        let mut told = call.json(row);
        told["time"] = timestamp(call.at).into();
        // One write for one line: other processes append to the same file.
        let line = format!("{told}\n");
        if (&self.file).write_all(line.as_bytes()).is_err()
            && !self.broken.swap(true, Ordering::Relaxed)
        {
            terminal::complain(&self.words);
        }
    }
}
