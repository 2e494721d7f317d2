//! Starts a command, follows it to its end, and ends it early if it must be.
//!
//! With a guard the whole tree of processes ends with us, whatever happens. Without one, only the
//! process group ends, and only if this process gets to drop what it holds.

use crate::capture::Capture;
use crate::guard::TERMINATE;
use crate::process_table::{in_group, in_session};
use crate::programs::{find_program, search_path};
use crate::sandbox::PreparedSandbox;
use crate::{RunningServer, handover};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncReadExt, Take};
use tokio::net::UnixStream;
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

/// How long killed processes may take to vanish before we stop waiting for them.
const VANISH: Duration = Duration::from_secs(5);

/// How long output may still come after the last process we know of is gone.
const LAST_OUTPUT: Duration = Duration::from_secs(1);

/// Bytes that a guard may report in all.
const REPORT_BYTES_MAX: u64 = 4_096;

/// Variables that a command inherits, besides those that begin with `LC_`. Keys are not among
/// them, and neither is anything of our own.
const INHERITED: [&str; 6] = ["PATH", "HOME", "LANG", "TZ", "TMPDIR", "USER"];

/// A command to start.
pub(crate) struct Launch<'a> {
    pub(crate) guard: Option<&'a Path>,
    /// How long the guard lets it end by itself once we are gone; else it is killed at once.
    pub(crate) grace_ms: Option<u64>,
    /// Where the guard writes down what became of the command.
    pub(crate) record: Option<&'a Path>,
    pub(crate) folder: &'a Path,
    /// Its sandbox, if there is one.
    pub(crate) sandbox: Option<&'a PreparedSandbox>,
    /// The program and its arguments.
    pub(crate) argv: &'a [&'a str],
    /// Variables beside those that every command inherits.
    pub(crate) variables: &'a [(&'a str, &'a str)],
    /// Where it looks for programs.
    pub(crate) search: ProgramSearch,
}

/// Where a command, and what it starts, looks for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProgramSearch {
    /// Wherever the person does: it is in a sandbox, or a person saw it.
    Anywhere,
    /// Only in folders that only root and this account can write, and no run.
    Trusted,
}

/// A command under way.
pub(crate) struct StartedProcess {
    output: Receiver,
    exit: ExitWatch,
    leash: KillHandle,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandEnd {
    /// With this code.
    Exit(i32),
    /// By this signal.
    Signal(i32),
    /// It certainly never ran.
    NeverStarted(String),
    /// Its guard was killed, so its end is not known.
    Lost,
    /// It was killed but did not vanish.
    Stuck,
}

impl Launch<'_> {
    /// Starts it. An error means that it certainly never ran.
    pub(crate) fn start(&self) -> io::Result<StartedProcess> {
        let (output, writer) = io::pipe()?;
        let output = Receiver::from_owned_fd(OwnedFd::from(output))?;
        let mut command = self.command(&[])?;
        command.stdout(writer.try_clone()?).stderr(writer);
        let (exit, leash) = match self.guard {
            Some(_) => guarded(command, None)?,
            None => direct(command)?,
        };
        Ok(StartedProcess { output, exit, leash })
    }

    /// Starts it to be talked to while it runs. Only a guard can do that.
    pub(crate) fn talk(&self) -> io::Result<RunningServer> {
        let (theirs, input) = io::pipe()?;
        let (output, answers) = io::pipe()?;
        let (log, complaints) = io::pipe()?;
        let mut command = self.command(&["--stdin"])?;
        command.stdout(answers).stderr(complaints);
        let (exit, leash) = guarded(command, Some(OwnedFd::from(theirs)))?;
        Ok(RunningServer {
            input: Sender::from_owned_fd(OwnedFd::from(input))?,
            output: Receiver::from_owned_fd(OwnedFd::from(output))?,
            log: Receiver::from_owned_fd(OwnedFd::from(log))?,
            life: CommandHandle { exit, leash },
        })
    }

