//! The signals that end a process politely.

use crate::console::Console;
use crate::exit::{Exit, Failure};
use everloop_text as text;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Lets a write to a file that may not grow any further fail, instead of ending the process without
/// a word. Programs that are started have the usual signal again.
pub fn outlive_length_limits() {
    // What cannot be had leaves the process as every other is.
    let listening = signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()));
    drop(listening);
}

/// SIGINT, SIGTERM, SIGQUIT, and SIGHUP unless whoever started us wants it ignored.
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Option<Signal>,
    quit: Signal,
    /// How often Ctrl-C came.
    pub interrupts: u32,
}

impl Signals {
    /// Listens from now on.
    pub fn new(app: &Console) -> Result<Self, Failure> {
        let listen = |kind| {
            signal(kind).map_err(|error| app.failure(Exit::Failed, text::error::system(&error)))
        };
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            quit: listen(SignalKind::quit())?,
            hangup: (!ignores_hangup()).then(|| listen(SignalKind::hangup())).transpose()?,
            interrupts: 0,
        })
    }

    /// Waits for the next one; how the process ends if it is obeyed.
    pub async fn next(&mut self) -> Exit {
        tokio::select! {
            _ = self.interrupt.recv() => {
                self.interrupts += 1;
                Exit::Interrupted
            }
            _ = self.terminate.recv() => Exit::Terminated,
            _ = hangup(&mut self.hangup) => Exit::Terminated,
            _ = self.quit.recv() => Exit::Terminated,
        }
    }
}

/// A terminal that is closed ends what runs in it, in order.
async fn hangup(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

/// Whether we were started by `nohup` or its like.
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & 1 != 0)
}
