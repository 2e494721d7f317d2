//! The check of the workspace after a command. It also runs for a call that is abandoned and when
//! Everloop exits, so that nothing dangerous stays behind.

use crate::sandbox::PreparedSandbox;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Checks that are not finished.
static OPEN: Mutex<usize> = Mutex::new(0);
static OVER: Condvar = Condvar::new();

/// How long the processes of an abandoned call take to be gone.
const GONE: Duration = Duration::from_secs(1);

/// How long the next command waits for checks.
const NEXT: Duration = Duration::from_secs(60);

/// Reported when a check takes longer than a stopped call waits.
const STILL_CHECKING: &str = "the workspace is still being checked for what it left";

/// One check that is not finished.
struct PendingCheck;

impl PendingCheck {
    fn begin() -> Self {
        *OPEN.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        Self
    }
}

impl Drop for PendingCheck {
    fn drop(&mut self) {
        *OPEN.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        OVER.notify_all();
    }
}

/// Waits until every check has finished, at most `patience`.
pub fn finish_checks(patience: Duration) {
    let open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = OVER.wait_timeout_while(open, patience, |open| *open > 0);
}

/// The same before the next command.
pub(crate) async fn wait_for_checks() {
    let is_open = *OPEN.lock().unwrap_or_else(PoisonError::into_inner) > 0;
    if is_open {
        let _ = tokio::task::spawn_blocking(|| finish_checks(NEXT)).await;
    }
}

/// The sandbox of a command, and the check after it ended.
pub(crate) struct AfterCommand(Option<PreparedSandbox>);

impl AfterCommand {
    pub(crate) fn of(sandbox: Option<PreparedSandbox>) -> Self {
        Self(sandbox)
    }

    pub(crate) fn sandbox(&self) -> Option<&PreparedSandbox> {
        self.0.as_ref()
    }

    /// Checks the workspace, and returns what was found unless that takes longer than `patience`.
    pub(crate) async fn check(mut self, patience: Option<Duration>) -> Vec<String> {
        let Some(sandbox) = self.0.take() else { return Vec::new() };
        let open = PendingCheck::begin();
        let looking = tokio::task::spawn_blocking(move || {
            let found = sandbox.snapshot.restore();
            drop(open);
            found
        });
        match patience {
            None => looking.await.unwrap_or_default(),
            Some(patience) => match tokio::time::timeout(patience, looking).await {
                Ok(found) => found.unwrap_or_default(),
                Err(_) => vec![STILL_CHECKING.to_owned()],
            },
        }
    }
}

impl Drop for AfterCommand {
    fn drop(&mut self) {
        let Some(sandbox) = self.0.take() else { return };
        let open = PendingCheck::begin();
        std::thread::spawn(move || {
            std::thread::sleep(GONE);
            sandbox.snapshot.restore();
            drop(open);
        });
    }
}