    /// The command in its sandbox, started by the guard.
    fn command(&self, orders: &[&str]) -> io::Result<Command> {
        let sandbox = self.sandbox.map(|sandbox| sandbox.argv.as_slice()).unwrap_or_default();
        let own = self.argv.iter().map(OsStr::new);
        let mut argv = sandbox.iter().map(OsString::as_os_str).chain(own);
        let program = self.found(argv.next().ok_or(io::ErrorKind::InvalidInput)?)?;
        let mut command = match self.guard {
            Some(guard) => {
                let mut command = Command::new(guard);
                command.arg("__guard").args(orders);
                if self.sandbox.is_some_and(|sandbox| sandbox.has_outer_process) {
                    command.arg("--apart");
                }
                if let Some(grace_ms) = self.grace_ms {
                    command.arg("--grace").arg(grace_ms.to_string());
                }
                let limits = self.sandbox.map(|sandbox| sandbox.limits);
                let limits = limits.map(|most| [most.processes, most.memory_bytes]);
                for (order, most) in ["--processes", "--memory"].iter().zip(limits.iter().flatten())
                {
                    if *most > 0 {
                        command.arg(order).arg(most.to_string());
                    }
                }
                if let Some(record) = self.record {
                    command.arg("--record").arg(record);
                }
                command.arg("--").arg(program);
                command
            }
            None => Command::new(program),
        };
        command.args(argv).current_dir(self.folder);
        command.env_clear().envs(environment(std::env::vars_os()));
        if self.search == ProgramSearch::Trusted {
            command.env("PATH", search_path());
        }
        command.envs(self.variables.iter().copied());
        if let Some(scratch) = self.sandbox.and_then(|sandbox| sandbox.scratch.as_ref()) {
            command.envs(["HOME", "TMPDIR"].map(|name| (name, &scratch.path)));
        }
        Ok(command)
    }

    /// A program without a path is searched here, not by the process that starts it.
    fn found(&self, program: &OsStr) -> io::Result<PathBuf> {
        let path = PathBuf::from(program);
        let is_name = path.components().count() == 1 && path.is_relative();
        match program.to_str().filter(|_| is_name && self.search == ProgramSearch::Trusted) {
            Some(name) => find_program(name).ok_or_else(|| {
                io::Error::new(io::ErrorKind::NotFound, format!("{name} is not installed"))
            }),
            None => Ok(path),
        }
    }
}

/// A running command with input and output. Dropping it kills the command.
pub struct CommandHandle {
    exit: ExitWatch,
    leash: KillHandle,
}

impl CommandHandle {
    /// Ends it and says how it ended.
    pub async fn end(&mut self) -> CommandEnd {
        self.leash.kill();
        timeout(VANISH, self.exit.wait()).await.unwrap_or(CommandEnd::Stuck)
    }
}

fn guarded(mut command: Command, stdin: Option<OwnedFd>) -> io::Result<(ExitWatch, KillHandle)> {
    let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
    if let Some(stdin) = stdin {
        handover::send(&ours, stdin)?;
    }
    ours.set_nonblocking(true)?;
    let (report, orders) = UnixStream::from_std(ours)?.into_split();
    let child = command.stdin(Stdio::from(OwnedFd::from(theirs))).spawn()?;
    let report = report.take(REPORT_BYTES_MAX);
    Ok((ExitWatch::Guarded { child, report }, KillHandle::Guarded(Some(orders))))
}

fn direct(mut command: Command) -> io::Result<(ExitWatch, KillHandle)> {
    let child = command.stdin(Stdio::null()).process_group(0).kill_on_drop(true).spawn()?;
    let group = pid_of(&child);
    Ok((ExitWatch::Direct { child, group }, KillHandle::Direct(group)))
}

fn pid_of(child: &Child) -> Option<Pid> {
    child.id().and_then(|pid| Pid::from_raw(pid.cast_signed()))
}

pub(crate) fn environment(
    all: impl Iterator<Item = (OsString, OsString)>,
) -> impl Iterator<Item = (OsString, OsString)> {
    let inherited = |name: &OsStr| {
        name.to_str().is_some_and(|name| INHERITED.contains(&name) || name.starts_with("LC_"))
    };
    all.filter(move |(name, _)| inherited(name)).chain([("TERM".into(), "dumb".into())])
}

/// Waits for the end.
enum ExitWatch {
    Guarded { child: Child, report: Take<OwnedReadHalf> },
    Direct { child: Child, group: Option<Pid> },
}

impl ExitWatch {
    async fn wait(&mut self) -> CommandEnd {
        match self {
            Self::Guarded { child, report } => {
                let mut text = String::new();
                let _ = report.read_to_string(&mut text).await;
                let ended = read_report(&text);
                // The guard leads a session, whose id is not reused before the guard is waited for.
                if let (CommandEnd::Lost, Some(session)) = (&ended, pid_of(child)) {
                    kill_all(|| in_session(session)).await;
                }
                let _ = child.wait().await;
                ended
            }
            Self::Direct { child, group } => {
                let status = child.wait().await;
                if let Some(group) = *group {
                    let _ = kill_process_group(group, Signal::KILL);
                    kill_all(|| in_group(group)).await;
                }
                status.map_or(CommandEnd::Lost, CommandEnd::from)
            }
        }
    }
}

