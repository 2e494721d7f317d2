//! Reads keys on a thread of its own, for as long as the program wants them.

use crossterm::event::{Event, KeyEventKind};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::os::fd::AsFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// How long the thread waits for a key before it looks whether it is still wanted. It is woken when
/// that changes; only a change before its first look has to wait for so long.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// A key, a paste or a new size, and when it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyInput {
    /// What came.
    pub event: Event,
    /// When.
    pub at: Instant,
}

/// The keys, in their order.
#[derive(Debug)]
pub struct KeyReader {
    keys: UnboundedReceiver<KeyInput>,
    switch: ReaderSwitch,
}

/// Stops the reader for a while, so that another program can have the keys.
#[derive(Debug, Clone)]
pub struct ReaderSwitch(Arc<(Mutex<ReaderState>, Condvar)>);

#[derive(Debug, Default)]
struct ReaderState {
    /// How many want the keys for themselves.
    pauses: usize,
    is_paused: bool,
    is_over: bool,
}

impl KeyReader {
    /// Begins to read. The terminal must give single keys.
    ///
    /// # Errors
    /// If no thread can be had.
    pub fn start() -> io::Result<Self> {
        let (sender, keys) = unbounded_channel();
        let switch = ReaderSwitch(Arc::default());
        let own = switch.clone();
        let thread = std::thread::Builder::new().name("keys".to_owned());
        thread.spawn(move || {
            read_keys(&own, &sender);
            let mut state = own.state();
            state.is_over = true;
            own.0.1.notify_all();
        })?;
        Ok(Self { keys, switch })
    }

    /// The next key; none if the terminal is gone.
    pub async fn next(&mut self) -> Option<KeyInput> {
        self.keys.recv().await
    }

    /// A key that has come already.
    pub fn try_next(&mut self) -> Option<KeyInput> {
        self.keys.try_recv().ok()
    }

    /// What stops it for a while.
    #[must_use]
    pub fn switch(&self) -> ReaderSwitch {
        self.switch.clone()
    }
}

impl Drop for KeyReader {
    fn drop(&mut self) {
        self.switch.state().is_over = true;
        self.switch.0.1.notify_all();
        wake_reader();
    }
}

/// Ends the wait for a key. A new size does that, and nothing else that the library listens to; who
/// is told of a size that is not new draws the same lines again.
fn wake_reader() {
    let _ =
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::WINCH);
}

impl ReaderSwitch {
    fn state(&self) -> MutexGuard<'_, ReaderState> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns when the reader reads no more.
    pub fn pause(&self) {
        let mut state = self.state();
        state.pauses += 1;
        if !state.is_paused {
            wake_reader();
        }
        while !state.is_paused && !state.is_over {
            state = self.0.1.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes one pause back.
    pub fn resume(&self) {
        let mut state = self.state();
        state.pauses = state.pauses.saturating_sub(1);
        self.0.1.notify_all();
    }

    /// Waits while the keys belong to somebody else; whether they are still wanted.
    fn wait_for_turn(&self) -> bool {
        let mut state = self.state();
        while state.pauses > 0 && !state.is_over {
            state.is_paused = true;
            self.0.1.notify_all();
            state = self.0.1.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.is_paused = false;
        !state.is_over
    }
}

fn read_keys(switch: &ReaderSwitch, sender: &UnboundedSender<KeyInput>) {
    while switch.wait_for_turn() {
        match crossterm::event::poll(LOOK_AGAIN) {
            Ok(true) => {}
            // The library takes the end of a terminal for silence, and would look for ever.
            Ok(false) if is_gone(rustix::stdio::stdin()) => return,
            Ok(false) => continue,
            Err(_) => return,
        }
        let Ok(event) = crossterm::event::read() else { return };
        let is_release = matches!(&event, Event::Key(key) if key.kind == KeyEventKind::Release);
        if !is_release && sender.send(KeyInput { event, at: Instant::now() }).is_err() {
            return;
        }
    }
}

/// Whether the other side of a terminal was closed: its window, or the connection to it.
fn is_gone(terminal: impl AsFd) -> bool {
    let mut looked = [PollFd::new(&terminal, PollFlags::IN)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    poll(&mut looked, Some(&now)).is_ok() && looked[0].revents().intersects(gone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{Mode, OFlags, open};
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    #[test]
    fn a_terminal_is_gone_when_its_other_side_is_closed() {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let slave = open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
        assert!(!is_gone(&slave));
        drop(master);
        assert!(is_gone(&slave));
    }
}
