//! How a command ends: a number for scripts, words for people.

use everloop_types::{Reason, Status};
use std::process::ExitCode;

/// The exit codes, the same for every command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It did what was wanted.
    Done,
    /// It did not.
    Failed,
    /// The command line is wrong.
    Usage,
    /// Somebody has to answer, and nobody can be asked.
    NeedsPerson,
    /// A limit was reached.
    Limit,
    /// A setting is missing or cannot be used.
    Configuration,
    /// The data cannot be read or written.
    Data,
    /// The outcome of a call is unknown.
    Unsettled,
    /// Ended by Ctrl-C.
    Interrupted,
    /// Ended by another signal.
    Terminated,
}

impl Exit {
    /// The number for the shell.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::NeedsPerson => 3,
            Self::Limit => 4,
            Self::Configuration => 5,
            Self::Data => 6,
            Self::Unsettled => 7,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }

    /// The code of a run's ending.
    pub fn of(status: Status, reason: Option<&Reason>) -> Self {
        match status {
            Status::Succeeded => Self::Done,
            Status::Unsettled => Self::Unsettled,
            Status::Canceled => Self::Interrupted,
            Status::Failed if reason.is_some_and(Reason::is_limit) => Self::Limit,
            Status::Waiting => Self::NeedsPerson,
            Status::Failed | Status::Quarantined | Status::Queued | Status::Running => Self::Failed,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// A command that could not do its work.
#[derive(Debug)]
pub struct Failure {
    /// The number that scripts see.
    pub exit: Exit,
    /// The sentence that people see.
    pub words: String,
}
