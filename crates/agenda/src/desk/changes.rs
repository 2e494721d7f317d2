//! What is to change about a todo or an entry: what is named, and nothing else.
//!
//! Within an option, another `None` takes the thing away.

use crate::commands::{NewEntry, NewTodo, Remind};
use crate::kept::{self, reminders};
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

impl TodoChange {
    /// What a command says of a todo. `due` is when it is due if the command does not say.
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
            tag: new.tag.clone(),
            priority: new.priority,
            due: named,
            remind: new.remind.map(|remind| remind_when(remind, due, now)),
        }
    }
}

impl EntryChange {
    /// What a command says of an entry. `start` is when it begins if the command does not say.
    #[must_use]
    pub fn of(new: &NewEntry, now: &Zoned, start: Option<&Zoned>) -> Self {
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
        }
    }
}

/// When a person is reminded of something at `at`. What is counted back from it goes along with it.
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

/// Whether a moment that is saved at `now` is past.
pub(super) fn is_past(at: UtcMs, now: UtcMs) -> bool {
    reminders::is_late(at, now)
}
