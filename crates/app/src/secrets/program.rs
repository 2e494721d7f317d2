//! A program that knows a secret: started without a shell, waited for so long and no longer.

use super::SecretError;
use everloop_tools::{find_program, run_from_workspace, search_path, trusted_program};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Bytes of its output that are read.
const OUTPUT_BYTES_MAX: u64 = 64 << 10;

/// Nobody tells when a program ends within a time, so it is looked at so often.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// A program that has ended.
pub(super) struct ProgramEnd {
    pub(super) is_good: bool,
    /// Its exit code or signal, in the system's words.
    pub(super) status: String,
    pub(super) output: String,
    /// Whether it complained. What it said may hold anything, so it is not kept.
    pub(super) complained: bool,
}

/// Runs it. What it is told goes through its input: a process list shows arguments to everybody.
pub(super) fn run(
    words: &[String],
    input: Option<&str>,
    timeout_ms: u64,
) -> Result<ProgramEnd, SecretError> {
    let name = words.first().cloned().unwrap_or_default();
    let stdin = if input.is_some() { Stdio::piped() } else { Stdio::null() };
    // A program is believed only where no run can have put it, and started where none has files:
    // `python3 -m keyring` takes modules from its folder first.
    let program = match name.contains('/') {
        true => trusted_program(Path::new(&name)),
        false => find_program(&name),
    };
    let here = std::env::current_dir().ok().filter(|here| here.parent().is_some());
    if let Some(path) = run_from_workspace(words.iter().map(String::as_str), here) {
        let why = format!("{} lies in the workspace, where commands write", path.display());
        return Err(SecretError::NoProgram(name, why));
    }
    let started = Command::new(program.unwrap_or_default())
        .current_dir("/")
        .env("PATH", search_path())
        .args(&words[1..])
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child =
        started.map_err(|error| SecretError::NoProgram(name.clone(), error.to_string()))?;
    if let (Some(mut stdin), Some(input)) = (child.stdin.take(), input) {
        // One that does not read what it is told says so by its status.
        let _ = stdin.write_all(input.as_bytes());
    }
    let output = child.stdout.take().map(read_aside);
    let complaints = child.stderr.take().map(read_aside);
    let until = Instant::now() + Duration::from_millis(timeout_ms);
    let Some(status) = wait(&mut child, until) else {
        let _ = child.kill();
        let _ = child.wait();
        return Err(SecretError::TookTooLong(name));
    };
    // A daemon that it left behind may hold the pipe open: what is there counts.
    let take = |pipe: Option<Receiver<String>>| {
        let left = until.saturating_duration_since(Instant::now());
        pipe.and_then(|pipe| pipe.recv_timeout(left).ok()).unwrap_or_default()
    };
    let (output, complained) = (take(output), !take(complaints).trim().is_empty());
    Ok(ProgramEnd { is_good: status.success(), status: status.to_string(), output, complained })
}

fn wait(child: &mut Child, until: Instant) -> Option<std::process::ExitStatus> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < until => std::thread::sleep(LOOK_AGAIN),
            Ok(None) | Err(_) => return None,
        }
    }
}

fn read_aside(pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes);
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}
