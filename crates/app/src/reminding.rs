//! Reminders, brought to whoever looks at this process. Each is shown by one process only.

use crate::app::App;
use everloop_agenda::kept::reminders;
use everloop_engine::{Clock, SystemClock};
use everloop_store::{Firing, Store, StoreError};
use everloop_types::UtcMs;
use std::time::Duration;

/// How often a process that somebody looks at looks for reminders.
pub const LOOK: Duration = Duration::from_secs(1);

/// Reminders that are shown at once.
const SHOWN_MAX: usize = 20;

/// Fires what is due, and takes what no process has shown yet. What is shown too late says so.
///
/// # Errors
/// If the store fails.
pub(crate) async fn take_new(app: &App, store: &Store) -> Result<Vec<Firing>, StoreError> {
    let now = SystemClock.now();
    reminders::fire_due(store, &app.customs(), now).await?;
    take_fired(store, now, 0).await
}

/// The same for a process whose words may go to a log: it leaves a reminder for so long to one with
/// a person. A store that fails now may not fail the next time; nothing that is due is lost.
pub async fn take_late(app: &App, store: &Store, head_start: i64) -> Vec<Firing> {
    let now = SystemClock.now();
    let _ = reminders::fire_due(store, &app.customs(), now).await;
    take_fired(store, now, head_start).await.unwrap_or_default()
}

/// Takes what has fired and no process has shown yet, if it fired at least `head_start` ago.
///
/// # Errors
/// If the store fails.
async fn take_fired(store: &Store, now: UtcMs, head_start: i64) -> Result<Vec<Firing>, StoreError> {
    let mut ours = Vec::new();
    for firing in store.agenda().new_firings(SHOWN_MAX).await? {
        let is_free = firing.fired_at <= now.saturating_sub(head_start);
        if is_free && store.agenda().announce(firing.due, now).await? {
            ours.push(reminders::announced(firing, now));
        }
    }
    Ok(ours)
}
