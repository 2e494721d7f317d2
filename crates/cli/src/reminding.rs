//! Reminders, brought to whoever looks at this process. Each is shown by one process only.

use crate::app::App;
use crate::terminal;
use everloop_agenda::kept::reminders;
use everloop_agenda::show::firing_lines;
use everloop_engine::{Clock, SystemClock};
use everloop_store::{Firing, Store, StoreError};
use everloop_types::UtcMs;
use std::io::IsTerminal;
use std::time::Duration;

/// How often a process that somebody looks at looks for reminders.
pub(crate) const LOOK: Duration = Duration::from_secs(1);

/// How long a process whose words may go to a log leaves a reminder to one with a person.
const HEAD_START_MS: i64 = 3_000;

/// Reminders that are shown at once.
const SHOWN_MAX: usize = 20;

/// Fires what is due, and takes what no process has shown yet. What is shown too late says so.
pub(crate) async fn take_new(app: &App, store: &Store) -> Result<Vec<Firing>, StoreError> {
    let now = SystemClock.now();
    reminders::fire_due(store, &app.customs(), now).await?;
    take(store, now, 0).await
}

async fn take(store: &Store, now: UtcMs, head_start: i64) -> Result<Vec<Firing>, StoreError> {
    let mut ours = Vec::new();
    for firing in store.agenda().new_firings(SHOWN_MAX).await? {
        let is_free = firing.fired_at <= now.saturating_sub(head_start);
        if is_free && store.agenda().announce(firing.due, now).await? {
            ours.push(reminders::announced(firing, now));
        }
    }
    Ok(ours)
}

/// The lines of what is new; a store that fails for a moment is looked at again.
pub(crate) async fn new_lines(app: &App, store: &Store) -> Vec<String> {
    let fired = take_new(app, store).await.unwrap_or_default();
    firing_lines(&app.reader(), &fired)
}

/// Shows reminders on stderr for as long as a command works, also one that tells no progress.
pub(crate) fn begin(app: &App, store: &Store) {
    tokio::spawn(show_on_stderr(app.clone(), store.clone()));
}

/// With a bell if somebody sits there.
async fn show_on_stderr(app: App, store: Store) {
    let seen = std::io::stderr().is_terminal();
    let head_start = if seen { 0 } else { HEAD_START_MS };
    let mut again = tokio::time::interval(LOOK);
    loop {
        again.tick().await;
        let now = SystemClock.now();
        // A store that fails now may not fail in a second; nothing that is due is lost.
        let _ = reminders::fire_due(&store, &app.customs(), now).await;
        let fired = take(&store, now, head_start).await.unwrap_or_default();
        for line in firing_lines(&app.reader(), &fired) {
            terminal::complain(&line);
        }
        if seen && !fired.is_empty() {
            terminal::ring();
        }
    }
}
