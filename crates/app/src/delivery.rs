//! Messages that runs have queued, on their way out.

use crate::app::App;
use crate::channels::OutgoingChannels;
use everloop_engine::Engine;
use everloop_types::RunId;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often it looks.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Brings messages for as long as the process lives.
pub fn deliver(app: &App, engine: &Arc<Engine>) {
    tokio::spawn(keep_delivering(app.clone(), engine.clone()));
}

/// Brings messages to the channels of these settings. A message that is on its way when this is
/// ended is due again when its hold is over, under the same id.
pub(crate) async fn keep_delivering(app: App, engine: Arc<Engine>) {
    let channels = OutgoingChannels::of(&app);
    if !channels.is_empty() {
        engine.deliver_outbox(Arc::new(channels)).await;
    }
}

/// Brings what is due, then comes back. A store that fails leaves it to the next worker.
pub(crate) async fn deliver_now(app: &App, engine: &Engine) {
    let channels = OutgoingChannels::of(app);
    while !channels.is_empty() && engine.deliver_due(&channels).await.is_ok_and(|n| n > 0) {}
}

/// Gives the run's messages a moment to arrive; how many have not.
pub async fn await_delivery(engine: &Engine, run: &RunId, patience: Duration) -> u64 {
    let until = Instant::now() + patience;
    loop {
        let waiting = engine.store().outbox().count(run).await.unwrap_or_default().waiting;
        if waiting == 0 || Instant::now() >= until {
            return waiting;
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}
