//! A worker: claims what is ready, drives it, many runs at once.

use crate::{DriveError, Driven, Engine};
use everloop_store::{Claim, StoreError};
use everloop_types::RunId;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

const IDLE_MS: u64 = 250;
const STORE_PAUSE_MS: u64 = 1_000;

/// Drives every run that is ready. The caller holds the right to claim runs.
pub struct Worker {
    engine: Arc<Engine>,
    most: usize,
    driving: JoinSet<Result<Driven, DriveError>>,
    claims: BTreeMap<Id, Claim>,
}

/// What a worker has to say.
#[derive(Debug)]
pub enum Report {
    /// A run was taken up.
    Claimed(RunId),
    /// A run ended or waits.
    Driven(RunId, Driven),
    /// A run could not be driven now.
    Failed(RunId, DriveError),
    /// A run took its driver down with it, and was put back or aside.
    Stalled(RunId),
}

impl Worker {
    /// A worker that drives at most `most` runs at once.
    #[must_use]
    pub fn new(engine: Arc<Engine>, most: usize) -> Self {
        Self { engine, most: most.max(1), driving: JoinSet::new(), claims: BTreeMap::new() }
    }

    /// Works until `stop`, then lets what is under way come to its next durable point.
    ///
    /// # Errors
    /// If the store cannot be asked for work.
    pub async fn work(
        &mut self,
        stop: &CancellationToken,
        mut report: impl FnMut(Report),
    ) -> Result<(), StoreError> {
        while !stop.is_cancelled() {
            let claimed = self.claim(&mut report).await?;
            if claimed > 0 && self.driving.len() < self.most {
                continue;
            }
            tokio::select! {
                () = stop.cancelled() => {}
                Some(ended) = self.driving.join_next_with_id() => {
                    self.ended(ended, &mut report).await?;
                }
                () = self.engine.clock.pause(IDLE_MS) => {}
            }
        }
        Ok(())
    }

    /// Works until nothing is ready and nothing is under way.
    ///
    /// # Errors
    /// If the store cannot be asked for work.
    pub async fn drain(&mut self, mut report: impl FnMut(Report)) -> Result<(), StoreError> {
        loop {
            self.claim(&mut report).await?;
            match self.driving.join_next_with_id().await {
                Some(ended) => self.ended(ended, &mut report).await?,
                None => return Ok(()),
            }
        }
    }

    async fn claim(&mut self, report: &mut impl FnMut(Report)) -> Result<usize, StoreError> {
        let free = self.most - self.driving.len();
        if free == 0 {
            return Ok(0);
        }
        let engine = &self.engine;
        let now = engine.clock.now();
        let claims = engine.store.claim(&engine.identity.worker, now, free).await?;
        let count = claims.len();
        for claim in claims {
            report(Report::Claimed(claim.run.clone()));
            let (engine, held) = (self.engine.clone(), claim.clone());
            let task = self.driving.spawn(async move { engine.drive(claim).await });
            self.claims.insert(task.id(), held);
        }
        Ok(count)
    }

    /// A driver that panicked must not take the worker along, nor be tried for ever.
    async fn ended(
        &mut self,
        ended: Result<(Id, Result<Driven, DriveError>), JoinError>,
        report: &mut impl FnMut(Report),
    ) -> Result<(), StoreError> {
        let id = match &ended {
            Ok((id, _)) => *id,
            Err(error) => error.id(),
        };
        let Some(claim) = self.claims.remove(&id) else { return Ok(()) };
        let run = claim.run.clone();
        match ended {
            Ok((_, Ok(driven))) => report(Report::Driven(run, driven)),
            Ok((_, Err(error))) => {
                if matches!(error, DriveError::Store { .. }) {
                    // A store that fails is given a moment, so that no run is put aside for it.
                    self.engine.clock.pause(STORE_PAUSE_MS).await;
                    self.engine.store.stalled(&claim, self.engine.clock.now()).await?;
                }
                report(Report::Failed(run, error));
            }
            Err(_) => {
                self.engine.store.stalled(&claim, self.engine.clock.now()).await?;
                report(Report::Stalled(run));
            }
        }
        Ok(())
    }
}
