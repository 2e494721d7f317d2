//! A run that somebody looks at: what happens to it, and when it is worth asking why it stopped.

use everloop_engine::{Engine, Follower, RunEvent, RunView, Scope};
use everloop_types::RunId;
use std::sync::Arc;
use std::time::Duration;

/// How long to wait before a store that failed is asked again.
const AGAIN: Duration = Duration::from_millis(100);

/// Follows a run and those below it. A journal that cannot be read has no events; its run can
/// still be asked about.
pub struct Following {
    follower: Option<Follower>,
    past: RunView,
    /// The place of the run's last event that was given out.
    last_seq: i64,
    check: StopCheck,
}

/// What comes next.
pub enum FollowNews {
    /// Something happened.
    Event(Box<RunEvent>),
    /// The run may have stopped: it is over, or somebody has to help.
    MayHaveStopped,
}

/// When the run may have stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StopCheck {
    Now,
    Soon,
    No,
}

impl Following {
    /// From now on.
    pub(crate) async fn from_now_on(engine: &Arc<Engine>, run: &RunId) -> Self {
        let at = engine.store().runs().position(run).await.ok().flatten();
        Self::after(engine, run, at.map_or(0, |at| at.next_seq - 1)).await
    }

    /// From the entry after this one on.
    pub(crate) async fn after(engine: &Arc<Engine>, run: &RunId, after: i64) -> Self {
        let follower = loop {
            match engine.follow(run, after, Scope::Tree).await {
                Err(error) if error.is_transient() => tokio::time::sleep(AGAIN).await,
                followed => break followed.ok(),
            }
        };
        let past = follower.as_ref().map(|follower| follower.past().clone());
        let past = past.unwrap_or_else(|| RunView::new(run.clone()));
        // It may have stopped before anybody looked.
        Self { follower, past, last_seq: after, check: StopCheck::Now }
    }

    /// The run as it was before the first event.
    pub fn past(&self) -> &RunView {
        &self.past
    }

    /// The run itself.
    #[must_use]
    pub fn run(&self) -> &RunId {
        &self.past.run
    }

    /// The place of the run's last event that was given out.
    pub(crate) fn last_seq(&self) -> i64 {
        self.last_seq
    }

    /// The next event, or that the run may have stopped. Dropping the future loses nothing.
    pub async fn next(&mut self) -> FollowNews {
        if self.check == StopCheck::Soon {
            tokio::time::sleep(AGAIN).await;
        }
        if self.check != StopCheck::No {
            self.check = StopCheck::No;
            return FollowNews::MayHaveStopped;
        }
        let next = match &mut self.follower {
            Some(follower) => follower.next().await,
            None => Ok(None),
        };
        match next {
            Ok(Some(event)) => self.event(event),
            Ok(None) | Err(_) => {
                tokio::time::sleep(AGAIN).await;
                FollowNews::MayHaveStopped
            }
        }
    }

    /// What has happened already and was not given out yet.
    pub async fn rest(&mut self) -> Vec<RunEvent> {
        let mut events = Vec::new();
        let Some(follower) = &mut self.follower else { return events };
        // A store that fails for a moment is read again later.
        while let Ok(Some(event)) = follower.next_ready().await {
            events.push(event);
        }
        events.iter().for_each(|event| self.note(event));
        events
    }

    /// Nobody could say whether the run has stopped: it is asked again in a moment.
    pub fn check_soon(&mut self) {
        self.check = StopCheck::Soon;
    }

    fn note(&mut self, event: &RunEvent) {
        if event.run_id == self.past.run {
            self.last_seq = self.last_seq.max(event.seq);
        }
    }

    fn event(&mut self, event: RunEvent) -> FollowNews {
        self.note(&event);
        if event.is_stop() {
            self.check = StopCheck::Now;
        }
        FollowNews::Event(Box::new(event))
    }
}
