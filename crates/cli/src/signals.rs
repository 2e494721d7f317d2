//! The signals that end a process politely.

use crate::app::App;
use crate::exit::{Exit, Failure};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Lets a write to a file that may not grow any further fail, instead of ending the process without
/// a word. Programs that are started have the usual signal again.
pub(crate) fn outlive_length_limits() {
    // What cannot be had leaves the process as every other is.
    let listening = signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()));
    drop(listening);
}

/// SIGINT and SIGTERM.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    pub(crate) interrupts: u32,
}

impl Signals {
    pub(crate) fn new(app: &App) -> Result<Self, Failure> {
        let listen =
            |kind| signal(kind).map_err(|error| app.failure(Exit::Failed, "error.system", &error));
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            interrupts: 0,
        })
    }

    pub(crate) async fn next(&mut self) -> Exit {
        tokio::select! {
            _ = self.interrupt.recv() => {
                self.interrupts += 1;
                Exit::Interrupted
            }
            _ = self.terminate.recv() => Exit::Terminated,
        }
    }
}
