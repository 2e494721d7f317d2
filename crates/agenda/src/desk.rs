//! Carries out commands about todos and the schedule.
//!
//! A slash command, a subcommand and a model's tool call get the same typed answer. Callers read
//! success from its type, never from its text.

mod changes;
mod entries;
mod runs;
mod todos;
mod undo;

pub(crate) use entries::week_start;

pub use runs::{RunDesk, RunScheduleAction, RunScheduleView};

pub use changes::{EntryChange, EntryStart, RemindWhen, TodoChange};

use crate::commands::{
    AgendaCommand, CalendarView, ScheduleCommand, TodoCommand, TodoFilter, TodoMark, TodoView,
};
use crate::kept::run_firing::{self, StartRuns};
use crate::kept::{AgendaConfig, reminders};
use everloop_store::{
    ChangedItem, Firing, ScheduleRow, ScheduledFiring, Store, StoreError, TodoRow, WriteKey,
};
use everloop_types::UtcMs;
use jiff::civil::Date;
use jiff::{Timestamp, Zoned};
use std::sync::Arc;

/// The outcome of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandOutcome {
    /// A todo, what was done to it, and notices about it.
    Todo(ItemAction, TodoRow, Vec<AgendaNotice>),
    /// Several todos, and what was done to each.
    Marked(Vec<(ItemAction, TodoRow)>),
    /// Todos were deleted.
    TodosDeleted(Vec<DeletedItem>),
    /// Todos, by a view or a search.
    Todos(TodoListing),
    /// The views.
    Views,
    /// An entry, what was done to it, its latest firings, and notices about it.
    Entry(ItemAction, Box<ScheduleRow>, Vec<Firing>, Vec<AgendaNotice>),
    /// Entries were deleted.
    EntriesDeleted(Vec<DeletedItem>),
    /// What a mark would be put on: nothing was changed yet.
    Proposed(TodoMark, Vec<TodoRow>),
    /// Changes that were undone.
    Undone(Vec<ChangedItem>),
    /// A reminder that comes again at this moment.
    Snoozed(Firing, UtcMs),
    /// A reminder that was marked as read.
    ReminderRead(Firing),
    /// A part of the schedule.
    Entries(ScheduleRange, Vec<ScheduleRow>),
    /// An entry that starts runs.
    RunSchedule(Box<RunScheduleView>),
    /// A run that an entry started at once.
    RunStarted(Box<ScheduleRow>, ScheduledFiring),
    /// What became of the firings of an entry that starts runs.
    RunFirings(Box<ScheduleRow>, Vec<ScheduledFiring>),
}

/// A notice about the saved item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgendaNotice {
    /// Its start is in the past.
    StartPast(UtcMs),
    /// Its due time is in the past.
    DuePast(UtcMs),
    /// The time of its reminder is in the past.
    ReminderPast(UtcMs),
    /// Its reminder at this moment was removed, because it is no longer due.
    ReminderGone(UtcMs),
}

/// Something that was deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeletedItem {
    /// Its number.
    pub id: i64,
    /// Its text; `None` if the same call had deleted it before.
    pub text: Option<String>,
}

/// Todos, and how they were selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TodoListing {
    /// The view.
    pub view: TodoView,
    /// A word that each of them has.
    pub word: Option<String>,
    /// The other filters.
    pub filter: TodoFilter,
    /// The todos.
    pub todos: Vec<TodoRow>,
}

/// What was done to a todo or an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemAction {
    /// It was created.
    Added,
    /// It was changed.
    Changed,
    /// It was marked as done.
    Finished,
    /// It was done before, and stays as it was.
    WasFinished,
    /// It was marked as not done.
    Reopened,
    /// Nothing; it is shown.
    Shown,
}

/// Which part of the schedule is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleRange {
    /// From this moment.
    pub from: Timestamp,
    /// To this one.
    pub to: Timestamp,
    /// A calendar view around a day, or `None` for a list.
    pub calendar: Option<(CalendarView, Date)>,
}

/// Why a command was not carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandRefusal {
    /// There is no todo of that number.
    NoSuchTodo(i64),
    /// There is no entry of that number.
    NoSuchEntry(i64),
    /// Others take place at the same time.
    Conflict(EntryConflict),
    /// Its next occurrence would begin before the previous one ends.
    OverlapsItself,
    /// A reminder needs a due date.
    ReminderNeedsDue,
    /// It has no due date that could be moved.
    NotDue(i64),
    /// It has no repeat rule.
    DoesNotRepeat(i64),
    /// It has no reminder.
    DoesNotRemind(i64),
    /// It starts no runs.
    StartsNoRuns(i64),
    /// It cannot start its runs: why, in words.
    CannotRun(String),
    /// Every moment at which it would start a run has passed.
    RunInPast,
    /// There is no change that could be undone.
    NothingToUndo,
    /// What the last change made of it was changed since.
    ChangedSince(i64),
    /// There was no reminder, or none of that number.
    NoReminder(Option<i64>),
    /// Too many concurrent changes of the same item.
    Contested,
    /// It was changed since its author read it.
    Outdated(i64),
    /// It is not a command of the agenda.
    NotHere,
}

