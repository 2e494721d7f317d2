//! What is to change about a todo or an entry: what is named, and nothing else.
//!
//! Within an option, another `None` takes the thing away.

use crate::commands::{NewEntry, NewTodo};
use crate::kept::reminders;
use crate::time::Repeat;
use everloop_types::UtcMs;
use jiff::civil::DateTime;
use jiff::{Timestamp, Zoned};

/// When a person is reminded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemindWhen {
    /// At this moment.
    At(UtcMs),
    /// So many milliseconds before the thing itself, wherever that is moved to.
    Before(i64),
}

/// When an entry begins: on the wall of a place, and in the world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryStart {
    /// What the clocks there show, to the second.
    pub wall: DateTime,
    /// IANA name of the zone.
    pub zone: String,
    /// The moment.
    pub at: UtcMs,
}

impl EntryStart {
    /// A wall time in the zone of `now`. Seconds count, less than that does not.
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

/// What is to change about a todo.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TodoChange {
    /// Its text.
    pub text: Option<String>,
    /// Its group.
    pub tag: Option<String>,
    /// How urgent it is.
    pub priority: Option<i64>,
    /// When it must be done.
    pub due: Option<Option<UtcMs>>,
    /// When the person is reminded.
    pub remind: Option<Option<RemindWhen>>,
}

/// What is to change about an entry.
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
    /// How often in all; none within for no end.
    pub times: Option<Option<i64>>,
    /// No reminder before this moment.
    pub remind_from: Option<Option<UtcMs>>,
    /// What is done about reminders that were missed.
    pub catch_up: Option<Option<String>>,
    /// Whether it is saved beside others at the same time.
    pub allow_conflict: bool,
}

fn ms(at: Timestamp) -> UtcMs {
    at.as_millisecond()
}

impl From<&NewTodo> for TodoChange {
    fn from(new: &NewTodo) -> Self {
        Self {
            text: Some(new.text.clone()),
            tag: new.tag.clone(),
            priority: new.priority,
            due: new.due.map(|due| due.map(ms)),
            remind: new.remind.map(|remind| remind.map(|at| RemindWhen::At(ms(at)))),
        }
    }
}

impl EntryChange {
    /// What a command says of an entry.
    #[must_use]
    pub fn of(new: &NewEntry, now: &Zoned) -> Self {
        Self {
            title: Some(new.title.clone()),
            start: Some(EntryStart::of(new.starts, new.starts_at, now)),
            minutes: new.minutes,
            remind: new.remind.map(|remind| remind.map(|at| RemindWhen::At(ms(at)))),
            repeat: new.repeat.clone().map(Some),
            times: new.times,
            remind_from: new.remind_from.map(|from| from.map(ms)),
            catch_up: new.catch_up.clone().map(Some),
            allow_conflict: new.allow_conflict,
        }
    }
}

/// Whether a moment that is saved at `now` is past.
pub(super) fn is_past(at: UtcMs, now: UtcMs) -> bool {
    reminders::is_late(at, now)
}
