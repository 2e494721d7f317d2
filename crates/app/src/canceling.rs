//! Canceling a run, whoever drives it.

use crate::app::App;
use crate::error::{AppError, RunError};
use crate::runs::{front, is_over};
use everloop_engine::{Engine, Membership};
use everloop_store::{ClaimLockError, InboxSendResult};
use everloop_types::{RunId, Status};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long to wait for the driver to end the run.
const CANCEL_WAIT: Duration = Duration::from_secs(5);

/// What became of a cancel.
pub enum CancelOutcome {
    /// The run had ended before.
    AlreadyOver(Status),
    /// The run is over now.
    Canceled,
    /// The run ends as soon as its driver looks.
    Waits,
}

/// Cancels a run. The cancel is durable at once; who drives the run ends it. If nobody does, this
/// process does.
///
/// # Errors
/// If the store fails.
pub async fn cancel(
    app: &App,
    engine: &Arc<Engine>,
    run: &RunId,
) -> Result<CancelOutcome, AppError> {
    if let InboxSendResult::Finished(status) = engine.cancel(run, "user").await? {
        return Ok(CancelOutcome::AlreadyOver(status));
    }
    let policy = app.membership();
    policy.register(engine).await?;
    if policy.owners_may_live() {
        engine.reap().await?;
    }
    let is_over = end_within(app, engine, run, CANCEL_WAIT).await;
    // If this fails the lease expires by itself.
    let _ = policy.unregister(engine).await;
    Ok(if is_over? { CancelOutcome::Canceled } else { CancelOutcome::Waits })
}

async fn end_within(
    app: &App,
    engine: &Arc<Engine>,
    run: &RunId,
    wait: Duration,
) -> Result<bool, AppError> {
    let until = Instant::now() + wait;
    while Instant::now() < until {
        if end_if_unowned(app, engine, run).await? {
            return Ok(true);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(false)
}

/// Whether the run and all below it are over now.
async fn end_if_unowned(app: &App, engine: &Arc<Engine>, run: &RunId) -> Result<bool, AppError> {
    if is_over(engine.store(), run).await? {
        return Ok(true);
    }
    let worker = &engine.identity().worker;
    let membership = match app.membership().acquire(worker) {
        Ok(membership) => membership,
        Err(ClaimLockError::Held(_)) => return Ok(false),
        Err(ClaimLockError::Store(error)) => return Err(error.into()),
    };
    let now = engine.clock().now();
    // On a shared database this was done once, before the wait.
    if matches!(membership, Membership::Exclusive(_)) {
        membership.recover_orphans(engine).await?;
    }
    let front = front(engine.store(), run).await?;
    if let Some(claim) = engine.store().queue().claim_run(worker, &front, now).await? {
        let driven = engine.drive(claim).await;
        driven.map_err(|source| RunError::Drive { run: run.clone(), source })?;
    }
    Ok(false)
}
