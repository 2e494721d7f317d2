//! Reminders, brought to whoever looks at this process. One process calls for attention; every
//! other one that somebody looks at shows the same line.

use crate::app::App;
use crate::heartbeat;
use everloop_agenda::kept::reminders;
use everloop_engine::{Clock, SystemClock};
use everloop_store::{DueReminder, Firing, Store, StoreError};
use everloop_types::UtcMs;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How often a process that somebody looks at looks for reminders.
pub const LOOK: Duration = Duration::from_secs(1);

/// Reminders that are shown at once.
const SHOWN_MAX: usize = 20;

/// How long ago another process may have shown a reminder that is shown here too.
const SHARED_MS: i64 = 60_000;

/// The reminders of a terminal: each is shown in it once, whichever process is first.
pub struct ReminderWatch {
    /// Nothing is shown that others showed before.
    since: UtcMs,
    shown: Mutex<Vec<DueReminder>>,
}

/// What a terminal has not shown yet.
pub struct NewReminders {
    /// Nobody has been called for these: this process has to.
    pub ours: Vec<Firing>,
    /// Another process has called for these.
    pub others: Vec<Firing>,
}

impl ReminderWatch {
    /// From now on.
    #[must_use]
    pub fn begin() -> Self {
        Self { since: SystemClock.now(), shown: Mutex::default() }
    }

    /// Fires what is due, and gives what this terminal has not shown yet. What is shown too late
    /// says so. A store that fails for a moment is asked again.
    pub async fn look(&self, app: &App, store: &Store) -> NewReminders {
        let ours = take_late(app, store, 0).await;
        let now = SystemClock.now();
        let since = self.since.max(now.saturating_sub(SHARED_MS));
        let told = store.agenda().firings_announced_after(since, SHOWN_MAX).await;
        let told = told.unwrap_or_default();
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.extend(ours.iter().map(|firing| firing.due));
        let others = told.iter().filter(|firing| !shown.contains(&firing.due)).cloned();
        let others: Vec<Firing> = others.map(|firing| reminders::announced(firing, now)).collect();
        shown.extend(others.iter().map(|firing| firing.due));
        // Those of a minute ago are not asked for again.
        let surplus = shown.len().saturating_sub(10 * SHOWN_MAX);
        shown.drain(..surplus);
        NewReminders { ours, others }
    }
}

/// Fires what is due, and takes what no process has shown yet. A process whose words may go to a
/// log leaves a reminder for so long to one with a person. A store that fails now may not fail the
/// next time; nothing that is due is lost.
pub async fn take_late(app: &App, store: &Store, head_start: i64) -> Vec<Firing> {
    let now = SystemClock.now();
    let _ = reminders::fire_due(store, &app.agenda_config(), now).await;
    let taken = take_fired(store, now, head_start).await.unwrap_or_default();
    if head_start > 0 && app.settings.agenda.unseen_after.is_some() {
        // A log is not a person: what goes there is told in a conversation too.
        for firing in &taken {
            let _ = heartbeat::tell(app, store, firing, now).await;
        }
    }
    taken
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
