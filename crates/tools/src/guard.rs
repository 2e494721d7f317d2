//! The guard: a small process between us and a shell command, which ends the command's whole
//! process tree when we are gone, even by `kill -9`.
//!
//! ```text
//!   everloop ══socket (the guard's stdin)══ guard ──► sh -c … ──► its children
//!       'T' ─────────► SIGTERM to the tree
//!       end of file ─► SIGKILL to the tree, until no process is left
//!                      (with `--grace`, and nothing said before: SIGTERM first)
//!       ◄───────────── "never <why>", or at the end "exit <code>" or "signal <n>"
//! ```
//!
//! With `--apart` the command's first process is the sandbox of all others, as bubblewrap is: it is
//! never asked to end, because its end would end the others without a word.
//!
//! With `--grace <ms>` a command whose owner is gone is asked to end first, and killed only after
//! that time: git then takes its lock files away.
//!
//! With `--processes <n>` it ends a command that has more, with `--memory <bytes>` one that shares
//! more memory.
//!
//! With `--record <file>` it writes down that it starts the command, and how the command ended, so
//! that the outcome can be read after a crash (see `record`).
//!
//! With `--stdin` the command reads from a pipe whose end comes over the socket before any order;
//! otherwise it has nothing to read.
//!
//! The guard leads a session of its own, and orphans of the tree become its children, so a
//! descendant that leaves the process group or the session is still found (on Linux; elsewhere
//! only the group is). A guard that is itself killed by `kill -9` takes the command's first
//! process along (see `leader`), and we kill what is left of its session, if we still live. Not
//! covered: the rest of the tree if both of us are killed, programs that run as another user, and
//! work handed to a daemon. Those need a sandbox with a process namespace.

use crate::capture::Capture;
use crate::descriptors::hand_on_no_files;
use crate::handover;
use crate::leader;
use crate::process_table::descendants;
use crate::record::{self, CommandRecord};
use crate::shared_memory;
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, kill_process_group, setsid, wait,
};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// The byte that asks for SIGTERM.
pub(crate) const TERMINATE: u8 = b'T';

/// Pause between two looks at who is left.
const KILL_INTERVAL: Duration = Duration::from_millis(5);

/// Pause between two counts of the processes.
const COUNT_INTERVAL: Duration = Duration::from_millis(50);

/// Looks for processes that were started while others were being stopped.
const STOP_ROUNDS_MAX: usize = 100;

/// What the guard exits with if the command could not be started.
const NEVER_STARTED: u8 = 127;

/// How long output may still come after everybody we know of is gone.
const LAST_OUTPUT: Duration = Duration::from_secs(1);

/// What is kept of the output for the record.
const OUTPUT_BYTES_MAX: usize = 64 * 1024;

/// Runs the command in `args` (after an optional `--`) and watches over it.
///
/// Call it before anything else starts threads:
/// `everloop __guard [--apart] [--grace MS] [--processes MOST] [--memory BYTES]
/// [--stdin] [--record FILE] -- sh …`.
pub fn guard_main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    hand_on_no_files();
    let (GuardOptions { role, grace, limits, stdin, record_writer, die_with }, args) =
        GuardOptions::read(args);
    if let Some(guard) = die_with {
        return leader::become_command(guard, args);
    }
    let Ok(mut control) = io::stdin().as_fd().try_clone_to_owned().map(File::from) else {
        return ExitCode::from(NEVER_STARTED);
    };
    // Each may fail, if we lead a group already or the kernel is old; the rest still helps.
    let _ = setsid();
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(getpid()));
    let started = stdin.open(&control).and_then(|stdin| record_writer.start(args, stdin));
    let (leader, output) = match started {
        Ok(started) => started,
        Err(error) => {
            write_line(&mut control, &format!("never {error}"));
            return ExitCode::from(NEVER_STARTED);
        }
    };
    let ending = Arc::new(AtomicBool::new(false));
    if let Ok(listener) = control.try_clone() {
        let ending = Arc::clone(&ending);
        std::thread::spawn(move || serve_control(listener, leader, role, grace, &ending));
    }
    if limits != TreeLimits::default() {
        let ending = Arc::clone(&ending);
        std::thread::spawn(move || enforce_limits(limits, leader, &ending));
    }
    let (status, by_itself) = reap(leader, &ending);
    record_writer.close(status.filter(|_| by_itself), output.as_ref());
    report(&mut control, status)
}

/// The options of the guard.
#[derive(Default)]
struct GuardOptions {
    role: LeaderRole,
    /// How long it may take to end once its owner is gone.
    grace: Option<Duration>,
    limits: TreeLimits,
    stdin: Stdin,
    record_writer: RecordWriter,
    /// The guard whose command this process is to become.
    die_with: Option<u64>,
}

