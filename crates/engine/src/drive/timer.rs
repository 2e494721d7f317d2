//! Sleeping: a call that is over at a moment, without a worker until then.
//!
//! ```text
//!   sleep ─► one commit: Waiting until the moment, parked ─► woken ─► over, or parked again
//! ```
//!
//! The moment is fixed by the first entry and survives every crash. Whoever wakes the run too early
//! (a message, another clock) finds the same moment again.

use super::{DriveEnd, DriveError, Driver, LoopFlow};
use everloop_loops::OpenToolCall;
use everloop_store::NextStatus;
use everloop_types::journal::{EntryKind, Waiting, WaitingOn};
use everloop_types::{Observation, UtcMs};

/// Puts calls to sleep, and ends them when their time has come.
pub(super) struct Sleeper<'d, 'e> {
    pub(super) driver: &'d mut Driver<'e>,
}

impl Sleeper<'_, '_> {
    /// Parks the run for so long.
    pub(super) async fn begin(
        &mut self,
        open: &OpenToolCall,
        wait_ms: u64,
    ) -> Result<LoopFlow, DriveError> {
        let until = self.driver.engine.clock.now().saturating_add_unsigned(wait_ms);
        self.park(open, until).await
    }

    /// The call is over once its time has come; later is fine, earlier is not.
    pub(super) async fn go_on(
        &mut self,
        open: &OpenToolCall,
        until: UtcMs,
    ) -> Result<LoopFlow, DriveError> {
        if self.driver.engine.clock.now() < until {
            return self.park(open, until).await;
        }
        self.driver.note_seen(open, Observation::ok("the time is over"), 0);
        Ok(LoopFlow::GoOn)
    }

    async fn park(&mut self, open: &OpenToolCall, until: UtcMs) -> Result<LoopFlow, DriveError> {
        let on = WaitingOn::Timer { call: open.planned.call.id.clone() };
        let waiting = Waiting { on: on.clone(), until: Some(until) };
        self.driver.note(None, EntryKind::Waiting(waiting));
        let note = "timer".to_owned();
        self.driver.commit(NextStatus::Park { wake_at: Some(until), note }).await?;
        Ok(LoopFlow::Over(DriveEnd::Parked(on)))
    }
}
