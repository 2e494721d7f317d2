//! The changes of a todo or an entry: only the given values change.
//!
//! In a nested option, the inner `None` removes the value.

use crate::commands::{NewEntry, NewTodo, Remind, RunChange};
use crate::kept::{self, reminders};
use crate::time::Repeat;
use everloop_types::UtcMs;
use jiff::civil::DateTime;
use jiff::{Timestamp, Zoned};

/// When the user is reminded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemindWhen {
    /// At this moment.
    At(UtcMs),
    /// This many milliseconds before the event; it moves with the event.
    Before(i64),
}

/// When an entry begins: as local time and as a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryStart {
    /// The local time, to the second.
    pub wall: DateTime,
    /// IANA name of the zone.
    pub zone: String,
    /// The moment.
    pub at: UtcMs,
}

impl EntryStart {
    /// A local time in the zone of `now`, truncated to seconds.
    #[must_use]
    pub fn of(wall: DateTime, at: Timestamp, now: &Zoned) -> Self {
        let time = wall.time();
        let zone = now.time_zone().iana_name().unwrap_or("UTC").to_owned();
        Self {
            wall: wall.date().at(time.hour(), time.minute(), time.second(), 0),
            zone,
            at: at.as_second().saturating_mul(1_000),
        }
    }
}

/// The changes of a todo.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TodoChange {
    /// Its text.
    pub text: Option<String>,
    /// Its tags.
    pub tags: Option<Vec<String>>,
    /// Tags that are added to those it has.
    pub more_tags: Vec<String>,
    /// How urgent it is.
    pub priority: Option<i64>,
    /// When it must be done.
    pub due: Option<Option<UtcMs>>,
    /// When the person is reminded.
    pub remind: Option<Option<RemindWhen>>,
}

/// The changes of an entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EntryChange {
    /// Its title.
    pub title: Option<String>,
    /// When it begins.
    pub start: Option<EntryStart>,
    /// How long it takes.
    pub minutes: Option<i64>,
    /// When the person is reminded.
    pub remind: Option<Option<RemindWhen>>,
    /// How it repeats.
    pub repeat: Option<Option<Repeat>>,
    /// The number of occurrences; the inner `None` means no end.
    pub times: Option<Option<i64>>,
    /// No reminder before this moment.
    pub remind_from: Option<Option<UtcMs>>,
    /// The policy for missed reminders.
    pub catch_up: Option<Option<String>>,
    /// Whether it is saved despite conflicts.
    pub allow_conflict: bool,
    /// What it starts.
    pub run: Option<RunChange>,
}

fn ms(at: Timestamp) -> UtcMs {
    at.as_millisecond()
}

impl TodoChange {
    /// The changes of a command. `due` is the saved due time, which a shift moves.
    #[must_use]
    pub fn of(new: &NewTodo, now: &Zoned, due: Option<UtcMs>) -> Self {
        let was = due.map(|due| kept::moment(due).to_zoned(now.time_zone().clone()));
        let shifted = new.shift.zip(was).and_then(|(shift, was)| shift.apply(&was));
        let named = match shifted {
            Some(at) => Some(Some(ms(at.timestamp()))),
            None => new.due.map(|due| due.map(ms)),
        };
        let due = named.unwrap_or(due);
        Self {
            text: new.text.clone(),
            tags: new.tags.clone(),
            more_tags: new.more_tags.clone(),
            priority: new.priority,
            due: named,
            remind: new.remind.map(|remind| remind_when(remind, due, now)),
        }
    }
}

impl EntryChange {
    /// The changes of a command. `start` is the saved start, which a shift moves.
    #[must_use]
    pub fn of(new: &NewEntry, now: &Zoned, start: Option<&Zoned>) -> Self {
        let now = &new.now_there(now);
        let zone = now.time_zone();
        let named = new.start.map(|start| start.at.to_zoned(zone.clone())).or_else(|| {
            let was = start?.with_time_zone(zone.clone());
            new.shift?.apply(&was)
        });
        let start = named.as_ref().or(start);
        let at = start.map(|start| ms(start.timestamp()));
        let first = start.map_or_else(|| now.date(), Zoned::date);
        Self {
            title: new.title.clone(),
            start: named.as_ref().map(|at| EntryStart::of(at.datetime(), at.timestamp(), now)),
            minutes: new.minutes,
            remind: new.remind.map(|remind| remind_when(remind, at, now)),
            repeat: new.repeat.as_ref().map(|every| Some(every.as_ref()?.repeat(first))),
            times: new.times,
            remind_from: new.remind_from.map(|from| from.map(ms)),
            catch_up: new.catch_up.clone().map(Some),
            allow_conflict: new.allow_conflict,
            run: new.run.as_deref().cloned(),
        }
    }
}

/// When the user is reminded of an event at `at`. A relative reminder moves with the event.
fn remind_when(remind: Remind, at: Option<UtcMs>, now: &Zoned) -> Option<RemindWhen> {
    match remind {
        Remind::Never => None,
        Remind::At(at) => Some(RemindWhen::At(ms(at))),
        Remind::Before(ahead) => {
            let Some(at) = at else { return Some(RemindWhen::Before(0)) };
            let zoned = kept::moment(at).to_zoned(now.time_zone().clone());
            let before = ahead.before(&zoned).map_or(at, |before| ms(before.timestamp()));
            Some(RemindWhen::Before(at.saturating_sub(before)))
        }
    }
}

/// Whether a moment is past at `now`.
pub(super) fn is_past(at: UtcMs, now: UtcMs) -> bool {
    reminders::is_late(at, now)
}
