//! The look after a command, which is taken whatever becomes of the call: a call that is given up,
//! or a program that ends, leaves no trap behind.

use crate::sandbox::PreparedSandbox;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Looks that are not over.
static OPEN: Mutex<usize> = Mutex::new(0);
static OVER: Condvar = Condvar::new();

/// How long the processes of a call that was given up take to be gone.
const GONE: Duration = Duration::from_secs(1);

/// How long a next command waits for the looks before it.
const NEXT: Duration = Duration::from_secs(60);

/// Said where a look takes longer than whoever stopped the command waits.
const GOES_ON: &str = "the look through the workspace for what it left goes on";

/// One look that is not over.
struct PendingLook;

impl PendingLook {
    fn begin() -> Self {
        *OPEN.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        Self
    }
}

impl Drop for PendingLook {
    fn drop(&mut self) {
        *OPEN.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        OVER.notify_all();
    }
}

/// Waits until every look is over, but not longer than that.
pub fn finish_looking(patience: Duration) {
    let open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = OVER.wait_timeout_while(open, patience, |open| *open > 0);
}

/// The same for a command that comes next.
pub(crate) async fn finish_looks() {
    let is_open = *OPEN.lock().unwrap_or_else(PoisonError::into_inner) > 0;
    if is_open {
        let _ = tokio::task::spawn_blocking(|| finish_looking(NEXT)).await;
    }
}

/// The sandbox around a command, and the look that is due when it has ended.
pub(crate) struct AfterCommand(Option<PreparedSandbox>);

impl AfterCommand {
    pub(crate) fn of(sandbox: Option<PreparedSandbox>) -> Self {
        Self(sandbox)
    }

    pub(crate) fn sandbox(&self) -> Option<&PreparedSandbox> {
        self.0.as_ref()
    }

    /// Looks, and tells what was found, if that does not take longer than wanted.
    pub(crate) async fn look(mut self, patience: Option<Duration>) -> Vec<String> {
        let Some(sandbox) = self.0.take() else { return Vec::new() };
        let open = PendingLook::begin();
        let looking = tokio::task::spawn_blocking(move || {
            let found = sandbox.watch.end();
            drop(open);
            found
        });
        match patience {
            None => looking.await.unwrap_or_default(),
            Some(patience) => match tokio::time::timeout(patience, looking).await {
                Ok(found) => found.unwrap_or_default(),
                Err(_) => vec![GOES_ON.to_owned()],
            },
        }
    }
}

impl Drop for AfterCommand {
    fn drop(&mut self) {
        let Some(sandbox) = self.0.take() else { return };
        let open = PendingLook::begin();
        std::thread::spawn(move || {
            std::thread::sleep(GONE);
            sandbox.watch.end();
            drop(open);
        });
    }
}