/// What all processes of a command may use together.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct TreeLimits {
    processes: Option<u64>,
    /// Bytes of memory that its processes share.
    memory: Option<u64>,
}

/// What the command reads.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Stdin {
    /// Nothing.
    #[default]
    Empty,
    /// A pipe that is handed over.
    Sent,
}

impl Stdin {
    fn open(self, control: &File) -> io::Result<OwnedFd> {
        match self {
            Self::Empty => File::open("/dev/null").map(OwnedFd::from),
            Self::Sent => handover::receive(control),
        }
    }
}

/// What the first process is.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum LeaderRole {
    /// The command.
    #[default]
    Command,
    /// The sandbox around the command.
    Sandbox,
}

impl GuardOptions {
    /// Reads the options; the rest is the command.
    fn read(args: impl IntoIterator<Item = OsString>) -> (Self, Vec<OsString>) {
        let mut options = Self::default();
        let mut args = args.into_iter().skip_while(|arg| arg == "--").peekable();
        let number = |arg: Option<OsString>| arg.and_then(|number| number.to_str()?.parse().ok());
        while let Some(option) = args.next_if(|arg| arg.as_encoded_bytes().starts_with(b"--")) {
            match option.to_str() {
                Some("--apart") => options.role = LeaderRole::Sandbox,
                Some("--stdin") => options.stdin = Stdin::Sent,
                Some("--record") => options.record_writer.file = args.next().map(PathBuf::from),
                Some("--processes") => options.limits.processes = number(args.next()),
                Some("--memory") => options.limits.memory = number(args.next()),
                Some(leader::DIE_WITH) => options.die_with = number(args.next()),
                Some("--grace") => options.grace = number(args.next()).map(Duration::from_millis),
                _ => break,
            }
        }
        (options, args.collect())
    }
}

/// Writes the record of the command, if there is a file for it.
#[derive(Default)]
struct RecordWriter {
    file: Option<PathBuf>,
}

/// The end of the output, once the last writer is gone.
type FinalOutput = Receiver<String>;

impl RecordWriter {
    /// Starts the command, after the record of it is durable.
    fn start(&self, args: Vec<OsString>, stdin: OwnedFd) -> io::Result<(Pid, Option<FinalOutput>)> {
        let Some(file) = &self.file else { return Ok((leader::start(args, stdin, None)?, None)) };
        let held = record::begin(file, &CommandRecord::Started { pid: std::process::id() })?;
        // The lock says that we live, so it is never let go.
        std::mem::forget(held);
        let started = io::pipe().and_then(|(output, writer)| {
            let leader = leader::start(args, stdin, Some(writer))?;
            Ok((leader, Some(relay(output))))
        });
        if started.is_err() {
            // Nothing was started: what cannot be written leaves only a doubt.
            let _ = record::replace(file, &CommandRecord::Never);
        }
        started
    }

    /// Writes down how it ended; `None` if it was cut short.
    fn close(&self, status: Option<WaitStatus>, output: Option<&FinalOutput>) {
        let Some(file) = &self.file else { return };
        let output = output.and_then(|output| output.recv_timeout(LAST_OUTPUT).ok());
        let exit = status.and_then(WaitStatus::exit_status);
        let signal = status.and_then(WaitStatus::terminating_signal);
        let record = match (exit, signal, output) {
            (Some(code), _, Some(output)) => CommandRecord::Exit { code, output },
            (None, Some(signal), Some(output)) => CommandRecord::Signal { signal, output },
            _ => CommandRecord::Killed,
        };
        // A record that cannot be written leaves "started", and so a doubt: that is the truth.
        let _ = record::replace(file, &record);
    }
}

/// Forwards the output to the process that started us, and keeps its beginning and end.
fn relay(mut output: io::PipeReader) -> FinalOutput {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut capture = Capture::new(OUTPUT_BYTES_MAX, None);
        let mut onward = io::stdout().as_fd().try_clone_to_owned().map(File::from).ok();
        let mut buffer = vec![0; 16 * 1024];
        while let Ok(n @ 1..) = output.read(&mut buffer) {
            capture.push(&buffer[..n]);
            // If the reader is gone, the command is being ended.
            if onward.as_mut().is_some_and(|onward| onward.write_all(&buffer[..n]).is_err()) {
                onward = None;
            }
        }
        let _ = sender.send(capture.text(OUTPUT_BYTES_MAX));
    });
    receiver
}

/// Waits until every descendant is gone. Unless its end is under way already, the end of the
/// command ends whatever it left behind. Tells how it ended, and whether by itself.
fn reap(leader: Pid, ending: &AtomicBool) -> (Option<WaitStatus>, bool) {
    let (mut status, mut by_itself) = (None, false);
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, ended))) if pid == leader => {
                status = Some(ended);
                by_itself = !ending.load(Ordering::SeqCst);
                if by_itself {
                    let _ = kill_process_group(leader, Signal::KILL);
                    std::thread::spawn(kill_until_gone);
                }
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return (status, by_itself),
        }
    }
}