impl From<ExitStatus> for CommandEnd {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Exit(code),
            (None, Some(signal)) => Self::Signal(signal),
            (None, None) => Self::Lost,
        }
    }
}

fn read_report(text: &str) -> CommandEnd {
    let number = |text: &str| text.parse::<i32>().ok();
    let ended = match text.trim_end().split_once(' ') {
        Some(("never", why)) => Some(CommandEnd::NeverStarted(why.to_owned())),
        Some(("exit", code)) => number(code).map(CommandEnd::Exit),
        Some(("signal", signal)) => number(signal).map(CommandEnd::Signal),
        _ => None,
    };
    ended.unwrap_or(CommandEnd::Lost)
}

/// Kills what a command left behind, until no process is left.
async fn kill_all(family: impl Fn() -> Vec<Pid>) {
    let gone = async {
        loop {
            let left = family();
            if left.is_empty() {
                return;
            }
            for pid in left {
                let _ = kill_process(pid, Signal::KILL);
            }
            sleep(Duration::from_millis(5)).await;
        }
    };
    let _ = timeout(VANISH, gone).await;
}

/// Ends the command. Dropping it kills.
enum KillHandle {
    Guarded(Option<OwnedWriteHalf>),
    Direct(Option<Pid>),
}

impl KillHandle {
    fn terminate(&mut self) {
        match self {
            Self::Guarded(Some(orders)) => drop(orders.try_write(&[TERMINATE])),
            Self::Direct(Some(group)) => drop(kill_process_group(*group, Signal::TERM)),
            Self::Guarded(None) | Self::Direct(None) => {}
        }
    }

    fn kill(&mut self) {
        match self {
            Self::Guarded(orders) => drop(orders.take()),
            Self::Direct(Some(group)) => drop(kill_process_group(*group, Signal::KILL)),
            Self::Direct(None) => {}
        }
    }

    /// No process is left; the id of the group may be reused soon.
    fn release(&mut self) {
        match self {
            Self::Guarded(orders) => drop(orders.take()),
            Self::Direct(group) => *group = None,
        }
    }
}

impl Drop for KillHandle {
    fn drop(&mut self) {
        self.kill();
    }
}

impl StartedProcess {
    /// Follows the command to its end, or until `stop` says why it must end now: then it gets
    /// `grace` to end by itself.
    pub(crate) async fn follow<S>(
        self,
        capture: &mut Capture,
        stop: impl Future<Output = S>,
        grace: Duration,
    ) -> (CommandEnd, Option<S>) {
        let Self { output, mut exit, mut leash } = self;
        let mut end = pin!(watch(&mut exit, output, capture));
        let why = tokio::select! {
            biased;
            ended = &mut end => {
                leash.release();
                return (ended, None);
            }
            why = stop => why,
        };
        leash.terminate();
        let ended = match timeout(grace, &mut end).await {
            Ok(ended) => ended,
            Err(_) => {
                leash.kill();
                timeout(VANISH, &mut end).await.unwrap_or(CommandEnd::Stuck)
            }
        };
        leash.release();
        (ended, Some(why))
    }
}

async fn watch(exit: &mut ExitWatch, output: Receiver, capture: &mut Capture) -> CommandEnd {
    let mut exit = pin!(exit.wait());
    let mut drain = pin!(drain(output, capture));
    tokio::select! {
        ended = &mut exit => {
            // A process that slipped away may hold the pipe open for ever.
            let _ = timeout(LAST_OUTPUT, &mut drain).await;
            ended
        }
        () = &mut drain => exit.await,
    }
}

async fn drain(mut output: Receiver, capture: &mut Capture) {
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(n @ 1..) = output.read(&mut buffer).await {
        capture.push(&buffer[..n]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_variables_are_inherited() {
        let names = ["PATH", "LC_ALL", "OPENAI_API_KEY", "EVERLOOP_TOKEN", "AWS_SECRET", "TERM"];
        let all = names.map(|name| (OsString::from(name), OsString::from("x")));
        let kept: Vec<_> = environment(all.into_iter()).collect();
        let expected = [("PATH", "x"), ("LC_ALL", "x"), ("TERM", "dumb")];
        assert_eq!(kept, expected.map(|(name, value)| (name.into(), value.into())));
    }

    #[test]
    fn a_guard_that_says_nothing_at_the_end_leaves_the_outcome_unknown() {
        assert_eq!(read_report(""), CommandEnd::Lost);
        assert_eq!(
            read_report("never no such file\n"),
            CommandEnd::NeverStarted("no such file".into())
        );
        assert_eq!(read_report("exit 3\n"), CommandEnd::Exit(3));
        assert_eq!(read_report("signal 9\n"), CommandEnd::Signal(9));
    }
}
