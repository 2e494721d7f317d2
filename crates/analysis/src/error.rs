//! What can go wrong with data.

use everloop_text::{self as text, Text};
use std::path::PathBuf;

/// A limit that a query reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum QueryBound {
    /// It took longer than it may.
    #[error("after {seconds} s (setting analysis.query_timeout)")]
    Time {
        /// How long it may take.
        seconds: u64,
    },
    /// It needs too much room for temporary files.
    #[error("before its temporary files fill the disk")]
    Room,
}

/// Why data cannot be read, queried or reported.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file holds no table that can be read.
    #[error("{} cannot be read as a table: {why}", path.display())]
    NoTable {
        /// Which one.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A file unpacks to more than is allowed.
    #[error("{} unpacks to more than {limit} bytes (setting analysis.max_bytes) or more than \
             {ratio} times its size; nothing of it was loaded", path.display())]
    TooLarge {
        /// Which one.
        path: PathBuf,
        /// Bytes that are allowed.
        limit: u64,
        /// How many times its size it may unpack to.
        ratio: u64,
    },
    /// A report is to be written where something else is.
    #[error("{} is not empty and holds no report: name another folder", path.display())]
    FolderTaken {
        /// Which folder.
        path: PathBuf,
    },
    /// Somebody asked to stop.
    #[error("canceled")]
    Canceled,
    /// A query reached a limit.
    #[error("stopped {0}; narrow it down, or aggregate in steps")]
    Stopped(QueryBound),
    /// A query may not do this, or is not one.
    #[error("{0}")]
    Refused(String),
    /// SQLite refused.
    #[error("{0}")]
    Sql(#[from] rusqlite::Error),
    /// Something that was written earlier cannot be understood.
    #[error("{} is damaged: {why}", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
}

impl AnalysisError {
    pub(crate) fn read(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Read { path, source }
    }

    pub(crate) fn write(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Write { path, source }
    }

    /// Whether somebody else has the tables for a moment.
    pub(crate) fn is_busy(&self) -> bool {
        let busy = Some(rusqlite::ErrorCode::DatabaseBusy);
        matches!(self, Self::Sql(error) if error.sqlite_error_code() == busy)
    }

    /// For people.
    #[must_use]
    pub fn text(&self) -> Text {
        let shown = |path: &PathBuf| path.display().to_string();
        match self {
            Self::Read { path, source } => text::analysis::cannot_read(&shown(path), source),
            Self::Write { path, source } => text::analysis::cannot_write(&shown(path), source),
            Self::NoTable { path, why } => text::analysis::no_table(&shown(path), why),
            Self::TooLarge { path, limit, ratio } => {
                let parts = text::analysis::TooLarge { path: &shown(path), limit, ratio };
                parts.text()
            }
            Self::FolderTaken { path } => text::analysis::folder_taken(&shown(path)),
            Self::Canceled => text::analysis::canceled(),
            Self::Stopped(QueryBound::Time { seconds }) => text::analysis::timed_out(seconds),
            Self::Stopped(QueryBound::Room) => text::analysis::no_room(),
            Self::Refused(why) => text::analysis::refused(why),
            Self::Sql(error) => text::analysis::refused(error),
            Self::Damaged { path, why } => text::analysis::damaged(&shown(path), why),
        }
    }
}
