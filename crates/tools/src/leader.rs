//! The first process of a command, which dies with its guard.
//!
//! ```text
//!   guard ──starts──► everloop __guard --die-with PID ──becomes──► sh -c …
//!     ◄══socket══ nothing: it has become the command; or why it could not
//! ```
//!
//! A killed guard can end no process, so the kernel does it: it kills the first process of the
//! command when the guard dies. That process checks its parent right after the request to the
//! kernel, because a guard that died before the request would not be noticed.
//!
//! Not covered: what the first process has started, if the guard and we are killed at once (a
//! command behind bubblewrap is covered whole), and a first process that is a set-user-id program,
//! for which the kernel forgets the order. Only Linux has such an order; elsewhere the command is
//! started without it.

use crate::handover;
use rustix::process::{Pid, getpid};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};

/// The option that makes a guard a leader.
pub(crate) const DIE_WITH: &str = "--die-with";

/// This very program, also after it was replaced on the disk.
const OURSELVES: &str = "/proc/self/exe";

/// What a leader exits with that did not become its command.
const NEVER_STARTED: u8 = 127;

/// Starts a command that dies with this process, where that can be had. Call it on the main
/// thread: the kernel takes the end of the thread that starts a process for the end of its parent.
pub(crate) fn start(
    args: Vec<OsString>,
    stdin: OwnedFd,
    output: Option<io::PipeWriter>,
) -> io::Result<Pid> {
    let mut args = args.into_iter();
    let program = args.next().ok_or(io::ErrorKind::InvalidInput)?;
    if !cfg!(target_os = "linux") || !Path::new(OURSELVES).exists() {
        let mut command = Command::new(program);
        command.args(args).stdin(stdin);
        return spawn(command, output).map(|child| Pid::from_child(&child));
    }
    let (mut ours, theirs) = UnixStream::pair()?;
    handover::send(&ours, stdin)?;
    let mut command = Command::new(OURSELVES);
    command.arg("__guard").arg(DIE_WITH).arg(getpid().as_raw_nonzero().to_string());
    command.arg("--").arg(program).args(args).stdin(OwnedFd::from(theirs));
    let mut child = spawn(command, output)?;
    let mut why = String::new();
    ours.read_to_string(&mut why)?;
    if why.is_empty() {
        // The loop that reaps all children reaps it too.
        return Ok(Pid::from_child(&child));
    }
    let _ = child.wait();
    Err(io::Error::other(why))
}

fn spawn(mut command: Command, output: Option<io::PipeWriter>) -> io::Result<Child> {
    command.process_group(0);
    if let Some(output) = output {
        command.stdout(output.try_clone()?).stderr(output);
    }
    command.spawn()
}

/// Becomes the command in `args`, unless the guard is gone.
pub(crate) fn become_command(guard: u64, args: Vec<OsString>) -> ExitCode {
    // A file of ours is closed when we become the command, which the guard takes for success.
    let Ok(mut control) = io::stdin().as_fd().try_clone_to_owned().map(File::from) else {
        return ExitCode::from(NEVER_STARTED);
    };
    let error = match handover::receive(&control) {
        Ok(stdin) => exec(guard, args, stdin),
        Err(error) => error,
    };
    let _ = control.write_all(error.to_string().as_bytes());
    ExitCode::from(NEVER_STARTED)
}

fn exec(guard: u64, args: Vec<OsString>, stdin: OwnedFd) -> io::Error {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Signal, getppid, set_parent_process_death_signal};
        if let Err(error) = set_parent_process_death_signal(Some(Signal::KILL)) {
            return error.into();
        }
        let parent = getppid().and_then(|pid| u64::try_from(pid.as_raw_nonzero().get()).ok());
        if parent != Some(guard) {
            return io::Error::other("the guard is gone");
        }
    }
    let mut args = args.into_iter();
    match args.next() {
        Some(program) => Command::new(program).args(args).stdin(Stdio::from(stdin)).exec(),
        None => io::ErrorKind::InvalidInput.into(),
    }
}
