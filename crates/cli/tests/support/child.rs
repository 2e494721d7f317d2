//! A process that is followed line by line.

use super::{Finished, PATIENCE};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

enum Line {
    Out(String),
    Err(String),
}

/// A process under way. It is killed when the test drops it.
pub(crate) struct Spawned {
    child: Child,
    lines: Receiver<Line>,
    stdout: String,
    stderr: String,
}

impl Spawned {
    pub(super) fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let to = sender.clone();
        follow(out, move |line| to.send(Line::Out(line)).is_ok());
        follow(err, move |line| sender.send(Line::Err(line)).is_ok());
        Self { child, lines, stdout: String::new(), stderr: String::new() }
    }

    /// Waits for a line, on either stream, that holds these words.
    #[track_caller]
    pub(crate) fn until(&mut self, words: &str) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => {
                    let line = self.keep(line);
                    if line.contains(words) {
                        return line;
                    }
                }
                Err(why) => {
                    panic!("{words:?} did not come ({why}): {} {}", self.stdout, self.stderr)
                }
            }
        }
    }

    /// Reads `count` more lines; fewer if the process ends.
    pub(crate) fn lines(&mut self, count: usize) -> usize {
        for read in 0..count {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => drop(self.keep(line)),
                Err(RecvTimeoutError::Disconnected) => return read,
                Err(RecvTimeoutError::Timeout) => panic!("silent: {}", self.stderr),
            }
        }
        count
    }

    fn keep(&mut self, line: Line) -> String {
        let (all, line) = match line {
            Line::Out(line) => (&mut self.stdout, line),
            Line::Err(line) => (&mut self.stderr, line),
        };
        all.push_str(&line);
        all.push('\n');
        line
    }

    /// Everything that was read from it so far.
    pub(crate) fn said(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }

    /// Gives it lines on its input, which stays open.
    pub(crate) fn hears(&mut self, lines: &[&str]) {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        self.child.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.pid()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Kills it at this very moment, and proves that the kill is what ended it.
    #[track_caller]
    pub(crate) fn kill9(mut self) {
        self.signal(Signal::KILL);
        let status = self.child.wait().unwrap();
        assert_eq!(status.signal(), Some(9), "it had already ended: {status}");
    }

    /// Kills it; says whether the kill came before its own end.
    pub(crate) fn kill9_if_alive(mut self) -> bool {
        self.signal(Signal::KILL);
        self.child.wait().unwrap().signal() == Some(9)
    }

    /// Ends its input and waits for its end.
    pub(crate) fn ended(self) -> Finished {
        self.ended_within(PATIENCE * 2)
    }

    /// The same for what is long work.
    pub(crate) fn ended_within(mut self, patience: Duration) -> Finished {
        drop(self.child.stdin.take());
        let until = Instant::now() + patience;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => drop(self.keep(line)),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    panic!("it does not end: {} {}", self.stdout, self.stderr)
                }
            }
        }
        let status: ExitStatus = self.child.wait().unwrap();
        let (stdout, stderr) = (std::mem::take(&mut self.stdout), std::mem::take(&mut self.stderr));
        Finished { code: status.code(), stdout, stderr }
    }
}

impl Drop for Spawned {
    fn drop(&mut self) {
        // A process that has ended needs no end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn follow(
    stream: impl Read + Send + 'static,
    mut take: impl FnMut(String) -> bool + Send + 'static,
) {
    std::thread::spawn(move || {
        let mut reader = BufReader::new(stream);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
            let text = String::from_utf8_lossy(&line).trim_end_matches('\n').to_owned();
            line.clear();
            if !take(text) {
                return;
            }
        }
    });
}
