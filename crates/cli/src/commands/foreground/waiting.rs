//! What a foreground run waits for besides its own work: a database, and a model that is away.

use super::{Foreground, LOOK_AGAIN};
use crate::commands::runs;
use crate::exit::{Exit, Failure};
use crate::signals::Signals;
use everloop_app::error::chain;
use everloop_engine::DriveError;
use everloop_store::Claim;
use everloop_text as text;
use everloop_types::journal::WaitingOn;
use everloop_types::{ModelError, Status};

impl Foreground<'_> {
    /// Waits until the database answers, or a signal comes.
    pub(super) async fn await_database(&self, signals: &mut Signals) -> Option<Exit> {
        let mut told = false;
        while let Err(error) = self.store().workers().time().await {
            if !std::mem::replace(&mut told, true) {
                let detail = chain(&error);
                self.app.note(text::run::database_away(&detail));
            }
            tokio::select! {
                () = tokio::time::sleep(LOOK_AGAIN) => {}
                exit = signals.next() => return Some(exit),
            }
        }
        None
    }

    /// Gives back a run whose drive broke off, once the database answers; or the signal that came.
    pub(super) async fn give_back(
        &self,
        held: &Claim,
        error: &DriveError,
        signals: &mut Signals,
    ) -> Result<Option<Exit>, Failure> {
        if let Some(exit) = self.await_database(signals).await {
            return Ok(Some(exit));
        }
        if let DriveError::LeaseLost(_) = error {
            self.app.note(text::run::lease_lost(&self.run));
        }
        // If it is still ours nobody else could have it; if not, this does nothing.
        let given_back = self.store().queue().release(held, self.engine.clock().now()).await;
        given_back.map_err(|error| self.app.store_failure(&error))?;
        Ok(None)
    }

    /// What the model said, if whoever drives the run has parked it for that.
    pub(super) async fn waits_for_model(&self) -> Result<Option<ModelError>, Failure> {
        let front = self.app.checked(everloop_app::runs::front(self.store(), &self.run).await)?;
        let at = self.store().runs().position(&front).await;
        let at = at.map_err(|error| self.app.store_failure(&error))?;
        if at.is_none_or(|at| at.status != Status::Waiting) {
            return Ok(None);
        }
        Ok(match runs::details(self.app, self.store(), &front).await?.waiting_on {
            Some(WaitingOn::Model { error }) => Some(error),
            _ => None,
        })
    }
}

/// Whether a drive may be taken up again: somebody else has the run, or the server was away.
pub(super) fn is_passing(error: &DriveError) -> bool {
    match error {
        DriveError::LeaseLost(_) => true,
        DriveError::Store { source, .. } => source.is_transient(),
        DriveError::Quarantined { .. } | DriveError::Newer { .. } => false,
    }
}
