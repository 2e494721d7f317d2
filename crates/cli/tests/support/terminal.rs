//! A process on a terminal of its own, as a person sees it.

use super::{Finished, PATIENCE};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{
    LocalModes, OptionalActions, OutputModes, Winsize, tcgetattr, tcsetattr, tcsetwinsize,
};
use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

/// The size that a terminal has at first.
const ROWS: u16 = 40;
const COLUMNS: u16 = 100;

/// What runs there. It is killed when the test drops it.
pub(crate) struct Terminal {
    child: Child,
    keyboard: File,
    screen: Receiver<Vec<u8>>,
    /// Everything that was on the screen.
    pub(crate) seen: String,
    /// How much of it `until` has passed.
    passed: usize,
    /// Columns that the terminal has.
    columns: Cell<u16>,
    /// The beginning of a character whose rest has not come yet.
    torn: Vec<u8>,
    /// The screen that `shows` looks at, and how much of `seen` it has.
    picture: Option<vt100::Parser>,
    drawn: usize,
}

fn picture(columns: u16) -> vt100::Parser {
    let size = |count| NonZeroU16::new(count).unwrap();
    vt100::Parser::new(size(ROWS), size(columns), 0)
}

impl Terminal {
    pub(super) fn start(command: Command) -> Self {
        Self::on(command, OutputModes::OPOST)
    }

    /// On a terminal as a killed program leaves it: a line begins where the last one ended.
    pub(super) fn torn(command: Command) -> Self {
        Self::on(command, OutputModes::empty())
    }

    fn on(mut command: Command, output: OutputModes) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let size = Winsize { ws_row: ROWS, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).unwrap();
        let mut modes = tcgetattr(&master).unwrap();
        modes.output_modes = (modes.output_modes - OutputModes::OPOST) | output;
        tcsetattr(&master, OptionalActions::Now, &modes).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let slave = OpenOptions::new().read(true).write(true).open(name).unwrap();
        command.stdin(slave.try_clone().unwrap()).stdout(slave.try_clone().unwrap());
        let child = command.stderr(slave).spawn().unwrap();
        // Its copies of the terminal would keep it open after the process has ended.
        drop(command);
        let keyboard = File::from(master);
        let mut screen = keyboard.try_clone().unwrap();
        let mut answers = keyboard.try_clone().unwrap();
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // The end of the other side is an error on Linux.
            while let Ok(count @ 1..) = screen.read(&mut bytes) {
                // A program that asks where the cursor is waits for the terminal's answer.
                if bytes[..count].windows(4).any(|asked| asked == b"\x1b[6n") {
                    answers.write_all(b"\x1b[1;1R").unwrap();
                }
                if sender.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        let (seen, columns) = (String::new(), Cell::new(COLUMNS));
        let (torn, picture) = (Vec::new(), None);
        let screen = receiver;
        Self { child, keyboard, screen, seen, passed: 0, columns, torn, picture, drawn: 0 }
    }

    /// Waits until these words are on the screen, after what was waited for before.
    #[track_caller]
    pub(crate) fn until(&mut self, words: &str) -> &mut Self {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(at) = self.seen[self.passed..].find(words) {
                self.passed += at + words.len();
                return self;
            }
            let left = until.saturating_duration_since(Instant::now());
            match self.screen.recv_timeout(left) {
                Ok(bytes) => self.see(&bytes),
                Err(why) => panic!("{words:?} did not come ({why}): {}", self.seen),
            }
        }
    }

    /// Waits until the screen shows these words, wherever they were written.
    #[track_caller]
    pub(crate) fn shows(&mut self, words: &str) -> &mut Self {
        let until = Instant::now() + PATIENCE;
        loop {
            let parser = self.picture.get_or_insert_with(|| picture(self.columns.get()));
            parser.process(&self.seen.as_bytes()[self.drawn..]);
            self.drawn = self.seen.len();
            if parser.screen().contents().contains(words) {
                return self;
            }
            let left = until.saturating_duration_since(Instant::now());
            match self.screen.recv_timeout(left) {
                Ok(bytes) => self.see(&bytes),
                Err(why) => panic!("{words:?} is not shown ({why}): {:#?}", self.rows()),
            }
        }
    }

    /// The terminal has another width from now on.
    pub(crate) fn resize(&self, columns: u16) {
        self.columns.set(columns);
        let size = Winsize { ws_row: ROWS, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.keyboard, size).unwrap();
    }

    /// A read may end in the middle of a character.
    fn see(&mut self, bytes: &[u8]) {
        self.torn.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.torn) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.torn.len(),
        };
        let rest = self.torn.split_off(whole);
        self.seen.push_str(&String::from_utf8_lossy(&self.torn));
        self.torn = rest;
    }

    /// The screen as it is by now.
    pub(crate) fn screen(&self) -> vt100::Parser {
        let mut parser = picture(self.columns.get());
        parser.process(self.seen.as_bytes());
        parser
    }

    /// The rows that a person sees by now, without empty ones at the end.
    pub(crate) fn rows(&self) -> Vec<String> {
        let parser = self.screen();
        let rows = parser.screen().rows(0, self.columns.get());
        let mut rows: Vec<String> = rows.map(|row| row.trim_end().to_owned()).collect();
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }

    /// Types something, with the return key after it.
    pub(crate) fn types(&mut self, line: &str) -> &mut Self {
        self.keyboard.write_all(format!("{line}\r").as_bytes()).unwrap();
        self
    }

    /// Types something, without the return key.
    pub(crate) fn keys(&mut self, text: &str) -> &mut Self {
        self.keyboard.write_all(text.as_bytes()).unwrap();
        self
    }

    /// Asks the process to end.
    pub(crate) fn terminate(&mut self) -> &mut Self {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, Signal::TERM).unwrap();
        self
    }

    /// Kills the process at this very moment, and proves that the kill is what ended it.
    #[track_caller]
    pub(crate) fn kill9(mut self) {
        self.child.kill().unwrap();
        let status = self.child.wait().unwrap();
        assert_eq!(status.signal(), Some(9), "it had already ended: {status}");
    }

    /// Presses one key.
    pub(crate) fn presses(&mut self, key: u8) -> &mut Self {
        self.keyboard.write_all(&[key]).unwrap();
        self
    }

    /// Waits for its end; all that was on the screen counts as its output.
    #[track_caller]
    pub(crate) fn ended(mut self) -> Finished {
        let until = Instant::now() + PATIENCE;
        while let Ok(bytes) =
            self.screen.recv_timeout(until.saturating_duration_since(Instant::now()))
        {
            self.see(&bytes);
        }
        assert!(Instant::now() < until, "it does not end: {}", self.seen);
        let code = self.child.wait().unwrap().code();
        let modes = tcgetattr(&self.keyboard).unwrap().local_modes;
        let usual = LocalModes::ICANON | LocalModes::ECHO;
        assert!(modes.contains(usual), "the next program finds a terminal in {modes:?}");
        Finished { code, stdout: std::mem::take(&mut self.seen), stderr: String::new() }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A process that has ended needs no end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
