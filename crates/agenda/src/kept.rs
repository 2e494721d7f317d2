//! Saved todos and entries, and the rules for them.

pub mod conflicts;
pub mod reminders;
pub mod run_firing;
pub mod simulate;

use crate::commands::{TodoFilter, TodoView};
use crate::time::{Repeat, Series};
use everloop_store::{ScheduleRow, TodoRow};
use everloop_types::UtcMs;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// The settings of the agenda.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgendaConfig {
    /// How far back the list of the schedule begins.
    pub list_back_ms: i64,
    /// How far ahead it ends.
    pub list_ahead_ms: i64,
    /// The default length of an entry.
    pub minutes: i64,
    /// The policy for missed reminders.
    pub catch_up: CatchUp,
    /// The maximum number of missed reminders that fire at once.
    pub catch_up_max: usize,
    /// The default lead time of reminders; `None` for no reminder.
    pub default_reminder_ms: Option<i64>,
    /// After how many failures in a row an entry that starts runs is paused; 0 for never.
    pub pause_after: u32,
}

impl Default for AgendaConfig {
    fn default() -> Self {
        const DAY_MS: i64 = 86_400_000;
        Self {
            list_back_ms: 2 * DAY_MS,
            list_ahead_ms: 31 * DAY_MS,
            minutes: 60,
            catch_up: CatchUp::Once,
            catch_up_max: 10,
            default_reminder_ms: Some(0),
            pause_after: 5,
        }
    }
}

/// The policy for reminders whose time passed while no process was running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CatchUp {
    /// The latest fires, late; the others are missed.
    Once,
    /// All of them are missed.
    Skip,
    /// All of them fire, late, up to a maximum.
    All,
}

impl CatchUp {
    /// The rule of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "once" => Some(Self::Once),
            "skip" => Some(Self::Skip),
            "all" => Some(Self::All),
            _ => None,
        }
    }
}

/// A moment of the database as a moment of the calendar.
#[must_use]
pub fn moment(at: UtcMs) -> Timestamp {
    Timestamp::from_millisecond(at).unwrap_or(Timestamp::MAX)
}

/// The occurrences of an entry. An unknown zone is treated as UTC.
#[must_use]
pub fn series(entry: &ScheduleRow) -> Series {
    let span = &entry.said.span;
    let zone = TimeZone::get(&span.zone).unwrap_or(TimeZone::UTC);
    let first = || moment(span.starts_at).to_zoned(zone.clone()).datetime();
    let start = span.starts.parse::<DateTime>().unwrap_or_else(|_| first());
    let rule = entry.said.repeat.as_ref().filter(|rule| rule.on != 0);
    let repeat = rule.and_then(|rule| Repeat::from_rrule(&rule.rrule));
    let count = rule.and_then(|rule| rule.times).and_then(|times| u32::try_from(times).ok());
    Series { start, zone, repeat, count }
}

/// A wall time as rows hold it: to the minute, or to the second if it has seconds.
#[must_use]
pub fn wall_text(wall: DateTime) -> String {
    let form = if wall.second() == 0 { "%Y-%m-%dT%H:%M" } else { "%Y-%m-%dT%H:%M:%S" };
    wall.strftime(form).to_string()
}

/// Whether an entry is only a reminder: it has no length and reminds.
#[must_use]
pub fn is_reminder(entry: &ScheduleRow) -> bool {
    entry.said.run.is_none() && entry.said.span.minutes == 0 && entry.said.remind.is_some()
}

/// One occurrence of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryOccurrence<'a> {
    /// The entry.
    pub entry: &'a ScheduleRow,
    /// When it begins.
    pub from: Timestamp,
    /// When it ends.
    pub to: Timestamp,
}

impl EntryOccurrence<'_> {
    /// Whether it reaches beyond `from`: it ends later, or has no length and begins then.
    #[must_use]
    pub fn reaches(&self, from: Timestamp) -> bool {
        self.to > from || self.from >= from
    }
}

/// The first occurrences in order, and how many were left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OccurrencePage<'a> {
    /// The first ones.
    pub held: Vec<EntryOccurrence<'a>>,
    /// How many more there are.
    pub left_out: usize,
}

