//! How a command ends: a number for scripts, words for people.

use everloop_types::{Reason, Status};
use std::process::ExitCode;

/// The exit codes, the same for every command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Done,
    Failed,
    Usage,
    NeedsPerson,
    Limit,
    Configuration,
    Data,
    Unsettled,
    Interrupted,
    Terminated,
}

impl Exit {
    pub(crate) fn code(self) -> u8 {
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
    pub(crate) fn of(status: Status, reason: Option<&Reason>) -> Self {
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
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) words: String,
}