/// Serves the process that started us; its end is a request to kill the command.
fn serve_control(
    mut control: File,
    leader: Pid,
    role: LeaderRole,
    mut grace: Option<Duration>,
    ending: &AtomicBool,
) {
    let mut order = [0];
    loop {
        match control.read(&mut order) {
            Ok(1) if order == [TERMINATE] => {
                ending.store(true, Ordering::SeqCst);
                // The process that asks for it also waits for it.
                grace = None;
                terminate_all(leader, role);
            }
            Ok(1..) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => {
                ending.store(true, Ordering::SeqCst);
                if let Some(grace) = grace {
                    // If all end sooner the guard does, and this thread with it.
                    terminate_all(leader, role);
                    std::thread::sleep(grace);
                }
                let _ = kill_process_group(leader, Signal::KILL);
                return kill_until_gone();
            }
        }
    }
}

/// Ends a command that has too many processes: a limit of the kernel does not bind root, and
/// without a namespace it would count the whole account. Or one that shares too much memory, which
/// no limit of the kernel bounds.
fn enforce_limits(limits: TreeLimits, leader: Pid, ending: &AtomicBool) {
    let before = shared_memory::of_machine();
    loop {
        std::thread::sleep(COUNT_INTERVAL);
        if let Some(why) = limits.exceeded(before) {
            ending.store(true, Ordering::SeqCst);
            let _ = io::stdout().write_all(format!("[ended: {why}]\n").as_bytes());
            let _ = kill_process(leader, Signal::KILL);
            return kill_until_gone();
        }
    }
}

impl TreeLimits {
    /// What there is too much of, if so much memory was shared on the machine before.
    fn exceeded(&self, shared_before: u64) -> Option<String> {
        let (processes, memory) = (self.processes, self.memory);
        let crowded = processes.filter(|most| all_processes() > *most);
        let crowded = crowded.filter(|most| descendants(getpid()).len() as u64 > *most);
        if let Some(most) = crowded {
            return Some(format!("more than {most} processes"));
        }
        let grown = || shared_memory::of_machine().saturating_sub(shared_before);
        let heavy = memory.filter(|most| grown() > *most);
        let held = || shared_memory::of_processes(&descendants(getpid()));
        let heavy = heavy.filter(|most| held() > *most);
        heavy.map(|most| format!("more than {most} bytes of shared memory"))
    }
}

/// Processes and threads of the machine: a cheap check before an expensive one.
fn all_processes() -> u64 {
    #[cfg(target_os = "linux")]
    return u64::from(rustix::system::sysinfo().procs);
    #[cfg(not(target_os = "linux"))]
    return u64::MAX;
}

/// Runs until the guard itself exits, which it does when no process is left.
fn kill_until_gone() {
    loop {
        signal_each(&descendants(getpid()), Signal::KILL);
        std::thread::sleep(KILL_INTERVAL);
    }
}

/// Sends SIGTERM to every process once. All are stopped first, so that none starts a process that
/// is missed, and so that helpers started for a clean end do not get it.
fn terminate_all(leader: Pid, role: LeaderRole) {
    let mut family: Vec<Pid> = Vec::new();
    for _ in 0..STOP_ROUNDS_MAX {
        let mut new = descendants(getpid());
        new.retain(|pid| !family.contains(pid) && (role == LeaderRole::Command || *pid != leader));
        if new.is_empty() {
            break;
        }
        signal_each(&new, Signal::STOP);
        family.extend(new);
    }
    // Where descendants cannot be listed, the group still gets it.
    if role == LeaderRole::Command {
        let _ = kill_process_group(leader, Signal::TERM);
    }
    signal_each(&family, Signal::TERM);
    signal_each(&family, Signal::CONT);
}

/// A process that is gone already needs no signal.
fn signal_each(pids: &[Pid], signal: Signal) {
    for pid in pids {
        let _ = kill_process(*pid, signal);
    }
}

fn report(control: &mut File, status: Option<WaitStatus>) -> ExitCode {
    let exit = status.and_then(WaitStatus::exit_status);
    let signal = status.and_then(WaitStatus::terminating_signal);
    let (text, code) = match (exit, signal) {
        (Some(code), _) => (format!("exit {code}"), code),
        (None, Some(signal)) => (format!("signal {signal}"), 128 + signal),
        (None, None) => return ExitCode::FAILURE,
    };
    write_line(control, &text);
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
}

/// The reader may be gone, and then it does not matter.
fn write_line(control: &mut File, line: &str) {
    let _ = control.write_all(format!("{line}\n").as_bytes());
}