/// The maximum number of listed occurrences: a month with one every minute.
const HELD_MAX: usize = 50_000;

impl<'a> OccurrencePage<'a> {
    fn add(&mut self, held: EntryOccurrence<'a>) {
        self.held.push(held);
        if self.held.len() >= 2 * HELD_MAX {
            self.cut();
        }
    }

    fn cut(&mut self) {
        self.held.sort_by_key(|held| (held.from, held.entry.id));
        self.left_out += self.held.len().saturating_sub(HELD_MAX);
        self.held.truncate(HELD_MAX);
    }
}

/// The occurrences of these entries between `from` and `to`, in order.
#[must_use]
pub fn occurrences_between<'a>(
    entries: impl IntoIterator<Item = &'a ScheduleRow>,
    from: Timestamp,
    to: Timestamp,
) -> OccurrencePage<'a> {
    let mut listed = OccurrencePage::default();
    for entry in entries {
        let course = EntryTimeline::of(entry);
        for held in course.reaching(from).take_while(|held| held.from < to) {
            listed.add(held);
        }
    }
    listed.cut();
    listed
}

/// The first occurrences of an entry between `from` and `to`. Nothing after them is computed.
#[must_use]
pub fn first_occurrences(
    entry: &ScheduleRow,
    from: Timestamp,
    to: Timestamp,
    most: usize,
) -> Vec<EntryOccurrence<'_>> {
    let held = EntryTimeline::of(entry).reaching(from);
    held.take_while(|held| held.from < to).take(most).collect()
}

/// An entry and its occurrences.
pub(crate) struct EntryTimeline<'a> {
    entry: &'a ScheduleRow,
    series: Series,
    lasts_ms: i64,
}

impl<'a> EntryTimeline<'a> {
    pub(crate) fn of(entry: &'a ScheduleRow) -> Self {
        let lasts_ms = entry.said.span.minutes.saturating_mul(60_000);
        Self { entry, series: series(entry), lasts_ms }
    }

    /// The occurrences that reach beyond `at`, in order.
    pub(crate) fn reaching(
        &self,
        at: Timestamp,
    ) -> impl Iterator<Item = EntryOccurrence<'a>> + use<'a> {
        let (entry, lasts_ms) = (self.entry, self.lasts_ms);
        let before = lasts_ms.saturating_sub(1).max(0);
        let earliest = moment(at.as_millisecond().saturating_sub(before));
        self.series.from(earliest).map(move |found| {
            let to = moment(found.at.as_millisecond().saturating_add(lasts_ms));
            EntryOccurrence { entry, from: found.at, to }
        })
    }
}

/// The todos of a view in order: open before done, early before late, urgent before the rest.
#[must_use]
pub fn viewed(
    todos: Vec<TodoRow>,
    view: TodoView,
    filter: &TodoFilter,
    now: &Zoned,
) -> Vec<TodoRow> {
    let mut todos: Vec<TodoRow> =
        todos.into_iter().filter(|todo| is_in(todo, view, now) && fits(todo, filter)).collect();
    todos.sort_by_key(|todo| {
        let urgency = if todo.said.priority == 0 { i64::MAX } else { todo.said.priority };
        (todo.done_at.is_some(), todo.said.due_at.unwrap_or(i64::MAX), urgency, todo.id)
    });
    todos
}

pub(crate) fn fits(todo: &TodoRow, filter: &TodoFilter) -> bool {
    let has_tags = filter.tags.iter().all(|tag| todo.said.tags.contains(tag));
    has_tags && !(filter.open_only && todo.done_at.is_some())
}

fn is_in(todo: &TodoRow, view: TodoView, now: &Zoned) -> bool {
    let due = todo.said.due_at.map(moment);
    let day = due.map(|due| due.to_zoned(now.time_zone().clone()).date());
    match view {
        TodoView::All => true,
        TodoView::Today => day == Some(now.date()),
        TodoView::Overdue => todo.done_at.is_none() && due.is_some_and(|due| due < now.timestamp()),
        TodoView::Upcoming => day.is_some_and(|day| day > now.date()),
        TodoView::Inbox => due.is_none() && todo.said.tags.is_empty(),
    }
}