/// The entries that conflict with an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryConflict {
    /// The entries that take place at the same time, each with the moment.
    pub with: Vec<(ScheduleRow, Timestamp)>,
    /// The length of the new entry.
    pub minutes: i64,
    /// The next start without a conflict, if one was found.
    pub next_free: Option<Timestamp>,
}

/// The outcome of a command, or why it was refused.
pub type AgendaResult = Result<CommandOutcome, CommandRefusal>;

/// Carries out commands on a store.
#[derive(Debug, Clone)]
pub struct Agenda {
    store: Store,
    config: AgendaConfig,
    starter: Option<Arc<dyn StartRuns>>,
    /// The version that a change must find; any if there is none.
    expected: Option<i64>,
}

impl Agenda {
    /// An agenda on a store.
    #[must_use]
    pub fn new(store: Store, config: AgendaConfig) -> Self {
        Self { store, config, starter: None, expected: None }
    }

    /// The same agenda, whose entries can start runs.
    #[must_use]
    pub fn starting(self, starter: Arc<dyn StartRuns>) -> Self {
        Self { starter: Some(starter), ..self }
    }

    /// The same agenda, which changes an item of this version only.
    #[must_use]
    pub fn expecting(self, version: Option<i64>) -> Self {
        Self { expected: version, ..self }
    }

    fn is_outdated(&self, version: i64) -> bool {
        self.expected.is_some_and(|expected| expected != version)
    }

    /// The user's settings.
    #[must_use]
    pub fn config(&self) -> &AgendaConfig {
        &self.config
    }

    /// Where its rows are.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Fires due reminders first: a change sets the next reminder and would lose earlier ones.
    pub(crate) async fn settle_due(&self, write: WriteKey<'_>) -> Result<(), StoreError> {
        reminders::fire_due(&self.store, &self.config, write.now).await?;
        if let Some(starter) = &self.starter {
            run_firing::fire_runs(&self.store, &self.config, starter.as_ref(), write.now).await?;
        }
        Ok(())
    }

    /// Saves a new entry. With a key, a retry does not repeat it.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn add(
        &self,
        entry: &EntryChange,
        write: WriteKey<'_>,
    ) -> Result<AgendaResult, StoreError> {
        self.add_entry(entry, write).await
    }

    /// Changes an entry: only the given values.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn change(
        &self,
        id: i64,
        entry: &EntryChange,
        write: WriteKey<'_>,
    ) -> Result<AgendaResult, StoreError> {
        self.settle_due(write).await?;
        self.update_entry(id, entry, write).await
    }

    /// Carries out a command. With a `key`, a retry does not repeat it.
    ///
    /// # Errors
    /// If the store fails. Then, with a key, it may be tried again.
    pub async fn perform(
        &self,
        command: &AgendaCommand,
        now: &Zoned,
        key: Option<&str>,
    ) -> Result<AgendaResult, StoreError> {
        let write = WriteKey { key, now: now.timestamp().as_millisecond() };
        if is_change(command) {
            self.settle_due(write).await?;
        }
        match command {
            AgendaCommand::Todo(command) => self.todo(command, now, write).await,
            AgendaCommand::Schedule(command) => self.schedule(command, now, write).await,
        }
    }
}

/// How often a change is retried after a concurrent one.
const TRIES_MAX: usize = 16;

/// Whether a command changes something that may have a reminder.
fn is_change(command: &AgendaCommand) -> bool {
    use ScheduleCommand as S;
    use TodoCommand as T;
    match command {
        AgendaCommand::Todo(
            T::Update(..)
            | T::UpdateAll(..)
            | T::Mark(..)
            | T::Snooze(..)
            | T::DoneReminded
            | T::Undo(_),
        ) => true,
        AgendaCommand::Schedule(
            S::Update(..) | S::Repeat(..) | S::Delete(_) | S::Pause(_) | S::Resume(_),
        ) => true,
        AgendaCommand::Todo(_) | AgendaCommand::Schedule(_) => false,
    }
}

/// A globally unique id.
fn uid(kind: &str, write: WriteKey<'_>) -> String {
    let fresh = everloop_engine::fresh_id(&format!("{kind}_"), write.now);
    format!("{fresh}@everloop")
}

#[cfg(test)]
#[path = "desk/desk_tests.rs"]
mod tests;
