//! Messages that runs have queued, on their way out.

use crate::app::App;
use crate::exit::{Exit, Failure};
use crate::means::channels;
use everloop_engine::Engine;
use everloop_text as text;
use everloop_types::RunId;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a process that has done its work waits for its messages to arrive.
const LAST_MOMENT: Duration = Duration::from_secs(3);

/// How often it looks.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Brings messages for as long as the process lives.
pub(crate) fn deliver(app: &App, engine: &Arc<Engine>) {
    let channels = channels(&app.settings);
    if !channels.is_empty() {
        tokio::spawn(engine.clone().deliver_outbox(Arc::new(channels)));
    }
}

/// Brings what is due, then comes back. A store that fails leaves it to the next worker.
pub(crate) async fn deliver_now(app: &App, engine: &Engine) {
    let channels = channels(&app.settings);
    while !channels.is_empty() && engine.deliver_due(&channels).await.is_ok_and(|n| n > 0) {}
}

/// Gives the run's messages a moment to arrive, and says how many have not.
pub(crate) async fn last_moment(
    app: &App,
    engine: &Engine,
    run: &RunId,
    exit: &Result<Exit, Failure>,
) {
    let left_in_a_hurry = matches!(exit, Ok(Exit::Interrupted | Exit::Terminated));
    let until = match left_in_a_hurry {
        true => Instant::now(),
        false => Instant::now() + LAST_MOMENT,
    };
    loop {
        let waiting = engine.store().outbox_count(run).await.unwrap_or_default().waiting;
        if waiting == 0 {
            return;
        }
        if Instant::now() >= until {
            return app.note(text::messages::waiting(&waiting));
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}
