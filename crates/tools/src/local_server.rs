//! A program with open input and output, which its guard ends with us.

use crate::process::{CommandHandle, Launch, ProgramSearch};
use std::io;
use std::path::Path;
use tokio::net::unix::pipe::{Receiver, Sender};

/// A program to start with open input and output.
#[derive(Debug, Clone, Copy)]
pub struct LocalServer<'a> {
    /// The program that ends it with us.
    pub guard: &'a Path,
    /// Where it runs.
    pub folder: &'a Path,
    /// The program and its arguments. A bare name is looked for only where no run can put one.
    pub argv: &'a [&'a str],
    /// Variables beside those that every command inherits.
    pub variables: &'a [(&'a str, &'a str)],
}

/// A running program with open input and output.
pub struct RunningServer {
    /// Its standard input.
    pub input: Sender,
    /// Its standard output.
    pub output: Receiver,
    /// Its standard error.
    pub log: Receiver,
    /// Dropping it kills.
    pub life: CommandHandle,
}

impl LocalServer<'_> {
    /// Starts it.
    ///
    /// # Errors
    /// If it certainly never ran.
    pub fn start(&self) -> io::Result<RunningServer> {
        let launch = Launch {
            guard: Some(self.guard),
            grace_ms: None,
            record: None,
            folder: self.folder,
            sandbox: None,
            argv: self.argv,
            variables: self.variables,
            search: ProgramSearch::Trusted,
        };
        launch.talk()
    }
}
